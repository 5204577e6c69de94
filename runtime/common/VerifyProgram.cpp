//===- VerifyProgram.cpp - Checks what a walk of a program relies on ------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <cmath>
#include <algorithm>
#include <limits>
#include <unordered_set>

using namespace echo;

namespace {

// Sizes stay below 2^62 so that sums of two never wrap.
constexpr uint64_t kMaxBytes = uint64_t(1) << 62;

bool isFloat(DataType type) {
  return type == DataType::F32 || type == DataType::F64 ||
         type == DataType::F16 || type == DataType::BF16;
}

/// a * b, or false when it isn't below kMaxBytes.
bool multiply(uint64_t a, uint64_t b, uint64_t &product) {
  if (b != 0 && a > (kMaxBytes - 1) / b)
    return false;
  product = a * b;
  return true;
}

/// Half-open byte range in a region.
struct Range {
  uint32_t region;
  uint64_t begin, end;
  bool overlaps(const Range &other) const {
    return region == other.region && begin < end && other.begin < other.end &&
           begin < other.end && other.begin < end;
  }
};

class Verifier {
public:
  Verifier(const Program &program, std::string &error)
      : program(program), error(error) {}

  bool run() {
    if (!verifyHead())
      return false;
    std::unordered_set<std::string_view> kernelNames, names;
    for (size_t i = 0; i < program.kernels.size(); ++i)
      if (!verifyKernel(i, kernelNames))
        return false;
    for (size_t i = 0; i < program.tensors.size(); ++i)
      if (!verifyTensor(i, names))
        return false;
    for (size_t i = 0; i < program.operands.size(); ++i)
      if (!verifyOperand(i))
        return false;
    for (size_t i = 0; i < program.calls.size(); ++i)
      if (!verifyCall(i))
        return false;
    return true;
  }

private:
  bool fail(const std::string &message) {
    error = message;
    return false;
  }

  bool verifyHead() {
    uint64_t alignment = program.arenaAlignment;
    if (alignment == 0 || (alignment & (alignment - 1)) ||
        alignment > (uint64_t(1) << 30))
      return fail("arena alignment " + std::to_string(alignment) +
                  ": expected a power of two of up to 2^30");
    if (program.arenaBytes >= kMaxBytes)
      return fail("arena of " + std::to_string(program.arenaBytes) + " bytes");
    if (program.target != "cuda") {
      if (program.workspaceOffset != 0 || program.workspaceBytes != 0)
        return fail("a workspace, but the target '" + program.target +
                    "' has none");
    } else if (program.workspaceOffset > program.arenaBytes ||
               program.workspaceBytes >
                   program.arenaBytes - program.workspaceOffset) {
      return fail("a workspace of " + std::to_string(program.workspaceBytes) +
                  " bytes at offset " +
                  std::to_string(program.workspaceOffset) +
                  " ends outside the arena");
    } else if (program.workspaceBytes != 0 &&
               (program.workspaceOffset % kWorkspaceAlignment != 0 ||
                alignment % kWorkspaceAlignment != 0)) {
      return fail("the workspace isn't aligned to " +
                  std::to_string(kWorkspaceAlignment) + " bytes");
    }
    // Indices in calls and regions are 32 bits wide.
    uint64_t limit = std::numeric_limits<uint32_t>::max() - 1;
    if (program.kernels.size() > limit || program.tensors.size() > limit ||
        program.operands.size() > limit ||
        program.parameters.size() > limit || program.strings.size() > limit)
      return fail("a table has more than 2^32 - 2 entries");
    return true;
  }

  /// The size of a region, or false if there is no such region.
  bool regionBytes(uint32_t region, uint64_t &bytes) const {
    if (region == 0) {
      bytes = program.arenaBytes;
      return true;
    }
    if (region - 1 >= program.tensors.size())
      return false;
    const Tensor &tensor = program.tensors[region - 1];
    bytes = tensor.bytes;
    return isPersistent(tensor.role);
  }

  bool verifyKernel(size_t index, std::unordered_set<std::string_view> &names) {
    const Kernel &kernel = program.kernels[index];
    std::string place =
        "kernel " + std::to_string(index) + " '" + kernel.name + "': ";
    if (kernel.name.empty() || kernel.name.find('\0') != std::string::npos)
      return fail(place + "expected a name without zero bytes");
    if (!names.insert(kernel.name).second)
      return fail(place + "two kernels have this name");
    if (program.target != "cuda") {
      bool isPlain = kernel.sharedBytes == 0 && kernel.arguments.empty() &&
                     kernel.numParameters == 0;
      for (int dim = 0; dim < 3; ++dim)
        isPlain &= kernel.grid[dim] == 0 && kernel.block[dim] == 0;
      if (!isPlain)
        return fail(place + "expected a name alone for the target '" +
                    program.target + "'");
      return true;
    }
    uint64_t threads = 1;
    for (int dim = 0; dim < 3; ++dim) {
      std::string name(1, "xyz"[dim]);
      if (kernel.grid[dim] > kMaxGrid[dim])
        return fail(place + "a grid of " + std::to_string(kernel.grid[dim]) +
                    " in " + name + ", at most " +
                    std::to_string(kMaxGrid[dim]) + " are possible");
      if (kernel.block[dim] == 0 || kernel.block[dim] > kMaxBlock[dim])
        return fail(place + "a block of " + std::to_string(kernel.block[dim]) +
                    " in " + name + ", expected 1 to " +
                    std::to_string(kMaxBlock[dim]));
      threads *= kernel.block[dim];
    }
    if (threads > kMaxBlockThreads)
      return fail(place + "a block of " + std::to_string(threads) +
                  " threads, at most " + std::to_string(kMaxBlockThreads) +
                  " are possible");
    if (kernel.sharedBytes > kMaxSharedBytes)
      return fail(place + std::to_string(kernel.sharedBytes) +
                  " bytes of shared memory, at most " +
                  std::to_string(kMaxSharedBytes) + " are possible");
    return true;
  }

  bool verifyTensor(size_t index, std::unordered_set<std::string_view> &names) {
    const Tensor &tensor = program.tensors[index];
    std::string place =
        "tensor " + std::to_string(index) + " '" + tensor.name + "': ";
    if (tensor.role > Role::Result)
      return fail(place + "unknown role");
    if (tensor.type > DataType::I1)
      return fail(place + "unknown element type");
    if (tensor.name.empty() || tensor.name.find('\0') != std::string::npos)
      return fail(place + "expected a name without zero bytes");
    if (!names.insert(tensor.name).second)
      return fail(place + "two tensors have this name");
    uint64_t bytes = bytesOf(tensor.type);
    bool isEmpty = false;
    for (int64_t extent : tensor.shape) {
      if (extent < 0)
        return fail(place + "negative extent");
      isEmpty |= extent == 0;
      if (extent != 0 && !multiply(bytes, extent, bytes))
        return fail(place + "its size overflows");
    }
    if (isEmpty)
      bytes = 0;
    if (bytes != tensor.bytes)
      return fail(place + "has " + std::to_string(tensor.bytes) +
                  " bytes, but its shape takes " + std::to_string(bytes));
    const Location &location = tensor.location;
    if (isPersistent(tensor.role)) {
      if (location.region != index + 1 || location.offset != 0)
        return fail(place + "a persistent tensor is the region of its index");
    } else {
      if (location.region != 0)
        return fail(place + "expected to lie in the arena");
      if (location.offset > program.arenaBytes ||
          tensor.bytes > program.arenaBytes - location.offset)
        return fail(place + "ends outside the arena");
      if (location.offset % bytesOf(tensor.type) != 0)
        return fail(place + "its offset isn't a multiple of its element size");
    }
    if (tensor.isLoss) {
      if (tensor.role != Role::Result || !isFloat(tensor.type) ||
          tensor.bytes != bytesOf(tensor.type))
        return fail(place + "the loss must be a result with one float element");
      if (hasLoss)
        return fail(place + "a second loss");
      hasLoss = true;
    }
    return verifyInit(tensor, place);
  }

  bool verifyInit(const Tensor &tensor, const std::string &place) {
    const Init &init = tensor.init;
    bool isFloatType = isFloat(tensor.type);
    // Integers that a double holds and int64_t can be cast from.
    auto isInteger = [](double value) {
      return std::abs(value) < 0x1p63 && std::trunc(value) == value;
    };
    bool finite = std::isfinite(init.a) && std::isfinite(init.b);
    switch (init.kind) {
    case InitKind::None:
      return true;
    case InitKind::Constant:
      if (!isFloatType && !isInteger(init.a))
        return fail(place + "initial value isn't an integer");
      return true;
    case InitKind::Uniform:
      if (!isFloatType || !finite || init.a > init.b)
        return fail(place + "a uniform initial value needs a float type and "
                            "finite bounds in order");
      return true;
    case InitKind::Normal:
      if (!isFloatType || !finite || init.b < 0)
        return fail(place + "a normal initial value needs a float type and a "
                            "finite deviation of at least 0");
      return true;
    case InitKind::RandInt:
      if (isFloatType || !isInteger(init.a) || !isInteger(init.b) ||
          init.a >= init.b)
        return fail(place + "a random integer needs an integer type and "
                            "integer bounds in order");
      return true;
    }
    return fail(place + "unknown kind of initial value");
  }

  bool verifyOperand(size_t index) {
    const Location &location = program.operands[index];
    uint64_t bytes;
    std::string place = "operand " + std::to_string(index) + ": ";
    if (!regionBytes(location.region, bytes))
      return fail(place + "region " + std::to_string(location.region) +
                  " is neither the arena nor a persistent tensor");
    if (location.offset > bytes)
      return fail(place + "offset " + std::to_string(location.offset) +
                  " is outside its region of " + std::to_string(bytes) +
                  " bytes");
    return true;
  }

  bool verifyCall(size_t index) {
    const Call &call = program.calls[index];
    place = "call " + std::to_string(index) + ": ";
    if (call.layer >= program.strings.size() ||
        call.name >= program.strings.size() ||
        call.op >= program.strings.size())
      return fail(place + "a name's index is outside the string table");
    place = program.describeCall(call) + ": ";
    if (uint64_t(call.firstOperand) + call.numOperands >
        program.operands.size())
      return fail(place + "operands are outside the operand table");
    if (uint64_t(call.firstParameter) + call.numParameters >
        program.parameters.size())
      return fail(place + "parameters are outside the parameter table");
    switch (call.kind) {
    case CallKind::Kernel:
      return verifyLaunch(call);
    case CallKind::Gemm:
      return verifyGemm(call);
    case CallKind::Copy:
      return verifyCopy(call);
    }
    return fail(place + "unknown kind of call");
  }

  /// The bytes [offset, offset + bytes) of an operand, checked.
  bool operandRange(const Call &call, uint32_t operand, uint64_t bytes,
                    const char *name, Range &range) {
    const Location &location = program.operands[call.firstOperand + operand];
    uint64_t size = 0;
    regionBytes(location.region, size);
    if (bytes > size - location.offset)
      return fail(place + name + " takes " + std::to_string(bytes) +
                  " bytes at offset " + std::to_string(location.offset) +
                  " of a region of " + std::to_string(size));
    range = {location.region, location.offset, location.offset + bytes};
    return true;
  }

  bool verifyLaunch(const Call &call) {
    if (call.function >= program.kernels.size())
      return fail(place + "kernel " + std::to_string(call.function) +
                  ", but there are " + std::to_string(program.kernels.size()));
    if (call.chunks >= kMaxBytes)
      return fail(place + "too many chunks");
    if (program.target != "cuda")
      return true;
    const Kernel &kernel = program.kernels[call.function];
    if (kernel.arguments.size() + kernel.numParameters > kMaxGPUArguments)
      return fail(place + "more than " + std::to_string(kMaxGPUArguments) +
                  " operands and parameters");
    if (call.numOperands != kernel.arguments.size() ||
        call.numParameters != kernel.numParameters)
      return fail(place + "has " + std::to_string(call.numOperands) +
                  " operands and " + std::to_string(call.numParameters) +
                  " parameters, its kernel takes " +
                  std::to_string(kernel.arguments.size()) + " and " +
                  std::to_string(kernel.numParameters));
    Range ignored;
    for (uint32_t i = 0; i < call.numOperands; ++i)
      if (!operandRange(call, i, kernel.arguments[i].bytes,
                        ("operand " + std::to_string(i)).c_str(), ignored))
        return false;
    return true;
  }

  bool verifyCopy(const Call &call) {
    if (call.numOperands != 2 || call.numParameters != 1)
      return fail(place + "a copy has two operands and one parameter");
    int64_t bytes = program.parameters[call.firstParameter];
    if (bytes < 0)
      return fail(place + "negative size");
    Range source, target;
    if (!operandRange(call, 0, bytes, "source", source) ||
        !operandRange(call, 1, bytes, "target", target))
      return false;
    if (source.begin != target.begin && source.overlaps(target))
      return fail(place + "source and target overlap");
    return true;
  }

  /// The bytes from the first to past the last element of `batch` matrices.
  static bool extent(uint64_t batch, uint64_t rows, uint64_t columns,
                     uint64_t stride, uint64_t elementBytes, uint64_t &bytes) {
    bytes = 0;
    if (batch == 0 || rows == 0 || columns == 0)
      return true;
    uint64_t last = 0;
    return multiply(rows, columns, bytes) &&
           multiply(batch - 1, stride, last) &&
           multiply(bytes + last, elementBytes, bytes);
  }

  bool verifyGemm(const Call &call) {
    if (call.numOperands != 3 && call.numOperands != 4)
      return fail(place + "a GEMM has three operands, or four with a bias");
    if (call.numParameters != GemmParameters::kCount)
      return fail(place + "a GEMM has " +
                  std::to_string(GemmParameters::kCount) + " parameters");
    const int64_t *values = &program.parameters[call.firstParameter];
    for (int i = 0; i < GemmParameters::kCount; ++i)
      if (values[i] < 0)
        return fail(place + "negative parameter");
    GemmParameters gemm = GemmParameters::read(values);
    if (gemm.dataType > int64_t(DataType::I1) ||
        !isFloat(DataType(gemm.dataType)))
      return fail(place + "a GEMM is of a float type");
    if (gemm.transposeA > 1 || gemm.transposeB > 1 || gemm.accumulate > 1)
      return fail(place + "a flag is neither 0 nor 1");
    bool hasBias = call.numOperands == 4;
    if (hasBias && gemm.accumulate)
      return fail(place + "a GEMM with a bias doesn't accumulate");
    uint64_t elementBytes = bytesOf(DataType(gemm.dataType));
    uint64_t bytesA, bytesB, bytesC;
    if (!extent(gemm.batch, gemm.m, gemm.k, gemm.strideA, elementBytes,
                bytesA) ||
        !extent(gemm.batch, gemm.k, gemm.n, gemm.strideB, elementBytes,
                bytesB) ||
        !extent(gemm.batch, gemm.m, gemm.n, gemm.strideC, elementBytes, bytesC))
      return fail(place + "a matrix size overflows");
    int64_t largest = std::max({gemm.m, gemm.n, gemm.k,
                                program.target == "cuda" ? gemm.batch : 0});
    if (largest > GemmParameters::kMaxExtent)
      return fail(place + "an extent of " + std::to_string(largest) +
                  " is above 2^31 - 1");
    // Both extents were multiplied above without overflow, if there is a C.
    if (bytesC != 0 && gemm.batch > 1 && gemm.strideC < gemm.m * gemm.n)
      return fail(place + "the results of two batches overlap");
    Range a, b, c, bias;
    if (!operandRange(call, 0, bytesA, "a", a) ||
        !operandRange(call, 1, bytesB, "b", b) ||
        !operandRange(call, 2, bytesC, "c", c))
      return false;
    if (c.overlaps(a) || c.overlaps(b))
      return fail(place + "the result overlaps an operand");
    if (hasBias) {
      if (bytesC != 0 &&
          !operandRange(call, 3, gemm.n * elementBytes, "bias", bias))
        return false;
      if (bytesC != 0 && c.overlaps(bias))
        return fail(place + "the result overlaps the bias");
    }
    Range workspace{0, program.workspaceOffset,
                    program.workspaceOffset + program.workspaceBytes};
    if (bytesC != 0 && (workspace.overlaps(a) || workspace.overlaps(b) ||
                        workspace.overlaps(c) ||
                        (hasBias && workspace.overlaps(bias))))
      return fail(place + "an operand lies in the workspace");
    for (uint32_t i = 0; i < call.numOperands; ++i)
      if (program.operands[call.firstOperand + i].offset % elementBytes != 0)
        return fail(place + "an offset isn't a multiple of the element size");
    return true;
  }

  const Program &program;
  std::string &error;
  std::string place;
  bool hasLoss = false;
};

} // namespace

bool Program::verify(std::string &error) const {
  return Verifier(*this, error).run();
}

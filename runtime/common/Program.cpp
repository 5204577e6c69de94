//===- Program.cpp - The host program of a training step ------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The byte format, little-endian, without padding:
//   char[8] "ECHOPROG", u32 version, u32 zero, u64 size of everything,
//   u64 checksum of all bytes after this field, then
//   function, target, cpu, features, strategy (strings: u64 length, bytes),
//   u64 arenaBytes, arenaAlignment, logicalPeakBytes, workspaceOffset,
//   workspaceBytes, and six tables, each a u64 count and its entries: kernels,
//   tensors, operands, parameters, strings, calls.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <cstring>

using namespace echo;

namespace {

constexpr char kMagic[8] = {'E', 'C', 'H', 'O', 'P', 'R', 'O', 'G'};
constexpr size_t kHeaderBytes = 32;
// Least bytes of an entry, to refuse counts that the input can't hold.
constexpr size_t kKernelBytes = 8 + 7 * 4 + 8 + 4;
constexpr size_t kArgumentBytes = 8 + 1;
constexpr size_t kTensorBytes = 8 + 4 + 4 + 8 + 4 + 8 + 16;
constexpr size_t kOperandBytes = 12;
constexpr size_t kCallBytes = 1 + 4 + 8 + 7 * 4 + 2 * 8;

/// FNV-1a: every step is a bijection of the state, so that any change of a
/// single byte changes the result.
uint64_t checksum(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

class Writer {
public:
  void bytes(const void *data, size_t size) {
    out.append(static_cast<const char *>(data), size);
  }
  template <typename T>
  void integer(T value) {
    for (size_t i = 0; i < sizeof(T); ++i)
      out.push_back(
          static_cast<char>((static_cast<uint64_t>(value) >> (8 * i)) & 0xff));
  }
  void real(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    integer(bits);
  }
  void string(const std::string &value) {
    integer<uint64_t>(value.size());
    bytes(value.data(), value.size());
  }
  void location(const Location &value) {
    integer(value.region);
    integer(value.offset);
  }

  std::string out;
};

/// Reads from a byte range. After the first read past the end everything reads
/// as zero and `good()` is false.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}

  bool good() const { return !truncated; }
  bool atEnd() const { return rest.empty(); }

  template <typename T>
  T integer() {
    if (!need(sizeof(T)))
      return T(0);
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
      value |= uint64_t(static_cast<unsigned char>(rest[i])) << (8 * i);
    rest.remove_prefix(sizeof(T));
    return static_cast<T>(value);
  }
  double real() {
    uint64_t bits = integer<uint64_t>();
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  std::string string() {
    uint64_t size = integer<uint64_t>();
    if (!need(size))
      return {};
    std::string value(rest.substr(0, size));
    rest.remove_prefix(size);
    return value;
  }
  Location location() {
    Location value;
    value.region = integer<uint32_t>();
    value.offset = integer<uint64_t>();
    return value;
  }
  /// The length of a table whose entries take at least `entryBytes`.
  uint64_t count(size_t entryBytes) {
    uint64_t value = integer<uint64_t>();
    if (value > rest.size() / entryBytes) {
      truncated = true;
      return 0;
    }
    return value;
  }

private:
  bool need(uint64_t size) {
    if (truncated || size > rest.size()) {
      truncated = true;
      return false;
    }
    return true;
  }

  std::string_view rest;
  bool truncated = false;
};

Kernel readKernel(Reader &in) {
  Kernel kernel;
  kernel.name = in.string();
  for (uint32_t &extent : kernel.grid)
    extent = in.integer<uint32_t>();
  for (uint32_t &extent : kernel.block)
    extent = in.integer<uint32_t>();
  kernel.sharedBytes = in.integer<uint32_t>();
  uint64_t numArguments = in.count(kArgumentBytes);
  kernel.arguments.reserve(numArguments);
  for (uint64_t i = 0; i < numArguments; ++i) {
    KernelArgument argument;
    argument.bytes = in.integer<uint64_t>();
    argument.isWritten = in.integer<uint8_t>() != 0;
    kernel.arguments.push_back(argument);
  }
  kernel.numParameters = in.integer<uint32_t>();
  return kernel;
}

void writeKernel(Writer &out, const Kernel &kernel) {
  out.string(kernel.name);
  for (uint32_t extent : kernel.grid)
    out.integer(extent);
  for (uint32_t extent : kernel.block)
    out.integer(extent);
  out.integer(kernel.sharedBytes);
  out.integer<uint64_t>(kernel.arguments.size());
  for (const KernelArgument &argument : kernel.arguments) {
    out.integer(argument.bytes);
    out.integer(static_cast<uint8_t>(argument.isWritten));
  }
  out.integer(kernel.numParameters);
}

Tensor readTensor(Reader &in) {
  Tensor tensor;
  tensor.name = in.string();
  tensor.role = static_cast<Role>(in.integer<uint8_t>());
  tensor.type = static_cast<DataType>(in.integer<uint8_t>());
  tensor.init.kind = static_cast<InitKind>(in.integer<uint8_t>());
  tensor.isLoss = in.integer<uint8_t>() != 0;
  uint64_t rank = in.count(sizeof(int64_t));
  for (uint64_t i = 0; i < rank; ++i)
    tensor.shape.push_back(in.integer<int64_t>());
  tensor.bytes = in.integer<uint64_t>();
  tensor.location = in.location();
  tensor.init.a = in.real();
  tensor.init.b = in.real();
  return tensor;
}

void writeTensor(Writer &out, const Tensor &tensor) {
  out.string(tensor.name);
  out.integer(static_cast<uint8_t>(tensor.role));
  out.integer(static_cast<uint8_t>(tensor.type));
  out.integer(static_cast<uint8_t>(tensor.init.kind));
  out.integer(static_cast<uint8_t>(tensor.isLoss));
  out.integer<uint64_t>(tensor.shape.size());
  for (int64_t extent : tensor.shape)
    out.integer(extent);
  out.integer(tensor.bytes);
  out.location(tensor.location);
  out.real(tensor.init.a);
  out.real(tensor.init.b);
}

Call readCall(Reader &in) {
  Call call;
  call.kind = static_cast<CallKind>(in.integer<uint8_t>());
  call.function = in.integer<uint32_t>();
  call.chunks = in.integer<uint64_t>();
  call.firstOperand = in.integer<uint32_t>();
  call.numOperands = in.integer<uint32_t>();
  call.firstParameter = in.integer<uint32_t>();
  call.numParameters = in.integer<uint32_t>();
  call.layer = in.integer<uint32_t>();
  call.name = in.integer<uint32_t>();
  call.op = in.integer<uint32_t>();
  call.flops = in.integer<uint64_t>();
  call.bytes = in.integer<uint64_t>();
  return call;
}

void writeCall(Writer &out, const Call &call) {
  out.integer(static_cast<uint8_t>(call.kind));
  out.integer(call.function);
  out.integer(call.chunks);
  out.integer(call.firstOperand);
  out.integer(call.numOperands);
  out.integer(call.firstParameter);
  out.integer(call.numParameters);
  out.integer(call.layer);
  out.integer(call.name);
  out.integer(call.op);
  out.integer(call.flops);
  out.integer(call.bytes);
}

} // namespace

uint64_t echo::bytesOf(DataType type) {
  switch (type) {
  case DataType::F64:
  case DataType::I64:
    return 8;
  case DataType::F32:
  case DataType::I32:
    return 4;
  case DataType::F16:
  case DataType::BF16:
    return 2;
  case DataType::I8:
  case DataType::I1:
    return 1;
  }
  return 0;
}

const char *echo::nameOf(DataType type) {
  switch (type) {
  case DataType::F32:
    return "f32";
  case DataType::F64:
    return "f64";
  case DataType::F16:
    return "f16";
  case DataType::BF16:
    return "bf16";
  case DataType::I8:
    return "i8";
  case DataType::I32:
    return "i32";
  case DataType::I64:
    return "i64";
  case DataType::I1:
    return "i1";
  }
  return "unknown";
}

const char *echo::nameOf(Role role) {
  switch (role) {
  case Role::Input:
    return "input";
  case Role::Label:
    return "label";
  case Role::Parameter:
    return "parameter";
  case Role::State:
    return "state";
  case Role::Result:
    return "result";
  }
  return "unknown";
}

std::string Program::serialize() const {
  Writer body;
  body.string(function);
  body.string(target);
  body.string(cpu);
  body.string(features);
  body.string(strategy);
  body.integer(arenaBytes);
  body.integer(arenaAlignment);
  body.integer(logicalPeakBytes);
  body.integer(workspaceOffset);
  body.integer(workspaceBytes);
  body.integer<uint64_t>(kernels.size());
  for (const Kernel &kernel : kernels)
    writeKernel(body, kernel);
  body.integer<uint64_t>(tensors.size());
  for (const Tensor &tensor : tensors)
    writeTensor(body, tensor);
  body.integer<uint64_t>(operands.size());
  for (const Location &operand : operands)
    body.location(operand);
  body.integer<uint64_t>(parameters.size());
  for (int64_t parameter : parameters)
    body.integer(parameter);
  body.integer<uint64_t>(strings.size());
  for (const std::string &string : strings)
    body.string(string);
  body.integer<uint64_t>(calls.size());
  for (const Call &call : calls)
    writeCall(body, call);

  Writer out;
  out.bytes(kMagic, sizeof(kMagic));
  out.integer(kProgramVersion);
  out.integer<uint32_t>(0);
  out.integer<uint64_t>(kHeaderBytes + body.out.size());
  out.integer(checksum(body.out));
  out.out += body.out;
  return out.out;
}

std::string Program::describeCall(const Call &call) const {
  const std::string &layer = strings[call.layer];
  return "call " + std::to_string(&call - calls.data()) + " (" +
         strings[call.name] + (layer.empty() ? "" : " at " + layer) + ")";
}

static constexpr std::string_view kChecksumMagic = "ECHOSUM1";

void echo::appendChecksum(std::string &file) {
  Writer out;
  out.bytes(kChecksumMagic.data(), kChecksumMagic.size());
  out.integer(checksum(file));
  file += out.out;
}

bool echo::hasItsChecksum(std::string_view file) {
  size_t bytes = kChecksumMagic.size() + sizeof(uint64_t);
  if (file.size() < bytes)
    return true;
  std::string_view end = file.substr(file.size() - bytes);
  if (end.substr(0, kChecksumMagic.size()) != kChecksumMagic)
    return true;
  Reader in(end.substr(kChecksumMagic.size()));
  return in.integer<uint64_t>() ==
         checksum(file.substr(0, file.size() - bytes));
}

bool Program::parse(std::string_view bytes, Program &program,
                    std::string &error) {
  auto fail = [&](std::string message) {
    error = std::move(message);
    return false;
  };
  if (bytes.size() < kHeaderBytes)
    return fail("truncated program: " + std::to_string(bytes.size()) +
                " bytes, the header alone has " + std::to_string(kHeaderBytes));
  if (bytes.substr(0, sizeof(kMagic)) !=
      std::string_view(kMagic, sizeof(kMagic)))
    return fail("not an Echo program: it doesn't start with ECHOPROG");
  Reader header(bytes.substr(sizeof(kMagic)));
  uint32_t version = header.integer<uint32_t>();
  uint32_t reserved = header.integer<uint32_t>();
  uint64_t size = header.integer<uint64_t>();
  uint64_t expected = header.integer<uint64_t>();
  if (version != kProgramVersion)
    return fail("program version " + std::to_string(version) +
                ", this runtime reads version " +
                std::to_string(kProgramVersion) + "; compile it again");
  if (reserved != 0)
    return fail("damaged program header");
  if (size != bytes.size())
    return fail("program of " + std::to_string(size) + " bytes, but " +
                std::to_string(bytes.size()) + " are there");
  std::string_view body = bytes.substr(kHeaderBytes);
  if (checksum(body) != expected)
    return fail("damaged program: the checksum doesn't match");

  Reader in(body);
  Program result;
  result.function = in.string();
  result.target = in.string();
  result.cpu = in.string();
  result.features = in.string();
  result.strategy = in.string();
  result.arenaBytes = in.integer<uint64_t>();
  result.arenaAlignment = in.integer<uint64_t>();
  result.logicalPeakBytes = in.integer<uint64_t>();
  result.workspaceOffset = in.integer<uint64_t>();
  result.workspaceBytes = in.integer<uint64_t>();
  for (uint64_t i = 0, n = in.count(kKernelBytes); i < n && in.good(); ++i)
    result.kernels.push_back(readKernel(in));
  for (uint64_t i = 0, n = in.count(kTensorBytes); i < n && in.good(); ++i)
    result.tensors.push_back(readTensor(in));
  uint64_t numOperands = in.count(kOperandBytes);
  result.operands.reserve(numOperands);
  for (uint64_t i = 0; i < numOperands; ++i)
    result.operands.push_back(in.location());
  uint64_t numParameters = in.count(sizeof(int64_t));
  result.parameters.reserve(numParameters);
  for (uint64_t i = 0; i < numParameters; ++i)
    result.parameters.push_back(in.integer<int64_t>());
  for (uint64_t i = 0, n = in.count(8); i < n && in.good(); ++i)
    result.strings.push_back(in.string());
  uint64_t numCalls = in.count(kCallBytes);
  result.calls.reserve(numCalls);
  for (uint64_t i = 0; i < numCalls; ++i)
    result.calls.push_back(readCall(in));
  if (!in.good())
    return fail("malformed program: a table is longer than the bytes");
  if (!in.atEnd())
    return fail("malformed program: bytes after the last table");
  if (!result.verify(error))
    return false;
  program = std::move(result);
  return true;
}

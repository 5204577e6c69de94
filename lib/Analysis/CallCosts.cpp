//===- CallCosts.cpp - What the calls of a host program cost --------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/CallCosts.h"
#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::echo;
using planning::Precision;

static std::optional<double> measuredSeconds(const CallDescription &call,
                                             const planning::CostModel &model) {
  return model.measured.find(call.kind, call.work, call.cost.flops,
                             call.bytes());
}

bool CallDescription::isMeasured(const planning::CostModel &model) const {
  return measuredSeconds(*this, model).has_value();
}

double CallDescription::seconds(const planning::CostModel &model) const {
  if (std::optional<double> measured = measuredSeconds(*this, model))
    return *measured;
  if (isLibraryCall)
    return planning::secondsOf(model.device, planning::LibraryCallCost{cost});
  return planning::secondsOf(model.device, planning::KernelCost{cost});
}

/// Kinds of a kernel's ops that are named; the rest is "...".
static constexpr size_t kMaxNamedOps = 8;

static LogicalResult addTo(uint64_t &sum, FailureOr<uint64_t> value) {
  if (failed(value))
    return failure();
  std::optional<uint64_t> next = llvm::checkedAddUnsigned(sum, *value);
  if (!next)
    return failure();
  sum = *next;
  return success();
}

static std::optional<Precision> precisionOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isF64())
    return Precision::F64;
  if (element.isF32())
    return Precision::F32;
  if (element.isF16())
    return Precision::F16;
  if (element.isBF16())
    return Precision::BF16;
  return std::nullopt;
}

/// The widest float type of the values that `op` reads and makes; f32 where
/// there is none.
static Precision precisionOf(ArrayRef<Type> types) {
  std::optional<Precision> widest;
  for (Type type : types)
    if (std::optional<Precision> precision = precisionOf(type))
      widest = widest ? std::min(*widest, *precision) : *precision;
  return widest.value_or(Precision::F32);
}

Precision mlir::echo::precisionOf(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return ::precisionOf(types);
}

static FailureOr<uint64_t> flopsOf(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return uint64_t(0);
  if (auto cost = dyn_cast<CostOpInterface>(op))
    return cost.getFlops();
  return mlir::echo::detail::flopsPerResultElement(op, 1);
}

/// The bytes that the readers of `value` read of it, at most all. What an op
/// leaves unread of its operands, it leaves unread of the largest (a table
/// whose rows it picks); through views the views' readers count.
static FailureOr<uint64_t> bytesRead(Value value) {
  FailureOr<uint64_t> all = mlir::echo::detail::typeBytes(value.getType());
  if (failed(all))
    return failure();
  uint64_t sum = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (isa<BufferViewOpInterface>(op) && use.getOperandNumber() == 0) {
      for (Value result : op->getResults())
        if (failed(addTo(sum, bytesRead(result))))
          return failure();
      continue;
    }
    uint64_t part = *all;
    if (auto cost = dyn_cast<CostOpInterface>(op)) {
      FailureOr<uint64_t> read = cost.getBytesRead();
      FailureOr<uint64_t> operands = mlir::echo::detail::operandBytes(op);
      if (failed(read) || failed(operands))
        return failure();
      bool isLargest = llvm::all_of(op->getOperands(), [&](Value other) {
        FailureOr<uint64_t> bytes =
            mlir::echo::detail::typeBytes(other.getType());
        return failed(bytes) || *bytes <= *all;
      });
      uint64_t unread = *operands > *read ? *operands - *read : 0;
      if (isLargest)
        part -= std::min(part, unread);
    }
    if (failed(addTo(sum, part)))
      return failure();
  }
  return std::min(sum, *all);
}

FailureOr<CallDescription> mlir::echo::describeKernel(func::FuncOp kernel) {
  CallDescription call;
  call.kind = "kernel";
  auto unknown = [&](Operation *op) {
    return op->emitOpError("has no known cost: expected static sizes whose "
                           "sums fit 64 bits");
  };
  llvm::SetVector<StringRef> names;
  SmallVector<Type> types;
  for (Block &block : kernel.getBody()) {
    for (Operation &op : block) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      if (failed(addTo(call.cost.flops, flopsOf(&op))))
        return unknown(&op);
      if (!op.hasTrait<OpTrait::ConstantLike>())
        names.insert(op.getName().stripDialect());
      llvm::append_range(types, op.getResultTypes());
    }
  }
  llvm::append_range(types, kernel.getArgumentTypes());
  call.work = llvm::join(names.getArrayRef().take_front(kMaxNamedOps), "+");
  if (names.size() > kMaxNamedOps)
    call.work += "+...";
  call.cost.precision = ::precisionOf(types);
  for (BlockArgument argument : kernel.getArguments())
    if (isa<ShapedType>(argument.getType()) &&
        failed(addTo(call.cost.bytesRead, bytesRead(argument))))
      return unknown(kernel);
  for (Type type : kernel.getResultTypes())
    if (failed(
            addTo(call.cost.bytesWritten, mlir::echo::detail::typeBytes(type))))
      return unknown(kernel);
  uint64_t sum = call.cost.bytesRead;
  if (failed(addTo(sum, call.cost.bytesWritten)))
    return unknown(kernel);
  return call;
}

/// The product of sizes, none of them negative.
static FailureOr<uint64_t> multiply(ArrayRef<uint64_t> factors) {
  if (llvm::is_contained(factors, 0))
    return uint64_t(0);
  uint64_t product = 1;
  for (uint64_t factor : factors) {
    std::optional<uint64_t> next = llvm::checkedMulUnsigned(product, factor);
    if (!next)
      return failure();
    product = *next;
  }
  return product;
}

/// 2 m n k flops and m n for a bias or an addition to C, for each matrix of the
/// batch. Each matrix is moved once, one with a stride of 0 once for all.
static LogicalResult addProduct(GemmOp gemm, planning::CallCost &cost) {
  uint64_t batch = gemm.getBatch(), m = gemm.getM(), n = gemm.getN(),
           k = gemm.getK();
  uint64_t width = gemm.getC().getType().getElementTypeBitWidth() / 8;
  auto matrices = [&](uint64_t stride) {
    return stride == 0 ? std::min<uint64_t>(batch, 1) : batch;
  };
  FailureOr<uint64_t> result = multiply({batch, m, n, width});
  if (failed(addTo(cost.flops, multiply({2, batch, m, n, k}))) ||
      failed(addTo(cost.bytesRead,
                   multiply({matrices(gemm.getStrideA()), m, k, width}))) ||
      failed(addTo(cost.bytesRead,
                   multiply({matrices(gemm.getStrideB()), k, n, width}))) ||
      failed(addTo(cost.bytesWritten, result)))
    return failure();
  if ((gemm.getBias() || gemm.getAccumulate()) &&
      failed(addTo(cost.flops, multiply({batch, m, n}))))
    return failure();
  if (gemm.getBias() && failed(addTo(cost.bytesRead, multiply({n, width}))))
    return failure();
  return gemm.getAccumulate() ? addTo(cost.bytesRead, result) : success();
}

/// "gemm 128x2048x512 nt": m, n, k and which operands are transposed, with the
/// batch in front if there is one.
static std::string describeProduct(GemmOp gemm) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "gemm ";
  if (gemm.getBatch() != 1)
    stream << gemm.getBatch() << "x";
  stream << gemm.getM() << "x" << gemm.getN() << "x" << gemm.getK() << " "
         << (gemm.getTransposeA() ? "t" : "n")
         << (gemm.getTransposeB() ? "t" : "n")
         << (gemm.getBias() ? " bias" : "")
         << (gemm.getAccumulate() ? " accumulate" : "");
  return text;
}

FailureOr<std::optional<CallDescription>> CallDescriptions::get(Operation *op) {
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    StringAttr name = launch.getKernelAttr().getAttr();
    auto known = kernels.find(name);
    if (known != kernels.end())
      return std::optional(known->second);
    auto kernel = symbols.lookup<func::FuncOp>(name);
    if (!kernel)
      return op->emitOpError("names no kernel function: ")
             << launch.getKernelAttr();
    FailureOr<CallDescription> call = describeKernel(kernel);
    if (failed(call))
      return failure();
    kernels[name] = *call;
    return std::optional(std::move(*call));
  }
  CallDescription call;
  call.kind = call.work = op->getName().stripDialect().str();
  LogicalResult known = success();
  if (auto gemm = dyn_cast<GemmOp>(op)) {
    call.work = describeProduct(gemm);
    call.isLibraryCall = true;
    known = addProduct(gemm, call.cost);
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    FailureOr<uint64_t> bytes =
        mlir::echo::detail::typeBytes(copy.getSource().getType());
    known = success(succeeded(addTo(call.cost.bytesRead, bytes)) &&
                    succeeded(addTo(call.cost.bytesWritten, bytes)));
  } else {
    auto cost = dyn_cast<CostOpInterface>(op);
    if (!cost || isa<BufferViewOpInterface>(op) ||
        op->hasTrait<OpTrait::ConstantLike>())
      return std::optional<CallDescription>();
    call.isLibraryCall = cost.isComputeHeavy();
    known = success(
        succeeded(addTo(call.cost.flops, cost.getFlops())) &&
        succeeded(addTo(call.cost.bytesRead, cost.getBytesRead())) &&
        succeeded(addTo(call.cost.bytesWritten, cost.getBytesWritten())));
  }
  call.cost.precision = precisionOf(op);
  uint64_t sum = call.cost.bytesRead;
  if (failed(known) || failed(addTo(sum, call.cost.bytesWritten)))
    return op->emitOpError("has no known cost: expected static sizes whose "
                           "sums fit 64 bits");
  return std::optional(std::move(call));
}

LogicalResult
mlir::echo::loadCostModel(StringRef name, planning::CostModel &model,
                          function_ref<LogicalResult(const Twine &)> fail) {
  if (const planning::Device *device =
          planning::findDevice(std::string_view(name.data(), name.size()))) {
    model.device = *device;
    return success();
  }
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(name, &error);
  if (!file)
    return fail("device=" + name + ": expected " +
                planning::builtinDeviceNames() + ", or a JSON file (" + error +
                ")");
  StringRef text = file->getBuffer();
  if (planning::readCostModel(std::string_view(text.data(), text.size()), model,
                              error))
    return success();
  return fail("device=" + name + ": " + error);
}

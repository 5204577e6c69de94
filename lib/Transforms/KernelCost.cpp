//===- KernelCost.cpp - What a kernel computes and moves ------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The flops of a kernel are those of its ops. Its bytes are those of its
// results and of its arguments, as far as the ops read them: of a table only
// the rows that are looked up, of a tensor only the slice.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Transforms/Kernels.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::echo;

/// Kinds of ops that are named; the rest is "...".
static constexpr size_t kMaxNamedOps = 8;

/// The bytes of `operand` that its op reads: all, or where the op reads less
/// than its operands hold, that much less of the largest.
static uint64_t bytesRead(OpOperand &operand) {
  uint64_t all =
      echo::detail::typeBytes(operand.get().getType()).value_or(0);
  Operation *op = operand.getOwner();
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost)
    return all;
  uint64_t total = echo::detail::operandBytes(op).value_or(0);
  uint64_t read = cost.getBytesRead().value_or(total);
  if (read >= total)
    return all;
  unsigned largest = 0;
  uint64_t largestBytes = 0;
  for (OpOperand &other : op->getOpOperands()) {
    uint64_t bytes = echo::detail::typeBytes(other.get().getType()).value_or(0);
    if (bytes <= largestBytes)
      continue;
    largest = other.getOperandNumber();
    largestBytes = bytes;
  }
  if (operand.getOperandNumber() != largest)
    return all;
  return all - std::min(all, total - read);
}

KernelCost mlir::echo::kernelCost(func::FuncOp kernel) {
  KernelCost cost;
  Block &body = kernel.getBody().front();
  llvm::SmallSetVector<StringRef, 8> names;
  for (Operation &op : body.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    names.insert(op.getName().stripDialect());
    if (auto known = dyn_cast<CostOpInterface>(op))
      cost.flops += known.getFlops().value_or(0);
  }
  for (BlockArgument argument : body.getArguments()) {
    uint64_t read = 0;
    for (OpOperand &use : argument.getUses())
      read += bytesRead(use);
    cost.bytes += std::min(
        read, echo::detail::typeBytes(argument.getType()).value_or(0));
  }
  for (Type type : kernel.getResultTypes())
    cost.bytes += echo::detail::typeBytes(type).value_or(0);
  cost.ops =
      llvm::join(names.getArrayRef().take_front(kMaxNamedOps), "+");
  if (names.size() > kMaxNamedOps)
    cost.ops += "+...";
  return cost;
}

void mlir::echo::annotateKernelCost(func::FuncOp kernel) {
  KernelCost cost = kernelCost(kernel);
  Builder b(kernel.getContext());
  kernel->setAttr(kCostAttr,
                  b.getDictionaryAttr({
                      b.getNamedAttr("bytes", b.getI64IntegerAttr(cost.bytes)),
                      b.getNamedAttr("flops", b.getI64IntegerAttr(cost.flops)),
                      b.getNamedAttr("ops", b.getStringAttr(cost.ops)),
                  }));
}

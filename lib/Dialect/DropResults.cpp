//===- DropResults.cpp - Ops without some of their results ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::echo;

/// Without what computes the dropped results alone, and the inputs that only
/// this reads.
FailureOr<SmallVector<Value>> KernelOp::dropResults(OpBuilder &builder,
                                                    ArrayRef<bool> isDead) {
  SmallVector<Type> types;
  for (auto [output, dead] : llvm::zip_equal(getOutputs(), isDead))
    if (!dead)
      types.push_back(output.getType());
  auto kernel = KernelOp::create(builder, getLoc(), types, getInputs());
  kernel->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  IRMapping map;
  getBody().cloneInto(&kernel.getBody(), map);
  Block &body = kernel.getBody().front();
  Operation *yield = body.getTerminator();
  for (size_t i = isDead.size(); i-- > 0;)
    if (isDead[i])
      yield->eraseOperand(i);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (unsigned i = body.getNumArguments(); i-- > 0;)
    if (body.getArgument(i).use_empty()) {
      body.eraseArgument(i);
      kernel->eraseOperand(i);
    }
  return SmallVector<Value>(kernel.getOutputs());
}

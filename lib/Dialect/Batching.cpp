//===- Batching.cpp - Ops on rows and sums over rows ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops tell about several of their kind becoming one.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"

using namespace mlir;
using namespace mlir::echo;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

FailureOr<unsigned> MatmulOp::getRowOperand() {
  if (getTransposeLhs() || getRhs().getType().getRank() != 2)
    return failure();
  return 0;
}

FailureOr<unsigned> LinearOp::getRowOperand() {
  if (getInput().getType().getRank() < 2)
    return failure();
  return 0;
}

FailureOr<SmallVector<unsigned>> MatmulOp::getSummedOperands() {
  if (!getTransposeLhs() || getTransposeRhs() || getBias() ||
      getLhs().getType().getRank() != 2 || getRhs().getType().getRank() != 2)
    return failure();
  return SmallVector<unsigned>{0, 1};
}

FailureOr<SmallVector<unsigned>> ReduceOp::getSummedOperands() {
  if (getKind() != ReduceKind::Sum || getKeepdims() || getDims().empty())
    return failure();
  for (auto [index, dim] : llvm::enumerate(getDims()))
    if (dim != static_cast<int64_t>(index))
      return failure();
  return SmallVector<unsigned>{0};
}

FailureOr<SmallVector<unsigned>> EmbeddingGradOp::getSummedOperands() {
  if (getIndices().getType().getRank() == 0)
    return failure();
  return SmallVector<unsigned>{0, 1};
}

//===----------------------------------------------------------------------===//
// Sums in place
//===----------------------------------------------------------------------===//

FailureOr<Value> MatmulOp::buildAccumulated(OpBuilder &builder,
                                            Value accumulator) {
  if (getBias())
    return failure();
  return Value(MatmulAddOp::create(builder, getLoc(), getType(), accumulator,
                                   getLhs(), getRhs(), getTransposeLhs(),
                                   getTransposeRhs()));
}

FailureOr<Value> LinearOp::buildAccumulated(OpBuilder &builder,
                                            Value accumulator) {
  if (getBias() || getInput().getType().getRank() < 2)
    return failure();
  return Value(MatmulAddOp::create(builder, getLoc(), getType(), accumulator,
                                   getInput(), getWeight(),
                                   /*transpose_lhs=*/false,
                                   /*transpose_rhs=*/true));
}

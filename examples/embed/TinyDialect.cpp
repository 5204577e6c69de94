//===- TinyDialect.cpp - A dialect that is not Echo's ---------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyDialect.h"
#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

#include "TinyDialect.cpp.inc"
#define GET_OP_CLASSES
#include "TinyOps.cpp.inc"

void tiny::TinyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "TinyOps.cpp.inc"
      >();
}

/// d(x * x) = 2 x, so the operand's gradient is (g * x) + (g * x).
LogicalResult tiny::SquareOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                                            ArrayRef<bool> needed,
                                            SmallVectorImpl<Value> &operandGradients) {
  Value gradient;
  if (needed[0]) {
    Value product = echo::MulOp::create(builder, getLoc(), resultGradients[0], getOperand());
    gradient = echo::AddOp::create(builder, getLoc(), product, product);
  }
  operandGradients.push_back(gradient);
  return success();
}

Value tiny::SquareOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  return arith::MulFOp::create(builder, loc, operands[0], operands[0]);
}

//===- Elementwise.cpp - Gradients of elementwise ops -------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// g is the gradient of the result, y the result. Where a formula in y exists
// it is preferred to one in the operand: the operand then needn't be kept for
// the backward part. What broadcasting repeated is summed by sumTo.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/TensorBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;

LogicalResult AddOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  operandGradients.assign(2, Value());
  for (unsigned i : {0, 1})
    if (needed[i])
      operandGradients[i] = b.sumTo(g, b.shapeOf(getOperand(i)));
  return success();
}

LogicalResult SubOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  operandGradients.assign(2, Value());
  if (needed[0])
    operandGradients[0] = b.sumTo(g, b.shapeOf(getLhs()));
  if (needed[1])
    operandGradients[1] = b.neg(b.sumTo(g, b.shapeOf(getRhs())));
  return success();
}

LogicalResult MulOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  operandGradients.assign(2, Value());
  if (needed[0])
    operandGradients[0] = b.sumTo(b.mul(g, getRhs()), b.shapeOf(getLhs()));
  if (needed[1])
    operandGradients[1] = b.sumTo(b.mul(g, getLhs()), b.shapeOf(getRhs()));
  return success();
}

LogicalResult DivOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(2, Value());
  Value quotient = b.div(resultGradients[0], getRhs());
  if (needed[0])
    operandGradients[0] = b.sumTo(quotient, b.shapeOf(getLhs()));
  // -g lhs / rhs^2 = -(g / rhs) y.
  if (needed[1])
    operandGradients[1] =
        b.neg(b.sumTo(b.mul(quotient, getResult()), b.shapeOf(getRhs())));
  return success();
}

LogicalResult RemOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>,
                                   SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(2, Value());
  return success();
}

/// The gradient of max and min: to lhs where the comparison holds, else to rhs.
static void buildExtremumGradient(TensorBuilder &b, CompareDirection direction,
                                  Value lhs, Value rhs, Value g,
                                  ArrayRef<bool> needed,
                                  SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(2, Value());
  Value fromLhs = b.compare(direction, lhs, rhs);
  if (needed[0])
    operandGradients[0] = b.sumTo(b.keepWhere(fromLhs, g), b.shapeOf(lhs));
  if (needed[1])
    operandGradients[1] = b.sumTo(b.dropWhere(fromLhs, g), b.shapeOf(rhs));
}

LogicalResult MaxOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  buildExtremumGradient(b, CompareDirection::GE, getLhs(), getRhs(),
                        resultGradients[0], needed, operandGradients);
  return success();
}

LogicalResult MinOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  buildExtremumGradient(b, CompareDirection::LE, getLhs(), getRhs(),
                        resultGradients[0], needed, operandGradients);
  return success();
}

LogicalResult PowOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  operandGradients.assign(2, Value());
  // x^0 is 1 everywhere, also at 0, where rhs * lhs^(rhs - 1) is 0 * inf.
  if (needed[0]) {
    Value slope = b.mul(getRhs(), b.pow(getLhs(), b.sub(getRhs(), 1.0)));
    Value flat = b.compare(CompareDirection::EQ, getRhs(), 0.0);
    operandGradients[0] =
        b.sumTo(b.dropWhere(flat, b.mul(g, slope)), b.shapeOf(getLhs()));
  }
  // 0^y is 0 for positive y, where y' log(0) is 0 * -inf.
  if (needed[1]) {
    Value slope = b.mul(getResult(), b.log(getLhs()));
    Value zero = b.compare(CompareDirection::EQ, getLhs(), 0.0);
    Value flat = b.mul(zero, b.compare(CompareDirection::GE, getRhs(), 0.0));
    operandGradients[1] =
        b.sumTo(b.dropWhere(flat, b.mul(g, slope)), b.shapeOf(getRhs()));
  }
  return success();
}

LogicalResult NegOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients, ArrayRef<bool>,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(1, b.neg(resultGradients[0]));
  return success();
}

LogicalResult AbsOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients, ArrayRef<bool>,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(1, b.mul(resultGradients[0], b.sign(getOperand())));
  return success();
}

LogicalResult SignOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>,
                                    SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(1, Value());
  return success();
}

LogicalResult ExpOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients, ArrayRef<bool>,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(1, b.mul(resultGradients[0], getResult()));
  return success();
}

LogicalResult LogOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients, ArrayRef<bool>,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(1, b.div(resultGradients[0], getOperand()));
  return success();
}

LogicalResult SqrtOp::buildGradient(OpBuilder &builder,
                                    ValueRange resultGradients, ArrayRef<bool>,
                                    SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(1,
                          b.div(b.mul(resultGradients[0], 0.5), getResult()));
  return success();
}

LogicalResult RsqrtOp::buildGradient(OpBuilder &builder,
                                     ValueRange resultGradients, ArrayRef<bool>,
                                     SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  // -1/2 x^(-3/2) = -1/2 y^3.
  Value y = getResult();
  Value cube = b.mul(b.mul(y, y), y);
  operandGradients.assign(1, b.mul(b.mul(resultGradients[0], -0.5), cube));
  return success();
}

LogicalResult TanhOp::buildGradient(OpBuilder &builder,
                                    ValueRange resultGradients, ArrayRef<bool>,
                                    SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value y = getResult();
  operandGradients.assign(1,
                          b.mul(resultGradients[0], b.sub(1.0, b.mul(y, y))));
  return success();
}

LogicalResult
SigmoidOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                         ArrayRef<bool>,
                         SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value y = getResult();
  operandGradients.assign(1,
                          b.mul(resultGradients[0], b.mul(y, b.sub(1.0, y))));
  return success();
}

LogicalResult ReluOp::buildGradient(OpBuilder &builder,
                                    ValueRange resultGradients, ArrayRef<bool>,
                                    SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value positive = b.compare(CompareDirection::GT, getResult(), 0.0);
  operandGradients.assign(1, b.keepWhere(positive, resultGradients[0]));
  return success();
}

LogicalResult GeluOp::buildGradient(OpBuilder &builder,
                                    ValueRange resultGradients, ArrayRef<bool>,
                                    SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  // x P(x) has the slope P(x) + x p(x), with the normal distribution P and its
  // density p.
  Value x = getOperand();
  Value distribution =
      b.mul(b.add(b.erf(b.mul(x, llvm::numbers::sqrt2 / 2)), 1.0), 0.5);
  Value density = b.mul(b.exp(b.mul(b.mul(x, x), -0.5)),
                        llvm::numbers::inv_sqrtpi * llvm::numbers::sqrt2 / 2);
  operandGradients.assign(
      1, b.mul(resultGradients[0], b.add(distribution, b.mul(x, density))));
  return success();
}

LogicalResult ErfOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients, ArrayRef<bool>,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value x = getOperand();
  Value slope = b.mul(b.exp(b.neg(b.mul(x, x))), 2 * llvm::numbers::inv_sqrtpi);
  operandGradients.assign(1, b.mul(resultGradients[0], slope));
  return success();
}

LogicalResult
SelectOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                        ArrayRef<bool> needed,
                        SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  operandGradients.assign(3, Value());
  if (needed[1])
    operandGradients[1] =
        b.sumTo(b.keepWhere(getPredicate(), g), b.shapeOf(getOnTrue()));
  if (needed[2])
    operandGradients[2] =
        b.sumTo(b.dropWhere(getPredicate(), g), b.shapeOf(getOnFalse()));
  return success();
}

LogicalResult
ConvertOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                         ArrayRef<bool> needed,
                         SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(1, Value());
  if (needed[0])
    operandGradients[0] =
        b.convert(resultGradients[0], b.typeOf(getOperand()).getElementType());
  return success();
}

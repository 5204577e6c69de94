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
// the backward part. What broadcasting repeated is summed by sumTo. Formulas of
// several steps compute in f32 for f16 and bf16 and round once.
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
  Type type = b.typeOf(getResult()).getElementType();
  operandGradients.assign(2, Value());
  Value g = b.widen(resultGradients[0]);
  Value quotient = b.div(g, b.widen(getRhs()));
  if (needed[0])
    operandGradients[0] =
        b.convert(b.sumTo(quotient, b.shapeOf(getLhs())), type);
  // -g lhs / rhs^2 = -(g / rhs) y.
  if (needed[1]) {
    Value slope = b.mul(quotient, b.widen(getResult()));
    operandGradients[1] =
        b.convert(b.neg(b.sumTo(slope, b.shapeOf(getRhs()))), type);
  }
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
  Type type = b.typeOf(getResult()).getElementType();
  Value g = b.widen(resultGradients[0]);
  Value base = b.widen(getLhs());
  Value exponent = b.widen(getRhs());
  operandGradients.assign(2, Value());
  // x^0 is 1 everywhere, also at 0, where rhs * lhs^(rhs - 1) is 0 * inf.
  if (needed[0]) {
    Value slope = b.mul(exponent, b.pow(base, b.sub(exponent, 1.0)));
    Value flat = b.compare(CompareDirection::EQ, exponent, 0.0);
    Value part = b.dropWhere(flat, b.mul(g, slope));
    operandGradients[0] = b.convert(b.sumTo(part, b.shapeOf(getLhs())), type);
  }
  // 0^y is 0 for positive y, where y' log(0) is 0 * -inf.
  if (needed[1]) {
    Value slope = b.mul(b.widen(getResult()), b.log(base));
    Value zero = b.compare(CompareDirection::EQ, base, 0.0);
    Value flat = b.mul(zero, b.compare(CompareDirection::GE, exponent, 0.0));
    Value part = b.dropWhere(flat, b.mul(g, slope));
    operandGradients[1] = b.convert(b.sumTo(part, b.shapeOf(getRhs())), type);
  }
  return success();
}

/// The gradient of an elementwise function: g times its slope. `from` is what
/// the slope is computed of, the operand or the result.
static LogicalResult
buildSlopeGradient(Operation *op, OpBuilder &builder, Value from, Value g,
                   SmallVectorImpl<Value> &operandGradients,
                   function_ref<Value(TensorBuilder &, Value)> slope) {
  TensorBuilder b(builder, op->getLoc());
  Type type = b.typeOf(g).getElementType();
  Value factor = slope(b, b.widen(from));
  operandGradients.assign(1, b.convert(b.mul(b.widen(g), factor), type));
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
  return buildSlopeGradient(*this, builder, getResult(), resultGradients[0],
                            operandGradients,
                            [](TensorBuilder &b, Value y) -> Value {
                              // -1/2 x^(-3/2) = -1/2 y^3.
                              return b.mul(b.mul(b.mul(y, y), y), -0.5);
                            });
}

LogicalResult TanhOp::buildGradient(OpBuilder &builder,
                                    ValueRange resultGradients, ArrayRef<bool>,
                                    SmallVectorImpl<Value> &operandGradients) {
  return buildSlopeGradient(*this, builder, getResult(), resultGradients[0],
                            operandGradients,
                            [](TensorBuilder &b, Value y) -> Value {
                              return b.sub(1.0, b.mul(y, y));
                            });
}

LogicalResult
SigmoidOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                         ArrayRef<bool>,
                         SmallVectorImpl<Value> &operandGradients) {
  return buildSlopeGradient(*this, builder, getResult(), resultGradients[0],
                            operandGradients,
                            [](TensorBuilder &b, Value y) -> Value {
                              return b.mul(y, b.sub(1.0, y));
                            });
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
  return buildSlopeGradient(
      *this, builder, getOperand(), resultGradients[0], operandGradients,
      [](TensorBuilder &b, Value x) -> Value {
        // x P(x) has the slope P(x) + x p(x), with the normal distribution P
        // and its density p.
        Value shifted = b.add(b.erf(b.mul(x, llvm::numbers::sqrt2 / 2)), 1.0);
        Value distribution = b.mul(shifted, 0.5);
        Value density =
            b.mul(b.exp(b.mul(b.mul(x, x), -0.5)),
                  llvm::numbers::inv_sqrtpi * llvm::numbers::sqrt2 / 2);
        return b.add(distribution, b.mul(x, density));
      });
}

LogicalResult ErfOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients, ArrayRef<bool>,
                                   SmallVectorImpl<Value> &operandGradients) {
  return buildSlopeGradient(
      *this, builder, getOperand(), resultGradients[0], operandGradients,
      [](TensorBuilder &b, Value x) -> Value {
        return b.mul(b.exp(b.neg(b.mul(x, x))), 2 * llvm::numbers::inv_sqrtpi);
      });
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

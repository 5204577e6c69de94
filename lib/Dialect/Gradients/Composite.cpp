//===- Composite.cpp - Gradients of composite ops -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16 and bf16 compute in f32, as the ops themselves do, and round once.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/TensorBuilder.h"
#include <limits>

using namespace mlir;
using namespace mlir::echo;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

LogicalResult
SoftmaxOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                         ArrayRef<bool>,
                         SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  int64_t axis = getAxis();
  // y (g - sum(g y)); a row of -inf has y = 0.
  Value y = b.widen(getResult());
  Value g = b.widen(resultGradients[0]);
  Value sum = b.reduce(ReduceKind::Sum, b.mul(g, y), axis, /*keepDims=*/true);
  Value gradient = b.mul(y, b.sub(g, sum));
  operandGradients.assign(
      1, b.convert(gradient, b.typeOf(getOperand()).getElementType()));
  return success();
}

LogicalResult
LogSoftmaxOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                            ArrayRef<bool>,
                            SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  int64_t axis = getAxis();
  // g - exp(y) sum(g). In a row of -inf every y is -inf, in others the largest
  // y is at least -log(size).
  Value y = b.widen(getResult());
  Value g = b.widen(resultGradients[0]);
  Value sum = b.reduce(ReduceKind::Sum, g, axis, /*keepDims=*/true);
  Value gradient = b.sub(g, b.mul(b.exp(y), sum));
  Value largest = b.reduce(ReduceKind::Max, y, axis, /*keepDims=*/true);
  Value empty = b.compare(CompareDirection::EQ, largest, -kInfinity);
  gradient = b.dropWhere(empty, gradient);
  operandGradients.assign(
      1, b.convert(gradient, b.typeOf(getOperand()).getElementType()));
  return success();
}

LogicalResult
LayerNormOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                           ArrayRef<bool> needed,
                           SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(3, Value());
  RankedTensorType type = b.typeOf(getOperand());
  Type elementType = type.getElementType();
  int64_t last = type.getRank() - 1;
  double size = type.getDimSize(last);
  Value rstd = getRstd();

  // With the normalized operand n = (x - mean) rstd.
  Value normalized;
  if (needed[0] || (needed[1] && resultGradients[0]))
    normalized = b.mul(b.sub(b.widen(getOperand()), getMean()), rstd);
  Value g = resultGradients[0] ? b.widen(resultGradients[0]) : Value();
  if (g && needed[1])
    operandGradients[1] = b.convert(
        b.sumTo(b.mul(g, normalized), b.shapeOf(getScale())), elementType);
  if (g && needed[2])
    operandGradients[2] =
        b.convert(b.sumTo(g, b.shapeOf(getOffset())), elementType);
  if (!needed[0])
    return success();

  Value sum;
  auto accumulate = [&](Value term) { sum = sum ? b.add(sum, term) : term; };
  if (g) {
    // rstd (gs - mean(gs) - n mean(gs n)) with gs = g scale.
    Value scaled = b.mul(g, b.widen(getScale()));
    Value mean = b.reduce(ReduceKind::Mean, scaled, last, /*keepDims=*/true);
    Value correlation = b.reduce(ReduceKind::Mean, b.mul(scaled, normalized),
                                 last, /*keepDims=*/true);
    Value centered = b.sub(scaled, mean);
    accumulate(b.mul(rstd, b.sub(centered, b.mul(normalized, correlation))));
  }
  // d mean / dx = 1 / N, d rstd / dx = -rstd^2 n / N.
  if (Value gMean = resultGradients[1])
    accumulate(b.broadcast(b.div(gMean, size), type.getShape()));
  if (Value gRstd = resultGradients[2]) {
    Value factor = b.div(b.mul(b.mul(rstd, rstd), gRstd), -size);
    accumulate(b.mul(factor, normalized));
  }
  operandGradients[0] = b.convert(sum, elementType);
  return success();
}

LogicalResult
EmbeddingOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                           ArrayRef<bool> needed,
                           SmallVectorImpl<Value> &operandGradients) {
  operandGradients.assign(2, Value());
  if (needed[0])
    operandGradients[0] = EmbeddingGradOp::create(
        builder, getLoc(), getTable().getType(), getIndices(),
        resultGradients[0], getTable().getType().getDimSize(0));
  return success();
}

LogicalResult SoftmaxCrossEntropyOp::buildGradient(
    OpBuilder &builder, ValueRange resultGradients, ArrayRef<bool> needed,
    SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(2, Value());
  if (!needed[0])
    return success();
  Value gradient;
  if (Value g = resultGradients[0])
    gradient = SoftmaxCrossEntropyGradOp::create(
        builder, getLoc(), getLogits().getType(), getLogits(), getLabels(),
        getLogSumExp(), g, getIgnoreLabelAttr(), getLabelSmoothingAttr());

  // d log_sum_exp / d logits = softmax = exp(logits - log_sum_exp), 0 in a row
  // of -inf.
  if (Value g = resultGradients[1]) {
    RankedTensorType type = b.typeOf(getLogits());
    SmallVector<int64_t> column(type.getShape());
    column.back() = 1;
    Value logSumExp = b.reshape(getLogSumExp(), column);
    Value softmax = b.exp(b.sub(b.widen(getLogits()), logSumExp));
    Value empty = b.compare(CompareDirection::EQ, logSumExp, -kInfinity);
    softmax = b.dropWhere(empty, softmax);
    Value term =
        b.convert(b.mul(softmax, b.reshape(g, column)), type.getElementType());
    gradient = gradient ? b.add(gradient, term) : term;
  }
  operandGradients[0] = gradient;
  return success();
}

LogicalResult
DropoutOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                         ArrayRef<bool> needed,
                         SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(4, Value());
  if (needed[0]) {
    double scale = 1.0 / (1.0 - getRate().convertToDouble());
    operandGradients[0] =
        b.keepWhere(getMask(), b.mul(resultGradients[0], scale));
  }
  return success();
}

LogicalResult
LstmCellOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                          ArrayRef<bool> needed,
                          SmallVectorImpl<Value> &operandGradients) {
  if (resultGradients[2])
    return emitOpError(
        "result 'activated' (#2) is there for the gradient and has none of its "
        "own, but the loss depends on it");
  TensorBuilder b(builder, getLoc());
  Value hidden = resultGradients[0], cell = resultGradients[1];
  if (!hidden)
    hidden = b.zeros(getHidden().getType());
  if (!cell)
    cell = b.zeros(getNewCell().getType());
  auto gradient = LstmCellGradOp::create(
      builder, getLoc(), getGates().getType(), getCell().getType(),
      getActivated(), getCell(), getNewCell(), hidden, cell);
  operandGradients.assign(
      {needed[0] ? Value(gradient.getGatesGradient()) : Value(),
       needed[1] ? Value(gradient.getOldCellGradient()) : Value()});
  return success();
}

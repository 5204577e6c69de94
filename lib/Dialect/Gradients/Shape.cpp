//===- Shape.cpp - Gradients of shape ops and reductions ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/TensorBuilder.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::echo;

LogicalResult
ReshapeOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                         ArrayRef<bool>,
                         SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(
      1, b.reshape(resultGradients[0], b.shapeOf(getOperand())));
  return success();
}

LogicalResult
TransposeOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                           ArrayRef<bool>,
                           SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(
      1, b.transpose(resultGradients[0],
                     invertPermutationVector(getPermutation())));
  return success();
}

LogicalResult
BroadcastOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                           ArrayRef<bool>,
                           SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(1,
                          b.sumTo(resultGradients[0], b.shapeOf(getOperand())));
  return success();
}

/// Spreads elements `strides` apart: dim d of size n becomes
/// (n - 1) * strides[d] + 1, with zeros in between. Every dim becomes a pair
/// [n, 1], whose second part is padded to the stride.
static Value dilate(TensorBuilder &b, Value value, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> pairs, low, high, flat, trimmed;
  for (auto [size, stride] : llvm::zip_equal(b.shapeOf(value), strides)) {
    pairs.append({size, 1});
    low.append({0, 0});
    high.append({0, stride - 1});
    flat.push_back(size * stride);
    trimmed.push_back((size - 1) * stride + 1);
  }
  Value zero = b.scalar(b.typeOf(value).getElementType(), 0.0);
  Value spread = b.pad(b.reshape(value, pairs), zero, low, high);
  SmallVector<int64_t> offsets(flat.size(), 0);
  return b.slice(b.reshape(spread, flat), offsets, trimmed);
}

LogicalResult SliceOp::buildGradient(OpBuilder &builder,
                                     ValueRange resultGradients, ArrayRef<bool>,
                                     SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(1, Value());
  Value g = resultGradients[0];
  if (b.typeOf(g).getNumElements() == 0)
    return success();
  if (llvm::any_of(getStrides(), [](int64_t stride) { return stride != 1; }))
    g = dilate(b, g, getStrides());
  SmallVector<int64_t> high;
  for (auto [size, offset, length] :
       llvm::zip_equal(b.shapeOf(getOperand()), getOffsets(), b.shapeOf(g)))
    high.push_back(size - offset - length);
  Value zero = b.scalar(b.typeOf(g).getElementType(), 0.0);
  operandGradients[0] = b.pad(g, zero, getOffsets(), high);
  return success();
}

LogicalResult PadOp::buildGradient(OpBuilder &builder,
                                   ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  operandGradients.assign(2, Value());
  if (needed[0])
    operandGradients[0] = b.slice(g, getLow(), b.shapeOf(getOperand()));
  // The value is read by what lies outside of the operand.
  if (needed[1]) {
    auto flags =
        RankedTensorType::get(b.shapeOf(getOperand()), builder.getI1Type());
    Value inside = b.splat(flags, 0);
    Value outside = b.scalar(builder.getI1Type(), 1);
    Value padding = b.pad(inside, outside, getLow(), getHigh());
    operandGradients[1] =
        b.sumTo(b.keepWhere(padding, g), b.shapeOf(getValue()));
  }
  return success();
}

LogicalResult
ConcatOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                        ArrayRef<bool> needed,
                        SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  operandGradients.assign(getInputs().size(), Value());
  // Equal parts are one split; a single part alone is a slice.
  bool equal = llvm::all_equal(getInputs().getTypes());
  if (equal && llvm::count(needed, true) > 1) {
    SmallVector<Value> parts = b.split(g, getAxis(), getInputs().size());
    for (auto [i, part] : llvm::enumerate(parts))
      if (needed[i])
        operandGradients[i] = part;
    return success();
  }
  SmallVector<int64_t> offsets(b.typeOf(g).getRank(), 0);
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (needed[i])
      operandGradients[i] = b.slice(g, offsets, b.shapeOf(input));
    offsets[getAxis()] += b.shapeOf(input)[getAxis()];
  }
  return success();
}

LogicalResult SplitOp::buildGradient(OpBuilder &builder,
                                     ValueRange resultGradients, ArrayRef<bool>,
                                     SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  auto partType = cast<RankedTensorType>(getParts().front().getType());
  SmallVector<Value> parts(resultGradients);
  if (llvm::count(parts, Value()) + 1 == int64_t(parts.size())) {
    // A single part: padded with zeros.
    int64_t index =
        llvm::find_if(parts, [](Value part) { return bool(part); }) -
        parts.begin();
    SmallVector<int64_t> low(partType.getRank(), 0), high(low);
    int64_t size = partType.getDimSize(getAxis());
    low[getAxis()] = index * size;
    high[getAxis()] = (int64_t(parts.size()) - 1 - index) * size;
    Value zero = b.scalar(partType.getElementType(), 0.0);
    operandGradients.assign(1, b.pad(parts[index], zero, low, high));
    return success();
  }
  Value zeros;
  for (Value &part : parts) {
    if (part)
      continue;
    if (!zeros)
      zeros = b.zeros(partType);
    part = zeros;
  }
  operandGradients.assign(1, b.concat(parts, getAxis()));
  return success();
}

LogicalResult
ReverseOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                         ArrayRef<bool>,
                         SmallVectorImpl<Value> &operandGradients) {
  Value g = resultGradients[0];
  operandGradients.assign(
      1, ReverseOp::create(builder, getLoc(), g.getType(), g, getAxes()));
  return success();
}

LogicalResult
ReduceOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                        ArrayRef<bool>,
                        SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  RankedTensorType type = b.typeOf(getOperand());
  SmallVector<int64_t> kept(type.getShape());
  int64_t count = 1;
  bool leading = true;
  for (auto [i, dim] : llvm::enumerate(getDims())) {
    count *= kept[dim];
    kept[dim] = 1;
    leading &= int64_t(i) == dim;
  }
  // Broadcasting adds leading dimensions by itself.
  bool isSum = getKind() == ReduceKind::Sum || getKind() == ReduceKind::Mean;
  if (!leading || !isSum)
    g = b.reshape(g, kept);

  switch (getKind()) {
  case ReduceKind::Sum:
    break;
  case ReduceKind::Mean:
    // The count may have no exact value in f16.
    g = b.convert(b.div(b.widen(g), double(count)), type.getElementType());
    break;
  case ReduceKind::Max:
  case ReduceKind::Min: {
    // Ties share equally: each gets g / (number of ties).
    Value tied = b.compare(CompareDirection::EQ, getOperand(),
                           b.reshape(getResult(), kept));
    Type wide = getAccumulatorType(type.getElementType());
    Value ties = b.reduce(ReduceKind::Sum, b.convert(tied, wide), getDims(),
                          /*keepDims=*/true);
    Value share = b.convert(b.div(b.widen(g), ties), type.getElementType());
    g = b.keepWhere(tied, share);
    break;
  }
  }
  operandGradients.assign(1, b.broadcast(g, type.getShape()));
  return success();
}

//===- TensorBuilder.cpp - Builds Echo ops at one location ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/TensorBuilder.h"

using namespace mlir;
using namespace mlir::echo;

RankedTensorType TensorBuilder::broadcastType(Value lhs, Value rhs,
                                              Type elementType) {
  SmallVector<int64_t> shape;
  OpTrait::util::getBroadcastedShape(shapeOf(lhs), shapeOf(rhs), shape);
  return RankedTensorType::get(shape, elementType);
}

Value TensorBuilder::compare(CompareDirection direction, Value lhs, Value rhs) {
  return CompareOp::create(builder, loc,
                           broadcastType(lhs, rhs, builder.getI1Type()), lhs,
                           rhs, direction);
}

Value TensorBuilder::select(Value predicate, Value onTrue, Value onFalse) {
  SmallVector<int64_t> arms, shape;
  OpTrait::util::getBroadcastedShape(shapeOf(onTrue), shapeOf(onFalse), arms);
  OpTrait::util::getBroadcastedShape(shapeOf(predicate), arms, shape);
  auto type = RankedTensorType::get(shape, typeOf(onTrue).getElementType());
  return SelectOp::create(builder, loc, type, predicate, onTrue, onFalse);
}

Value TensorBuilder::convert(Value operand, Type elementType) {
  if (typeOf(operand).getElementType() == elementType)
    return operand;
  return ConvertOp::create(builder, loc,
                           RankedTensorType::get(shapeOf(operand), elementType),
                           operand);
}

Value TensorBuilder::reshape(Value operand, ArrayRef<int64_t> shape) {
  if (shapeOf(operand) == shape)
    return operand;
  return ReshapeOp::create(builder, loc, typeOf(operand).clone(shape), operand);
}

Value TensorBuilder::broadcast(Value operand, ArrayRef<int64_t> shape) {
  if (shapeOf(operand) == shape)
    return operand;
  return BroadcastOp::create(builder, loc, typeOf(operand).clone(shape),
                             operand);
}

Value TensorBuilder::transpose(Value operand, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(shapeOf(operand)[dim]);
  return TransposeOp::create(builder, loc, typeOf(operand).clone(shape),
                             operand, permutation);
}

Value TensorBuilder::slice(Value operand, ArrayRef<int64_t> offsets,
                           ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> ones(sizes.size(), 1);
  if (strides.empty())
    strides = ones;
  if (shapeOf(operand) == sizes)
    return operand;
  return SliceOp::create(builder, loc, typeOf(operand).clone(sizes), operand,
                         offsets, sizes, strides);
}

Value TensorBuilder::pad(Value operand, Value value, ArrayRef<int64_t> low,
                         ArrayRef<int64_t> high) {
  SmallVector<int64_t> shape;
  for (auto [size, before, after] :
       llvm::zip_equal(shapeOf(operand), low, high))
    shape.push_back(before + size + after);
  if (shapeOf(operand) == ArrayRef<int64_t>(shape))
    return operand;
  return PadOp::create(builder, loc, typeOf(operand).clone(shape), operand,
                       value, low, high);
}

Value TensorBuilder::concat(ValueRange inputs, int64_t axis) {
  SmallVector<int64_t> shape(shapeOf(inputs.front()));
  shape[axis] = 0;
  for (Value input : inputs)
    shape[axis] += shapeOf(input)[axis];
  return ConcatOp::create(builder, loc, typeOf(inputs.front()).clone(shape),
                          inputs, axis);
}

SmallVector<Value> TensorBuilder::split(Value operand, int64_t axis,
                                        int64_t parts) {
  SmallVector<int64_t> shape(shapeOf(operand));
  shape[axis] /= parts;
  SmallVector<Type> types(parts, typeOf(operand).clone(shape));
  return SmallVector<Value>(
      SplitOp::create(builder, loc, types, operand, axis).getParts());
}

Value TensorBuilder::reduce(ReduceKind kind, Value operand,
                            ArrayRef<int64_t> dims, bool keepDims) {
  if (dims.empty())
    return operand;
  SmallVector<int64_t> shape;
  for (auto [index, size] : llvm::enumerate(shapeOf(operand))) {
    if (!llvm::is_contained(dims, int64_t(index)))
      shape.push_back(size);
    else if (keepDims)
      shape.push_back(1);
  }
  return ReduceOp::create(builder, loc, typeOf(operand).clone(shape), operand,
                          kind, dims, keepDims);
}

Value TensorBuilder::sumAll(Value operand) {
  return reduce(ReduceKind::Sum, operand,
                llvm::to_vector(llvm::seq<int64_t>(typeOf(operand).getRank())),
                /*keepDims=*/false);
}

Value TensorBuilder::sumTo(Value operand, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(operand);
  int64_t added = from.size() - shape.size();
  SmallVector<int64_t> dims;
  bool inner = false;
  for (int64_t dim = 0, rank = from.size(); dim < rank; ++dim) {
    bool repeated = dim >= added && shape[dim - added] == 1 && from[dim] != 1;
    inner |= repeated;
    if (dim < added || repeated)
      dims.push_back(dim);
  }
  // Kept dimensions give the shape at once unless some must go altogether.
  Value sum = reduce(ReduceKind::Sum, operand, dims,
                     /*keepDims=*/added == 0 && inner);
  return reshape(sum, shape);
}

Value TensorBuilder::matmul(Value lhs, Value rhs, bool transposeLhs,
                            bool transposeRhs) {
  ArrayRef<int64_t> lhsShape = shapeOf(lhs), rhsShape = shapeOf(rhs);
  SmallVector<int64_t> shape;
  OpTrait::util::getBroadcastedShape(lhsShape.drop_back(2),
                                     rhsShape.drop_back(2), shape);
  shape.push_back(lhsShape[lhsShape.size() - (transposeLhs ? 1 : 2)]);
  shape.push_back(rhsShape[rhsShape.size() - (transposeRhs ? 2 : 1)]);
  return MatmulOp::create(builder, loc, typeOf(lhs).clone(shape), lhs, rhs,
                          /*bias=*/Value(), transposeLhs, transposeRhs);
}

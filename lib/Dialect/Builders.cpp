//===- Builders.cpp - Builders of Echo ops --------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace mlir::echo;

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value operand,
                      Type elementType) {
  auto type = cast<RankedTensorType>(operand.getType());
  build(builder, state, RankedTensorType::get(type.getShape(), elementType),
        operand);
}

void IotaOp::build(OpBuilder &builder, OperationState &state,
                   ArrayRef<int64_t> shape, Type elementType,
                   int64_t dimension) {
  build(builder, state, RankedTensorType::get(shape, elementType), dimension);
}

void ReshapeOp::build(OpBuilder &builder, OperationState &state, Value operand,
                      ArrayRef<int64_t> shape) {
  build(builder, state,
        RankedTensorType::get(shape, getElementTypeOrSelf(operand)), operand);
}

void BroadcastOp::build(OpBuilder &builder, OperationState &state,
                        Value operand, ArrayRef<int64_t> shape) {
  build(builder, state,
        RankedTensorType::get(shape, getElementTypeOrSelf(operand)), operand);
}

void SplitOp::build(OpBuilder &builder, OperationState &state, Value operand,
                    int64_t axis, int64_t count) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape[axis]))
    shape[axis] /= count;
  SmallVector<Type> parts(count,
                          RankedTensorType::get(shape, type.getElementType()));
  build(builder, state, parts, operand, axis);
}

DenseElementsAttr mlir::echo::getSplatAttr(RankedTensorType type,
                                           double value) {
  Type elementType = type.getElementType();
  if (auto floatType = dyn_cast<FloatType>(elementType))
    return DenseElementsAttr::get(type, FloatAttr::get(floatType, value));
  if (elementType.isInteger(1))
    return DenseElementsAttr::get(type, value != 0);
  APSInt integer(elementType.getIntOrFloatBitWidth(), /*isUnsigned=*/false);
  bool exact;
  APFloat(value).convertToInteger(integer, APFloat::rmTowardZero, &exact);
  return DenseElementsAttr::get(type, APInt(integer));
}

Value mlir::echo::createSplatConstant(OpBuilder &builder, Location loc,
                                      RankedTensorType type, double value) {
  return ConstantOp::create(builder, loc, getSplatAttr(type, value));
}

Value mlir::echo::createScalarConstant(OpBuilder &builder, Location loc,
                                       Type elementType, double value) {
  return createSplatConstant(builder, loc,
                             RankedTensorType::get({}, elementType), value);
}

//===- TensorBuilder.h - Builds Echo ops at one location --------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for building graphs of static shapes: what gradients and weight
// updates are written in. Result types follow from the operands.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_TENSORBUILDER_H
#define ECHO_DIALECT_TENSORBUILDER_H

#include "Echo/Dialect/Builders.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/Shapes.h"

namespace mlir::echo {

class TensorBuilder {
public:
  TensorBuilder(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }
  static ArrayRef<int64_t> shapeOf(Value value) {
    return typeOf(value).getShape();
  }

  /// A tensor of `type` with every element `value`, rounded to its type.
  Value splat(RankedTensorType type, double value) {
    return createSplatConstant(builder, loc, type, value);
  }
  /// A rank 0 tensor.
  Value scalar(Type elementType, double value) {
    return splat(RankedTensorType::get({}, elementType), value);
  }
  Value zeros(Type type) { return splat(cast<RankedTensorType>(type), 0.0); }

  Value add(Value lhs, Value rhs) { return binary<AddOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return binary<SubOp>(lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return binary<MulOp>(lhs, rhs); }
  Value div(Value lhs, Value rhs) { return binary<DivOp>(lhs, rhs); }
  Value rem(Value lhs, Value rhs) { return binary<RemOp>(lhs, rhs); }
  Value min(Value lhs, Value rhs) { return binary<MinOp>(lhs, rhs); }
  Value pow(Value lhs, Value rhs) { return binary<PowOp>(lhs, rhs); }

  /// The same with a scalar of the other operand's element type.
  Value add(Value lhs, double rhs) { return add(lhs, scalarLike(lhs, rhs)); }
  Value mul(Value lhs, double rhs) { return mul(lhs, scalarLike(lhs, rhs)); }
  Value div(Value lhs, double rhs) { return div(lhs, scalarLike(lhs, rhs)); }
  Value sub(Value lhs, double rhs) { return sub(lhs, scalarLike(lhs, rhs)); }
  Value sub(double lhs, Value rhs) { return sub(scalarLike(rhs, lhs), rhs); }
  Value min(Value lhs, double rhs) { return min(lhs, scalarLike(lhs, rhs)); }

  Value neg(Value operand) { return unary<NegOp>(operand); }
  Value sign(Value operand) { return unary<SignOp>(operand); }
  Value exp(Value operand) { return unary<ExpOp>(operand); }
  Value log(Value operand) { return unary<LogOp>(operand); }
  Value sqrt(Value operand) { return unary<SqrtOp>(operand); }
  Value erf(Value operand) { return unary<ErfOp>(operand); }

  Value compare(CompareDirection direction, Value lhs, Value rhs);
  Value compare(CompareDirection direction, Value lhs, double rhs) {
    return compare(direction, lhs, scalarLike(lhs, rhs));
  }
  Value select(Value predicate, Value onTrue, Value onFalse);
  /// `operand` where predicate holds, otherwise zero, or the other way round.
  Value keepWhere(Value predicate, Value operand) {
    return select(predicate, operand, scalarLike(operand, 0.0));
  }
  Value dropWhere(Value predicate, Value operand) {
    return select(predicate, scalarLike(operand, 0.0), operand);
  }

  /// `operand` itself if it has the element type already.
  Value convert(Value operand, Type elementType);
  /// f16 and bf16 become f32, in which they are computed with.
  Value widen(Value operand) {
    return convert(operand, getAccumulatorType(typeOf(operand).getElementType()));
  }

  /// `operand` itself if it has the shape already.
  Value reshape(Value operand, ArrayRef<int64_t> shape);
  Value broadcast(Value operand, ArrayRef<int64_t> shape);
  Value transpose(Value operand, ArrayRef<int64_t> permutation);
  /// `operand` itself if the slice is all of it; strides are 1 by default.
  Value slice(Value operand, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
              ArrayRef<int64_t> strides = {});
  /// `operand` itself if nothing is added.
  Value pad(Value operand, Value value, ArrayRef<int64_t> low,
            ArrayRef<int64_t> high);
  Value concat(ValueRange inputs, int64_t axis);
  SmallVector<Value> split(Value operand, int64_t axis, int64_t parts);

  Value reduce(ReduceKind kind, Value operand, ArrayRef<int64_t> dims,
               bool keepDims);
  /// Sums over all dimensions: rank 0.
  Value sumAll(Value operand);
  /// The gradient of broadcasting: sums what was repeated to reach the shape of
  /// `operand` from `shape`.
  Value sumTo(Value operand, ArrayRef<int64_t> shape);

  Value matmul(Value lhs, Value rhs, bool transposeLhs, bool transposeRhs);

  OpBuilder &getBuilder() const { return builder; }
  Location getLoc() const { return loc; }

private:
  Value scalarLike(Value like, double value) {
    return scalar(typeOf(like).getElementType(), value);
  }
  /// The shape that both broadcast to, with the element type.
  static RankedTensorType broadcastType(Value lhs, Value rhs, Type elementType);

  template <typename Op>
  Value unary(Value operand) {
    return Op::create(builder, loc, operand.getType(), operand);
  }
  template <typename Op>
  Value binary(Value lhs, Value rhs) {
    return Op::create(builder, loc,
                      broadcastType(lhs, rhs, typeOf(lhs).getElementType()),
                      lhs, rhs);
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::echo

#endif // ECHO_DIALECT_TENSORBUILDER_H

//===- Decompositions.cpp - Composite ops in simpler ones -----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16 and bf16 compute in f32 and round once, at the end. Rows of -inf, as
// masking makes them, give zeros instead of NaN.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Traits.h"
#include <limits>

using namespace mlir;
using namespace mlir::echo;

namespace {

/// Builds elementwise ops, reductions and constants at one location.
class Arithmetic {
public:
  Arithmetic(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }

  /// A scalar of `element` type.
  Value constant(Type element, double value) {
    auto type = RankedTensorType::get({}, element);
    return ConstantOp::create(
        builder, loc, type,
        DenseElementsAttr::get(type, scalar(element, value)));
  }

  template <typename OpT>
  Value binary(Value lhs, Value rhs) {
    return OpT::create(builder, loc, broadcast({lhs, rhs}, typeOf(lhs).getElementType()),
                       lhs, rhs);
  }
  Value add(Value lhs, Value rhs) { return binary<AddOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return binary<SubOp>(lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return binary<MulOp>(lhs, rhs); }
  Value div(Value lhs, Value rhs) { return binary<DivOp>(lhs, rhs); }
  /// 1 - value
  Value complement(Value value) {
    return sub(constant(typeOf(value).getElementType(), 1.0), value);
  }

  template <typename OpT>
  Value unary(Value value) {
    return OpT::create(builder, loc, value.getType(), value);
  }

  Value compare(CompareDirection direction, Value lhs, Value rhs) {
    return CompareOp::create(builder, loc,
                             broadcast({lhs, rhs}, builder.getI1Type()), lhs,
                             rhs, direction);
  }
  /// Compares with a scalar.
  Value compare(CompareDirection direction, Value lhs, double rhs) {
    return compare(direction, lhs,
                   constant(typeOf(lhs).getElementType(), rhs));
  }
  Value select(Value predicate, Value onTrue, Value onFalse) {
    return SelectOp::create(
        builder, loc,
        broadcast({predicate, onTrue, onFalse},
                  typeOf(onTrue).getElementType()),
        predicate, onTrue, onFalse);
  }

  /// Reduces one dimension, which stays with size 1.
  Value reduce(ReduceKind kind, Value value, int64_t axis) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape[axis] = 1;
    return ReduceOp::create(builder, loc, typeOf(value).clone(shape), value,
                            kind, ArrayRef<int64_t>(axis),
                            /*keepdims=*/true);
  }

  Value convert(Value value, Type element) {
    if (typeOf(value).getElementType() == element)
      return value;
    return ConvertOp::create(builder, loc, typeOf(value).clone(element), value);
  }
  /// The value in the type that its arithmetic is done in.
  Value widen(Value value) {
    return convert(value, wide(typeOf(value).getElementType()));
  }
  Type wide(Type element) {
    return element.isF16() || element.isBF16() ? builder.getF32Type()
                                               : element;
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    if (typeOf(value).getShape() == shape)
      return value;
    return ReshapeOp::create(builder, loc, typeOf(value).clone(shape), value);
  }
  /// Adds or removes a last dimension of size 1.
  Value appendUnitDim(Value value) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape.push_back(1);
    return reshape(value, shape);
  }
  Value dropUnitDim(Value value) {
    return reshape(value, typeOf(value).getShape().drop_back());
  }

  /// The maximum of a dimension, with 0 where it is -inf, so that subtracting
  /// it is safe.
  Value safeMaximum(Value value, int64_t axis) {
    Value maximum = reduce(ReduceKind::Max, value, axis);
    return zeroWhereMinusInfinity(maximum);
  }
  Value zeroWhereMinusInfinity(Value value) {
    return select(isMinusInfinity(value),
                  constant(typeOf(value).getElementType(), 0.0), value);
  }
  Value isMinusInfinity(Value value) {
    return compare(CompareDirection::EQ, value,
                   -std::numeric_limits<double>::infinity());
  }
  /// The sum, which is 0 for rows of -inf alone, with 1 in place of 0.
  Value oneWhereZero(Value sum) {
    return select(compare(CompareDirection::EQ, sum, 0.0),
                  constant(typeOf(sum).getElementType(), 1.0), sum);
  }

  /// Part `index` of four along the last dimension.
  Value quarter(Value value, int64_t index) {
    RankedTensorType type = typeOf(value);
    SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()),
        strides(type.getRank(), 1);
    sizes.back() /= 4;
    offsets.back() = index * sizes.back();
    return SliceOp::create(builder, loc, type.clone(sizes), value, offsets,
                           sizes, strides);
  }
  Value joinQuarters(ArrayRef<Value> parts) {
    RankedTensorType type = typeOf(parts.front());
    SmallVector<int64_t> shape(type.getShape());
    shape.back() *= 4;
    return ConcatOp::create(builder, loc, type.clone(shape), parts,
                            type.getRank() - 1);
  }

  /// 0, 1, ... size - 1.
  Value iota(Type element, int64_t size) {
    return IotaOp::create(builder, loc, RankedTensorType::get({size}, element),
                          0);
  }

private:
  Attribute scalar(Type element, double value) {
    if (isa<FloatType>(element))
      return builder.getFloatAttr(element, value);
    return builder.getIntegerAttr(element, static_cast<int64_t>(value));
  }

  RankedTensorType broadcast(ArrayRef<Value> values, Type element) {
    SmallVector<int64_t> shape;
    for (Value value : values) {
      SmallVector<int64_t> joined;
      OpTrait::util::getBroadcastedShape(shape, typeOf(value).getShape(),
                                         joined);
      shape = joined;
    }
    return RankedTensorType::get(shape, element);
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace

static LogicalResult verifyStatic(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (!cast<ShapedType>(type).hasStaticShape())
      return op->emitOpError("expected static shapes to decompose, found ")
             << type;
  return success();
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  if (failed(verifyStatic(*this)))
    return failure();
  Arithmetic a(builder, getLoc());
  Value x = a.widen(getOperand());
  int64_t axis = getAxis();
  Value exponential = a.unary<ExpOp>(a.sub(x, a.safeMaximum(x, axis)));
  Value sum = a.reduce(ReduceKind::Sum, exponential, axis);
  Value result = a.div(exponential, a.oneWhereZero(sum));
  return SmallVector<Value>{
      a.convert(result, getResult().getType().getElementType())};
}

FailureOr<SmallVector<Value>> LogSoftmaxOp::decompose(OpBuilder &builder) {
  if (failed(verifyStatic(*this)))
    return failure();
  Arithmetic a(builder, getLoc());
  Value x = a.widen(getOperand());
  int64_t axis = getAxis();
  Value shifted = a.sub(x, a.safeMaximum(x, axis));
  Value sum = a.reduce(ReduceKind::Sum, a.unary<ExpOp>(shifted), axis);
  Value result = a.sub(shifted, a.unary<LogOp>(a.oneWhereZero(sum)));
  return SmallVector<Value>{
      a.convert(result, getResult().getType().getElementType())};
}

FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &builder) {
  if (failed(verifyStatic(*this)))
    return failure();
  Arithmetic a(builder, getLoc());
  Value x = a.widen(getOperand());
  Type type = Arithmetic::typeOf(x).getElementType();
  int64_t axis = Arithmetic::typeOf(x).getRank() - 1;
  Value mean = a.reduce(ReduceKind::Mean, x, axis);
  Value centered = a.sub(x, mean);
  Value variance =
      a.reduce(ReduceKind::Mean, a.mul(centered, centered), axis);
  double epsilon = getEpsilon().convertToDouble();
  Value rstd = a.unary<RsqrtOp>(a.add(variance, a.constant(type, epsilon)));
  Value result = a.add(a.mul(a.mul(centered, rstd), a.widen(getScale())),
                       a.widen(getOffset()));
  return SmallVector<Value>{
      a.convert(result, getResult().getType().getElementType()), mean, rstd};
}

/// True where a label counts: inside the classes and not `ignore`.
static Value validLabels(Arithmetic &a, Value labels, int64_t classes,
                         int64_t ignore) {
  Value valid =
      a.mul(a.compare(CompareDirection::GE, labels, 0.0),
            a.compare(CompareDirection::LT, labels,
                      static_cast<double>(classes)));
  if (ignore >= 0 && ignore < classes)
    valid = a.mul(valid, a.compare(CompareDirection::NE, labels,
                                   static_cast<double>(ignore)));
  return valid;
}

FailureOr<SmallVector<Value>>
SoftmaxCrossEntropyOp::decompose(OpBuilder &builder) {
  if (failed(verifyStatic(*this)))
    return failure();
  Arithmetic a(builder, getLoc());
  Value x = a.widen(getLogits());
  RankedTensorType type = Arithmetic::typeOf(x);
  Type element = type.getElementType();
  int64_t axis = type.getRank() - 1, classes = type.getShape().back();
  Value labels = a.appendUnitDim(getLabels());

  Value maximum = a.safeMaximum(x, axis);
  Value sum = a.reduce(ReduceKind::Sum,
                       a.unary<ExpOp>(a.sub(x, maximum)), axis);
  Value logSumExp = a.add(maximum, a.unary<LogOp>(sum));

  Value zero = a.constant(element, 0.0);
  Value isLabel = a.compare(
      CompareDirection::EQ,
      a.iota(Arithmetic::typeOf(labels).getElementType(), classes), labels);
  Value atLabel =
      a.reduce(ReduceKind::Sum, a.select(isLabel, x, zero), axis);
  Value loss = a.sub(logSumExp, atLabel);
  double smoothing = getLabelSmoothing().convertToDouble();
  if (smoothing != 0) {
    Value uniform = a.sub(logSumExp, a.reduce(ReduceKind::Mean, x, axis));
    loss = a.add(a.mul(a.constant(element, 1.0 - smoothing), loss),
                 a.mul(a.constant(element, smoothing), uniform));
  }
  Value counts = validLabels(a, labels, classes, getIgnoreLabel());
  loss = a.select(counts, loss, zero);
  loss = a.select(a.isMinusInfinity(logSumExp), zero, loss);
  return SmallVector<Value>{a.dropUnitDim(loss), a.dropUnitDim(logSumExp)};
}

FailureOr<SmallVector<Value>>
SoftmaxCrossEntropyGradOp::decompose(OpBuilder &builder) {
  if (failed(verifyStatic(*this)))
    return failure();
  Arithmetic a(builder, getLoc());
  Value x = a.widen(getLogits());
  RankedTensorType type = Arithmetic::typeOf(x);
  Type element = type.getElementType();
  int64_t classes = type.getShape().back();
  Value labels = a.appendUnitDim(getLabels());
  Value logSumExp = a.widen(a.appendUnitDim(getLogSumExp()));
  Value gradient = a.widen(a.appendUnitDim(getGradient()));

  Value zero = a.constant(element, 0.0);
  Value result = a.unary<ExpOp>(
      a.sub(x, a.zeroWhereMinusInfinity(logSumExp)));
  double smoothing = getLabelSmoothing().convertToDouble();
  Value isLabel = a.compare(
      CompareDirection::EQ,
      a.iota(Arithmetic::typeOf(labels).getElementType(), classes), labels);
  result = a.sub(result, a.select(isLabel, a.constant(element, 1.0 - smoothing),
                                  zero));
  if (smoothing != 0)
    result = a.sub(result, a.constant(element, smoothing / classes));
  Value counts = validLabels(a, labels, classes, getIgnoreLabel());
  counts = a.select(a.isMinusInfinity(logSumExp),
                    a.compare(CompareDirection::NE, labels, labels), counts);
  result = a.select(counts, a.mul(result, gradient), zero);
  return SmallVector<Value>{
      a.convert(result, getResult().getType().getElementType())};
}

FailureOr<SmallVector<Value>> LstmCellOp::decompose(OpBuilder &builder) {
  if (failed(verifyStatic(*this)))
    return failure();
  Arithmetic a(builder, getLoc());
  Type element = getCell().getType().getElementType();
  Value input = a.unary<SigmoidOp>(a.widen(a.quarter(getGates(), 0)));
  Value forget = a.unary<SigmoidOp>(a.widen(a.quarter(getGates(), 1)));
  Value candidate = a.unary<TanhOp>(a.widen(a.quarter(getGates(), 2)));
  Value output = a.unary<SigmoidOp>(a.widen(a.quarter(getGates(), 3)));
  Value cell = a.add(a.mul(forget, a.widen(getCell())),
                     a.mul(input, candidate));
  Value hidden = a.mul(output, a.unary<TanhOp>(cell));
  Value activated = a.joinQuarters(
      {a.convert(input, element), a.convert(forget, element),
       a.convert(candidate, element), a.convert(output, element)});
  return SmallVector<Value>{a.convert(hidden, element),
                            a.convert(cell, element), activated};
}

FailureOr<SmallVector<Value>> LstmCellGradOp::decompose(OpBuilder &builder) {
  if (failed(verifyStatic(*this)))
    return failure();
  Arithmetic a(builder, getLoc());
  Type element = getCell().getType().getElementType();
  Value input = a.widen(a.quarter(getActivated(), 0));
  Value forget = a.widen(a.quarter(getActivated(), 1));
  Value candidate = a.widen(a.quarter(getActivated(), 2));
  Value output = a.widen(a.quarter(getActivated(), 3));
  Value hiddenGradient = a.widen(getHiddenGradient());
  Value squashed = a.unary<TanhOp>(a.widen(getNewCell()));

  auto sigmoidGradient = [&](Value y, Value gradient) {
    return a.mul(gradient, a.mul(y, a.complement(y)));
  };
  auto tanhGradient = [&](Value y, Value gradient) {
    return a.mul(gradient, a.complement(a.mul(y, y)));
  };
  // The gradient of new_cell has a part through hidden.
  Value cellGradient =
      a.add(a.widen(getCellGradient()),
            tanhGradient(squashed, a.mul(hiddenGradient, output)));
  Value gates[] = {
      sigmoidGradient(input, a.mul(cellGradient, candidate)),
      sigmoidGradient(forget, a.mul(cellGradient, a.widen(getCell()))),
      tanhGradient(candidate, a.mul(cellGradient, input)),
      sigmoidGradient(output, a.mul(hiddenGradient, squashed))};
  SmallVector<Value> parts;
  for (Value gate : gates)
    parts.push_back(a.convert(gate, element));
  return SmallVector<Value>{
      a.joinQuarters(parts),
      a.convert(a.mul(cellGradient, forget), element)};
}

//===- ScalarEmission.cpp - Arithmetic of elementwise ops -----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One element of each elementwise op as arith ops. The interpreter's exact mode
// (lib/Target/Interpreter) does the same arithmetic on the host; both are
// compared in unittests/Numerics.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Numerics/ArithAlgebra.h"
#include "Echo/Numerics/Pow.h"
#include "Echo/Numerics/SmallFloat.h"
#include "Echo/Numerics/Transcendentals.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace mlir::echo;
using numerics::ArithAlgebra;
using numerics::ArithEmitter;

namespace {

bool isSmallFloat(Type element) { return element.isF16() || element.isBF16(); }
bool isFloat(Type element) { return isa<FloatType>(element); }
bool isBool(Type element) { return element.isInteger(1); }

/// f16 and bf16 as f32, other types as they are.
Value widen(const ArithEmitter &emitter, Value value) {
  if (!isSmallFloat(getElementTypeOrSelf(value)))
    return value;
  return emitter.make<arith::ExtFOp>(
      emitter.typeOf(emitter.getBuilder().getF32Type()), value);
}

/// Rounds a result of `widen`ed operands to the element type.
Value narrow(const ArithEmitter &emitter, Value value, Type element) {
  if (getElementTypeOrSelf(value) == element)
    return value;
  return emitter.make<arith::TruncFOp>(emitter.typeOf(element), value);
}

/// Calls `emit` with the algebra of the operands' float type, after f16 and
/// bf16 have become f32, and rounds its value back.
template <typename Emit>
Value emitFloat(OpBuilder &builder, Location loc, ValueRange operands,
                Emit emit) {
  ArithEmitter emitter(builder, loc, operands[0].getType());
  Type element = getElementTypeOrSelf(operands[0]);
  SmallVector<Value, 2> wide;
  for (Value operand : operands)
    wide.push_back(widen(emitter, operand));
  Value result =
      element.isF64()
          ? emit(ArithAlgebra<double>(builder, loc, wide[0].getType()), wide)
          : emit(ArithAlgebra<float>(builder, loc, wide[0].getType()), wide);
  return narrow(emitter, result, element);
}

/// Integers of the operands' type, for ops that have them.
struct IntegerEmitter : ArithEmitter {
  IntegerEmitter(OpBuilder &builder, Location loc, ValueRange operands)
      : ArithEmitter(builder, loc, operands[0].getType()),
        width(getElementTypeOrSelf(operands[0]).getIntOrFloatBitWidth()) {}
  Value constant(int64_t value) const { return integerOf(width, value); }
  Value least() const {
    return constant(width == 64 ? std::numeric_limits<int64_t>::min()
                                : -(int64_t(1) << (width - 1)));
  }
  Value select(Value condition, Value a, Value b) const {
    return make<arith::SelectOp>(condition, a, b);
  }
  Value isZero(Value value) const {
    return compare(arith::CmpIPredicate::eq, value, constant(0));
  }
  /// A divisor for which division is defined: 1 where b is zero, or where the
  /// quotient of the least value and -1 would overflow (dividing it by 1 gives
  /// the wrapped quotient and remainder).
  Value safeDivisor(Value a, Value b) const {
    Value overflows =
        make<arith::AndIOp>(compare(arith::CmpIPredicate::eq, a, least()),
                            compare(arith::CmpIPredicate::eq, b, constant(-1)));
    Value undefined = make<arith::OrIOp>(isZero(b), overflows);
    return select(undefined, constant(1), b);
  }

  unsigned width;
};

template <typename FloatOp, typename IntOp, typename BoolOp>
Value emitBinary(OpBuilder &builder, Location loc, ValueRange operands) {
  Type element = getElementTypeOrSelf(operands[0]);
  if (isFloat(element))
    return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
      return a.template make<FloatOp>(x[0], x[1]);
    });
  IntegerEmitter e(builder, loc, operands);
  if (isBool(element))
    return e.make<BoolOp>(operands[0], operands[1]);
  return e.make<IntOp>(operands[0], operands[1]);
}

} // namespace

Value AddOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  return emitBinary<arith::AddFOp, arith::AddIOp, arith::OrIOp>(builder, loc,
                                                                operands);
}

Value SubOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  return emitBinary<arith::SubFOp, arith::SubIOp, arith::XOrIOp>(builder, loc,
                                                                 operands);
}

Value MulOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  return emitBinary<arith::MulFOp, arith::MulIOp, arith::AndIOp>(builder, loc,
                                                                 operands);
}

Value MaxOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  return emitBinary<arith::MaximumFOp, arith::MaxSIOp, arith::OrIOp>(
      builder, loc, operands);
}

Value MinOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  return emitBinary<arith::MinimumFOp, arith::MinSIOp, arith::AndIOp>(
      builder, loc, operands);
}

Value DivOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  Type element = getElementTypeOrSelf(operands[0]);
  if (isFloat(element))
    return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
      return a.div(x[0], x[1]);
    });
  IntegerEmitter e(builder, loc, operands);
  Value lhs = operands[0], rhs = operands[1];
  // Of flags: a / 1 is a, a / 0 is 0.
  if (isBool(element))
    return e.make<arith::AndIOp>(lhs, rhs);
  Value quotient = e.make<arith::DivSIOp>(lhs, e.safeDivisor(lhs, rhs));
  return e.select(e.isZero(rhs), e.constant(0), quotient);
}

Value RemOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  IntegerEmitter e(builder, loc, operands);
  Value lhs = operands[0], rhs = operands[1];
  if (isBool(getElementTypeOrSelf(lhs)))
    return e.constant(0);
  Value remainder = e.make<arith::RemSIOp>(lhs, e.safeDivisor(lhs, rhs));
  return e.select(e.isZero(rhs), e.constant(0), remainder);
}

Value PowOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
    return numerics::pow(a, x[0], x[1]);
  });
}

Value NegOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  Type element = getElementTypeOrSelf(operands[0]);
  if (isFloat(element))
    return emitFloat(builder, loc, operands,
                     [](auto a, ArrayRef<Value> x) { return a.neg(x[0]); });
  if (isBool(element))
    return operands[0];
  IntegerEmitter e(builder, loc, operands);
  return e.make<arith::SubIOp>(e.constant(0), operands[0]);
}

Value AbsOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  Type element = getElementTypeOrSelf(operands[0]);
  if (isFloat(element))
    return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
      return numerics::detail::absolute(a, x[0]);
    });
  if (isBool(element))
    return operands[0];
  IntegerEmitter e(builder, loc, operands);
  Value negative =
      e.compare(arith::CmpIPredicate::slt, operands[0], e.constant(0));
  return e.select(negative, e.make<arith::SubIOp>(e.constant(0), operands[0]),
                  operands[0]);
}

Value SignOp::emitScalar(OpBuilder &builder, Location loc,
                         ValueRange operands) {
  Type element = getElementTypeOrSelf(operands[0]);
  if (isFloat(element))
    return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
      Value zero = a.constant(0);
      Value other = a.select(a.equal(x[0], zero), zero, x[0]);
      Value notPositive = a.select(a.less(x[0], zero), a.constant(-1), other);
      return a.select(a.greater(x[0], zero), a.constant(1), notPositive);
    });
  if (isBool(element))
    return operands[0];
  IntegerEmitter e(builder, loc, operands);
  Value zero = e.constant(0);
  Value positive = e.compare(arith::CmpIPredicate::sgt, operands[0], zero);
  Value negative = e.compare(arith::CmpIPredicate::slt, operands[0], zero);
  return e.select(positive, e.constant(1),
                  e.select(negative, e.constant(-1), zero));
}

Value ReluOp::emitScalar(OpBuilder &builder, Location loc,
                         ValueRange operands) {
  Type element = getElementTypeOrSelf(operands[0]);
  if (isFloat(element))
    return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
      Value zero = a.constant(0);
      // Less or equal, not unordered: NaN stays.
      return a.select(a.lessEqual(x[0], zero), zero, x[0]);
    });
  if (isBool(element))
    return operands[0];
  IntegerEmitter e(builder, loc, operands);
  return e.make<arith::MaxSIOp>(operands[0], e.constant(0));
}

Value ExpOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
    return numerics::exp(a, x[0]);
  });
}

Value LogOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
    return numerics::log(a, x[0]);
  });
}

Value SqrtOp::emitScalar(OpBuilder &builder, Location loc,
                         ValueRange operands) {
  return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
    return a.template make<math::SqrtOp>(x[0]);
  });
}

Value RsqrtOp::emitScalar(OpBuilder &builder, Location loc,
                          ValueRange operands) {
  return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
    Value root = a.template make<math::SqrtOp>(x[0]);
    return a.div(a.constant(1), root);
  });
}

Value TanhOp::emitScalar(OpBuilder &builder, Location loc,
                         ValueRange operands) {
  return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
    return numerics::tanh(a, x[0]);
  });
}

Value SigmoidOp::emitScalar(OpBuilder &builder, Location loc,
                            ValueRange operands) {
  return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
    return numerics::sigmoid(a, x[0]);
  });
}

Value GeluOp::emitScalar(OpBuilder &builder, Location loc,
                         ValueRange operands) {
  return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
    return numerics::gelu(a, x[0]);
  });
}

Value ErfOp::emitScalar(OpBuilder &builder, Location loc, ValueRange operands) {
  return emitFloat(builder, loc, operands, [](auto a, ArrayRef<Value> x) {
    return numerics::erf(a, x[0]);
  });
}

Value CompareOp::emitScalar(OpBuilder &builder, Location loc,
                            ValueRange operands) {
  ArithEmitter e(builder, loc, operands[0].getType());
  Type element = getElementTypeOrSelf(operands[0]);
  CompareDirection direction = getDirection();
  if (isFloat(element)) {
    using P = arith::CmpFPredicate;
    const P predicates[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE};
    return e.compare(predicates[unsigned(direction)], widen(e, operands[0]),
                     widen(e, operands[1]));
  }
  using P = arith::CmpIPredicate;
  const P signedPredicates[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  const P flagPredicates[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  return e.compare(isBool(element) ? flagPredicates[unsigned(direction)]
                                   : signedPredicates[unsigned(direction)],
                   operands[0], operands[1]);
}

Value SelectOp::emitScalar(OpBuilder &builder, Location loc,
                           ValueRange operands) {
  return arith::SelectOp::create(builder, loc, operands[0], operands[1],
                                 operands[2]);
}

namespace {

Value convertFloatToFloat(const ArithEmitter &e, Value value, Type to) {
  Type from = getElementTypeOrSelf(value);
  OpBuilder &builder = e.getBuilder();
  if (to.isF64() || (to.isF32() && isSmallFloat(from)))
    return e.make<arith::ExtFOp>(e.typeOf(to), value);
  if (to.isF32())
    return e.make<arith::TruncFOp>(e.typeOf(to), value);
  // To f16 or bf16: from f64 by way of an f32 that keeps what the second
  // rounding needs to know.
  if (from.isF64())
    value = numerics::truncateToOdd(
        ArithAlgebra<float>(builder, e.getLoc(), value.getType()), value);
  return narrow(e, widen(e, value), to);
}

Value convertFloatToInteger(const ArithEmitter &e, Value value, Type to) {
  Type from = getElementTypeOrSelf(value);
  auto floatConstant = [&](double number) {
    return e.splat(e.getBuilder().getFloatAttr(from, number));
  };
  unsigned width = to.getIntOrFloatBitWidth();
  // -2^(width - 1) and 2^(width - 1) are floats; what lies between is safe.
  double bound = std::ldexp(1.0, int(width) - 1);
  Value below =
      e.compare(arith::CmpFPredicate::OLT, value, floatConstant(-bound));
  Value above =
      e.compare(arith::CmpFPredicate::OGE, value, floatConstant(bound));
  Value inside = e.make<arith::AndIOp>(
      e.compare(arith::CmpFPredicate::OGE, value, floatConstant(-bound)),
      e.compare(arith::CmpFPredicate::OLT, value, floatConstant(bound)));
  Value safe = e.make<arith::SelectOp>(inside, value, floatConstant(0));
  Value result = e.make<arith::FPToSIOp>(e.typeOf(to), safe);
  int64_t largest = int64_t(~uint64_t(0) >> (65 - width));
  result = e.make<arith::SelectOp>(above, e.integerOf(width, largest), result);
  return e.make<arith::SelectOp>(below, e.integerOf(width, -largest - 1),
                                 result);
}

} // namespace

Value ConvertOp::emitScalar(OpBuilder &builder, Location loc,
                            ValueRange operands) {
  Value value = operands[0];
  ArithEmitter e(builder, loc, value.getType());
  Type from = getElementTypeOrSelf(value);
  Type to = getElementTypeOrSelf(getResult().getType());
  if (from == to)
    return value;
  if (isFloat(from) && isFloat(to))
    return convertFloatToFloat(e, value, to);
  if (isFloat(from)) {
    value = widen(e, value);
    if (!isBool(to))
      return convertFloatToInteger(e, value, to);
    Value zero =
        e.splat(builder.getFloatAttr(getElementTypeOrSelf(value), 0.0));
    return e.compare(arith::CmpFPredicate::UNE, value, zero);
  }
  if (isFloat(to)) {
    Type wide = to.isF64() ? to : builder.getF32Type();
    value = isBool(from) ? e.make<arith::UIToFPOp>(e.typeOf(wide), value)
                         : e.make<arith::SIToFPOp>(e.typeOf(wide), value);
    return narrow(e, value, to);
  }
  unsigned width = from.getIntOrFloatBitWidth();
  if (isBool(to))
    return e.compare(arith::CmpIPredicate::ne, value, e.integerOf(width, 0));
  if (isBool(from))
    return e.make<arith::ExtUIOp>(e.typeOf(to), value);
  if (width < to.getIntOrFloatBitWidth())
    return e.make<arith::ExtSIOp>(e.typeOf(to), value);
  return e.make<arith::TruncIOp>(e.typeOf(to), value);
}

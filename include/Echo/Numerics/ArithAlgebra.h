//===- ArithAlgebra.h - Emits arithmetic as arith ops ----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_NUMERICS_ARITHALGEBRA_H
#define ECHO_NUMERICS_ARITHALGEBRA_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::echo::numerics {

/// What the algebras that emit arith ops share: a builder, a location, and a
/// scalar or vector type whose shape every value has.
class ArithEmitter {
public:
  ArithEmitter(OpBuilder &builder, Location loc, Type shape)
      : builder(&builder), loc(loc), shape(shape) {}

  OpBuilder &getBuilder() const { return *builder; }
  Location getLoc() const { return loc; }

  /// `element`, or a vector of it.
  Type typeOf(Type element) const {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Type intType(unsigned width) const {
    return typeOf(builder->getIntegerType(width));
  }
  Value splat(TypedAttr value) const {
    Type type = typeOf(value.getType());
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(
          *builder, loc, DenseElementsAttr::get(vector, Attribute(value)));
    return arith::ConstantOp::create(*builder, loc, value);
  }
  Value integerOf(unsigned width, int64_t value) const {
    return splat(
        builder->getIntegerAttr(builder->getIntegerType(width),
                                APInt(width, uint64_t(value), /*isSigned=*/true,
                                      /*implicitTrunc=*/true)));
  }
  template <typename Op, typename... Args>
  Value make(Args &&...args) const {
    return Op::create(*builder, loc, std::forward<Args>(args)...);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) const {
    return arith::CmpFOp::create(*builder, loc, predicate, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) const {
    return arith::CmpIOp::create(*builder, loc, predicate, a, b);
  }

protected:
  OpBuilder *builder;
  Location loc;
  Type shape;
};

/// The algebra (see HostAlgebra.h) that emits arith ops on f32 or f64 scalars
/// or vectors.
template <typename T>
class ArithAlgebra : public ArithEmitter {
public:
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  using Real = T;
  using Float = Value;
  using Int = Value;
  using Bool = Value;
  using Wide = ArithAlgebra<double>;
  static constexpr unsigned width = sizeof(T) * 8;
  using ArithEmitter::ArithEmitter;

  Type floatType() const {
    return typeOf(width == 32 ? Type(builder->getF32Type())
                              : Type(builder->getF64Type()));
  }

  Value constant(Real value) const {
    return splat(
        width == 32
            ? builder->getFloatAttr(builder->getF32Type(), APFloat(value))
            : builder->getFloatAttr(builder->getF64Type(), APFloat(value)));
  }
  Value integer(int64_t value) const { return integerOf(width, value); }

  Value add(Value a, Value b) const { return make<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) const { return make<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) const { return make<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) const { return make<arith::DivFOp>(a, b); }
  Value neg(Value a) const { return make<arith::NegFOp>(a); }

  Value equal(Value a, Value b) const {
    return compare(arith::CmpFPredicate::OEQ, a, b);
  }
  Value less(Value a, Value b) const {
    return compare(arith::CmpFPredicate::OLT, a, b);
  }
  Value greater(Value a, Value b) const {
    return compare(arith::CmpFPredicate::OGT, a, b);
  }
  Value lessEqual(Value a, Value b) const {
    return compare(arith::CmpFPredicate::OLE, a, b);
  }
  Value greaterEqual(Value a, Value b) const {
    return compare(arith::CmpFPredicate::OGE, a, b);
  }
  Value isNaN(Value a) const {
    return compare(arith::CmpFPredicate::UNO, a, a);
  }
  Value both(Value a, Value b) const { return make<arith::AndIOp>(a, b); }
  Value either(Value a, Value b) const { return make<arith::OrIOp>(a, b); }
  Value differ(Value a, Value b) const { return make<arith::XOrIOp>(a, b); }

  Value select(Value condition, Value a, Value b) const {
    return make<arith::SelectOp>(condition, a, b);
  }
  Value selectInt(Value condition, Value a, Value b) const {
    return make<arith::SelectOp>(condition, a, b);
  }

  Value toBits(Value a) const {
    return make<arith::BitcastOp>(intType(width), a);
  }
  Value fromBits(Value bits) const {
    return make<arith::BitcastOp>(floatType(), bits);
  }
  Value addInt(Value a, Value b) const { return make<arith::AddIOp>(a, b); }
  Value subInt(Value a, Value b) const { return make<arith::SubIOp>(a, b); }
  Value andInt(Value a, Value b) const { return make<arith::AndIOp>(a, b); }
  Value orInt(Value a, Value b) const { return make<arith::OrIOp>(a, b); }
  Value shiftLeft(Value a, unsigned by) const {
    return make<arith::ShLIOp>(a, integer(by));
  }
  Value shiftRight(Value a, unsigned by) const {
    return make<arith::ShRSIOp>(a, integer(by));
  }

  Wide wide() const { return Wide(*builder, loc, shape); }
  Value extend(Value a) const {
    if constexpr (width == 64)
      return a;
    else
      return make<arith::ExtFOp>(typeOf(builder->getF64Type()), a);
  }
  Value truncate(Value a) const {
    if constexpr (width == 64)
      return a;
    else
      return make<arith::TruncFOp>(floatType(), a);
  }
};

/// 32-bit words for Philox.h, as arith ops on i32.
class ArithWords : public ArithEmitter {
public:
  using Word = Value;
  using Uniform = Value;
  using ArithEmitter::ArithEmitter;

  Value constant(uint32_t value) const { return integerOf(32, value); }
  Value add(Value a, Value b) const { return make<arith::AddIOp>(a, b); }
  Value exclusiveOr(Value a, Value b) const {
    return make<arith::XOrIOp>(a, b);
  }
  Value mulLow(Value a, Value b) const { return make<arith::MulIOp>(a, b); }
  Value mulHigh(Value a, Value b) const {
    Type wide = intType(64);
    Value product = make<arith::MulIOp>(make<arith::ExtUIOp>(wide, a),
                                        make<arith::ExtUIOp>(wide, b));
    return make<arith::TruncIOp>(
        intType(32), make<arith::ShRUIOp>(product, integerOf(64, 32)));
  }
  Value shiftRight(Value a, unsigned by) const {
    return make<arith::ShRUIOp>(a, constant(by));
  }
  Value toFloat(Value a) const {
    return make<arith::SIToFPOp>(typeOf(builder->getF32Type()), a);
  }
  Value mulFloat(Value a, float b) const {
    return make<arith::MulFOp>(
        a, splat(builder->getFloatAttr(builder->getF32Type(), APFloat(b))));
  }
};

} // namespace mlir::echo::numerics

#endif // ECHO_NUMERICS_ARITHALGEBRA_H

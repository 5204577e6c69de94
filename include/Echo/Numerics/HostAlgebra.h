//===- HostAlgebra.h - Arithmetic on plain numbers -------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_NUMERICS_HOSTALGEBRA_H
#define ECHO_NUMERICS_HOSTALGEBRA_H

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mlir::echo::numerics {

/// The algebra of plain float or double. The functions of Transcendentals.h
/// and Pow.h are templates over an algebra: a type with the members below, in
/// which Float, Int (of the float's width) and Bool are values. ArithAlgebra.h
/// has the algebra that emits arith ops; both round each operation alike, so
/// that compiled code and host code give the same bits. Translation units that
/// use this header are compiled with -ffp-contract=off.
template <typename T>
struct HostAlgebra {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  using Real = T;
  using Float = T;
  using Int = std::conditional_t<std::is_same_v<T, float>, int32_t, int64_t>;
  using Bool = bool;
  using Wide = HostAlgebra<double>;

  Float constant(Real value) const { return value; }
  Int integer(int64_t value) const { return Int(value); }

  Float add(Float a, Float b) const { return a + b; }
  Float sub(Float a, Float b) const { return a - b; }
  Float mul(Float a, Float b) const { return a * b; }
  Float div(Float a, Float b) const { return a / b; }
  Float neg(Float a) const { return -a; }

  /// Ordered comparisons: false if either operand is NaN.
  Bool equal(Float a, Float b) const { return a == b; }
  Bool less(Float a, Float b) const { return a < b; }
  Bool greater(Float a, Float b) const { return a > b; }
  Bool lessEqual(Float a, Float b) const { return a <= b; }
  Bool greaterEqual(Float a, Float b) const { return a >= b; }
  Bool isNaN(Float a) const { return a != a; }
  Bool both(Bool a, Bool b) const { return a & b; }
  Bool either(Bool a, Bool b) const { return a | b; }
  Bool differ(Bool a, Bool b) const { return a ^ b; }

  Float select(Bool condition, Float a, Float b) const {
    return condition ? a : b;
  }
  Int selectInt(Bool condition, Int a, Int b) const {
    return condition ? a : b;
  }

  Int toBits(Float a) const {
    Int bits;
    std::memcpy(&bits, &a, sizeof(T));
    return bits;
  }
  Float fromBits(Int bits) const {
    Float a;
    std::memcpy(&a, &bits, sizeof(T));
    return a;
  }
  Int addInt(Int a, Int b) const { return Int(Unsigned(a) + Unsigned(b)); }
  Int subInt(Int a, Int b) const { return Int(Unsigned(a) - Unsigned(b)); }
  Int andInt(Int a, Int b) const { return a & b; }
  Int orInt(Int a, Int b) const { return a | b; }
  Int shiftLeft(Int a, unsigned by) const { return Int(Unsigned(a) << by); }
  /// Copies of the sign bit come in from the left.
  Int shiftRight(Int a, unsigned by) const { return a >> by; }

  Wide wide() const { return {}; }
  double extend(Float a) const { return a; }
  Float truncate(double a) const { return Float(a); }

private:
  using Unsigned = std::make_unsigned_t<Int>;
};

/// 32-bit words for Philox.h.
struct HostWords {
  using Word = uint32_t;
  using Uniform = float;
  Word constant(uint32_t value) const { return value; }
  Word add(Word a, Word b) const { return a + b; }
  Word exclusiveOr(Word a, Word b) const { return a ^ b; }
  Word mulLow(Word a, Word b) const { return a * b; }
  Word mulHigh(Word a, Word b) const {
    return Word((uint64_t(a) * uint64_t(b)) >> 32);
  }
  Word shiftRight(Word a, unsigned by) const { return a >> by; }
  /// a < 2^31, so that signed and unsigned conversion agree.
  Uniform toFloat(Word a) const { return float(int32_t(a)); }
  Uniform mulFloat(Uniform a, float b) const { return a * b; }
};

} // namespace mlir::echo::numerics

#endif // ECHO_NUMERICS_HOSTALGEBRA_H

//===- ElementTypes.h - Element types in memory --------------- -*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_TARGET_INTERPRETER_ELEMENTTYPES_H
#define ECHO_LIB_TARGET_INTERPRETER_ELEMENTTYPES_H

#include "Echo/Numerics/SmallFloat.h"
#include "mlir/IR/BuiltinTypes.h"
#include <type_traits>

namespace mlir::echo::interpreter {

// How an element is stored, and (Compute) the type it is computed in.
struct F16 {
  using Compute = float;
  uint16_t bits;
  static float load(F16 value) { return numerics::f16ToF32(value.bits); }
  static F16 store(float value) { return {numerics::f32ToF16(value)}; }
};
struct BF16 {
  using Compute = float;
  uint16_t bits;
  static float load(BF16 value) { return numerics::bf16ToF32(value.bits); }
  static BF16 store(float value) { return {numerics::f32ToBF16(value)}; }
};
/// i1, one byte.
struct Flag {
  using Compute = bool;
  uint8_t value;
  static bool load(Flag flag) { return flag.value != 0; }
  static Flag store(bool value) { return {uint8_t(value)}; }
};
template <typename T>
struct Plain {
  using Compute = T;
  T value;
  static T load(Plain plain) { return plain.value; }
  static Plain store(T value) { return {value}; }
};
using F32 = Plain<float>;
using F64 = Plain<double>;
using I8 = Plain<int8_t>;
using I32 = Plain<int32_t>;
using I64 = Plain<int64_t>;

template <typename Stored>
inline constexpr bool isFloat =
    std::is_floating_point_v<typename Stored::Compute>;

/// Calls `function(Stored())` with the float type's storage; false if it is
/// none.
template <typename Function>
bool dispatchFloat(Type type, Function function) {
  if (type.isF32())
    function(F32());
  else if (type.isF64())
    function(F64());
  else if (type.isF16())
    function(F16());
  else if (type.isBF16())
    function(BF16());
  else
    return false;
  return true;
}

template <typename Function>
bool dispatchInteger(Type type, Function function) {
  if (type.isInteger(1))
    function(Flag());
  else if (type.isInteger(8))
    function(I8());
  else if (type.isInteger(32))
    function(I32());
  else if (type.isInteger(64))
    function(I64());
  else
    return false;
  return true;
}

template <typename Function>
bool dispatch(Type type, Function function) {
  return dispatchFloat(type, function) || dispatchInteger(type, function);
}

/// Bytes of an element, 0 for types that tensors don't have.
inline int64_t elementSize(Type type) {
  int64_t size = 0;
  dispatch(type, [&](auto stored) { size = sizeof(stored); });
  return size;
}

/// Converts a number as `echo.convert` does.
template <typename To, typename From>
To convertElement(From stored) {
  using T = typename To::Compute;
  auto value = From::load(stored);
  using V = decltype(value);
  if constexpr (std::is_same_v<T, bool>) {
    return To::store(value != V(0));
  } else if constexpr (std::is_floating_point_v<V> && std::is_integral_v<T>) {
    // 2^(width - 1) is a float; saturate outside, NaN gives 0.
    constexpr V bound = V(uint64_t(1) << (sizeof(T) * 8 - 1));
    if (value >= bound)
      return To::store(std::numeric_limits<T>::max());
    if (value < -bound)
      return To::store(std::numeric_limits<T>::min());
    return To::store(value == value ? T(value) : T(0));
  } else if constexpr (std::is_same_v<V, double> && sizeof(To) == 2) {
    return To::store(
        numerics::truncateToOdd(numerics::HostAlgebra<float>(), value));
  } else {
    return To::store(T(value));
  }
}

} // namespace mlir::echo::interpreter

#endif // ECHO_LIB_TARGET_INTERPRETER_ELEMENTTYPES_H

//===- SmallFloat.h - Storage of f16 and bf16 ------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_NUMERICS_SMALLFLOAT_H
#define ECHO_NUMERICS_SMALLFLOAT_H

#include "Echo/Numerics/HostAlgebra.h"

namespace mlir::echo::numerics {

inline float f16ToF32(uint16_t half) {
  HostAlgebra<float> a;
  // Exponent and mantissa move up by 13 bits; multiplying by 2^(127 - 15)
  // corrects the bias and normalizes denormals.
  float magnitude = a.fromBits(int32_t(half & 0x7FFF) << 13) * 0x1p112f;
  int32_t bits = a.toBits(magnitude);
  if ((half & 0x7C00) == 0x7C00)
    bits |= 0x7F800000;
  return a.fromBits(int32_t(uint32_t(bits) | uint32_t(half & 0x8000) << 16));
}

/// Rounds to nearest even.
inline uint16_t f32ToF16(float value) {
  HostAlgebra<float> a;
  uint32_t bits = uint32_t(a.toBits(value));
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return uint16_t(sign | 0x7E00);
  if (magnitude >= 0x477FF000) // 65520 and more round to infinity
    return uint16_t(sign | 0x7C00);
  if (magnitude < 0x38800000) // below 2^-14: multiples of 2^-24, as 0.5's are
    return uint16_t(sign |
                    (uint32_t(a.toBits(a.fromBits(int32_t(magnitude)) + 0.5f)) -
                     0x3F000000));
  uint32_t odd = magnitude >> 13 & 1;
  return uint16_t(sign | (magnitude - 0x38000000 + 0xFFF + odd) >> 13);
}

inline float bf16ToF32(uint16_t value) {
  return HostAlgebra<float>().fromBits(int32_t(uint32_t(value) << 16));
}

/// Rounds to nearest even.
inline uint16_t f32ToBF16(float value) {
  uint32_t bits = uint32_t(HostAlgebra<float>().toBits(value));
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// Rounds f64 to f32 such that a second rounding to f16 or bf16 gives what
/// one rounding would have given (round to odd): toward zero, and the last bit
/// is set if anything was lost.
template <typename A>
typename A::Float truncateToOdd(const A &a, typename A::Wide::Float wide) {
  typename A::Wide w = a.wide();
  auto magnitude = [&](auto value) {
    return w.fromBits(w.andInt(w.toBits(value), w.integer(INT64_MAX)));
  };
  auto nearest = a.truncate(wide);
  auto back = a.extend(nearest);
  auto bits = a.toBits(nearest);
  auto above = w.greater(magnitude(back), magnitude(wide));
  auto inexact = w.either(w.less(back, wide), w.greater(back, wide));
  bits = a.selectInt(above, a.subInt(bits, a.integer(1)), bits);
  bits = a.selectInt(inexact, a.orInt(bits, a.integer(1)), bits);
  return a.fromBits(bits);
}

} // namespace mlir::echo::numerics

#endif // ECHO_NUMERICS_SMALLFLOAT_H

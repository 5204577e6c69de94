//===- HalfFloat.h - 16-bit floats as bits ----------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_HALFFLOAT_H
#define ECHO_RUNTIME_COMMON_HALFFLOAT_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <cstring>

namespace echo {

/// Rounds to the nearest 16-bit float, ties to even, straight from double.
/// `ExponentBits` and `MantissaBits` are 5 and 10 for f16, 8 and 7 for bf16.
template <int ExponentBits, int MantissaBits>
uint16_t roundTo16Bits(double value) {
  constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
  constexpr uint16_t kInfinity = ((1 << ExponentBits) - 1) << MantissaBits;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::abs(value);
  if (std::isnan(value))
    return sign | kInfinity | (1 << (MantissaBits - 1));
  if (magnitude == 0)
    return sign;
  if (std::isinf(magnitude))
    return sign | kInfinity;
  int exponent;
  std::frexp(magnitude, &exponent); // magnitude = f * 2^exponent, f in [.5, 1)
  int unbiased = exponent - 1;
  if (unbiased < 1 - kBias)
    unbiased = 1 - kBias; // subnormal: fixed exponent, no implicit one
  // Scaling by a power of two is exact; nearbyint rounds ties to even.
  double scaled =
      std::nearbyint(std::ldexp(magnitude, MantissaBits - unbiased));
  if (scaled >= std::ldexp(1.0, MantissaBits + 1)) {
    scaled /= 2;
    ++unbiased;
  }
  if (unbiased > kBias)
    return sign | kInfinity;
  auto mantissa = static_cast<uint32_t>(scaled);
  uint32_t one = uint32_t(1) << MantissaBits;
  if (mantissa < one)
    return sign | static_cast<uint16_t>(mantissa);
  return sign | static_cast<uint16_t>(((unbiased + kBias) << MantissaBits) +
                                      (mantissa - one));
}

template <int ExponentBits, int MantissaBits>
double from16Bits(uint16_t bits) {
  constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
  int exponent = (bits >> MantissaBits) & ((1 << ExponentBits) - 1);
  double mantissa = bits & ((1 << MantissaBits) - 1);
  double value;
  if (exponent == (1 << ExponentBits) - 1)
    value = mantissa == 0 ? HUGE_VAL : std::nan("");
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - kBias - MantissaBits);
  else
    value = std::ldexp(mantissa + (1 << MantissaBits),
                       exponent - kBias - MantissaBits);
  return bits & 0x8000 ? -value : value;
}

inline uint16_t toF16(double value) { return roundTo16Bits<5, 10>(value); }
inline uint16_t toBF16(double value) { return roundTo16Bits<8, 7>(value); }
inline double fromF16(uint16_t bits) { return from16Bits<5, 10>(bits); }
inline double fromBF16(uint16_t bits) { return from16Bits<8, 7>(bits); }

// The same from and to f32, fast: by bits. NaNs become quiet.

inline float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline uint32_t floatToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float bf16ToFloat(uint16_t bits) {
  return bitsToFloat(uint32_t(bits) << 16);
}
inline uint16_t floatToBF16(float value) {
  uint32_t bits = floatToBits(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>((bits >> 16 & 0x8000) | 0x7fc0);
  // Half of the last place, less one where the last bit is 0: ties to even.
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float f16ToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00) // infinity, NaN
    return bitsToFloat(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400) // normal: the exponent's bias is 112 more
    return bitsToFloat(sign | ((magnitude << 13) + (uint32_t(112) << 23)));
  float value = static_cast<float>(magnitude) * 0x1p-24f;
  return sign ? -value : value;
}
inline uint16_t floatToF16(float value) {
  uint32_t bits = floatToBits(value), magnitude = bits & 0x7fffffff;
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000)
    return sign | 0x7e00;
  if (magnitude >= 0x477ff000) // from 65520 on
    return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 leaves multiples of 2^-24, rounded, in the last
    // bits.
    float shifted = bitsToFloat(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(floatToBits(shifted) - 0x3f000000);
  }
  magnitude -= uint32_t(112) << 23;
  return sign |
         static_cast<uint16_t>((magnitude + 0xfff + (magnitude >> 13 & 1)) >>
                               13);
}

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_HALFFLOAT_H

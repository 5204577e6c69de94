//===- SmallFloatTest.cpp - Storage of f16 and bf16 -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Numerics/SmallFloat.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir::echo::numerics;
using llvm::APFloat;
using llvm::APInt;

namespace {

template <typename T>
uint16_t roundBy(const llvm::fltSemantics &semantics, T value) {
  APFloat number(value);
  bool lost;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

TEST(SmallFloat, EveryHalfExtendsAndComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    APFloat half(APFloat::IEEEhalf(), APInt(16, bits));
    float value = f16ToF32(uint16_t(bits));
    if (half.isNaN()) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_GT(f32ToF16(value) & 0x7FFF, 0x7C00);
      continue;
    }
    EXPECT_EQ(value, half.convertToFloat());
    EXPECT_EQ(f32ToF16(value), bits);
  }
}

TEST(SmallFloat, RoundsToNearestEven) {
  HostAlgebra<float> a;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 4099) {
    float value = a.fromBits(int32_t(uint32_t(bits)));
    if (std::isnan(value))
      continue;
    ASSERT_EQ(f32ToF16(value), roundBy(APFloat::IEEEhalf(), value)) << value;
    ASSERT_EQ(f32ToBF16(value), roundBy(APFloat::BFloat(), value)) << value;
  }
  EXPECT_EQ(f32ToF16(65519.996f), 0x7BFF);
  EXPECT_EQ(f32ToF16(65520.0f), 0x7C00);
  EXPECT_EQ(f32ToF16(0x1p-25f), 0); // a tie, to even
  EXPECT_EQ(f32ToF16(0x1.8p-24f), 2);
}

TEST(SmallFloat, DoublesRoundOnce) {
  HostAlgebra<float> a;
  // 1 + 2^-11 + 2^-40: the nearest f32 is the tie 1 + 2^-11, which would go
  // to 1; the number itself is above it.
  double above = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(f32ToF16(float(above)), 0x3C00);
  EXPECT_EQ(f32ToF16(truncateToOdd(a, above)), 0x3C01);
  std::mt19937_64 random(5);
  HostAlgebra<double> b;
  std::uniform_real_distribution<double> uniform(-70000, 70000);
  for (int i = 0; i < 200000; ++i)
    for (double value : {b.fromBits(int64_t(random())), uniform(random),
                         uniform(random) * 0x1p-36}) {
      if (std::isnan(value))
        continue;
      float odd = truncateToOdd(a, value);
      ASSERT_EQ(f32ToF16(odd), roundBy(APFloat::IEEEhalf(), value)) << value;
      ASSERT_EQ(f32ToBF16(odd), roundBy(APFloat::BFloat(), value)) << value;
    }
  EXPECT_TRUE(std::isnan(truncateToOdd(a, std::nan(""))));
}

} // namespace

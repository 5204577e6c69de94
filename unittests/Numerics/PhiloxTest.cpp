//===- PhiloxTest.cpp - Known answers of Philox4x32-10 --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Numerics/Philox.h"
#include "Echo/Numerics/HostAlgebra.h"
#include "gtest/gtest.h"

using namespace mlir::echo::numerics;

namespace {

using Words4 = std::array<uint32_t, 4>;
using Words2 = std::array<uint32_t, 2>;

// The three vectors for philox4x32 with 10 rounds among Random123's known
// answers.
TEST(Philox, KnownAnswers) {
  HostWords w;
  EXPECT_EQ(philox4x32(w, Words4{0, 0, 0, 0}, Words2{0, 0}),
            (Words4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32(w, Words4{~0u, ~0u, ~0u, ~0u}, Words2{~0u, ~0u}),
            (Words4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32(w,
                       Words4{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       Words2{0xa4093822, 0x299f31d0}),
            (Words4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformIsTheUpper24Bits) {
  // Word 0 of the first vector: 0x6627e8d5 >> 8 = 0x6627e8 = 6694888.
  RandomPosition<HostWords> zero = {0, 0, 0, 0, 0, 0};
  EXPECT_EQ(uniform(HostWords(), zero), 6694888.0f / 16777216.0f);
}

TEST(Philox, UniformHasMeanAndVarianceOfItsDistribution) {
  const int n = 100000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    RandomPosition<HostWords> at = {uint32_t(i), 0, 5, 9, 1234, 0};
    double u = uniform(HostWords(), at);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    squares += u * u;
  }
  // Deviations: 1 / sqrt(12 n) = 0.0009 of the mean, 0.0009 of the second
  // moment; five of them.
  EXPECT_NEAR(sum / n, 0.5, 0.0046);
  EXPECT_NEAR(squares / n, 1.0 / 3, 0.0047);
}

TEST(Dropout, ScaleKeepsTheExpectation) {
  EXPECT_EQ(dropoutScale(0.5), 2.0);
  EXPECT_EQ(dropoutScale(0.0), 1.0);
  EXPECT_EQ(dropoutThreshold(0.25), 0.25f);
}

} // namespace

//===- ReductionTreeTest.cpp - The order of sums --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Numerics/ReductionTree.h"
#include "gtest/gtest.h"
#include <cmath>
#include <string>
#include <vector>

using namespace mlir::echo::numerics;

namespace {

/// A sum that records its own order.
struct Term {
  std::string text;
  Term(int = 0) : text("0") {}
  Term(std::string text) : text(std::move(text)) {}
  friend Term operator+(const Term &a, const Term &b) {
    return Term("(" + a.text + "+" + b.text + ")");
  }
};

Term element(int64_t i) { return Term(std::string(1, char('a' + i))); }

TEST(ReductionTree, EmptySumIsZero) {
  EXPECT_EQ(rowSum<float>(0, [](int64_t) { return 1.0f; }), 0.0f);
  EXPECT_FALSE(std::signbit(rowSum<float>(0, [](int64_t) { return 1.0f; })));
}

// 32 lanes of which two have an element: lane 0 meets lane 16, 8, 4, 2 (all
// empty), and then lane 1, which has met 17, 9, 5 and 3.
TEST(ReductionTree, ShortRowHalvesLanes) {
  std::string text = rowSum<Term>(2, element).text;
  auto lane = [](std::string first) {
    std::string sum = "(0+" + first + ")";
    // The empty lanes it meets: l + 16, then l + 8 (which met l + 24), ...
    std::string empty = "0";
    for (int s = 16; s >= 2; s /= 2) {
      sum = "(" + sum + "+" + empty + ")";
      empty = "(" + empty + "+" + empty + ")";
    }
    return sum;
  };
  EXPECT_EQ(text, "(" + lane("a") + "+" + lane("b") + ")");
}

// 1 in lane 0 after 2^24 in the same lane is lost (ties to even); in another
// lane it is added to its like first. 33 elements: 2^24, then 31 zeros, then 1
// in lane 0 again: lost. With the 1s at 1 and 17 (lanes 1 and 17): 2 arrives.
TEST(ReductionTree, LanesAddTheirOwnElementsFirst) {
  std::vector<float> values(33, 0.0f);
  values[0] = 0x1p24f;
  values[32] = 1;
  auto load = [&](int64_t i) { return values[i]; };
  EXPECT_EQ(rowSum<float>(33, load), 0x1p24f);
  values[32] = 0;
  values[1] = values[17] = 1;
  EXPECT_EQ(rowSum<float>(33, load), 0x1p24f + 2);
}

// Beyond 1024 elements there are 256 lanes: elements 0 and 32 are in different
// lanes, 0 and 256 in one.
TEST(ReductionTree, LongRowHas256Lanes) {
  EXPECT_EQ(rowLanes(1024), 32);
  EXPECT_EQ(rowLanes(1025), 256);
  std::vector<float> values(1025, 0.0f);
  values[0] = 0x1p24f;
  values[256] = values[512] = 1; // both lost in lane 0
  auto load = [&](int64_t i) { return values[i]; };
  EXPECT_EQ(rowSum<float>(1025, load), 0x1p24f);
  values[256] = values[512] = 0;
  values[32] = values[32 + 256] = 1; // 2 in lane 32
  EXPECT_EQ(rowSum<float>(1025, load), 0x1p24f + 2);
}

// 73,728 = 9 * 8,192, 100,000 = 16 * 6,250, 67,603 = 67 * 1,009. 65,537 is prime,
// and twice that has no other divisors than 2.
TEST(ReductionTree, Parts) {
  EXPECT_EQ(rowParts(65536), 1);
  EXPECT_EQ(rowParts(65537), 1);
  EXPECT_EQ(rowParts(2 * 65537), 1);
  EXPECT_EQ(rowParts(73728), 9);
  EXPECT_EQ(rowParts(100000), 16);
  EXPECT_EQ(rowParts(67603), 67);
}

// Elements 0, 256, 8,192 and 8,448 would be in one lane of an uncut row, which
// loses both 1s behind 2^24. The last two are lane 0 of the second part: 2.
TEST(ReductionTree, LongestRowsAreCut) {
  std::vector<float> values(73728, 0.0f);
  values[0] = 0x1p24f;
  values[8192] = values[8448] = 1;
  auto load = [&](int64_t i) { return values[i]; };
  EXPECT_EQ(partSum<float>(73728, load), 0x1p24f);
  EXPECT_EQ(rowSum<float>(73728, load), 0x1p24f + 2);
  values[256] = 1; // behind 2^24 in the first part
  EXPECT_EQ(rowSum<float>(73728, load), 0x1p24f + 2);
}

// Columns of 130 rows are blocks of 128 and 2: 2^24 in row 0 loses a 1 in row
// 1; 1s in rows 128 and 129 (one block) arrive as 2.
TEST(ReductionTree, ColumnsAddBlocksOf128Rows) {
  std::vector<float> values(130 * 2, 0.0f);
  auto at = [&](int64_t row, int64_t column) -> float & {
    return values[row * 2 + column];
  };
  at(0, 0) = 0x1p24f;
  at(1, 0) = 1;
  at(0, 1) = 0x1p24f;
  at(128, 1) = at(129, 1) = 1;
  float totals[2], partials[2];
  columnSum<float>(130, 2, at, totals, partials);
  EXPECT_EQ(totals[0], 0x1p24f);
  EXPECT_EQ(totals[1], 0x1p24f + 2);
}

// 4096 ones in f16 would stop at 2048; in f32 they don't.
TEST(ReductionTree, SumOfOnes) {
  EXPECT_EQ(rowSum<float>(4096, [](int64_t) { return 1.0f; }), 4096.0f);
}

} // namespace

//===- ArenaTest.cpp - Placement and its checker --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

using namespace mlir::echo::planning;

namespace {

ArenaPlan planOrFail(const ArenaProblem &problem) {
  ArenaPlan plan;
  std::string error;
  EXPECT_TRUE(planArena(problem, plan, error)) << error;
  EXPECT_TRUE(checkArena(problem, plan, error)) << error;
  return plan;
}

ArenaProblem randomProblem(unsigned seed, size_t count, int64_t length) {
  std::mt19937_64 random(seed);
  ArenaProblem problem;
  for (size_t i = 0; i < count; ++i) {
    int64_t begin = random() % length;
    // Heavy-tailed sizes, and now and then none.
    uint64_t bytes = random() % 8 == 0 ? 0 : random() % (1 << (random() % 20));
    problem.buffers.push_back(
        {bytes, begin, begin + 1 + int64_t(random() % (1 + length / 4))});
  }
  return problem;
}

} // namespace

TEST(Arena, PlacesNothing) {
  ArenaPlan plan = planOrFail({});
  EXPECT_EQ(plan.bytes, 0u);
  EXPECT_EQ(plan.lowerBound, 0u);
}

TEST(Arena, SharesSpaceOfDeadBuffers) {
  // Sizes round up to 64, 128 and 64. Live together: 0 and 1 (192 bytes), then
  // 1 and 2 (192 bytes): 2 takes the place of 0.
  ArenaProblem problem;
  problem.buffers = {{60, 0, 2}, {100, 1, 4}, {64, 2, 4}};
  ArenaPlan plan = planOrFail(problem);
  EXPECT_EQ(plan.lowerBound, 192u);
  EXPECT_EQ(plan.bytes, 192u);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
}

TEST(Arena, LifetimesAreHalfOpen) {
  // [0, 1) and [1, 2) never meet, [0, 2) and [1, 3) do.
  ArenaProblem apart, together;
  apart.buffers = {{64, 0, 1}, {64, 1, 2}};
  together.buffers = {{64, 0, 2}, {64, 1, 3}};
  EXPECT_EQ(planOrFail(apart).bytes, 64u);
  EXPECT_EQ(planOrFail(together).bytes, 128u);
}

TEST(Arena, FindsThePackingThatTimeOrderMisses) {
  // Along time, two buffers of 64 leave a hole of 64 when the first dies, and
  // 128 bytes don't fit: 64 + 64 + 128 = 256. The best is 192: the long small
  // one goes on top of the two that follow each other.
  ArenaProblem problem;
  problem.buffers = {{64, 0, 2}, {64, 1, 4}, {128, 2, 4}};
  EXPECT_EQ(planOrFail(problem).bytes, 192u);
}

TEST(Arena, EmptyBuffersTakeNoSpace) {
  ArenaProblem problem;
  problem.buffers = {{0, 0, 5}, {64, 0, 5}, {0, 2, 3}};
  ArenaPlan plan = planOrFail(problem);
  EXPECT_EQ(plan.bytes, 64u);
  for (uint64_t offset : plan.offsets)
    EXPECT_LE(offset, plan.bytes);
}

TEST(Arena, AlignsToWhatIsAsked) {
  ArenaProblem problem;
  problem.alignment = 256;
  problem.buffers = {{1, 0, 2}, {1, 0, 2}, {257, 0, 2}};
  // 256 + 256 + 512.
  ArenaPlan plan = planOrFail(problem);
  EXPECT_EQ(plan.bytes, 1024u);
  uint64_t peak;
  std::string error;
  ASSERT_TRUE(findLivePeak(problem, peak, error));
  EXPECT_EQ(peak, 259u);
}

TEST(Arena, SizesBeyond32Bits) {
  ArenaProblem problem;
  uint64_t size = uint64_t(5) << 32;
  problem.buffers = {{size, 0, 2}, {size, 1, 3}, {size, 2, 4}};
  EXPECT_EQ(planOrFail(problem).bytes, 2 * size);
}

TEST(Arena, RejectsWhatOverflows) {
  ArenaPlan plan;
  std::string error;
  ArenaProblem problem;
  problem.buffers = {{~uint64_t(0), 0, 1}};
  EXPECT_FALSE(planArena(problem, plan, error));
  EXPECT_NE(error.find("sizes overflow 63 bits: buffer 0"), std::string::npos)
      << error;
  problem.buffers = {{uint64_t(1) << 62, 0, 2}, {uint64_t(1) << 62, 1, 2}};
  EXPECT_FALSE(planArena(problem, plan, error));
  EXPECT_NE(error.find("live together overflow"), std::string::npos) << error;
  // Apart they fit.
  problem.buffers = {{uint64_t(1) << 62, 0, 1}, {uint64_t(1) << 62, 1, 2}};
  EXPECT_EQ(planOrFail(problem).bytes, uint64_t(1) << 62);
}

TEST(Arena, RejectsMalformedProblems) {
  ArenaPlan plan;
  std::string error;
  ArenaProblem problem;
  problem.buffers = {{8, 3, 3}};
  EXPECT_FALSE(planArena(problem, plan, error));
  EXPECT_NE(error.find("live in [3, 3)"), std::string::npos) << error;
  problem.buffers = {{8, -1, 3}};
  EXPECT_FALSE(planArena(problem, plan, error));
  problem.buffers = {{8, 0, 3}};
  problem.alignment = 48;
  EXPECT_FALSE(planArena(problem, plan, error));
  EXPECT_NE(error.find("power of two, found 48"), std::string::npos) << error;
}

TEST(Arena, RandomProblemsPassTheChecker) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    ArenaProblem problem = randomProblem(seed, 1 + seed % 97, 1 + seed % 41);
    problem.alignment = uint64_t(1) << seed % 8;
    ArenaPlan plan = planOrFail(problem);
    EXPECT_GE(plan.bytes, plan.lowerBound) << "seed " << seed;
    EXPECT_LE(plan.bytes, 2 * plan.lowerBound) << "seed " << seed;
  }
}

TEST(Arena, ShuffledInputGivesTheSamePlan) {
  ArenaProblem problem = randomProblem(7, 500, 100);
  auto collect = [](const ArenaProblem &problem) {
    ArenaPlan plan = planOrFail(problem);
    std::vector<std::tuple<int64_t, int64_t, uint64_t, uint64_t>> places;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const ArenaBuffer &buffer = problem.buffers[i];
      places.emplace_back(buffer.begin, buffer.end, buffer.bytes,
                          plan.offsets[i]);
    }
    std::sort(places.begin(), places.end());
    return places;
  };
  auto expected = collect(problem);
  std::mt19937 random(1);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(problem.buffers.begin(), problem.buffers.end(), random);
    EXPECT_EQ(collect(problem), expected);
  }
}

TEST(Arena, ManyBuffersStayNearTheBound) {
  // A forward chain whose values a backward chain reads in reverse.
  ArenaProblem problem;
  const int64_t count = 20000;
  for (int64_t i = 0; i < count; ++i)
    problem.buffers.push_back(
        {uint64_t(64 + 64 * (i * 7919 % 13)), i, 2 * count - i});
  for (int64_t i = 0; i < count; ++i)
    problem.buffers.push_back({640, count + i, count + i + 2});
  ArenaPlan plan = planOrFail(problem);
  EXPECT_LE(plan.bytes, plan.lowerBound + plan.lowerBound / 100);
}

TEST(ArenaChecker, FindsEveryKindOfFault) {
  ArenaProblem problem;
  problem.buffers = {{64, 0, 2}, {64, 1, 3}, {64, 2, 4}};
  std::string error;
  // Offsets 0, 64, 0 are right: 0 and 2 are apart in time.
  EXPECT_TRUE(checkArena(problem, {{0, 64, 0}, 128, 128}, error)) << error;
  EXPECT_FALSE(checkArena(problem, {{0, 0, 64}, 128, 128}, error));
  EXPECT_NE(error.find("buffer 1"), std::string::npos) << error;
  EXPECT_NE(error.find("overlaps buffer 0"), std::string::npos) << error;
  EXPECT_FALSE(checkArena(problem, {{0, 64, 0}, 127, 128}, error));
  EXPECT_NE(error.find("outside the arena of 127"), std::string::npos) << error;
  EXPECT_FALSE(checkArena(problem, {{32, 128, 0}, 256, 128}, error));
  EXPECT_NE(error.find("isn't aligned"), std::string::npos) << error;
  EXPECT_FALSE(checkArena(problem, {{0, 64}, 128, 128}, error));
  EXPECT_NE(error.find("2 offsets for 3 buffers"), std::string::npos) << error;
  // A neighbour from below that reaches into the new one.
  problem.buffers = {{192, 0, 3}, {64, 1, 2}};
  EXPECT_FALSE(checkArena(problem, {{0, 128}, 256, 256}, error));
  // An offset near 2^64 doesn't wrap.
  EXPECT_FALSE(checkArena(problem, {{0, ~uint64_t(63)}, 256, 256}, error));
}

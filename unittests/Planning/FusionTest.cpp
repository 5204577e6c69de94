//===- FusionTest.cpp - Which ops share a kernel --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Fusion.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir::echo::planning;

namespace {

using Kernels = std::vector<std::vector<uint32_t>>;

constexpr FusionAccess same = {FusionAccess::Same, 1};
constexpr FusionAccess scalar = {FusionAccess::Scalar, 1};
constexpr FusionAccess part = {FusionAccess::Part, 1};
constexpr FusionAccess any = {FusionAccess::Any, 1};
constexpr FusionAccess order = {FusionAccess::Order, 1};

FusionAccess row(uint64_t columns) { return {FusionAccess::Row, columns}; }

/// Graphs of values of four bytes an element.
struct Graph {
  uint32_t input(uint64_t elements) {
    problem.bytes.push_back(4 * elements);
    return problem.bytes.size() - 1;
  }

  uint32_t add(FusionShape shape, std::vector<FusionRead> reads,
               std::vector<uint64_t> results) {
    FusionOp op;
    op.shape = shape;
    op.reads = std::move(reads);
    for (uint64_t elements : results)
      op.results.push_back(input(elements));
    problem.ops.push_back(op);
    return op.results.empty() ? ~0u : op.results.front();
  }

  uint32_t pointwise(uint64_t elements, std::vector<FusionRead> reads,
                     uint32_t weight = 1) {
    FusionShape shape;
    shape.kind = FusionClass::Pointwise;
    shape.elements = elements;
    shape.weight = weight;
    shape.writes = {FusionWrite::Same};
    return add(shape, std::move(reads), {elements});
  }

  uint32_t rowSum(uint64_t rows, uint64_t columns, uint32_t operand) {
    FusionShape shape;
    shape.kind = FusionClass::RowReduction;
    shape.elements = rows * columns;
    shape.columns = columns;
    shape.writes = {FusionWrite::Row};
    return add(shape, {{operand, same}}, {rows});
  }

  uint32_t columnSum(uint64_t outer, uint64_t reduced, uint64_t inner,
                     uint32_t operand, bool accumulates = false) {
    FusionShape shape;
    shape.accumulates = accumulates;
    shape.kind = FusionClass::ColumnReduction;
    shape.elements = outer * reduced * inner;
    shape.outer = outer;
    shape.reduced = reduced;
    shape.writes = {FusionWrite::Column};
    return add(shape, {{operand, same}}, {outer * inner});
  }

  uint32_t host(std::vector<uint32_t> reads, uint64_t elements) {
    FusionShape shape;
    shape.kind = FusionClass::Host;
    shape.writes = {FusionWrite::Other};
    std::vector<FusionRead> operands;
    for (uint32_t value : reads)
      operands.push_back({value, any});
    return add(shape, std::move(operands), {elements});
  }

  FusionPlan plan(FusionOptions options = {}) {
    FusionPlan result = planFusion(problem, options);
    std::string error;
    EXPECT_TRUE(checkFusion(problem, result, error)) << error;
    return result;
  }
  Kernels kernels() { return plan().kernels; }

  FusionProblem problem;
};

TEST(Compose, Access) {
  EXPECT_EQ(compose(same, row(4)), row(4));
  EXPECT_EQ(compose(row(4), same), row(4));
  // Element i / 4 of what is element j / 5 of another: i / 20.
  EXPECT_EQ(compose(row(4), row(5)), row(20));
  EXPECT_EQ(compose(part, part), any);
  EXPECT_EQ(compose(any, scalar), scalar);
  EXPECT_EQ(compose(row(4), part), any);
  // No element of what comes behind.
  EXPECT_EQ(compose(order, scalar), order);
  EXPECT_EQ(compose(row(4), order), order);
}

TEST(Fusion, ChainIsOneKernel) {
  Graph g;
  uint32_t x = g.input(64);
  uint32_t y = g.pointwise(64, {{x, same}});
  g.pointwise(64, {{y, same}, {x, same}});
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1}}));
  // x is read and the last value written, 256 bytes each.
  EXPECT_EQ(kernelTraffic(g.problem, g.plan()), 512u);
}

TEST(Fusion, TrafficCountsWhatIsRead) {
  // A quarter of x and all of it in one kernel, a quarter in another.
  Graph g;
  uint32_t x = g.input(64);
  uint32_t y = g.pointwise(16, {{x, part, 64}});
  g.host({y}, 16);
  EXPECT_EQ(kernelTraffic(g.problem, g.plan()), 128u);
  g.pointwise(64, {{x, same}, {x, any, 64}});
  EXPECT_EQ(kernelTraffic(g.problem, g.plan()), 128u + 512u);
}

TEST(Fusion, PathThroughHostOpKeepsKernelsApart) {
  Graph g;
  uint32_t x = g.input(64);
  uint32_t y = g.pointwise(64, {{x, same}});
  uint32_t z = g.host({y}, 64);
  g.pointwise(64, {{y, same}, {z, same}});
  EXPECT_EQ(g.kernels(), (Kernels{{0}, {2}}));
}

TEST(Fusion, HostOpInBetweenMovesBehind) {
  // The host op needs y, but the second kernel op doesn't need the host op.
  Graph g;
  uint32_t x = g.input(64);
  uint32_t y = g.pointwise(64, {{x, same}});
  g.host({y}, 64);
  g.pointwise(64, {{y, same}});
  FusionPlan plan = g.plan();
  EXPECT_EQ(plan.kernels, (Kernels{{0, 2}}));
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_FALSE(plan.steps[0].isHost);
  EXPECT_TRUE(plan.steps[1].isHost);
}

TEST(Fusion, OrderKeepsSecondEvaluationBehind) {
  // Two evaluations of one op would share a kernel, since they share their
  // input; the second waits for what depends on the first.
  Graph g;
  uint32_t x = g.input(64);
  uint32_t y = g.pointwise(64, {{x, same}});
  uint32_t gradient = g.host({y}, 64);
  uint32_t again = g.pointwise(64, {{x, same}, {gradient, order}});
  g.pointwise(64, {{again, same}});
  FusionPlan plan = g.plan();
  EXPECT_EQ(plan.kernels, (Kernels{{0}, {2, 3}}));
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_TRUE(plan.steps[1].isHost);
  // x and y, then x and the last value; the order moves nothing.
  EXPECT_EQ(kernelTraffic(g.problem, plan), 4 * 256u);
  // Without the order: x, y and the last value.
  g.problem.ops[2].reads.pop_back();
  EXPECT_EQ(g.kernels(), (Kernels{{0, 2, 3}}));
  EXPECT_EQ(kernelTraffic(g.problem, g.plan()), 3 * 256u);
}

TEST(Fusion, SecondEvaluationSharesKernelWithWhatItWaitsFor) {
  Graph g;
  uint32_t x = g.input(64);
  uint32_t y = g.pointwise(64, {{x, same}});
  uint32_t loss = g.host({y}, 64);
  uint32_t gradient = g.pointwise(64, {{loss, same}});
  uint32_t again = g.pointwise(64, {{x, same}, {gradient, order}});
  g.pointwise(64, {{again, same}, {gradient, same}});
  EXPECT_EQ(g.kernels(), (Kernels{{0}, {2, 3, 4}}));
}

TEST(Fusion, OrderAloneMergesNothing) {
  Graph g;
  uint32_t x = g.input(64), y = g.input(64);
  uint32_t first = g.pointwise(64, {{x, same}});
  g.pointwise(64, {{y, same}, {first, order}});
  EXPECT_EQ(g.kernels(), (Kernels{{0}, {1}}));
}

TEST(Fusion, OrderFitsWhateverTheIterations) {
  // A value of a row waits for one of all rows' elements; a sum over rows that
  // is written behind the loop waits for a value in it, and is waited for.
  Graph g;
  uint32_t x = g.input(3200);
  uint32_t mean = g.rowSum(200, 16, x);
  uint32_t y = g.pointwise(3200, {{x, same}, {mean, row(16)}});
  uint32_t shift = g.pointwise(200, {{mean, same}, {y, order}});
  uint32_t z = g.pointwise(3200, {{y, same}, {shift, row(16)}});
  uint32_t sum = g.columnSum(8, 25, 16, z, /*accumulates=*/true);
  g.problem.ops.back().reads.push_back({mean, order});
  g.pointwise(3200, {{z, same}, {sum, order}});
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1, 2, 3, 4, 5}}));
}

TEST(Fusion, OrderKeepsNoValueInMemory) {
  // The host waits for y, but only z leaves the kernel. y may be a part that
  // z's iterations read where they need it.
  Graph g;
  uint32_t a = g.input(4 * 64);
  uint32_t y = g.pointwise(4 * 64, {{a, same}});
  uint32_t z = g.pointwise(64, {{y, part}}, 48);
  g.host({z}, 1);
  g.problem.ops.back().reads.push_back({y, order});
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1}}));
  // a and z.
  EXPECT_EQ(kernelTraffic(g.problem, g.plan()), 5 * 256u);
}

TEST(Fusion, RowReductionsChain) {
  // mean, variance and normalization share rows of 8.
  Graph g;
  uint32_t x = g.input(32);
  uint32_t mean = g.rowSum(4, 8, x);
  uint32_t centered = g.pointwise(32, {{x, same}, {mean, row(8)}});
  uint32_t variance = g.rowSum(4, 8, centered);
  uint32_t scale = g.pointwise(4, {{variance, same}});
  g.pointwise(32, {{centered, same}, {scale, row(8)}});
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1, 2, 3, 4}}));
}

TEST(Fusion, ReductionOfRowValuesIsAnotherKernel) {
  Graph g;
  uint32_t x = g.input(6400);
  uint32_t score = g.rowSum(100, 64, x);
  uint32_t masked = g.pointwise(100, {{score, same}});
  g.rowSum(4, 25, masked);
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1}, {2}}));
}

TEST(Fusion, RowsOfOtherWidthsDoNotMix) {
  Graph g;
  uint32_t x = g.input(64);
  uint32_t a = g.rowSum(8, 8, x);
  uint32_t y = g.pointwise(64, {{x, same}, {a, row(8)}});
  g.rowSum(4, 16, y);
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1}, {2}}));
}

TEST(Fusion, ColumnReductionTakesCheapProducer) {
  Graph g;
  uint32_t x = g.input(800);
  uint32_t y = g.pointwise(800, {{x, same}});
  uint32_t sum = g.columnSum(1, 100, 8, y);
  uint32_t old = g.input(8);
  g.pointwise(8, {{sum, same}, {old, same}});
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1, 2}}));
}

TEST(Fusion, ColumnReductionReadsCostlyProducerFromMemory) {
  Graph g;
  uint32_t x = g.input(800);
  uint32_t y = g.pointwise(800, {{x, same}}, /*weight=*/60);
  g.columnSum(1, 100, 8, y);
  EXPECT_EQ(g.kernels(), (Kernels{{0}, {1}}));
}

TEST(Fusion, ColumnReductionDoesNotRepeatRowReduction) {
  Graph g;
  uint32_t x = g.input(800);
  uint32_t mean = g.rowSum(100, 8, x);
  uint32_t y = g.pointwise(800, {{x, same}, {mean, row(8)}});
  g.columnSum(1, 100, 8, y);
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1}, {2}}));
}

TEST(Fusion, ColumnReductionsAccumulateOverRows) {
  // 8 sums of 25 rows of 16, of values that need their row's mean.
  Graph g;
  uint32_t x = g.input(3200);
  uint32_t mean = g.rowSum(200, 16, x);
  uint32_t y = g.pointwise(3200, {{x, same}, {mean, row(16)}});
  uint32_t sum = g.columnSum(8, 25, 16, y, /*accumulates=*/true);
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1, 2}}));
  // Sums are known behind the rows.
  g.pointwise(128, {{sum, same}});
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1, 2}, {3}}));
}

TEST(Fusion, FewSumsDoNotAccumulate) {
  // A single sum would leave one thread to walk over all rows.
  Graph g;
  uint32_t x = g.input(1600);
  uint32_t mean = g.rowSum(100, 16, x);
  uint32_t y = g.pointwise(1600, {{x, same}, {mean, row(16)}});
  g.columnSum(1, 100, 16, y, /*accumulates=*/true);
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1}, {2}}));
}

TEST(Fusion, LongSumsAccumulateIfTheyAreMany) {
  // A sum of 64 rows of 1024 is long enough to be cut.
  auto kernels = [](uint64_t sums, uint64_t rows) {
    Graph g;
    uint64_t all = sums * rows;
    uint32_t x = g.input(all * 1024);
    uint32_t mean = g.rowSum(all, 1024, x);
    uint32_t y = g.pointwise(all * 1024, {{x, same}, {mean, row(1024)}});
    g.columnSum(sums, rows, 1024, y, /*accumulates=*/true);
    return g.kernels();
  };
  const Kernels together = {{0, 1, 2}}, apart = {{0, 1}, {2}};
  EXPECT_EQ(kernels(31, 64), apart);
  EXPECT_EQ(kernels(31, 63), together);
  EXPECT_EQ(kernels(32, 64), together);
}

TEST(Fusion, SumsOfOtherRowsDoNotAccumulateTogether) {
  Graph g;
  uint32_t x = g.input(3200);
  uint32_t mean = g.rowSum(200, 16, x);
  uint32_t y = g.pointwise(3200, {{x, same}, {mean, row(16)}});
  g.columnSum(8, 25, 16, y, /*accumulates=*/true);
  g.columnSum(10, 20, 16, y, /*accumulates=*/true);
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1, 2}, {3}}));
}

TEST(Fusion, NothingReadsColumnSumsBroadcastAgain) {
  Graph g;
  uint32_t x = g.input(800);
  uint32_t sum = g.columnSum(1, 100, 8, x);
  g.pointwise(800, {{x, same}, {sum, any}});
  EXPECT_EQ(g.kernels(), (Kernels{{0}, {1}}));
}

TEST(Fusion, PartsAreInlined) {
  // The four gates of a cell are parts of one sum.
  Graph g;
  uint32_t a = g.input(4 * 64), b = g.input(4 * 64), cell = g.input(64);
  uint32_t gates = g.pointwise(4 * 64, {{a, same}, {b, same}});
  g.pointwise(64, {{gates, part}, {cell, same}}, 48);
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1}}));
  // Not where the sum is needed elsewhere: it would be computed twice.
  g.host({gates}, 1);
  EXPECT_EQ(g.kernels(), (Kernels{{0}, {1}}));
}

TEST(Fusion, ScalarsThatOthersNeedStayAlone) {
  Graph g;
  uint32_t step = g.input(1), x = g.input(64), y = g.input(64);
  uint32_t rate = g.pointwise(1, {{step, same}});
  g.pointwise(64, {{x, same}, {rate, scalar}});
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1}}));
  g.pointwise(64, {{y, same}, {rate, scalar}});
  EXPECT_EQ(g.kernels(), (Kernels{{0}, {1}, {2}}));
}

TEST(Fusion, SiblingsShareTheirInput) {
  Graph g;
  uint32_t x = g.input(64);
  g.pointwise(64, {{x, same}});
  g.pointwise(64, {{x, same}});
  EXPECT_EQ(g.kernels(), (Kernels{{0, 1}}));
  // x once, two results.
  EXPECT_EQ(kernelTraffic(g.problem, g.plan()), 3 * 256u);
}

TEST(Fusion, SumsDoNotWaitForLaterTerms) {
  // x += y for one gradient after another: a common kernel of the sums would
  // keep all of them alive, where one sum is enough.
  Graph g;
  FusionOptions options;
  options.freeMoves = 0;
  uint32_t x = g.host({}, 64);
  for (int i = 0; i < 4; ++i) {
    uint32_t y = g.host({}, 64);
    x = g.pointwise(64, {{x, same}, {y, same}});
  }
  EXPECT_EQ(g.plan(options).kernels, (Kernels{{2}, {4}, {6}, {8}}));
}

TEST(Fusion, WaitsWhereNothingDies) {
  // An input of the program doesn't die.
  Graph g;
  FusionOptions options;
  options.freeMoves = 0;
  uint32_t x = g.input(64);
  uint32_t y = g.pointwise(64, {{x, same}});
  uint32_t z = g.host({}, 64);
  g.pointwise(64, {{y, same}, {z, same}});
  EXPECT_EQ(g.plan(options).kernels, (Kernels{{0, 2}}));
}

TEST(Fusion, BackwardOpsStayBehindTheLoss) {
  // 1 - y * y is as large as y, and nothing needs it before the end: it isn't
  // computed where y is, over the loss, to save reading y.
  Graph g;
  FusionOptions options;
  options.freeMoves = 0;
  uint32_t x = g.input(64);
  uint32_t y = g.pointwise(64, {{x, same}});
  uint32_t loss = g.host({y}, 64);
  uint32_t derivative = g.pointwise(64, {{y, same}});
  g.host({derivative, loss}, 64);
  EXPECT_EQ(g.plan(options).kernels, (Kernels{{0}, {2}}));
}

TEST(Fusion, LimitsHold) {
  Graph g;
  uint32_t x = g.input(64);
  for (int i = 0; i < 10; ++i)
    x = g.pointwise(64, {{x, same}});
  FusionOptions options;
  options.maxWeight = 4;
  EXPECT_EQ(g.plan(options).kernels,
            (Kernels{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
}

TEST(Fusion, CheckFindsBrokenPlans) {
  Graph g;
  uint32_t x = g.input(64);
  uint32_t y = g.pointwise(64, {{x, same}});
  g.pointwise(64, {{y, same}});
  std::string error;
  FusionPlan plan;
  plan.kernels = {{1}, {0}};
  plan.steps = {{false, 0}, {false, 1}};
  EXPECT_FALSE(checkFusion(g.problem, plan, error));
  plan.kernels = {{0}};
  plan.steps = {{false, 0}};
  EXPECT_FALSE(checkFusion(g.problem, plan, error));
  plan.kernels = {{0, 1}};
  plan.steps = {{false, 0}, {false, 0}};
  EXPECT_FALSE(checkFusion(g.problem, plan, error));
}

TEST(Fusion, CheckFindsBrokenOrder) {
  Graph g;
  uint32_t x = g.input(64);
  uint32_t y = g.pointwise(64, {{x, same}});
  g.pointwise(64, {{x, same}, {y, order}});
  std::string error;
  FusionPlan plan;
  plan.kernels = {{0}, {1}};
  plan.steps = {{false, 0}, {false, 1}};
  EXPECT_TRUE(checkFusion(g.problem, plan, error)) << error;
  plan.steps = {{false, 1}, {false, 0}};
  EXPECT_FALSE(checkFusion(g.problem, plan, error));
}

TEST(Fusion, RandomGraphsKeepTheirOrderAndSaveTraffic) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    auto pick = [&](size_t count) { return random() % count; };
    Graph g;
    // Values of 24 rows of 16, of rows, of columns.
    std::vector<uint32_t> full = {g.input(384), g.input(384)};
    std::vector<uint32_t> rows = {g.input(24)}, columns = {g.input(16)};
    for (int i = 0; i < 60; ++i)
      switch (pick(8)) {
      case 0:
        rows.push_back(g.rowSum(24, 16, full[pick(full.size())]));
        break;
      case 1:
        columns.push_back(g.columnSum(1, 24, 16, full[pick(full.size())]));
        break;
      case 2:
        full.push_back(g.host({full[pick(full.size())]}, 384));
        break;
      case 3:
        rows.push_back(g.pointwise(24, {{rows[pick(rows.size())], same}}));
        break;
      case 4:
        columns.push_back(
            g.pointwise(16, {{columns[pick(columns.size())], same}}));
        break;
      case 5:
        full.push_back(g.pointwise(384, {{full[pick(full.size())], same},
                                         {rows[pick(rows.size())], row(16)}}));
        break;
      case 6:
        full.push_back(
            g.pointwise(384, {{full[pick(full.size())], same},
                              {columns[pick(columns.size())], any}}));
        break;
      default: {
        std::vector<FusionRead> reads = {{full[pick(full.size())], same},
                                         {full[pick(full.size())], same}};
        if (pick(2) != 0)
          reads.push_back({full[pick(full.size())], order});
        full.push_back(g.pointwise(384, reads));
      }
      }
    FusionPlan plan = g.plan();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    EXPECT_EQ(plan.kernels, g.plan().kernels) << "seed " << seed;
    FusionOptions apart;
    apart.maxWeight = 0;
    EXPECT_LT(kernelTraffic(g.problem, plan),
              kernelTraffic(g.problem, g.plan(apart)))
        << "seed " << seed;
  }
}

} // namespace

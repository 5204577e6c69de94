//===- RematFuzzTests.cpp - Rematerialization of random graphs
//-------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step with rematerialization gives the bits of one without. ECHO_FUZZ_SEED=S
// runs the graph of one seed, ECHO_FUZZ_GRAPHS=N more of them.
//
//===----------------------------------------------------------------------===//

#include "Echo/Transforms/Gradient.h"
#include "Echo/Transforms/Remat.h"
#include "GraphTesting.h"
#include "RandomGraphs.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

bool isSame(const std::vector<Elements> &a, const std::vector<Elements> &b) {
  if (a.size() != b.size())
    return false;
  for (auto [left, right] : llvm::zip_equal(a, b))
    if (left.size() != right.size() ||
        std::memcmp(left.data(), right.data(), left.size() * sizeof(double)))
      return false;
  return true;
}

/// Returns how many ops the strategies recompute.
uint64_t checkSeed(uint64_t seed) {
  OwningOpRef<ModuleOp> step = buildRandomGraph(context(), seed);
  SCOPED_TRACE("ECHO_FUZZ_SEED=" + std::to_string(seed) + "\n" + print(*step));
  EXPECT_TRUE(succeeded(addGradients(firstFunction(*step))));
  std::mt19937_64 rng(seed);
  std::vector<Elements> inputs = drawInputs(firstFunction(*step), rng);
  auto expected = Evaluator(firstFunction(*step), /*exact=*/true)(inputs);
  if (!expected) {
    ADD_FAILURE() << llvm::toString(expected.takeError());
    return 0;
  }
  planning::CostModel model;
  model.device = *planning::findDevice("rtx2080ti");
  uint64_t recomputed = 0;
  for (const planning::RematStrategy &strategy : planning::rematStrategies()) {
    OwningOpRef<ModuleOp> module = step->clone();
    RematOptions options;
    options.strategy = strategy.name;
    options.promise = RematPromise::None;
    auto result =
        rematerialize(firstFunction(*module), /*loss=*/0, options, model);
    SCOPED_TRACE(options.strategy + "\n" + print(*module));
    EXPECT_TRUE(succeeded(result));
    EXPECT_TRUE(succeeded((*module).verify()));
    if (::testing::Test::HasFailure())
      return 0;
    recomputed += result->after.recomputedOps;
    if (strategy.name == "echo") {
      EXPECT_LE(result->after.peakBytes, result->before.peakBytes);
      EXPECT_LE(result->after.featureMapBytes, result->before.featureMapBytes);
    }
    auto found = Evaluator(firstFunction(*module), /*exact=*/true)(inputs);
    if (!found) {
      ADD_FAILURE() << llvm::toString(found.takeError());
      return 0;
    }
    EXPECT_TRUE(isSame(*expected, *found));
  }
  return recomputed;
}

TEST(RematFuzz, RandomGraphs) {
  if (const char *seed = std::getenv("ECHO_FUZZ_SEED")) {
    checkSeed(std::strtoull(seed, nullptr, 10));
    return;
  }
  const char *graphs = std::getenv("ECHO_FUZZ_GRAPHS");
  uint64_t count = graphs ? std::strtoull(graphs, nullptr, 10) : 300;
  uint64_t recomputed = 0;
  for (uint64_t seed = 1; seed <= count && !HasFailure(); ++seed)
    recomputed += checkSeed(seed);
  // Strategies had something to do.
  EXPECT_GT(recomputed, count);
}

} // namespace

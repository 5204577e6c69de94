//===- RematFuzzTests.cpp - Rematerialization of random graphs ------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step with rematerialization gives the bits of one without, in the
// interpreter. ECHO_FUZZ_SEED=S runs the graph of one seed, ECHO_FUZZ_GRAPHS=N
// more of them.
//
//===----------------------------------------------------------------------===//

#include "Echo/Transforms/Gradient.h"
#include "Echo/Transforms/Passes.h"
#include "Echo/Transforms/PlanMemory.h"
#include "Echo/Transforms/Remat.h"
#include "GraphTesting.h"
#include "RandomGraphs.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

bool isSame(const std::vector<Elements> &a, const std::vector<Elements> &b) {
  if (a.size() != b.size())
    return false;
  for (auto [left, right] : llvm::zip_equal(a, b))
    if (left.size() != right.size() ||
        std::memcmp(left.data(), right.data(), left.size() * sizeof(double)))
      return false;
  return true;
}

planning::CostModel makeModel(std::string_view device) {
  planning::CostModel model;
  model.device = *planning::findDevice(device);
  return model;
}

/// What the strategies did to steps.
struct Counts {
  uint64_t recomputed = 0, encoded = 0;
};

/// Returns what is wrong with a forward graph's step.
std::string compareStrategies(ModuleOp forward, uint64_t seed, Counts &counts) {
  OwningOpRef<ModuleOp> step = forward.clone();
  if (failed(addGradients(firstFunction(*step))))
    return "no gradient";
  std::mt19937_64 rng(seed);
  std::vector<Elements> inputs = drawInputs(firstFunction(*step), rng);
  auto expected = Evaluator(firstFunction(*step), /*exact=*/true)(inputs);
  if (!expected)
    return llvm::toString(expected.takeError());
  planning::CostModel model = makeModel("rtx2080ti");
  for (const planning::RematStrategy &strategy : planning::rematStrategies()) {
    OwningOpRef<ModuleOp> module = step->clone();
    RematOptions options;
    options.strategy = strategy.name;
    options.promise = RematPromise::None;
    auto result =
        rematerialize(firstFunction(*module), /*loss=*/0, options, model);
    if (failed(result) || failed((*module).verify()))
      return options.strategy + ": no valid step";
    counts.recomputed += result->after.recomputedOps;
    counts.encoded += result->encodedValues;
    if (strategy.name == "echo" &&
        (result->after.peakBytes > result->before.peakBytes ||
         result->after.featureMapBytes > result->before.featureMapBytes))
      return options.strategy + ": more memory";
    auto found = Evaluator(firstFunction(*module), /*exact=*/true)(inputs);
    if (!found)
      return options.strategy + ": " + llvm::toString(found.takeError());
    if (!isSame(*expected, *found))
      return options.strategy + ": other results";
  }
  return "";
}

TEST(RematFuzz, RandomGraphs) {
  Counts counts;
  uint64_t count = checkRandomGraphs(
      context(), 300, [&](ModuleOp forward, uint64_t seed) {
        return compareStrategies(forward, seed, counts);
      });
  // Strategies had something to do.
  EXPECT_GT(counts.recomputed, count);
  EXPECT_GT(counts.encoded, count / 4);
}

bool holds(ModuleOp module, StringRef name) {
  return module
      .walk([&](Operation *op) {
        return op->getName().stripDialect() == name ? WalkResult::interrupt()
                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

/// "Fails" where a graph has a tanh and a reduction: two ops are enough.
TEST(RematFuzz, GraphsShrink) {
  auto fails = [](ModuleOp module) {
    return holds(module, "tanh") && holds(module, "reduce");
  };
  unsigned count = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    OwningOpRef<ModuleOp> module =
        buildRandomGraph(context(), seed, /*hasStates=*/true);
    if (!fails(*module))
      continue;
    ++count;
    OwningOpRef<ModuleOp> small = shrinkGraph(*module, fails);
    EXPECT_TRUE(succeeded((*small).verify()));
    EXPECT_TRUE(fails(*small));
    EXPECT_EQ(firstFunction(*small).getNumResults(), 1u);
    // The two, what makes a scalar loss of a tensor, and an op or two that no
    // operand of their type can replace.
    EXPECT_LE(countOps(*small), 6u) << "seed " << seed;
  }
  EXPECT_GT(count, 10u);
}

/// With a kernel for each op, the buffers that are placed are the tensors that
/// planning sees, and some that it needn't count: what it measures is a lower
/// bound of the arena, without a plan and with one.
TEST(RematFuzz, PeakIsALowerBoundOfTheArena) {
  planning::CostModel model = makeModel("cpu");
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    OwningOpRef<ModuleOp> step =
        buildRandomGraph(context(), seed, /*hasStates=*/true);
    ASSERT_TRUE(succeeded(addGradients(firstFunction(*step))));
    PassManager cleanUp(&context());
    cleanUp.addPass(createCanonicalizerPass());
    cleanUp.addPass(createCSEPass());
    cleanUp.addPass(createEchoEliminateDeadNodesPass());
    ASSERT_TRUE(succeeded(cleanUp.run(*step)));
    for (const char *strategy : {"none", "mirror", "echo"}) {
      SCOPED_TRACE("ECHO_FUZZ_SEED=" + std::to_string(seed) + " " + strategy);
      OwningOpRef<ModuleOp> module = step->clone();
      RematOptions options;
      options.strategy = strategy;
      options.promise = RematPromise::None;
      auto result =
          rematerialize(firstFunction(*module), /*loss=*/0, options, model);
      ASSERT_TRUE(succeeded(result));
      PassManager toBuffers(&context());
      EchoFormKernelsPassOptions form;
      form.fuse = false;
      toBuffers.addPass(createEchoFormKernelsPass(form));
      toBuffers.addPass(createEchoOutlineKernelsPass());
      toBuffers.addPass(createEchoBufferizePass());
      ASSERT_TRUE(succeeded(toBuffers.run(*module)));
      FailureOr<MemoryPlan> plan =
          computeMemoryPlan(module->lookupSymbol<func::FuncOp>("f"), 8);
      ASSERT_TRUE(succeeded(plan));
      EXPECT_LE(result->after.peakBytes, plan->logicalPeak);
      EXPECT_LE(plan->logicalPeak, plan->arena.bytes);
    }
  }
}

} // namespace

//===- CompiledRematTests.cpp - Compiled steps with rematerialization -----===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Training steps of random graphs as artefacts on the runtime: with
// rematerialization, losses, parameters and states have the bits that they have
// without, after three steps. ECHO_FUZZ_SEED=S runs the graph of one seed,
// ECHO_FUZZ_GRAPHS=N more of them.
//
//===----------------------------------------------------------------------===//

#include "CompiledSteps.h"
#include "Echo/Transforms/Remat.h"
#include "GraphTesting.h"
#include "RandomGraphs.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

class CompiledRemat : public CompiledSteps {
protected:
  /// What is wrong with the steps of a graph, or "".
  std::string compare(ModuleOp forward, uint64_t seed);
  llvm::Expected<Outcome> runStep(ModuleOp step, const std::string &strategy,
                                  uint64_t seed) {
    llvm::Expected<std::string> path = compile(step, strategy);
    if (!path)
      return path.takeError();
    return run(*path, seed);
  }

  /// Ops that were recomputed by plans as they are, and graphs to which the
  /// pipeline applied one.
  uint64_t recomputed = 0, applied = 0;
};

std::string CompiledRemat::compare(ModuleOp forward, uint64_t seed) {
  OwningOpRef<ModuleOp> step = makeStep(forward);
  if (!step)
    return "no training step";
  llvm::Expected<Outcome> expected = runStep(*step, "none", seed);
  if (!expected)
    return llvm::toString(expected.takeError());

  // As users compile.
  llvm::Expected<Outcome> found = runStep(*step, "echo", seed);
  if (!found)
    return "pipeline: " + llvm::toString(found.takeError());
  if (found->arenaBytes > expected->arenaBytes)
    return "pipeline: an arena of " + std::to_string(found->arenaBytes) +
           " bytes instead of " + std::to_string(expected->arenaBytes);
  if (std::string fault = difference(*expected, *found); !fault.empty())
    return "pipeline: " + fault;
  applied += found->arenaBytes < expected->arenaBytes;

  // Whatever a plan saves.
  planning::CostModel model;
  model.device = *planning::findDevice("rtx2080ti");
  for (const char *strategy : {"mirror", "echo"}) {
    OwningOpRef<ModuleOp> module = step->clone();
    RematOptions options;
    options.strategy = strategy;
    options.promise = RematPromise::None;
    auto result =
        rematerialize(firstFunction(*module), /*loss=*/0, options, model);
    if (failed(result))
      return options.strategy + ": no plan";
    if (result->after.recomputedOps == 0)
      continue;
    recomputed += result->after.recomputedOps;
    llvm::Expected<Outcome> raw = runStep(*module, "none", seed);
    if (!raw)
      return options.strategy + ": " + llvm::toString(raw.takeError());
    if (std::string fault = difference(*expected, *raw); !fault.empty())
      return options.strategy + ": " + fault;
  }
  return "";
}

TEST_F(CompiledRemat, RandomGraphs) {
  uint64_t count = checkRandomGraphs(
      context, 10,
      [&](ModuleOp forward, uint64_t seed) { return compare(forward, seed); },
      /*maxTries=*/100);
  EXPECT_GT(recomputed, count);
}

} // namespace

//===- SimulatedStepTests.cpp - Steps of random graphs on a GPU -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Training steps of random graphs as artefacts for a GPU, on the simulator in
// both orders of threads: losses, parameters and states have the bits that they
// have on the CPU, after three steps, and nothing is accessed that shouldn't be.
// ECHO_FUZZ_SEED=S runs the graph of one seed, ECHO_FUZZ_GRAPHS=N more of them.
//
//===----------------------------------------------------------------------===//

#include "CompiledSteps.h"
#include "RandomGraphs.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

class SimulatedSteps : public CompiledSteps {
protected:
  /// What is wrong with the steps of a graph, or "".
  std::string compare(ModuleOp forward, uint64_t seed);
};

std::string SimulatedSteps::compare(ModuleOp forward, uint64_t seed) {
  OwningOpRef<ModuleOp> step = makeStep(forward);
  if (!step)
    return "no training step";
  // With what is computed again, and without.
  std::string strategy = seed % 2 == 0 ? "none" : "echo";
  llvm::Expected<std::string> compiled = compile(*step, strategy, "cpu");
  if (!compiled)
    return llvm::toString(compiled.takeError());
  llvm::Expected<Outcome> expected = run(*compiled, seed);
  if (!expected)
    return llvm::toString(expected.takeError());
  compiled = compile(*step, strategy, "sim");
  if (!compiled)
    return "for a GPU: " + llvm::toString(compiled.takeError());
  for (bool isReverse : {false, true}) {
    std::string order = isReverse ? "in reverse: " : "in order: ";
    llvm::Expected<Outcome> found = run(*compiled, seed, isReverse);
    if (!found)
      return order + llvm::toString(found.takeError());
    if (std::string fault = difference(*expected, *found); !fault.empty())
      return order + fault;
  }
  return "";
}

TEST_F(SimulatedSteps, RandomGraphs) {
  checkRandomGraphs(
      context, 10,
      [&](ModuleOp forward, uint64_t seed) { return compare(forward, seed); },
      /*maxTries=*/100);
}

} // namespace

//===- GradientFuzzTests.cpp - Gradients of random graphs -----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ECHO_FUZZ_SEED=S runs the graph of one seed, ECHO_FUZZ_GRAPHS=N more
// of them.
//
//===----------------------------------------------------------------------===//

#include "GraphTesting.h"
#include "RandomGraphs.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

void checkSeed(uint64_t seed) {
  OwningOpRef<ModuleOp> module = buildRandomGraph(context(), seed);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  SCOPED_TRACE("ECHO_FUZZ_SEED=" + std::to_string(seed) + "\n" + text);
  ASSERT_TRUE(succeeded((*module).verify()));
  std::mt19937_64 rng(seed);
  llvm::Expected<GradientError> error =
      compareGradients(firstFunction(*module), rng);
  ASSERT_TRUE(bool(error)) << llvm::toString(error.takeError());
  EXPECT_LE(error->largest, 1e-5) << error->where;
}

TEST(GradientFuzz, RandomGraphs) {
  if (const char *seed = std::getenv("ECHO_FUZZ_SEED"))
    return checkSeed(std::strtoull(seed, nullptr, 10));
  const char *graphs = std::getenv("ECHO_FUZZ_GRAPHS");
  uint64_t count = graphs ? std::strtoull(graphs, nullptr, 10) : 100;
  for (uint64_t seed = 1; seed <= count; ++seed)
    checkSeed(seed);
}

} // namespace

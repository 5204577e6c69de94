//===- CompiledSteps.h - Random training steps on the runtime ---*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_TRANSFORMS_COMPILEDSTEPS_H
#define ECHO_UNITTESTS_TRANSFORMS_COMPILEDSTEPS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"
#include <map>

namespace mlir::echo::testing {

/// What a step leaves: the loss of each step, and every tensor at the end.
struct Outcome {
  std::map<std::string, std::string> tensors;
  uint64_t arenaBytes = 0;
};
/// What is wrong with an outcome that should have the same bits, or "".
std::string difference(const Outcome &expected, const Outcome &found);

/// Training steps of graphs in f64 as artefacts.
class CompiledSteps : public ::testing::Test {
protected:
  CompiledSteps();
  void SetUp() override;
  void TearDown() override;

  /// The training step of a forward graph, ready for planning; null on failure.
  OwningOpRef<ModuleOp> makeStep(ModuleOp forward);
  /// The path of the artefact of a step, for a target of echo-compile. Fails
  /// with a message.
  llvm::Expected<std::string> compile(ModuleOp step,
                                      const std::string &strategy,
                                      const std::string &target = "cpu");
  /// Runs an artefact three times, on values that `seed` gives; on the
  /// simulator in reverse order of threads.
  llvm::Expected<Outcome> run(const std::string &path, uint64_t seed,
                              bool isReverse = false);

  MLIRContext context;
  llvm::SmallString<128> folder;
};

} // namespace mlir::echo::testing

#endif // ECHO_UNITTESTS_TRANSFORMS_COMPILEDSTEPS_H

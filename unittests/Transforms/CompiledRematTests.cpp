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

#include "Echo/InitAll.h"
#include "Echo/Target/Artifact.h"
#include "Echo/Transforms/Gradient.h"
#include "Echo/Transforms/Optimizer.h"
#include "Echo/Transforms/Passes.h"
#include "Echo/Transforms/Remat.h"
#include "GraphTesting.h"
#include "RandomGraphs.h"
#include "echo_runtime.hpp"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <map>
#include <random>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;
using ::echo::runtime::Session;

namespace {

/// What a step leaves: the loss of each step, and every tensor at the end.
struct Outcome {
  std::map<std::string, std::string> tensors;
  uint64_t arenaBytes = 0;
};

class CompiledRemat : public ::testing::Test {
protected:
  CompiledRemat() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    mlir::echo::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("echo-remat", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  /// The training step of a forward graph, ready for planning; null on failure.
  OwningOpRef<ModuleOp> makeStep(ModuleOp forward);
  /// Compiles a step and runs it three times. Fails with a message.
  llvm::Expected<Outcome> run(ModuleOp step, const std::string &strategy,
                              uint64_t seed);
  /// What is wrong with the steps of a graph, or "".
  std::string compare(ModuleOp forward, uint64_t seed);

  MLIRContext context;
  llvm::SmallString<128> folder;
  /// Ops that were recomputed by plans as they are, and graphs to which the
  /// pipeline applied one.
  uint64_t recomputed = 0, applied = 0;
};

OwningOpRef<ModuleOp> CompiledRemat::makeStep(ModuleOp forward) {
  OwningOpRef<ModuleOp> step = forward.clone();
  func::FuncOp function = firstFunction(*step);
  OptimizerOptions optimizer;
  optimizer.kind = OptimizerKind::Momentum;
  PassManager manager(&context);
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createEchoEliminateDeadNodesPass());
  if (failed(addGradients(function)) ||
      failed(addOptimizer(function, optimizer)) || failed(manager.run(*step)))
    return {};
  return step;
}

void fill(Session &session, uint64_t seed) {
  std::mt19937_64 rng(seed);
  for (const echo_tensor_info &info : session.tensors()) {
    if (info.role == ECHO_ROLE_RESULT)
      continue;
    if (info.name == llvm::StringRef("learning_rate")) {
      session.setScalar(info.name, 0.0625f);
      continue;
    }
    // Optimizer states and statistics begin with zeros.
    std::vector<double> values(info.bytes / sizeof(double), 0.0);
    if (info.role != ECHO_ROLE_STATE)
      for (double &value : values)
        value = double(rng() >> 11) * 0x1p-52 - 1.0;
    session.set(info.name, values);
  }
}

llvm::Expected<Outcome> CompiledRemat::run(ModuleOp step,
                                           const std::string &strategy,
                                           uint64_t seed) {
  OwningOpRef<ModuleOp> module = step.clone();
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "step.so");
  ArtifactOptions options;
  options.strategy = strategy;
  options.threads = 1;
  options.optimizationLevel = 1;
  if (failed(compileToArtifact(*module, options, path)))
    return llvm::createStringError("can't be compiled");
  Outcome outcome;
  try {
    Session session(path.str().str(), /*threads=*/1);
    fill(session, seed);
    auto read = [&](const echo_tensor_info &info) {
      std::string bytes(info.bytes, '\0');
      session.get(info.name, bytes.data(), bytes.size());
      return bytes;
    };
    for (int i = 1; i <= 3; ++i) {
      session.step();
      for (const echo_tensor_info &info : session.tensors())
        if (info.is_loss)
          outcome.tensors["loss of step " + std::to_string(i)] = read(info);
    }
    for (const echo_tensor_info &info : session.tensors())
      outcome.tensors[info.name] = read(info);
    outcome.arenaBytes = session.statistics().arena_bytes;
  } catch (const ::echo::runtime::Error &error) {
    return llvm::createStringError(error.what());
  }
  return outcome;
}

/// The same bits, but for the payload of NaN; 8 bytes to a number, but for the
/// learning rate, which nobody changes.
bool isSame(const std::string &a, const std::string &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i + sizeof(double) <= a.size(); i += sizeof(double)) {
    double left, right;
    std::memcpy(&left, a.data() + i, sizeof(double));
    std::memcpy(&right, b.data() + i, sizeof(double));
    if (std::memcmp(&left, &right, sizeof(double)) != 0 &&
        !(std::isnan(left) && std::isnan(right)))
      return false;
  }
  return true;
}

std::string difference(const Outcome &expected, const Outcome &found) {
  for (const auto &[name, bytes] : expected.tensors) {
    auto it = found.tensors.find(name);
    if (it == found.tensors.end() || !isSame(bytes, it->second))
      return "other bits in '" + name + "'";
  }
  return "";
}

std::string CompiledRemat::compare(ModuleOp forward, uint64_t seed) {
  OwningOpRef<ModuleOp> step = makeStep(forward);
  if (!step)
    return "no training step";
  llvm::Expected<Outcome> expected = run(*step, "none", seed);
  if (!expected)
    return llvm::toString(expected.takeError());

  // As users compile.
  llvm::Expected<Outcome> found = run(*step, "echo", seed);
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
    llvm::Expected<Outcome> raw = run(*module, "none", seed);
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

//===- CompiledSteps.cpp - Random training steps on the runtime -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledSteps.h"
#include "Echo/InitAll.h"
#include "Echo/Target/Artifact.h"
#include "Echo/Transforms/Gradient.h"
#include "Echo/Transforms/Optimizer.h"
#include "Echo/Transforms/Passes.h"
#include "GraphTesting.h"
#include "echo_runtime.hpp"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;
using ::echo::runtime::Session;

CompiledSteps::CompiledSteps() : context(MLIRContext::Threading::DISABLED) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::echo::registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

void CompiledSteps::SetUp() {
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("echo-steps", folder));
}

void CompiledSteps::TearDown() { llvm::sys::fs::remove_directories(folder); }

OwningOpRef<ModuleOp> CompiledSteps::makeStep(ModuleOp forward) {
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

static void fill(Session &session, uint64_t seed) {
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

llvm::Expected<std::string>
CompiledSteps::compile(ModuleOp step, const std::string &strategy,
                       const std::string &target) {
  OwningOpRef<ModuleOp> module = step.clone();
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "step.so");
  ArtifactOptions options;
  options.target = target;
  options.strategy = strategy;
  options.threads = 1;
  options.optimizationLevel = 1;
  if (std::string fault = resolveTarget(options); !fault.empty())
    return llvm::createStringError(fault);
  if (failed(compileToArtifact(*module, options, path)))
    return llvm::createStringError("can't be compiled");
  return path.str().str();
}

llvm::Expected<Outcome> CompiledSteps::run(const std::string &path,
                                           uint64_t seed, bool isReverse) {
  Outcome outcome;
  try {
    echo_session_options options{};
    options.threads = 1;
    options.reverse_order = isReverse;
    Session session(path, options);
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
static bool isSame(const std::string &a, const std::string &b) {
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

std::string mlir::echo::testing::difference(const Outcome &expected, const Outcome &found) {
  for (const auto &[name, bytes] : expected.tensors) {
    auto it = found.tensors.find(name);
    if (it == found.tensors.end() || !isSame(bytes, it->second))
      return "other bits in '" + name + "'";
  }
  return "";
}

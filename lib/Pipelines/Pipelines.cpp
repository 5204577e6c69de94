//===- Pipelines.cpp - Named pipelines ------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Pipelines/Pipelines.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::echo;

/// Dead and repeated ops of a graph. Nothing that a graph computes twice on
/// purpose exists before rematerialization.
static void addCleanUp(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

/// Options of echo-optimizer from "adam,beta1=0.8" or "kind=adam beta1=0.8".
static std::string optimizerPassOptions(StringRef text, StringRef function) {
  SmallVector<StringRef> parts;
  text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string options = llvm::join(parts, " ");
  if (!parts.empty() && !parts.front().contains('='))
    options = "kind=" + options;
  if (!function.empty())
    options += " function=" + function.str();
  return options;
}

LogicalResult
mlir::echo::buildTrainingStepPipeline(OpPassManager &manager,
                                      const TrainingStepOptions &options) {
  EchoGradientPassOptions gradient;
  gradient.function = options.function;
  gradient.loss = options.loss;
  manager.addPass(createEchoGradientPass(gradient));
  if (!options.optimizer.empty()) {
    std::unique_ptr<Pass> optimizer = createEchoOptimizerPass();
    auto report = [](const Twine &message) {
      llvm::errs() << message << "\n";
      return failure();
    };
    if (failed(optimizer->initializeOptions(
            optimizerPassOptions(options.optimizer, options.function),
            report)))
      return failure();
    manager.addPass(std::move(optimizer));
  }
  addCleanUp(manager);
  return success();
}

void mlir::echo::buildToBuffersPipeline(OpPassManager &manager,
                                        const ToBuffersOptions &options) {
  addCleanUp(manager);
  manager.addPass(createEchoFormKernelsPass());
  manager.addPass(createEchoOutlineKernelsPass());
  manager.addPass(createEchoBufferizePass());
  EchoPlanMemoryPassOptions planMemory;
  planMemory.alignment = options.alignment;
  manager.addPass(createEchoPlanMemoryPass(planMemory));
}

void mlir::echo::buildCPUToLLVMPipeline(OpPassManager &manager,
                                        const CPUToLLVMOptions &options) {
  manager.addPass(createConvertEchoToLinalgPass());
  manager.addPass(createEchoMergeKernelsPass());
  manager.addPass(createEchoLowerKernelsPass());
  manager.addPass(createConvertEchoKernelsToLLVMPass());
  EchoEmitProgramPassOptions emitProgram;
  emitProgram.entry = options.entry;
  emitProgram.cpu = options.cpu;
  emitProgram.features = options.features;
  manager.addPass(createEchoEmitProgramPass(emitProgram));
}

void mlir::echo::registerPipelines() {
  registerPassPipeline(
      "echo-training-step",
      "From a forward graph with a loss to a training step on tensors",
      [](OpPassManager &manager, StringRef text,
         function_ref<LogicalResult(const Twine &)> errorHandler) {
        TrainingStepOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        if (failed(buildTrainingStepPipeline(manager, options)))
          return errorHandler("malformed optimizer '" + options.optimizer +
                              "'");
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handler) {
        handler(TrainingStepOptions());
      });
  PassPipelineRegistration<ToBuffersOptions>(
      "echo-to-buffers",
      "From a function on tensors to a host program on one arena",
      buildToBuffersPipeline);
  PassPipelineRegistration<CPUToLLVMOptions>(
      "echo-cpu-to-llvm",
      "From a host program on one arena to the LLVM dialect",
      buildCPUToLLVMPipeline);
}

//===- Pipelines.cpp - Named pipelines ------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Pipelines/Pipelines.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::echo;

/// Dead and repeated ops of a graph. Nothing that a graph computes twice on
/// purpose exists before rematerialization.
static void addCleanUp(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

using ErrorHandler = function_ref<LogicalResult(const Twine &)>;

/// Options of echo-optimizer from "adam,beta1=0.8" or "kind=adam beta1=0.8".
static FailureOr<std::string>
optimizerPassOptions(StringRef text, StringRef function, ErrorHandler fail) {
  SmallVector<StringRef> parts;
  llvm::SplitString(text, parts, ", ");
  if (parts.empty())
    return fail("expected an optimizer, found '" + text + "'");
  llvm::StringSet<> given;
  std::string options;
  for (auto [index, part] : llvm::enumerate(parts)) {
    auto [name, value] = part.split('=');
    if (index == 0 && !part.contains('=')) {
      value = name;
      name = "kind";
    }
    if (name == "function")
      return fail("an optimizer in '" + text +
                  "' can't have a function of its own");
    if (value.empty())
      return fail("expected '" + name + "' in '" + text +
                  "' to have a value: " + name + "=...");
    if (!given.insert(name).second)
      return fail("optimizer option " + name + " is given twice in '" + text +
                  "'");
    options += (name + "=" + value + " ").str();
  }
  if (!function.empty())
    options += "function=" + function.str();
  return options;
}

LogicalResult
mlir::echo::buildTrainingStepPipeline(OpPassManager &manager,
                                      const TrainingStepOptions &options,
                                      ErrorHandler fail) {
  EchoGradientPassOptions gradient;
  gradient.function = options.function;
  gradient.loss = options.loss;
  manager.addPass(createEchoGradientPass(gradient));
  if (!options.optimizer.empty()) {
    std::unique_ptr<Pass> optimizer = createEchoOptimizerPass();
    FailureOr<std::string> text =
        optimizerPassOptions(options.optimizer, options.function, fail);
    if (failed(text))
      return failure();
    // The parser's message begins with its own name.
    auto report = [&](const Twine &message) {
      std::string text = message.str();
      StringRef rest = StringRef(text).trim();
      rest.consume_front("<Pass-Options-Parser>: ");
      std::string reason = rest.empty() ? "" : ": " + rest.str();
      return fail("can't read the optimizer '" + options.optimizer.getValue() +
                  "'" + reason);
    };
    if (failed(optimizer->initializeOptions(*text, report)))
      return failure();
    manager.addPass(std::move(optimizer));
  }
  addCleanUp(manager);
  // Fewer and larger products. Sums come second: they read what joined rows
  // lie next to each other by then.
  manager.addPass(createEchoBatchRowsPass());
  manager.addPass(createEchoBatchSumsPass());
  manager.addPass(createEchoAccumulateProductsPass());
  addCleanUp(manager);
  return success();
}

LogicalResult mlir::echo::isolateEntry(ModuleOp module, StringRef entry,
                                       std::string &name) {
  FailureOr<func::FuncOp> function = findFunction(module, entry);
  if (failed(function))
    return failure();
  name = function->getName().str();
  for (auto symbol : module.getOps<SymbolOpInterface>())
    symbol.setVisibility(symbol.getOperation() == function->getOperation()
                             ? SymbolTable::Visibility::Public
                             : SymbolTable::Visibility::Private);
  return success();
}

LogicalResult
mlir::echo::buildEntryPipeline(OpPassManager &manager, ModuleOp module,
                               const TrainingStepOptions &options) {
  manager.addPass(createSymbolDCEPass());
  if (options.optimizer.empty())
    return success();
  return buildTrainingStepPipeline(
      manager, options, [&](const Twine &message) -> LogicalResult {
        return module.emitError(message);
      });
}

void mlir::echo::buildToHostProgramPipeline(OpPassManager &manager) {
  addCleanUp(manager);
  manager.addPass(createEchoFormKernelsPass());
  manager.addPass(createEchoOutlineKernelsPass());
  manager.addPass(createEchoBufferizePass());
}

void mlir::echo::buildToBuffersPipeline(OpPassManager &manager,
                                        const ToBuffersOptions &options) {
  buildToHostProgramPipeline(manager);
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
        return buildTrainingStepPipeline(manager, options, errorHandler);
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

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
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/Targets.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace mlir::echo;

/// Dead and repeated ops of a graph.
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
  return buildTrainingStepPipeline(manager, options,
                                   [&](const Twine &message) -> LogicalResult {
                                     return module.emitError(message);
                                   });
}

void mlir::echo::buildCleanUpPipeline(OpPassManager &manager) {
  addCleanUp(manager);
  manager.addPass(createEchoEliminateDeadNodesPass());
}

void mlir::echo::buildHostProgramPipeline(OpPassManager &manager) {
  manager.addPass(createEchoEliminateDeadNodesPass());
  manager.addPass(createEchoFormKernelsPass());
  manager.addPass(createEchoOutlineKernelsPass());
  manager.addPass(createEchoBufferizePass());
}

void mlir::echo::buildToBuffersPipeline(OpPassManager &manager,
                                        const ToBuffersOptions &options) {
  buildCleanUpPipeline(manager);
  EchoRematPassOptions remat;
  remat.function = options.function;
  remat.strategy = options.strategy;
  remat.plan = options.plan;
  remat.device = options.device;
  remat.promise = RematPromise::Arena;
  remat.alignment = options.alignment;
  manager.addPass(createEchoRematPass(remat, options.savedPlan));
  buildHostProgramPipeline(manager);
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

/// True if LLVM can generate code for an NVIDIA GPU of this name. Without its
/// NVPTX target that isn't known, and gpu-module-to-binary fails.
bool mlir::echo::isKnownGPUChip(StringRef chip) {
#if LLVM_HAS_NVPTX_TARGET
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTargetMC();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, "", ""));
  return info->isCPUStringValid(chip);
#else
  return true;
#endif
}

unsigned mlir::echo::capabilityOf(StringRef chip) {
  unsigned number = 0;
  chip.consume_front("sm_");
  chip.consumeInteger(10, number);
  return number;
}

int64_t mlir::echo::multiprocessorsOf(ArrayRef<std::string> chips) {
  // By compute capability; a later one that isn't here is like the last.
  const std::pair<unsigned, int64_t> largest[] = {
      {70, 80},   // V100
      {75, 72},   // TITAN RTX
      {80, 108},  // A100
      {86, 84},   // A40
      {87, 16},   // Orin
      {89, 142},  // L40
      {90, 132},  // H100
      {100, 148}, // B200
      {120, 188}, // RTX PRO 6000
  };
  int64_t most = 0;
  for (StringRef chip : chips) {
    unsigned capability = capabilityOf(chip);
    int64_t own = 0;
    for (auto [known, multiprocessors] : largest)
      if (known <= capability)
        own = multiprocessors;
    most = std::max(most, own);
  }
  return most;
}

void mlir::echo::buildMapKernelsPipeline(OpPassManager &manager,
                                         ArrayRef<std::string> chips) {
  manager.addPass(createConvertEchoToLinalgPass());
  manager.addPass(createEchoMergeKernelsPass());
  EchoMapKernelsToGPUPassOptions options;
  if (int64_t multiprocessors = multiprocessorsOf(chips))
    options.multiprocessors = multiprocessors;
  manager.addPass(createEchoMapKernelsToGPUPass(options));
}

void mlir::echo::buildGPUToNVVMPipeline(OpPassManager &manager) {
  manager.addPass(createSCFToControlFlowPass());
  ConvertGpuOpsToNVVMOpsOptions toNVVM;
  toNVVM.indexBitwidth = 0; // the module's
  toNVVM.useBarePtrCallConv = true;
  manager.addPass(createConvertGpuOpsToNVVMOps(toNVVM));
  manager.addPass(createReconcileUnrealizedCastsPass());
}

LogicalResult
mlir::echo::buildKernelsToGPUPipeline(OpPassManager &manager,
                                      const KernelsToGPUOptions &options,
                                      ErrorHandler errorHandler) {
  SmallVector<std::string> chips(options.chips.begin(), options.chips.end());
  if (chips.empty())
    chips.push_back("sm_75");
  for (const std::string &chip : chips)
    if (!isKnownGPUChip(chip))
      return errorHandler("expected chips that LLVM knows, as sm_90, found '" +
                          chip + "'");
  StringRef format = options.format;
  if (!llvm::is_contained({"nvvm", "isa", "bin", "fatbin", "sim"}, format))
    return errorHandler("expected format nvvm, isa, bin, fatbin or sim, found "
                        "'" +
                        format + "'");
  buildMapKernelsPipeline(manager, chips);
  buildGPUToNVVMPipeline(manager.nest<gpu::GPUModuleOp>());
  if (format == "sim") {
    manager.addPass(createEchoNVVMToSimPass());
    return success();
  }
  for (const std::string &chip : chips) {
    GpuNVVMAttachTargetOptions attach;
    attach.chip = chip;
    attach.optLevel = 3;
    manager.addPass(createGpuNVVMAttachTarget(attach));
  }
  if (format == "nvvm")
    return success();
  GpuModuleToBinaryPassOptions toBinary;
  toBinary.toolkitPath = options.toolkit;
  toBinary.compilationTarget = options.format;
  manager.addPass(createGpuModuleToBinaryPass(toBinary));
  return success();
}

/// Registers a pipeline whose options can be wrong in more than syntax.
template <typename Options>
static void registerPipeline(StringRef name, StringRef description,
                             LogicalResult (*build)(OpPassManager &,
                                                    const Options &,
                                                    ErrorHandler)) {
  registerPassPipeline(
      name, description,
      [build](OpPassManager &manager, StringRef text,
              ErrorHandler errorHandler) {
        Options options;
        if (failed(options.parseFromString(text)))
          return failure();
        return build(manager, options, errorHandler);
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handler) {
        handler(Options());
      });
}

void mlir::echo::registerPipelines() {
  registerPipeline<TrainingStepOptions>(
      "echo-training-step",
      "From a forward graph with a loss to a training step on tensors",
      buildTrainingStepPipeline);
  registerPipeline<KernelsToGPUOptions>(
      "echo-kernels-to-gpu",
      "From kernel functions on tensors to code for NVIDIA GPUs",
      buildKernelsToGPUPipeline);
  PassPipelineRegistration<ToBuffersOptions>(
      "echo-to-buffers",
      "From a function on tensors to a host program on one arena",
      buildToBuffersPipeline);
  PassPipelineRegistration<CPUToLLVMOptions>(
      "echo-cpu-to-llvm",
      "From a host program on one arena to the LLVM dialect",
      buildCPUToLLVMPipeline);
}

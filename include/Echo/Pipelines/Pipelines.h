//===- Pipelines.h - Named pipelines ----------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_PIPELINES_PIPELINES_H
#define ECHO_PIPELINES_PIPELINES_H

#include "Echo/Transforms/Remat.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::echo {

struct TrainingStepOptions : PassPipelineOptions<TrainingStepOptions> {
  Option<std::string> function{
      *this, "function",
      llvm::cl::desc("Forward function; default: the only public one"),
      llvm::cl::init("")};
  Option<int64_t> loss{
      *this, "loss",
      llvm::cl::desc("Index of the loss result; default: echo.loss, or the "
                     "only float scalar"),
      llvm::cl::init(-1)};
  Option<std::string> optimizer{
      *this, "optimizer",
      llvm::cl::desc("sgd, momentum or adam, options after commas "
                     "(adam,beta1=0.8); empty: gradients only"),
      llvm::cl::init("")};
};

struct ToBuffersOptions : PassPipelineOptions<ToBuffersOptions> {
  Option<int64_t> alignment{
      *this, "alignment",
      llvm::cl::desc("Alignment of buffers in the arena in bytes"),
      llvm::cl::init(64)};
  Option<std::string> function{
      *this, "function",
      llvm::cl::desc("Training step; default: the only public function"),
      llvm::cl::init("")};
  Option<std::string> strategy{
      *this, "strategy",
      llvm::cl::desc("What to recompute: none, mirror, echo-paper or echo; "
                     "default: echo if the function has a loss. Applied if the "
                     "arena is smaller then"),
      llvm::cl::init("")};
  Option<std::string> plan{
      *this, "plan",
      llvm::cl::desc("A saved plan in JSON to apply instead of a strategy's"),
      llvm::cl::init("")};
  /// The plan, if it was read already.
  std::optional<SavedPlan> savedPlan;
  Option<std::string> device{
      *this, "device",
      llvm::cl::desc("Device to model the time of for the strategy"),
      llvm::cl::init("cpu")};
};

struct CPUToLLVMOptions : PassPipelineOptions<CPUToLLVMOptions> {
  Option<std::string> entry{
      *this, "entry",
      llvm::cl::desc("Host function; default: the only public one"),
      llvm::cl::init("")};
  Option<std::string> cpu{
      *this, "cpu", llvm::cl::desc("CPU that the program says it needs"),
      llvm::cl::init("")};
  Option<std::string> features{
      *this, "features",
      llvm::cl::desc("Features that the program says it needs"),
      llvm::cl::init("")};
};

struct KernelsToGPUOptions : PassPipelineOptions<KernelsToGPUOptions> {
  ListOption<std::string> chips{
      *this, "chip",
      llvm::cl::desc("Chips to compile for, as sm_75,sm_90; default: sm_75")};
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc("What becomes of the kernels: nvvm (no code), isa (PTX), "
                     "bin (a cubin a chip) or fatbin, which need the CUDA "
                     "Toolkit, or sim (functions for the simulator); default: "
                     "isa"),
      llvm::cl::init("isa")};
  Option<std::string> toolkit{
      *this, "toolkit",
      llvm::cl::desc("Folder of the CUDA Toolkit; default: CUDA_HOME"),
      llvm::cl::init("")};
};

/// Makes the function called `entry` (empty: the only public one) the only
/// public symbol of a module, so that everything that it doesn't use can go,
/// and returns its name. Fails with a diagnostic.
LogicalResult isolateEntry(ModuleOp module, StringRef entry,
                           std::string &name);
/// What every tool begins with: drops what the entry doesn't use and, if there
/// is an optimizer, makes a training step. Fails with a diagnostic at the
/// module if the optimizer's options can't be read.
LogicalResult buildEntryPipeline(OpPassManager &manager, ModuleOp module,
                                 const TrainingStepOptions &options);
/// `echo-training-step`: from a forward graph with a loss to a training step
/// on tensors. Fails, with a message for `errorHandler`, if the optimizer's
/// options can't be read.
LogicalResult buildTrainingStepPipeline(
    OpPassManager &manager, const TrainingStepOptions &options,
    llvm::function_ref<LogicalResult(const llvm::Twine &)> errorHandler);
/// Takes away dead and repeated ops: what rematerialization is planned for.
/// Nothing that a graph computes twice on purpose exists before it.
void buildCleanUpPipeline(OpPassManager &manager);
/// From a function on tensors to a host program of kernel and library calls on
/// buffers of their own.
void buildHostProgramPipeline(OpPassManager &manager);
/// `echo-to-buffers`: rematerialization, the same, then one arena for all
/// buffers. Kernel functions stay on tensors.
void buildToBuffersPipeline(OpPassManager &manager,
                            const ToBuffersOptions &options);
/// `echo-cpu-to-llvm`: from there to the LLVM dialect: kernels as functions,
/// the host program as a table.
void buildCPUToLLVMPipeline(OpPassManager &manager,
                            const CPUToLLVMOptions &options);
/// From functions of the GPU dialect to the NVVM dialect with bare pointers; on
/// GPU modules.
void buildGPUToNVVMPipeline(OpPassManager &manager);
/// True if LLVM can generate code for an NVIDIA GPU of this name.
bool isKnownGPUChip(llvm::StringRef chip);

/// The number in "sm_90a"; 0 for the simulator.
unsigned capabilityOf(llvm::StringRef chip);

/// Multiprocessors of the largest GPU that has one of these chips; 0 where none
/// is one of NVIDIA's.
int64_t multiprocessorsOf(llvm::ArrayRef<std::string> chips);
/// From kernel functions on tensors to functions of the GPU dialect.
void buildMapKernelsPipeline(OpPassManager &manager,
                             llvm::ArrayRef<std::string> chips);
/// `echo-kernels-to-gpu`: from kernel functions on tensors to code for NVIDIA
/// GPUs. The host program isn't lowered. Fails, with a message for
/// `errorHandler`, if a chip or the format is unknown.
LogicalResult buildKernelsToGPUPipeline(
    OpPassManager &manager, const KernelsToGPUOptions &options,
    llvm::function_ref<LogicalResult(const llvm::Twine &)> errorHandler);

/// Registers the pipelines under these names.
void registerPipelines();

} // namespace mlir::echo

#endif // ECHO_PIPELINES_PIPELINES_H

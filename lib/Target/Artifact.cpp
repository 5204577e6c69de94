//===- Artifact.cpp - Compiling a module to an artefact -------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Target/Artifact.h"
#include "CPU/CPUTarget.h"
#include "Echo/Conversion/EmitProgram.h"
#include "Echo/Conversion/Kernels.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Pipelines/Pipelines.h"
#include "GPU/GPUTarget.h"
#include "OutputFile.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include <chrono>

using namespace mlir;
using namespace mlir::echo;

namespace {

/// Adds the time that it lives to the phases, if they are wanted.
class PhaseTimer {
public:
  PhaseTimer(const ArtifactOptions &options, StringRef name)
      : phases(options.phases), name(name), start(Clock::now()) {}
  ~PhaseTimer() {
    if (phases)
      phases->push_back(
          {name, std::chrono::duration<double>(Clock::now() - start).count()});
  }

private:
  using Clock = std::chrono::steady_clock;
  std::vector<PhaseTime> *phases;
  std::string name;
  Clock::time_point start;
};

/// Times the passes on modules; what they run inside is part of them.
class PassTimer : public PassInstrumentation {
public:
  explicit PassTimer(const ArtifactOptions &options) : options(options) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (isa<ModuleOp>(op))
      timer.emplace(options, pass->getArgument());
  }
  void runAfterPass(Pass *, Operation *op) override {
    if (isa<ModuleOp>(op))
      timer.reset();
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    runAfterPass(pass, op);
  }

private:
  const ArtifactOptions &options;
  std::optional<PhaseTimer> timer;
};

} // namespace

std::string mlir::echo::resolveTarget(ArtifactOptions &options) {
  constexpr StringLiteral kDefaultChip = "sm_75";
  if (options.target == "sim") {
    if (!options.chips.empty())
      return "the target sim has no chips; --target=cuda takes them, sim among "
             "them";
    options.target = "cuda";
    options.chips = {gputarget::kSimulatorChip.str()};
  } else if (options.target == "cuda") {
    if (options.chips.empty())
      options.chips = {kDefaultChip.str()};
  } else if (StringRef(options.target).starts_with("cuda:")) {
    return "'" + options.target + "' is a device; the target is cuda";
  } else if (!options.chips.empty()) {
    return "the target " + options.target + " has no chips";
  }
  return "";
}

/// The passes up to a host program on buffers with its memory planned.
static LogicalResult lowerHost(ModuleOp module, const ArtifactOptions &options,
                               int64_t alignment, std::string &entry,
                               function_ref<void(PassManager &)> addTarget) {
  if (failed(isolateEntry(module, options.entry, entry)))
    return failure();
  PassManager manager(module.getContext());
  if (options.phases)
    manager.addInstrumentation(std::make_unique<PassTimer>(options));
  TrainingStepOptions trainingStep;
  trainingStep.function = entry;
  trainingStep.optimizer = options.optimizer;
  if (failed(buildEntryPipeline(manager, module, trainingStep)))
    return failure();
  ToBuffersOptions toBuffers;
  toBuffers.alignment = alignment;
  toBuffers.function = entry;
  toBuffers.strategy = options.strategy;
  toBuffers.savedPlan = options.plan;
  if (options.plan)
    toBuffers.plan = options.plan->name;
  buildToBuffersPipeline(manager, toBuffers);
  addTarget(manager);
  return manager.run(module);
}

static FailureOr<cpu::Machine> lowerForCPU(ModuleOp module,
                                           const ArtifactOptions &options) {
  FailureOr<cpu::Machine> machine =
      cpu::resolveMachine(module.getLoc(), options.cpu, options.features);
  if (failed(machine))
    return failure();
  std::string entry;
  if (failed(lowerHost(module, options, options.alignment, entry,
                       [&](PassManager &manager) {
                         CPUToLLVMOptions toLLVM;
                         toLLVM.entry = entry;
                         toLLVM.cpu = machine->cpu;
                         toLLVM.features = machine->requiredFeatures;
                         buildCPUToLLVMPipeline(manager, toLLVM);
                       })))
    return failure();
  return machine;
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

/// cuBLAS's workspace: what it recommends for the newest of the chips.
static uint64_t workspaceBytes(ArrayRef<std::string> chips) {
  unsigned newest = 0;
  for (const std::string &chip : chips)
    newest = std::max(newest, capabilityOf(chip));
  if (newest == 0)
    return 64 << 10;
  return newest >= 90 ? 32 << 20 : 4 << 20;
}

/// What cuMemAlloc and 128-bit accesses need.
static constexpr int64_t kGPUAlignment = ::echo::kWorkspaceAlignment;

/// The program of the host function. Its kernels are those of the GPU module.
static FailureOr<::echo::Program> lowerForGPU(ModuleOp module,
                                              const ArtifactOptions &options) {
  std::string entry;
  // One that isn't a power of two is told where it is used.
  int64_t alignment = llvm::isPowerOf2_64(options.alignment)
                          ? std::max(options.alignment, kGPUAlignment)
                          : options.alignment;
  if (failed(gputarget::checkChips(module.getLoc(), options.chips)) ||
      failed(lowerHost(module, options, alignment, entry,
                       [&](PassManager &manager) {
                         buildMapKernelsPipeline(manager, options.chips);
                       })))
    return failure();
  FailureOr<func::FuncOp> function = findFunction(module, entry);
  if (failed(function))
    return failure();
  // Images say what an artefact is for, with or without kernels in them.
  auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kGPUModuleName);
  if (!kernels) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    kernels =
        gpu::GPUModuleOp::create(builder, module.getLoc(), kGPUModuleName);
  }
  FailureOr<::echo::Program> program =
      buildGPUProgram(*function, SymbolTable(module), kernels);
  if (failed(program))
    return failure();
  program->strategy = options.plan ? "" : options.strategy;
  bool hasGemm = llvm::any_of(program->calls, [](const ::echo::Call &call) {
    return call.kind == ::echo::CallKind::Gemm;
  });
  if (hasGemm) {
    program->workspaceOffset = llvm::alignTo(
        program->arenaBytes, static_cast<uint64_t>(kGPUAlignment));
    program->workspaceBytes = workspaceBytes(options.chips);
    program->arenaBytes = program->workspaceOffset + program->workspaceBytes;
  }
  std::string error;
  if (!program->verify(error))
    return function->emitOpError("doesn't make a valid program: ") << error;
  return program;
}

static LogicalResult compileForGPU(ModuleOp module,
                                   const ArtifactOptions &options,
                                   EmitKind kind, std::string &content) {
  FailureOr<::echo::Program> program = lowerForGPU(module, options);
  if (failed(program))
    return failure();
  llvm::raw_string_ostream stream(content);
  if (kind == EmitKind::MLIR) {
    module.print(stream);
    return success();
  }
  PhaseTimer timer(options, "codegen");
  SmallVector<gputarget::KernelImage> images;
  auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kGPUModuleName);
  if (kind == EmitKind::PTX || kind == EmitKind::Cubin) {
    StringRef chip = options.chips.front();
    if (chip == gputarget::kSimulatorChip)
      return module.emitError("expected a chip of NVIDIA's for PTX or machine "
                              "code, found '")
             << chip << "'";
    FailureOr<gputarget::KernelImage> image =
        gputarget::makeImage(kernels, chip,
                             kind == EmitKind::PTX ? ::echo::ImageKind::PTX
                                                   : ::echo::ImageKind::Cubin,
                             options);
    if (failed(image))
      return failure();
    // The zero at the end of PTX is the driver's.
    stream << (kind == EmitKind::PTX ? StringRef(image->bytes).drop_back()
                                     : StringRef(image->bytes));
    return success();
  }
  if (kind == EmitKind::LLVM)
    return gputarget::writeLLVMIR(kernels, options.chips.front(), options,
                                  stream);
  if (kind != EmitKind::SharedObject)
    return module.emitError("expected --emit=mlir, llvm, ptx, cubin or so for "
                            "the target cuda");
  if (failed(gputarget::makeImages(kernels, options, images)))
    return failure();
  OwningOpRef<ModuleOp> artifact =
      gputarget::makeArtifactModule(module.getLoc(), *program, images);
  FailureOr<cpu::Machine> machine =
      cpu::resolveMachine(module.getLoc(), "generic", "");
  SmallVector<cpu::ObjectBuffer> objects;
  if (failed(machine) ||
      failed(cpu::generateObjects(*artifact, *machine, options, objects)))
    return failure();
  return cpu::linkSharedObject(module.getLoc(), objects, content);
}

LogicalResult mlir::echo::compileToStream(ModuleOp module,
                                          const ArtifactOptions &options,
                                          EmitKind kind,
                                          llvm::raw_ostream &stream) {
  if (kind == EmitKind::SharedObject)
    return module.emitError("a shared object can't be written to a stream");
  if (options.target == "cuda") {
    std::string content;
    if (failed(compileForGPU(module, options, kind, content)))
      return failure();
    stream << content;
    return success();
  }
  if (options.target != "cpu")
    return module.emitError("unknown target '")
           << options.target << "'; expected cpu, cuda or sim";
  if (kind == EmitKind::PTX || kind == EmitKind::Cubin)
    return module.emitError("expected the target cuda for PTX or machine code "
                            "of a GPU");
  FailureOr<cpu::Machine> machine = lowerForCPU(module, options);
  if (failed(machine))
    return failure();
  if (kind != EmitKind::MLIR)
    return cpu::generateCode(module, *machine, options, kind, stream);
  module.print(stream);
  return success();
}

/// The bytes of an artefact.
static LogicalResult makeSharedObject(ModuleOp module,
                                      const ArtifactOptions &options,
                                      std::string &content) {
  if (options.target == "cuda")
    return compileForGPU(module, options, EmitKind::SharedObject, content);
  if (options.target != "cpu")
    return module.emitError("unknown target '")
           << options.target << "'; expected cpu, cuda or sim";
  FailureOr<cpu::Machine> machine = lowerForCPU(module, options);
  if (failed(machine))
    return failure();
  SmallVector<cpu::ObjectBuffer> objects;
  {
    PhaseTimer timer(options, "codegen");
    if (failed(cpu::generateObjects(module, *machine, options, objects)))
      return failure();
  }
  PhaseTimer timer(options, "link");
  return cpu::linkSharedObject(module.getLoc(), objects, content);
}

LogicalResult mlir::echo::compileToArtifact(ModuleOp module,
                                            const ArtifactOptions &options,
                                            StringRef path, EmitKind kind) {
  auto unwritable = [&](StringRef reason) -> LogicalResult {
    return module.emitError() << reason;
  };
  // Before the time for compiling is spent.
  std::optional<::echo::OutputFile> file;
  if (kind == EmitKind::SharedObject || path != "-") {
    file.emplace(path.str());
    if (!file->error().empty())
      return unwritable(file->error());
  }
  std::string content;
  if (kind == EmitKind::SharedObject) {
    if (failed(makeSharedObject(module, options, content)))
      return failure();
    ::echo::appendChecksum(content);
  } else {
    llvm::raw_string_ostream stream(content);
    if (failed(compileToStream(module, options, kind, stream)))
      return failure();
  }
  if (!file) {
    std::string error = ::echo::writeOutput("-", content);
    return error.empty() ? success() : unwritable(error);
  }
  if (!file->write(content) || !file->commit())
    return unwritable(file->error());
  return success();
}

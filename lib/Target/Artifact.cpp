//===- Artifact.cpp - Compiling a module to an artefact -------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Target/Artifact.h"
#include "CPU/CPUTarget.h"
#include "Echo/Pipelines/Pipelines.h"
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

static LogicalResult lowerForCPU(ModuleOp module,
                                 const ArtifactOptions &options,
                                 const cpu::Machine &machine) {
  std::string entry;
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
  toBuffers.alignment = options.alignment;
  toBuffers.function = entry;
  toBuffers.strategy = options.strategy;
  toBuffers.savedPlan = options.plan;
  if (options.plan)
    toBuffers.plan = options.plan->name;
  buildToBuffersPipeline(manager, toBuffers);
  CPUToLLVMOptions toLLVM;
  toLLVM.entry = entry;
  toLLVM.cpu = machine.cpu;
  toLLVM.features = machine.requiredFeatures;
  buildCPUToLLVMPipeline(manager, toLLVM);
  return manager.run(module);
}

static FailureOr<cpu::Machine> lower(ModuleOp module,
                                     const ArtifactOptions &options) {
  if (options.target != "cpu")
    return module.emitError("unknown target '")
           << options.target << "'; expected cpu";
  FailureOr<cpu::Machine> machine =
      cpu::resolveMachine(module.getLoc(), options.cpu, options.features);
  if (failed(machine) || failed(lowerForCPU(module, options, *machine)))
    return failure();
  return machine;
}

LogicalResult mlir::echo::compileToStream(ModuleOp module,
                                          const ArtifactOptions &options,
                                          EmitKind kind,
                                          llvm::raw_ostream &stream) {
  if (kind == EmitKind::SharedObject)
    return module.emitError("a shared object can't be written to a stream");
  FailureOr<cpu::Machine> machine = lower(module, options);
  if (failed(machine))
    return failure();
  if (kind != EmitKind::MLIR)
    return cpu::generateCode(module, *machine, options, kind, stream);
  module.print(stream);
  return success();
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
    FailureOr<cpu::Machine> machine = lower(module, options);
    if (failed(machine))
      return failure();
    SmallVector<cpu::ObjectBuffer> objects;
    {
      PhaseTimer timer(options, "codegen");
      if (failed(cpu::generateObjects(module, *machine, options, objects)))
        return failure();
    }
    PhaseTimer timer(options, "link");
    if (failed(cpu::linkSharedObject(module.getLoc(), objects, content)))
      return failure();
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

//===- StepPlan.cpp - Planning a training step ----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepPlan.h"
#include "Echo/Analysis/CallCosts.h"
#include "Echo/Analysis/Layers.h"
#include "Echo/Analysis/RematGraph.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Pipelines/Pipelines.h"
#include "Echo/Planning/RematReport.h"
#include "Echo/Transforms/PlanMemory.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <chrono>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::plan;

namespace {

/// Adds the time from one call to the next to a phase.
class Stopwatch {
public:
  void addTo(double &phase) {
    auto now = std::chrono::steady_clock::now();
    phase += std::chrono::duration<double>(now - start).count();
    start = now;
  }

private:
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

class StepPlanner {
public:
  StepPlanner(ModuleOp module, const TrainingStep &step,
              const StepOptions &options, const RematOptions &remat,
              const planning::CostModel &model)
      : module(module), step(step), options(options), remat(remat),
        model(model),
        function(module.lookupSymbol<func::FuncOp>(step.function)) {}

  FailureOr<StepPlan> run();

private:
  LogicalResult applyPlan();
  LogicalResult countOps();
  LogicalResult planArena(MemoryPlan &memoryPlan);
  LogicalResult addTimes(const SymbolTable &symbols, const StepParts &parts);

  ModuleOp module;
  const TrainingStep &step;
  const StepOptions &options;
  RematOptions remat;
  const planning::CostModel &model;

  func::FuncOp function;
  StepPlan plan;
  Stopwatch watch;
};

} // namespace

FailureOr<TrainingStep> plan::makeTrainingStep(ModuleOp module,
                                               const StepOptions &options) {
  TrainingStep step;
  Stopwatch watch;
  PassManager manager(module.getContext());
  // Once at the end, not after every pass.
  manager.enableVerifier(false);
  TrainingStepOptions trainingStep;
  trainingStep.optimizer = options.optimizer;
  if (failed(isolateEntry(module, options.entry, step.function)))
    return failure();
  trainingStep.function = step.function;
  if (failed(buildEntryPipeline(manager, module, trainingStep)))
    return failure();
  buildCleanUpPipeline(manager);
  if (failed(manager.run(module)) || failed(verify(module)))
    return failure();
  auto function = module.lookupSymbol<func::FuncOp>(step.function);
  FailureOr<unsigned> loss = getLossIndex(function);
  if (failed(loss))
    return failure();
  step.loss = *loss;
  // The loss's place is known on tensors; buffers need the attribute.
  function.setResultAttr(*loss, kLossAttr, UnitAttr::get(module.getContext()));
  watch.addTo(step.seconds);
  return step;
}

FailureOr<StepTexts> plan::writeStep(ModuleOp module, const TrainingStep &step,
                                     const RematOptions &remat,
                                     const planning::CostModel &model) {
  auto function = module.lookupSymbol<func::FuncOp>(step.function);
  FailureOr<RematGraph> graph = RematGraph::build(function, step.loss, model);
  if (failed(graph))
    return failure();
  FailureOr<planning::RematPlan> plan =
      chooseRematPlan(function, *graph, remat);
  if (failed(plan))
    return failure();
  graph->addNames();
  const planning::RematProblem &problem = graph->getProblem();
  return StepTexts{planning::writeRematProblem(problem),
                   planning::writeRematPlan(problem, *plan)};
}

LogicalResult StepPlanner::applyPlan() {
  if (remat.strategy == "none" && !remat.plan)
    return success();
  FailureOr<RematGraph> graph = RematGraph::build(function, step.loss, model);
  if (failed(graph))
    return failure();
  FailureOr<planning::RematPlan> remats =
      chooseRematPlan(function, *graph, remat);
  if (failed(remats))
    return failure();
  const planning::RematProblem &problem = graph->getProblem();
  plan.recomputedOps = planning::measureRemat(problem, *remats).recomputedOps;
  plan.encodedValues = remats->encoded.size();
  applyRematPlan(*graph, *remats);
  watch.addTo(plan.seconds.remat);
  plan.unwrittenOps =
      planning::modelKernels(problem, *remats, model.device).clonesWithReaders;
  watch.addTo(plan.seconds.analysis);
  return success();
}

LogicalResult StepPlanner::countOps() {
  FailureOr<StepParts> parts = findStepParts(function, step.loss);
  if (failed(parts))
    return failure();
  plan.forwardOps = parts->count(StepPart::Forward);
  plan.backwardOps = parts->count(StepPart::Backward);
  plan.sideOps = parts->count(StepPart::Side);
  return success();
}

LogicalResult StepPlanner::planArena(MemoryPlan &memoryPlan) {
  FailureOr<MemoryPlan> found = computeMemoryPlan(function, options.alignment);
  if (failed(found))
    return failure();
  memoryPlan = std::move(*found);
  plan.arenaBytes = memoryPlan.arena.bytes;
  return success();
}

LogicalResult StepPlanner::addTimes(const SymbolTable &symbols,
                                    const StepParts &parts) {
  CallDescriptions descriptions(symbols);
  for (Operation &op : function.getBody().front()) {
    FailureOr<std::optional<CallDescription>> call = descriptions.get(&op);
    if (failed(call))
      return failure();
    if (*call) {
      double seconds = (*call)->seconds(model);
      ++plan.time.calls;
      plan.time.measuredCalls += (*call)->isMeasured(model);
      plan.time.total += seconds;
      ((*call)->isLibraryCall ? plan.time.libraryCalls : plan.time.kernels) +=
          seconds;
    }
    if (&op != plan.memory.peak)
      continue;
    plan.peak =
        CallPlace{plan.time.calls,
                  *call ? (*call)->work : op.getName().getStringRef().str(),
                  describeLocation(op.getLoc()), parts.get(&op)};
  }
  return success();
}

FailureOr<StepPlan> StepPlanner::run() {
  plan.strategy = remat.plan ? "saved" : remat.strategy;
  plan.function = step.function;
  plan.seconds.trainingStep = step.seconds;
  if (failed(countOps()))
    return failure();
  watch.addTo(plan.seconds.analysis);
  if (failed(applyPlan()))
    return failure();

  PassManager manager(module.getContext());
  // The copy is measured and nothing else.
  manager.enableVerifier(false);
  buildHostProgramPipeline(manager);
  if (failed(manager.run(module)))
    return failure();
  watch.addTo(plan.seconds.kernels);
  MemoryPlan memoryPlan;
  if (failed(planArena(memoryPlan)))
    return failure();
  watch.addTo(plan.seconds.placement);

  FailureOr<unsigned> index = getLossIndex(function);
  if (failed(index))
    return failure();
  FailureOr<StepParts> parts = findStepParts(function, *index);
  if (failed(parts))
    return failure();
  FailureOr<StepMemory> memory = analyzeStepMemory(
      function, *parts, memoryPlan.buffers.problem, memoryPlan.buffers.values);
  if (failed(memory))
    return failure();
  plan.memory = std::move(*memory);
  std::optional<uint64_t> total =
      llvm::checkedAddUnsigned(plan.memory.persistentBytes, plan.arenaBytes);
  if (!total)
    return function.emitOpError("needs more than 64 bits of memory");
  plan.totalBytes = *total;
  if (failed(addTimes(SymbolTable(module), *parts)))
    return failure();
  watch.addTo(plan.seconds.analysis);
  return std::move(plan);
}

FailureOr<StepPlan> plan::planStep(ModuleOp module, const TrainingStep &step,
                                   const StepOptions &options,
                                   const RematOptions &remat,
                                   const planning::CostModel &model,
                                   OwningOpRef<ModuleOp> &program) {
  program = module.clone();
  return StepPlanner(*program, step, options, remat, model).run();
}

StepPlan plan::withoutPlan(const StepPlan &baseline, const StepPlan &givenUp) {
  StepPlan plan = baseline;
  plan.strategy = givenUp.strategy;
  plan.isGivenUp = givenUp.changesStep();
  plan.seconds = givenUp.seconds;
  return plan;
}

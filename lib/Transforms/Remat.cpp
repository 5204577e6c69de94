//===- Remat.cpp - Rematerialization --------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Transforms/Remat.h"
#include "Echo/Analysis/CallCosts.h"
#include "Echo/Analysis/RematGraph.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Transforms/Passes.h"
#include "Echo/Transforms/PlanMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOREMATPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::planning;

static constexpr llvm::StringLiteral kCategory = "echo-remat";

/// A remark for every feature map: where it is made, how large it is, and why
/// it is stashed or not.
static void emitRemarks(const RematGraph &graph, const RematPlan &plan) {
  for (const RematDecision &decision : plan.decisions) {
    Value value = graph.getValues()[decision.value];
    const RematValue &entry = graph.getProblem().values[decision.value];
    std::string_view reason = describe(decision.reason);
    auto options = remark::RemarkOpts::name("FeatureMap").category(kCategory);
    bool isStashed = decision.reason != RematReason::Recomputed &&
                     decision.reason != RematReason::Encoded;
    auto text = [&](remark::detail::InFlightRemark &&remark) {
      if (!remark)
        return;
      if (decision.reason == RematReason::Encoded) {
        remark << llvm::formatv("{0} bytes stashed as {1} bytes of bits",
                                entry.bytes, entry.encodedBytes)
                      .str();
        return;
      }
      remark << llvm::formatv("{0} bytes {1}{2}", entry.bytes,
                              StringRef(reason.data(), reason.size()),
                              decision.isForClones
                                  ? ", read by recomputed ops alone"
                                  : "")
                    .str();
    };
    if (isStashed)
      text(remark::missed(value.getLoc(), options));
    else
      text(remark::passed(value.getLoc(), options));
  }
}

/// Bytes of the arena that a module's function becomes; the module is used up.
static FailureOr<uint64_t> findArenaBytes(OwningOpRef<ModuleOp> module,
                                          StringRef name, int64_t alignment) {
  PassManager manager(module->getContext());
  // The copy is measured and nothing else; the function itself is verified.
  manager.enableVerifier(false);
  manager.addPass(createEchoEliminateDeadNodesPass());
  manager.addPass(createEchoFormKernelsPass());
  manager.addPass(createEchoOutlineKernelsPass());
  manager.addPass(createEchoBufferizePass());
  if (failed(manager.run(*module)))
    return failure();
  FailureOr<MemoryPlan> plan =
      computeMemoryPlan(module->lookupSymbol<func::FuncOp>(name), alignment);
  if (failed(plan))
    return failure();
  return plan->arena.bytes;
}

static void emitSummary(func::FuncOp function, const RematResult &result) {
  auto options = remark::RemarkOpts::name("Plan").category(kCategory);
  if (result.after.recomputedOps == 0 && result.encodedValues == 0) {
    if (auto remark = remark::missed(function.getLoc(), options))
      remark << "nothing to recompute: no op releases more than it needs";
    return;
  }
  std::string encoded;
  if (result.encodedValues != 0)
    encoded =
        llvm::formatv(" and stashes {0} values as bits", result.encodedValues);
  std::string text =
      llvm::formatv("recomputes {0} ops{1}: {2} bytes of feature maps instead "
                    "of {3}, logical peak {4} instead of {5}",
                    result.after.recomputedOps, encoded,
                    result.after.featureMapBytes,
                    result.before.featureMapBytes, result.after.peakBytes,
                    result.before.peakBytes);
  if (result.arenaBefore != 0)
    text += llvm::formatv(", arena {0} instead of {1}", result.arenaAfter,
                          result.arenaBefore);
  if (result.isApplied) {
    if (auto remark = remark::passed(function.getLoc(), options))
      remark << text;
  } else if (auto remark = remark::missed(function.getLoc(), options)) {
    remark << "not applied, since it needs no less memory: " << text;
  }
}

/// Applies the plan and takes it back if it doesn't make the arena smaller.
static LogicalResult applyIfArenaShrinks(func::FuncOp function,
                                         const RematGraph &graph,
                                         const RematPlan &plan,
                                         int64_t alignment,
                                         RematResult &result) {
  auto module = function->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> old = module.clone();
  FailureOr<uint64_t> before =
      findArenaBytes(old->clone(), function.getName(), alignment);
  if (failed(before))
    return failure();
  applyRematPlan(graph, plan);
  FailureOr<uint64_t> after =
      findArenaBytes(module.clone(), function.getName(), alignment);
  if (succeeded(after)) {
    result.arenaBefore = *before;
    result.arenaAfter = *after;
    result.isApplied = *after < *before;
  }
  if (!result.isApplied)
    function.getBody().takeBody(
        old->lookupSymbol<func::FuncOp>(function.getName()).getBody());
  return success(succeeded(after));
}

FailureOr<RematPlan> mlir::echo::chooseRematPlan(func::FuncOp function,
                                                 const RematGraph &graph,
                                                 const RematOptions &options) {
  const RematProblem &problem = graph.getProblem();
  RematPlan plan;
  std::string error;
  if (options.plan) {
    if (!readRematPlan(options.plan->json, problem, plan, error))
      return function.emitError("plan=")
             << options.plan->name << ": " << error;
    return plan;
  }
  if (!planRemat(problem, options.strategy, plan)) {
    auto names = llvm::map_range(rematStrategies(), [](const auto &strategy) {
      return StringRef(strategy.name.data(), strategy.name.size());
    });
    return function.emitError("expected the strategy to be one of ")
           << llvm::join(names, ", ") << ", found '" << options.strategy << "'";
  }
  if (!checkRematPlan(problem, plan, error))
    return function.emitError("internal error: the plan isn't valid: ")
           << error;
  return plan;
}

FailureOr<RematResult> mlir::echo::rematerialize(func::FuncOp function,
                                                 unsigned loss,
                                                 const RematOptions &options,
                                                 const CostModel &model) {
  FailureOr<RematGraph> graph = RematGraph::build(function, loss, model);
  if (failed(graph))
    return failure();
  const RematProblem &problem = graph->getProblem();
  FailureOr<RematPlan> plan = chooseRematPlan(function, *graph, options);
  if (failed(plan))
    return failure();
  RematResult result;
  planning::RematComparison figures = planning::compareRemat(problem, *plan);
  result.before = figures.before;
  result.after = figures.after;
  emitRemarks(*graph, *plan);
  result.encodedValues = plan->encoded.size();
  if (!plan->clones.empty() || !plan->encoded.empty()) {
    switch (options.promise) {
    case RematPromise::Arena:
      if (failed(applyIfArenaShrinks(function, *graph, *plan, options.alignment,
                                     result)))
        return failure();
      break;
    case RematPromise::Peak:
      result.isApplied = result.after.peakBytes <= result.before.peakBytes;
      break;
    case RematPromise::None:
      result.isApplied = true;
    }
    if (result.isApplied && options.promise != RematPromise::Arena)
      applyRematPlan(*graph, *plan);
  }
  emitSummary(function, result);
  return result;
}

namespace {

struct EchoRematPass : public echo::impl::EchoRematPassBase<EchoRematPass> {
  using Base::Base;
  EchoRematPass(EchoRematPassOptions options, std::optional<SavedPlan> plan)
      : Base(std::move(options)), savedPlan(std::move(plan)) {}

  void runOnOperation() override {
    FailureOr<func::FuncOp> target = findFunction(getOperation(), function);
    if (failed(target))
      return signalPassFailure();
    std::optional<int64_t> lossOption;
    if (loss != -1)
      lossOption = loss;
    // A default strategy is for training steps, and lets others be.
    bool isDefault = strategy.empty() && plan.empty() && !savedPlan;
    if (isDefault && !lossOption && !findLoss(*target))
      return;
    FailureOr<unsigned> index = getLossIndex(*target, lossOption);
    CostModel model;
    if (failed(index) ||
        failed(loadCostModel(device, model,
                             [&](const Twine &message) -> LogicalResult {
                               return target->emitError(message);
                             })))
      return signalPassFailure();
    RematOptions options;
    if (!strategy.empty())
      options.strategy = strategy;
    if (failed(readPlan(*target, options)))
      return signalPassFailure();
    options.promise = promise;
    options.alignment = alignment;
    FailureOr<RematResult> result =
        rematerialize(*target, *index, options, model);
    if (failed(result))
      return signalPassFailure();
    recomputed = result->isApplied ? result->after.recomputedOps : 0;
  }

private:
  LogicalResult readPlan(func::FuncOp target, RematOptions &options) {
    if (plan.empty() && !savedPlan)
      return success();
    if (!strategy.empty())
      return target.emitError("expected a strategy or a plan, found strategy=")
             << strategy.getValue() << " and plan=" << plan.getValue();
    options.plan = savedPlan;
    if (savedPlan)
      return success();
    std::string error;
    std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(plan, &error);
    if (!file)
      return target.emitError("plan=") << plan.getValue() << ": " << error;
    options.plan = SavedPlan{plan, file->getBuffer().str()};
    return success();
  }

  std::optional<SavedPlan> savedPlan;
};

} // namespace

std::unique_ptr<Pass>
mlir::echo::createEchoRematPass(EchoRematPassOptions options,
                                std::optional<SavedPlan> plan) {
  return std::make_unique<EchoRematPass>(std::move(options), std::move(plan));
}

//===- StepPlan.h - Planning a training step --------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_ECHOPLAN_STEPPLAN_H
#define ECHO_TOOLS_ECHOPLAN_STEPPLAN_H

#include "Echo/Analysis/StepMemory.h"
#include "Echo/Planning/Cost.h"
#include "Echo/Transforms/Remat.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace mlir::echo::plan {

struct StepOptions {
  std::string entry;     ///< empty: the only public function
  std::string optimizer; ///< empty: the function is taken as it is
  int64_t alignment = 64;
};

/// Seconds that planning took.
struct PhaseTimes {
  double read = 0, trainingStep = 0, remat = 0, schedule = 0, kernels = 0,
         placement = 0, analysis = 0;
};

/// Modelled seconds of a step.
struct StepTime {
  double total = 0;
  double kernels = 0, libraryCalls = 0; ///< parts of the total
  uint64_t calls = 0, measuredCalls = 0;
};

/// A call of the host program for a reader.
struct CallPlace {
  uint64_t index = 0; ///< from 1
  std::string work, layer;
  StepPart part = StepPart::Side;
};

/// What is known of a training step under a strategy. `memory` refers to the
/// module that was planned.
struct StepPlan {
  std::string strategy; ///< "saved" for a plan that was saved
  std::string function;
  /// True if the strategy's plan was given up, since it needs no less memory.
  bool isGivenUp = false;
  StepMemory memory;
  uint64_t arenaBytes = 0, totalBytes = 0;
  uint64_t forwardOps = 0, backwardOps = 0, sideOps = 0, recomputedOps = 0;
  /// Of the recomputed ones those that are in the kernels that read them.
  uint64_t unwrittenOps = 0;
  uint64_t encodedValues = 0; ///< stashed as bits
  StepTime time;
  std::optional<CallPlace> peak;
  PhaseTimes seconds;

  /// True if the strategy does anything to the step.
  bool changesStep() const { return recomputedOps != 0 || encodedValues != 0; }
};

/// A training step on tensors.
struct TrainingStep {
  std::string function;
  unsigned loss = 0; ///< index of the result
  double seconds = 0; ///< that making it took
};

/// Makes the entry of `module` a training step, as it is when compiling plans
/// it. Fails with a diagnostic.
FailureOr<TrainingStep> makeTrainingStep(ModuleOp module,
                                         const StepOptions &options);

/// What a step is to planning, and a plan for it, as JSON (docs/remat.md).
struct StepTexts {
  std::string problem, plan;
};

/// Fails with a diagnostic.
FailureOr<StepTexts> writeStep(ModuleOp module, const TrainingStep &step,
                               const RematOptions &remat,
                               const planning::CostModel &model);

/// Applies the plan that `remat` asks for to a copy of the step, takes it through the
/// pipeline that compiling takes up to its memory plan, and reads off what it
/// needs. `program` becomes the copy, a host program on buffers, which the plan
/// refers to. Fails with a diagnostic.
FailureOr<StepPlan> planStep(ModuleOp module, const TrainingStep &step,
                             const StepOptions &options,
                             const RematOptions &remat,
                             const planning::CostModel &model,
                             OwningOpRef<ModuleOp> &program);

/// What a strategy comes to whose plan is given up: the baseline, and the time
/// that planning took.
StepPlan withoutPlan(const StepPlan &baseline, const StepPlan &givenUp);

} // namespace mlir::echo::plan

#endif // ECHO_TOOLS_ECHOPLAN_STEPPLAN_H

//===- Remat.h - Rematerialization ------------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_REMAT_H
#define ECHO_TRANSFORMS_REMAT_H

#include "Echo/Planning/Cost.h"
#include "Echo/Planning/Remat.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <string>

namespace mlir::echo {

class RematGraph;

/// What a plan must not make larger to be applied.
enum class RematPromise : uint8_t {
  Arena, ///< the arena of the host program that the step becomes
  Peak,  ///< the logical peak of the order of ops
  None   ///< any plan is applied
};

/// A plan that was saved (planning::writeRematPlan).
struct SavedPlan {
  std::string name; ///< of its file, for messages
  std::string json;
};

struct RematOptions {
  std::string strategy = "echo"; ///< of planning::rematStrategies()
  std::optional<SavedPlan> plan; ///< applied instead of a strategy's
  RematPromise promise = RematPromise::Peak;
  int64_t alignment = 64; ///< of buffers in the arena, bytes
};

/// What became of a plan.
struct RematResult {
  planning::RematFigures before, after; ///< of the plan, applied or not
  /// Bytes of the arena without and with the plan; 0 if nobody asked.
  uint64_t arenaBefore = 0, arenaAfter = 0;
  uint64_t encodedValues = 0; ///< that the plan stashes as bits
  bool isApplied = false;
};

/// The plan that `options` ask for. Fails with a diagnostic at the function if
/// there is no such strategy, or if the saved plan is malformed or for another
/// step.
FailureOr<planning::RematPlan> chooseRematPlan(func::FuncOp function,
                                               const RematGraph &graph,
                                               const RematOptions &options);

/// Plans what a training step computes again and applies the plan if it keeps
/// the promise. `loss` is the index of the loss among the results. Emits a
/// remark for each feature map. Fails with a diagnostic, the function
/// unchanged.
FailureOr<RematResult> rematerialize(func::FuncOp function, unsigned loss,
                                     const RematOptions &options,
                                     const planning::CostModel &model);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_REMAT_H

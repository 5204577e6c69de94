//===- Queries.cpp - Questions about any op -------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Interfaces/Queries.h"
#include "Echo/Interfaces/EchoInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::echo;

bool mlir::echo::isFreeOfEffects(Operation *op) {
  return !op->walk([](Operation *nested) {
              return isMemoryEffectFree(nested) ? WalkResult::advance()
                                                : WalkResult::interrupt();
            }).wasInterrupted();
}

bool mlir::echo::isRecomputable(Operation *op) {
  auto recompute = dyn_cast<RecomputeOpInterface>(op);
  return recompute && recompute.isRecomputable() && isFreeOfEffects(op);
}

bool mlir::echo::isMirrored(Operation *op) {
  return isRecomputable(op) && !isComputeHeavy(op) &&
         cast<RecomputeOpInterface>(op).isMirrored();
}

bool mlir::echo::isComputeHeavy(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  return !cost || cost.isComputeHeavy();
}

FailureOr<uint64_t> mlir::echo::getFlops(Operation *op) {
  if (auto cost = dyn_cast<CostOpInterface>(op))
    return cost.getFlops();
  return uint64_t(0);
}

FailureOr<uint64_t> mlir::echo::getBytesRead(Operation *op) {
  if (auto cost = dyn_cast<CostOpInterface>(op))
    return cost.getBytesRead();
  return echo::detail::operandBytes(op);
}

FailureOr<uint64_t> mlir::echo::getBytesWritten(Operation *op) {
  if (auto cost = dyn_cast<CostOpInterface>(op))
    return cost.getBytesWritten();
  return echo::detail::resultBytes(op);
}

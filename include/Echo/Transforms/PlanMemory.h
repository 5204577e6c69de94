//===- PlanMemory.h - One arena for a host program --------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_PLANMEMORY_H
#define ECHO_TRANSFORMS_PLANMEMORY_H

#include "Echo/Planning/Arena.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::echo {

/// The buffers of a host program that share its arena: `memref.alloc`s, and
/// arguments that aren't persistent. `problem.buffers[i]` is `values[i]`;
/// lifetimes are positions in the function's block, views and in-place results
/// taken into account. Buffers that are returned live to the end.
struct ArenaBuffers {
  planning::ArenaProblem problem;
  SmallVector<Value> values;
};

/// Fails with a diagnostic at an op whose buffers can't be followed.
FailureOr<ArenaBuffers> collectArenaBuffers(func::FuncOp function,
                                            uint64_t alignment);

/// Replaces the buffers by views of an arena argument at the plan's offsets
/// and records the sizes as attributes of the function.
void applyArenaPlan(func::FuncOp function, const ArenaBuffers &buffers,
                    const planning::ArenaPlan &plan,
                    uint64_t logicalPeak);

/// Collects, plans, checks the plan and applies it.
LogicalResult planMemory(func::FuncOp function, uint64_t alignment);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_PLANMEMORY_H

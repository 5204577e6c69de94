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

/// Where the buffers of a host program lie in its arena.
struct MemoryPlan {
  ArenaBuffers buffers;
  planning::ArenaPlan arena;
  uint64_t logicalPeak = 0;
};

/// Collects the buffers, plans and checks the plan; the function stays as it
/// is. The alignment is a power of two. Fails with a diagnostic.
FailureOr<MemoryPlan> computeMemoryPlan(func::FuncOp function,
                                        int64_t alignment);

/// Computes the plan and applies it.
LogicalResult planMemory(func::FuncOp function, int64_t alignment);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_PLANMEMORY_H

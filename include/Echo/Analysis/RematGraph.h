//===- RematGraph.h - A training step as planning sees it -------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ANALYSIS_REMATGRAPH_H
#define ECHO_ANALYSIS_REMATGRAPH_H

#include "Echo/Planning/Cost.h"
#include "Echo/Planning/Remat.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::echo {

class FusionGraph;

/// The problem of rematerialization that a training step is. Works on the ops
/// of any dialect; what isn't known of an op (RecomputeOpInterface,
/// CostOpInterface) makes it one that is never evaluated again.
class RematGraph {
public:
  /// Takes a function of one block whose result `loss` is the loss. Fails with
  /// a diagnostic where sizes aren't known or don't add up.
  static FailureOr<RematGraph> build(func::FuncOp function, unsigned loss,
                                     const planning::CostModel &model);

  /// Names the values and ops of the problem, for reports: by the layer and
  /// what is done there. Planning needs no names.
  void addNames();

  const planning::RematProblem &getProblem() const { return problem; }
  /// The ops of the problem, in its order: all of the block but constants and
  /// the terminator.
  ArrayRef<Operation *> getOps() const { return ops; }
  ArrayRef<Value> getValues() const { return values; }
  Value getLoss() const { return loss; }

private:
  LogicalResult addValue(Value value, Operation *user);
  void addFusion(Operation *op, const FusionGraph &fusion, uint64_t bytesRead,
                 planning::RematOp &entry);

  planning::RematProblem problem;
  SmallVector<Operation *> ops;
  SmallVector<Value> values;
  DenseMap<Value, uint32_t> indices;
  Value loss;
};

/// Writes a plan into the graph that it was made for: clones in front of their
/// first late reader, which read originals through
/// `echo.optimization_barrier`, and bits in place of what it encodes. The
/// graph's problem is the old one then, and ops may be gone.
void applyRematPlan(const RematGraph &graph, const planning::RematPlan &plan);

} // namespace mlir::echo

#endif // ECHO_ANALYSIS_REMATGRAPH_H

//===- RematGraphs.h - Training graphs for tests of planning ----*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_PLANNING_REMATGRAPHS_H
#define ECHO_UNITTESTS_PLANNING_REMATGRAPHS_H

#include "Echo/Planning/Remat.h"

namespace mlir::echo::planning {

/// A forward graph whose gradient part is written after it in reverse order, an
/// op for each forward op. Every op takes a second.
class TrainingGraph {
public:
  /// What the gradient of an op reads of the forward part.
  enum Reads { Nothing, Outputs, Inputs, Both };

  uint32_t input(uint64_t bytes) { return addValue(bytes, /*resident=*/false); }
  uint32_t parameter(uint64_t bytes) {
    return addValue(bytes, /*resident=*/true);
  }

  /// A cheap op.
  uint32_t op(std::vector<uint32_t> inputs, uint64_t bytes,
              Reads reads = Outputs) {
    return addOp(std::move(inputs), {bytes}, reads, /*isHeavy=*/false)[0];
  }
  std::vector<uint32_t> ops(std::vector<uint32_t> inputs,
                            std::vector<uint64_t> bytes, Reads reads) {
    return addOp(std::move(inputs), bytes, reads, /*isHeavy=*/false);
  }
  /// A product, whose gradient reads the inputs.
  uint32_t heavy(std::vector<uint32_t> inputs, uint64_t bytes) {
    return addOp(std::move(inputs), {bytes}, Inputs, /*isHeavy=*/true)[0];
  }
  uint32_t view(uint32_t source) {
    uint32_t value = op({source}, 0, Nothing);
    problem.values[value].source = source;
    return value;
  }
  uint32_t opOf(uint32_t value) const {
    for (uint32_t op = 0; op < problem.ops.size(); ++op)
      for (uint32_t result : problem.ops[op].results)
        if (result == value)
          return op;
    return kNoIndex;
  }

  /// Sums `values` up to the loss and writes the gradients: that of an op reads
  /// those of its results' readers, and makes one for every input that isn't
  /// one of the step.
  const RematProblem &finish(std::vector<uint32_t> values);

  RematProblem problem;

private:
  uint32_t addValue(uint64_t bytes, bool resident) {
    RematValue value;
    value.bytes = bytes;
    value.isResident = resident;
    problem.values.push_back(value);
    return problem.values.size() - 1;
  }
  std::vector<uint32_t> addOp(std::vector<uint32_t> inputs,
                              std::vector<uint64_t> bytes, Reads reads,
                              bool isHeavy);

  std::vector<Reads> gradientReads; ///< by forward op
};

} // namespace mlir::echo::planning

#endif // ECHO_UNITTESTS_PLANNING_REMATGRAPHS_H

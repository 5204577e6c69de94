//===- RematGraphs.cpp - Training graphs for tests of planning ------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RematGraphs.h"

using namespace mlir::echo::planning;

std::vector<uint32_t> TrainingGraph::addOp(std::vector<uint32_t> inputs,
                                           std::vector<uint64_t> bytes,
                                           Reads reads, bool isHeavy) {
  RematOp op;
  op.inputs = std::move(inputs);
  op.isHeavy = isHeavy;
  op.seconds = 1;
  for (uint64_t size : bytes)
    op.results.push_back(addValue(size, /*resident=*/false));
  problem.ops.push_back(op);
  gradientReads.push_back(reads);
  return op.results;
}

const RematProblem &TrainingGraph::finish(std::vector<uint32_t> values) {
  uint32_t loss = op(std::move(values), 4, Nothing);
  problem.outputs.push_back(loss);
  size_t numForward = problem.ops.size();
  std::vector<bool> isMade(problem.values.size(), false);
  for (const RematOp &op : problem.ops)
    for (uint32_t value : op.results)
      isMade[value] = true;
  // By forward value, the gradients that its readers make of it.
  std::vector<std::vector<uint32_t>> gradients(problem.values.size());
  gradients[loss].push_back(addValue(4, /*resident=*/true));
  for (size_t i = numForward; i-- > 0;) {
    RematOp forward = problem.ops[i];
    RematOp backward;
    backward.part = RematPart::Backward;
    backward.isHeavy = forward.isHeavy;
    backward.seconds = 1;
    for (uint32_t value : forward.results)
      for (uint32_t gradient : gradients[value])
        backward.inputs.push_back(gradient);
    if (gradientReads[i] == Inputs || gradientReads[i] == Both)
      for (uint32_t value : forward.inputs)
        backward.inputs.push_back(value);
    if (gradientReads[i] == Outputs || gradientReads[i] == Both)
      for (uint32_t value : forward.results)
        backward.inputs.push_back(value);
    for (uint32_t value : forward.inputs) {
      uint64_t bytes = problem.values[value].bytes;
      if (problem.values[value].source != kNoIndex)
        bytes = problem.values[problem.values[value].source].bytes;
      uint32_t gradient = addValue(bytes, /*resident=*/false);
      backward.results.push_back(gradient);
      if (isMade[value])
        gradients[value].push_back(gradient);
      else
        problem.outputs.push_back(gradient);
    }
    problem.ops.push_back(backward);
  }
  return problem;
}

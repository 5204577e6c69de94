//===- RematIndex.cpp - A problem of rematerialization, indexed -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RematIndex.h"
#include <algorithm>

using namespace mlir::echo::planning;

RematIndex::RematIndex(const RematProblem &problem) : problem(problem) {
  size_t numValues = problem.values.size(), numOps = problem.ops.size();
  producer.assign(numValues, kNoIndex);
  root.assign(numValues, kNoIndex);
  place.assign(numValues, 0);
  size_t numOperands = 0;
  for (const RematOp &op : problem.ops)
    numOperands += op.inputs.size();
  operandLists.reserve(numOps, numOperands);
  resultLists.reserve(numOps, numValues);
  for (uint32_t op = 0; op < numOps; ++op) {
    for (uint32_t value : problem.ops[op].inputs)
      operandLists.add(value);
    operandLists.finishList();
    for (uint32_t r = 0; r < problem.ops[op].results.size(); ++r) {
      uint32_t value = problem.ops[op].results[r];
      producer[value] = op;
      place[value] = r;
      resultLists.add(value);
    }
    resultLists.finishList();
  }
  // Sources are written first, but may have any number.
  std::vector<uint32_t> chain;
  for (uint32_t value = 0; value < numValues; ++value) {
    uint32_t current = value;
    while (root[current] == kNoIndex &&
           problem.values[current].source != kNoIndex) {
      chain.push_back(current);
      current = problem.values[current].source;
    }
    uint32_t found = root[current] == kNoIndex ? current : root[current];
    root[current] = found;
    for (uint32_t view : chain)
      root[view] = found;
    chain.clear();
  }
  isView.assign(numOps, false);
  for (uint32_t op = 0; op < numOps; ++op) {
    IndexRange own = results(op);
    isView[op] = !own.empty() &&
                 std::all_of(own.begin(), own.end(), [&](uint32_t value) {
                   return problem.values[value].source != kNoIndex;
                 });
  }
  isOutput.assign(numValues, false);
  for (uint32_t value : problem.outputs)
    isOutput[root[value]] = true;

  late.resize(numOps);
  candidates.resize(numOps);
  overwritesInputs.resize(numOps);
  for (uint32_t op = 0; op < numOps; ++op) {
    const RematOp &current = problem.ops[op];
    late[op] = current.part == RematPart::Backward;
    overwritesInputs[op] = current.overwritesInputs;
    candidates[op] = !late[op] && !isView[op] && !current.isHeavy &&
                     current.isRepeatable;
  }
  // The last op that was seen to read a root.
  std::vector<uint32_t> seen(numValues, kNoIndex);
  inputLists.reserve(numOps, numOperands);
  for (uint32_t op = 0; op < numOps; ++op) {
    for (uint32_t value : operands(op)) {
      uint32_t read = root[value];
      if (problem.values[read].isResident || seen[read] == op)
        continue;
      seen[read] = op;
      inputLists.add(read);
    }
    inputLists.finishList();
  }
  auto buildReaders = [&](IndexLists &lists, bool ofLate) {
    lists.build(numValues, [&](auto add) {
      for (uint32_t op = 0; op < numOps; ++op)
        if (late[op] == ofLate && !isView[op])
          for (uint32_t read : inputs(op))
            add(read, op);
    });
  };
  buildReaders(earlyLists, /*ofLate=*/false);
  buildReaders(lateLists, /*ofLate=*/true);
}

EdgeUseRefs mlir::echo::planning::findEdgeUseRefs(const RematProblem &problem) {
  RematIndex index(problem);
  EdgeUseRefs refs;
  refs.forward.resize(problem.values.size());
  refs.backward.resize(problem.values.size());
  std::vector<uint32_t> seen(problem.values.size(), kNoIndex);
  for (uint32_t op = 0; op < problem.ops.size(); ++op) {
    if (index.isView[op])
      continue;
    for (uint32_t value : index.operands(op)) {
      uint32_t read = index.root[value];
      if (seen[read] == op)
        continue;
      seen[read] = op;
      (index.isLate(op) ? refs.backward : refs.forward)[read].push_back(op);
    }
  }
  return refs;
}

void mlir::echo::planning::findRematParts(
    RematProblem &problem, uint32_t loss,
    const std::vector<uint32_t> &targets) {
  size_t numOps = problem.ops.size();
  std::vector<uint32_t> producer(problem.values.size(), kNoIndex);
  for (uint32_t op = 0; op < numOps; ++op)
    for (uint32_t value : problem.ops[op].results)
      producer[value] = op;
  // Readers come behind what they read: one walk from the end finds all that a
  // value depends on.
  auto slice = [&](const std::vector<uint32_t> &values) {
    std::vector<bool> needed(numOps, false);
    for (uint32_t value : values)
      if (producer[value] != kNoIndex)
        needed[producer[value]] = true;
    for (uint32_t op = numOps; op-- > 0;)
      if (needed[op])
        for (uint32_t value : problem.ops[op].inputs)
          if (producer[value] != kNoIndex)
            needed[producer[value]] = true;
    return needed;
  };
  std::vector<bool> forward = slice({loss}), backward = slice(targets);
  for (uint32_t op = 0; op < numOps; ++op)
    problem.ops[op].part = forward[op]    ? RematPart::Forward
                           : backward[op] ? RematPart::Backward
                                          : RematPart::Side;
  settleRematParts(problem);
}

void mlir::echo::planning::settleRematParts(RematProblem &problem) {
  // The backward part begins where the fewest ops are on the wrong side.
  uint32_t wrong = 0;
  for (const RematOp &op : problem.ops)
    wrong += op.part == RematPart::Forward;
  uint32_t fewest = wrong;
  size_t begin = 0;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    wrong -= problem.ops[op].part == RematPart::Forward;
    wrong += problem.ops[op].part == RematPart::Backward;
    if (wrong > fewest)
      continue;
    fewest = wrong;
    begin = op + 1;
  }
  for (size_t op = 0; op < begin; ++op)
    if (problem.ops[op].part == RematPart::Backward)
      problem.ops[op].part = RematPart::Forward;
}

//===- RematPlan.cpp - Plans of rematerialization and what they need ------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RematStep.h"
#include <algorithm>
#include <string>

using namespace mlir::echo::planning;

std::string_view mlir::echo::planning::describe(RematReason reason) {
  switch (reason) {
  case RematReason::Recomputed:
    return "recomputed";
  case RematReason::Encoded:
    return "stashed as bits";
  case RematReason::Heavy:
    return "stashed: its op is compute-heavy";
  case RematReason::Unrepeatable:
    return "stashed: its op can't be evaluated again";
  case RematReason::Input:
    return "stashed: it is an input of the step";
  case RematReason::NoGain:
    return "stashed: what recomputing needs is no smaller";
  case RematReason::Peak:
    return "stashed: recomputing needs more memory at the peak";
  case RematReason::Excluded:
    return "stashed: the strategy doesn't recompute for its readers";
  case RematReason::Strategy:
    break;
  }
  return "stashed: the strategy recomputes nothing";
}

//===----------------------------------------------------------------------===//
// Making a plan
//===----------------------------------------------------------------------===//

namespace {

class PlanMaker {
public:
  PlanMaker(const RematIndex &index, const RematChoice &choice)
      : index(index), problem(index.problem), choice(choice),
        cloneOf(problem.ops.size(), kNoIndex) {}

  RematPlan run() {
    for (uint32_t op = 0; op < problem.ops.size(); ++op)
      if (index.isLate(op) &&
          !(choice.readsOriginals && choice.readsOriginals(op)))
        redirect(op);
    if (choice.joinsProducers)
      joinProducers();
    for (uint32_t value = 0; value < problem.values.size(); ++value)
      if (isEncoded(value))
        plan.encoded.push_back(value);
    return std::move(plan);
  }

private:
  /// True if `value` is computed again: it is, or is a view of, a result of a
  /// recomputed op.
  bool isRecomputed(uint32_t value) const {
    uint32_t op = index.earlyProducer(index.root[value]);
    return op != kNoIndex && choice.recomputed[op] &&
           !index.isLate(index.producer[value]);
  }

  bool isEncoded(uint32_t root) const {
    return !choice.encoded.empty() && choice.encoded[root];
  }

  void redirect(uint32_t op) {
    IndexRange inputs = index.operands(op);
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      // Who reads bits needs no clone.
      if (!isRecomputed(inputs[i]) || isEncoded(index.root[inputs[i]]))
        continue;
      uint32_t clone = cloneFor(index.producer[inputs[i]], op);
      plan.reads.push_back({op, i, clone});
    }
  }

  /// The clone of `op`, made with all that it needs in front of `before` if it
  /// isn't there. Chains may be long: no recursion.
  uint32_t cloneFor(uint32_t op, uint32_t before) {
    std::vector<uint32_t> stack = {op};
    while (!stack.empty()) {
      uint32_t current = stack.back();
      if (cloneOf[current] != kNoIndex) {
        stack.pop_back();
        continue;
      }
      IndexRange inputs = index.operands(current);
      bool isReady = true;
      for (size_t i = inputs.size(); i-- > 0;) {
        uint32_t producer = index.producer[inputs[i]];
        if (!isRecomputed(inputs[i]) || cloneOf[producer] != kNoIndex)
          continue;
        stack.push_back(producer);
        isReady = false;
      }
      if (!isReady)
        continue;
      stack.pop_back();
      RematClone clone;
      clone.op = current;
      clone.before = before;
      clone.inputs.reserve(inputs.size());
      for (uint32_t input : inputs)
        clone.inputs.push_back(
            isRecomputed(input) ? cloneOf[index.producer[input]] : kNoIndex);
      cloneOf[current] = plan.clones.size();
      plan.clones.push_back(std::move(clone));
    }
    return cloneOf[op];
  }

  /// Runs clones as soon as a clone has made what they read, if that takes no
  /// more memory than leaving what nothing else reads: they can share a kernel
  /// then, however far away their readers are.
  void joinProducers() {
    std::vector<uint32_t> numReaders = countReaders();
    // Followers run behind their leader, in their old order.
    std::vector<uint32_t> leaderOf(plan.clones.size());
    bool isChanged = false;
    for (uint32_t i = 0; i < plan.clones.size(); ++i) {
      RematClone &clone = plan.clones[i];
      leaderOf[i] = i;
      uint32_t last = kNoIndex;
      for (uint32_t input : clone.inputs)
        if (input != kNoIndex &&
            (last == kNoIndex || leaderOf[input] > leaderOf[last]))
          last = input;
      if (last == kNoIndex || clone.before == plan.clones[last].before ||
          !isEarlyEnough(clone, plan.clones[last].before) ||
          makes(clone) > releases(clone, numReaders))
        continue;
      clone.before = plan.clones[last].before;
      leaderOf[i] = leaderOf[last];
      isChanged = true;
    }
    if (isChanged)
      reorder(leaderOf);
  }

  /// Readers of each original of a recomputed op: clones and late ops.
  std::vector<uint32_t> countReaders() const {
    std::vector<uint32_t> numReaders(problem.values.size(), 0);
    for (const RematClone &clone : plan.clones)
      if (!index.isView[clone.op])
        for (uint32_t value : index.inputs(clone.op))
          ++numReaders[value];
    for (uint32_t value = 0; value < problem.values.size(); ++value)
      numReaders[value] += index.lateReaders(value).size();
    return numReaders;
  }

  /// True if the clone and what it reads but clones can be there before an op.
  bool isEarlyEnough(const RematClone &clone, uint32_t before) const {
    if (clone.op >= before)
      return false;
    IndexRange inputs = index.operands(clone.op);
    for (size_t i = 0; i < inputs.size(); ++i) {
      uint32_t producer = index.producer[inputs[i]];
      if (clone.inputs[i] == kNoIndex && producer != kNoIndex &&
          producer >= before)
        return false;
    }
    return true;
  }

  uint64_t makes(const RematClone &clone) const {
    uint64_t bytes = 0;
    for (uint32_t value : index.results(clone.op))
      if (index.takesMemory(value))
        bytes += problem.values[value].bytes;
    return bytes;
  }

  /// Bytes of what clones make for `clone` alone.
  uint64_t releases(const RematClone &clone,
                    const std::vector<uint32_t> &numReaders) const {
    uint64_t bytes = 0;
    if (!index.isView[clone.op])
      for (uint32_t value : index.inputs(clone.op))
        if (isRecomputed(value) && numReaders[value] == 1)
          bytes += problem.values[value].bytes;
    return bytes;
  }

  void reorder(const std::vector<uint32_t> &leaderOf) {
    std::vector<RematClone> ordered(plan.clones.size());
    // By leader first, the clones that it leads: themselves included.
    IndexLists led;
    led.build(plan.clones.size(), [&](auto add) {
      for (uint32_t clone = 0; clone < leaderOf.size(); ++clone)
        add(leaderOf[clone], clone);
    });
    std::vector<uint32_t> placeOf(plan.clones.size());
    uint32_t numPlaced = 0;
    for (uint32_t leader = 0; leader < leaderOf.size(); ++leader)
      for (uint32_t clone : led[leader]) {
        placeOf[clone] = numPlaced;
        ordered[numPlaced++] = std::move(plan.clones[clone]);
      }
    for (RematClone &clone : ordered)
      for (uint32_t &input : clone.inputs)
        if (input != kNoIndex)
          input = placeOf[input];
    for (RematRead &read : plan.reads)
      read.clone = placeOf[read.clone];
    plan.clones = std::move(ordered);
  }

  const RematIndex &index;
  const RematProblem &problem;
  const RematChoice &choice;
  std::vector<uint32_t> cloneOf; ///< by op
  RematPlan plan;
};

} // namespace

RematPlan mlir::echo::planning::makeRematPlan(const RematIndex &index,
                                              const RematChoice &choice) {
  return PlanMaker(index, choice).run();
}

static RematReason reasonToStash(const RematIndex &index,
                                 const RematChoice &choice, uint32_t value) {
  uint32_t op = index.producer[value];
  if (op == kNoIndex)
    return RematReason::Input;
  if (index.problem.ops[op].isHeavy)
    return RematReason::Heavy;
  if (!index.problem.ops[op].isRepeatable)
    return RematReason::Unrepeatable;
  return choice.recomputed[op] ? RematReason::Excluded : choice.reasons[op];
}

void mlir::echo::planning::explainRemat(const RematIndex &index,
                                        const RematChoice &choice,
                                        RematPlan &plan) {
  enum : uint8_t { ByOriginals = 1, ByClones = 2, Again = 4 };
  std::vector<uint8_t> read(index.problem.values.size(), 0);
  PlannedStep step(index, plan);
  step.walk([&](const Evaluation &evaluation) {
    bool isClone = evaluation.clone != kNoIndex;
    if (index.isView[evaluation.op] ||
        !(isClone || index.isLate(evaluation.op)))
      return;
    for (uint32_t tensor : evaluation.reads) {
      uint32_t value = step.values[tensor];
      if (!index.isFeature(value))
        continue;
      if (step.isClone(tensor))
        read[value] |= isClone ? 0 : Again;
      else
        read[value] |= isClone ? ByClones : ByOriginals;
    }
  });
  for (uint32_t value = 0; value < read.size(); ++value) {
    if (!read[value])
      continue;
    RematDecision decision;
    decision.value = value;
    if (!choice.encoded.empty() && choice.encoded[value])
      decision.reason = RematReason::Encoded;
    else if (read[value] == Again)
      decision.reason = RematReason::Recomputed;
    else
      decision.reason = reasonToStash(index, choice, value);
    decision.isForClones = read[value] == ByClones;
    plan.decisions.push_back(decision);
  }
}

//===----------------------------------------------------------------------===//
// What a step needs
//===----------------------------------------------------------------------===//

namespace {

/// The evaluations that need a tensor, as places in the order that they run in.
struct TensorLife {
  int64_t first = -1, last = -1, lastEarly = -1, lastLate = -1;
  /// A result of `last` takes its memory.
  bool isTaken = false;
  /// It takes the memory of an input.
  bool isPlaced = false;
};

/// A result that may take an input's memory.
struct Overwrite {
  int64_t place;
  uint32_t input, result;
};

} // namespace

RematFigures mlir::echo::planning::measureRemat(const RematIndex &index,
                                                const RematPlan &plan) {
  const RematProblem &problem = index.problem;
  RematFigures figures;
  PlannedStep step(index, plan);
  std::vector<TensorLife> lives(problem.values.size());
  for (uint32_t value = 0; value < lives.size(); ++value)
    if (index.producer[value] == kNoIndex)
      lives[value] = {0, 0, -1, -1};
  std::vector<uint32_t> opAt;
  std::vector<Overwrite> overwrites;
  std::vector<bool> isStashed(problem.values.size(), false);
  step.walk([&](const Evaluation &evaluation) {
    int64_t place = opAt.size();
    bool isClone = evaluation.clone != kNoIndex;
    opAt.push_back(isClone ? plan.clones[evaluation.clone].before
                           : evaluation.op);
    lives.resize(step.values.size());
    for (uint32_t tensor : evaluation.results)
      lives[tensor].first = lives[tensor].last = place;
    if (isClone && !index.isView[evaluation.op]) {
      ++figures.recomputedOps;
      figures.addedSeconds += problem.ops[evaluation.op].seconds;
    }
    // A view reads nothing itself.
    if (index.isView[evaluation.op])
      return;
    if (index.overwritesInputs[evaluation.op])
      for (uint32_t result : evaluation.results)
        for (uint32_t input : evaluation.reads)
          if (step.bytes(input) == step.bytes(result))
            overwrites.push_back({place, input, result});
    bool isLate = isClone || index.isLate(evaluation.op);
    for (uint32_t tensor : evaluation.reads) {
      TensorLife &life = lives[tensor];
      life.last = place;
      (isLate ? life.lastLate : life.lastEarly) = place;
      if (isLate && !step.isClone(tensor) && index.isFeature(tensor))
        isStashed[tensor] = true;
    }
  });
  int64_t end = opAt.size();
  // What leaves the step lives on; an original that an output is, or is a view
  // of, is never a clone.
  for (uint32_t value = 0; value < problem.values.size(); ++value)
    if (index.isOutput[value])
      lives[value].last = end;
  std::vector<bool> isEncoded(problem.values.size(), false);
  for (uint32_t value : plan.encoded)
    isEncoded[value] = true;
  for (uint32_t value = 0; value < problem.values.size(); ++value)
    if (isStashed[value])
      figures.featureMapBytes += isEncoded[value]
                                     ? problem.values[value].encodedBytes
                                     : problem.values[value].bytes;

  // Sums over time by differences; they wrap around, the sums don't.
  std::vector<uint64_t> changes(end + 2, 0);
  auto occupy = [&](uint64_t bytes, int64_t first, int64_t last) {
    changes[first] += bytes;
    changes[last + 1] -= bytes;
  };
  // Bits are there from where their value is made, which goes when the forward
  // part has read it; no reader takes its memory before it is packed.
  for (uint32_t value : plan.encoded) {
    TensorLife &life = lives[value];
    if (!isStashed[value] || life.first < 0)
      continue;
    occupy(problem.values[value].encodedBytes, life.first, life.lastLate);
    occupy(step.bytes(value), life.first,
           std::max(life.first, life.lastEarly));
    life = TensorLife();
  }
  for (const Overwrite &overwrite : overwrites) {
    TensorLife &life = lives[overwrite.input];
    bool isFree = life.last == overwrite.place && !life.isTaken;
    if (!isFree || lives[overwrite.result].isPlaced)
      continue;
    life.isTaken = true;
    lives[overwrite.result].isPlaced = true;
  }
  for (uint32_t tensor = 0; tensor < lives.size(); ++tensor) {
    const TensorLife &life = lives[tensor];
    if (life.first >= 0)
      occupy(step.bytes(tensor), life.first, life.last - life.isTaken);
  }
  uint64_t live = 0;
  for (int64_t i = 0; i <= end; ++i) {
    live += changes[i];
    if (live > figures.peakBytes) {
      figures.peakBytes = live;
      figures.peakOp = i < end ? opAt[i] : opAt.empty() ? 0 : opAt.back();
    }
  }
  return figures;
}

RematFigures mlir::echo::planning::measureRemat(const RematProblem &problem,
                                                const RematPlan &plan) {
  return measureRemat(RematIndex(problem), plan);
}

RematComparison mlir::echo::planning::compareRemat(const RematProblem &problem,
                                                   const RematPlan &plan) {
  RematIndex index(problem);
  return {measureRemat(index, RematPlan()), measureRemat(index, plan)};
}

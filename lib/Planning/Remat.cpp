//===- Remat.cpp - Strategies of rematerialization ------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Remat.h"
#include "RematIndex.h"
#include <algorithm>
#include <cmath>

using namespace mlir::echo::planning;

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

/// Chen et al., "Training Deep Nets with Sublinear Memory Cost", as MXNet's
/// mirror option has it: everything cheap is recomputed, whatever it costs in
/// stashed inputs, but every 100th op. The gradient of a heavy op, which isn't
/// recomputed, reads the original values.
static RematPlan planMirror(const RematIndex &index) {
  constexpr unsigned kSegment = 100;
  const RematProblem &problem = index.problem;
  RematChoice choice;
  choice.recomputed.assign(problem.ops.size(), false);
  choice.reasons.assign(problem.ops.size(), RematReason::Excluded);
  unsigned count = 0;
  for (uint32_t op = 0; op < problem.ops.size(); ++op) {
    if (index.isLate(op) || index.isView[op])
      continue;
    bool isSegmentEnd = ++count % kSegment == 0;
    choice.recomputed[op] =
        index.isCandidate(op) && problem.ops[op].isMirrored && !isSegmentEnd;
  }
  choice.readsOriginals = [&](uint32_t op) { return problem.ops[op].isHeavy; };
  RematPlan plan = makeRematPlan(index, choice);
  explainRemat(index, choice, plan);
  return plan;
}

static RematPlan planNone(const RematIndex &index) {
  const RematProblem &problem = index.problem;
  RematChoice choice;
  choice.recomputed.assign(problem.ops.size(), false);
  choice.reasons.assign(problem.ops.size(), RematReason::Strategy);
  RematPlan plan;
  explainRemat(index, choice, plan);
  for (RematDecision &decision : plan.decisions)
    decision.reason = RematReason::Strategy;
  return plan;
}

const std::vector<RematStrategy> &mlir::echo::planning::rematStrategies() {
  static const std::vector<RematStrategy> strategies = {
      {"none", "keep every value that the backward part reads"},
      {"mirror", "recompute all that isn't compute-heavy, as Chen et al. do"},
      {"echo-paper", "Algorithm 1 of the Echo paper to the letter"},
      {"echo", "Algorithm 1 with the extensions of docs/remat.md"}};
  return strategies;
}

bool mlir::echo::planning::planRemat(const RematProblem &problem,
                                     std::string_view name, RematPlan &plan) {
  RematIndex index(problem);
  if (name == "none")
    plan = planNone(index);
  else if (name == "mirror")
    plan = planMirror(index);
  else if (name == "echo-paper")
    plan = planEcho(index, EchoOptions::paper());
  else if (name == "echo")
    plan = planEcho(index, EchoOptions());
  else
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool fail(std::string &error, std::string message) {
  error = std::move(message);
  return false;
}

static std::string nameOp(uint32_t op) { return "op " + std::to_string(op); }
static std::string nameValue(uint32_t value) {
  return "value " + std::to_string(value);
}

/// Bytes that can be added up twice, for originals and clones.
static constexpr uint64_t kMaxBytes = uint64_t(1) << 62;

static bool addBytes(uint64_t &sum, uint64_t bytes) {
  if (bytes > kMaxBytes - sum)
    return false;
  sum += bytes;
  return true;
}

/// What planFusion relies on.
static bool checkFusionShape(const RematOp &op, uint32_t index,
                             std::string &error) {
  constexpr uint32_t kMaxWeight = 1u << 20;
  if (!op.readBytes.empty() && op.readBytes.size() != op.inputs.size())
    return fail(error, nameOp(index) + " has " +
                           std::to_string(op.inputs.size()) +
                           " inputs, but says what it reads of " +
                           std::to_string(op.readBytes.size()));
  if (!op.fusion)
    return true;
  const FusionShape &shape = *op.fusion;
  if (shape.reads.size() != op.inputs.size() ||
      shape.writes.size() != op.results.size())
    return fail(error, nameOp(index) + " has " +
                           std::to_string(op.inputs.size()) + " inputs and " +
                           std::to_string(op.results.size()) +
                           " results, its fusion shape " +
                           std::to_string(shape.reads.size()) + " reads and " +
                           std::to_string(shape.writes.size()) + " writes");
  bool isDivided = shape.columns != 0 && shape.outer != 0 &&
                   shape.reduced != 0 && shape.elements % shape.columns == 0 &&
                   shape.elements % shape.outer == 0 &&
                   shape.elements / shape.outer % shape.reduced == 0;
  for (const FusionAccess &read : shape.reads)
    isDivided &= read.columns != 0;
  if (!isDivided)
    return fail(error, nameOp(index) +
                           " has a fusion shape whose elements aren't a "
                           "multiple of what they are divided into");
  if (shape.weight > kMaxWeight)
    return fail(error, nameOp(index) + " has a fusion shape of weight " +
                           std::to_string(shape.weight) + ", more than 2^20");
  return true;
}

bool mlir::echo::planning::checkRematProblem(const RematProblem &problem,
                                             std::string &error) {
  if (!(problem.memoryBandwidth >= 0 && problem.launchSeconds >= 0) ||
      !std::isfinite(problem.memoryBandwidth) ||
      !std::isfinite(problem.launchSeconds))
    return fail(error, "the step is for a device of " +
                           std::to_string(problem.memoryBandwidth) +
                           " bytes per second and launches of " +
                           std::to_string(problem.launchSeconds) + " seconds");
  size_t numValues = problem.values.size();
  if (numValues >= kNoIndex || problem.ops.size() >= kNoIndex)
    return fail(error, "the step has 2^32 - 1 values or ops or more");
  std::vector<bool> isResult(numValues, false);
  for (uint32_t op = 0; op < problem.ops.size(); ++op) {
    for (uint32_t value : problem.ops[op].results) {
      if (value >= numValues)
        return fail(error, nameOp(op) + " has the result " +
                               std::to_string(value) + ", but there are " +
                               std::to_string(numValues) + " values");
      if (isResult[value])
        return fail(error, nameValue(value) + " is a result of two ops");
      isResult[value] = true;
    }
    if (!(problem.ops[op].seconds >= 0) ||
        !std::isfinite(problem.ops[op].seconds))
      return fail(error, nameOp(op) + " takes " +
                             std::to_string(problem.ops[op].seconds) +
                             " seconds");
    if (!checkFusionShape(problem.ops[op], op, error))
      return false;
  }
  // What is known before an op: inputs of the step, and results so far.
  std::vector<bool> isKnown(numValues);
  for (uint32_t value = 0; value < numValues; ++value)
    isKnown[value] = !isResult[value];
  auto checkSource = [&](const RematOp &op, uint32_t value) {
    uint32_t source = problem.values[value].source;
    if (source == kNoIndex)
      return true;
    if (source >= numValues || source == value || !isKnown[source])
      return fail(error, nameValue(value) + " is a view of value " +
                             std::to_string(source) +
                             ", which isn't there before it");
    if (problem.values[value].bytes != 0)
      return fail(error,
                  nameValue(value) + " is a view, but takes memory of its own");
    if (!op.isRepeatable)
      return fail(error,
                  nameValue(value) + " is a view, but can't be made again");
    return true;
  };
  uint64_t sum = 0;
  for (uint32_t value = 0; value < numValues; ++value) {
    const RematValue &current = problem.values[value];
    if (!addBytes(sum, current.bytes) ||
        (current.encodedBytes != RematValue::kNoBits &&
         !addBytes(sum, current.encodedBytes)))
      return fail(error, "the values take more than 2^62 bytes together");
    if (!isResult[value] && current.source != kNoIndex)
      return fail(error, nameValue(value) + " is a view that no op makes");
  }
  for (uint32_t op = 0; op < problem.ops.size(); ++op) {
    for (uint32_t value : problem.ops[op].inputs)
      if (value >= numValues || !isKnown[value])
        return fail(error, nameOp(op) + " reads value " +
                               std::to_string(value) +
                               ", which isn't there before it");
    for (uint32_t value : problem.ops[op].results)
      if (!checkSource(problem.ops[op], value))
        return false;
    for (uint32_t value : problem.ops[op].results)
      isKnown[value] = true;
  }
  for (uint32_t value : problem.outputs)
    if (value >= numValues)
      return fail(error, "the step has the output " + std::to_string(value) +
                             ", but there are " + std::to_string(numValues) +
                             " values");
  std::vector<bool> isLate(numValues, false);
  for (uint32_t op = 0; op < problem.ops.size(); ++op) {
    const RematOp &current = problem.ops[op];
    bool isBackward = current.part == RematPart::Backward;
    for (uint32_t value : current.inputs)
      if (current.part == RematPart::Forward && isLate[value])
        return fail(error, nameOp(op) + " is of the forward part, but reads " +
                               nameValue(value) + " of the backward part");
    for (uint32_t value : current.results)
      isLate[value] = isBackward;
  }
  return true;
}

/// Nothing but late ops has to do with bits.
static bool checkEncoded(const RematProblem &problem, const RematPlan &plan,
                         std::string &error) {
  RematIndex index(problem);
  std::vector<bool> isEncoded(problem.values.size(), false);
  for (uint32_t value : plan.encoded) {
    if (index.root[value] != value || index.earlyProducer(value) == kNoIndex ||
        index.isOutput[value])
      return fail(error, "the plan encodes " + nameValue(value) +
                             ", which isn't made for the step alone by an op "
                             "of the forward part");
    isEncoded[value] = true;
  }
  for (uint32_t i = 0; i < plan.clones.size(); ++i) {
    const RematClone &clone = plan.clones[i];
    const std::vector<uint32_t> &inputs = problem.ops[clone.op].inputs;
    for (size_t k = 0; k < inputs.size(); ++k)
      if (clone.inputs[k] == kNoIndex && isEncoded[index.root[inputs[k]]])
        return fail(error, "clone " + std::to_string(i) + " reads " +
                               nameValue(inputs[k]) +
                               ", which is stashed as bits");
  }
  return true;
}

bool mlir::echo::planning::checkRematPlan(const RematProblem &problem,
                                          const RematPlan &plan,
                                          std::string &error) {
  std::vector<uint32_t> producer(problem.values.size(), kNoIndex);
  for (uint32_t op = 0; op < problem.ops.size(); ++op)
    for (uint32_t value : problem.ops[op].results)
      producer[value] = op;
  auto hasResult = [&](uint32_t clone, uint32_t value) {
    return producer[value] == plan.clones[clone].op;
  };
  uint64_t sum = 0;
  for (uint32_t i = 0; i < plan.clones.size(); ++i) {
    const RematClone &clone = plan.clones[i];
    std::string name = "clone " + std::to_string(i);
    if (clone.op >= problem.ops.size() || clone.before >= problem.ops.size() ||
        clone.op >= clone.before)
      return fail(error, name + " isn't of an op that runs before its place");
    const RematOp &op = problem.ops[clone.op];
    if (op.part == RematPart::Backward || !op.isRepeatable)
      return fail(error, name + " is of " + nameOp(clone.op) +
                             ", which isn't a repeatable op of the forward "
                             "part");
    if (problem.ops[clone.before].part != RematPart::Backward)
      return fail(error, name + " runs before " + nameOp(clone.before) +
                             ", which isn't of the backward part");
    if (i > 0 && plan.clones[i - 1].before > clone.before)
      return fail(error, name + " runs before the one in front of it");
    if (clone.inputs.size() != op.inputs.size())
      return fail(error, name + " has " + std::to_string(clone.inputs.size()) +
                             " inputs, its op " +
                             std::to_string(op.inputs.size()));
    for (size_t k = 0; k < clone.inputs.size(); ++k)
      if (clone.inputs[k] != kNoIndex &&
          (clone.inputs[k] >= i || !hasResult(clone.inputs[k], op.inputs[k])))
        return fail(error, name + " reads input " + std::to_string(k) +
                               " from a clone that doesn't make it before");
    for (uint32_t value : op.results)
      if (!addBytes(sum, problem.values[value].bytes))
        return fail(error, "the clones take more than 2^62 bytes");
  }
  for (size_t i = 0; i < plan.reads.size(); ++i) {
    const RematRead &read = plan.reads[i];
    std::string name = "read " + std::to_string(i);
    if (read.op >= problem.ops.size() ||
        read.operand >= problem.ops[read.op].inputs.size() ||
        problem.ops[read.op].part != RematPart::Backward)
      return fail(error, name + " isn't of an operand of a backward op");
    if (i > 0 &&
        std::make_pair(plan.reads[i - 1].op, plan.reads[i - 1].operand) >=
            std::make_pair(read.op, read.operand))
      return fail(error, name + " isn't behind the one in front of it");
    if (read.clone >= plan.clones.size() ||
        plan.clones[read.clone].before > read.op ||
        !hasResult(read.clone, problem.ops[read.op].inputs[read.operand]))
      return fail(error, name + " is from a clone that doesn't make it before");
  }
  for (size_t i = 0; i < plan.encoded.size(); ++i) {
    uint32_t value = plan.encoded[i];
    if (value >= problem.values.size() ||
        problem.values[value].encodedBytes == RematValue::kNoBits)
      return fail(error, "the plan encodes value " + std::to_string(value) +
                             ", whose readers need more than bits");
    if (i > 0 && plan.encoded[i - 1] >= value)
      return fail(error, "the encoded values aren't ascending");
  }
  return plan.encoded.empty() || checkEncoded(problem, plan, error);
}

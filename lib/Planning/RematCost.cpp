//===- RematCost.cpp - Kernels and time of a step under a plan ------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Cost.h"
#include "Echo/Planning/RematReport.h"
#include "FusionTraffic.h"
#include "RematStep.h"
#include <algorithm>

using namespace mlir::echo::planning;

namespace {

/// The step under a plan as ops to put into kernels. Values are the step's
/// tensors, and behind them the bits of encoded ones.
class StepFusion {
public:
  StepFusion(const RematIndex &index, const RematPlan &plan)
      : index(index), problem(index.problem), plan(plan), step(index, plan) {
    uint32_t numTensors = problem.values.size();
    for (const RematClone &clone : plan.clones)
      for (uint32_t value : problem.ops[clone.op].results)
        numTensors += problem.values[value].source == kNoIndex;
    bitsOf.assign(problem.values.size(), kNoIndex);
    for (size_t i = 0; i < plan.encoded.size(); ++i)
      bitsOf[plan.encoded[i]] = numTensors + i;
  }

  void build() {
    step.walk([&](const Evaluation &evaluation) { add(evaluation); });
    for (uint32_t value : step.values)
      fusion.bytes.push_back(problem.values[value].bytes);
    for (uint32_t value : plan.encoded)
      fusion.bytes.push_back(problem.values[value].encodedBytes);
    for (uint32_t value = 0; value < problem.values.size(); ++value)
      if (problem.values[value].isResident && index.root[value] == value &&
          index.producer[value] != kNoIndex)
        fusion.updates.push_back(value);
    // What is there at the end is written to memory.
    FusionOp &end = fusion.ops.emplace_back();
    end.shape.kind = FusionClass::Host;
    for (uint32_t value : problem.outputs)
      end.reads.push_back({index.root[value], FusionAccess()});
    flops.push_back(0);
  }

  FusionProblem fusion;
  std::vector<uint64_t> flops;  ///< by op of `fusion`
  std::vector<uint32_t> clones; ///< ops of `fusion`, those in kernels
  double callSeconds = 0;       ///< of what isn't in kernels

private:
  void add(const Evaluation &evaluation) {
    if (index.isView[evaluation.op])
      return;
    const RematOp &op = problem.ops[evaluation.op];
    bool isClone = evaluation.clone != kNoIndex;
    bool isLate = isClone || index.isLate(evaluation.op);
    bool isHost =
        op.isHeavy || !op.fusion || op.fusion->kind == FusionClass::Host;
    FusionOp &entry = fusion.ops.emplace_back();
    flops.push_back(isHost ? 0 : op.flops);
    if (isHost) {
      entry.shape.kind = FusionClass::Host;
      callSeconds += op.seconds;
    } else {
      entry.shape = *op.fusion;
      entry.shape.reads.clear();
      entry.shape.writes.clear();
      // Kernels are limited by weight.
      entry.shape.weight = std::max<uint32_t>(entry.shape.weight, 1);
    }
    if (isClone && !isHost)
      clones.push_back(fusion.ops.size() - 1);
    for (size_t i = 0; i < evaluation.reads.size(); ++i) {
      uint32_t tensor = evaluation.reads[i];
      if (isLate && !step.isClone(tensor) && bitsOf[tensor] != kNoIndex)
        tensor = bitsOf[tensor];
      FusionRead &read = entry.reads.emplace_back();
      read.value = tensor;
      if (isHost)
        continue;
      read.access = op.fusion->reads[i];
      if (!op.readBytes.empty())
        read.bytes = op.readBytes[i];
    }
    if (isClone)
      addOrder(entry, plan.clones[evaluation.clone].before);
    size_t next = 0;
    for (size_t r = 0; r < op.results.size(); ++r) {
      if (problem.values[op.results[r]].source != kNoIndex)
        continue;
      uint32_t tensor = evaluation.results[next++];
      FusionWrite write = isHost ? FusionWrite::Other : op.fusion->writes[r];
      bool isEncoded = !isClone && bitsOf[tensor] != kNoIndex;
      // Bits alone are written where nobody else reads the value.
      if (!isEncoded || !index.earlyReaders(tensor).empty() ||
          index.isOutput[tensor])
        addResult(entry, tensor, write);
      if (isEncoded)
        addResult(entry, bitsOf[tensor], write);
    }
    if (index.isLate(evaluation.op) && !evaluation.results.empty())
      lastLate = evaluation.results.front();
  }

  static void addResult(FusionOp &entry, uint32_t tensor, FusionWrite write) {
    entry.results.push_back(tensor);
    entry.shape.writes.push_back(write);
  }

  /// A clone isn't computed before what its first late reader waits for is.
  void addOrder(FusionOp &entry, uint32_t before) {
    uint32_t after = lastLate;
    for (uint32_t input : problem.ops[before].inputs) {
      uint32_t producer = index.producer[index.root[input]];
      if (producer != kNoIndex && index.isLate(producer)) {
        after = index.root[input];
        break;
      }
    }
    if (after != kNoIndex)
      entry.reads.push_back({after, {FusionAccess::Order, 1}});
  }

  const RematIndex &index;
  const RematProblem &problem;
  const RematPlan &plan;
  PlannedStep step;
  std::vector<uint32_t> bitsOf; ///< by value
  uint32_t lastLate = kNoIndex; ///< a result of the last backward op
};

} // namespace

RematKernels mlir::echo::planning::modelKernels(const RematProblem &problem,
                                                const RematPlan &plan,
                                                const Device &device) {
  RematIndex index(problem);
  StepFusion step(index, plan);
  step.build();
  FusionPlan kernels = planFusion(step.fusion);
  std::vector<uint64_t> traffic = trafficOfKernels(step.fusion, kernels);
  RematKernels result;
  result.seconds = step.callSeconds;
  for (size_t kernel = 0; kernel < kernels.kernels.size(); ++kernel) {
    KernelCost cost;
    for (uint32_t op : kernels.kernels[kernel]) {
      uint64_t room = ~uint64_t(0) - cost.flops;
      cost.flops += std::min(step.flops[op], room);
    }
    cost.bytesRead = traffic[kernel];
    result.bytes += traffic[kernel];
    result.seconds += secondsOf(device, cost);
  }
  std::vector<bool> isWritten = valuesWrittenByKernels(step.fusion, kernels);
  for (uint32_t clone : step.clones) {
    const std::vector<uint32_t> &results = step.fusion.ops[clone].results;
    result.clonesWithReaders +=
        std::none_of(results.begin(), results.end(),
                     [&](uint32_t value) { return isWritten[value]; });
  }
  return result;
}

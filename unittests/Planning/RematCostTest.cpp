//===- RematCostTest.cpp - Time of a step under a plan --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Cost.h"
#include "Echo/Planning/RematReport.h"
#include "gtest/gtest.h"

using namespace mlir::echo::planning;

namespace {

constexpr FusionAccess same = {FusionAccess::Same, 1};
constexpr FusionAccess any = {FusionAccess::Any, 1};

/// Round numbers: 1 Tflop/s, 100 GB/s of which 80 reach a kernel, 2 us a
/// launch. So 4 MB take 50 us, and a million flops 1 us.
Device makeDevice() {
  Device device;
  device.vectorRate = {1e12, 1e12, 1e12, 1e12};
  device.matrixRate = device.vectorRate;
  device.memoryBandwidth = 100e9;
  device.memoryEfficiency = 0.8;
  device.launchSeconds = 2e-6;
  return device;
}

constexpr double us = 1e-6;
constexpr uint64_t kElements = 1'000'000, kBytes = 4 * kElements;

struct Step {
  uint32_t value(uint64_t bytes) {
    problem.values.emplace_back().bytes = bytes;
    return problem.values.size() - 1;
  }
  /// A library call of 10 us.
  uint32_t call(std::vector<uint32_t> inputs, RematPart part,
                uint64_t bytes = kBytes) {
    RematOp &op = problem.ops.emplace_back();
    op.inputs = std::move(inputs);
    op.results = {value(bytes)};
    op.part = part;
    op.seconds = 10 * us;
    op.isHeavy = true;
    return op.results[0];
  }
  /// A flop for each of a million elements.
  uint32_t pointwise(std::vector<uint32_t> inputs,
                     std::vector<FusionAccess> reads, RematPart part) {
    RematOp &op = problem.ops.emplace_back();
    op.inputs = std::move(inputs);
    op.results = {value(kBytes)};
    op.part = part;
    op.seconds = 1; // as a kernel of its own; it is never one
    op.flops = kElements;
    FusionShape &shape = op.fusion.emplace();
    shape.kind = FusionClass::Pointwise;
    shape.elements = kElements;
    shape.reads = std::move(reads);
    shape.writes = {FusionWrite::Same};
    return op.results[0];
  }
  RematKernels kernels(const RematPlan &plan = {}) const {
    std::string error;
    EXPECT_TRUE(checkRematProblem(problem, error)) << error;
    EXPECT_TRUE(checkRematPlan(problem, plan, error)) << error;
    return modelKernels(problem, plan, makeDevice());
  }
  double seconds(const RematPlan &plan = {}) const {
    return kernels(plan).seconds;
  }
  RematProblem problem;
};

constexpr RematPart forward = RematPart::Forward,
                    backward = RematPart::Backward;

/// A branch of attention: y = tanh(keys + query), with 40 kB of queries that
/// are broadcast. `lateCall` reads y in the backward part: a library call, or
/// tanh's gradient, in a kernel.
struct Branch : Step {
  explicit Branch(bool isReadByCall) {
    uint32_t keys = call({value(8)}, forward);                     // op 0
    uint32_t query = call({value(8)}, forward, 40'000);            // op 1
    uint32_t sum = pointwise({keys, query}, {same, any}, forward); // op 2
    uint32_t y = pointwise({sum}, {same}, forward);                // op 3
    uint32_t loss = call({y}, forward, 4);                         // op 4
    uint32_t dy = call({loss}, backward);                          // op 5
    uint32_t last = isReadByCall ? call({dy, y}, backward)         // op 6
                                 : pointwise({dy, y}, {same, same}, backward);
    problem.outputs = {loss, last};
  }
  /// Both ops again in front of op 6.
  RematPlan again() const {
    RematPlan plan;
    plan.clones = {{2, 6, {kNoIndex, kNoIndex}}, {3, 6, {0}}};
    plan.reads = {{6, 1, 1}};
    return plan;
  }
};

// The add and tanh are one kernel: 4 MB + 40 kB in, 4 MB out, 50 + 0.5 + 50 us
// and a launch, over which 2 us of arithmetic don't show. So is the gradient: 8
// MB in, 4 out. With the clones it reads keys and query for y: 0.5 us more.
// They move nothing else, though they are two more evaluations.
TEST(RematCostTest, ACloneInItsReadersKernelMovesNoBytes) {
  Branch step(/*isReadByCall=*/false);
  double calls = 4 * 10 * us;
  double forwardKernel = 2 * us + 50 * us + 0.5 * us + 50 * us;
  EXPECT_NEAR(step.seconds(), calls + forwardKernel + 2 * us + 150 * us, 1e-12);
  EXPECT_NEAR(step.seconds(step.again()),
              calls + forwardKernel + 2 * us + 150 * us + 0.5 * us, 1e-12);
  EXPECT_EQ(step.kernels().bytes, 8'040'000u + 12'000'000u);
  EXPECT_EQ(step.kernels(step.again()).bytes, 8'040'000u + 12'040'000u);
  EXPECT_EQ(step.kernels().clonesWithReaders, 0u);
  EXPECT_EQ(step.kernels(step.again()).clonesWithReaders, 2u);
}

// Its flops count: at a flop a nanosecond for every element of the three ops.
TEST(RematCostTest, ACloneCostsItsFlops) {
  Branch step(/*isReadByCall=*/false);
  double before = step.seconds();
  // 400 Mflop an op. Forward: 800 us instead of 100.5; the gradient's kernel
  // was 400 us and is 1200 us with the clones.
  for (RematOp &op : step.problem.ops)
    op.flops *= 400;
  double slow = step.seconds();
  EXPECT_NEAR(slow - before, (800 - 100.5) * us + (400 - 150) * us, 1e-12);
  EXPECT_NEAR(step.seconds(step.again()) - slow, 800 * us, 1e-12);
}

// A library call reads y from memory: the clones are a kernel that writes it,
// another forward kernel.
TEST(RematCostTest, ACloneForALibraryCallMovesItsBytes) {
  Branch step(/*isReadByCall=*/true);
  double calls = 5 * 10 * us;
  double forwardKernel = 2 * us + 50 * us + 0.5 * us + 50 * us;
  EXPECT_NEAR(step.seconds(), calls + forwardKernel, 1e-12);
  EXPECT_NEAR(step.seconds(step.again()), calls + 2 * forwardKernel, 1e-12);
  // The sum alone isn't in memory.
  EXPECT_EQ(step.kernels(step.again()).clonesWithReaders, 1u);
}

// Without a fusion shape an op takes its seconds, and a clone of it again.
TEST(RematCostTest, OpsOfUnknownShapeTakeTheirSeconds) {
  Branch step(/*isReadByCall=*/true);
  for (RematOp &op : step.problem.ops)
    op.fusion.reset();
  EXPECT_NEAR(step.seconds(), 2 + 50 * us, 1e-12);
  EXPECT_NEAR(step.seconds(step.again()), 4 + 50 * us, 1e-12);
}

// Dropout: y = x * mask in one kernel, and dx = dy * mask. The mask takes 4 MB,
// 50 us, where it is written and where it is read, its bits 125 kB, 1.5625 us.
TEST(RematCostTest, EncodedValuesMoveTheirBits) {
  Step step;
  uint32_t x = step.call({step.value(8)}, forward);
  uint32_t mask = step.pointwise({x}, {same}, forward);
  uint32_t y = step.pointwise({x, mask}, {same, same}, forward);
  uint32_t loss = step.call({y}, forward, 4); // op 3
  uint32_t dy = step.call({loss}, backward);
  uint32_t dx = step.pointwise({dy, mask}, {same, same}, backward);
  step.problem.outputs = {loss, dx};
  step.problem.values[mask].encodedBytes = 125'000;
  double calls = 3 * 10 * us;
  // x in, the mask and y out; dy and the mask in, dx out.
  EXPECT_NEAR(step.seconds(), calls + 2 * us + 150 * us + 2 * us + 150 * us,
              1e-12);
  RematPlan plan;
  plan.encoded = {mask};
  double bits = 1.5625 * us;
  EXPECT_NEAR(step.seconds(plan),
              calls + 2 * us + 100 * us + bits + 2 * us + 100 * us + bits,
              1e-12);
  // A forward reader in another place needs the value as well.
  step.problem.ops[3].inputs.push_back(mask);
  EXPECT_NEAR(step.seconds(plan),
              calls + 2 * us + 150 * us + bits + 2 * us + 100 * us + bits,
              1e-12);
}

// A slice of a large tensor is a view: its reader reads the slice's bytes of
// the tensor, 1 MB.
TEST(RematCostTest, ViewsAreReadWhereTheyAre) {
  Step step;
  uint32_t whole = step.call({step.value(8)}, forward);
  uint32_t slice = step.call({whole}, forward, 0);
  step.problem.values[slice].source = whole;
  step.problem.ops.back().isHeavy = false;
  uint32_t y = step.pointwise({slice}, {any}, forward);
  RematOp &op = step.problem.ops.back();
  op.readBytes = {kBytes / 4};
  step.problem.outputs = {y};
  EXPECT_NEAR(step.seconds(), 10 * us + 2 * us + 12.5 * us + 50 * us, 1e-12);
}

} // namespace

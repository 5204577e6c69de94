//===- RematTest.cpp - What is stashed and what is computed again ---------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RematGraphs.h"
#include "gtest/gtest.h"
#include <chrono>
#include <random>

using namespace mlir::echo::planning;

namespace {

using Ops = std::vector<uint32_t>;

RematPlan planWith(const RematProblem &problem, std::string_view strategy) {
  std::string error;
  EXPECT_TRUE(checkRematProblem(problem, error)) << error;
  RematPlan plan;
  EXPECT_TRUE(planRemat(problem, strategy, plan));
  EXPECT_TRUE(checkRematPlan(problem, plan, error)) << error;
  return plan;
}

/// The recomputed ops, ascending.
Ops recomputed(const RematPlan &plan) {
  Ops ops;
  for (const RematClone &clone : plan.clones)
    ops.push_back(clone.op);
  std::sort(ops.begin(), ops.end());
  return ops;
}

uint64_t stash(const RematProblem &problem, std::string_view strategy) {
  return measureRemat(problem, planWith(problem, strategy)).featureMapBytes;
}

constexpr uint64_t N = 1000;

/// For the strategies that look at the footprint.
class FootprintTest : public testing::TestWithParam<const char *> {};

// Figure 7: Z = tanh(X + Y), all of N. The gradient of tanh reads Z.
// Recomputing both would stash X and Y, 2 N, instead of Z, N.
TEST_P(FootprintTest, Figure7AddTanh) {
  TrainingGraph graph;
  uint32_t sum =
      graph.op({graph.input(N), graph.input(N)}, N, TrainingGraph::Nothing);
  const RematProblem &problem = graph.finish({graph.op({sum}, N)});
  RematPlan plan = planWith(problem, GetParam());
  EXPECT_EQ(recomputed(plan), Ops());
  EXPECT_EQ(measureRemat(problem, plan).featureMapBytes, N);
}

// Figures 11 and 12: fc(x) + fc(y), then tanh. The fully-connected layers' own
// gradients read x and y (N each), which are stashed whatever happens. The add
// is taken off since N + N >= N, then tanh since N >= N.
TEST_P(FootprintTest, Figure11FullyConnectedAddTanh) {
  TrainingGraph graph;
  uint32_t x = graph.input(N), y = graph.input(N);
  uint32_t u = graph.heavy({x, graph.parameter(N)}, N);
  uint32_t v = graph.heavy({y, graph.parameter(N)}, N);
  uint32_t sum = graph.op({u, v}, N, TrainingGraph::Nothing);
  const RematProblem &problem = graph.finish({graph.op({sum}, N)});
  RematPlan plan = planWith(problem, GetParam());
  EXPECT_EQ(recomputed(plan), Ops());
  EXPECT_EQ(measureRemat(problem, plan).featureMapBytes, 3 * N);
}

// Figures 8 and 13: T tensors of N, broadcast-added to one of T x N, then tanh.
// Stashed are T outputs of T x N, or the shared tensor and the T queries:
// T N + T N < T T N. The layers that compute them are heavy.
TEST_P(FootprintTest, Figure13Attention) {
  constexpr uint64_t T = 50;
  TrainingGraph graph;
  uint32_t keys = graph.heavy({graph.input(1), graph.parameter(N)}, T * N);
  Ops expected;
  std::vector<uint32_t> outputs;
  for (uint64_t t = 0; t < T; ++t) {
    uint32_t query = graph.heavy({graph.input(1), graph.parameter(N)}, N);
    uint32_t sum = graph.op({keys, query}, T * N, TrainingGraph::Nothing);
    outputs.push_back(graph.op({sum}, T * N));
    expected.push_back(graph.opOf(sum));
    expected.push_back(graph.opOf(outputs.back()));
  }
  const RematProblem &problem = graph.finish(outputs);
  RematPlan plan = planWith(problem, GetParam());
  EXPECT_EQ(recomputed(plan), expected);
  // The heavy layers' own inputs, 1 each, come on top.
  EXPECT_EQ(measureRemat(problem, plan).featureMapBytes, 2 * T * N + T + 1);
  EXPECT_EQ(stash(problem, "none"), T * T * N + T + 1);
}

// The same with T = 1: N + N >= N, nothing is recomputed.
TEST_P(FootprintTest, Figure13AttentionOverOneStep) {
  TrainingGraph graph;
  uint32_t keys = graph.heavy({graph.input(1), graph.parameter(N)}, N);
  uint32_t query = graph.heavy({graph.input(1), graph.parameter(N)}, N);
  uint32_t sum = graph.op({keys, query}, N, TrainingGraph::Nothing);
  const RematProblem &problem = graph.finish({graph.op({sum}, N)});
  EXPECT_EQ(recomputed(planWith(problem, GetParam())), Ops());
}

// Figure 14: fc(tanh(tanh(x))), where x comes from a product. Both gradients of
// tanh read outputs, that of fc its input. The first tanh is taken off (N >=
// N); then its output is read by its own gradient whatever happens, so that
// recomputing the second costs nothing and releases N. fc isn't recomputed, and
// its gradient reads the recomputed tanh.
TEST_P(FootprintTest, Figure14FullyConnected) {
  TrainingGraph graph;
  uint32_t x = graph.heavy({graph.input(N), graph.parameter(N)}, N);
  uint32_t first = graph.op({x}, N);
  uint32_t second = graph.op({first}, N);
  uint32_t y = graph.heavy({second, graph.parameter(N)}, N);
  const RematProblem &problem = graph.finish({y});
  RematPlan plan = planWith(problem, GetParam());
  EXPECT_EQ(recomputed(plan), Ops{graph.opOf(second)});
  // The input of the step, and the first tanh.
  EXPECT_EQ(measureRemat(problem, plan).featureMapBytes, 2 * N);
  bool readsClone = false;
  for (const RematRead &read : plan.reads)
    readsClone |= problem.ops[read.op].isHeavy &&
                  problem.ops[read.op].inputs[read.operand] == second;
  EXPECT_TRUE(readsClone);
}

INSTANTIATE_TEST_SUITE_P(Strategies, FootprintTest,
                         testing::Values("echo-paper", "echo"), [](auto &info) {
                           return std::string(info.param) == "echo"
                                      ? "Echo"
                                      : "EchoPaper";
                         });

// Figure 6: a chain of four ops whose gradients read their outputs: one stash,
// of the chain's input, instead of four. The figure shows recomputation of all
// four, which is what mirror does; the first op is no gain (its input is as
// large as its output) and the paper's Algorithm 1 takes it off.
TEST(RematTest, Figure6Chain) {
  TrainingGraph graph;
  uint32_t value = graph.input(N);
  Ops ops;
  for (int i = 0; i < 4; ++i) {
    value = graph.op({value}, N);
    ops.push_back(graph.opOf(value));
  }
  const RematProblem &problem = graph.finish({value});
  EXPECT_EQ(stash(problem, "none"), 4 * N);
  RematPlan mirror = planWith(problem, "mirror");
  EXPECT_EQ(recomputed(mirror), ops);
  EXPECT_EQ(measureRemat(problem, mirror).featureMapBytes, N);
  for (const char *strategy : {"echo-paper", "echo"}) {
    RematPlan plan = planWith(problem, strategy);
    EXPECT_EQ(recomputed(plan), Ops(ops.begin() + 1, ops.end()));
    EXPECT_EQ(measureRemat(problem, plan).featureMapBytes, N);
  }
}

// A value that a clone of mirror reads is stashed for it: fc(x), then tanh; the
// product's result N is stashed instead of tanh's N, and nothing is won.
TEST(RematTest, MirrorLooksAtNoFootprint) {
  TrainingGraph graph;
  uint32_t sum =
      graph.op({graph.heavy({graph.input(1), graph.parameter(N)}, N),
                graph.heavy({graph.input(1), graph.parameter(N)}, N)},
               N, TrainingGraph::Nothing);
  const RematProblem &problem = graph.finish({graph.op({sum}, N)});
  EXPECT_EQ(stash(problem, "none"), N + 2);
  EXPECT_EQ(stash(problem, "mirror"), 2 * N + 2);
}

// In mirror the gradient of a heavy op reads the original.
TEST(RematTest, MirrorKeepsInputsOfHeavyOps) {
  TrainingGraph graph;
  uint32_t x = graph.input(N);
  uint32_t y = graph.op({x}, N);
  const RematProblem &problem =
      graph.finish({graph.heavy({y, graph.parameter(N)}, 1)});
  RematPlan plan = planWith(problem, "mirror");
  EXPECT_EQ(recomputed(plan), Ops{graph.opOf(y)});
  EXPECT_EQ(measureRemat(problem, plan).featureMapBytes, 2 * N);
}

// A GRU's candidate: n = tanh(x_t + r * h) in T steps, where x, of all steps,
// is one tensor of T N. r and h are read by gradients of their own, so that
// taking r * h off releases nothing; behind it stashing n, N a step, instead of
// x, T N, is no loss. Nothing may be recomputed for that.
TEST(RematTest, ChainsOfFreeInputsDontStick) {
  constexpr unsigned T = 20;
  TrainingGraph graph;
  uint32_t weight = graph.parameter(N);
  uint32_t x = graph.heavy({graph.input(1), weight}, T * N);
  uint32_t h = graph.input(N);
  for (unsigned t = 0; t < T; ++t) {
    uint32_t r = graph.op({graph.heavy({h, weight}, N)}, N);
    uint32_t product = graph.op({r, h}, N, TrainingGraph::Inputs);
    uint32_t n = graph.op({x, product}, N);
    h = graph.heavy({n, weight}, N);
  }
  const RematProblem &problem = graph.finish({h});
  RematPlan plan = planWith(problem, "echo");
  EXPECT_EQ(recomputed(plan), Ops());
}

// A view is read without a copy: what reads it reads its source, and a
// recomputed source has its view again.
TEST(RematTest, ViewsFollowTheirSource) {
  constexpr uint64_t T = 50;
  TrainingGraph graph;
  uint32_t keys = graph.heavy({graph.input(1), graph.parameter(N)}, T * N);
  std::vector<uint32_t> outputs;
  for (uint64_t t = 0; t < T; ++t) {
    uint32_t query = graph.heavy({graph.input(1), graph.parameter(N)}, N);
    uint32_t sum = graph.op({keys, query}, T * N, TrainingGraph::Nothing);
    outputs.push_back(graph.op({graph.view(sum)}, T * N));
  }
  const RematProblem &problem = graph.finish(outputs);
  RematPlan plan = planWith(problem, "echo");
  RematFigures figures = measureRemat(problem, plan);
  EXPECT_EQ(plan.clones.size(), 3 * T);
  EXPECT_EQ(figures.recomputedOps, 2 * T);
  EXPECT_EQ(figures.featureMapBytes, 2 * T * N + T + 1);
}

// Ops that can't be evaluated twice stay, and what reads them reads the stash.
TEST(RematTest, UnrepeatableOpsAreStashed) {
  TrainingGraph graph;
  uint32_t value = graph.input(N);
  std::vector<uint32_t> values;
  for (int i = 0; i < 4; ++i)
    values.push_back(value = graph.op({value}, N));
  graph.problem.ops[graph.opOf(values[1])].isRepeatable = false;
  const RematProblem &problem = graph.finish({value});
  for (const char *strategy : {"mirror", "echo-paper", "echo"})
    for (const RematClone &clone : planWith(problem, strategy).clones)
      EXPECT_NE(clone.op, graph.opOf(values[1])) << strategy;
}

// A cell makes two values of a product's result, which its own gradient reads
// anyway: one for the first late op, one for a mask, whose result the second
// late op reads. The mask's clone releases N: it runs with the cell's if it
// makes no more, and in front of its reader otherwise.
TEST(RematTest, ClonesRunWithWhatTheyRead) {
  enum : uint32_t { Input, Gates, Hidden, Cell, Masked, Top, Loss, D1, D2, D3 };
  for (uint64_t made : {N, 2 * N}) {
    RematProblem problem;
    problem.values.resize(D3 + 1);
    for (uint32_t value : {Input, Loss, D1, D2, D3})
      problem.values[value].bytes = 1;
    problem.values[Gates].bytes = problem.values[Hidden].bytes = N;
    problem.values[Cell].bytes = 3 * N;
    problem.values[Masked].bytes = made;
    // Where the peak is.
    problem.values[Top].bytes = 20 * N;
    auto add = [&](std::vector<uint32_t> inputs, std::vector<uint32_t> results,
                   RematPart part, bool isHeavy = false) {
      RematOp op;
      op.inputs = std::move(inputs);
      op.results = std::move(results);
      op.part = part;
      op.isHeavy = isHeavy;
      problem.ops.push_back(op);
    };
    add({Input}, {Gates}, RematPart::Forward, /*isHeavy=*/true);
    add({Gates}, {Hidden, Cell}, RematPart::Forward);
    add({Hidden}, {Masked}, RematPart::Forward);
    add({Masked, Cell}, {Top}, RematPart::Forward);
    add({Top}, {Loss}, RematPart::Forward);
    add({Cell}, {D1}, RematPart::Backward);
    add({D1, Masked}, {D2}, RematPart::Backward);
    add({D2, Gates}, {D3}, RematPart::Backward, /*isHeavy=*/true);
    problem.outputs = {Loss, D3};
    RematPlan plan = planWith(problem, "echo");
    ASSERT_EQ(plan.clones.size(), 2u);
    EXPECT_EQ(plan.clones[0].before, 5u);
    EXPECT_EQ(plan.clones[1].op, 2u);
    EXPECT_EQ(plan.clones[1].before, made == N ? 5u : 6u);
    plan = planWith(problem, "echo-paper");
    EXPECT_EQ(plan.clones.back().before, 6u);
  }
}

// The peak by hand: x (10) -> a (20) -> b (30), each gradient reads its op's
// output. Alive while b's gradient runs: a, b, and the gradients of b and of a,
// 30 + 20; b's own gradient comes from the loss's op (30).
std::string partsOf(std::string letters) {
  RematProblem problem;
  for (char letter : letters) {
    RematOp op;
    op.part = letter == 'f'   ? RematPart::Forward
              : letter == 'b' ? RematPart::Backward
                              : RematPart::Side;
    problem.ops.push_back(op);
  }
  settleRematParts(problem);
  for (size_t i = 0; i < letters.size(); ++i)
    letters[i] = problem.ops[i].part == RematPart::Forward    ? 'f'
                 : problem.ops[i].part == RematPart::Backward ? 'b'
                                                              : 's';
  return letters;
}

TEST(RematTest, BackwardOpsAmongForwardOnesAreForward) {
  EXPECT_EQ(partsOf("ffbb"), "ffbb");
  EXPECT_EQ(partsOf("fsbfsfbbsb"), "fsffsfbbsb");
  // A loss that is finished behind the gradients doesn't make them forward.
  EXPECT_EQ(partsOf("fffbbbbff"), "fffbbbbff");
  EXPECT_EQ(partsOf("fbfffbbbbf"), "fffffbbbbf");
  EXPECT_EQ(partsOf(""), "");
  EXPECT_EQ(partsOf("bb"), "bb");
}

TEST(RematTest, PeakByHand) {
  TrainingGraph graph;
  uint32_t x = graph.parameter(10);
  uint32_t a = graph.op({x}, 20);
  uint32_t b = graph.op({a}, 30);
  const RematProblem &problem = graph.finish({b});
  RematFigures figures = measureRemat(problem, RematPlan());
  EXPECT_EQ(figures.featureMapBytes, 50u);
  // The loss (4) is an output; a and b; db (30) is read and da (20) made.
  EXPECT_EQ(figures.peakBytes, 4u + 20 + 30 + 30 + 20);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

// relu(fc(x)), summed up: the gradient of relu reads the signs of what it made,
// 3200 bytes of which 100 are enough. Taking relu off the recomputation releases
// as much as it stashes, so the value stays, as bits.
TEST(RematTest, SignsAreStashedAsBits) {
  TrainingGraph graph;
  uint32_t fc = graph.heavy({graph.input(40), graph.parameter(800)}, 3200);
  uint32_t relu = graph.op({fc}, 3200);
  graph.problem.values[relu].encodedBytes = 100;
  const RematProblem &problem = graph.finish({relu});
  RematFigures none = measureRemat(problem, RematPlan());
  EXPECT_EQ(none.featureMapBytes, 40u + 3200);
  for (const char *strategy : {"echo-paper", "echo"}) {
    RematPlan plan = planWith(problem, strategy);
    EXPECT_EQ(plan.encoded, std::vector<uint32_t>{relu}) << strategy;
    EXPECT_TRUE(plan.clones.empty()) << strategy;
    EXPECT_EQ(measureRemat(problem, plan).featureMapBytes, 40u + 100);
    for (const RematDecision &decision : plan.decisions)
      if (decision.value == relu)
        EXPECT_EQ(decision.reason, RematReason::Encoded);
  }
}

// Dropout behind relu, in front of another product: the paper always encodes the
// signs and the mask, and never takes their ops off. fc's result is stashed for
// clones of both, whose readers in the backward part read bits: 3200 + 100 + 100
// instead of 3200 of relu, 800 of the mask and 3200 of dropout. Ours recomputes
// dropout from relu's result, 3200, which therefore stays as it is.
TEST(RematTest, PaperEncodesWhatItRecomputes) {
  TrainingGraph graph;
  uint32_t fc = graph.heavy({graph.parameter(40), graph.parameter(800)}, 3200);
  uint32_t relu = graph.op({fc}, 3200);
  std::vector<uint32_t> dropout =
      graph.ops({relu}, {3200, 800}, TrainingGraph::Outputs);
  graph.problem.values[relu].encodedBytes = 100;
  graph.problem.values[dropout[1]].encodedBytes = 100;
  uint32_t out = graph.heavy({dropout[0], graph.parameter(800)}, 40);
  const RematProblem &problem = graph.finish({out});
  EXPECT_EQ(measureRemat(problem, RematPlan()).featureMapBytes,
            3200u + 800 + 3200);
  RematPlan paper = planWith(problem, "echo-paper");
  EXPECT_EQ(paper.encoded, (std::vector<uint32_t>{relu, dropout[1]}));
  EXPECT_EQ(paper.clones.size(), 2u);
  EXPECT_EQ(measureRemat(problem, paper).featureMapBytes, 3200u + 100 + 100);
  RematPlan echo = planWith(problem, "echo");
  EXPECT_TRUE(echo.encoded.empty());
  EXPECT_EQ(echo.clones.size(), 1u);
  EXPECT_EQ(measureRemat(problem, echo).featureMapBytes, 3200u);
}

// x (8) -> r (32, or 4 as bits) -> the loss (4); then a value of 100 and the
// gradient, 32, which reads r. While the gradient runs: 4 + 100 + 32, and r or
// its bits.
TEST(RematTest, BitsAreAliveFromWhereTheirValueIsMade) {
  RematProblem problem;
  problem.values.resize(5);
  const uint64_t bytes[] = {8, 32, 4, 100, 32};
  for (uint32_t value = 0; value < 5; ++value)
    problem.values[value].bytes = bytes[value];
  problem.values[1].encodedBytes = 4;
  problem.ops.resize(4);
  const std::vector<uint32_t> inputs[] = {{0}, {1}, {2}, {3, 1}};
  for (uint32_t op = 0; op < 4; ++op) {
    problem.ops[op].inputs = inputs[op];
    problem.ops[op].results = {op + 1};
    problem.ops[op].part = op < 2 ? RematPart::Forward : RematPart::Backward;
  }
  // Nothing to recompute.
  problem.ops[0].isHeavy = problem.ops[1].isHeavy = true;
  problem.outputs = {2, 4};
  RematPlan plan;
  EXPECT_EQ(measureRemat(problem, plan).peakBytes, 4u + 100 + 32 + 32);
  plan.encoded = {1};
  std::string error;
  EXPECT_TRUE(checkRematPlan(problem, plan, error)) << error;
  EXPECT_EQ(measureRemat(problem, plan).peakBytes, 4u + 100 + 4 + 32);
  // With smaller ones the peak is where r is made, and then its bits as well.
  problem.values[3].bytes = 1;
  problem.values[4].bytes = 2;
  EXPECT_EQ(measureRemat(problem, RematPlan()).peakBytes, 8u + 32);
  EXPECT_EQ(measureRemat(problem, plan).peakBytes, 8u + 32 + 4);
  // So ours leaves it.
  EXPECT_TRUE(planWith(problem, "echo").encoded.empty());
  EXPECT_EQ(planWith(problem, "echo-paper").encoded, plan.encoded);
}

TEST(RematTest, BitsAreForLateReadersAlone) {
  TrainingGraph graph;
  uint32_t x = graph.input(40);
  uint32_t relu = graph.op({x}, 3200);
  uint32_t tanh = graph.op({relu}, 3200);
  graph.problem.values[x].encodedBytes = 100;
  graph.problem.values[relu].encodedBytes = 100;
  const RematProblem &problem = graph.finish({tanh});
  RematPlan plan;
  std::string error;
  plan.encoded = {x};
  EXPECT_FALSE(checkRematPlan(problem, plan, error));
  EXPECT_EQ(error, "the plan encodes value 0, which isn't made for the step "
                   "alone by an op of the forward part");
  plan.encoded = {relu};
  EXPECT_TRUE(checkRematPlan(problem, plan, error)) << error;
  RematClone clone;
  clone.op = graph.opOf(tanh);
  clone.before = clone.op + 2; // behind the loss
  clone.inputs = {kNoIndex};
  plan.clones = {clone};
  EXPECT_FALSE(checkRematPlan(problem, plan, error));
  EXPECT_EQ(error, "clone 0 reads value 1, which is stashed as bits");
}

//===----------------------------------------------------------------------===//
// Random graphs
//===----------------------------------------------------------------------===//

TrainingGraph randomGraph(unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](unsigned limit) { return random() % limit; };
  TrainingGraph graph;
  std::vector<uint32_t> values;
  for (unsigned i = 0; i < 3; ++i)
    values.push_back(graph.input(1 + below(100)));
  unsigned numOps = 5 + below(60);
  uint32_t weight = graph.parameter(1000);
  for (unsigned i = 0; i < numOps; ++i) {
    auto pick = [&] {
      // Mostly near the end, sometimes far back: chains and shared values.
      unsigned back = below(4) ? below(3) : below(values.size());
      return values[values.size() - 1 -
                    std::min<size_t>(back, values.size() - 1)];
    };
    auto reads = static_cast<TrainingGraph::Reads>(below(4));
    switch (below(6)) {
    case 0:
      values.push_back(graph.heavy({pick(), weight}, 1 + below(200)));
      break;
    case 1:
      values.push_back(graph.view(pick()));
      break;
    case 2:
      for (uint32_t value :
           graph.ops({pick(), pick()}, {1 + below(100), 1 + below(100)}, reads))
        values.push_back(value);
      break;
    default:
      values.push_back(graph.op({pick(), pick()}, 1 + below(100), reads));
    }
    RematOp &op = graph.problem.ops.back();
    bool isView = graph.problem.values[op.results[0]].source != kNoIndex;
    op.isRepeatable = isView || below(12) != 0;
    op.overwritesInputs = below(2) != 0;
    for (uint32_t value : op.results) {
      RematValue &entry = graph.problem.values[value];
      if (!isView && below(4) == 0)
        entry.encodedBytes = entry.bytes / 32 + 1;
    }
  }
  graph.finish({values.back(), values[values.size() / 2]});
  return graph;
}

/// Evaluates a step with tensors as numbers: an op mixes what it reads. A clone
/// gives what its op gave, and no late reader sees the difference.
std::vector<uint64_t> evaluate(const RematProblem &problem,
                               const RematPlan &plan) {
  std::vector<uint64_t> values(problem.values.size());
  for (uint32_t value = 0; value < values.size(); ++value)
    values[value] = value * 0x9e3779b97f4a7c15u;
  std::vector<std::vector<uint64_t>> clones;
  auto run = [&](uint32_t op, const std::vector<uint64_t> &inputs) {
    std::vector<uint64_t> results;
    for (size_t i = 0; i < problem.ops[op].results.size(); ++i) {
      uint64_t hash = op * 31 + i;
      for (uint64_t input : inputs)
        hash = (hash ^ input) * 0x100000001b3u + 7;
      results.push_back(hash);
    }
    return results;
  };
  auto resultOf = [&](uint32_t clone, uint32_t value) {
    const RematOp &op = problem.ops[plan.clones[clone].op];
    for (size_t i = 0; i < op.results.size(); ++i)
      if (op.results[i] == value)
        return clones[clone][i];
    ADD_FAILURE() << "no such result";
    return uint64_t(0);
  };
  for (uint32_t op = 0; op < problem.ops.size(); ++op) {
    while (clones.size() < plan.clones.size() &&
           plan.clones[clones.size()].before == op) {
      const RematClone &clone = plan.clones[clones.size()];
      std::vector<uint64_t> inputs;
      for (size_t i = 0; i < clone.inputs.size(); ++i) {
        uint32_t value = problem.ops[clone.op].inputs[i];
        inputs.push_back(clone.inputs[i] == kNoIndex
                             ? values[value]
                             : resultOf(clone.inputs[i], value));
      }
      clones.push_back(run(clone.op, inputs));
    }
    std::vector<uint64_t> inputs;
    for (uint32_t i = 0; i < problem.ops[op].inputs.size(); ++i) {
      uint64_t input = values[problem.ops[op].inputs[i]];
      for (const RematRead &read : plan.reads)
        if (read.op == op && read.operand == i)
          input = resultOf(read.clone, problem.ops[op].inputs[i]);
      inputs.push_back(input);
    }
    std::vector<uint64_t> results = run(op, inputs);
    for (size_t i = 0; i < results.size(); ++i)
      values[problem.ops[op].results[i]] = results[i];
  }
  return values;
}

/// The peak, slowly: bytes alive at every op and clone, each tensor from the
/// evaluation that makes it to the last that reads it or a view of it, without
/// reuse in place. What is encoded is read by late ops as another tensor.
uint64_t slowPeak(const RematProblem &problem, const RematPlan &plan) {
  struct Tensor {
    uint64_t bytes;
    int64_t first, last;
  };
  std::vector<Tensor> tensors;
  constexpr uint32_t none = ~0u;
  std::vector<uint32_t> tensorOf(problem.values.size(), none);
  std::vector<bool> isMade(problem.values.size(), false);
  for (const RematOp &op : problem.ops)
    for (uint32_t value : op.results)
      isMade[value] = true;
  auto make = [&](uint32_t value, int64_t time) {
    const RematValue &entry = problem.values[value];
    tensors.push_back({entry.isResident ? 0 : entry.bytes, time, time});
    return uint32_t(tensors.size() - 1);
  };
  for (uint32_t value = 0; value < isMade.size(); ++value)
    if (!isMade[value])
      tensorOf[value] = make(value, 0);
  std::vector<std::vector<uint32_t>> clones;
  int64_t time = 0;
  std::vector<uint32_t> bitsOf;
  auto run = [&](uint32_t op, const std::vector<uint32_t> &inputs,
                 bool isLate) {
    std::vector<uint32_t> results;
    bool isView = true;
    for (uint32_t value : problem.ops[op].results)
      isView &= problem.values[value].source != kNoIndex;
    for (uint32_t value : problem.ops[op].results)
      results.push_back(problem.values[value].source == kNoIndex
                            ? make(value, time)
                            : inputs[0]);
    if (!isView)
      for (uint32_t input : inputs) {
        bool readsBits =
            isLate && input < bitsOf.size() && bitsOf[input] != none;
        tensors[readsBits ? bitsOf[input] : input].last = time;
      }
    for (size_t i = 0; i < results.size(); ++i) {
      uint32_t value = problem.ops[op].results[i];
      if (isLate ||
          !std::count(plan.encoded.begin(), plan.encoded.end(), value))
        continue;
      bitsOf.resize(tensors.size() + 1, none);
      bitsOf[results[i]] = tensors.size();
      tensors.push_back({problem.values[value].encodedBytes, time, -1});
    }
    ++time;
    return results;
  };
  auto resultOf = [&](uint32_t clone, uint32_t value) {
    const RematOp &op = problem.ops[plan.clones[clone].op];
    return clones[clone]
                 [std::find(op.results.begin(), op.results.end(), value) -
                  op.results.begin()];
  };
  for (uint32_t op = 0; op < problem.ops.size(); ++op) {
    while (clones.size() < plan.clones.size() &&
           plan.clones[clones.size()].before == op) {
      const RematClone &clone = plan.clones[clones.size()];
      std::vector<uint32_t> inputs;
      for (size_t i = 0; i < clone.inputs.size(); ++i) {
        uint32_t value = problem.ops[clone.op].inputs[i];
        inputs.push_back(clone.inputs[i] == kNoIndex
                             ? tensorOf[value]
                             : resultOf(clone.inputs[i], value));
      }
      clones.push_back(run(clone.op, inputs, /*isLate=*/true));
    }
    std::vector<uint32_t> inputs;
    for (uint32_t i = 0; i < problem.ops[op].inputs.size(); ++i) {
      uint32_t input = tensorOf[problem.ops[op].inputs[i]];
      for (const RematRead &read : plan.reads)
        if (read.op == op && read.operand == i)
          input = resultOf(read.clone, problem.ops[op].inputs[i]);
      inputs.push_back(input);
    }
    std::vector<uint32_t> results =
        run(op, inputs, problem.ops[op].part == RematPart::Backward);
    for (size_t i = 0; i < results.size(); ++i)
      tensorOf[problem.ops[op].results[i]] = results[i];
  }
  for (uint32_t value : problem.outputs)
    tensors[tensorOf[value]].last = time;
  uint64_t peak = 0;
  for (int64_t now = 0; now <= time; ++now) {
    uint64_t live = 0;
    for (const Tensor &tensor : tensors)
      if (tensor.first <= now && now <= tensor.last)
        live += tensor.bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

TEST(RematTest, RandomGraphs) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TrainingGraph graph = randomGraph(seed);
    RematProblem &problem = graph.problem;
    std::vector<uint64_t> expected = evaluate(problem, RematPlan());
    RematFigures none = measureRemat(problem, RematPlan());
    for (const RematStrategy &strategy : rematStrategies()) {
      SCOPED_TRACE(std::string(strategy.name));
      RematPlan plan = planWith(problem, strategy.name);
      EXPECT_EQ(evaluate(problem, plan), expected);
      RematFigures figures = measureRemat(problem, plan);
      // Algorithm 1's promise, and ours.
      if (strategy.name != "mirror" && strategy.name != "echo-paper") {
        EXPECT_LE(figures.featureMapBytes, none.featureMapBytes);
      }
      if (strategy.name == "echo") {
        EXPECT_LE(figures.peakBytes, none.peakBytes);
      }
      RematProblem separate = problem;
      for (RematOp &op : separate.ops)
        op.overwritesInputs = false;
      EXPECT_EQ(measureRemat(separate, plan).peakBytes,
                slowPeak(separate, plan));
      EXPECT_LE(figures.peakBytes, slowPeak(separate, plan));
    }
    if (HasFailure())
      return;
  }
}

} // namespace

//===- RematJsonTest.cpp - Problems and plans as JSON ---------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RematGraphs.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir::echo::planning;

namespace {

/// y = tanh(x w) with x w heavy, a mask of y, a view of it, the loss, and the
/// gradient of w; a count of the mask beside.
const char *kProblem = R"({
  "values": [
    {"name": "x", "bytes": 100},
    {"name": "w", "bytes": 40, "resident": true},
    {"name": "xw", "bytes": 80},
    {"name": "y", "bytes": 80},
    {"name": "mask", "bytes": 20, "bits": 4},
    {"name": "flat", "view_of": 3},
    {"name": "loss", "bytes": 4},
    {"name": "count", "bytes": 4},
    {"bytes": 80},
    {"name": "dw", "bytes": 40}
  ],
  "ops": [
    {"name": "product", "inputs": [0, 1], "results": [2], "seconds": 1e-3, "heavy": true},
    {"name": "tanh", "inputs": [2], "results": [3], "seconds": 1e-6, "in_place": true, "flops": 20,
     "fusion": {"class": "pointwise", "elements": 20, "weight": 8, "reads": ["same"], "writes": ["same"]}},
    {"inputs": [3], "results": [4], "seconds": 0, "repeatable": false, "mirrored": false},
    {"inputs": [3], "results": [5], "seconds": 0},
    {"name": "sum", "inputs": [5, 4], "results": [6], "seconds": 2e-6, "flops": 40,
     "fusion": {"class": "row_reduction", "elements": 20, "columns": 20,
                "reads": [{"row": 5}, "any"], "writes": ["row"]}},
    {"name": "count", "inputs": [4], "results": [7], "seconds": 0},
    {"name": "tanh gradient", "inputs": [3, 4], "results": [8], "seconds": 1e-6},
    {"name": "product gradient", "inputs": [0, 8], "results": [9], "seconds": 0.001, "heavy": true, "read_bytes": [50, 18446744073709551615]}
  ],
  "loss": 6,
  "targets": [9],
  "outputs": [6, 7, 9],
  "memory_bandwidth": 5e11,
  "launch_seconds": 1e-6
})";

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

RematProblem readProblem(const std::string &json) {
  RematProblem problem;
  std::string error;
  EXPECT_TRUE(readRematProblem(json, problem, error)) << error;
  return problem;
}

/// A failing reader leaves the problem as it was.
std::string problemError(const std::string &json) {
  RematProblem problem;
  problem.outputs = {7};
  std::string error;
  EXPECT_FALSE(readRematProblem(json, problem, error)) << json.substr(0, 1000);
  EXPECT_EQ(problem.outputs, std::vector<uint32_t>{7});
  return error;
}

std::string errorWith(const std::string &from, const std::string &to) {
  return problemError(replaced(kProblem, from, to));
}

TEST(RematJsonTest, ReadsEveryField) {
  RematProblem problem = readProblem(kProblem);
  ASSERT_EQ(problem.values.size(), 10u);
  ASSERT_EQ(problem.ops.size(), 8u);
  EXPECT_EQ(problem.outputs, (std::vector<uint32_t>{6, 7, 9}));
  EXPECT_EQ(problem.memoryBandwidth, 5e11);
  EXPECT_EQ(problem.launchSeconds, 1e-6);
  EXPECT_EQ(problem.valueNames[1], "w");
  EXPECT_EQ(problem.valueNames[8], "");
  EXPECT_EQ(problem.values[0].bytes, 100u);
  EXPECT_FALSE(problem.values[0].isResident);
  EXPECT_TRUE(problem.values[1].isResident);
  EXPECT_EQ(problem.values[4].encodedBytes, 4u);
  EXPECT_EQ(problem.values[3].encodedBytes, RematValue::kNoBits);
  EXPECT_EQ(problem.values[5].source, 3u);
  EXPECT_EQ(problem.values[5].bytes, 0u);
  EXPECT_EQ(problem.values[4].source, kNoIndex);

  const RematOp &product = problem.ops[0], &tanh = problem.ops[1];
  EXPECT_EQ(problem.opNames[0], "product");
  EXPECT_EQ(product.inputs, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(product.results, std::vector<uint32_t>{2});
  EXPECT_EQ(product.seconds, 1e-3);
  EXPECT_TRUE(product.isHeavy && product.isRepeatable && product.isMirrored);
  EXPECT_FALSE(product.overwritesInputs || product.fusion);
  EXPECT_TRUE(tanh.overwritesInputs);
  EXPECT_EQ(tanh.flops, 20u);
  ASSERT_TRUE(tanh.fusion);
  EXPECT_EQ(tanh.fusion->kind, FusionClass::Pointwise);
  EXPECT_EQ(tanh.fusion->elements, 20u);
  EXPECT_EQ(tanh.fusion->weight, 8u);
  EXPECT_FALSE(problem.ops[2].isRepeatable || problem.ops[2].isMirrored);
  const FusionShape &sum = *problem.ops[4].fusion;
  EXPECT_EQ(sum.kind, FusionClass::RowReduction);
  EXPECT_EQ(sum.columns, 20u);
  EXPECT_EQ(sum.reads, (std::vector<FusionAccess>{{FusionAccess::Row, 5},
                                                  {FusionAccess::Any, 1}}));
  EXPECT_EQ(sum.writes, std::vector<FusionWrite>{FusionWrite::Row});
  EXPECT_EQ(problem.ops[7].readBytes,
            (std::vector<uint64_t>{50, ~uint64_t(0)}));
  EXPECT_TRUE(problem.ops[6].readBytes.empty());
}

// The loss depends on ops 0 to 4, the target on 6 and 7 as well.
TEST(RematJsonTest, PartsFollowFromLossAndTargets) {
  RematProblem problem = readProblem(kProblem);
  for (uint32_t op = 0; op < 8; ++op)
    EXPECT_EQ(problem.ops[op].part, op < 5    ? RematPart::Forward
                                    : op == 5 ? RematPart::Side
                                              : RematPart::Backward)
        << op;
  // An op's own part counts.
  problem = readProblem(replaced(kProblem, "\"name\": \"count\", \"inputs\"",
                                 "\"part\": \"backward\", \"inputs\""));
  EXPECT_EQ(problem.ops[5].part, RematPart::Backward);
}

void expectSame(const RematProblem &a, const RematProblem &b) {
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.memoryBandwidth, b.memoryBandwidth);
  EXPECT_EQ(a.launchSeconds, b.launchSeconds);
  EXPECT_EQ(a.valueNames, b.valueNames);
  EXPECT_EQ(a.opNames, b.opNames);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); ++i) {
    EXPECT_EQ(a.values[i].bytes, b.values[i].bytes);
    EXPECT_EQ(a.values[i].isResident, b.values[i].isResident);
    EXPECT_EQ(a.values[i].source, b.values[i].source);
    EXPECT_EQ(a.values[i].encodedBytes, b.values[i].encodedBytes);
  }
  ASSERT_EQ(a.ops.size(), b.ops.size());
  for (size_t i = 0; i < a.ops.size(); ++i) {
    const RematOp &x = a.ops[i], &y = b.ops[i];
    EXPECT_EQ(x.inputs, y.inputs);
    EXPECT_EQ(x.results, y.results);
    EXPECT_EQ(x.part, y.part);
    EXPECT_EQ(x.seconds, y.seconds);
    EXPECT_EQ(x.isHeavy, y.isHeavy);
    EXPECT_EQ(x.isRepeatable, y.isRepeatable);
    EXPECT_EQ(x.isMirrored, y.isMirrored);
    EXPECT_EQ(x.overwritesInputs, y.overwritesInputs);
    EXPECT_EQ(x.flops, y.flops);
    EXPECT_EQ(x.readBytes, y.readBytes);
    ASSERT_EQ(x.fusion.has_value(), y.fusion.has_value());
    if (!x.fusion)
      continue;
    EXPECT_EQ(x.fusion->kind, y.fusion->kind);
    EXPECT_EQ(x.fusion->elements, y.fusion->elements);
    EXPECT_EQ(x.fusion->columns, y.fusion->columns);
    EXPECT_EQ(x.fusion->outer, y.fusion->outer);
    EXPECT_EQ(x.fusion->reduced, y.fusion->reduced);
    EXPECT_EQ(x.fusion->accumulates, y.fusion->accumulates);
    EXPECT_EQ(x.fusion->weight, y.fusion->weight);
    EXPECT_EQ(x.fusion->reads, y.fusion->reads);
    EXPECT_EQ(x.fusion->writes, y.fusion->writes);
  }
}

TEST(RematJsonTest, WritesWhatItReads) {
  RematProblem problem = readProblem(kProblem);
  problem.ops[0].seconds = 0.1 + 0.2;
  problem.ops[1].seconds = 4.9406564584124654e-324;
  problem.values[0].bytes = uint64_t(1) << 61;
  problem.valueNames[0] = "a \"b\"\n\\ \xc3\xa4";
  FusionShape &shape = *problem.ops[4].fusion;
  shape.kind = FusionClass::ColumnReduction;
  shape.elements = 24;
  shape.columns = 1;
  shape.outer = 2;
  shape.reduced = 3;
  shape.accumulates = true;
  shape.reads = {{FusionAccess::Part, 1}, {FusionAccess::Scalar, 1}};
  shape.writes = {FusionWrite::Column};
  expectSame(readProblem(writeRematProblem(problem)), problem);
  // Without names, too.
  problem.valueNames.clear();
  problem.opNames.clear();
  std::string text = writeRematProblem(problem);
  EXPECT_EQ(text.find("name"), std::string::npos);
  expectSame(readProblem(text), problem);
  expectSame(readProblem(writeRematProblem(RematProblem())), RematProblem());
}

TEST(RematJsonTest, WritesAnEntryALine) {
  RematProblem problem;
  problem.values.resize(2);
  problem.values[0].bytes = 7;
  problem.values[1].source = 0;
  RematOp &op = problem.ops.emplace_back();
  op.inputs = {0};
  op.results = {1};
  op.seconds = 0.5;
  op.part = RematPart::Side;
  problem.outputs = {1};
  EXPECT_EQ(writeRematProblem(problem), R"({
  "values": [
    {"bytes": 7},
    {"view_of": 0}
  ],
  "ops": [
    {"inputs": [0], "results": [1], "part": "side", "seconds": 0.5}
  ],
  "outputs": [
    1
  ]
}
)");
}

TEST(RematJsonTest, TextThatIsNotJson) {
  EXPECT_NE(problemError("{\n  oops").find("line 2, column 3"),
            std::string::npos);
  EXPECT_FALSE(problemError("").empty());
  EXPECT_FALSE(problemError("{} 1").empty());
  EXPECT_FALSE(problemError(std::string("\0\xff", 2)).empty());
  EXPECT_FALSE(errorWith("1e-3", "NaN").empty());
  EXPECT_FALSE(errorWith("1e-3", "1e999").empty());
  EXPECT_EQ(problemError("[]"), "expected an object, found an array");
  EXPECT_EQ(problemError("3"), "expected an object, found 3");
}

TEST(RematJsonTest, DeepNestingIsAnError) {
  std::string deep(20'000'000, '[');
  EXPECT_EQ(problemError(deep), "it is nested more than 100 deep");
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i)
    objects += "{\"a\":";
  EXPECT_EQ(problemError(objects), "it is nested more than 100 deep");
}

TEST(RematJsonTest, WrongFieldsNameTheirPlace) {
  EXPECT_EQ(problemError("{}"), "'values' is missing");
  EXPECT_EQ(errorWith("\"outputs\": [6, 7, 9]", "\"results\": []"),
            "'outputs' is missing");
  EXPECT_EQ(errorWith("\"outputs\":", "\"color\": 1, \"outputs\":"),
            "'color' isn't a known field");
  EXPECT_EQ(errorWith("{\"bytes\": 80}", "{\"bites\": 80}"),
            "'values[8].bytes' is missing");
  EXPECT_EQ(errorWith("{\"bytes\": 80}", "{\"bytes\": 80, \"shape\": 1}"),
            "'values[8].shape' isn't a known field");
  EXPECT_EQ(errorWith("{\"bytes\": 80}", "80"),
            "'values[8]': expected an object, found 80");
  EXPECT_EQ(errorWith("{\"bytes\": 80}", "{\"bytes\": -1}"),
            "'values[8].bytes': expected an integer >= 0, found -1");
  EXPECT_EQ(errorWith("{\"bytes\": 80}", "{\"bytes\": 1.5}"),
            "'values[8].bytes': expected an integer >= 0, found 1.5");
  // 2^64.
  EXPECT_EQ(errorWith("{\"bytes\": 80}", "{\"bytes\": 18446744073709551616}"),
            "'values[8].bytes': expected an integer >= 0, found "
            "1.8446744073709552e+19");
  EXPECT_EQ(errorWith("\"bits\": 4", "\"bits\": \"4\""),
            "'values[4].bits': expected an integer >= 0, found a string");
  EXPECT_EQ(errorWith("\"resident\": true", "\"resident\": 1"),
            "'values[1].resident': expected true or false, found 1");
  EXPECT_EQ(errorWith("\"name\": \"w\"", "\"name\": null"),
            "'values[1].name': expected a string, found null");
  EXPECT_EQ(errorWith("\"name\": \"w\"", "\"bytes\": 3"),
            "the field 'bytes' is there twice");
  EXPECT_EQ(errorWith("\"seconds\": 1e-3, ", ""),
            "'ops[0].seconds' is missing");
  EXPECT_EQ(errorWith("\"seconds\": 1e-3", "\"seconds\": -1e-3"),
            "'ops[0].seconds': expected a number >= 0, found -0.001");
  EXPECT_EQ(
      errorWith("5e11", "-5e11"),
      "'memory_bandwidth': expected a number >= 0, found -500000000000.0");
  EXPECT_EQ(errorWith("\"inputs\": [0, 1], ", ""),
            "'ops[0].inputs' is missing");
  EXPECT_EQ(errorWith("\"inputs\": [0, 1]", "\"inputs\": 0"),
            "'ops[0].inputs': expected an array, found 0");
  EXPECT_EQ(errorWith("\"inputs\": [0, 1]", "\"inputs\": [0, -1]"),
            "'ops[0].inputs[1]': expected the index of one of 10 values, found "
            "-1");
  EXPECT_EQ(errorWith("\"results\": [2]", "\"results\": [10]"),
            "'ops[0].results[0]': expected the index of one of 10 values, "
            "found 10");
  EXPECT_EQ(errorWith("\"results\": [2]", "\"results\": [\"y\"]"),
            "'ops[0].results[0]': expected the index of one of 10 values, "
            "found 'y'");
  EXPECT_EQ(errorWith("\"view_of\": 3", "\"view_of\": 4294967295"),
            "'values[5].view_of': expected the index of one of 10 values, "
            "found 4294967295");
  EXPECT_EQ(errorWith("\"outputs\": [6, 7, 9]", "\"outputs\": [6, 7, 99]"),
            "'outputs[2]': expected the index of one of 10 values, found 99");
  EXPECT_EQ(errorWith("\"heavy\": true", "\"part\": \"middle\""),
            "'ops[0].part': expected 'forward', 'backward', 'side', found "
            "'middle'");
  EXPECT_EQ(errorWith("\"class\": \"pointwise\"", "\"class\": \"round\""),
            "'ops[1].fusion.class': expected 'host', 'pointwise', "
            "'row_reduction', 'column_reduction', 'alone', found 'round'");
  EXPECT_EQ(errorWith("{\"row\": 5}", "{\"rows\": 5}"),
            "'ops[4].fusion.reads[0].row' is missing");
  EXPECT_EQ(errorWith("\"any\"", "\"row\""),
            "'ops[4].fusion.reads[1]': expected 'same', 'scalar', 'part', "
            "'any', 'order', found 'row'");
  EXPECT_EQ(errorWith("\"weight\": 8", "\"weight\": 5000000000"),
            "'ops[1].fusion.weight': expected a number below 2^32 - 1, found "
            "5000000000");
}

TEST(RematJsonTest, ErrorsAreOneLineOfBoundedLength) {
  std::string name = "\\n" + std::string(1'000'000, 'x');
  for (std::string error :
       {errorWith("\"outputs\":", "\"" + name + "\": 1, \"outputs\":"),
        errorWith("\"heavy\": true", "\"part\": \"" + name + "\""),
        errorWith("\"name\": \"w\"",
                  "\"" + name + "\": 1, \"" + name + "\": 2")}) {
    EXPECT_LT(error.size(), 300u);
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(RematJsonTest, NoLossOrTwo) {
  EXPECT_EQ(errorWith("\"loss\": 6,", ""),
            "'loss' is missing, but there are 'targets'");
  EXPECT_EQ(problemError(replaced(replaced(kProblem, "\"loss\": 6,", ""),
                                  "\"targets\": [9],", "")),
            "'loss' is missing, and 'ops[0]' has no 'part'");
  EXPECT_EQ(errorWith("\"targets\": [9],", ""),
            "'targets' is missing, and 'ops[0]' has no 'part'");
  EXPECT_EQ(errorWith("\"loss\": 6", "\"loss\": [6, 7]"),
            "'loss': expected the index of one of 10 values, found an array");
  EXPECT_EQ(errorWith("\"loss\": 6", "\"loss\": 6, \"loss\": 7"),
            "the field 'loss' is there twice");
  EXPECT_EQ(errorWith("\"loss\": 6", "\"loss\": 0"),
            "'loss': no op makes value 0");
}

TEST(RematJsonTest, StepsThatCannotRun) {
  EXPECT_EQ(errorWith("\"results\": [3]", "\"results\": [2]"),
            "value 2 is a result of two ops");
  EXPECT_EQ(errorWith("\"inputs\": [0, 1]", "\"inputs\": [0, 8]"),
            "op 0 reads value 8, which isn't there before it");
  EXPECT_EQ(errorWith("\"inputs\": [0, 1]", "\"inputs\": [0, 2]"),
            "op 0 reads value 2, which isn't there before it");
  // Views of themselves, of each other, of what comes later, of nothing.
  EXPECT_EQ(errorWith("\"view_of\": 3", "\"view_of\": 5"),
            "value 5 is a view of value 5, which isn't there before it");
  EXPECT_EQ(problemError(
                replaced(replaced(kProblem, "\"view_of\": 3", "\"view_of\": 8"),
                         "{\"bytes\": 80}", "{\"view_of\": 5}")),
            "value 5 is a view of value 8, which isn't there before it");
  EXPECT_EQ(errorWith("\"name\": \"x\", \"bytes\": 100",
                      "\"name\": \"x\", \"view_of\": 1"),
            "value 0 is a view that no op makes");
  EXPECT_EQ(errorWith("\"view_of\": 3", "\"view_of\": 3, \"bytes\": 8"),
            "value 5 is a view, but takes memory of its own");
  EXPECT_EQ(errorWith("\"bytes\": 100", "\"bytes\": 4611686018427387904"),
            "the values take more than 2^62 bytes together");
  EXPECT_EQ(errorWith("\"bits\": 4", "\"bits\": 4611686018427387904"),
            "the values take more than 2^62 bytes together");
  EXPECT_EQ(errorWith("\"name\": \"product\",", "\"part\": \"backward\","),
            "op 1 is of the forward part, but reads value 2 of the backward "
            "part");
  EXPECT_EQ(errorWith("\"reads\": [\"same\"]", "\"reads\": []"),
            "op 1 has 1 inputs and 1 results, its fusion shape 0 reads and 1 "
            "writes");
  EXPECT_EQ(errorWith("\"read_bytes\": [50, ", "\"read_bytes\": ["),
            "op 7 has 2 inputs, but says what it reads of 1");
  EXPECT_EQ(errorWith("\"read_bytes\": [50", "\"read_bytes\": [-50"),
            "'ops[7].read_bytes[0]': expected an integer >= 0, found -50");
  EXPECT_EQ(errorWith("\"columns\": 20", "\"columns\": 0"),
            "op 4 has a fusion shape whose elements aren't a multiple of what "
            "they are divided into");
  EXPECT_EQ(errorWith("\"columns\": 20", "\"outer\": 20, \"reduced\": 0"),
            "op 4 has a fusion shape whose elements aren't a multiple of what "
            "they are divided into");
  EXPECT_EQ(errorWith("{\"row\": 5}", "{\"row\": 0}"),
            "op 4 has a fusion shape whose elements aren't a multiple of what "
            "they are divided into");
  EXPECT_EQ(errorWith("\"weight\": 8", "\"weight\": 2000000"),
            "op 1 has a fusion shape of weight 2000000, more than 2^20");
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// T branches tanh(keys + query), all of which `echo` recomputes.
RematProblem attention() {
  constexpr uint64_t T = 4, N = 10;
  TrainingGraph graph;
  uint32_t keys = graph.heavy({graph.input(1), graph.parameter(N)}, T * N);
  std::vector<uint32_t> outputs;
  for (uint64_t t = 0; t < T; ++t) {
    uint32_t query = graph.heavy({graph.input(1), graph.parameter(N)}, N);
    uint32_t sum = graph.op({keys, query}, T * N, TrainingGraph::Nothing);
    outputs.push_back(graph.op({sum}, T * N));
  }
  uint32_t mask = graph.op({graph.input(1)}, 100, TrainingGraph::Outputs);
  graph.problem.values[mask].encodedBytes = 4;
  graph.problem.ops.back().isRepeatable = false;
  outputs.push_back(mask);
  graph.finish(outputs);
  return graph.problem;
}

std::string planError(const RematProblem &problem, const std::string &json) {
  RematPlan plan;
  plan.encoded = {7};
  std::string error;
  EXPECT_FALSE(readRematPlan(json, problem, plan, error)) << json;
  EXPECT_EQ(plan.encoded, std::vector<uint32_t>{7});
  return error;
}

TEST(RematJsonTest, PlansComeBackAsTheyWere) {
  RematProblem problem = attention();
  for (const RematStrategy &strategy : rematStrategies()) {
    RematPlan plan, read;
    ASSERT_TRUE(planRemat(problem, strategy.name, plan));
    std::string error;
    ASSERT_TRUE(
        readRematPlan(writeRematPlan(problem, plan), problem, read, error))
        << error;
    EXPECT_EQ(read.clones, plan.clones);
    EXPECT_EQ(read.reads, plan.reads);
    EXPECT_EQ(read.encoded, plan.encoded);
    ASSERT_EQ(read.decisions.size(), plan.decisions.size());
    for (size_t i = 0; i < plan.decisions.size(); ++i) {
      EXPECT_EQ(read.decisions[i].value, plan.decisions[i].value);
      EXPECT_EQ(read.decisions[i].reason, plan.decisions[i].reason);
      EXPECT_EQ(read.decisions[i].isForClones, plan.decisions[i].isForClones);
    }
    if (strategy.name == "echo") {
      EXPECT_EQ(plan.clones.size(), 8u);
      EXPECT_EQ(plan.encoded.size(), 1u);
    }
  }
}

TEST(RematJsonTest, PlansAreForTheirProblem) {
  RematProblem problem = attention(), other = problem;
  RematPlan plan;
  ASSERT_TRUE(planRemat(problem, "echo", plan));
  std::string text = writeRematPlan(problem, plan);
  auto isRefused = [&](auto change) {
    other = problem;
    change();
    return planError(other, text) ==
           "the plan is for another step, with as many values and ops, but "
           "other sizes, parts or operands";
  };
  EXPECT_TRUE(isRefused([&] { ++other.values[3].bytes; }));
  EXPECT_TRUE(isRefused([&] { other.values[3].isResident ^= true; }));
  EXPECT_TRUE(isRefused([&] { other.values[3].encodedBytes = 1; }));
  EXPECT_TRUE(isRefused([&] { other.ops[0].isRepeatable = false; }));
  EXPECT_TRUE(isRefused([&] { other.ops[0].part = RematPart::Side; }));
  EXPECT_TRUE(isRefused([&] { std::swap(other.ops[0], other.ops[1]); }));
  EXPECT_TRUE(isRefused([&] { other.outputs.push_back(0); }));
  other = problem;
  other.values.emplace_back();
  size_t size = problem.values.size(), ops = problem.ops.size();
  EXPECT_EQ(planError(other, text),
            "the plan is for another step, of " + std::to_string(size) +
                " values and " + std::to_string(ops) + " ops instead of " +
                std::to_string(size + 1) + " and " + std::to_string(ops));
  // Names and costs may differ.
  other = problem;
  other.ops[0].seconds = 17;
  other.opNames.resize(other.ops.size(), "op");
  RematPlan read;
  std::string error;
  EXPECT_TRUE(readRematPlan(text, other, read, error)) << error;
}

TEST(RematJsonTest, PlansThatCannotRun) {
  RematProblem problem = attention();
  RematPlan good;
  ASSERT_TRUE(planRemat(problem, "echo", good));
  auto errorOf = [&](auto change) {
    RematPlan plan = good;
    change(plan);
    return planError(problem, writeRematPlan(problem, plan));
  };
  size_t numOps = problem.ops.size();
  EXPECT_EQ(errorOf([&](RematPlan &plan) { plan.clones[0].op = numOps; }),
            "'clones[0].op': expected the index of one of " +
                std::to_string(numOps) + " ops, found " +
                std::to_string(numOps));
  EXPECT_NE(errorOf([](RematPlan &plan) {
              plan.clones[0].before = 0;
            }).find("clone 0"),
            std::string::npos);
  EXPECT_NE(errorOf([](RematPlan &plan) {
              plan.clones[0].inputs = {0, 0, 0};
            }).find("clone 0 has 3 inputs"),
            std::string::npos);
  EXPECT_NE(errorOf([](RematPlan &plan) {
              plan.clones[0].inputs[0] = 1;
            }).find("clone 0 reads input 0"),
            std::string::npos);
  EXPECT_EQ(errorOf([](RematPlan &plan) { plan.clones[0].inputs[0] = 88; }),
            "'clones[0].inputs[0]': expected the index of one of 8 clones or "
            "null, found 88");
  EXPECT_NE(errorOf([](RematPlan &plan) {
              plan.clones[0].op = 0;
            }).find("clone 1 reads input 0"),
            std::string::npos);
  EXPECT_NE(errorOf([](RematPlan &plan) {
              plan.reads[0].operand = 9;
            }).find("read 0"),
            std::string::npos);
  EXPECT_NE(errorOf([](RematPlan &plan) {
              std::swap(plan.reads[0], plan.reads[1]);
            }).find("read 1"),
            std::string::npos);
  EXPECT_NE(errorOf([](RematPlan &plan) {
              plan.encoded.push_back(0);
            }).find("encodes value 0"),
            std::string::npos);
  EXPECT_NE(errorOf([](RematPlan &plan) {
              plan.decisions[0].value = 1'000'000;
            }).find("'decisions[0].value'"),
            std::string::npos);
  std::string text = writeRematPlan(problem, good);
  EXPECT_EQ(planError(problem, replaced(text, "\"reads\"", "\"writes\"")),
            "'reads' is missing");
  EXPECT_EQ(planError(problem, replaced(text, "\"heavy\"", "\"lazy\"")),
            "'decisions[1].reason': expected 'recomputed', 'encoded', 'heavy', "
            "'unrepeatable', 'input', 'no_gain', 'peak', 'excluded', "
            "'strategy', found 'lazy'");
  EXPECT_EQ(planError(problem, "{}"), "'problem' is missing");
}

//===----------------------------------------------------------------------===//
// Mutations
//===----------------------------------------------------------------------===//

/// A few bytes of `text` changed, removed, doubled, or replaced by numbers and
/// words that mean something.
std::string mutate(std::string text, std::mt19937 &random) {
  static const char *const words[] = {"0",
                                      "-1",
                                      "1e308",
                                      "18446744073709551615",
                                      "4294967295",
                                      "null",
                                      "true",
                                      "[]",
                                      "{}",
                                      "\"forward\"",
                                      "\"backward\"",
                                      "3",
                                      "[0]",
                                      "0.5",
                                      "\"side\"",
                                      "\"row\"",
                                      "9",
                                      "4611686018427387904"};
  unsigned changes = 1 + random() % 3;
  while (changes-- > 0) {
    size_t at = random() % text.size();
    switch (random() % 5) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, 1 + random() % 20);
      break;
    case 2:
      text.insert(at, text.substr(random() % text.size(), 1 + random() % 60));
      break;
    default: {
      // A number becomes another.
      size_t from = text.find_first_of("0123456789", at);
      if (from == std::string::npos)
        break;
      size_t to = text.find_first_not_of("0123456789.e-", from);
      text.replace(from, to - from, words[random() % std::size(words)]);
    }
    }
    if (text.empty())
      text = "{";
  }
  return text;
}

// Whatever is read can be planned and written; what isn't has an error.
TEST(RematJsonTest, MutatedProblems) {
  std::mt19937 random(1);
  unsigned numRead = 0;
  std::string written = writeRematProblem(attention());
  for (int i = 0; i < 4000; ++i) {
    std::string text = mutate(i % 2 ? kProblem : written, random);
    RematProblem problem;
    std::string error;
    if (!readRematProblem(text, problem, error)) {
      ASSERT_FALSE(error.empty()) << text;
      ASSERT_EQ(error.find('\n'), std::string::npos) << error;
      continue;
    }
    ++numRead;
    for (const RematStrategy &strategy : rematStrategies()) {
      RematPlan plan;
      ASSERT_TRUE(planRemat(problem, strategy.name, plan));
      ASSERT_TRUE(checkRematPlan(problem, plan, error)) << error << text;
      measureRemat(problem, plan);
    }
    RematProblem again;
    ASSERT_TRUE(readRematProblem(writeRematProblem(problem), again, error))
        << error << text;
    ASSERT_EQ(writeRematProblem(again), writeRematProblem(problem));
  }
  EXPECT_GT(numRead, 100u);
}

TEST(RematJsonTest, MutatedPlans) {
  std::mt19937 random(2);
  RematProblem problem = attention();
  RematPlan good;
  ASSERT_TRUE(planRemat(problem, "echo", good));
  std::string written = writeRematPlan(problem, good);
  unsigned numRead = 0;
  for (int i = 0; i < 4000; ++i) {
    RematPlan plan;
    std::string error;
    if (!readRematPlan(mutate(written, random), problem, plan, error)) {
      ASSERT_FALSE(error.empty());
      ASSERT_EQ(error.find('\n'), std::string::npos) << error;
      continue;
    }
    ++numRead;
    measureRemat(problem, plan);
  }
  EXPECT_GT(numRead, 50u);
}

} // namespace

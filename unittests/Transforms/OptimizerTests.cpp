//===- OptimizerTests.cpp - Weight updates against PyTorch ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loss is sum(w * gw) + sum(b * gb) with inputs gw and gb, which are the
// gradients then. Steps are chained by `echo.aliases_argument`.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Transforms/Gradient.h"
#include "Echo/Transforms/Optimizer.h"
#include "Echo/Transforms/Passes.h"
#include "GraphTesting.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

struct GoldenCase {
  std::string name;
  std::string options;
  std::vector<std::vector<double>> parameters;
};

void PrintTo(const GoldenCase &golden, std::ostream *stream) {
  *stream << golden.options;
}

#include "OptimizerGolden.inc"

std::string twoParameters(const std::string &type) {
  std::string w = "tensor<2x3x" + type + ">", b = "tensor<3x" + type + ">";
  std::string scalar = "tensor<" + type + ">";
  return "func.func @f(%w: " + w +
         " {echo.role = \"parameter\", echo.name = \"w\"}, %b: " + b +
         " {echo.role = \"parameter\", echo.name = \"b\"}, %gw: " + w +
         ", %gb: " + b + ") -> " + scalar + " {\n%0 = echo.mul %w, %gw : (" +
         w + ", " + w + ") -> " + w +
         "\n%1 = echo.reduce sum %0 {dims = array<i64: 0, 1>} : (" + w +
         ") -> " + scalar + "\n%2 = echo.mul %b, %gb : (" + b + ", " + b +
         ") -> " + b + "\n%3 = echo.reduce sum %2 {dims = array<i64: 0>} : (" +
         b + ") -> " + scalar + "\n%4 = echo.add %1, %3 : (" + scalar + ", " +
         scalar + ") -> " + scalar + "\nreturn %4 : " + scalar + "\n}\n";
}

/// A training step and the current values of its arguments.
class Training {
public:
  Training(const std::string &text, const std::string &options,
           std::vector<Elements> values, bool exact)
      : module(parse(text)), arguments(std::move(values)), exact(exact) {
    PassManager passes(&context());
    passes.addPass(createEchoGradientPass());
    std::unique_ptr<Pass> optimizer = createEchoOptimizerPass();
    EXPECT_TRUE(succeeded(
        optimizer->initializeOptions(options, [](const Twine &message) {
          ADD_FAILURE() << message.str();
          return failure();
        })));
    passes.addPass(std::move(optimizer));
    EXPECT_TRUE(succeeded(passes.run(*module)));
    step = firstFunction(*module);
    // States start at zero.
    for (unsigned i = arguments.size(); i < step.getNumArguments(); ++i)
      arguments.push_back(Elements(
          cast<RankedTensorType>(step.getArgumentTypes()[i]).getNumElements()));
  }

  Elements &operator[](StringRef name) {
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (getArgumentName(step, i) == name)
        return arguments[i];
    ADD_FAILURE() << "no argument " << name.str();
    return arguments.front();
  }

  void run() {
    llvm::Expected<std::vector<Elements>> results =
        Evaluator(step, exact)(arguments);
    ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
    for (auto [i, values] : llvm::enumerate(*results))
      if (auto argument =
              step.getResultAttrOfType<IntegerAttr>(i, kAliasesArgumentAttr))
        arguments[argument.getInt()] = values;
  }

private:
  OwningOpRef<ModuleOp> module;
  func::FuncOp step;
  std::vector<Elements> arguments;
  bool exact;
};

class OptimizerGolden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(OptimizerGolden, MatchesPyTorch) {
  const GoldenCase &golden = GetParam();
  Training training(twoParameters("f64"), golden.options,
                    {kInitialW, kInitialB, kGradientW[0], kGradientB[0]},
                    /*exact=*/false);
  for (size_t step = 0; step < golden.parameters.size(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    training["arg2"] = kGradientW[step];
    training["arg3"] = kGradientB[step];
    training["learning_rate"] = {kRates[step]};
    training.run();
    Elements values = training["w"];
    values.insert(values.end(), training["b"].begin(), training["b"].end());
    ASSERT_EQ(values.size(), golden.parameters[step].size());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], golden.parameters[step][i], 1e-12) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizer, OptimizerGolden,
                         ::testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

/// Adam's formula in float, as the description in Optimizer.h has it, with
/// decay and clipping; factors in double.
TEST(Optimizer, AdamInF32) {
  const float beta1 = 0.9f, complement1 = 1.0 - 0.9;
  const float beta2 = 0.999f, complement2 = 1.0 - 0.999;
  std::vector<float> p, m(9), v(9);
  Elements w(6), b(3);
  for (int i = 0; i < 9; ++i) {
    p.push_back(0.25f * i - 1.0f);
    (i < 6 ? w[i] : b[i - 6]) = p.back();
  }
  Training training(twoParameters("f32"), "kind=adam weight-decay=0.125",
                    {w, b, w, b}, /*exact=*/true);
  training["learning_rate"] = {0.0625};
  for (int step = 1; step <= 4; ++step) {
    std::vector<float> g;
    for (int i = 0; i < 9; ++i) {
      g.push_back(0.5f * step - 0.375f * i);
      (i < 6 ? training["arg2"][i] : training["arg3"][i - 6]) = g.back();
    }
    training.run();
    const float rate = 0.0625 / (1.0 - std::pow(0.9, step));
    const float root = std::sqrt(1.0 - std::pow(0.999, step));
    for (int i = 0; i < 9; ++i) {
      float decayed = g[i] + p[i] * 0.125f;
      m[i] = m[i] + (decayed - m[i]) * complement1;
      v[i] = v[i] * beta2 + decayed * complement2 * decayed;
      p[i] = p[i] - m[i] * rate / (std::sqrt(v[i]) / root + 1e-8f);
      double value = i < 6 ? training["w"][i] : training["b"][i - 6];
      EXPECT_NEAR(value, p[i], 1e-6) << "step " << step << ", " << i;
    }
    EXPECT_NEAR(training["w.m"][0], m[0], 1e-6);
    EXPECT_NEAR(training["w.v"][0], v[0], 1e-6);
    EXPECT_EQ(training["optimizer.step"][0], step);
  }
  EXPECT_EQ(beta1 + complement1, 1.0f);
}

/// bf16 parameters are computed in f32 and rounded once: momentum keeps what a
/// bf16 sum would lose.
TEST(Optimizer, Bf16KeepsF32Moments) {
  Training training(
      twoParameters("bf16"), "kind=momentum momentum=1",
      {Elements(6, 1.0), Elements(3, 1.0), Elements(6, 0.0), Elements(3, 0.0)},
      /*exact=*/true);
  training["learning_rate"] = {0.0};
  training["arg2"] = Elements(6, 1.0);
  training.run();
  // 1 + 2^-9 isn't a bf16 (8 bits), but a float.
  training["arg2"] = Elements(6, 0x1p-9);
  training.run();
  EXPECT_EQ(training["w.momentum"], Elements(6, 1.0 + 0x1p-9));
  // 1 - 2^-9 is halfway between the bf16 numbers 1 - 2^-8 and 1: to even.
  // 1 - 3 * 2^-10 rounds to 1 - 2^-8.
  training["learning_rate"] = {3 * 0x1p-10 / (1.0 + 0x1p-9)};
  training["arg2"] = Elements(6, 0.0);
  training.run();
  EXPECT_EQ(training["w"], Elements(6, 1.0 - 0x1p-8));
}

/// Parameters and moments stand still between updates, and the accumulated
/// gradients start again.
TEST(Optimizer, AccumulationHolds) {
  Training training(
      twoParameters("f64"), "kind=adam accumulate=3",
      {Elements(6, 1.0), Elements(3, 1.0), Elements(6, 0.5), Elements(3, 2.0)},
      /*exact=*/false);
  training["learning_rate"] = {0.125};
  for (int step = 1; step <= 6; ++step) {
    Elements w = training["w"], m = training["w.m"], v = training["w.v"];
    training.run();
    EXPECT_EQ(training["optimizer.step"][0], step);
    if (step % 3 != 0) {
      EXPECT_EQ(training["w"], w);
      EXPECT_EQ(training["w.m"], m);
      EXPECT_EQ(training["w.v"], v);
      EXPECT_EQ(training["b.accumulated"], Elements(3, 2.0 * (step % 3)));
    } else {
      EXPECT_NE(training["w"], w);
      EXPECT_EQ(training["b.accumulated"], Elements(3, 0.0));
    }
  }
}

} // namespace

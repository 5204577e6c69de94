//===- InterpreterTest.cpp - Functions, calls, steps, errors --------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterTestUtils.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

constexpr InterpreterMode kModes[] = {InterpreterMode::F64,
                                      InterpreterMode::Exact};

TEST_F(InterpreterTest, EvaluatesInOrder) {
  for (InterpreterMode mode : kModes) {
    auto results = run(
        R"mlir(
      func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
        %0 = echo.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        %1 = echo.mul %0, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        return %1, %0 : tensor<2xf32>, tensor<2xf32>
      })mlir",
        {tensor("tensor<2xf32>", {1, 2}), tensor("tensor<2xf32>", {10, 20})},
        mode);
    ASSERT_EQ(results.size(), 2u);
    expectValues(results[0], {11, 44});
    expectValues(results[1], {11, 22});
    EXPECT_EQ(results[0].getElementType().isF64(),
              mode == InterpreterMode::F64);
  }
}

TEST_F(InterpreterTest, BarriersAreTheirOperand) {
  for (InterpreterMode mode : kModes) {
    auto results = run(
        R"mlir(
      func.func @f(%a: tensor<2xf32>, %b: tensor<f32>) -> tensor<2xf32> {
        %0 = echo.optimization_barrier(%a, %b) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
        %1 = echo.add %0, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        return %1 : tensor<2xf32>
      })mlir",
        {tensor("tensor<2xf32>", {1, 2}), tensor("tensor<f32>", {10})}, mode);
    ASSERT_EQ(results.size(), 1u);
    expectValues(results[0], {2, 4});
  }
}

// 1 + 2^-30 is a double but no f32.
TEST_F(InterpreterTest, ModesDifferInPrecision) {
  const char *source = R"mlir(
    func.func @f(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
      %0 = echo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    })mlir";
  HostTensor a = tensor("tensor<f32>", {1}),
             b = tensor("tensor<f32>", {0x1p-30});
  expectValues(run(source, {a, b}, InterpreterMode::F64)[0], {1 + 0x1p-30});
  expectValues(run(source, {a, b}, InterpreterMode::Exact)[0], {1});
}

TEST_F(InterpreterTest, CallsKernelsAndLaunches) {
  for (InterpreterMode mode : kModes) {
    auto results = run(R"mlir(
      func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
        %0 = func.call @double(%a) : (tensor<2xf32>) -> tensor<2xf32>
        %1 = echo.launch @double(%0) : (tensor<2xf32>) -> tensor<2xf32>
        %2 = echo.kernel(%1, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> {
        ^bb0(%x: tensor<2xf32>, %y: tensor<2xf32>):
          %s = echo.sub %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          echo.yield %s : tensor<2xf32>
        }
        return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
      }
      func.func private @double(%a: tensor<2xf32>) -> tensor<2xf32> attributes {echo.kernel} {
        %c = arith.constant dense<2.0> : tensor<f32>
        %0 = echo.mul %a, %c : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
        return %0 : tensor<2xf32>
      })mlir",
                       {tensor("tensor<2xf32>", {1, -3})}, mode);
    ASSERT_EQ(results.size(), 3u);
    expectValues(results[0], {2, -6});
    expectValues(results[1], {4, -12});
    expectValues(results[2], {3, -9});
  }
}

TEST_F(InterpreterTest, StepsReplaceArguments) {
  func::FuncOp function = parse(R"mlir(
    func.func @f(%w: tensor<2xf32> {echo.name = "w", echo.role = "parameter"},
                 %x: tensor<2xf32> {echo.name = "x"},
                 %step: tensor<i64> {echo.name = "step", echo.role = "state"})
        -> (tensor<2xf32> {echo.name = "sum"},
            tensor<2xf32> {echo.aliases_argument = 0 : i64},
            tensor<i64> {echo.aliases_argument = 2 : i64}) {
      %one = echo.constant dense<1> : tensor<i64>
      %0 = echo.add %w, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %1 = echo.add %step, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
      return %0, %0, %1 : tensor<2xf32>, tensor<2xf32>, tensor<i64>
    })mlir");
  ASSERT_TRUE(function);
  auto step = StepInterpreter::create(function, {InterpreterMode::Exact});
  ASSERT_TRUE(succeeded(step));
  ASSERT_TRUE(succeeded(step->set("w", tensor("tensor<2xf32>", {1, 2}))));
  ASSERT_TRUE(succeeded(step->set("step", tensor("tensor<i64>", {0}))));
  {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(step->step()));
    EXPECT_NE(message.find("argument 'x' has no value"), std::string::npos);
    EXPECT_TRUE(failed(step->set("y", tensor("tensor<i64>", {0}))));
    EXPECT_NE(message.find("no argument named 'y'"), std::string::npos);
    EXPECT_TRUE(failed(step->set("x", tensor("tensor<3xf32>", {0, 0, 0}))));
    EXPECT_NE(message.find("expects 'tensor<2xf32>', found 'tensor<3xf32>'"),
              std::string::npos)
        << message;
  }
  EXPECT_EQ(step->get("sum"), nullptr);
  ASSERT_TRUE(succeeded(step->set("x", tensor("tensor<2xf32>", {10, 100}))));
  ASSERT_TRUE(succeeded(step->step()));
  ASSERT_TRUE(succeeded(step->step()));
  expectValues(*step->get("sum"), {21, 202});
  expectValues(*step->get("w"), {21, 202});
  expectValues(*step->get("x"), {10, 100});
  expectValues(*step->get("step"), {2});
  EXPECT_EQ(step->get("nothing"), nullptr);
}

TEST_F(InterpreterTest, DynamicShapesAreRunTimeShapes) {
  const char *source = R"mlir(
    func.func @f(%a: tensor<?x2xf32>) -> tensor<?xf32> {
      %0 = echo.reduce sum %a {dims = array<i64: 1>} : (tensor<?x2xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    })mlir";
  expectValues(run(source, {tensor("tensor<3x2xf32>", {1, 2, 3, 4, 5, 6})},
                   InterpreterMode::Exact)[0],
               {3, 7, 11});
  expectValues(
      run(source, {tensor("tensor<0x2xf32>", {})}, InterpreterMode::Exact)[0],
      {});
}

TEST_F(InterpreterTest, MisfitsAreDiagnosed) {
  const char *source = R"mlir(
    func.func @f(%a: tensor<2xf32> {echo.name = "a"}) -> tensor<2xf32> {
      return %a : tensor<2xf32>
    })mlir";
  EXPECT_NE(failureOf(source, {}).find("expects 1 arguments, found 0"),
            std::string::npos);
  EXPECT_NE(failureOf(source, {tensor("tensor<3xf32>", {1, 2, 3})})
                .find("argument 0 (\"a\") of function 'f' expects "
                      "'tensor<2xf32>', found 'tensor<3xf32>'"),
            std::string::npos);
  EXPECT_NE(failureOf(source, {tensor("tensor<2xi32>", {1, 2})})
                .find("found 'tensor<2xi32>'"),
            std::string::npos);
  EXPECT_NE(failureOf(source, {HostTensor()}).find("no value"),
            std::string::npos);
}

TEST_F(InterpreterTest, UnknownOpsAreDiagnosed) {
  EXPECT_NE(failureOf(R"mlir(
    func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = arith.addf %a, %a : tensor<2xf32>
      return %0 : tensor<2xf32>
    })mlir",
                      {tensor("tensor<2xf32>", {1, 2})})
                .find("cannot be interpreted: no model"),
            std::string::npos);
}

TEST_F(InterpreterTest, RecursionIsDiagnosed) {
  EXPECT_NE(failureOf(R"mlir(
    func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = func.call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })mlir",
                      {tensor("tensor<2xf32>", {1, 2})})
                .find("nested too deeply"),
            std::string::npos);
}

TEST_F(InterpreterTest, DimensionsThatMeetAtRunTime) {
  const char *source = R"mlir(
    func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
      %0 = echo.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    })mlir";
  EXPECT_NE(failureOf(source, {tensor("tensor<2xf32>", {1, 2}),
                               tensor("tensor<3xf32>", {1, 2, 3})})
                .find("don't broadcast at run time"),
            std::string::npos);
}

TEST_F(InterpreterTest, TooLargeTensorsAreDiagnosed) {
  // 2^62 elements of 4 bytes.
  EXPECT_NE(failureOf(R"mlir(
    func.func @f() -> tensor<2147483648x2147483648xi32> {
      %0 = echo.iota {dimension = 0 : i64} : tensor<2147483648x2147483648xi32>
      return %0 : tensor<2147483648x2147483648xi32>
    })mlir",
                      {})
                .find("no memory"),
            std::string::npos);
}

TEST_F(InterpreterTest, TensorsConvertAndShare) {
  HostTensor a = tensor("tensor<3xf32>", {1.5, -2.5, 300});
  HostTensor b = a;
  b.setDouble(0, 7);
  expectValues(a, {1.5, -2.5, 300});
  expectValues(b, {7, -2.5, 300});
  expectValues(a.convertTo(IntegerType::get(&context, 8)), {1, -2, 127});
  expectValues(a.withShape({3, 1}), {1.5, -2.5, 300});
  EXPECT_EQ(a.toInts(), (SmallVector<int64_t>{1, -2, 300}));
  EXPECT_TRUE(failed(HostTensor::zeros(typeOf("tensor<?xf32>"))));
  EXPECT_TRUE(failed(HostTensor::zeros(typeOf("tensor<2xi16>"))));
  EXPECT_TRUE(failed(HostTensor::fromDoubles(typeOf("tensor<2xf32>"), {1})));
}

} // namespace

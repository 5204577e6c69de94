//===- FunctionAttributesTest.cpp - What a function says of its tensors ---===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/FunctionAttributes.h"
#include "DialectTesting.h"

using namespace mlir;
using namespace mlir::echo;

namespace {

class FunctionAttributesTest : public DialectTest {};

TEST_F(FunctionAttributesTest, RolesAndNamesHaveDefaults) {
  func::FuncOp function = parse(R"(
    func.func private @f(tensor<f32> {echo.role = "parameter", echo.name = "w"},
                         tensor<f32> {echo.role = "state"},
                         tensor<f32> {echo.role = "label"}, tensor<f32>)
        -> (tensor<f32> {echo.name = "x"}, tensor<f32>))");
  EXPECT_EQ(getArgumentRole(function, 0), ArgumentRole::Parameter);
  EXPECT_EQ(getArgumentRole(function, 1), ArgumentRole::State);
  EXPECT_EQ(getArgumentRole(function, 2), ArgumentRole::Label);
  EXPECT_EQ(getArgumentRole(function, 3), ArgumentRole::Input);
  EXPECT_EQ(getArgumentName(function, 0), "w");
  EXPECT_EQ(getArgumentName(function, 3), "arg3");
  EXPECT_EQ(getResultName(function, 0), "x");
  EXPECT_EQ(getResultName(function, 1), "result1");
}

TEST_F(FunctionAttributesTest, AliasesComeFromBothSides) {
  func::FuncOp function = parse(R"(
    func.func private @f(tensor<f32>, tensor<f32> {tf.aliasing_output = 2 : i32})
        -> (tensor<f32> {echo.aliases_argument = 0}, tensor<f32>, tensor<f32>))");
  EXPECT_EQ(getAliasedArgument(function, 0), 0u);
  EXPECT_EQ(getAliasedArgument(function, 1), std::nullopt);
  EXPECT_EQ(getAliasedArgument(function, 2), 1u);
}

TEST_F(FunctionAttributesTest, GradientsAndInits) {
  func::FuncOp function = parse(R"(
    func.func private @f(tensor<f32>,
                         tensor<i32> {echo.init = #echo.init<randint, 2, 9>})
        -> (tensor<f32> {echo.gradient_of = 0}, tensor<f32>))");
  EXPECT_EQ(getGradientArgument(function, 0), 0u);
  EXPECT_EQ(getGradientArgument(function, 1), std::nullopt);
  EXPECT_FALSE(getArgumentInit(function, 0));
  InitAttr init = getArgumentInit(function, 1);
  ASSERT_TRUE(init);
  EXPECT_EQ(init.getKind(), InitKind::RandInt);
  EXPECT_EQ(init.getA().getValueAsDouble(), 2.0);
  EXPECT_EQ(init.getB().getValueAsDouble(), 9.0);
}

TEST_F(FunctionAttributesTest, LossIsMarkedOrTheOnlyFloatScalar) {
  func::FuncOp marked = parse(R"(
    func.func private @f() -> (tensor<f32>, tensor<f32> {echo.loss}))");
  EXPECT_EQ(*getLossIndex(marked), 1u);
  EXPECT_EQ(*getLossIndex(marked, 0), 0u);

  func::FuncOp sole = parse(R"(
    func.func private @f() -> (tensor<2xf32>, tensor<i64>, tensor<f16>))");
  EXPECT_EQ(*getLossIndex(sole), 2u);
}

TEST_F(FunctionAttributesTest, LossIsAnErrorOtherwise) {
  func::FuncOp function = parse(R"(
    func.func private @f() -> (tensor<f32>, tensor<f64>, tensor<2xf32>))");
  EXPECT_TRUE(failed(getLossIndex(function)));
  EXPECT_EQ(message, "expected a result with 'echo.loss' or one "
                     "float scalar result, found 2 float scalars");
  EXPECT_TRUE(failed(getLossIndex(function, 3)));
  EXPECT_EQ(message, "expected loss= to name one of 3 results, "
                     "found 3");
  EXPECT_TRUE(failed(getLossIndex(function, 2)));
  EXPECT_EQ(message, "expected the loss, result #2, to be a "
                     "float tensor of rank 0, found 'tensor<2xf32>'");
}

} // namespace

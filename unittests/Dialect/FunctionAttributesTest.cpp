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
  auto aliases = getAliasedArguments(function);
  ASSERT_TRUE(succeeded(aliases));
  EXPECT_EQ(*aliases, (SmallVector<std::optional<unsigned>>{0, std::nullopt, 1}));
}

// The dialect doesn't verify attributes of others.
TEST_F(FunctionAttributesTest, AliasingOutputIsChecked) {
  auto fails = [&](const char *signature) {
    message.clear();
    func::FuncOp function = parse(signature);
    EXPECT_TRUE(failed(getAliasedArguments(function))) << signature;
    return message;
  };
  EXPECT_EQ(fails("func.func private @f(tensor<f32> {tf.aliasing_output = 1 : "
                  "i32}) -> tensor<f32>"),
            "'func.func' op expected 'tf.aliasing_output' of argument 0 to be "
            "the index of one of 1 results, found 1 : i32");
  EXPECT_EQ(fails("func.func private @f(tensor<f32> {tf.aliasing_output = -1 : "
                  "i64}) -> tensor<f32>"),
            "'func.func' op expected 'tf.aliasing_output' of argument 0 to be "
            "the index of one of 1 results, found -1 : i64");
  EXPECT_EQ(fails("func.func private @f(tensor<f32> {tf.aliasing_output = "
                  "18446744073709551616 : i128}) -> tensor<f32>"),
            "'func.func' op expected 'tf.aliasing_output' of argument 0 to be "
            "the index of one of 1 results, found 18446744073709551616 : i128");
  EXPECT_EQ(fails("func.func private @f(tensor<f32> {tf.aliasing_output = "
                  "\"a\"}) -> tensor<f32>"),
            "'func.func' op expected 'tf.aliasing_output' of argument 0 to be "
            "the index of one of 1 results, found \"a\"");
  EXPECT_EQ(fails("func.func private @f(tensor<f32> {tf.aliasing_output = 0 : "
                  "i32}) -> tensor<f64>"),
            "'func.func' op expected result 0, which 'tf.aliasing_output' of "
            "argument 0 names, to have the argument's type 'tensor<f32>', "
            "found 'tensor<f64>'");
  EXPECT_EQ(fails("func.func private @f(tensor<f32> {tf.aliasing_output = 0 : "
                  "i32}, tensor<f32> {tf.aliasing_output = 0 : i32}) -> "
                  "tensor<f32>"),
            "'func.func' op expected result 0 to replace one argument, found "
            "arguments 0 and, by 'tf.aliasing_output', 1");
}

TEST_F(FunctionAttributesTest, FunctionsAreNamedOrTheOnlyPublicOne) {
  parse(R"(
    func.func @k() attributes {echo.kernel} { return }
    func.func private @p() { return }
    func.func private @declared()
    func.func @f() { return })");
  EXPECT_EQ(findFunction(*module, "")->getName(), "f");
  EXPECT_EQ(findFunction(*module, "p")->getName(), "p");
  EXPECT_TRUE(failed(findFunction(*module, "g")));
  EXPECT_EQ(message, "expected a function @g; there is none");
  EXPECT_TRUE(failed(findFunction(*module, "declared")));
  EXPECT_EQ(message, "expected a function with a body");
  EXPECT_TRUE(failed(findFunction(*module, "k")));
  EXPECT_EQ(message, "expected a function that isn't a kernel");
  parse("func.func @f() { return } func.func @g() { return }");
  EXPECT_TRUE(failed(findFunction(*module, "")));
  EXPECT_EQ(message, "expected one public function with a body, or the name "
                     "of a function, found 2 public functions");
}

TEST_F(FunctionAttributesTest, ParametersAndStateArePersistent) {
  func::FuncOp function = parse(R"(
    func.func private @f(tensor<f32> {echo.role = "parameter"},
                         tensor<f32> {echo.role = "state"},
                         tensor<f32> {echo.role = "input"},
                         tensor<f32> {echo.role = "label"}, tensor<f32>))");
  EXPECT_TRUE(isPersistentArgument(function, 0));
  EXPECT_TRUE(isPersistentArgument(function, 1));
  EXPECT_FALSE(isPersistentArgument(function, 2));
  EXPECT_FALSE(isPersistentArgument(function, 3));
  EXPECT_FALSE(isPersistentArgument(function, 4));
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

//===- GradientTests.cpp - Gradients against finite differences -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every case is a function whose float results are weighted and summed to a
// loss. The gradient of each parameter, in f64, is compared with central
// differences, (f(x + h) - f(x - h)) / 2h. With h = 1e-5 these are right to
// about h^2 = 1e-10 and eps / h = 1e-11 of values near 1.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Transforms/Gradient.h"
#include "GraphTesting.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

constexpr double kTolerance = 1e-7;

struct Case {
  std::string name;
  std::string text;
};

/// A parameter `%name: tensor<SHAPExf64>`, drawn from [lo, hi).
std::string parameter(const std::string &name, const std::string &type,
                      const std::string &range = "-1.5, 1.5") {
  return "%" + name + ": tensor<" + type +
         "> {echo.role = \"parameter\", echo.name = \"" + name +
         "\", echo.init = #echo.init<uniform, " + range + ">}";
}

std::string function(const std::string &arguments, const std::string &results,
                     const std::string &body) {
  return "func.func @f(" + arguments + ") -> (" + results + ") {\n" + body +
         "\n}\n";
}

Case unary(const std::string &op, const std::string &range = "-1.5, 1.5") {
  return {op, function(parameter("a", "3x2xf64", range), "tensor<3x2xf64>",
                       "%0 = echo." + op +
                           " %a : (tensor<3x2xf64>) -> tensor<3x2xf64>\n"
                           "return %0 : tensor<3x2xf64>")};
}

std::string shaped(const std::string &shape) {
  return shape.empty() ? "f64" : shape + "xf64";
}

Case binary(const std::string &op, const std::string &lhs,
            const std::string &rhs, const std::string &result,
            const std::string &lhsRange = "-1.5, 1.5",
            const std::string &rhsRange = "-1.5, 1.5") {
  std::string type = "tensor<" + shaped(result) + ">";
  return {op + "_" + lhs + "_" + rhs,
          function(parameter("a", shaped(lhs), lhsRange) + ", " +
                       parameter("b", shaped(rhs), rhsRange),
                   type,
                   "%0 = echo." + op + " %a, %b : (tensor<" + shaped(lhs) +
                       ">, tensor<" + shaped(rhs) + ">) -> " + type +
                       "\nreturn %0 : " + type)};
}

/// One op on parameters a, b, ... of the operand types. `text` is the op's
/// mnemonic, followed by its attributes in braces if it has some.
Case op(const std::string &name, const std::string &text,
        const std::vector<std::string> &operands, const std::string &result) {
  std::string arguments, names, types;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string id(1, char('a' + i));
    arguments += (i ? ", " : "") + parameter(id, operands[i]);
    names += (i ? ", %" : "%") + id;
    types += (i ? ", tensor<" : "tensor<") + operands[i] + ">";
  }
  size_t brace = text.find('{');
  std::string attributes =
      brace == std::string::npos ? "" : " " + text.substr(brace);
  std::string type = "tensor<" + result + ">";
  return {name, function(arguments, type,
                         "%0 = echo." + text.substr(0, brace) + " " + names +
                             attributes + " : (" + types + ") -> " + type +
                             "\nreturn %0 : " + type)};
}

std::vector<Case> elementwiseCases() {
  std::vector<Case> cases = {unary("neg"),
                             unary("abs"),
                             unary("sign"),
                             unary("exp"),
                             unary("log", "0.3, 3.0"),
                             unary("sqrt", "0.3, 3.0"),
                             unary("rsqrt", "0.3, 3.0"),
                             unary("tanh"),
                             unary("sigmoid"),
                             unary("relu"),
                             unary("gelu"),
                             unary("erf")};
  const std::vector<std::vector<std::string>> shapes = {
      {"2x3", "2x3", "2x3"}, {"2x3", "3", "2x3"},       {"2x1", "1x3", "2x3"},
      {"", "4", "4"},        {"4x2x3", "2x1", "4x2x3"}, {"1x1", "2x3", "2x3"},
      {"1", "1x1", "1x1"},   {"3", "4x1x1", "4x1x3"}};
  for (const std::vector<std::string> &s : shapes) {
    for (const char *name : {"add", "sub", "mul", "max", "min"}) {
      cases.push_back(binary(name, s[0], s[1], s[2]));
      cases.push_back(binary(name, s[1], s[0], s[2]));
    }
    cases.push_back(binary("div", s[0], s[1], s[2], "-1.5, 1.5", "0.4, 2.0"));
    cases.push_back(binary("div", s[1], s[0], s[2], "-1.5, 1.5", "-2.0, -0.4"));
    cases.push_back(binary("pow", s[0], s[1], s[2], "0.3, 2.0"));
    cases.push_back(binary("pow", s[1], s[0], s[2], "0.3, 2.0"));
  }
  cases.push_back(
      {"same operand twice",
       function(parameter("a", "3xf64", "0.3, 2.0"), "tensor<3xf64>",
                "%0 = echo.mul %a, %a : (tensor<3xf64>, "
                "tensor<3xf64>) -> tensor<3xf64>\n"
                "%1 = echo.pow %0, %a : (tensor<3xf64>, "
                "tensor<3xf64>) -> tensor<3xf64>\n"
                "return %1 : tensor<3xf64>")});
  for (const char *shape : {"2x3x", "2x1x", "1x3x", "3x", ""}) {
    std::string predicate = "tensor<" + std::string(shape) + "i1>";
    cases.push_back(
        {"select by " + predicate,
         function(parameter("a", "2x3xf64") + ", " + parameter("b", "3xf64") +
                      ", %p: " + predicate,
                  "tensor<2x3xf64>",
                  "%0 = echo.select %p, %a, %b : (" + predicate +
                      ", tensor<2x3xf64>, tensor<3xf64>) -> tensor<2x3xf64>\n"
                      "return %0 : tensor<2x3xf64>")});
  }
  cases.push_back({"select with broadcast arms",
                   function(parameter("a", "2x1xf64") + ", " +
                                parameter("b", "f64") + ", %p: tensor<3xi1>",
                            "tensor<2x3xf64>",
                            "%0 = echo.select %p, %a, %b : (tensor<3xi1>, "
                            "tensor<2x1xf64>, tensor<f64>) -> tensor<2x3xf64>\n"
                            "return %0 : tensor<2x3xf64>")});
  // All float types are f64 here: the conversions are exact.
  cases.push_back(
      {"convert",
       function(parameter("a", "4xf64"), "tensor<4xf64>",
                "%0 = echo.convert %a : (tensor<4xf64>) -> tensor<4xf32>\n"
                "%1 = echo.mul %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> "
                "tensor<4xf32>\n"
                "%2 = echo.convert %1 : (tensor<4xf32>) -> tensor<4xf64>\n"
                "return %2 : tensor<4xf64>")});
  cases.push_back(
      {"integers end the path",
       function(parameter("a", "4xf64") + ", %i: tensor<4xi32>",
                "tensor<4xf64>",
                "%0 = echo.convert %a : (tensor<4xf64>) -> tensor<4xi32>\n"
                "%1 = echo.rem %i, %0 : (tensor<4xi32>, tensor<4xi32>) -> "
                "tensor<4xi32>\n"
                "%2 = echo.convert %1 : (tensor<4xi32>) -> tensor<4xf64>\n"
                "%3 = echo.mul %2, %a : (tensor<4xf64>, tensor<4xf64>) -> "
                "tensor<4xf64>\n"
                "return %3 : tensor<4xf64>")});
  return cases;
}

std::vector<Case> shapeCases() {
  std::vector<Case> cases = {
      op("reshape", "reshape", {"2x6xf64"}, "3x1x4xf64"),
      op("reshape to rank 0", "reshape", {"1x1xf64"}, "f64"),
      op("transpose", "transpose {permutation = array<i64: 2, 0, 1>}",
         {"2x3x4xf64"}, "4x2x3xf64"),
      op("transpose of rank 4",
         "transpose {permutation = array<i64: 3, 1, 0, 2>}", {"2x3x1x2xf64"},
         "2x3x2x1xf64"),
      op("broadcast of rank 0", "broadcast", {"f64"}, "2x3xf64"),
      op("broadcast", "broadcast", {"2x1x3xf64"}, "4x2x5x3xf64"),
      op("broadcast of leading dims", "broadcast", {"3xf64"}, "4x3xf64"),
      op("broadcast to itself", "broadcast", {"2x3xf64"}, "2x3xf64"),
      op("slice",
         "slice {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 2>, strides "
         "= array<i64: 1, 1>}",
         {"4x3xf64"}, "2x2xf64"),
      op("slice with strides",
         "slice {offsets = array<i64: 1, 0, 2>, sizes = array<i64: 3, 2, 2>, "
         "strides = array<i64: 2, 3, 1>}",
         {"7x5x4xf64"}, "3x2x2xf64"),
      op("slice with a stride that ends short",
         "slice {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = "
         "array<i64: 3>}",
         {"9xf64"}, "2xf64"),
      op("slice of all",
         "slice {offsets = array<i64: 0>, sizes = array<i64: 4>, strides = "
         "array<i64: 1>}",
         {"4xf64"}, "4xf64"),
      op("pad", "pad {low = array<i64: 1, 0>, high = array<i64: 2, 3>}",
         {"2x3xf64", "f64"}, "5x6xf64"),
      op("pad with nothing", "pad {low = array<i64: 0>, high = array<i64: 0>}",
         {"3xf64", "f64"}, "3xf64"),
      op("concat of equal parts", "concat {axis = 1 : i64}",
         {"2x3xf64", "2x3xf64", "2x3xf64"}, "2x9xf64"),
      op("concat of unequal parts", "concat {axis = 0 : i64}",
         {"1x2xf64", "3x2xf64", "2x2xf64"}, "6x2xf64"),
      op("concat of one", "concat {axis = 0 : i64}", {"3xf64"}, "3xf64"),
      op("reverse", "reverse {axes = array<i64: 0, 2>}", {"2x3x4xf64"},
         "2x3x4xf64")};
  cases.push_back(
      {"concat with inputs",
       function(
           parameter("a", "2xf64") + ", %x: tensor<2xf64>", "tensor<6xf64>",
           "%0 = echo.concat %x, %a, %x {axis = 0 : i64} : (tensor<2xf64>, "
           "tensor<2xf64>, tensor<2xf64>) -> tensor<6xf64>\n"
           "return %0 : tensor<6xf64>")});
  cases.push_back(
      {"split",
       function(parameter("a", "2x6xf64"),
                "tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>",
                "%0:3 = echo.split %a {axis = 1 : i64} : (tensor<2x6xf64>) -> "
                "(tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>)\n"
                "return %0#0, %0#1, %0#2 : tensor<2x2xf64>, tensor<2x2xf64>, "
                "tensor<2x2xf64>")});
  for (const char *used : {"%0#0", "%0#1", "%0#2"})
    cases.push_back(
        {std::string("split with one reader of ") + used,
         function(parameter("a", "3x2xf64"), "tensor<1x2xf64>",
                  "%0:3 = echo.split %a {axis = 0 : i64} : (tensor<3x2xf64>) "
                  "-> (tensor<1x2xf64>, tensor<1x2xf64>, tensor<1x2xf64>)\n"
                  "return " +
                      std::string(used) + " : tensor<1x2xf64>")});
  cases.push_back(
      {"split with two readers",
       function(parameter("a", "6xf64"), "tensor<2xf64>, tensor<2xf64>",
                "%0:3 = echo.split %a {axis = 0 : i64} : (tensor<6xf64>) -> "
                "(tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)\n"
                "return %0#2, %0#0 : tensor<2xf64>, tensor<2xf64>")});
  return cases;
}

std::vector<Case> reductionCases() {
  std::vector<Case> cases;
  for (const char *kind : {"sum", "mean", "max", "min"}) {
    std::string reduce = std::string("reduce ") + kind;
    std::string name = kind;
    cases.push_back(op(name + " of all", reduce + " {dims = array<i64: 0, 1>}",
                       {"3x4xf64"}, "f64"));
    cases.push_back(op(name + " of rows", reduce + " {dims = array<i64: 1>}",
                       {"3x4xf64"}, "3xf64"));
    cases.push_back(op(name + " of columns", reduce + " {dims = array<i64: 0>}",
                       {"3x4xf64"}, "4xf64"));
    cases.push_back(op(name + " of the middle",
                       reduce + " {dims = array<i64: 1>}", {"2x3x4xf64"},
                       "2x4xf64"));
    cases.push_back(op(name + " of the outer dims, kept",
                       reduce + " {dims = array<i64: 0, 2>, keepdims = true}",
                       {"2x3x4xf64"}, "1x3x1xf64"));
    cases.push_back(op(name + " of no dims", reduce + " {dims = array<i64>}",
                       {"3xf64"}, "3xf64"));
  }
  return cases;
}

std::vector<Case> contractionCases() {
  std::vector<Case> cases;
  // Result batches x 2x3 of a contraction over 4.
  const std::vector<std::vector<std::string>> batches = {
      {"", "", ""},           {"5x", "5x", "5x"},       {"5x", "", "5x"},
      {"", "5x", "5x"},       {"5x", "1x", "5x"},       {"1x", "5x", "5x"},
      {"2x1x", "5x", "2x5x"}, {"2x5x", "1x1x", "2x5x"}, {"1x", "", "1x"}};
  for (const std::vector<std::string> &batch : batches)
    for (bool left : {false, true})
      for (bool right : {false, true})
        for (bool bias : {false, true}) {
          std::vector<std::string> operands = {
              batch[0] + (left ? "4x2xf64" : "2x4xf64"),
              batch[1] + (right ? "3x4xf64" : "4x3xf64")};
          if (bias)
            operands.push_back("3xf64");
          std::string flags =
              std::string("{transpose_lhs = ") + (left ? "true" : "false") +
              ", transpose_rhs = " + (right ? "true" : "false") + "}";
          cases.push_back(op("matmul " + batch[0] + " by " + batch[1] + flags +
                                 (bias ? " with bias" : ""),
                             "matmul " + flags, operands,
                             batch[2] + "2x3xf64"));
          if (bias)
            continue;
          operands.insert(operands.begin(), batch[2] + "2x3xf64");
          cases.push_back(op("matmul_add " + batch[0] + " by " + batch[1] +
                                 flags,
                             "matmul_add " + flags, operands,
                             batch[2] + "2x3xf64"));
        }
  for (const char *leading : {"", "2x", "5x2x", "1x5x2x"})
    for (bool bias : {false, true}) {
      std::vector<std::string> operands = {leading + std::string("4xf64"),
                                           "3x4xf64"};
      if (bias)
        operands.push_back("3xf64");
      cases.push_back(
          op(std::string("linear ") + leading + (bias ? " with bias" : ""),
             "linear", operands, leading + std::string("3xf64")));
    }
  return cases;
}

std::vector<Case> compositeCases() {
  std::vector<Case> cases;
  for (const char *name : {"softmax", "log_softmax"})
    for (const char *axis : {"0", "1", "2"})
      cases.push_back(op(std::string(name) + " along " + axis,
                         std::string(name) + " {axis = " + axis + " : i64}",
                         {"2x3x4xf64"}, "2x3x4xf64"));
  auto layerNorm = [&](const std::string &leading, const std::string &readers) {
    std::string type = "tensor<" + leading + "5xf64>";
    std::string column = "tensor<" + leading + "1xf64>";
    std::vector<std::string> types = {type, column, column};
    std::string results, values;
    for (char index : readers) {
      results += (results.empty() ? "" : ", ") + types[index - '0'];
      values += (values.empty() ? "%0#" : ", %0#") + std::string(1, index);
    }
    cases.push_back(
        {"layer_norm " + leading + " read at " + readers,
         function(
             parameter("a", leading + "5xf64") + ", " +
                 parameter("s", "5xf64") + ", " + parameter("o", "5xf64"),
             results,
             "%0:3 = echo.layer_norm %a, %s, %o {epsilon = 0.01 : f64} : (" +
                 type + ", tensor<5xf64>, tensor<5xf64>) -> (" + type + ", " +
                 column + ", " + column + ")\nreturn " + values + " : " +
                 results)});
  };
  for (const char *leading : {"", "3x", "2x3x"})
    for (const char *readers : {"0", "1", "2", "12", "012"})
      layerNorm(leading, readers);
  // Indices outside of the table read zeros.
  cases.push_back(
      {"embedding", function(parameter("a", "4x3xf64") +
                                 ", %i: tensor<2x5xi32> "
                                 "{echo.init = #echo.init<randint, -1.0, 6.0>}",
                             "tensor<2x5x3xf64>",
                             "%0 = echo.embedding %a, %i : (tensor<4x3xf64>, "
                             "tensor<2x5xi32>) -> tensor<2x5x3xf64>\n"
                             "return %0 : tensor<2x5x3xf64>")});
  auto crossEntropy = [&](const std::string &leading,
                          const std::string &attributes,
                          const std::string &readers) {
    std::string result = "tensor<" + leading + "f64>";
    std::string labels = "tensor<" + leading + "i64>";
    std::string results, values;
    for (char index : readers) {
      results += (results.empty() ? "" : ", ") + result;
      values += (values.empty() ? "%0#" : ", %0#") + std::string(1, index);
    }
    cases.push_back(
        {"softmax_cross_entropy " + leading + attributes + " read at " +
             readers,
         function(parameter("a", leading + "4xf64") + ", %l: " + labels +
                      " {echo.init = #echo.init<randint, -1.0, 5.0>}",
                  results,
                  "%0:2 = echo.softmax_cross_entropy %a, %l " + attributes +
                      " : (tensor<" + leading + "4xf64>, " + labels + ") -> (" +
                      result + ", " + result + ")\nreturn " + values + " : " +
                      results)});
  };
  for (const char *leading : {"", "6x", "2x5x"})
    for (const char *attributes :
         {"", "{ignore_label = 2 : i64}",
          "{label_smoothing = 0.1 : f64, ignore_label = 0 : i64}"})
      for (const char *readers : {"0", "1", "01"})
        crossEntropy(leading, attributes, readers);
  for (const char *rate : {"0.0", "0.5", "0.25"})
    cases.push_back(
        {std::string("dropout ") + rate,
         function(parameter("a", "4x8xf64") +
                      ", %seed: tensor<i64>, %step: tensor<i64>, "
                      "%offset: tensor<i64>",
                  "tensor<4x8xf64>, tensor<4x8xi1>",
                  "%0:2 = echo.dropout %a, %seed, %step, %offset {rate = " +
                      std::string(rate) +
                      " : f64} : (tensor<4x8xf64>, tensor<i64>, tensor<i64>, "
                      "tensor<i64>) -> (tensor<4x8xf64>, tensor<4x8xi1>)\n"
                      "return %0#0, %0#1 : tensor<4x8xf64>, tensor<4x8xi1>")});
  for (const char *leading : {"", "3x", "2x3x"})
    for (const char *readers : {"0", "1", "01"}) {
      std::string cell = "tensor<" + std::string(leading) + "2xf64>";
      std::string gates = "tensor<" + std::string(leading) + "8xf64>";
      std::string results, values;
      for (char index : std::string(readers)) {
        results += (results.empty() ? "" : ", ") + cell;
        values += (values.empty() ? "%0#" : ", %0#") + std::string(1, index);
      }
      cases.push_back(
          {"lstm_cell " + std::string(leading) + " read at " + readers,
           function(parameter("a", leading + std::string("8xf64")) + ", " +
                        parameter("c", leading + std::string("2xf64")),
                    results,
                    "%0:3 = echo.lstm_cell %a, %c : (" + gates + ", " + cell +
                        ") -> (" + cell + ", " + cell + ", " + gates +
                        ")\nreturn " + values + " : " + results)});
    }
  return cases;
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (const std::vector<Case> &group :
       {elementwiseCases(), shapeCases(), reductionCases(), contractionCases(),
        compositeCases()})
    cases.insert(cases.end(), group.begin(), group.end());
  return cases;
}

void checkCases(const std::vector<Case> &cases) {
  for (const Case &test : cases) {
    SCOPED_TRACE(test.name + "\n" + test.text);
    OwningOpRef<ModuleOp> module = parse(test.text);
    ASSERT_TRUE(module);
    func::FuncOp forward = firstFunction(*module);
    addWeightedLoss(forward);
    std::mt19937_64 rng(1);
    llvm::Expected<GradientError> error = compareGradients(forward, rng);
    ASSERT_TRUE(bool(error)) << llvm::toString(error.takeError());
    EXPECT_LE(error->largest, kTolerance) << error->where;
  }
}

TEST(Gradient, Elementwise) { checkCases(elementwiseCases()); }
TEST(Gradient, Shape) { checkCases(shapeCases()); }
TEST(Gradient, Reduction) { checkCases(reductionCases()); }
TEST(Gradient, Contraction) { checkCases(contractionCases()); }
TEST(Gradient, Composite) { checkCases(compositeCases()); }

void replaceAll(std::string &text, const std::string &from,
                const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The same graphs declared in bf16, still evaluated in f64: the gradient of an
/// op of mixed types has the right types, and converts where it has to.
TEST(Gradient, DeclaredInBf16) {
  std::vector<Case> cases = allCases();
  // A scale of 1 / (1 - 0.25) isn't a bf16: the op rounds it in its own type.
  llvm::erase_if(cases,
                 [](const Case &test) { return test.name == "dropout 0.25"; });
  for (Case &test : cases) {
    auto has = [&](const char *op) {
      return test.text.find(op) != std::string::npos;
    };
    // What is f32 beside f16 and bf16: mean and rstd, loss and log_sum_exp.
    if (has("echo.layer_norm"))
      replaceAll(test.text, "1xf64>", "1xf32>");
    std::string rest = "bf16>";
    if (has("echo.softmax_cross_entropy")) {
      replaceAll(test.text, "4xf64>", "4xbf16>");
      rest = "f32>";
    }
    replaceAll(test.text, "xf64>", "x" + rest);
    replaceAll(test.text, "<f64>", "<" + rest);
  }
  checkCases(cases);
}

/// In the arithmetic of compiled code, with composite ops as they decompose:
/// the gradients are those in f64 within f32's precision.
TEST(Gradient, InF32) {
  for (Case &test : allCases()) {
    replaceAll(test.text, "xf64>", "xf32>");
    replaceAll(test.text, "<f64>", "<f32>");
    SCOPED_TRACE(test.name + "\n" + test.text);
    OwningOpRef<ModuleOp> module = parse(test.text);
    ASSERT_TRUE(module);
    func::FuncOp function = firstFunction(*module);
    addWeightedLoss(function);
    ASSERT_TRUE(succeeded(addGradients(function)));
    std::mt19937_64 rng(2);
    std::vector<Elements> inputs = drawInputs(function, rng);
    // The same inputs for both.
    for (Elements &input : inputs)
      for (double &element : input)
        element = float(element);
    llvm::Expected<std::vector<Elements>> exact =
        Evaluator(function, /*exact=*/true)(inputs);
    llvm::Expected<std::vector<Elements>> precise = Evaluator(function)(inputs);
    ASSERT_TRUE(bool(exact)) << llvm::toString(exact.takeError());
    ASSERT_TRUE(bool(precise)) << llvm::toString(precise.takeError());
    for (size_t result = 0; result < precise->size(); ++result)
      for (size_t i = 0; i < (*precise)[result].size(); ++i)
        EXPECT_NEAR((*exact)[result][i], (*precise)[result][i],
                    2e-5 * (1 + std::abs((*precise)[result][i])))
            << "result " << result << "[" << i << "]";
  }
}

/// Products in f16 and bf16 as compiled code computes them. What is rounded, by
/// at most half an ulp each: the gradient of the result, a product, and a sum
/// of products over a batch. A gradient is a sum of products of inputs, so that
/// each rounding changes it by at most u times that sum for the inputs'
/// magnitudes; f32 sums of at most 60 terms and second-order terms are less
/// than u / 10 of it.
TEST(Gradient, HalfProducts) {
  for (auto [type, u] : {std::pair("f16", 0x1p-11), std::pair("bf16", 0x1p-8)})
    for (Case &test : contractionCases()) {
      replaceAll(test.text, "xf64>", std::string("x") + type + ">");
      SCOPED_TRACE(test.name + "\n" + test.text);
      OwningOpRef<ModuleOp> module = parse(test.text);
      ASSERT_TRUE(module);
      func::FuncOp function = firstFunction(*module);
      addWeightedLoss(function);
      ASSERT_TRUE(succeeded(addGradients(function)));
      std::mt19937_64 rng(3);
      std::vector<Elements> inputs = drawInputs(function, rng), magnitudes;
      // Numbers of both types: below 1.5 with 7 bits behind the point.
      for (Elements &input : inputs) {
        for (double &element : input)
          element = std::round(element * 128) / 128;
        magnitudes.push_back(input);
        for (double &element : magnitudes.back())
          element = std::abs(element);
      }
      llvm::Expected<std::vector<Elements>> found =
          Evaluator(function, /*exact=*/true)(inputs);
      llvm::Expected<std::vector<Elements>> expected =
          Evaluator(function)(inputs);
      llvm::Expected<std::vector<Elements>> sums =
          Evaluator(function)(magnitudes);
      ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
      ASSERT_TRUE(bool(expected)) << llvm::toString(expected.takeError());
      ASSERT_TRUE(bool(sums)) << llvm::toString(sums.takeError());
      for (size_t result = 0; result < expected->size(); ++result)
        for (size_t i = 0; i < (*expected)[result].size(); ++i)
          EXPECT_NEAR((*found)[result][i], (*expected)[result][i],
                      3.1 * u * (*sums)[result][i])
              << "result " << result << "[" << i << "]";
    }
}

TEST(Gradient, EveryOpWithAGradientIsChecked) {
  std::string all;
  for (const Case &test : allCases())
    all += test.text;
  unsigned count = 0;
  for (RegisteredOperationName name : context().getRegisteredOperations()) {
    if (name.getDialectNamespace() != "echo" ||
        !name.hasInterface<GradientOpInterface>())
      continue;
    ++count;
    EXPECT_NE(all.find(name.getStringRef().str() + " "), std::string::npos)
        << name.getStringRef().str() << " has a gradient but no check";
  }
  EXPECT_GE(count, 40u);
}

TEST(Gradient, TheCheckSeesSmallErrors) {
  Case test = unary("tanh");
  OwningOpRef<ModuleOp> module = parse(test.text);
  ASSERT_TRUE(module);
  func::FuncOp forward = firstFunction(*module);
  addWeightedLoss(forward);
  std::mt19937_64 rng(1);
  llvm::Expected<GradientError> error =
      compareGradients(forward, rng, /*scale=*/1.0 + 1e-5);
  ASSERT_TRUE(bool(error)) << llvm::toString(error.takeError());
  EXPECT_GT(error->largest, 10 * kTolerance);
}

//===----------------------------------------------------------------------===//
// Where finite differences say nothing: the expected values are worked out.
//===----------------------------------------------------------------------===//

/// The gradients of a function's parameters at the given inputs.
std::vector<Elements> gradientsAt(const std::string &text,
                                  const std::vector<Elements> &inputs) {
  OwningOpRef<ModuleOp> module = parse(text);
  if (!module)
    return {};
  func::FuncOp function = firstFunction(*module);
  unsigned results = function.getNumResults();
  if (failed(addGradients(function))) {
    ADD_FAILURE() << "no gradient";
    return {};
  }
  llvm::Expected<std::vector<Elements>> values = Evaluator(function)(inputs);
  if (!values) {
    ADD_FAILURE() << llvm::toString(values.takeError());
    return {};
  }
  return {values->begin() + results, values->end()};
}

/// sum(op(a) * w) with a parameter a and weights w.
std::string weighted(const std::string &type, const std::string &attributes,
                     const std::string &op, const std::string &dims) {
  std::string t = "tensor<" + type + ">";
  return function(
      parameter("a", type) + ", %w: " + t, "tensor<f64>",
      "%0 = echo." + op + " %a" + attributes + " : (" + t + ") -> " + t +
          "\n%1 = echo.mul %0, %w : (" + t + ", " + t + ") -> " + t +
          "\n%2 = echo.reduce sum %1 {dims = array<i64: " + dims + ">} : (" +
          t + ") -> tensor<f64>\nreturn %2 : tensor<f64>");
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Gradient, TiesOfMaxAndMinShareEqually) {
  for (const char *kind : {"max", "min"}) {
    std::string text = function(
        parameter("a", "2x4xf64"), "tensor<f64>",
        std::string("%0 = echo.reduce ") + kind +
            " %a {dims = array<i64: 1>} : (tensor<2x4xf64>) -> tensor<2xf64>\n"
            "%1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<2xf64>) "
            "-> tensor<f64>\n"
            "return %1 : tensor<f64>");
    double sign = kind[1] == 'a' ? 1.0 : -1.0;
    std::vector<Elements> gradients =
        gradientsAt(text, {{3 * sign, 1 * sign, 3 * sign, 0, 2, 2, 2, 2}});
    ASSERT_EQ(gradients.size(), 1u);
    EXPECT_EQ(gradients[0], (Elements{0.5, 0, 0.5, 0, 0.25, 0.25, 0.25, 0.25}));
  }
}

TEST(Gradient, EqualOperandsOfMaxAndMinGoToTheLeft) {
  for (const char *name : {"max", "min"}) {
    std::string text = function(
        parameter("a", "f64") + ", " + parameter("b", "f64"), "tensor<f64>",
        std::string("%0 = echo.") + name +
            " %a, %b : (tensor<f64>, tensor<f64>) -> tensor<f64>\n"
            "return %0 : tensor<f64>");
    EXPECT_EQ(gradientsAt(text, {{2}, {2}}), (std::vector<Elements>{{1}, {0}}));
  }
}

TEST(Gradient, KinksAtZero) {
  for (const char *name : {"abs", "relu", "sign"})
    EXPECT_EQ(gradientsAt(weighted("3xf64", "", name, "0"),
                          {{0.0, -0.0, 0.0}, {2, 3, 4}}),
              (std::vector<Elements>{{0, 0, 0}}))
        << name;
}

TEST(Gradient, PowerAtZero) {
  std::string text = function(
      parameter("a", "4xf64") + ", " + parameter("b", "4xf64"), "tensor<f64>",
      "%0 = echo.pow %a, %b : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>\n"
      "%1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<4xf64>) -> "
      "tensor<f64>\n"
      "return %1 : tensor<f64>");
  // 0^0, 0^1, 0^2 and (-2)^0; (-2)^y has no slope in y.
  std::vector<Elements> gradients =
      gradientsAt(text, {{0, 0, 0, -2}, {0, 1, 2, 0}});
  ASSERT_EQ(gradients.size(), 2u);
  EXPECT_EQ(gradients[0], (Elements{0, 1, 0, 0}));
  gradients[1].resize(3);
  EXPECT_EQ(gradients[1], (Elements{0, 0, 0}));
}

TEST(Gradient, RowsOfMinusInfinity) {
  for (const char *name : {"softmax", "log_softmax"}) {
    std::vector<Elements> gradients =
        gradientsAt(weighted("2x2xf64", " {axis = 1 : i64}", name, "0, 1"),
                    {{-kInfinity, -kInfinity, 0, 0}, {1, 3, 1, 3}});
    ASSERT_EQ(gradients.size(), 1u);
    // The second row has p = 1/2: p (w - sum p w) and w - p sum w.
    Elements expected =
        name[0] == 's' ? Elements{0, 0, -0.5, 0.5} : Elements{0, 0, -1, 1};
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(gradients[0][i], expected[i], 1e-15) << name << " " << i;
  }
  // The sum of losses and log-sum-exps; a loss has the gradient p - [label],
  // a log-sum-exp p.
  std::string text =
      function(parameter("a", "2x2xf64") + ", %l: tensor<2xi64>", "tensor<f64>",
               "%0:2 = echo.softmax_cross_entropy %a, %l : (tensor<2x2xf64>, "
               "tensor<2xi64>) -> (tensor<2xf64>, tensor<2xf64>)\n"
               "%1 = echo.add %0#0, %0#1 : (tensor<2xf64>, tensor<2xf64>) -> "
               "tensor<2xf64>\n"
               "%2 = echo.reduce sum %1 {dims = array<i64: 0>} : "
               "(tensor<2xf64>) -> tensor<f64>\n"
               "return %2 : tensor<f64>");
  std::vector<Elements> gradients =
      gradientsAt(text, {{-kInfinity, -kInfinity, 0, 0}, {0, 1}});
  ASSERT_EQ(gradients.size(), 1u);
  Elements expected = {0, 0, 1, 0};
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(gradients[0][i], expected[i], 1e-15) << i;
}

TEST(Gradient, EmptyTensors) {
  std::string text =
      function(parameter("a", "0x3xf64") + ", " + parameter("b", "4x3xf64"),
               "tensor<f64>",
               "%0 = echo.matmul %a, %b {transpose_rhs = true} : "
               "(tensor<0x3xf64>, tensor<4x3xf64>) -> tensor<0x4xf64>\n"
               "%1 = echo.reduce sum %0 {dims = array<i64: 0, 1>} : "
               "(tensor<0x4xf64>) -> tensor<f64>\n"
               "return %1 : tensor<f64>");
  std::vector<Elements> gradients = gradientsAt(text, {{}, Elements(12, 1.0)});
  EXPECT_EQ(gradients, (std::vector<Elements>{{}, Elements(12, 0.0)}));
}

} // namespace

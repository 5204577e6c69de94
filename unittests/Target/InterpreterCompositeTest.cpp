//===- InterpreterCompositeTest.cpp - Values of composite ops -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Definitions (f64 mode) and decompositions (exact mode) against arithmetic
// written out.
//
//===----------------------------------------------------------------------===//

#include "InterpreterTestUtils.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

constexpr InterpreterMode kModes[] = {InterpreterMode::F64,
                                      InterpreterMode::Exact};

class InterpreterCompositeTest : public InterpreterTest {
protected:
  void expectResults(StringRef source, ArrayRef<HostTensor> operands,
                     ArrayRef<std::vector<double>> want, double tolerance) {
    SCOPED_TRACE(source.str());
    for (InterpreterMode mode : kModes) {
      SCOPED_TRACE(mode == InterpreterMode::F64 ? "f64" : "exact");
      auto results = run(source, operands, mode);
      ASSERT_EQ(results.size(), want.size());
      for (auto [result, values] : llvm::zip(results, want))
        expectValues(result, values, tolerance);
    }
  }

  std::string softmax(StringRef name, StringRef type, int64_t axis) {
    return ("func.func @f(%a: " + type + ") -> " + type + " { %0 = echo." +
            name + " %a {axis = " + Twine(axis) + " : i64} : (" + type +
            ") -> " + type + " return %0 : " + type + " }")
        .str();
  }
};

// exp(log 3 - log 3) = 1 and exp(0 - log 3) = 1/3: 3/4 and 1/4.
TEST_F(InterpreterCompositeTest, Softmax) {
  double log3 = 1.0986122886681098;
  expectResults(softmax("softmax", "tensor<2x2xf32>", 1),
                {tensor("tensor<2x2xf32>", {0, log3, 5, 5})},
                {{0.25, 0.75, 0.5, 0.5}}, 1e-7);
  // Along columns: (0, 5) and (log 3, 5) mixed up would differ.
  expectResults(softmax("softmax", "tensor<2x2xf32>", 0),
                {tensor("tensor<2x2xf32>", {0, 7, log3, 7})},
                {{0.25, 0.5, 0.75, 0.5}}, 1e-7);
  expectResults(softmax("log_softmax", "tensor<1x2xf32>", 1),
                {tensor("tensor<1x2xf32>", {0, log3})},
                {{-1.3862943611198906, -0.2876820724517809}}, 2e-7);
}

TEST_F(InterpreterCompositeTest, SoftmaxOfMinusInfinity) {
  expectResults(softmax("softmax", "tensor<2x2xf32>", 1),
                {tensor("tensor<2x2xf32>", {-kInf, -kInf, -kInf, 3})},
                {{0, 0, 0, 1}}, 0);
  expectResults(softmax("log_softmax", "tensor<2x2xf32>", 1),
                {tensor("tensor<2x2xf32>", {-kInf, -kInf, -kInf, 3})},
                {{-kInf, -kInf, -kInf, 0}}, 0);
}

TEST_F(InterpreterCompositeTest, SoftmaxOfHugeInputs) {
  expectResults(softmax("softmax", "tensor<1x2xf32>", 1),
                {tensor("tensor<1x2xf32>", {-1e14, -1.0001e14})}, {{1, 0}}, 0);
  expectResults(softmax("softmax", "tensor<1x2xf32>", 1),
                {tensor("tensor<1x2xf32>", {1e38, -1e38})}, {{1, 0}}, 0);
}

TEST_F(InterpreterCompositeTest, SoftmaxOfNaNIsNaN) {
  expectResults(softmax("softmax", "tensor<1x2xf32>", 1),
                {tensor("tensor<1x2xf32>", {kNaN, 1})}, {{kNaN, kNaN}}, 0);
}

// 1 / 4096 = 2^-12 is an f16: the sum must not stop at 2048.
TEST_F(InterpreterCompositeTest, SoftmaxOf4096HalfLogits) {
  expectResults(softmax("softmax", "tensor<4096xf16>", 0),
                {tensor("tensor<4096xf16>", SmallVector<double>(4096, 3.0))},
                {std::vector<double>(4096, 0x1p-12)}, 0);
}

TEST_F(InterpreterCompositeTest, EmptySoftmax) {
  expectResults(softmax("softmax", "tensor<0x3xf32>", 1),
                {tensor("tensor<0x3xf32>", {})}, {{}}, 0);
  expectResults(softmax("softmax", "tensor<3x0xf32>", 1),
                {tensor("tensor<3x0xf32>", {})}, {{}}, 0);
}

// 17 elements, 16 zeros and one 17: mean 1, variance (16 + 256) / 17 = 16.
// With lanes of padding it would be another. (x - 1) / 4 is -1/4 and 4; times
// 2 plus 1.
TEST_F(InterpreterCompositeTest, LayerNormOf17) {
  const char *source = R"mlir(
    func.func @f(%x: tensor<1x17xf32>, %s: tensor<17xf32>, %o: tensor<17xf32>)
        -> (tensor<1x17xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
      %0, %1, %2 = echo.layer_norm %x, %s, %o {epsilon = 1.0e-12 : f64}
        : (tensor<1x17xf32>, tensor<17xf32>, tensor<17xf32>)
        -> (tensor<1x17xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
      return %0, %1, %2 : tensor<1x17xf32>, tensor<1x1xf32>, tensor<1x1xf32>
    })mlir";
  SmallVector<double> x(17, 0.0);
  x[5] = 17;
  std::vector<double> want(17, 0.5);
  want[5] = 9;
  expectResults(source,
                {tensor("tensor<1x17xf32>", x),
                 tensor("tensor<17xf32>", SmallVector<double>(17, 2.0)),
                 tensor("tensor<17xf32>", SmallVector<double>(17, 1.0))},
                {want, {1}, {0.25}}, 1e-6);
}

const char *const kCrossEntropy = R"mlir(
  func.func @f(%x: tensor<5x2xf32>, %l: tensor<5xi32>, %g: tensor<5xf32>)
      -> (tensor<5xf32>, tensor<5xf32>, tensor<5x2xf32>) {
    %0, %1 = echo.softmax_cross_entropy %x, %l {SMOOTHING}
      : (tensor<5x2xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xf32>)
    %2 = echo.softmax_cross_entropy_grad %x, %l, %1, %g {SMOOTHING}
      : (tensor<5x2xf32>, tensor<5xi32>, tensor<5xf32>, tensor<5xf32>) -> tensor<5x2xf32>
    return %0, %1, %2 : tensor<5xf32>, tensor<5xf32>, tensor<5x2xf32>
  })mlir";

std::string crossEntropy(StringRef attributes) {
  std::string source = kCrossEntropy;
  for (size_t at; (at = source.find("{SMOOTHING}")) != std::string::npos;)
    source.replace(at, 11, ("{" + attributes + "}").str());
  return source;
}

// p = (1/4, 3/4) at the first position, label 1: loss -log(3/4), gradient
// (p - (0, 1)) * 2. Then an ignored label, a label out of range, a row of
// -inf, and a class of -inf that isn't the label.
TEST_F(InterpreterCompositeTest, CrossEntropy) {
  double log3 = 1.0986122886681098, log4 = 1.3862943611198906;
  double log2 = 0.6931471805599453;
  expectResults(
      crossEntropy("ignore_label = 7 : i64"),
      {tensor("tensor<5x2xf32>", {0, log3, 0, 0, 0, 0, -kInf, -kInf, -kInf, 5}),
       tensor("tensor<5xi32>", {1, 7, -1, 0, 1}),
       tensor("tensor<5xf32>", {2, 2, 2, 2, 2})},
      {{log4 - log3, 0, 0, 0, 0},
       {log4, log2, log2, -kInf, 5},
       {0.5, -0.5, 0, 0, 0, 0, 0, 0, 0, 0}},
      1e-6);
}

// Smoothing s = 1/2 over V = 2: loss = -1/2 log p[label] - 1/4 (log p[0] +
// log p[1]) and target (1/4, 3/4) for label 1.
TEST_F(InterpreterCompositeTest, CrossEntropyWithSmoothing) {
  double log3 = 1.0986122886681098, log4 = 1.3862943611198906;
  double log2 = 0.6931471805599453;
  double p0 = -log4, p1 = log3 - log4;
  expectResults(
      crossEntropy("label_smoothing = 0.5 : f64"),
      {tensor("tensor<5x2xf32>", {0, log3, 0, log3, 0, 0, 0, 0, -kInf, -kInf}),
       tensor("tensor<5xi32>", {1, 0, -100, 0, 1}),
       tensor("tensor<5xf32>", {1, 1, 1, 2, 1})},
      {{-0.5 * p1 - 0.25 * (p0 + p1), -0.5 * p0 - 0.25 * (p0 + p1), 0, log2, 0},
       {log4, log4, log2, log2, -kInf},
       {0, 0, 0.25 - 0.75, 0.75 - 0.25, 0, 0, (0.5 - 0.75) * 2,
        (0.5 - 0.25) * 2, 0, 0}},
      1e-6);
}

// All gates at 0 but the cell's: i = f = o = 1/2, g = tanh(g'). With g' such
// that g = 1/2 and the old cell 1: c = 1/2 + 1/4 = 3/4.
TEST_F(InterpreterCompositeTest, LstmCell) {
  double atanhHalf = 0.5493061443340548, tanh = 0.6351489523872873;
  const char *source = R"mlir(
    func.func @f(%g: tensor<1x4xf32>, %c: tensor<1x1xf32>)
        -> (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x4xf32>) {
      %0, %1, %2 = echo.lstm_cell %g, %c : (tensor<1x4xf32>, tensor<1x1xf32>)
        -> (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x4xf32>)
      return %0, %1, %2 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x4xf32>
    })mlir";
  expectResults(source,
                {tensor("tensor<1x4xf32>", {0, 0, atanhHalf, 0}),
                 tensor("tensor<1x1xf32>", {1})},
                {{0.5 * tanh}, {0.75}, {0.5, 0.5, 0.5, 0.5}}, 1e-6);
}

// From activated (1/2, 1/4, 1/2, 1/2), old cell 2, new cell 0 (tanh 0), dh = 4
// and dc = 1: dc' = 1 + 4 * 1/2 * 1 = 3. Input gate: 3 * 1/2 * 1/4 = 3/8;
// forget: 3 * 2 * 3/16 = 9/8; cell: 3 * 1/2 * 3/4 = 9/8; output: 4 * 0 = 0;
// old cell: 3 / 4. Two rows, the second with zero gradients.
TEST_F(InterpreterCompositeTest, LstmCellGrad) {
  const char *source = R"mlir(
    func.func @f(%a: tensor<2x4xf32>, %c: tensor<2x1xf32>, %n: tensor<2x1xf32>,
                 %h: tensor<2x1xf32>, %d: tensor<2x1xf32>)
        -> (tensor<2x4xf32>, tensor<2x1xf32>) {
      %0, %1 = echo.lstm_cell_grad %a, %c, %n, %h, %d
        : (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
        -> (tensor<2x4xf32>, tensor<2x1xf32>)
      return %0, %1 : tensor<2x4xf32>, tensor<2x1xf32>
    })mlir";
  expectResults(
      source,
      {tensor("tensor<2x4xf32>", {0.5, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}),
       tensor("tensor<2x1xf32>", {2, 1}), tensor("tensor<2x1xf32>", {0, 1}),
       tensor("tensor<2x1xf32>", {4, 0}), tensor("tensor<2x1xf32>", {1, 0})},
      {{0.375, 1.125, 1.125, 0, 0, 0, 0, 0}, {0.75, 0}}, 1e-6);
}

} // namespace

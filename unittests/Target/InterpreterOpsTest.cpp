//===- InterpreterOpsTest.cpp - Values of ops -----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Expected values come from arithmetic written out. Where a result is exact or
// the order of roundings doesn't matter, both modes have to give it.
//
//===----------------------------------------------------------------------===//

#include "InterpreterTestUtils.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

constexpr InterpreterMode kModes[] = {InterpreterMode::F64,
                                      InterpreterMode::Exact};

class InterpreterOpsTest : public InterpreterTest {
protected:
  /// Checks the first result of `body` (the ops of a function that ends with
  /// `return`) in both modes.
  void expectResult(StringRef source, ArrayRef<HostTensor> operands,
                    ArrayRef<double> want, double tolerance = 0) {
    SCOPED_TRACE(source.str());
    for (InterpreterMode mode : kModes) {
      auto results = run(source, operands, mode);
      ASSERT_FALSE(results.empty());
      expectValues(results[0], want, tolerance);
    }
  }

  std::string unary(StringRef op, StringRef from, StringRef to) {
    return ("func.func @f(%a: " + from + ") -> " + to + " { %0 = " + op +
            " : (" + from + ") -> " + to + " return %0 : " + to + " }")
        .str();
  }
  std::string binary(StringRef op, StringRef a, StringRef b, StringRef to) {
    return ("func.func @f(%a: " + a + ", %b: " + b + ") -> " + to +
            " { %0 = " + op + " : (" + a + ", " + b + ") -> " + to +
            " return %0 : " + to + " }")
        .str();
  }
};

TEST_F(InterpreterOpsTest, Broadcasting) {
  // [2, 1] + [3]: rows 10 and 20, columns 1, 2, 3.
  expectResult(
      binary("echo.add %a, %b", "tensor<2x1xf32>", "tensor<3xf32>",
             "tensor<2x3xf32>"),
      {tensor("tensor<2x1xf32>", {10, 20}), tensor("tensor<3xf32>", {1, 2, 3})},
      {11, 12, 13, 21, 22, 23});
  expectResult(binary("echo.sub %a, %b", "tensor<f32>", "tensor<2xf32>",
                      "tensor<2xf32>"),
               {tensor("tensor<f32>", {1}), tensor("tensor<2xf32>", {2, 3})},
               {-1, -2});
  // [2, 1, 2] * [1, 3, 1].
  expectResult(binary("echo.mul %a, %b", "tensor<2x1x2xf32>",
                      "tensor<1x3x1xf32>", "tensor<2x3x2xf32>"),
               {tensor("tensor<2x1x2xf32>", {1, 2, 3, 4}),
                tensor("tensor<1x3x1xf32>", {1, 10, 100})},
               {1, 2, 10, 20, 100, 200, 3, 4, 30, 40, 300, 400});
}

TEST_F(InterpreterOpsTest, IntegersDivideTowardZeroAndByZero) {
  std::string type = "tensor<6xi32>";
  HostTensor a = tensor(type, {7, -7, 7, -7, 5, -2147483648.0});
  HostTensor b = tensor(type, {2, 2, -2, -2, 0, -1});
  expectResult(binary("echo.div %a, %b", type, type, type), {a, b},
               {3, -3, -3, 3, 0, -2147483648.0});
  expectResult(binary("echo.rem %a, %b", type, type, type), {a, b},
               {1, -1, 1, -1, 0, 0});
}

TEST_F(InterpreterOpsTest, IntegersWrap) {
  std::string type = "tensor<2xi8>";
  // 127 + 1 = 128 = -128 mod 256; -128 + -1 = -129 = 127.
  expectResult(binary("echo.add %a, %b", type, type, type),
               {tensor(type, {127, -128}), tensor(type, {1, -1})}, {-128, 127});
  // 100 * 3 = 300 = 44 mod 256; -128 * -1 = 128 = -128.
  expectResult(binary("echo.mul %a, %b", type, type, type),
               {tensor(type, {100, -128}), tensor(type, {3, -1})}, {44, -128});
  expectResult(unary("echo.abs %a", type, type), {tensor(type, {-128, -5})},
               {-128, 5});
}

TEST_F(InterpreterOpsTest, FlagsInWords) {
  // Elements 1 and 4: 2 + 16.
  std::string type = "tensor<2x3xf32>";
  expectResult(unary("echo.binarize %a", type, "tensor<1xi32>"),
               {tensor(type, {-1, 0.5, kNaN, -kInf, kInf, 0})}, {18});
  // The highest bit is the sign's.
  std::vector<double> flags(64, 0);
  flags[31] = flags[32] = 1;
  expectResult(unary("echo.binarize %a", "tensor<2x32xi1>", "tensor<2x1xi32>"),
               {tensor("tensor<2x32xi1>", flags)}, {-2147483648.0, 1});
  expectResult(unary("echo.debinarize %a", "tensor<2x1xi32>", "tensor<64xi1>"),
               {tensor("tensor<2x1xi32>", {-2147483648.0, 1})}, flags);
}

TEST_F(InterpreterOpsTest, NaNInMaxMinCompare) {
  std::string type = "tensor<4xf32>", flags = "tensor<4xi1>";
  HostTensor a = tensor(type, {kNaN, 1, kNaN, 2}),
             b = tensor(type, {1, kNaN, kNaN, 3});
  expectResult(binary("echo.max %a, %b", type, type, type), {a, b},
               {kNaN, kNaN, kNaN, 3});
  expectResult(binary("echo.min %a, %b", type, type, type), {a, b},
               {kNaN, kNaN, kNaN, 2});
  expectResult(binary("echo.compare ne %a, %b", type, type, flags), {a, b},
               {1, 1, 1, 1});
  expectResult(binary("echo.compare eq %a, %b", type, type, flags), {a, b},
               {0, 0, 0, 0});
  expectResult(binary("echo.compare le %a, %b", type, type, flags), {a, b},
               {0, 0, 0, 1});
  expectResult(unary("echo.relu %a", type, type),
               {tensor(type, {kNaN, -1, 2, -kInf})}, {kNaN, 0, 2, 0});
  expectResult(unary("echo.sign %a", type, type),
               {tensor(type, {kNaN, -3, 0, kInf})}, {kNaN, -1, 0, 1});
}

TEST_F(InterpreterOpsTest, Functions) {
  std::string type = "tensor<3xf64>";
  HostTensor x = tensor(type, {-1, 0, 2});
  // e^-1, tanh(1) = (e^2 - 1) / (e^2 + 1), erf(1) and erf(2) from tables.
  expectResult(unary("echo.exp %a", type, type), {x},
               {0.36787944117144233, 1, 7.38905609893065}, 1e-14);
  expectResult(unary("echo.tanh %a", type, type), {x},
               {-0.7615941559557649, 0, 0.9640275800758169}, 1e-15);
  expectResult(unary("echo.sigmoid %a", type, type), {x},
               {0.2689414213699951, 0.5, 0.8807970779778823}, 1e-15);
  expectResult(unary("echo.erf %a", type, type), {x},
               {-0.8427007929497149, 0, 0.9953222650189527}, 1e-15);
  // x / 2 (1 + erf(x / sqrt 2)): Phi(1) = 0.8413447460685429,
  // Phi(2) = 0.9772498680518208.
  expectResult(unary("echo.gelu %a", type, type), {x},
               {-0.15865525393145707, 0, 1.9544997361036416}, 1e-15);
  HostTensor y = tensor(type, {0.25, 1, 4});
  expectResult(unary("echo.sqrt %a", type, type), {y}, {0.5, 1, 2});
  expectResult(unary("echo.rsqrt %a", type, type), {y}, {2, 1, 0.5});
  expectResult(unary("echo.log %a", type, type), {y},
               {-1.3862943611198906, 0, 1.3862943611198906}, 1e-15);
  expectResult(binary("echo.pow %a, %b", type, type, type),
               {y, tensor(type, {-2, 100, 1.5})}, {16, 1, 8}, 1e-13);
}

TEST_F(InterpreterOpsTest, ConvertSaturates) {
  expectResult(unary("echo.convert %a", "tensor<6xf32>", "tensor<6xi8>"),
               {tensor("tensor<6xf32>", {1.9, -1.9, 1000, -1000, kNaN, kInf})},
               {1, -1, 127, -128, 0, 127});
  expectResult(unary("echo.convert %a", "tensor<3xf32>", "tensor<3xi1>"),
               {tensor("tensor<3xf32>", {0, -0.5, kNaN})}, {0, 1, 1});
}

TEST_F(InterpreterOpsTest, ShapeOps) {
  HostTensor x = tensor("tensor<2x3xf32>", {1, 2, 3, 4, 5, 6});
  expectResult(unary("echo.transpose %a {permutation = array<i64: 1, 0>}",
                     "tensor<2x3xf32>", "tensor<3x2xf32>"),
               {x}, {1, 4, 2, 5, 3, 6});
  expectResult(unary("echo.reshape %a", "tensor<2x3xf32>", "tensor<3x2xf32>"),
               {x}, {1, 2, 3, 4, 5, 6});
  expectResult(
      unary("echo.broadcast %a", "tensor<2x1xf32>", "tensor<2x2x2xf32>"),
      {tensor("tensor<2x1xf32>", {1, 2})}, {1, 1, 2, 2, 1, 1, 2, 2});
  // Row 0, columns 0 and 2.
  expectResult(unary("echo.slice %a {offsets = array<i64: 0, 0>, sizes = "
                     "array<i64: 1, 2>, strides = array<i64: 1, 2>}",
                     "tensor<2x3xf32>", "tensor<1x2xf32>"),
               {x}, {1, 3});
  expectResult(
      binary("echo.pad %a, %b {low = array<i64: 1>, high = array<i64: 2>}",
             "tensor<2xf32>", "tensor<f32>", "tensor<5xf32>"),
      {tensor("tensor<2xf32>", {1, 2}), tensor("tensor<f32>", {9})},
      {9, 1, 2, 9, 9});
  expectResult(binary("echo.concat %a, %b {axis = 1 : i64}", "tensor<2x1xf32>",
                      "tensor<2x2xf32>", "tensor<2x3xf32>"),
               {tensor("tensor<2x1xf32>", {1, 2}),
                tensor("tensor<2x2xf32>", {3, 4, 5, 6})},
               {1, 3, 4, 2, 5, 6});
  expectResult(unary("echo.reverse %a {axes = array<i64: 1>}",
                     "tensor<2x3xf32>", "tensor<2x3xf32>"),
               {x}, {3, 2, 1, 6, 5, 4});
  expectResult(
      "func.func @f(%a: tensor<2x4xf32>) -> (tensor<2x2xf32>) { "
      "%0, %1 = echo.split %a {axis = 1 : i64} : (tensor<2x4xf32>) -> "
      "(tensor<2x2xf32>, tensor<2x2xf32>) return %1 : tensor<2x2xf32> }",
      {tensor("tensor<2x4xf32>", {1, 2, 3, 4, 5, 6, 7, 8})}, {3, 4, 7, 8});
  expectResult(
      "func.func @f() -> tensor<2x3xi32> { %0 = echo.iota {dimension = "
      "1 : i64} : tensor<2x3xi32> return %0 : tensor<2x3xi32> }",
      {}, {0, 1, 2, 0, 1, 2});
}

TEST_F(InterpreterOpsTest, Reductions) {
  HostTensor x = tensor("tensor<2x2x2xf32>", {1, 2, 3, 4, 5, 6, 7, 8});
  // Outer and inner dimension: 1 + 2 + 5 + 6 and 3 + 4 + 7 + 8.
  expectResult(unary("echo.reduce sum %a {dims = array<i64: 0, 2>}",
                     "tensor<2x2x2xf32>", "tensor<2xf32>"),
               {x}, {14, 22});
  expectResult(
      unary("echo.reduce mean %a {dims = array<i64: 0, 1, 2>, keepdims = true}",
            "tensor<2x2x2xf32>", "tensor<1x1x1xf32>"),
      {x}, {4.5});
  expectResult(unary("echo.reduce max %a {dims = array<i64: 1>}",
                     "tensor<2x2xf32>", "tensor<2xf32>"),
               {tensor("tensor<2x2xf32>", {kNaN, 1, -kInf, -5})}, {kNaN, -5});
  expectResult(unary("echo.reduce min %a {dims = array<i64: 0>}",
                     "tensor<2x2xi8>", "tensor<2xi8>"),
               {tensor("tensor<2x2xi8>", {3, -128, -3, 5})}, {-3, -128});
  // 100 + 100 = 200 = -56 mod 256.
  expectResult(unary("echo.reduce sum %a {dims = array<i64: 0>}",
                     "tensor<2xi8>", "tensor<i8>"),
               {tensor("tensor<2xi8>", {100, 100})}, {-56});
  // The first NaN wins; then the first of equals.
  expectResult(unary("echo.argmax %a {axis = 1 : i64}", "tensor<3x4xf32>",
                     "tensor<3xi32>"),
               {tensor("tensor<3x4xf32>",
                       {1, 3, 3, 2, 5, kNaN, 9, kNaN, -kInf, -kInf, -1, -2})},
               {1, 1, 2});
}

TEST_F(InterpreterOpsTest, EmptyReductions) {
  HostTensor none = tensor("tensor<2x0xf32>", {});
  auto reduce = [&](StringRef kind) {
    return unary(("echo.reduce " + kind + " %a {dims = array<i64: 1>}").str(),
                 "tensor<2x0xf32>", "tensor<2xf32>");
  };
  expectResult(reduce("sum"), {none}, {0, 0});
  expectResult(reduce("max"), {none}, {-kInf, -kInf});
  expectResult(reduce("min"), {none}, {kInf, kInf});
  expectResult(reduce("mean"), {none}, {kNaN, kNaN});
}

// In exact mode a sum follows the tree: 33 elements are 32 lanes, and 1 in
// lane 0 after 2^24 is lost. In f64 mode nothing is.
TEST_F(InterpreterOpsTest, SumsFollowTheTree) {
  SmallVector<double> values(33, 0.0);
  values[0] = 0x1p24;
  values[32] = 1;
  std::string source = unary("echo.reduce sum %a {dims = array<i64: 0>}",
                             "tensor<33xf32>", "tensor<f32>");
  HostTensor x = tensor("tensor<33xf32>", values);
  expectValues(run(source, x, InterpreterMode::Exact)[0], {0x1p24});
  expectValues(run(source, x, InterpreterMode::F64)[0], {0x1p24 + 1});
  // 4096 f16 ones: 2048 + 1 is no f16, but sums are f32.
  source = unary("echo.reduce sum %a {dims = array<i64: 0>}",
                 "tensor<4096xf16>", "tensor<f16>");
  expectResult(source,
               {tensor("tensor<4096xf16>", SmallVector<double>(4096, 1.0))},
               {4096});
}

TEST_F(InterpreterOpsTest, MatrixProducts) {
  // [1 2; 3 4] [5 6; 7 8] = [19 22; 43 50], with bias [100 200].
  const char *source = R"mlir(
    func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %c: tensor<2xf32>) -> tensor<2x2xf32> {
      %0 = echo.matmul %a, %b, %c : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    })mlir";
  HostTensor a = tensor("tensor<2x2xf32>", {1, 2, 3, 4});
  HostTensor b = tensor("tensor<2x2xf32>", {5, 6, 7, 8});
  expectResult(source, {a, b, tensor("tensor<2xf32>", {100, 200})},
               {119, 222, 143, 250});
  // Of a^T = [1 3; 2 4] and b^T = [5 7; 6 8]: [23 31; 34 46].
  expectResult(
      binary("echo.matmul %a, %b {transpose_lhs = true, transpose_rhs = true}",
             "tensor<2x2xf32>", "tensor<2x2xf32>", "tensor<2x2xf32>"),
      {a, b}, {23, 31, 34, 46});
  // Batches: [1 2], [3 4] times the column (10, 1).
  expectResult(binary("echo.matmul %a, %b", "tensor<2x1x2xf32>",
                      "tensor<2x1xf32>", "tensor<2x1x1xf32>"),
               {tensor("tensor<2x1x2xf32>", {1, 2, 3, 4}),
                tensor("tensor<2x1xf32>", {10, 1})},
               {12, 34});
  // X W^T: [1 2] with rows (3, 4) and (5, 6).
  expectResult(binary("echo.linear %a, %b", "tensor<1x2xf32>",
                      "tensor<2x2xf32>", "tensor<1x2xf32>"),
               {tensor("tensor<1x2xf32>", {1, 2}),
                tensor("tensor<2x2xf32>", {3, 4, 5, 6})},
               {11, 17});
  // No element along k: zeros.
  expectResult(binary("echo.matmul %a, %b", "tensor<1x0xf32>",
                      "tensor<0x2xf32>", "tensor<1x2xf32>"),
               {tensor("tensor<1x0xf32>", {}), tensor("tensor<0x2xf32>", {})},
               {0, 0});
}

// Numbers around which a type has every second integer alone, 2048 in f16 and
// 256 in bf16: b + 1 rounds to b, so b + 1 + 1 is b if anything is rounded on
// the way. It is b + 2, rounded once, from f32 sums.
TEST_F(InterpreterOpsTest, HalfProductsAreRoundedOnce) {
  for (auto [type, b] : {std::pair("f16", 2048.0), std::pair("bf16", 256.0)}) {
    auto shaped = [&](const std::string &shape) {
      return "tensor<" + shape + "x" + type + ">";
    };
    HostTensor row = tensor(shaped("1x3"), {b, 1, 1});
    HostTensor ones = tensor(shaped("3x1"), {1, 1, 1});
    expectResult(binary("echo.matmul %a, %b", shaped("1x3"), shaped("3x1"),
                        shaped("1x1")),
                 {row, ones}, {b + 2});
    expectResult(binary("echo.linear %a, %b", shaped("1x3"), shaped("1x3"),
                        shaped("1x1")),
                 {row, tensor(shaped("1x3"), {1, 1, 1})}, {b + 2});
    // b + 1 with a bias or an accumulator of 1.
    std::string operands = shaped("1x2") + ", " + shaped("2x1"),
                source = "func.func @f(%a: " + shaped("1x2") + ", %b: " +
                         shaped("2x1") + ", %c: ";
    expectResult(source + shaped("1") + ") -> " + shaped("1x1") +
                     " {\n%0 = echo.matmul %a, %b, %c : (" + operands + ", " +
                     shaped("1") + ") -> " + shaped("1x1") +
                     "\nreturn %0 : " + shaped("1x1") + "\n}",
                 {tensor(shaped("1x2"), {b, 1}), tensor(shaped("2x1"), {1, 1}),
                  tensor(shaped("1"), {1})},
                 {b + 2});
    expectResult(source + shaped("1x1") + ") -> " + shaped("1x1") +
                     " {\n%0 = echo.matmul_add %c, %a, %b : (" +
                     shaped("1x1") + ", " + operands + ") -> " +
                     shaped("1x1") + "\nreturn %0 : " + shaped("1x1") + "\n}",
                 {tensor(shaped("1x2"), {b, 1}), tensor(shaped("2x1"), {1, 1}),
                  tensor(shaped("1x1"), {1})},
                 {b + 2});
    // Sums beyond b are as precise as the type: 3 b + 1 is no number of it.
    std::string large = binary("echo.matmul %a, %b", shaped("1x4"),
                               shaped("4x1"), shaped("1x1"));
    SmallVector<HostTensor> inputs = {tensor(shaped("1x4"), {b, b, b, 1}),
                                      tensor(shaped("4x1"), {1, 1, 1, 1})};
    expectValues(run(large, inputs, InterpreterMode::Exact)[0], {3 * b});
    expectValues(run(large, inputs, InterpreterMode::F64)[0], {3 * b + 1});
  }
}

TEST_F(InterpreterOpsTest, Embedding) {
  expectResult(binary("echo.embedding %a, %b", "tensor<2x2xf32>",
                      "tensor<4xi32>", "tensor<4x2xf32>"),
               {tensor("tensor<2x2xf32>", {1, 2, 3, 4}),
                tensor("tensor<4xi32>", {1, -1, 2, 0})},
               {3, 4, 0, 0, 0, 0, 1, 2});
  expectResult(binary("echo.embedding_grad %a, %b {rows = 3 : i64}",
                      "tensor<4xi64>", "tensor<4x1xf32>", "tensor<3x1xf32>"),
               {tensor("tensor<4xi64>", {2, 0, 2, 3}),
                tensor("tensor<4x1xf32>", {1, 10, 100, 1000})},
               {10, 0, 101});
}

TEST_F(InterpreterOpsTest, DropoutIsCounterBased) {
  const char *source = R"mlir(
    func.func @f(%x: tensor<64xf32>, %seed: tensor<i64>, %step: tensor<i64>, %offset: tensor<i64>)
        -> (tensor<64xf32>, tensor<64xi1>) {
      %0, %1 = echo.dropout %x, %seed, %step, %offset {rate = 0.5 : f64}
        : (tensor<64xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<64xf32>, tensor<64xi1>)
      return %0, %1 : tensor<64xf32>, tensor<64xi1>
    })mlir";
  HostTensor x = tensor("tensor<64xf32>", SmallVector<double>(64, 3.0));
  auto at = [&](double seed, double step, double offset) {
    return SmallVector<HostTensor>{x, tensor("tensor<i64>", {seed}),
                                   tensor("tensor<i64>", {step}),
                                   tensor("tensor<i64>", {offset})};
  };
  auto masked = [&](ArrayRef<HostTensor> arguments, InterpreterMode mode) {
    auto results = run(source, arguments, mode);
    SmallVector<int64_t> mask = results[1].toInts();
    for (auto [value, kept] : llvm::zip(results[0].toDoubles(), mask))
      EXPECT_EQ(value, kept ? 6.0 : 0.0);
    return mask;
  };
  auto mask = masked(at(0, 0, 0), InterpreterMode::Exact);
  // Word 0 of Philox's known answer for zeros is 0x6627e8d5, below 2^31, so
  // element 0 is dropped at rate 1/2.
  EXPECT_EQ(mask[0], 0);
  EXPECT_EQ(mask, masked(at(0, 0, 0), InterpreterMode::F64));
  EXPECT_NE(mask, masked(at(1, 0, 0), InterpreterMode::Exact));
  EXPECT_NE(mask, masked(at(0, 1, 0), InterpreterMode::Exact));
  EXPECT_NE(mask, masked(at(0, 0, 1), InterpreterMode::Exact));
}

} // namespace

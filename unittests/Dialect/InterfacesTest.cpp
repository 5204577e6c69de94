//===- InterfacesTest.cpp - Costs and encodings of ops --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DialectTesting.h"

using namespace mlir;
using namespace mlir::echo;

namespace {

class InterfacesTest : public DialectTest {
protected:
  struct Cost {
    int64_t flops, read, written;
    bool heavy;
    bool operator==(const Cost &other) const {
      return flops == other.flops && read == other.read &&
             written == other.written && heavy == other.heavy;
    }
    friend std::ostream &operator<<(std::ostream &os, const Cost &cost) {
      return os << cost.flops << " flops, " << cost.read << " B read, "
                << cost.written << " B written, heavy " << cost.heavy;
    }
  };

  static int64_t orMinusOne(FailureOr<uint64_t> value) {
    return succeeded(value) ? static_cast<int64_t>(*value) : -1;
  }

  /// -1 stands for a failure.
  Cost cost(const std::string &arguments, const std::string &text) {
    auto op = dyn_cast_or_null<CostOpInterface>(parseOp(arguments, text));
    if (!op)
      return {-2, -2, -2, false};
    return {orMinusOne(op.getFlops()), orMinusOne(op.getBytesRead()),
            orMinusOne(op.getBytesWritten()), op.isComputeHeavy()};
  }
};

TEST_F(InterfacesTest, MatmulTakesTwoFlopsAProduct) {
  // 8 batches of 2 x 3 times 3 x 4: 8 * 2 * 2 * 4 * 3 = 384 flops. f32 bytes:
  // 4 * (48 + 12) read, 4 * 64 written.
  EXPECT_EQ(cost("%a: tensor<8x2x3xf32>, %b: tensor<4x3xf32>",
                 "%0 = echo.matmul %a, %b {transpose_rhs = true} : "
                 "(tensor<8x2x3xf32>, tensor<4x3xf32>) -> tensor<8x2x4xf32>"),
            (Cost{384, 240, 256, true}));
  // lhs transposed, with a bias: (2 * 3 + 1) * 2 * 4 = 56.
  EXPECT_EQ(cost("%a: tensor<3x2xf32>, %b: tensor<3x4xf32>, %c: tensor<4xf32>",
                 "%0 = echo.matmul %a, %b, %c {transpose_lhs = true} : "
                 "(tensor<3x2xf32>, tensor<3x4xf32>, tensor<4xf32>) -> "
                 "tensor<2x4xf32>"),
            (Cost{56, 4 * (6 + 12 + 4), 32, true}));
}

TEST_F(InterfacesTest, LinearTakesTwoFlopsAProduct) {
  // 5 * 2 rows, 4 columns, depth 3: (2 * 3 + 1) * 40 = 280.
  EXPECT_EQ(
      cost("%a: tensor<5x2x3xf16>, %b: tensor<4x3xf16>, %c: tensor<4xf16>",
           "%0 = echo.linear %a, %b, %c : (tensor<5x2x3xf16>, "
           "tensor<4x3xf16>, tensor<4xf16>) -> tensor<5x2x4xf16>"),
      (Cost{280, 2 * (30 + 12 + 4), 80, true}));
}

TEST_F(InterfacesTest, SizesThatAreNotKnownFail) {
  EXPECT_EQ(cost("%a: tensor<?x3xf32>, %b: tensor<4x3xf32>",
                 "%0 = echo.linear %a, %b : (tensor<?x3xf32>, "
                 "tensor<4x3xf32>) -> tensor<?x4xf32>"),
            (Cost{-1, -1, -1, true}));
  // A product of depth 2^62 takes 2^63 flops, which no int64_t holds.
  EXPECT_EQ(
      cost("%a: tensor<1x4611686018427387904xf16>",
           "%0 = echo.linear %a, %a : (tensor<1x4611686018427387904xf16>, "
           "tensor<1x4611686018427387904xf16>) -> tensor<1x1xf16>"),
      (Cost{-1, -1, 2, true}));
}

TEST_F(InterfacesTest, ElementwiseOpsTakeOneFlopAnElement) {
  EXPECT_EQ(cost("%a: tensor<2x3xf32>, %b: tensor<f32>",
                 "%0 = echo.add %a, %b : (tensor<2x3xf32>, tensor<f32>) -> "
                 "tensor<2x3xf32>"),
            (Cost{6, 28, 24, false}));
}

TEST_F(InterfacesTest, ReductionsTakeOneFlopAnOperandElement) {
  EXPECT_EQ(cost("%a: tensor<2x3xf32>",
                 "%0 = echo.reduce sum %a {dims = array<i64: 0>} : "
                 "(tensor<2x3xf32>) -> tensor<3xf32>"),
            (Cost{6, 24, 12, false}));
}

TEST_F(InterfacesTest, ShapeOpsTakeNoFlops) {
  EXPECT_EQ(cost("%a: tensor<2x3xf32>",
                 "%0 = echo.transpose %a {permutation = array<i64: 1, 0>} : "
                 "(tensor<2x3xf32>) -> tensor<3x2xf32>"),
            (Cost{0, 24, 24, false}));
  EXPECT_EQ(cost("%a: tensor<2x3xf32>",
                 "%0 = echo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>"),
            (Cost{0, 0, 0, false}));
  EXPECT_EQ(cost("%a: tensor<100xf32>",
                 "%0 = echo.slice %a {offsets = array<i64: 0>, sizes = "
                 "array<i64: 5>, strides = array<i64: 1>} : "
                 "(tensor<100xf32>) -> tensor<5xf32>"),
            (Cost{0, 20, 20, false}));
}

TEST_F(InterfacesTest, EmbeddingReadsTheRowsItNames) {
  // Six i32 indices and six rows of 8 f32.
  EXPECT_EQ(cost("%t: tensor<1000x8xf32>, %i: tensor<3x2xi32>",
                 "%0 = echo.embedding %t, %i : (tensor<1000x8xf32>, "
                 "tensor<3x2xi32>) -> tensor<3x2x8xf32>"),
            (Cost{0, 24 + 192, 192, false}));
  EXPECT_EQ(cost("%i: tensor<3xi32>, %g: tensor<3x8xf32>",
                 "%0 = echo.embedding_grad %i, %g {rows = 10 : i64} : "
                 "(tensor<3xi32>, tensor<3x8xf32>) -> tensor<10x8xf32>"),
            (Cost{24, 12 + 96, 320, false}));
}

TEST_F(InterfacesTest, EveryGraphOpIsRecomputable) {
  auto op = cast<RecomputeOpInterface>(
      parseOp("%a: tensor<2xf32>",
              "%0 = echo.exp %a : (tensor<2xf32>) -> tensor<2xf32>"));
  EXPECT_TRUE(op.isRecomputable());
  EXPECT_FALSE(op.allowsBitEncoding(0));
}

TEST_F(InterfacesTest, DropoutMasksAndSignsOfReluAreBits) {
  auto relu = cast<RecomputeOpInterface>(
      parseOp("%a: tensor<2xf32>",
              "%0 = echo.relu %a : (tensor<2xf32>) -> tensor<2xf32>"));
  EXPECT_TRUE(relu.allowsBitEncoding(0));
  auto dropout = cast<RecomputeOpInterface>(parseOp(
      "%a: tensor<2xf32>, %n: tensor<i64>",
      "%0:2 = echo.dropout %a, %n, %n, %n {rate = 0.5 : f64} : (tensor<2xf32>, "
      "tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<2xf32>, "
      "tensor<2xi1>)"));
  EXPECT_FALSE(dropout.allowsBitEncoding(0));
  EXPECT_TRUE(dropout.allowsBitEncoding(1));
}

TEST_F(InterfacesTest, ComparisonsWithZeroReadOneBit) {
  auto reads = [&](StringRef comparison, StringRef zero, StringRef result,
                   unsigned index) {
    return cast<RecomputeOpInterface>(
               parseOp("%a: tensor<2xf32>",
                       ("%z = echo.constant dense<" + zero + "> : tensor<f32>\n" +
                        "%0 = echo.compare " + comparison + " : " + result)
                           .str()))
        .isPositivityOf(index);
  };
  std::string right = "(tensor<2xf32>, tensor<f32>) -> tensor<2xi1>";
  std::string left = "(tensor<f32>, tensor<2xf32>) -> tensor<2xi1>";
  EXPECT_TRUE(reads("gt %a, %z", "0.0", right, 0));
  EXPECT_TRUE(reads("gt %a, %z", "-0.0", right, 0));
  EXPECT_TRUE(reads("lt %z, %a", "0.0", left, 1));
  EXPECT_FALSE(reads("gt %a, %z", "0.5", right, 0));
  EXPECT_FALSE(reads("ge %a, %z", "0.0", right, 0));
  EXPECT_FALSE(reads("gt %z, %a", "0.0", left, 1));
  EXPECT_FALSE(reads("lt %z, %a", "0.0", left, 0));
  auto tanh = cast<RecomputeOpInterface>(
      parseOp("%a: tensor<2xf32>",
              "%0 = echo.tanh %a : (tensor<2xf32>) -> tensor<2xf32>"));
  EXPECT_FALSE(tanh.isPositivityOf(0));
}

TEST_F(InterfacesTest, MirroringSparesDropoutConcatenationAndSoftmax) {
  auto isMirrored = [&](StringRef body) {
    return cast<RecomputeOpInterface>(
               parseOp("%a: tensor<2x3xf32>, %i: tensor<2xi32>, %n: tensor<i64>",
                       body.str()))
        .isMirrored();
  };
  EXPECT_TRUE(isMirrored(
      "%0 = echo.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>"));
  EXPECT_FALSE(isMirrored(
      "%0:2 = echo.dropout %a, %n, %n, %n {rate = 0.5 : f64} : "
      "(tensor<2x3xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> "
      "(tensor<2x3xf32>, tensor<2x3xi1>)"));
  EXPECT_FALSE(isMirrored("%0 = echo.concat %a, %a {axis = 0 : i64} : "
                          "(tensor<2x3xf32>, tensor<2x3xf32>) -> "
                          "tensor<4x3xf32>"));
  EXPECT_FALSE(isMirrored("%0 = echo.softmax %a {axis = 1 : i64} : "
                          "(tensor<2x3xf32>) -> tensor<2x3xf32>"));
  EXPECT_FALSE(isMirrored("%0:2 = echo.softmax_cross_entropy %a, %i : "
                          "(tensor<2x3xf32>, tensor<2xi32>) -> "
                          "(tensor<2xf32>, tensor<2xf32>)"));
}

} // namespace

//===- QueriesTest.cpp - Questions about any op ---------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Interfaces/Queries.h"
#include "Echo/InitAll.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

int64_t orMinusOne(FailureOr<uint64_t> count) {
  return succeeded(count) ? static_cast<int64_t>(*count) : -1;
}

/// What an op is to rematerialization.
enum Kind {
  Opaque,    ///< never again
  Light,     ///< again, by the mirror rule as well
  Spared,    ///< again, but not by the mirror rule
  HeavyAgain ///< heavy; again where nothing else is left
};

struct Answer {
  Kind kind;
  int64_t flops, read, written; ///< -1: not known

  bool operator==(const Answer &other) const {
    return kind == other.kind && flops == other.flops && read == other.read &&
           written == other.written;
  }
};

std::ostream &operator<<(std::ostream &stream, const Answer &answer) {
  return stream << "{" << answer.kind << ", " << answer.flops << ", "
                << answer.read << ", " << answer.written << "}";
}

class QueriesTest : public ::testing::Test {
protected:
  QueriesTest() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect,
                    linalg::LinalgDialect, math::MathDialect,
                    memref::MemRefDialect, scf::SCFDialect,
                    tensor::TensorDialect, tosa::TosaDialect>();
    echo::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// Asks the last op of a function's body with the given arguments.
  Answer ask(const std::string &arguments, const std::string &body) {
    auto module = parseSourceString<ModuleOp>(
        "func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}", &context);
    EXPECT_TRUE(module) << body;
    if (!module)
      return {Opaque, -2, -2, -2};
    auto function = *module->getOps<func::FuncOp>().begin();
    Operation *op = function.front().getTerminator()->getPrevNode();
    bool again = echo::isRecomputable(op), heavy = echo::isComputeHeavy(op);
    EXPECT_FALSE(echo::isMirrored(op) && (heavy || !again)) << body;
    Kind kind = !again                 ? Opaque
                : heavy                ? HeavyAgain
                : echo::isMirrored(op) ? Light
                                       : Spared;
    return {kind, orMinusOne(echo::getFlops(op)),
            orMinusOne(echo::getBytesRead(op)),
            orMinusOne(echo::getBytesWritten(op))};
  }

  MLIRContext context;
};

TEST_F(QueriesTest, ElementsOfScalarsVectorsAndTensors) {
  EXPECT_EQ(ask("%a: tensor<2x3xf32>", "%0 = arith.addf %a, %a : tensor<2x3xf32>"),
            (Answer{Light, 6, 48, 24}));
  EXPECT_EQ(ask("%a: vector<4xf16>", "%0 = math.exp %a : vector<4xf16>"),
            (Answer{Light, 4, 8, 8}));
  // Scalars aren't in memory.
  EXPECT_EQ(ask("%a: f32", "%0 = math.tanh %a : f32"), (Answer{Light, 1, 0, 0}));
  EXPECT_EQ(ask("%a: tensor<?xf32>", "%0 = math.tanh %a : tensor<?xf32>"),
            (Answer{Light, -1, -1, -1}));
  EXPECT_EQ(ask("", "%0 = arith.constant dense<1.0> : tensor<8xf32>"),
            (Answer{Light, 0, 0, 0}));
  EXPECT_EQ(ask("%c: i1, %a: tensor<8xf32>",
                "%0 = arith.select %c, %a, %a : tensor<8xf32>"),
            (Answer{Light, 8, 64, 32}));
}

TEST_F(QueriesTest, MovedElements) {
  EXPECT_EQ(ask("%a: tensor<2x3xf32>",
                "%0 = tensor.collapse_shape %a [[0, 1]] : tensor<2x3xf32> into "
                "tensor<6xf32>"),
            (Answer{Light, 0, 0, 0}));
  EXPECT_EQ(ask("", "%0 = tensor.empty() : tensor<6xf32>"),
            (Answer{Light, 0, 0, 0}));
  // Six of twelve elements.
  EXPECT_EQ(ask("%a: tensor<4x3xf32>",
                "%0 = tensor.extract_slice %a[0, 0] [2, 3] [1, 1] : "
                "tensor<4x3xf32> to tensor<2x3xf32>"),
            (Answer{Light, 0, 24, 24}));
  EXPECT_EQ(ask("%a: tensor<2x3xf32>, %b: tensor<4x3xf32>",
                "%0 = tensor.insert_slice %a into %b[0, 0] [2, 3] [1, 1] : "
                "tensor<2x3xf32> into tensor<4x3xf32>"),
            (Answer{Light, 0, 24 + 48, 48}));
  EXPECT_EQ(ask("%a: tensor<2x3xf32>",
                "%0 = tensor.concat dim(0) %a, %a : (tensor<2x3xf32>, "
                "tensor<2x3xf32>) -> tensor<4x3xf32>"),
            (Answer{Spared, 0, 48, 48}));
  EXPECT_EQ(ask("%a: tensor<2xf32>, %c: f32", R"mlir(
                %0 = tensor.pad %a low[1] high[1] {
                ^bb0(%i: index):
                  tensor.yield %c : f32
                } : tensor<2xf32> to tensor<4xf32>)mlir"),
            (Answer{Light, 0, 8, 16}));
}

TEST_F(QueriesTest, LinalgIsHeavyByItsLoops) {
  // 2 * 2 * 4 * 3 flops; the output is read, since the product is added to it.
  EXPECT_EQ(ask("%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>",
                "%0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, "
                "tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>"),
            (Answer{HeavyAgain, 48, 4 * (6 + 12 + 8), 32}));
  // The same as a generic op.
  EXPECT_EQ(ask("%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>",
                R"mlir(
    %0 = linalg.generic {
        indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                         affine_map<(i, j, k) -> (k, j)>,
                         affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>)
        outs(%c : tensor<2x4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %1 = arith.mulf %x, %y : f32
      %2 = arith.addf %z, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<2x4xf32>)mlir"),
            (Answer{HeavyAgain, 48, 4 * (6 + 12 + 8), 32}));
  // A product of rows with rows reads each number once.
  EXPECT_EQ(ask("%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %c: tensor<2xf32>",
                R"mlir(
    %0 = linalg.generic {
        indexing_maps = [affine_map<(i, k) -> (i, k)>,
                         affine_map<(i, k) -> (i, k)>,
                         affine_map<(i, k) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%a, %b : tensor<2x3xf32>, tensor<2x3xf32>)
        outs(%c : tensor<2xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %1 = arith.mulf %x, %y : f32
      %2 = arith.addf %z, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<2xf32>)mlir"),
            (Answer{Light, 12, 4 * (6 + 6 + 2), 8}));
  // 1 x 2 x 2 outputs of 3 channels, 2 x 2 windows of 5 channels.
  EXPECT_EQ(ask("%a: tensor<1x3x3x5xf32>, %w: tensor<2x2x5x3xf32>, "
                "%c: tensor<1x2x2x3xf32>",
                "%0 = linalg.conv_2d_nhwc_hwcf ins(%a, %w : "
                "tensor<1x3x3x5xf32>, tensor<2x2x5x3xf32>) outs(%c : "
                "tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>"),
            (Answer{HeavyAgain, 2 * 12 * 20, 4 * (45 + 60 + 12), 48}));
  // Pooling: one comparison for each of 4 x 4 numbers; the window's elements
  // aren't read.
  EXPECT_EQ(ask("%a: tensor<1x3x3x1xf32>, %w: tensor<2x2xf32>, "
                "%c: tensor<1x2x2x1xf32>",
                "%0 = linalg.pooling_nhwc_max ins(%a, %w : "
                "tensor<1x3x3x1xf32>, tensor<2x2xf32>) outs(%c : "
                "tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>"),
            (Answer{Light, 16, 4 * (9 + 4), 16}));
}

TEST_F(QueriesTest, LinalgThatMovesOrMaps) {
  EXPECT_EQ(ask("%a: tensor<2x3xf32>, %c: tensor<2x3xf32>",
                "%0 = linalg.exp ins(%a : tensor<2x3xf32>) outs(%c : "
                "tensor<2x3xf32>) -> tensor<2x3xf32>"),
            (Answer{Light, 6, 24, 24}));
  EXPECT_EQ(ask("%a: f32, %c: tensor<2x3xf32>",
                "%0 = linalg.fill ins(%a : f32) outs(%c : tensor<2x3xf32>) -> "
                "tensor<2x3xf32>"),
            (Answer{Light, 0, 0, 24}));
  EXPECT_EQ(ask("%a: tensor<2x3xf32>, %c: tensor<3x2xf32>",
                "%0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%c : "
                "tensor<3x2xf32>) permutation = [1, 0]"),
            (Answer{Light, 0, 24, 24}));
  EXPECT_EQ(ask("%a: tensor<2x3xf32>, %c: tensor<2x3xf32>",
                "%0 = linalg.softmax dimension(1) ins(%a : tensor<2x3xf32>) "
                "outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>"),
            (Answer{Spared, 30, 48, 24}));
  EXPECT_EQ(ask("%a: tensor<?x3xf32>, %c: tensor<?x3xf32>",
                "%0 = linalg.exp ins(%a : tensor<?x3xf32>) outs(%c : "
                "tensor<?x3xf32>) -> tensor<?x3xf32>"),
            (Answer{Light, -1, -1, -1}));
}

TEST_F(QueriesTest, Tosa) {
  EXPECT_EQ(ask("%a: tensor<2x3xf32>, %b: tensor<1x3xf32>",
                "%0 = tosa.add %a, %b : (tensor<2x3xf32>, tensor<1x3xf32>) -> "
                "tensor<2x3xf32>"),
            (Answer{Light, 6, 24 + 12, 24}));
  EXPECT_EQ(ask("%a: tensor<2x3xf32>",
                "%0 = tosa.reduce_sum %a {axis = 1 : i32} : (tensor<2x3xf32>) "
                "-> tensor<2x1xf32>"),
            (Answer{Light, 6, 24, 8}));
  EXPECT_EQ(ask("%a: tensor<2x3xf32>",
                "%0 = tosa.concat %a, %a {axis = 0 : i32} : (tensor<2x3xf32>, "
                "tensor<2x3xf32>) -> tensor<4x3xf32>"),
            (Answer{Spared, 0, 48, 48}));
  EXPECT_EQ(ask("", "%0 = tosa.const_shape {values = dense<[6]> : "
                    "tensor<1xindex>} : () -> !tosa.shape<1>"),
            (Answer{Light, 0, 0, 0}));
  // 2 * 5 * 4 products of depth 3.
  EXPECT_EQ(ask("%a: tensor<2x5x3xf32>, %b: tensor<2x3x4xf32>, "
                "%z: tensor<1xf32>",
                "%0 = tosa.matmul %a, %b, %z, %z : (tensor<2x5x3xf32>, "
                "tensor<2x3x4xf32>, tensor<1xf32>, tensor<1xf32>) -> "
                "tensor<2x5x4xf32>"),
            (Answer{HeavyAgain, 240, 4 * (30 + 24 + 2), 160}));
}

TEST_F(QueriesTest, TosaConvolutions) {
  // 1 x 2 x 2 outputs of 3 channels, 2 x 2 windows of 5 channels.
  EXPECT_EQ(ask("%a: tensor<1x3x3x5xf32>, %w: tensor<3x2x2x5xf32>, "
                "%b: tensor<3xf32>, %z: tensor<1xf32>",
                "%0 = tosa.conv2d %a, %w, %b, %z, %z {acc_type = f32, dilation "
                "= array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
                "array<i64: 1, 1>} : (tensor<1x3x3x5xf32>, tensor<3x2x2x5xf32>, "
                "tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> "
                "tensor<1x2x2x3xf32>"),
            (Answer{HeavyAgain, 2 * 12 * 20, 4 * (45 + 60 + 3 + 2), 48}));
  // Each channel of 5 alone: 2 x 2 products an output.
  EXPECT_EQ(ask("%a: tensor<1x3x3x5xf32>, %w: tensor<2x2x5x1xf32>, "
                "%b: tensor<5xf32>, %z: tensor<1xf32>",
                "%0 = tosa.depthwise_conv2d %a, %w, %b, %z, %z {acc_type = f32, "
                "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, "
                "stride = array<i64: 1, 1>} : (tensor<1x3x3x5xf32>, "
                "tensor<2x2x5x1xf32>, tensor<5xf32>, tensor<1xf32>, "
                "tensor<1xf32>) -> tensor<1x2x2x5xf32>"),
            (Answer{HeavyAgain, 2 * 20 * 4, 4 * (45 + 20 + 5 + 2), 80}));
  // 2 x 2 inputs of 5 channels, each times 2 x 2 x 3 weights.
  EXPECT_EQ(ask("%a: tensor<1x2x2x5xf32>, %w: tensor<3x2x2x5xf32>, "
                "%b: tensor<3xf32>, %z: tensor<1xf32>",
                "%0 = tosa.transpose_conv2d %a, %w, %b, %z, %z {acc_type = f32, "
                "out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : "
                "(tensor<1x2x2x5xf32>, tensor<3x2x2x5xf32>, tensor<3xf32>, "
                "tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x3xf32>"),
            (Answer{HeavyAgain, 2 * 20 * 12, 4 * (20 + 60 + 3 + 2), 108}));
}

TEST_F(QueriesTest, WithoutAnAnswerOpsAreOpaque) {
  // Loops and branches, whatever is in them; bytes by their types.
  EXPECT_EQ(ask("%a: tensor<2xf32>, %c: i1", R"mlir(
                %0 = scf.if %c -> tensor<2xf32> {
                  %1 = math.exp %a : tensor<2xf32>
                  scf.yield %1 : tensor<2xf32>
                } else {
                  scf.yield %a : tensor<2xf32>
                })mlir"),
            (Answer{Opaque, 0, 0, 8}));
  EXPECT_EQ(ask("%a: tensor<2xf32>", R"mlir(
                %0 = tensor.generate {
                ^bb0(%i: index):
                  %1 = tensor.extract %a[%i] : tensor<2xf32>
                  tensor.yield %1 : f32
                } : tensor<2xf32>)mlir"),
            (Answer{Opaque, 0, 0, 8}));
}

TEST_F(QueriesTest, EffectsAreNeverRepeated) {
  // On buffers, and where a region writes.
  EXPECT_EQ(ask("%a: memref<2xf32>, %c: memref<2xf32>",
                "linalg.exp ins(%a : memref<2xf32>) outs(%c : memref<2xf32>)")
                .kind,
            Opaque);
  EXPECT_EQ(ask("%a: tensor<2xf32>, %c: tensor<2xf32>, %m: memref<f32>", R"mlir(
                %0 = linalg.map ins(%a : tensor<2xf32>) outs(%c : tensor<2xf32>)
                  (%x: f32, %y: f32) {
                    memref.store %x, %m[] : memref<f32>
                    linalg.yield %x : f32
                  })mlir")
                .kind,
            Opaque);
  EXPECT_EQ(ask("%a: memref<f32>", "%0 = memref.load %a[] : memref<f32>").kind,
            Opaque);
}

} // namespace

//===- EveryOpKernelTest.cpp - Which ops become kernels -------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No op of the dialect that is part of kernels is left out by the tests of
// kernels by value: one that is new is missing here.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "Echo/Dialect/EchoDialect.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

using EveryOp = CompiledKernels;

TEST_F(EveryOp, RunsOnCPUAndThreads) {
  low = 1;
  high = 3;
  check(R"(
func.func @f(%x: tensor<3x32xf32>, %y: tensor<3x32xf32>, %i: tensor<3xi32>,
             %j: tensor<3xi32>, %n: tensor<i64>, %s: tensor<32xf32>,
             %h: tensor<3x8xf32>, %v: tensor<f32>)
    -> (tensor<3x32xf32>, tensor<3x32xf32>, tensor<32x7xf32>, tensor<5x6xf32>,
        tensor<3x1xi32>, tensor<3xi32>, tensor<5x32xf32>, tensor<3x32xf32>,
        tensor<3xf32>, tensor<3x32xf32>, tensor<3x8xf32>) {
  %0 = echo.add %x, %y : (tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>
  %1 = echo.sub %0, %y : (tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>
  %2 = echo.mul %0, %1 : (tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>
  %3 = echo.div %2, %y : (tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>
  %4 = echo.max %3, %x : (tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>
  %5 = echo.min %4, %y : (tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>
  %6 = echo.abs %5 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %7 = echo.pow %6, %x : (tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>
  %8 = echo.neg %7 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %9 = echo.exp %8 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %10 = echo.log %9 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %11 = echo.sign %10 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %12 = echo.sqrt %6 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %13 = echo.rsqrt %9 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %14 = echo.tanh %12 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %15 = echo.sigmoid %13 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %16 = echo.relu %x : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %17 = echo.gelu %16 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %18 = echo.erf %17 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %19 = echo.compare lt %14, %15 : (tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xi1>
  %20 = echo.select %19, %18, %11 : (tensor<3x32xi1>, tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>
  %21 = echo.rem %i, %j : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %22 = echo.convert %21 : (tensor<3xi32>) -> tensor<3xf32>
  %23 = echo.reshape %22 : (tensor<3xf32>) -> tensor<3x1xf32>
  %24 = echo.broadcast %23 : (tensor<3x1xf32>) -> tensor<3x32xf32>
  %25 = echo.mul %20, %24 : (tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>

  %26 = echo.transpose %25 {permutation = array<i64: 1, 0>} : (tensor<3x32xf32>) -> tensor<32x3xf32>
  %27 = echo.reverse %26 {axes = array<i64: 0>} : (tensor<32x3xf32>) -> tensor<32x3xf32>
  %28 = echo.iota {dimension = 0 : i64} : tensor<32x1xf32>
  %29 = echo.concat %27, %28, %26 {axis = 1 : i64} : (tensor<32x3xf32>, tensor<32x1xf32>, tensor<32x3xf32>) -> tensor<32x7xf32>
  %30 = echo.neg %29 : (tensor<32x7xf32>) -> tensor<32x7xf32>
  %31 = echo.slice %29 {offsets = array<i64: 2, 1>, sizes = array<i64: 4, 5>, strides = array<i64: 3, 1>} : (tensor<32x7xf32>) -> tensor<4x5xf32>
  %32 = echo.pad %31, %v {low = array<i64: 1, 0>, high = array<i64: 0, 1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<5x6xf32>
  %33 = echo.constant dense<0.5> : tensor<5x6xf32>
  %34 = echo.add %32, %33 : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xf32>
  %35:4 = echo.split %x {axis = 1 : i64} : (tensor<3x32xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>)
  %36 = echo.add %35#0, %h : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>

  %37:2 = echo.dropout %y, %n, %n, %n {rate = 0.25 : f64} : (tensor<3x32xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<3x32xf32>, tensor<3x32xi1>)
  %38 = echo.binarize %37#1 : (tensor<3x32xi1>) -> tensor<3x1xi32>
  %39 = echo.debinarize %38 : (tensor<3x1xi32>) -> tensor<3x32xi1>
  %40 = echo.select %39, %37#0, %x : (tensor<3x32xi1>, tensor<3x32xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>

  %41 = echo.softmax %40 {axis = 1 : i64} : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %42 = echo.log_softmax %41 {axis = 1 : i64} : (tensor<3x32xf32>) -> tensor<3x32xf32>
  %43:3 = echo.layer_norm %42, %s, %s : (tensor<3x32xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<3x32xf32>, tensor<3x1xf32>, tensor<3x1xf32>)
  %44 = echo.argmax %43#0 {axis = 1 : i64} : (tensor<3x32xf32>) -> tensor<3xi32>
  %45 = echo.embedding_grad %i, %43#0 {rows = 5 : i64} : (tensor<3xi32>, tensor<3x32xf32>) -> tensor<5x32xf32>
  %46 = echo.embedding %45, %j : (tensor<5x32xf32>, tensor<3xi32>) -> tensor<3x32xf32>
  %47:2 = echo.softmax_cross_entropy %46, %i : (tensor<3x32xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>)
  %48 = echo.softmax_cross_entropy_grad %46, %i, %47#1, %47#0 : (tensor<3x32xf32>, tensor<3xi32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x32xf32>
  %49 = echo.reduce sum %48 {dims = array<i64: 1>} : (tensor<3x32xf32>) -> tensor<3xf32>
  %50:3 = echo.lstm_cell %48, %36 : (tensor<3x32xf32>, tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x32xf32>)
  %51:2 = echo.lstm_cell_grad %50#2, %36, %50#1, %50#0, %h : (tensor<3x32xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) -> (tensor<3x32xf32>, tensor<3x8xf32>)
  return %25, %40, %30, %34, %38, %44, %45, %48, %49, %51#0, %51#1
      : tensor<3x32xf32>, tensor<3x32xf32>, tensor<32x7xf32>, tensor<5x6xf32>,
        tensor<3x1xi32>, tensor<3xi32>, tensor<5x32xf32>, tensor<3x32xf32>,
        tensor<3xf32>, tensor<3x32xf32>, tensor<3x8xf32>
}
)");
  // What a library computes is no kernel's, and kernels read through barriers.
  unsigned count = 0;
  for (RegisteredOperationName op :
       context.getRegisteredOperationsByDialect("echo")) {
    if (!op.hasInterface<CostOpInterface>() ||
        op.hasInterface<LibraryCallOpInterface>() ||
        op.getStringRef() == OptimizationBarrierOp::getOperationName())
      continue;
    EXPECT_TRUE(threadedOps.contains(op.getStringRef()))
        << op.getStringRef().str();
    ++count;
  }
  EXPECT_GT(count, 40u);
}

} // namespace

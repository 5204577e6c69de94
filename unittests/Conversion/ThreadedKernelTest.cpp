//===- ThreadedKernelTest.cpp - Kernels mapped to a GPU's threads ---------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the mapping to the GPU dialect computes on the simulator: the
// interpreter's bits.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

class ThreadedKernels : public CompiledKernels {
protected:
  ThreadedKernels() { onThreads = true; }

  /// Checks `source` with an element type in place of each T.
  void checkTypes(const std::string &source, ArrayRef<const char *> elements = {
                                                 "f32", "f64", "f16", "bf16"}) {
    for (const char *element : elements) {
      std::string text;
      for (char c : source)
        text += c == 'T' ? element : std::string(1, c);
      check(text);
      if (HasFatalFailure())
        return;
    }
  }
};

TEST_F(ThreadedKernels, Elementwise) {
  special = true;
  checkTypes(R"(
func.func @f(%x: tensor<7x45xT>, %y: tensor<45xT>) -> (tensor<7x45xT>, tensor<7x45xi1>) {
  %0 = echo.add %x, %y : (tensor<7x45xT>, tensor<45xT>) -> tensor<7x45xT>
  %1 = echo.tanh %0 : (tensor<7x45xT>) -> tensor<7x45xT>
  %2 = echo.compare gt %0, %1 : (tensor<7x45xT>, tensor<7x45xT>) -> tensor<7x45xi1>
  %3 = echo.select %2, %1, %x : (tensor<7x45xi1>, tensor<7x45xT>, tensor<7x45xT>) -> tensor<7x45xT>
  %4 = echo.sqrt %3 : (tensor<7x45xT>) -> tensor<7x45xT>
  return %4, %2 : tensor<7x45xT>, tensor<7x45xi1>
}
)");
}

// Lengths on both sides of a number of lanes, and the empty sum.
TEST_F(ThreadedKernels, Sums) {
  for (const char *size : {"0", "1", "31", "33", "300", "1025"}) {
    std::string n = size;
    checkTypes("func.func @f(%x: tensor<3x" + n +
                   "xT>) -> (tensor<3xT>, tensor<" + n + R"(xT>, tensor<T>) {
  %0 = echo.reduce sum %x {dims = array<i64: 1>} : (tensor<3x)" +
                   n + R"(xT>) -> tensor<3xT>
  %1 = echo.reduce max %x {dims = array<i64: 0>} : (tensor<3x)" +
                   n + "xT>) -> tensor<" + n + R"(xT>
  %2 = echo.reduce sum %x {dims = array<i64: 0, 1>} : (tensor<3x)" +
                   n + R"(xT>) -> tensor<T>
  return %0, %1, %2 : tensor<3xT>, tensor<)" +
                   n + "xT>, tensor<T>\n}\n",
               {"f32", "f16"});
  }
  // Columns of several blocks.
  checkTypes(R"(
func.func @f(%x: tensor<2x300x5xT>) -> tensor<2x5xT> {
  %0 = echo.reduce sum %x {dims = array<i64: 1>} : (tensor<2x300x5xT>) -> tensor<2x5xT>
  return %0 : tensor<2x5xT>
}
)");
}

TEST_F(ThreadedKernels, Rows) {
  checkTypes(R"(
func.func @f(%x: tensor<5x70xT>, %s: tensor<70xT>) -> (tensor<5x70xT>, tensor<5x70xT>, tensor<5xi32>) {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<5x70xT>) -> tensor<5x70xT>
  %1 = echo.mul %0, %s : (tensor<5x70xT>, tensor<70xT>) -> tensor<5x70xT>
  %2 = echo.log_softmax %1 {axis = 1 : i64} : (tensor<5x70xT>) -> tensor<5x70xT>
  %3 = echo.argmax %2 {axis = 1 : i64} : (tensor<5x70xT>) -> tensor<5xi32>
  return %1, %2, %3 : tensor<5x70xT>, tensor<5x70xT>, tensor<5xi32>
}
)");
}

// A normalized row, its loss and the gradients of both.
TEST_F(ThreadedKernels, Gradients) {
  low = -1; // no label
  high = 8;
  check(R"(
func.func @f(%x: tensor<5x9xf32>, %s: tensor<9xf32>, %o: tensor<9xf32>, %y: tensor<5xi32>, %g: tensor<5xf32>) -> (tensor<5xf32>, tensor<5x9xf32>, tensor<9xf32>, tensor<9xf32>) {
  %n, %m, %d = echo.layer_norm %x, %s, %o : (tensor<5x9xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<5x9xf32>, tensor<5x1xf32>, tensor<5x1xf32>)
  %l, %z = echo.softmax_cross_entropy %n, %y {label_smoothing = 0.1 : f64} : (tensor<5x9xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xf32>)
  %e = echo.softmax_cross_entropy_grad %n, %y, %z, %g {label_smoothing = 0.1 : f64} : (tensor<5x9xf32>, tensor<5xi32>, tensor<5xf32>, tensor<5xf32>) -> tensor<5x9xf32>
  %c = echo.sub %x, %m : (tensor<5x9xf32>, tensor<5x1xf32>) -> tensor<5x9xf32>
  %h = echo.mul %c, %d : (tensor<5x9xf32>, tensor<5x1xf32>) -> tensor<5x9xf32>
  %t = echo.mul %e, %h : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %ds = echo.reduce sum %t {dims = array<i64: 0>} : (tensor<5x9xf32>) -> tensor<9xf32>
  %do = echo.reduce sum %e {dims = array<i64: 0>} : (tensor<5x9xf32>) -> tensor<9xf32>
  %w = echo.mul %e, %s : (tensor<5x9xf32>, tensor<9xf32>) -> tensor<5x9xf32>
  %p = echo.reduce mean %w {dims = array<i64: 1>, keepdims = true} : (tensor<5x9xf32>) -> tensor<5x1xf32>
  %u = echo.mul %w, %h : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %q = echo.reduce mean %u {dims = array<i64: 1>, keepdims = true} : (tensor<5x9xf32>) -> tensor<5x1xf32>
  %v = echo.sub %w, %p : (tensor<5x9xf32>, tensor<5x1xf32>) -> tensor<5x9xf32>
  %r = echo.mul %h, %q : (tensor<5x9xf32>, tensor<5x1xf32>) -> tensor<5x9xf32>
  %k = echo.sub %v, %r : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %dx = echo.mul %d, %k : (tensor<5x1xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  return %l, %dx, %ds, %do : tensor<5xf32>, tensor<5x9xf32>, tensor<9xf32>, tensor<9xf32>
}
)");
}

TEST_F(ThreadedKernels, Cell) {
  checkTypes(R"(
func.func @f(%g: tensor<3x36xT>, %c: tensor<3x9xT>) -> (tensor<3x9xT>, tensor<3x9xT>, tensor<3x36xT>) {
  %h, %n, %a = echo.lstm_cell %g, %c : (tensor<3x36xT>, tensor<3x9xT>) -> (tensor<3x9xT>, tensor<3x9xT>, tensor<3x36xT>)
  return %h, %n, %a : tensor<3x9xT>, tensor<3x9xT>, tensor<3x36xT>
}
)");
  checkTypes(R"(
func.func @f(%a: tensor<3x36xT>, %c: tensor<3x9xT>, %n: tensor<3x9xT>, %dh: tensor<3x9xT>, %dn: tensor<3x9xT>) -> (tensor<3x36xT>, tensor<3x9xT>) {
  %dg, %dc = echo.lstm_cell_grad %a, %c, %n, %dh, %dn : (tensor<3x36xT>, tensor<3x9xT>, tensor<3x9xT>, tensor<3x9xT>, tensor<3x9xT>) -> (tensor<3x36xT>, tensor<3x9xT>)
  return %dg, %dc : tensor<3x36xT>, tensor<3x9xT>
}
)");
}

// Indices outside the table count for nothing, repeated ones add up.
TEST_F(ThreadedKernels, Embedding) {
  low = -2;
  high = 11;
  checkTypes(R"(
func.func @f(%i: tensor<3x20xi32>, %g: tensor<3x20x7xT>) -> (tensor<10x7xT>, tensor<3x20x7xT>) {
  %0 = echo.embedding_grad %i, %g {rows = 10 : i64} : (tensor<3x20xi32>, tensor<3x20x7xT>) -> tensor<10x7xT>
  %1 = echo.embedding %0, %i : (tensor<10x7xT>, tensor<3x20xi32>) -> tensor<3x20x7xT>
  return %0, %1 : tensor<10x7xT>, tensor<3x20x7xT>
}
)");
  for (auto [rows, columns] : {std::pair(0, 7), std::pair(10, 0)}) {
    std::string table = type({rows, columns}, "f32");
    std::string gradient = type({4, columns}, "f32");
    check("func.func @f(%i: tensor<4xi64>, %g: " + gradient + ") -> " + table +
          " {\n  %0 = echo.embedding_grad %i, %g {rows = " +
          std::to_string(rows) + " : i64} : (tensor<4xi64>, " + gradient +
          ") -> " + table + "\n  return %0 : " + table + "\n}\n");
  }
}

// Equal kernels of two time steps are one, with the offset as a parameter.
TEST_F(ThreadedKernels, Parameters) {
  check(R"(
func.func @f(%x: tensor<4x6x5xf32>, %seed: tensor<i64>, %step: tensor<i64>) -> (tensor<1x6x5xf32>, tensor<1x6x5xf32>) {
  %o1 = echo.constant dense<1> : tensor<i64>
  %o2 = echo.constant dense<2> : tensor<i64>
  %a = echo.slice %x {offsets = array<i64: 1, 0, 0>, sizes = array<i64: 1, 6, 5>, strides = array<i64: 1, 1, 1>} : (tensor<4x6x5xf32>) -> tensor<1x6x5xf32>
  %b = echo.slice %x {offsets = array<i64: 3, 0, 0>, sizes = array<i64: 1, 6, 5>, strides = array<i64: 1, 1, 1>} : (tensor<4x6x5xf32>) -> tensor<1x6x5xf32>
  %c, %m = echo.dropout %a, %seed, %step, %o1 {rate = 0.5 : f64} : (tensor<1x6x5xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<1x6x5xf32>, tensor<1x6x5xi1>)
  %d, %n = echo.dropout %b, %seed, %step, %o2 {rate = 0.5 : f64} : (tensor<1x6x5xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<1x6x5xf32>, tensor<1x6x5xi1>)
  %e = echo.tanh %c : (tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
  %g = echo.tanh %d : (tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
  return %e, %g : tensor<1x6x5xf32>, tensor<1x6x5xf32>
}
)");
}

TEST_F(ThreadedKernels, MovesElements) {
  checkTypes(R"(
func.func @f(%x: tensor<3x5xT>, %v: tensor<T>) -> (tensor<6x8xT>, tensor<5x6xT>) {
  %t = echo.transpose %x {permutation = array<i64: 1, 0>} : (tensor<3x5xT>) -> tensor<5x3xT>
  %r = echo.reverse %t {axes = array<i64: 0>} : (tensor<5x3xT>) -> tensor<5x3xT>
  %c = echo.concat %t, %r {axis = 1 : i64} : (tensor<5x3xT>, tensor<5x3xT>) -> tensor<5x6xT>
  %p = echo.pad %x, %v {low = array<i64: 1, 0>, high = array<i64: 2, 3>} : (tensor<3x5xT>, tensor<T>) -> tensor<6x8xT>
  return %p, %c : tensor<6x8xT>, tensor<5x6xT>
}
)",
             {"f32", "i1", "bf16"});
}

// More rows than a block has threads, and constants in memory.
TEST_F(ThreadedKernels, Blocks) {
  check(R"(
func.func @f(%x: tensor<300x3xf32>) -> tensor<300x3xf32> {
  %c = echo.constant dense<[1.0, 2.5, -3.0]> : tensor<3xf32>
  %0 = echo.mul %x, %c : (tensor<300x3xf32>, tensor<3xf32>) -> tensor<300x3xf32>
  return %0 : tensor<300x3xf32>
}
)");
  EXPECT_EQ(mostChunks, 29 * 32); // 900 elements
}

} // namespace

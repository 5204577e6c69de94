// RUN: echo-opt %s | FileCheck %s
// RUN: echo-opt %s | echo-opt | FileCheck %s
// RUN: echo-opt %s --mlir-print-op-generic | echo-opt | FileCheck %s
// RUN: echo-opt %s --emit-bytecode | echo-opt | FileCheck %s

// CHECK-LABEL: func @constants
func.func @constants() {
  // CHECK: echo.constant dense<[1.000000e+00, -0.000000e+00]> : tensor<2xf32>
  %0 = echo.constant dense<[1.0, -0.0]> : tensor<2xf32>
  // CHECK: echo.constant dense<7> : tensor<i64>
  %1 = echo.constant dense<7> : tensor<i64>
  // CHECK: echo.constant dense<true> : tensor<3xi1>
  %2 = echo.constant dense<true> : tensor<3xi1>
  // CHECK: echo.iota {dimension = 1 : i64} : tensor<2x3xi32>
  %3 = echo.iota {dimension = 1 : i64} : tensor<2x3xi32>
  return
}

// CHECK-LABEL: func @moves
// CHECK-SAME: %[[A:.*]]: tensor<4x6xf32>, %[[V:.*]]: tensor<f32>
func.func @moves(%a: tensor<4x6xf32>, %v: tensor<f32>) {
  // CHECK: echo.reshape %[[A]] : (tensor<4x6xf32>) -> tensor<2x12xf32>
  %0 = echo.reshape %a : (tensor<4x6xf32>) -> tensor<2x12xf32>
  // CHECK: echo.transpose %[[A]] {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = echo.transpose %a {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // CHECK: echo.broadcast %[[A]] : (tensor<4x6xf32>) -> tensor<5x4x6xf32>
  %2 = echo.broadcast %a : (tensor<4x6xf32>) -> tensor<5x4x6xf32>
  // CHECK: echo.slice %[[A]] {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 3>, strides = array<i64: 2, 1>} : (tensor<4x6xf32>) -> tensor<2x3xf32>
  %3 = echo.slice %a {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 3>, strides = array<i64: 2, 1>} : (tensor<4x6xf32>) -> tensor<2x3xf32>
  // CHECK: echo.pad %[[A]], %[[V]] {high = array<i64: 0, 2>, low = array<i64: 1, 0>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x8xf32>
  %4 = echo.pad %a, %v {low = array<i64: 1, 0>, high = array<i64: 0, 2>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x8xf32>
  // CHECK: echo.concat %[[A]], %[[A]] {axis = 1 : i64} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  %5 = echo.concat %a, %a {axis = 1 : i64} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  // CHECK: %{{.*}}:2 = echo.split %[[A]] {axis = 0 : i64} : (tensor<4x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>)
  %6:2 = echo.split %a {axis = 0 : i64} : (tensor<4x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>)
  // CHECK: echo.reverse %[[A]] {axes = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %7 = echo.reverse %a {axes = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

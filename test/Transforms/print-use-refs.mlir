// RUN: echo-opt %s --echo-gradient --echo-print-use-refs -o /dev/null | FileCheck %s
// RUN: echo-opt %s --echo-gradient --echo-print-use-refs=partition -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=PARTITION

// The weight is read by two products, forward and for the gradient of the second
// one's input; the gradient of tanh reads its output, as does that of the weight.
// Reading a view is reading what it is a view of.

// CHECK: @f
// CHECK: argument#0 (resident): forward [matmul#0, matmul#3], backward [matmul#
// CHECK: argument#1 (32 bytes): forward [matmul#0], backward [matmul#
// CHECK: matmul#0 (32 bytes): forward [tanh#1], backward []
// CHECK: tanh#1 (32 bytes): forward [matmul#3], backward [matmul#{{[0-9]+}}, mul#{{[0-9]+}}]
// CHECK-NOT: reshape#2

// PARTITION: @f
// PARTITION-NEXT: subgraph 0: [tanh#1]
// PARTITION-NEXT: subgraph 1: [reduce#4]
func.func @f(%w: tensor<4x4xf32> {echo.role = "parameter"},
             %x: tensor<2x4xf32>) -> tensor<f32> {
  %0 = echo.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = echo.tanh %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = echo.reshape %1 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %3 = echo.matmul %2, %w : (tensor<1x2x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4xf32>
  %loss = echo.reduce sum %3 {dims = array<i64: 0, 1, 2>} : (tensor<1x2x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

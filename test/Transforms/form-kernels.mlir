// RUN: echo-opt %s --echo-form-kernels --split-input-file | FileCheck %s
// RUN: echo-opt %s --echo-form-kernels --echo-form-kernels --split-input-file | FileCheck %s

// Neighbouring elementwise ops of one result shape share a kernel; what is read
// outside leaves it. %1 is read by the kernel alone.
// CHECK-LABEL: func.func @run(
// CHECK-SAME:    %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK:         %[[K:.*]]:2 = echo.kernel(%[[A]], %[[B]])
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<8xf32>):
// CHECK-NEXT:      %[[C:.*]] = echo.constant dense<2.0
// CHECK-NEXT:      %[[S:.*]] = echo.add %[[X]], %[[Y]]
// CHECK-NEXT:      %[[T:.*]] = echo.tanh %[[S]]
// CHECK-NEXT:      %[[M:.*]] = echo.mul %[[T]], %[[C]]
// CHECK-NEXT:      echo.yield %[[S]], %[[M]]
// CHECK:         return %[[K]]#0, %[[K]]#1
func.func @run(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = echo.add %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %c = echo.constant dense<2.0> : tensor<f32>
  %1 = echo.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = echo.mul %1, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Other shapes, and ops that aren't elementwise, end a run.
// CHECK-LABEL: func.func @cuts
// CHECK-COUNT-3: echo.kernel
// CHECK-NOT:     echo.kernel
func.func @cuts(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = echo.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = echo.log %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Library calls and views stay; a constant that they read gets a kernel that
// writes it.
// CHECK-LABEL: func.func @host(
// CHECK-SAME:    %[[A:.*]]: tensor<2x3xf32>)
// CHECK:         %[[W:.*]] = echo.kernel() : () -> tensor<3x4xf32>
// CHECK-NEXT:      %[[C:.*]] = echo.constant dense<1.0
// CHECK-NEXT:      echo.yield %[[C]]
// CHECK:         %[[P:.*]] = echo.matmul %[[A]], %[[W]]
// CHECK-NEXT:    %[[R:.*]] = echo.reshape %[[P]]
// CHECK-NEXT:    return %[[R]]
func.func @host(%a: tensor<2x3xf32>) -> tensor<8xf32> {
  %w = echo.constant dense<1.0> : tensor<3x4xf32>
  %0 = echo.matmul %a, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = echo.reshape %0 : (tensor<2x4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A slice of leading rows is a view, one of columns moves elements.
// CHECK-LABEL: func.func @slices
// CHECK:         echo.slice
// CHECK:         echo.kernel
// CHECK:           echo.slice
func.func @slices(%a: tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<4x2xf32>) {
  %0 = echo.slice %a {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %1 = echo.slice %a {offsets = array<i64: 0, 3>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<4x2xf32>
}

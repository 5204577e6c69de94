// RUN: echo-opt %s --echo-training-step='optimizer=sgd' --echo-to-buffers | FileCheck %s --implicit-check-not=echo.copy
// RUN: echo-opt %s --echo-training-step='optimizer=sgd,weight-decay=0.1,clip-norm=1' --echo-to-buffers | FileCheck %s --implicit-check-not=echo.copy
// RUN: echo-opt %s --echo-training-step='optimizer=momentum' --echo-to-buffers | FileCheck %s --implicit-check-not=echo.copy
// RUN: echo-opt %s --echo-training-step='optimizer=adam' --echo-to-buffers | FileCheck %s --implicit-check-not=echo.copy
// RUN: echo-opt %s --echo-training-step='optimizer=adam,beta1=0.8,weight-decay=0.1,decoupled=true,clip-norm=1' --echo-to-buffers | FileCheck %s --implicit-check-not=echo.copy
// RUN: echo-opt %s --echo-training-step='optimizer=adam,accumulate=4' --echo-to-buffers | FileCheck %s --implicit-check-not=echo.copy
// RUN: not echo-opt %s --echo-training-step='optimizer=adam,beta7=0.8' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not echo-opt %s --echo-training-step='optimizer=eve' 2>&1 | FileCheck %s --check-prefix=KIND
// OPTION: beta7
// KIND: eve

// Weights and optimizer state are updated in place, whatever the optimizer: not
// one copy, and the loss is the only result that is left.
// CHECK: func.func @model(
// CHECK-SAME: -> (memref<f32> {echo.loss
// CHECK: echo.gemm
// CHECK: return %{{[^,]*}} : memref<f32>
func.func @model(
    %x: tensor<4x3xf32> {echo.name = "x", echo.role = "input"},
    %w: tensor<2x3xf32> {echo.name = "w", echo.role = "parameter"},
    %b: tensor<2xf32> {echo.name = "b", echo.role = "parameter"})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %0 = echo.linear %x, %w, %b : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %1 = echo.tanh %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = echo.reduce sum %1 {dims = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

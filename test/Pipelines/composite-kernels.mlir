// RUN: split-file %s %t
// RUN: echo-opt %t/attention.mlir --echo-training-step \
// RUN:   --echo-remat=promise=none --echo-eliminate-dead-nodes \
// RUN:   --echo-form-kernels | FileCheck %t/attention.mlir
// RUN: echo-opt %t/loss.mlir --echo-training-step --echo-to-buffers=strategy=none \
// RUN:   | FileCheck %t/loss.mlir
// RUN: echo-opt %t/norm.mlir --echo-training-step --echo-remat=promise=none \
// RUN:   --echo-eliminate-dead-nodes --echo-form-kernels \
// RUN:   | FileCheck %t/norm.mlir
// RUN: echo-opt %t/cell.mlir --echo-training-step --echo-remat=promise=none \
// RUN:   --echo-eliminate-dead-nodes --echo-form-kernels \
// RUN:   | FileCheck %t/cell.mlir

// What a model does at every step is one kernel forward and one backward; sums
// over the batch, of what that kernel has summed over time, are the second stage
// of a sum of columns.

//--- attention.mlir

// Additive attention: scores v . tanh(norm(keys + query)). Of [batch, time,
// hidden] only the gradient of the keys is ever in memory: what the backward
// part needs again is computed in the kernel that reads it.

// CHECK-LABEL: @attention
// CHECK:       echo.kernel(%arg0, %{{.*}}, %arg3, %arg4, %arg2)
// CHECK-SAME:    -> tensor<8x20xf32> {
// CHECK:         echo.layer_norm
// CHECK:         echo.tanh
// CHECK:         echo.reduce sum
// CHECK:         echo.yield
// CHECK:       echo.matmul
// CHECK:       %[[GRADS:.*]]:5 = echo.kernel
// CHECK-SAME:    -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x20x64xf32>, tensor<8x1x64xf32>) {
// CHECK:         echo.layer_norm
// CHECK:         echo.tanh
// CHECK:         echo.yield
// CHECK-DAG:   echo.kernel(%[[GRADS]]#0) : (tensor<8x64xf32>) -> tensor<64xf32>
// CHECK-DAG:   echo.kernel(%[[GRADS]]#1) : (tensor<8x64xf32>) -> tensor<64xf32>
// CHECK-DAG:   echo.kernel(%[[GRADS]]#2) : (tensor<8x64xf32>) -> tensor<64xf32>
// CHECK-NOT:   echo.kernel
// CHECK:       return
func.func @attention(
    %k: tensor<8x20x64xf32> {echo.role = "parameter", echo.name = "keys"},
    %q: tensor<8x64xf32> {echo.role = "parameter", echo.name = "query"},
    %v: tensor<64xf32> {echo.role = "parameter", echo.name = "score"},
    %s: tensor<64xf32> {echo.role = "parameter", echo.name = "scale"},
    %o: tensor<64xf32> {echo.role = "parameter", echo.name = "offset"},
    %w: tensor<8x20xf32> {echo.role = "input", echo.name = "w"})
    -> (tensor<f32> {echo.loss}) {
  %0 = echo.reshape %q : (tensor<8x64xf32>) -> tensor<8x1x64xf32>
  %1 = echo.add %k, %0 : (tensor<8x20x64xf32>, tensor<8x1x64xf32>) -> tensor<8x20x64xf32>
  %2, %m, %d = echo.layer_norm %1, %s, %o : (tensor<8x20x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<8x20x64xf32>, tensor<8x20x1xf32>, tensor<8x20x1xf32>)
  %3 = echo.tanh %2 : (tensor<8x20x64xf32>) -> tensor<8x20x64xf32>
  %4 = echo.mul %3, %v : (tensor<8x20x64xf32>, tensor<64xf32>) -> tensor<8x20x64xf32>
  %5 = echo.reduce sum %4 {dims = array<i64: 2>} : (tensor<8x20x64xf32>) -> tensor<8x20xf32>
  %6 = echo.matmul %5, %w {transpose_rhs = true} : (tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x8xf32>
  %7 = echo.reduce sum %6 {dims = array<i64: 0, 1>} : (tensor<8x8xf32>) -> tensor<f32>
  return %7 : tensor<f32>
}

//--- loss.mlir

// The loss and its gradient read the logits once, and the gradient is written over
// them.

// CHECK-LABEL: func.func @loss
// CHECK:       echo.gemm{{.*}} outs(%[[LOGITS:[a-z0-9_]*]]) {
// CHECK:       echo.launch @[[LOSS:.*]](%[[LOGITS]], %{{.*}}) outs(%{{.*}}, %[[LOGITS]] : memref<6xf32>, memref<6x50xf32>)
// CHECK:       echo.gemm(%{{.*}}, %[[LOGITS]]) outs(
// CHECK:       func.func private @[[LOSS]](
// CHECK-SAME:    "softmax_cross_entropy+softmax_cross_entropy_grad"
func.func @loss(
    %x: tensor<6x8xf32> {echo.role = "input", echo.name = "x"},
    %y: tensor<6xi32> {echo.role = "label", echo.name = "y"},
    %w: tensor<8x50xf32> {echo.role = "parameter", echo.name = "w"})
    -> (tensor<f32> {echo.loss}) {
  %0 = echo.matmul %x, %w : (tensor<6x8xf32>, tensor<8x50xf32>) -> tensor<6x50xf32>
  %1, %z = echo.softmax_cross_entropy %0, %y : (tensor<6x50xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xf32>)
  %2 = echo.reduce sum %1 {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

//--- norm.mlir

// CHECK-LABEL: @norm
// CHECK:       echo.matmul
// CHECK:       echo.kernel(%{{.*}}, %arg2, %arg3) : (tensor<4x9x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<4x9x16xf32> {
// CHECK:         echo.layer_norm
// CHECK:         echo.yield
// CHECK:       echo.matmul
// CHECK:       %[[GRADS:.*]]:3 = echo.kernel
// CHECK-SAME:    -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x9x16xf32>) {
// CHECK:         echo.layer_norm
// CHECK:         echo.yield
// CHECK-DAG:   echo.kernel(%[[GRADS]]#0) : (tensor<4x16xf32>) -> tensor<16xf32>
// CHECK-DAG:   echo.kernel(%[[GRADS]]#1) : (tensor<4x16xf32>) -> tensor<16xf32>
// CHECK-NOT:   echo.kernel
// CHECK:       return
func.func @norm(
    %x: tensor<4x9x16xf32> {echo.role = "input", echo.name = "x"},
    %w: tensor<16x16xf32> {echo.role = "parameter", echo.name = "w"},
    %s: tensor<16xf32> {echo.role = "parameter", echo.name = "scale"},
    %o: tensor<16xf32> {echo.role = "parameter", echo.name = "offset"},
    %v: tensor<16x1xf32> {echo.role = "input", echo.name = "v"})
    -> (tensor<f32> {echo.loss}) {
  %0 = echo.reshape %x : (tensor<4x9x16xf32>) -> tensor<36x16xf32>
  %1 = echo.matmul %0, %w : (tensor<36x16xf32>, tensor<16x16xf32>) -> tensor<36x16xf32>
  %2 = echo.reshape %1 : (tensor<36x16xf32>) -> tensor<4x9x16xf32>
  %3, %m, %d = echo.layer_norm %2, %s, %o : (tensor<4x9x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x9x16xf32>, tensor<4x9x1xf32>, tensor<4x9x1xf32>)
  %4 = echo.reshape %3 : (tensor<4x9x16xf32>) -> tensor<36x16xf32>
  %5 = echo.matmul %4, %v : (tensor<36x16xf32>, tensor<16x1xf32>) -> tensor<36x1xf32>
  %6 = echo.reduce sum %5 {dims = array<i64: 0, 1>} : (tensor<36x1xf32>) -> tensor<f32>
  return %6 : tensor<f32>
}

//--- cell.mlir

// CHECK-LABEL: @cell
// CHECK:       echo.matmul
// CHECK:       echo.kernel
// CHECK:         echo.lstm_cell %
// CHECK:         echo.yield
// CHECK:       echo.matmul
// CHECK:       echo.kernel
// CHECK:         echo.lstm_cell_grad
// CHECK:         echo.yield
// CHECK-NOT:   echo.kernel
// CHECK:       return
func.func @cell(
    %x: tensor<4x8xf32> {echo.role = "input", echo.name = "x"},
    %c: tensor<4x8xf32> {echo.role = "input", echo.name = "c"},
    %w: tensor<8x32xf32> {echo.role = "parameter", echo.name = "w"},
    %v: tensor<8x1xf32> {echo.role = "input", echo.name = "v"})
    -> (tensor<f32> {echo.loss}) {
  %0 = echo.matmul %x, %w : (tensor<4x8xf32>, tensor<8x32xf32>) -> tensor<4x32xf32>
  %h, %n, %a = echo.lstm_cell %0, %c : (tensor<4x32xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x32xf32>)
  %1 = echo.matmul %h, %v : (tensor<4x8xf32>, tensor<8x1xf32>) -> tensor<4x1xf32>
  %2 = echo.reduce sum %1 {dims = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

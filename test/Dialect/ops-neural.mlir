// RUN: echo-opt %s | FileCheck %s
// RUN: echo-opt %s | echo-opt | FileCheck %s
// RUN: echo-opt %s --mlir-print-op-generic | echo-opt | FileCheck %s
// RUN: echo-opt %s --emit-bytecode | echo-opt | FileCheck %s

// CHECK-LABEL: func @reductions
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>
func.func @reductions(%a: tensor<2x3xf32>) {
  // CHECK: echo.reduce sum %[[A]] {dims = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  %0 = echo.reduce sum %a {dims = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  // CHECK: echo.reduce max %[[A]] {dims = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = echo.reduce max %a {dims = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  // CHECK: echo.reduce mean %[[A]] {dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
  %2 = echo.reduce mean %a {dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
  // CHECK: echo.reduce min %[[A]] {dims = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = echo.reduce min %a {dims = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.argmax %[[A]] {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi32>
  %4 = echo.argmax %a {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

// CHECK-LABEL: func @contractions
// CHECK-SAME: %[[A:.*]]: tensor<8x2x3xf32>, %[[B:.*]]: tensor<4x3xf32>, %[[BIAS:.*]]: tensor<4xf32>
func.func @contractions(%a: tensor<8x2x3xf32>, %b: tensor<4x3xf32>, %bias: tensor<4xf32>) {
  // CHECK: echo.matmul %[[A]], %[[B]] {transpose_rhs = true} : (tensor<8x2x3xf32>, tensor<4x3xf32>) -> tensor<8x2x4xf32>
  %0 = echo.matmul %a, %b {transpose_rhs = true} : (tensor<8x2x3xf32>, tensor<4x3xf32>) -> tensor<8x2x4xf32>
  // CHECK: echo.matmul %[[A]], %[[B]], %[[BIAS]] {transpose_rhs = true} : (tensor<8x2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<8x2x4xf32>
  %1 = echo.matmul %a, %b, %bias {transpose_rhs = true} : (tensor<8x2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<8x2x4xf32>
  // CHECK: echo.linear %[[A]], %[[B]], %[[BIAS]] : (tensor<8x2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<8x2x4xf32>
  %2 = echo.linear %a, %b, %bias : (tensor<8x2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<8x2x4xf32>
  // CHECK: echo.matmul_add %{{.*}}, %[[A]], %[[B]] {transpose_rhs = true} : (tensor<8x2x4xf32>, tensor<8x2x3xf32>, tensor<4x3xf32>) -> tensor<8x2x4xf32>
  %3 = echo.matmul_add %2, %a, %b {transpose_rhs = true} : (tensor<8x2x4xf32>, tensor<8x2x3xf32>, tensor<4x3xf32>) -> tensor<8x2x4xf32>
  return
}

// CHECK-LABEL: func @composites
// CHECK-SAME: %[[X:.*]]: tensor<2x8xf32>, %[[S:.*]]: tensor<8xf32>, %[[N:.*]]: tensor<i64>, %[[C:.*]]: tensor<2x2xf32>, %[[L:.*]]: tensor<2xi32>
func.func @composites(%x: tensor<2x8xf32>, %s: tensor<8xf32>, %n: tensor<i64>, %c: tensor<2x2xf32>, %l: tensor<2xi32>) {
  // CHECK: echo.softmax %[[X]] {axis = 1 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: echo.log_softmax %[[X]] {axis = 0 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = echo.log_softmax %x {axis = 0 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: echo.layer_norm %[[X]], %[[S]], %[[S]] {epsilon = 1.000000e-03 : f64} : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  %2:3 = echo.layer_norm %x, %s, %s {epsilon = 1.0e-3 : f64} : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  // CHECK: echo.dropout %[[X]], %[[N]], %[[N]], %[[N]] {rate = 2.500000e-01 : f64} : (tensor<2x8xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<2x8xf32>, tensor<2x8xi1>)
  %3:2 = echo.dropout %x, %n, %n, %n {rate = 0.25 : f64} : (tensor<2x8xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<2x8xf32>, tensor<2x8xi1>)
  // CHECK: %[[H:.*]], %[[C1:.*]], %[[G:.*]] = echo.lstm_cell %[[X]], %[[C]] : (tensor<2x8xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x8xf32>)
  %4:3 = echo.lstm_cell %x, %c : (tensor<2x8xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x8xf32>)
  // CHECK: echo.lstm_cell_grad %[[G]], %[[C]], %[[C1]], %[[H]], %[[C]] : (tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x8xf32>, tensor<2x2xf32>)
  %5:2 = echo.lstm_cell_grad %4#2, %c, %4#1, %4#0, %c : (tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x8xf32>, tensor<2x2xf32>)
  // CHECK: echo.embedding %[[X]], %[[L]] : (tensor<2x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
  %6 = echo.embedding %x, %l : (tensor<2x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
  // CHECK: echo.embedding_grad %[[L]], %[[X]] {rows = 5 : i64} : (tensor<2xi32>, tensor<2x8xf32>) -> tensor<5x8xf32>
  %7 = echo.embedding_grad %l, %x {rows = 5 : i64} : (tensor<2xi32>, tensor<2x8xf32>) -> tensor<5x8xf32>
  // CHECK: %[[LOSS:.*]], %[[LSE:.*]] = echo.softmax_cross_entropy %[[X]], %[[L]] {ignore_label = 0 : i64, label_smoothing = 1.000000e-01 : f64} : (tensor<2x8xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>)
  %8:2 = echo.softmax_cross_entropy %x, %l {ignore_label = 0 : i64, label_smoothing = 0.1 : f64} : (tensor<2x8xf32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>)
  // CHECK: echo.softmax_cross_entropy_grad %[[X]], %[[L]], %[[LSE]], %[[LOSS]] : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x8xf32>
  %9 = echo.softmax_cross_entropy_grad %x, %l, %8#1, %8#0 : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func @kernel
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>
func.func @kernel(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: echo.kernel(%[[A]]) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: ^bb0(%[[ARG:.*]]: tensor<2x3xf32>):
  // CHECK-NEXT: %[[E:.*]] = echo.exp %[[ARG]]
  // CHECK-NEXT: echo.yield %[[E]], %[[ARG]] : tensor<2x3xf32>, tensor<2x3xf32>
  %0:2 = echo.kernel(%a) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  ^bb0(%arg: tensor<2x3xf32>):
    %1 = echo.exp %arg : (tensor<2x3xf32>) -> tensor<2x3xf32>
    echo.yield %1, %arg : tensor<2x3xf32>, tensor<2x3xf32>
  }
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// Attributes on functions.
// CHECK-LABEL: func @attributes
// CHECK-SAME: %{{.*}}: tensor<4xf32> {echo.init = #echo.init<uniform, -1.000000e+00, 1.000000e+00>, echo.name = "w", echo.role = "parameter"}
// CHECK-SAME: %{{.*}}: tensor<4xf32> {echo.init = #echo.init<normal, 0.000000e+00, 5.000000e-01>, echo.role = "state"}
// CHECK-SAME: %{{.*}}: tensor<i32> {echo.init = #echo.init<randint, 0, 10>, echo.role = "label"}
// CHECK-SAME: %{{.*}}: tensor<i64> {echo.init = #echo.init<constant, 3.000000e+00>, echo.role = "input"}
// CHECK-SAME: -> (tensor<f32> {echo.loss, echo.name = "loss"}, tensor<4xf32> {echo.gradient_of = 0 : i64}, tensor<4xf32> {echo.aliases_argument = 1 : i64})
func.func @attributes(
    %w: tensor<4xf32> {echo.role = "parameter", echo.name = "w", echo.init = #echo.init<uniform, -1.0, 1.0>},
    %m: tensor<4xf32> {echo.role = "state", echo.init = #echo.init<normal, 0, 0.5>},
    %l: tensor<i32> {echo.role = "label", echo.init = #echo.init<randint, 0, 10>},
    %i: tensor<i64> {echo.role = "input", echo.init = #echo.init<constant, 3>})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}, tensor<4xf32> {echo.gradient_of = 0}, tensor<4xf32> {echo.aliases_argument = 1}) {
  %0 = echo.reduce sum %w {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %0, %w, %m : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// RUN: echo-opt %s --echo-batch-sums --split-input-file | FileCheck %s

// Three steps of a weight gradient are one product over 6 rows. A term's
// operands have 2 * (4 + 2) elements, a result has 4 * 4: joining them pays.
// CHECK-LABEL: func.func @weight(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<2x4xf32>, %[[B:[^:]*]]: tensor<2x4xf32>, %[[C:[^:]*]]: tensor<2x4xf32>, %[[X:[^:]*]]: tensor<2x4xf32>, %[[Y:[^:]*]]: tensor<2x4xf32>, %[[Z:[^:]*]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[G:.*]] = echo.concat %[[A]], %[[B]], %[[C]] {axis = 0 : i64} : {{.*}} -> tensor<6x4xf32>
// CHECK-NEXT:    %[[H:.*]] = echo.concat %[[X]], %[[Y]], %[[Z]] {axis = 0 : i64} : {{.*}} -> tensor<6x4xf32>
// CHECK-NEXT:    %[[W:.*]] = echo.matmul %[[G]], %[[H]] {transpose_lhs = true}
// CHECK-NEXT:    return %[[W]]
func.func @weight(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>, %c: tensor<2x4xf32>, %x: tensor<2x4xf32>, %y: tensor<2x4xf32>, %z: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %0 = echo.matmul %a, %x {transpose_lhs = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = echo.matmul %b, %y {transpose_lhs = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %2 = echo.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = echo.matmul %c, %z {transpose_lhs = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %4 = echo.add %2, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// 3 * (4 + 4) elements to join for a result of 4 * 4: not worth it.
// CHECK-LABEL: func.func @deep(
// CHECK-NOT:     echo.concat
// CHECK:         return
func.func @deep(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>, %x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> tensor<4x4xf32> {
  %0 = echo.matmul %a, %x {transpose_lhs = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %1 = echo.matmul %b, %y {transpose_lhs = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %2 = echo.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A recurrent layer: gradients %g0..%g2 belong to the states before, %h, %s0
// and %s1, and the states are joined for the next layer. The gradients are
// joined behind the sum: it moves there. Steps 1 and 2 are read from both
// concatenations, step 0, whose state is in neither, stays a term. The bias
// gradient reads all rows.
// CHECK-LABEL: func.func @recurrent(
// CHECK-SAME:    %[[H:[^:]*]]: tensor<3x4xf32>,
// CHECK:         %[[S:.*]] = echo.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<1x3x4xf32>,
// CHECK:         %[[P0:.*]] = echo.matmul %[[G0:[a-z0-9]+]], %[[H]] {transpose_lhs = true}
// CHECK:         %[[G:.*]] = echo.concat %[[G0]], %{{.*}}, %{{.*}} {axis = 0 : i64} : {{.*}} -> tensor<9x4xf32>
// CHECK-NEXT:    %[[TAIL:.*]] = echo.slice %[[G]] {offsets = array<i64: 3, 0>, sizes = array<i64: 6, 4>
// CHECK-NEXT:    %[[FLAT:.*]] = echo.reshape %[[S]] : (tensor<3x3x4xf32>) -> tensor<9x4xf32>
// CHECK-NEXT:    %[[HEAD:.*]] = echo.slice %[[FLAT]] {offsets = array<i64: 0, 0>, sizes = array<i64: 6, 4>
// CHECK-NEXT:    %[[P:.*]] = echo.matmul %[[TAIL]], %[[HEAD]] {transpose_lhs = true}
// CHECK-NEXT:    %[[W:.*]] = echo.add %[[P0]], %[[P]]
// CHECK:         %[[B:.*]] = echo.reduce sum %[[G]] {dims = array<i64: 0>} : (tensor<9x4xf32>)
// CHECK:         return %[[S]], %[[G]], %[[W]], %[[B]]
func.func @recurrent(%h: tensor<3x4xf32>, %x: tensor<3x4xf32>) -> (tensor<3x3x4xf32>, tensor<9x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %s0 = echo.tanh %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %s1 = echo.tanh %s0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %s2 = echo.tanh %s1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %t0 = echo.reshape %s0 : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
  %t1 = echo.reshape %s1 : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
  %t2 = echo.reshape %s2 : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
  %s = echo.concat %t0, %t1, %t2 {axis = 0 : i64} : (tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<3x3x4xf32>
  %g2 = echo.exp %s2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %b2 = echo.reduce sum %g2 {dims = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<4xf32>
  %p2 = echo.matmul %g2, %s1 {transpose_lhs = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %g1 = echo.exp %g2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %b1 = echo.reduce sum %g1 {dims = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<4xf32>
  %c1 = echo.add %b2, %b1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p1 = echo.matmul %g1, %s0 {transpose_lhs = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %w1 = echo.add %p2, %p1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g0 = echo.exp %g1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %b0 = echo.reduce sum %g0 {dims = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<4xf32>
  %c0 = echo.add %c1, %b0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p0 = echo.matmul %g0, %h {transpose_lhs = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %w0 = echo.add %w1, %p0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = echo.concat %g0, %g1, %g2 {axis = 0 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<9x4xf32>
  return %s, %g, %w0, %c0 : tensor<3x3x4xf32>, tensor<9x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}

// -----

// A term that is read elsewhere, a product over columns and a reduction that
// keeps its dimension stay. Reductions alone aren't worth a concatenation.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     echo.concat
// CHECK:         return
func.func @others(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>, %c: tensor<4x2xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %0 = echo.matmul %a, %a {transpose_lhs = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = echo.matmul %b, %b {transpose_lhs = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %2 = echo.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = echo.matmul %c, %a : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %4 = echo.add %2, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = echo.reduce sum %a {dims = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<4xf32>
  %6 = echo.reduce sum %b {dims = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<4xf32>
  %7 = echo.add %5, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4, %1, %7 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}

// -----

// A table's gradient, step by step: 2 indices and 2 * 3 elements a step for a
// table of 9 * 3.
// CHECK-LABEL: func.func @table(
// CHECK:         %[[I:.*]] = echo.concat {{.*}} -> tensor<4xi32>
// CHECK:         %[[G:.*]] = echo.concat {{.*}} -> tensor<4x3xf32>
// CHECK:         echo.embedding_grad %[[I]], %[[G]] {rows = 9 : i64} : (tensor<4xi32>, tensor<4x3xf32>) -> tensor<9x3xf32>
// CHECK-NEXT:    return
func.func @table(%i: tensor<2xi32>, %j: tensor<2xi32>, %a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<9x3xf32> {
  %0 = echo.embedding_grad %i, %a {rows = 9 : i64} : (tensor<2xi32>, tensor<2x3xf32>) -> tensor<9x3xf32>
  %1 = echo.embedding_grad %j, %b {rows = 9 : i64} : (tensor<2xi32>, tensor<2x3xf32>) -> tensor<9x3xf32>
  %2 = echo.add %0, %1 : (tensor<9x3xf32>, tensor<9x3xf32>) -> tensor<9x3xf32>
  return %2 : tensor<9x3xf32>
}

// RUN: echo-opt %s --echo-batch-rows --split-input-file | FileCheck %s
// RUN: echo-opt %s --echo-batch-rows=most-rows=2 --split-input-file | FileCheck %s --check-prefix=FEW

// One product over the rows of all; the parts have their places in order.
// CHECK-LABEL: func.func @projections(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x3xf32>, %[[Y:[^:]*]]: tensor<2x3xf32>, %[[W:[^:]*]]: tensor<4x3xf32>, %[[B:[^:]*]]: tensor<4xf32>
// CHECK-NEXT:    %[[ROWS:.*]] = echo.concat %[[X]], %[[Y]] {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:    %[[ALL:.*]] = echo.linear %[[ROWS]], %[[W]], %[[B]] : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[P:.*]]:2 = echo.split %[[ALL]] {axis = 0 : i64}
// CHECK-NEXT:    return %[[P]]#0, %[[P]]#1
func.func @projections(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = echo.linear %x, %w, %b : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = echo.linear %y, %w, %b : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// Unequal numbers of rows are slices, and more dimensions are rows as well:
// 1 * 2 and 2 * 2 rows.
// CHECK-LABEL: func.func @unequal(
// CHECK:         %[[X:.*]] = echo.reshape %{{.*}} : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %[[Y:.*]] = echo.reshape %{{.*}} : (tensor<2x2x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:    %[[ROWS:.*]] = echo.concat %[[X]], %[[Y]]
// CHECK-NEXT:    %[[ALL:.*]] = echo.matmul %[[ROWS]], %{{.*}} -> tensor<6x4xf32>
// CHECK-NEXT:    %[[A:.*]] = echo.slice %[[ALL]] {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 4>
// CHECK-NEXT:    %[[B:.*]] = echo.slice %[[ALL]] {offsets = array<i64: 2, 0>, sizes = array<i64: 4, 4>
// CHECK-NEXT:    echo.reshape %[[A]] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
// CHECK-NEXT:    echo.reshape %[[B]] : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
// More than two rows in the second: it stays, and so does the first.
// FEW-LABEL:  func.func @unequal(
// FEW-COUNT-2: echo.matmul
func.func @unequal(%x: tensor<1x2x3xf32>, %y: tensor<2x2x3xf32>, %w: tensor<3x4xf32>)
    -> (tensor<1x2x4xf32>, tensor<2x2x4xf32>) {
  %0 = echo.matmul %x, %w : (tensor<1x2x3xf32>, tensor<3x4xf32>) -> tensor<1x2x4xf32>
  %1 = echo.matmul %y, %w : (tensor<2x2x3xf32>, tensor<3x4xf32>) -> tensor<2x2x4xf32>
  return %0, %1 : tensor<1x2x4xf32>, tensor<2x2x4xf32>
}

// -----

// Another weight, another bias, a transposed left factor and a batch of right
// factors are other ops.
// CHECK-LABEL: func.func @different(
// CHECK-NOT:     echo.concat
// CHECK:         return
func.func @different(%x: tensor<3x3xf32>, %y: tensor<3x3xf32>, %w: tensor<3x3xf32>, %v: tensor<3x3xf32>, %b: tensor<3xf32>, %s: tensor<2x3x3xf32>)
    -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) {
  %0 = echo.linear %x, %w : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = echo.linear %y, %v : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = echo.linear %y, %w, %b : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %3 = echo.matmul %x, %w {transpose_lhs = true} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %4 = echo.matmul %y, %w {transpose_lhs = true} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %5 = echo.matmul %x, %s : (tensor<3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %6 = echo.matmul %y, %s : (tensor<3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>
}

// -----

// Two steps of two layers, step by step as a frontend traces them. The second
// layer's projections read the first layer's states, so their product stands
// behind the first layer's second step, and the second layer's first step,
// which stood before it, follows. Recurrent products (%u, %v) stay: each
// depends on the one before.
// CHECK-LABEL: func.func @layers(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x2x3xf32>, %[[H:[^:]*]]: tensor<2x3xf32>, %[[W:[^:]*]]: tensor<3x3xf32>, %[[U:[^:]*]]: tensor<3x3xf32>, %[[V:[^:]*]]: tensor<3x3xf32>
// The first layer's inputs are neighbours already.
// CHECK:         %[[R0:.*]] = echo.linear %[[H]], %[[U]]
// CHECK:         %[[ROWS:.*]] = echo.reshape %[[X]] : (tensor<2x2x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:    %[[ALL:.*]] = echo.linear %[[ROWS]], %[[W]]
// CHECK-NEXT:    %[[P:.*]]:2 = echo.split %[[ALL]]
// CHECK-NEXT:    %[[A0:.*]] = echo.add %[[P]]#0, %[[R0]]
// CHECK-NEXT:    %[[R1:.*]] = echo.linear %[[A0]], %[[U]]
// CHECK-NEXT:    %[[A1:.*]] = echo.add %[[P]]#1, %[[R1]]
// CHECK-NEXT:    %[[ROWS2:.*]] = echo.concat %[[A0]], %[[A1]]
// CHECK-NEXT:    %[[ALL2:.*]] = echo.linear %[[ROWS2]], %[[V]]
// CHECK-NEXT:    %[[Q:.*]]:2 = echo.split %[[ALL2]]
// CHECK-NEXT:    %[[B0:.*]] = echo.tanh %[[Q]]#0
// CHECK-NEXT:    echo.add %[[B0]], %[[Q]]#1
func.func @layers(%x: tensor<2x2x3xf32>, %h: tensor<2x3xf32>, %w: tensor<3x3xf32>, %u: tensor<3x3xf32>, %v: tensor<3x3xf32>) -> tensor<2x3xf32> {
  %s:2 = echo.split %x {axis = 0 : i64} : (tensor<2x2x3xf32>) -> (tensor<1x2x3xf32>, tensor<1x2x3xf32>)
  %x0 = echo.reshape %s#0 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  %p0 = echo.linear %x0, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %r0 = echo.linear %h, %u : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %a0 = echo.add %p0, %r0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %q0 = echo.linear %a0, %v : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %b0 = echo.tanh %q0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %x1 = echo.reshape %s#1 : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
  %p1 = echo.linear %x1, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %r1 = echo.linear %a0, %u : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %a1 = echo.add %p1, %r1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %q1 = echo.linear %a1, %v : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %b1 = echo.add %b0, %q1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %b1 : tensor<2x3xf32>
}

// -----

// %a and %b are independent, %d and %e are, but both pairs at once would be a
// cycle: %d reads %a and %b reads %e. One pair becomes one product.
// CHECK-LABEL: func.func @crossed(
// CHECK-COUNT-1: echo.concat
// CHECK-NOT:     echo.concat
// CHECK:         return
func.func @crossed(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %v: tensor<2x2xf32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %a = echo.linear %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = echo.linear %x, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = echo.linear %a, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = echo.linear %e, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %d, %b : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// The rows are neighbours in %all, which depends on the products: they are
// joined anew.
// CHECK-LABEL: func.func @reader(
// CHECK:         echo.concat %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK:         echo.linear
// CHECK:         echo.concat {{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK-NOT:     echo.linear
func.func @reader(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<6x2xf32> {
  %a = echo.linear %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = echo.linear %y, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = echo.add %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %all = echo.concat %x, %y, %c {axis = 0 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<6x2xf32>
  return %all : tensor<6x2xf32>
}

// -----

// The gradients of the inputs have no place yet, but their products with the
// inputs do: the gradients are joined in the inputs' order, so that these
// products are one later.
// CHECK-LABEL: func.func @order(
// CHECK:         %[[G1:.*]] = echo.exp
// CHECK:         %[[G0:.*]] = echo.exp %[[G1]]
// CHECK:         %[[ROWS:.*]] = echo.concat %[[G0]], %[[G1]] {axis = 0 : i64}
// CHECK-NEXT:    echo.matmul %[[ROWS]], %{{.*}} : (tensor<4x3xf32>
func.func @order(%x: tensor<4x3xf32>, %w: tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x3xf32>) {
  %s:2 = echo.split %x {axis = 0 : i64} : (tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %g1 = echo.exp %s#1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d1 = echo.matmul %g1, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %p1 = echo.matmul %g1, %s#1 {transpose_lhs = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
  %g0 = echo.exp %g1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d0 = echo.matmul %g0, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %p0 = echo.matmul %g0, %s#0 {transpose_lhs = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
  %p = echo.add %p1, %p0 : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %d1, %d0, %p : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x3xf32>
}

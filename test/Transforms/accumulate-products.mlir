// RUN: echo-opt %s --echo-accumulate-products --split-input-file | FileCheck %s
// RUN: echo-opt %s --echo-accumulate-products --echo-form-kernels --echo-outline-kernels --echo-bufferize --split-input-file | FileCheck %s --check-prefix=BUFFER

// A sum of three products: the second and third are added in the first one's
// buffer, whichever side of the addition they are on.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<2x3xf32>, %[[B:[^:]*]]: tensor<2x4xf32>, %[[W:[^:]*]]: tensor<4x3xf32>,
// CHECK-NEXT:    %[[P:.*]] = echo.matmul %[[A]], %[[B]] {transpose_lhs = true}
// CHECK-NEXT:    %[[Q:.*]] = echo.matmul_add %[[P]], %[[A]], %[[B]] {transpose_lhs = true} : (tensor<3x4xf32>, tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %[[R:.*]] = echo.matmul_add %[[Q]], %[[W]], %{{.*}} {transpose_lhs = true}
// CHECK-NEXT:    return %[[R]]
// BUFFER-LABEL: func.func @chain(
// BUFFER:         %[[C:.*]] = memref.alloc() : memref<3x4xf32>
// BUFFER-NEXT:    echo.gemm({{.*}}) outs(%[[C]]) {batch = 1
// BUFFER-NEXT:    echo.gemm({{.*}}) outs(%[[C]]) {accumulate = true,
// BUFFER-NEXT:    echo.gemm({{.*}}) outs(%[[C]]) {accumulate = true,
// BUFFER-NEXT:    return %[[C]]
func.func @chain(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>, %c: tensor<4x3xf32>, %d: tensor<4x4xf32>) -> tensor<3x4xf32> {
  %0 = echo.matmul %a, %b {transpose_lhs = true} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %1 = echo.matmul %a, %b {transpose_lhs = true} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %2 = echo.add %0, %1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = echo.matmul %c, %d {transpose_lhs = true} : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %4 = echo.add %3, %2 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %4 : tensor<3x4xf32>
}

// -----

// A recurrent step adds to its part of the projections of all steps.
// CHECK-LABEL: func.func @step(
// CHECK:         %[[P:.*]]:2 = echo.split
// CHECK-NEXT:    %[[P0:.*]] = echo.reshape %[[P]]#0
// CHECK-NEXT:    %[[P1:.*]] = echo.reshape %[[P]]#1
// CHECK-NEXT:    %[[S0:.*]] = echo.matmul_add %[[P0]], %{{.*}}, %[[U:.*]] {transpose_rhs = true} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>)
// CHECK-NEXT:    %[[H0:.*]] = echo.tanh %[[S0]]
// CHECK-NEXT:    %[[S1:.*]] = echo.matmul_add %[[P1]], %[[H0]], %[[U]]
// BUFFER-LABEL: func.func @step(
// BUFFER:         %[[P:.*]] = memref.alloc() : memref<2x2x4xf32>
// BUFFER-DAG:     %[[P0:.*]] = echo.buffer_view %[[P]][0] : memref<2x2x4xf32> to memref<2x4xf32>
// BUFFER-DAG:     %[[P1:.*]] = echo.buffer_view %[[P]][32] : memref<2x2x4xf32> to memref<2x4xf32>
// BUFFER-NOT:     echo.copy
// BUFFER:         echo.gemm({{.*}}) outs(%[[V0:.*]]) {accumulate = true,
// BUFFER:         echo.launch @{{.*}}(%[[V0]])
// BUFFER:         echo.gemm({{.*}}) outs(%{{.*}}) {accumulate = true,
// BUFFER-NOT:     echo.copy
func.func @step(%x: tensor<2x2x3xf32>, %h: tensor<2x4xf32>, %w: tensor<4x3xf32>, %u: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %p = echo.linear %x, %w : (tensor<2x2x3xf32>, tensor<4x3xf32>) -> tensor<2x2x4xf32>
  %s:2 = echo.split %p {axis = 0 : i64} : (tensor<2x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  %p0 = echo.reshape %s#0 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %p1 = echo.reshape %s#1 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %r0 = echo.linear %h, %u : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %g0 = echo.add %p0, %r0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %h0 = echo.tanh %g0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r1 = echo.linear %h0, %u : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %g1 = echo.add %p1, %r1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %h1 = echo.tanh %g1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %h1 : tensor<2x4xf32>
}

// -----

// What a kernel computes that could add as well (%e), what is read elsewhere
// (%p), an argument, a constant, a product with a bias, a product that is read
// elsewhere (%q1, %r1), and operands that broadcast stay as they are.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     echo.matmul_add
// CHECK:         return
// BUFFER-LABEL: func.func @others(
func.func @others(%a: tensor<2x2xf32>, %w: tensor<2x2xf32>, %b: tensor<2xf32>, %x: tensor<2x2x2xf32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2x2xf32>) {
  %e = echo.exp %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %e1 = echo.linear %a, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %e2 = echo.add %e, %e1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = echo.linear %a, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %p1 = echo.linear %e, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %p2 = echo.add %p, %p1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %a1 = echo.linear %e, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %a2 = echo.add %a, %a1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = echo.constant dense<1.0> : tensor<2x2xf32>
  %c1 = echo.linear %e, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %c2 = echo.add %c, %c1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = echo.linear %a, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d1 = echo.linear %d, %w, %b : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %q1 = echo.linear %e, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %q = echo.exp %q1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %q2 = echo.add %q, %q1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = echo.linear %e, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r1 = echo.linear %a, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r2 = echo.add %r, %r1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = echo.matmul %x, %w : (tensor<2x2x2xf32>, tensor<2x2xf32>) -> tensor<2x2x2xf32>
  %s1 = echo.linear %q, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %s2 = echo.add %s, %s1 : (tensor<2x2x2xf32>, tensor<2x2xf32>) -> tensor<2x2x2xf32>
  return %e2, %p2, %p, %a2, %c2, %d1, %q2, %r1, %r2, %s2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2x2xf32>
}

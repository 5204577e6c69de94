// The worked examples of the Echo paper (ISCA 2020), for its Algorithm 1 to the
// letter and for ours. The gradient of tanh reads its output, that of a product
// its inputs. N = 8 elements of 4 bytes.

// RUN: echo-opt %s --split-input-file --echo-gradient \
// RUN:   --echo-remat='strategy=echo-paper promise=none' | FileCheck %s
// RUN: echo-opt %s --split-input-file --echo-gradient \
// RUN:   --echo-remat='strategy=echo promise=none' | FileCheck %s
// RUN: echo-opt %s --split-input-file --echo-gradient \
// RUN:   --echo-remat='strategy=mirror promise=none' \
// RUN:   | FileCheck %s --check-prefix=MIRROR

// Figure 7: Z = tanh(X + Y), and a gradient reads Z. Stashed is Z, N;
// recomputing would stash X and Y, 2 N, which mirror does.

// CHECK-LABEL: func @figure7
// CHECK-NOT: optimization_barrier
// CHECK: return
// MIRROR-LABEL: func @figure7
// MIRROR: %[[TANH:.*]] = echo.tanh
// MIRROR: echo.reduce
// MIRROR: echo.optimization_barrier
// MIRROR: echo.add
// MIRROR: echo.tanh
// MIRROR: return
func.func @figure7(%w: tensor<8xf32> {echo.role = "parameter"},
                   %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<f32> {
  %sum = echo.add %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %z = echo.tanh %sum : (tensor<8xf32>) -> tensor<8xf32>
  %u = echo.mul %w, %z : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %loss = echo.reduce sum %u {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Figures 11 and 12: tanh(fc(x) + fc(y)). The add is taken off the recomputation
// path (N + N >= N), then tanh (N >= N): nothing is recomputed.

// CHECK-LABEL: func @figure11
// CHECK-NOT: optimization_barrier
// CHECK: return
func.func @figure11(%w: tensor<4x4xf32> {echo.role = "parameter"},
                    %x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<f32> {
  %u = echo.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %v = echo.matmul %y, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %sum = echo.add %u, %v : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %z = echo.tanh %sum : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %loss = echo.reduce sum %z {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Figures 8 and 13 with T = 3: the keys, T x N, are shared by T broadcast-adds.
// Stashing every tanh takes T T N = 72 elements, stashing keys and queries
// T N + T N = 48: all six ops are recomputed.

// CHECK-LABEL: func @figure13
// CHECK-COUNT-3: echo.tanh
// CHECK: echo.reduce
// CHECK-COUNT-3: echo.tanh
// CHECK-NOT: echo.tanh
// CHECK: return
func.func @figure13(%w: tensor<8x8xf32> {echo.role = "parameter"},
                    %x: tensor<3x8xf32>, %q: tensor<3x1x8xf32>) -> tensor<f32> {
  %keys = echo.matmul %x, %w : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %in:3 = echo.split %q {axis = 0 : i64} : (tensor<3x1x8xf32>) -> (tensor<1x1x8xf32>, tensor<1x1x8xf32>, tensor<1x1x8xf32>)
  %i0 = echo.reshape %in#0 : (tensor<1x1x8xf32>) -> tensor<1x8xf32>
  %i1 = echo.reshape %in#1 : (tensor<1x1x8xf32>) -> tensor<1x8xf32>
  %i2 = echo.reshape %in#2 : (tensor<1x1x8xf32>) -> tensor<1x8xf32>
  %q0 = echo.matmul %i0, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %q1 = echo.matmul %i1, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %q2 = echo.matmul %i2, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %a0 = echo.add %keys, %q0 : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<3x8xf32>
  %t0 = echo.tanh %a0 : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %a1 = echo.add %keys, %q1 : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<3x8xf32>
  %t1 = echo.tanh %a1 : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %a2 = echo.add %keys, %q2 : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<3x8xf32>
  %t2 = echo.tanh %a2 : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %s1 = echo.add %t0, %t1 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %s2 = echo.add %s1, %t2 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %loss = echo.reduce sum %s2 {dims = array<i64: 0, 1>} : (tensor<3x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Figure 14: fc(tanh(tanh(fc(x)))). The first tanh is taken off (N >= N). Its
// output is stashed for its own gradient then, so that recomputing the second
// tanh releases N for nothing. fc itself is not recomputed, and its weight's
// gradient reads the recomputed tanh; mirror leaves it the original.

// CHECK-LABEL: func @figure14
// CHECK: echo.matmul
// CHECK: %[[FIRST:.*]] = echo.tanh
// CHECK: echo.tanh %[[FIRST]]
// CHECK: echo.matmul
// CHECK: echo.reduce
// CHECK: %[[BARRIER:.*]] = echo.optimization_barrier(%[[FIRST]],
// CHECK-NEXT: %[[AGAIN:.*]] = echo.tanh %[[BARRIER]]
// CHECK: echo.matmul %[[AGAIN]], {{.*}} {transpose_lhs = true}
// CHECK-NOT: echo.tanh
// CHECK: return
// MIRROR-LABEL: func @figure14
// MIRROR: %[[FIRST:.*]] = echo.tanh
// MIRROR: %[[SECOND:.*]] = echo.tanh %[[FIRST]]
// MIRROR: echo.matmul %[[SECOND]], {{.*}} {transpose_lhs = true}
func.func @figure14(%w: tensor<4x4xf32> {echo.role = "parameter"},
                    %x: tensor<2x4xf32>) -> tensor<f32> {
  %u = echo.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %first = echo.tanh %u : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %second = echo.tanh %first : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = echo.matmul %second, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %loss = echo.reduce sum %y {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Figure 6: a chain of four ops whose gradients read their outputs, 4 N stashed.
// mirror recomputes all of them from the input, N; Algorithm 1 takes the first
// off (N >= N) and recomputes the others from its output, N.

// CHECK-LABEL: func @figure6
// CHECK-COUNT-4: echo.tanh
// CHECK: echo.reduce
// CHECK-COUNT-3: echo.tanh
// CHECK-NOT: echo.tanh
// CHECK: return
// MIRROR-LABEL: func @figure6
// MIRROR-COUNT-8: echo.tanh
// MIRROR: return
func.func @figure6(%w: tensor<4x4xf32> {echo.role = "parameter"},
                   %x: tensor<2x4xf32>) -> tensor<f32> {
  %0 = echo.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = echo.tanh %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = echo.tanh %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = echo.tanh %2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = echo.tanh %3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %loss = echo.reduce sum %4 {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// Ops of other dialects take part by what they tell of themselves.

// RUN: echo-opt %s --echo-remat=strategy=echo | FileCheck %s
// RUN: echo-opt %s --echo-remat=strategy=echo --canonicalize --cse | FileCheck %s
// RUN: echo-opt %s --echo-remat=strategy=echo --echo-remove-barriers \
// RUN:   | FileCheck %s --check-prefix=REMOVED

// A chain of four ops behind a product; each gradient reads its op's output. The
// first is kept (its input is as large as its output), the others are computed
// again from it. Results but the loss are what the step is for.

// CHECK-LABEL: func @chain
// CHECK: linalg.matmul
// CHECK: %[[T1:.*]] = math.tanh
// CHECK-COUNT-3: math.tanh
// CHECK: %[[LOSS:.*]] = linalg.generic
// CHECK: %[[B:.*]] = echo.optimization_barrier(%[[T1]], %{{.*}})
// CHECK: %[[C2:.*]] = math.tanh %[[B]]
// CHECK: %[[C3:.*]] = math.tanh %[[C2]]
// CHECK: %[[C4:.*]] = math.tanh %[[C3]]
// CHECK: arith.mulf %[[C4]], %[[C4]]
// CHECK: arith.mulf %[[C3]], %[[C3]]
// CHECK: arith.mulf %[[C2]], %[[C2]]
// CHECK: arith.mulf %[[T1]], %[[T1]]
// CHECK-NOT: math.tanh
// CHECK: return %[[LOSS]]
// REMOVED-NOT: optimization_barrier
// REMOVED-COUNT-7: math.tanh
// REMOVED-NOT: optimization_barrier
func.func @chain(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>)
    -> (tensor<f32>, tensor<256x256xf32>) {
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %one = arith.constant dense<1.0> : tensor<256x256xf32>
  %scalar = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.matmul ins(%x, %w : tensor<256x256xf32>, tensor<256x256xf32>)
                     outs(%zero : tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = math.tanh %0 : tensor<256x256xf32>
  %2 = math.tanh %1 : tensor<256x256xf32>
  %3 = math.tanh %2 : tensor<256x256xf32>
  %4 = math.tanh %3 : tensor<256x256xf32>
  %loss = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%4 : tensor<256x256xf32>) outs(%scalar : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  %s4 = arith.mulf %4, %4 : tensor<256x256xf32>
  %g4 = arith.subf %one, %s4 : tensor<256x256xf32>
  %s3 = arith.mulf %3, %3 : tensor<256x256xf32>
  %d3 = arith.subf %one, %s3 : tensor<256x256xf32>
  %g3 = arith.mulf %g4, %d3 : tensor<256x256xf32>
  %s2 = arith.mulf %2, %2 : tensor<256x256xf32>
  %d2 = arith.subf %one, %s2 : tensor<256x256xf32>
  %g2 = arith.mulf %g3, %d2 : tensor<256x256xf32>
  %s1 = arith.mulf %1, %1 : tensor<256x256xf32>
  %d1 = arith.subf %one, %s1 : tensor<256x256xf32>
  %g1 = arith.mulf %g2, %d1 : tensor<256x256xf32>
  %gw = linalg.matmul ins(%x, %g1 : tensor<256x256xf32>, tensor<256x256xf32>)
                      outs(%zero : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %loss, %gw : tensor<f32>, tensor<256x256xf32>
}

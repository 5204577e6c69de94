// Ops of other dialects take part by what they tell of themselves.

// RUN: echo-opt %s --split-input-file --echo-remat=strategy=echo | FileCheck %s
// RUN: echo-opt %s --split-input-file --echo-remat=strategy=echo --canonicalize --cse \
// RUN:   | FileCheck %s
// RUN: echo-opt %s --split-input-file --echo-remat=strategy=echo --echo-remove-barriers \
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

// -----

// A training step in tosa: products, tanh, tanh, sigmoid, the sum. The gradients
// read outputs. The first tanh is kept, the other two are computed again; a
// reshape of the second is the second.

// CHECK-LABEL: func @tosa
// CHECK: tosa.matmul
// CHECK: %[[T1:.*]] = tosa.tanh
// CHECK: tosa.tanh %[[T1]]
// CHECK: tosa.sigmoid
// CHECK: tosa.reduce_sum
// CHECK: %[[B:.*]] = echo.optimization_barrier(%[[T1]], %{{.*}})
// CHECK: %[[T2:.*]] = tosa.tanh %[[B]]
// CHECK: %[[R2:.*]] = tosa.reshape %[[T2]]
// CHECK: %[[T3:.*]] = tosa.sigmoid %[[T2]]
// CHECK: tosa.sub %{{.*}}, %[[T3]]
// CHECK: tosa.mul %[[R2]], %[[R2]]
// CHECK: tosa.mul %[[T1]], %[[T1]]
// CHECK-NOT: tosa.tanh
// CHECK-NOT: tosa.sigmoid
// CHECK: tosa.matmul
func.func @tosa(%x: tensor<1x64x64xf32>, %w: tensor<1x64x64xf32>)
    -> (tensor<f32>, tensor<1x64x64xf32>) {
  %zp = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %one = "tosa.const"() {values = dense<1.0> : tensor<1x64x64xf32>} : () -> tensor<1x64x64xf32>
  %matrix = tosa.const_shape {values = dense<64> : tensor<2xindex>} : () -> !tosa.shape<2>
  %batch = tosa.const_shape {values = dense<[1, 64, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %none = tosa.const_shape {values = dense<> : tensor<0xindex>} : () -> !tosa.shape<0>
  %0 = tosa.matmul %x, %w, %zp, %zp : (tensor<1x64x64xf32>, tensor<1x64x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x64x64xf32>
  %1 = tosa.tanh %0 : (tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %2 = tosa.tanh %1 : (tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %r2 = tosa.reshape %2, %matrix : (tensor<1x64x64xf32>, !tosa.shape<2>) -> tensor<64x64xf32>
  %3 = tosa.sigmoid %2 : (tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %4 = tosa.reduce_sum %3 {axis = 2 : i32} : (tensor<1x64x64xf32>) -> tensor<1x64x1xf32>
  %5 = tosa.reduce_sum %4 {axis = 1 : i32} : (tensor<1x64x1xf32>) -> tensor<1x1x1xf32>
  %loss = tosa.reshape %5, %none : (tensor<1x1x1xf32>, !tosa.shape<0>) -> tensor<f32>
  %d3 = tosa.sub %one, %3 : (tensor<1x64x64xf32>, tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %g3 = tosa.mul %3, %d3, %shift : (tensor<1x64x64xf32>, tensor<1x64x64xf32>, tensor<1xi8>) -> tensor<1x64x64xf32>
  %q2 = tosa.mul %r2, %r2, %shift : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<1xi8>) -> tensor<64x64xf32>
  %s2 = tosa.reshape %q2, %batch : (tensor<64x64xf32>, !tosa.shape<3>) -> tensor<1x64x64xf32>
  %d2 = tosa.sub %one, %s2 : (tensor<1x64x64xf32>, tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %g2 = tosa.mul %g3, %d2, %shift : (tensor<1x64x64xf32>, tensor<1x64x64xf32>, tensor<1xi8>) -> tensor<1x64x64xf32>
  %s1 = tosa.mul %1, %1, %shift : (tensor<1x64x64xf32>, tensor<1x64x64xf32>, tensor<1xi8>) -> tensor<1x64x64xf32>
  %d1 = tosa.sub %one, %s1 : (tensor<1x64x64xf32>, tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %g1 = tosa.mul %g2, %d1, %shift : (tensor<1x64x64xf32>, tensor<1x64x64xf32>, tensor<1xi8>) -> tensor<1x64x64xf32>
  %xt = tosa.transpose %x {perms = array<i32: 0, 2, 1>} : (tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %gw = tosa.matmul %xt, %g1, %zp, %zp : (tensor<1x64x64xf32>, tensor<1x64x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x64x64xf32>
  return %loss, %gw : tensor<f32>, tensor<1x64x64xf32>
}

// -----

// Running statistics in a variable: it is read and written once, in the old
// order, and what was read stays: a second read would find the new value. The
// product with it can be computed again.

// CHECK-LABEL: func @variable
// CHECK: %[[OLD:.*]] = tosa.variable_read
// CHECK: tosa.variable_write
// CHECK: %[[LOSS:.*]] = tosa.reshape
// CHECK: echo.optimization_barrier(%[[OLD]], %[[LOSS]])
// CHECK-NOT: tosa.variable
module {
  tosa.variable @statistic = dense<0.0> : tensor<1xf32>
  func.func @variable(%x: tensor<16xf32>) -> (tensor<f32>, tensor<16xf32>) {
    %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
    %none = tosa.const_shape {values = dense<> : tensor<0xindex>} : () -> !tosa.shape<0>
    %0 = tosa.sin %x : (tensor<16xf32>) -> tensor<16xf32>
    %old = tosa.variable_read @statistic : tensor<1xf32>
    %1 = tosa.add %0, %old : (tensor<16xf32>, tensor<1xf32>) -> tensor<16xf32>
    %2 = tosa.tanh %1 : (tensor<16xf32>) -> tensor<16xf32>
    %3 = tosa.reduce_sum %2 {axis = 0 : i32} : (tensor<16xf32>) -> tensor<1xf32>
    tosa.variable_write @statistic, %3 : tensor<1xf32>
    %loss = tosa.reshape %3, %none : (tensor<1xf32>, !tosa.shape<0>) -> tensor<f32>
    %g = tosa.mul %2, %1, %shift : (tensor<16xf32>, tensor<16xf32>, tensor<1xi8>) -> tensor<16xf32>
    %gx = tosa.mul %g, %0, %shift : (tensor<16xf32>, tensor<16xf32>, tensor<1xi8>) -> tensor<16xf32>
    return %loss, %gx : tensor<f32>, tensor<16xf32>
  }
}

// -----

// An op that only a gradient reads stands among the forward ops. It runs with
// them, so that nothing is computed again in front of it, before there is a loss;
// what it makes is one more feature map, which can be computed again itself.

// CHECK-LABEL: func @early
// CHECK: %[[T1:.*]] = math.tanh
// CHECK-NOT: optimization_barrier
// CHECK: %[[LOSS:.*]] = tensor.extract_slice
// CHECK: %[[B:.*]] = echo.optimization_barrier(%[[T1]], %[[LOSS]])
// CHECK: %[[T2:.*]] = math.tanh %[[B]]
// CHECK: %[[N:.*]] = math.absf %[[T2]]
// CHECK: arith.mulf %[[N]], %[[N]]
// CHECK: %[[T3:.*]] = math.tanh %[[T2]]
// CHECK: arith.mulf %{{.*}}, %[[T3]]
// CHECK: arith.mulf %{{.*}}, %[[T1]]
func.func @early(%x: tensor<64xf32>) -> (tensor<f32>, tensor<64xf32>) {
  %0 = math.sqrt %x : tensor<64xf32>
  %1 = math.tanh %0 : tensor<64xf32>
  %2 = math.tanh %1 : tensor<64xf32>
  %n = math.absf %2 : tensor<64xf32>
  %3 = math.tanh %2 : tensor<64xf32>
  %loss = tensor.extract_slice %3[0] [1] [1] : tensor<64xf32> to tensor<f32>
  %q = arith.mulf %n, %n : tensor<64xf32>
  %g3 = arith.mulf %q, %3 : tensor<64xf32>
  %g1 = arith.mulf %g3, %1 : tensor<64xf32>
  %g0 = arith.mulf %g1, %1 : tensor<64xf32>
  return %loss, %g0 : tensor<f32>, tensor<64xf32>
}

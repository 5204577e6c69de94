// Where rematerialization goes wrong elsewhere: what has to be right here.

// RUN: echo-opt %s --split-input-file --echo-gradient \
// RUN:   --echo-remat='strategy=echo promise=none' --canonicalize --cse \
// RUN:   | FileCheck %s
// RUN: echo-opt %s --split-input-file --echo-gradient -o /dev/null \
// RUN:   --echo-remat='strategy=echo promise=none' \
// RUN:   --remark-format=emitRemark --remarks-filter=echo-remat 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: echo-opt %s --split-input-file --echo-gradient -o /dev/null \
// RUN:   --echo-remat='strategy=mirror promise=none' \
// RUN:   --remark-format=emitRemark --remarks-filter=echo-remat 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MIRROR
// RUN: echo-opt %s --split-input-file --echo-gradient \
// RUN:   --echo-remat='strategy=echo promise=none' --echo-form-kernels \
// RUN:   | FileCheck %s --check-prefix=KERNEL

// A copy of lower precision of a weight, 64 x 64 f16, that the backward part
// reads: the weight is in memory anyway, so that 8192 bytes are released for
// nothing. The copy is made again, behind the loss.

// CHECK-LABEL: func @lowered
// CHECK-SAME:    %[[V:[^:]*]]: tensor<64x64xf32> {echo.name = "v"
// CHECK:         %[[C:.*]] = echo.convert %[[V]]
// CHECK:         echo.matmul %{{.*}}, %[[C]]
// CHECK:         %[[L:.*]] = echo.reduce sum
// CHECK:         %[[B:.*]] = echo.optimization_barrier(%[[V]], %[[L]])
// CHECK:         %[[D:.*]] = echo.convert %[[B]]
// CHECK:         echo.matmul %{{.*}}, %[[D]] {transpose_rhs = true}
// CHECK-NOT:     %[[C]]
// CHECK:         return %[[L]]
// REMARK:        {{8192 bytes recomputed}}
func.func @lowered(%w: tensor<32x64xf16> {echo.role = "parameter", echo.name = "w"},
                   %v: tensor<64x64xf32> {echo.role = "parameter", echo.name = "v"},
                   %x: tensor<8x32xf16>) -> tensor<f16> {
  %0 = echo.matmul %x, %w : (tensor<8x32xf16>, tensor<32x64xf16>) -> tensor<8x64xf16>
  %c = echo.convert %v : (tensor<64x64xf32>) -> tensor<64x64xf16>
  %1 = echo.matmul %0, %c : (tensor<8x64xf16>, tensor<64x64xf16>) -> tensor<8x64xf16>
  %loss = echo.reduce sum %1 {dims = array<i64: 0, 1>} : (tensor<8x64xf16>) -> tensor<f16>
  return %loss : tensor<f16>
}

// -----

// The gradients of tanh and sigmoid read their outputs, that of the last product
// reads the sum of both. Stashed are the two, 2048 bytes each; the sum of the
// same size is computed again from them. tanh and sigmoid aren't: products of
// 2048 bytes would be stashed instead. x is 1024 bytes, the product's gradient
// reads nothing but it. The gradient of a sum is made of constants, so that
// what reads the sum again waits for the loss itself, and joins no kernel of the
// forward part.

// CHECK-LABEL: func @live_anyway
// CHECK:         %[[T:.*]] = echo.tanh
// CHECK:         %[[S:.*]] = echo.sigmoid
// CHECK:         %[[A:.*]] = echo.add %[[T]], %[[S]]
// CHECK:         echo.matmul %[[A]],
// CHECK:         %[[L:.*]] = echo.reduce sum
// CHECK-NOT:     echo.tanh
// CHECK-NOT:     echo.sigmoid
// CHECK-DAG:     %[[BT:.*]] = echo.optimization_barrier(%[[T]], %[[L]])
// CHECK-DAG:     %[[BS:.*]] = echo.optimization_barrier(%[[S]], %[[L]])
// CHECK:         %[[C:.*]] = echo.add %[[BT]], %[[BS]]
// CHECK:         echo.matmul %[[C]], %{{.*}} {transpose_lhs = true}
// CHECK-NOT:     %[[A]]
// CHECK:         return
// REMARK:        {{recomputes 1 ops: 5120 bytes of feature maps instead of 7168}}
// KERNEL-LABEL: func @live_anyway
// KERNEL:         echo.kernel
// KERNEL:           echo.tanh
// KERNEL:           echo.add
// KERNEL-NOT:       echo.add
// KERNEL:           echo.yield
// KERNEL:         echo.reduce sum
// KERNEL:         echo.kernel
// KERNEL:           echo.add
// KERNEL:         return
func.func @live_anyway(%w: tensor<32x64xf32> {echo.role = "parameter"},
                       %u: tensor<32x64xf32> {echo.role = "parameter"},
                       %v: tensor<64x32xf32> {echo.role = "parameter"},
                       %x: tensor<8x32xf32>) -> tensor<f32> {
  %0 = echo.matmul %x, %w : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  %1 = echo.matmul %x, %u : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  %t = echo.tanh %0 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %s = echo.sigmoid %1 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %a = echo.add %t, %s : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %p = echo.matmul %a, %v : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %loss = echo.reduce sum %p {dims = array<i64: 0, 1>} : (tensor<8x32xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The derivative of tanh, 1 - t t, depends on nothing but t: computed with t it
// would be one more tensor that waits for the loss. It stays behind the product
// that makes what it is multiplied with, in one kernel with that.

// KERNEL-LABEL: func @derivative
// KERNEL:         echo.matmul
// KERNEL:         echo.tanh
// KERNEL-NOT:     echo.sub
// KERNEL:         echo.matmul
// KERNEL-NOT:     echo.sub
// KERNEL:         %[[D:.*]] = echo.matmul %{{.*}} {transpose_rhs = true}
// KERNEL:         echo.kernel({{.*}}%[[D]]
// KERNEL:           echo.sub
// KERNEL-NEXT:      echo.mul
// KERNEL:         return
func.func @derivative(%w: tensor<32x64xf32> {echo.role = "parameter"},
                      %v: tensor<64x32xf32> {echo.role = "parameter"},
                      %x: tensor<8x32xf32>) -> tensor<f32> {
  %0 = echo.matmul %x, %w : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  %t = echo.tanh %0 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %p = echo.matmul %t, %v : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %q = echo.mul %p, %p : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %loss = echo.reduce sum %q {dims = array<i64: 0, 1>} : (tensor<8x32xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Dropout makes a value, 2048 bytes, that the forward part alone reads, and a
// mask, 512, for the backward part. mirror recomputes no dropout: of the op's
// results it stashes the one, with x, 1024.

func.func @one_of_two(%w: tensor<32x64xf32> {echo.role = "parameter"},
                      // MIRROR: :[[#@LINE+1]]:{{.*}}1024 bytes stashed: it is an input of the step
                      %x: tensor<8x32xf32>,
                      %seed: tensor<i64> {echo.role = "state"}) -> tensor<f32> {
  %0 = echo.matmul %x, %w : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  // MIRROR-NOT: remark:
  // MIRROR: :[[#@LINE+1]]:{{.*}}"512 bytes stashed: the strategy doesn't recompute for its readers"
  %y, %mask = echo.dropout %0, %seed, %seed, %seed {rate = 0.25 : f64} : (tensor<8x64xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<8x64xf32>, tensor<8x64xi1>)
  // MIRROR-NOT: remark:
  // MIRROR: remark: {{.*}}nothing to recompute
  %loss = echo.reduce sum %y {dims = array<i64: 0, 1>} : (tensor<8x64xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Nothing to win: a product's result for tanh's. That is said, of the step and
// of each value that it keeps.

// CHECK-LABEL: func @nothing
// CHECK-NOT:     echo.optimization_barrier
// CHECK:         return
func.func @nothing(%w: tensor<32x64xf32> {echo.role = "parameter"},
                   // REMARK: :[[#@LINE+1]]:{{.*}}1024 bytes stashed: it is an input of the step
                   %x: tensor<8x32xf32>) -> tensor<f32> {
  %0 = echo.matmul %x, %w : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  // REMARK: :[[#@LINE+1]]:{{.*}}2048 bytes stashed: what recomputing needs is no smaller
  %t = echo.tanh %0 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  // REMARK: remark: {{.*}}nothing to recompute: no op releases more than it needs
  %p = echo.mul %t, %t : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %loss = echo.reduce sum %p {dims = array<i64: 0, 1>} : (tensor<8x64xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// What the backward part reads one bit of is stashed as bits.

// RUN: echo-opt %s --split-input-file --echo-gradient \
// RUN:   --echo-remat='strategy=echo-paper promise=none' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,PAPER
// RUN: echo-opt %s --split-input-file --echo-gradient \
// RUN:   --echo-remat='strategy=echo' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,ECHO
// RUN: echo-opt %s --split-input-file --echo-gradient \
// RUN:   --echo-remat='strategy=echo-paper promise=none' --canonicalize --cse \
// RUN:   | FileCheck %s
// RUN: echo-opt %s --split-input-file --echo-gradient -o /dev/null \
// RUN:   --echo-remat='strategy=echo-paper promise=none' \
// RUN:   --remark-format=emitRemark --remarks-filter=echo-remat 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: echo-opt %s --split-input-file --echo-gradient \
// RUN:   --echo-remat='strategy=echo-paper promise=none' --echo-form-kernels \
// RUN:   | FileCheck %s --check-prefix=KERNEL

// 8 x 64 elements: 2048 bytes, or 512 / 32 words of 4 bytes. The loss's gradient
// reads x, 8 x 32 x 4 = 1024 bytes, as well. Nothing is recomputed: fc's result
// is as large as relu's.

// CHECK-LABEL: func @relu
// CHECK: %[[Y:.*]] = echo.relu
// CHECK: echo.reduce sum %[[Y]]
// CHECK-NEXT: %[[W:.*]] = echo.binarize %[[Y]] : (tensor<8x64xf32>) -> tensor<8x2xi32>
// CHECK: %[[P:.*]] = echo.debinarize %[[W]] : (tensor<8x2xi32>) -> tensor<8x64xi1>
// CHECK-NOT: echo.compare
// CHECK: echo.select %[[P]]
// CHECK-NOT: %[[Y]]{{[ ,)]}}
// CHECK: return
// REMARK-DAG: {{2048 bytes stashed as 64 bytes of bits}}
// REMARK-DAG: {{recomputes 0 ops and stashes 1 values as bits: 1088 bytes of feature maps instead of 3072}}
func.func @relu(%w: tensor<32x64xf32> {echo.role = "parameter"},
                %x: tensor<8x32xf32>) -> tensor<f32> {
  %fc = echo.matmul %x, %w : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  %y = echo.relu %fc : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %loss = echo.reduce sum %y {dims = array<i64: 0, 1>} : (tensor<8x64xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Two gradients read a mask of 512 bytes, one of them another shape of it: the
// mask takes 64.

// CHECK-LABEL: func @mask
// CHECK: %[[M:.*]] = echo.compare gt
// CHECK: %[[R:.*]] = echo.reshape %[[M]]
// CHECK: echo.select %[[R]]
// CHECK-NEXT: %[[W:.*]] = echo.binarize %[[M]] : (tensor<8x64xi1>) -> tensor<8x2xi32>
// CHECK: echo.reduce
// CHECK-NOT: %[[M]]{{[ ,)]}}
// CHECK-NOT: %[[R]]{{[ ,)]}}
// CHECK: %[[D:.*]] = echo.debinarize %[[W]] : (tensor<8x2xi32>) -> tensor<8x64xi1>
// CHECK: %[[S:.*]] = echo.reshape %[[D]] : (tensor<8x64xi1>) -> tensor<512xi1>
// CHECK: echo.select %[[S]]
// CHECK: echo.select
// CHECK-NOT: %[[M]]{{[ ,)]}}
// CHECK: return
// REMARK-DAG: {{512 bytes stashed as 64 bytes of bits}}
func.func @mask(%w: tensor<32x64xf32> {echo.role = "parameter"},
                %x: tensor<8x32xf32>, %limit: tensor<8x64xf32>) -> tensor<f32> {
  %zero = echo.constant dense<0.0> : tensor<f32>
  %fc = echo.matmul %x, %w : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  %m = echo.compare gt %fc, %limit : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xi1>
  %a = echo.select %m, %fc, %zero : (tensor<8x64xi1>, tensor<8x64xf32>, tensor<f32>) -> tensor<8x64xf32>
  %r = echo.reshape %m : (tensor<8x64xi1>) -> tensor<512xi1>
  %f = echo.reshape %a : (tensor<8x64xf32>) -> tensor<512xf32>
  %b = echo.select %r, %f, %zero : (tensor<512xi1>, tensor<512xf32>, tensor<f32>) -> tensor<512xf32>
  %loss = echo.reduce sum %b {dims = array<i64: 0>} : (tensor<512xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The paper encodes the signs of relu and the mask of dropout always, and
// recomputes both ops for what the next product's gradient reads: stashed are
// fc's result, 2048 bytes, twice 64 bytes of bits, and x, 1024, instead of x,
// relu's and dropout's results and the mask, 1024 + 2048 + 2048 + 512. Ours
// recomputes dropout from relu's result: 2048 + 1024. And the next product's
// result, 1024.

// CHECK-LABEL: func @dropout
// PAPER: %[[R:.*]] = echo.relu
// PAPER: %{{.*}}, %[[M:.*]] = echo.dropout
// PAPER-DAG: %[[RW:.*]] = echo.binarize %[[R]]
// PAPER-DAG: %[[DW:.*]] = echo.binarize %[[M]]
// PAPER: echo.optimization_barrier
// PAPER: echo.relu
// PAPER: echo.dropout
// PAPER: echo.debinarize %[[DW]]
// PAPER: echo.debinarize %[[RW]]
// PAPER-NOT: echo.compare
// ECHO-NOT: binarize
// CHECK: return
// REMARK-DAG: {{recomputes 2 ops and stashes 2 values as bits: 4224 bytes of feature maps instead of 6656}}

// The kernel that makes both packs them, the one that reads them has the flags
// in no memory.
// KERNEL-LABEL: func @dropout
// KERNEL: echo.kernel
// KERNEL: echo.relu
// KERNEL: echo.dropout
// KERNEL-COUNT-2: echo.binarize
// KERNEL: echo.yield
// KERNEL: echo.kernel
// KERNEL: echo.dropout
// KERNEL: echo.yield
// KERNEL: echo.kernel
// KERNEL: echo.debinarize
// KERNEL: echo.select
// KERNEL: echo.debinarize
// KERNEL: echo.select
// KERNEL: echo.yield
func.func @dropout(%w: tensor<32x64xf32> {echo.role = "parameter"},
                   %v: tensor<64x32xf32> {echo.role = "parameter"},
                   %x: tensor<8x32xf32>,
                   %seed: tensor<i64> {echo.role = "state"}) -> tensor<f32> {
  %fc = echo.matmul %x, %w : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  %y = echo.relu %fc : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %d, %mask = echo.dropout %y, %seed, %seed, %seed {rate = 0.25 : f64} : (tensor<8x64xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<8x64xf32>, tensor<8x64xi1>)
  %p = echo.matmul %d, %v : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %q = echo.mul %p, %p : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %loss = echo.reduce sum %q {dims = array<i64: 0, 1>} : (tensor<8x32xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// What is returned stays whatever is read of it, and a map of which another
// gradient reads the elements isn't encoded.

// CHECK-LABEL: func @whole
// CHECK-NOT: binarize
// CHECK: return
func.func @whole(%w: tensor<32x64xf32> {echo.role = "parameter"},
                 %v: tensor<64x32xf32> {echo.role = "parameter"},
                 %x: tensor<8x32xf32>) -> (tensor<f32> {echo.loss}, tensor<8x32xf32>) {
  %fc = echo.matmul %x, %w : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32>
  %y = echo.relu %fc : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %p = echo.matmul %y, %v : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %z = echo.relu %p : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %loss = echo.reduce sum %z {dims = array<i64: 0, 1>} : (tensor<8x32xf32>) -> tensor<f32>
  return %loss, %z : tensor<f32>, tensor<8x32xf32>
}

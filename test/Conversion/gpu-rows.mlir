// RUN: echo-opt --split-input-file --convert-echo-to-linalg \
// RUN:   --echo-map-kernels-to-gpu %s | FileCheck %s
// RUN: echo-opt --split-input-file --echo-kernels-to-gpu='chip=sm_90' %s \
// RUN:   | FileCheck %s --check-prefix=PTX

// A warp takes a row: lane l adds up elements l, l + 32 and l + 64, and l + 96
// if there is one; then lanes whose numbers differ in one bit add each other's
// sums. All of them write the row's elements.
// CHECK: gpu.func @warp(%[[X:.*]]: memref<3500xf32>, %[[Y:.*]]: memref<3500xf32>) kernel
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 35, 1, 1>
// CHECK-DAG:     %[[THREAD:.*]] = gpu.thread_id x
// CHECK-DAG:     %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 35 : index
// CHECK-NOT:     memref.alloca
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[ROWS]]
// CHECK:           %[[FULL:.*]] = scf.for %[[BASE:.*]] = %c0{{.*}} to %c96{{.*}} step %c32{{.*}} iter_args
// CHECK:             arith.addi %[[BASE]], %[[LANE]]
// CHECK:             arith.maximumf
// CHECK:           %[[REST:.*]] = arith.addi %[[LANE]], %c96
// CHECK:           %[[OWN:.*]] = scf.for %{{.*}} = %[[REST]] to %c100{{.*}} step %c32{{.*}} iter_args(%{{.*}} = %[[FULL]])
// CHECK:           %[[SIXTEEN:.*]], %{{.*}} = gpu.shuffle xor %[[OWN]], %c16_i32
// CHECK:           %[[BOTH:.*]] = arith.maximumf %[[OWN]], %[[SIXTEEN]]
// CHECK:           gpu.shuffle xor %[[BOTH]], %c8_i32
// CHECK:           gpu.shuffle xor %{{.*}}, %c4_i32
// CHECK:           gpu.shuffle xor %{{.*}}, %c2_i32
// CHECK:           gpu.shuffle xor %{{.*}}, %c1_i32
// CHECK:           arith.addf
// CHECK-COUNT-5:   gpu.shuffle xor
// CHECK:           %[[SUM:.*]] = arith.addf
// CHECK-NOT:       gpu.barrier
// CHECK:           scf.for %[[COLUMN:.*]] = %[[LANE]] to %c100{{.*}} step %c32
// CHECK:             arith.divf
// CHECK:             memref.store %{{.*}}, %[[Y]]
//
// PTX:       gpu.binary @echo_kernels
// PTX-NOT:   .local
// PTX-SAME:  .entry warp(
// PTX-SAME:  max.NaN.f32
// PTX-SAME:  shfl.sync.bfly.b32
// PTX-SAME:  div.rn.f32
func.func private @warp(%x: tensor<35x100xf32>) -> tensor<35x100xf32>
    attributes {echo.kernel} {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<35x100xf32>) -> tensor<35x100xf32>
  return %0 : tensor<35x100xf32>
}

// -----

// An output that may be the input's buffer is written when all lanes have read
// the row.
// CHECK-LABEL: gpu.func @in_place
// CHECK-COUNT-5: gpu.shuffle
// CHECK:         nvvm.bar.warp.sync
// CHECK-NEXT:    scf.for
// CHECK:           memref.store
//
// PTX: bar.warp.sync
func.func private @in_place(%x: tensor<35x100xf32> {echo.overwritable = array<i64: 0>})
    -> tensor<35x100xf32> attributes {echo.kernel} {
  %0 = echo.reduce sum %x {dims = array<i64: 1>, keepdims = true} : (tensor<35x100xf32>) -> tensor<35x1xf32>
  %1 = echo.sub %x, %0 : (tensor<35x100xf32>, tensor<35x1xf32>) -> tensor<35x100xf32>
  return %1 : tensor<35x100xf32>
}

// -----

// 256 lanes are a block. Every warp adds up what its lanes are modulo 32, so
// that all threads know the sum; one writes it.
// CHECK: gpu.func @block(%{{.*}}: memref<38500xf32>, %[[Y:.*]]: memref<35xf32>)
// CHECK-SAME:    workgroup(%[[SHARED:.*]] : memref<256xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 35, 1, 1>
// CHECK:         %[[THREAD:.*]] = gpu.thread_id x
// CHECK:         %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
// CHECK:         scf.for %{{.*}} to %c1024{{.*}} step %c256
// CHECK:         %[[SUM:.*]] = scf.for %{{.*}} to %c1100{{.*}} step %c256
// CHECK:         gpu.barrier
// CHECK-NEXT:    memref.store %[[SUM]], %[[SHARED]][%[[THREAD]]]
// CHECK-NEXT:    gpu.barrier
// CHECK:         %[[I0:.*]] = arith.addi %[[LANE]], %c0
// CHECK-NEXT:    %[[L0:.*]] = memref.load %[[SHARED]][%[[I0]]]
// CHECK:         %[[I4:.*]] = arith.addi %[[LANE]], %c128
// CHECK-NEXT:    %[[L4:.*]] = memref.load %[[SHARED]][%[[I4]]]
// CHECK:         %[[S0:.*]] = arith.addf %[[L0]], %[[L4]]
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK:         %[[TOTAL:.*]] = arith.addf
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD]], %c0
// CHECK:         scf.if %[[FIRST]] {
// CHECK-NEXT:      memref.store %[[TOTAL]], %[[Y]]
//
// PTX:       .entry block(
// PTX-SAME:  st.shared.b32
// PTX-SAME:  bar.sync
// PTX-SAME:  shfl.sync.bfly.b32
func.func private @block(%x: tensor<35x1100xf32>) -> tensor<35xf32>
    attributes {echo.kernel} {
  %0 = echo.reduce sum %x {dims = array<i64: 1>} : (tensor<35x1100xf32>) -> tensor<35xf32>
  return %0 : tensor<35xf32>
}

// -----

// A thread takes short rows: the tree without lanes that hold nothing.
// CHECK-LABEL: gpu.func @short(
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 157, 1, 1>
// CHECK-NOT:     gpu.shuffle
// CHECK:         scf.for
// CHECK:           %[[A:.*]] = arith.addf %[[ZERO:.*]], %{{.*}} : f32
// CHECK:           %[[C:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:           %[[AC:.*]] = arith.addf %[[A]], %[[C]] : f32
// CHECK:           %[[B:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:           arith.addf %[[AC]], %[[B]] : f32
// CHECK:           memref.store
func.func private @short(%x: tensor<20000x3xf32>) -> tensor<20000xf32>
    attributes {echo.kernel} {
  %0 = echo.reduce sum %x {dims = array<i64: 1>} : (tensor<20000x3xf32>) -> tensor<20000xf32>
  return %0 : tensor<20000xf32>
}

// -----

// In a branch that not all threads take, a thread adds up a row by itself: the
// lanes in the order of their reversed bits, whose sums wait for their
// neighbours in registers.
// CHECK-LABEL: gpu.func @branch(
// CHECK-NOT:     memref.alloca
// CHECK-NOT:     gpu.shuffle
// CHECK:         scf.if
// CHECK:           scf.for %{{.*}} to %c32{{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32, f32, f32)
// CHECK:             llvm.intr.bitreverse
// CHECK:             scf.for
// CHECK:             arith.select
//
// PTX:       .entry branch(
// PTX-NOT:   .local
func.func private @branch(%x: tensor<5x40xf32>, %y: tensor<5x3xf32>) -> tensor<5x4xf32>
    attributes {echo.kernel} {
  %0 = echo.reduce sum %x {dims = array<i64: 1>, keepdims = true} : (tensor<5x40xf32>) -> tensor<5x1xf32>
  %1 = echo.concat %0, %y {axis = 1 : i64} : (tensor<5x1xf32>, tensor<5x3xf32>) -> tensor<5x4xf32>
  %2 = echo.neg %1 : (tensor<5x4xf32>) -> tensor<5x4xf32>
  return %2 : tensor<5x4xf32>
}

// -----

// The first maximum and its place are a warp's: lanes compare what they hold
// with what is later in the row.
// CHECK-LABEL: gpu.func @argmax(
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 35, 1, 1>
// CHECK:         %[[BEST:.*]]:2 = scf.for %{{.*}} to %c96{{.*}} step %c32{{.*}} iter_args({{.*}}) -> (f32, i32)
// CHECK:         %[[OWN:.*]]:2 = scf.for %{{.*}} to %c100{{.*}} step %c32
// CHECK:         %[[VALUE:.*]], %{{.*}} = gpu.shuffle xor %[[OWN]]#0, %c16_i32
// CHECK:         %[[PLACE:.*]], %{{.*}} = gpu.shuffle xor %[[OWN]]#1, %c16_i32
// CHECK:         %[[IS_LOWER:.*]] = arith.cmpi ule, %[[OWN]]#1, %[[PLACE]]
// CHECK:         %[[FIRST:.*]] = arith.select %[[IS_LOWER]], %[[OWN]]#0, %[[VALUE]]
// CHECK:         %[[SECOND:.*]] = arith.select %[[IS_LOWER]], %[[VALUE]], %[[OWN]]#0
// CHECK:         arith.cmpf ogt, %[[SECOND]], %[[FIRST]]
// CHECK-COUNT-8: gpu.shuffle xor
func.func private @argmax(%x: tensor<35x100xf32>) -> tensor<35xi32>
    attributes {echo.kernel} {
  %0 = echo.argmax %x {axis = 1 : i64} : (tensor<35x100xf32>) -> tensor<35xi32>
  return %0 : tensor<35xi32>
}

// -----

// A row that is cut: the threads of a block add up part by part, and the one
// whose lane a part is adds its sum.
// CHECK-LABEL: gpu.func @cut(
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
// CHECK:         %[[SUMS:.*]] = scf.for %[[PART:.*]] = %c0{{.*}} to %c9{{.*}} step %c1{{.*}} iter_args
// CHECK:           arith.muli %[[PART]], %c8192
// CHECK:           scf.for %{{.*}} to %c8192{{.*}} step %c256
// CHECK:           gpu.barrier
// CHECK:           %[[LANE:.*]] = arith.remui %[[PART]], %c32
// CHECK:           %[[IS_OWN:.*]] = arith.cmpi eq, %[[LANE]]
// CHECK:           arith.addf
// CHECK:           arith.select %[[IS_OWN]]
// CHECK:         gpu.shuffle xor %[[SUMS]], %c16_i32
func.func private @cut(%x: tensor<73728xf32>) -> tensor<f32>
    attributes {echo.kernel} {
  %0 = echo.reduce sum %x {dims = array<i64: 0>} : (tensor<73728xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Lanes keep their two elements of a row: each is read once, and its exponential
// computed once, for the sum and for what is written.
// CHECK-LABEL: gpu.func @held(
// CHECK-COUNT-2: memref.load
// CHECK-NOT:     memref.load
// CHECK:         %[[E0:.*]] = arith.select
// CHECK:         arith.addf
// CHECK-COUNT-2: memref.store
func.func private @held(%x: tensor<35x64xf32>) -> tensor<35x64xf32>
    attributes {echo.kernel} {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<35x64xf32>) -> tensor<35x64xf32>
  return %0 : tensor<35x64xf32>
}

// -----

// Sums of columns that a warp's rows are added to stay in shared memory until
// the last row is there. What the groups of a kernel may take of it, 16 KiB, is
// for two of these, 902 x 8 + 901 x 8 bytes; the third grows in its output.
// CHECK: gpu.func @sums(
// CHECK-SAME:    %[[OUT:[a-z0-9]*]]: memref<1800xf64>, %{{[a-z0-9]*}}: memref<1802xf64>, %{{[a-z0-9]*}}: memref<1804xf64>)
// CHECK-SAME:    workgroup(%[[A:.*]] : memref<902xf64, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[B:.*]] : memref<901xf64, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
// CHECK:           memref.load %[[A]]
// CHECK:           memref.store %{{.*}}, %[[A]]
// CHECK:           %[[LAST:.*]] = arith.cmpi eq, %{{.*}}, %c2
// CHECK:           scf.if %[[LAST]] {
// CHECK:             memref.store %{{.*}} : memref<1804xf64>
// CHECK:           memref.load %[[B]]
// CHECK:           memref.store %{{.*}}, %[[B]]
// CHECK:           memref.load %[[OUT]]
// CHECK:           memref.store %{{.*}}, %[[OUT]]
func.func private @sums(%x0: tensor<2x3x900xf64>, %x1: tensor<2x3x901xf64>, %x2: tensor<2x3x902xf64>)
    -> (tensor<2x900xf64>, tensor<2x901xf64>, tensor<2x902xf64>) attributes {echo.kernel} {
  %m = echo.reduce sum %x0 {dims = array<i64: 2>, keepdims = true} : (tensor<2x3x900xf64>) -> tensor<2x3x1xf64>
  %d0 = echo.mul %x0, %m : (tensor<2x3x900xf64>, tensor<2x3x1xf64>) -> tensor<2x3x900xf64>
  %d1 = echo.mul %x1, %m : (tensor<2x3x901xf64>, tensor<2x3x1xf64>) -> tensor<2x3x901xf64>
  %d2 = echo.mul %x2, %m : (tensor<2x3x902xf64>, tensor<2x3x1xf64>) -> tensor<2x3x902xf64>
  %s0 = echo.reduce sum %d0 {dims = array<i64: 1>} : (tensor<2x3x900xf64>) -> tensor<2x900xf64>
  %s1 = echo.reduce sum %d1 {dims = array<i64: 1>} : (tensor<2x3x901xf64>) -> tensor<2x901xf64>
  %s2 = echo.reduce sum %d2 {dims = array<i64: 1>} : (tensor<2x3x902xf64>) -> tensor<2x902xf64>
  return %s0, %s1, %s2 : tensor<2x900xf64>, tensor<2x901xf64>, tensor<2x902xf64>
}

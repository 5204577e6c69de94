// RUN: echo-opt --split-input-file --convert-echo-to-linalg \
// RUN:   --echo-map-kernels-to-gpu %s | FileCheck %s
// RUN: echo-opt --split-input-file --echo-kernels-to-gpu='chip=sm_90' %s \
// RUN:   | FileCheck %s --check-prefix=PTX

// 2 x 4 tiles. Neighbouring threads read neighbouring elements of a row of %x,
// and write neighbouring elements of its column. %y is read where it is added.
// CHECK: gpu.func @transpose(%[[X:.*]]: memref<4000xf32>, %[[Y:.*]]: memref<4000xf32>, %[[Z:.*]]: memref<4000xf32>)
// CHECK-SAME:    workgroup(%[[TILE:.*]] : memref<1056xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 8, 1, 1>
// CHECK-DAG:     %[[THREAD:.*]] = gpu.thread_id x
// CHECK-DAG:     %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
// CHECK-DAG:     %[[LINE:.*]] = arith.divui %[[THREAD]], %c32
// CHECK:         gpu.barrier
// CHECK:         scf.for %[[I:.*]] = %[[LINE]] to %c32{{.*}} step %c8
// CHECK:           scf.if
// CHECK:             %[[SLOT:.*]] = arith.muli %[[I]], %c33
// CHECK:             %[[IN:.*]] = arith.addi %[[SLOT]], %[[LANE]]
// CHECK:             %[[LOADED:.*]] = memref.load %[[X]]
// CHECK:             memref.store %[[LOADED]], %[[TILE]][%[[IN]]]
// CHECK:         gpu.barrier
// CHECK:         scf.for %[[J:.*]] = %[[LINE]] to %c32{{.*}} step %c8
// CHECK:           scf.if
// CHECK:             %[[SLOT:.*]] = arith.muli %[[LANE]], %c33
// CHECK:             %[[OUT:.*]] = arith.addi %[[SLOT]], %[[J]]
// CHECK:             %[[READ:.*]] = memref.load %[[TILE]][%[[OUT]]]
// CHECK:             memref.load %[[Y]]
// CHECK:             arith.addf %[[READ]]
// CHECK:             memref.store %{{.*}}, %[[Z]]
//
// PTX:       gpu.binary @echo_kernels
// PTX-SAME:  .entry transpose(
// PTX-SAME:  st.shared.b32
// PTX-SAME:  bar.sync
// PTX-SAME:  ld.shared.b32
func.func private @transpose(%x: tensor<40x100xf32>, %y: tensor<100x40xf32>) -> tensor<100x40xf32>
    attributes {echo.kernel} {
  %0 = echo.transpose %x {permutation = array<i64: 1, 0>} : (tensor<40x100xf32>) -> tensor<100x40xf32>
  %1 = echo.add %0, %y : (tensor<100x40xf32>, tensor<100x40xf32>) -> tensor<100x40xf32>
  return %1 : tensor<100x40xf32>
}

// -----

// Whole rows move: what is read next to each other is written so, too.
// CHECK-LABEL: gpu.func @rows(
// CHECK-NOT:     workgroup
// CHECK:         vector.load
// CHECK:         vector.store
func.func private @rows(%x: tensor<10x20x32xf32>) -> tensor<20x10x32xf32>
    attributes {echo.kernel} {
  %0 = echo.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<10x20x32xf32>) -> tensor<20x10x32xf32>
  return %0 : tensor<20x10x32xf32>
}

// -----

// Parts of other shapes are written with the same tiles: two buffers for all.
// CHECK: gpu.func @parts
// CHECK-SAME:    workgroup(%{{[a-z0-9_]*}} : memref<1056xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{[a-z0-9_]*}} : memref<1056xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
func.func private @parts(%a: tensor<8x96xf32>, %b: tensor<10x96xf32>, %c: tensor<12x96xf32>, %d: tensor<12x96xf32>)
    -> tensor<96x30xf32> attributes {echo.kernel} {
  %0 = echo.transpose %a {permutation = array<i64: 1, 0>} : (tensor<8x96xf32>) -> tensor<96x8xf32>
  %1 = echo.transpose %b {permutation = array<i64: 1, 0>} : (tensor<10x96xf32>) -> tensor<96x10xf32>
  %2 = echo.transpose %c {permutation = array<i64: 1, 0>} : (tensor<12x96xf32>) -> tensor<96x12xf32>
  %3 = echo.transpose %d {permutation = array<i64: 1, 0>} : (tensor<12x96xf32>) -> tensor<96x12xf32>
  %4 = echo.add %2, %3 : (tensor<96x12xf32>, tensor<96x12xf32>) -> tensor<96x12xf32>
  %5 = echo.concat %0, %1, %4 {axis = 1 : i64} : (tensor<96x8xf32>, tensor<96x10xf32>, tensor<96x12xf32>) -> tensor<96x30xf32>
  return %5 : tensor<96x30xf32>
}

// -----

// Four tiles of 8,448 bytes find room beside what reductions may need; the
// others are read as they are written.
// CHECK: gpu.func @many
// CHECK-SAME:    workgroup(
// CHECK-COUNT-4: memref<1056xf64, #gpu.address_space<workgroup>>
// CHECK-NOT:     memref<1056xf64
// CHECK-SAME:    known_block_size
func.func private @many(%a: tensor<32x64xf64>, %b: tensor<32x64xf64>, %c: tensor<32x64xf64>, %d: tensor<32x64xf64>, %e: tensor<32x64xf64>, %f: tensor<32x64xf64>)
    -> tensor<64x32xf64> attributes {echo.kernel} {
  %0 = echo.transpose %a {permutation = array<i64: 1, 0>} : (tensor<32x64xf64>) -> tensor<64x32xf64>
  %1 = echo.transpose %b {permutation = array<i64: 1, 0>} : (tensor<32x64xf64>) -> tensor<64x32xf64>
  %2 = echo.transpose %c {permutation = array<i64: 1, 0>} : (tensor<32x64xf64>) -> tensor<64x32xf64>
  %3 = echo.transpose %d {permutation = array<i64: 1, 0>} : (tensor<32x64xf64>) -> tensor<64x32xf64>
  %4 = echo.transpose %e {permutation = array<i64: 1, 0>} : (tensor<32x64xf64>) -> tensor<64x32xf64>
  %5 = echo.transpose %f {permutation = array<i64: 1, 0>} : (tensor<32x64xf64>) -> tensor<64x32xf64>
  %6 = echo.add %0, %1 : (tensor<64x32xf64>, tensor<64x32xf64>) -> tensor<64x32xf64>
  %7 = echo.add %2, %3 : (tensor<64x32xf64>, tensor<64x32xf64>) -> tensor<64x32xf64>
  %8 = echo.add %4, %5 : (tensor<64x32xf64>, tensor<64x32xf64>) -> tensor<64x32xf64>
  %9 = echo.add %6, %7 : (tensor<64x32xf64>, tensor<64x32xf64>) -> tensor<64x32xf64>
  %10 = echo.add %8, %9 : (tensor<64x32xf64>, tensor<64x32xf64>) -> tensor<64x32xf64>
  return %10 : tensor<64x32xf64>
}

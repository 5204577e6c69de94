// RUN: echo-opt --split-input-file --convert-echo-to-linalg \
// RUN:   --echo-map-kernels-to-gpu %s | FileCheck %s
// RUN: echo-opt --split-input-file --echo-kernels-to-gpu='chip=sm_90' %s \
// RUN:   | FileCheck %s --check-prefix=PTX

// 2 x 4 tiles. Neighbouring threads read neighbouring elements of a row of %x,
// and write neighbouring elements of its column. %y is read where it is added.
// CHECK: gpu.func @transpose(%[[X:.*]]: memref<4000xf32>, %[[Y:.*]]: memref<4000xf32>, %[[Z:.*]]: memref<4000xf32>)
// CHECK-SAME:    workgroup(%[[TILE:.*]] : memref<1056xf32, #gpu.address_space<workgroup>>)
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

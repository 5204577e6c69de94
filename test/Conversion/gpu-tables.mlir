// RUN: echo-opt --split-input-file --convert-echo-to-linalg \
// RUN:   --echo-map-kernels-to-gpu %s | FileCheck %s
// RUN: echo-opt --split-input-file --echo-kernels-to-gpu='chip=sm_90' %s \
// RUN:   | FileCheck %s --check-prefix=PTX

// 32 rows of 256 columns are a tile. Of 256 indices at a time, the threads tell
// each other which have rows of the tile, and those that own a column add them
// up in order.
// CHECK: gpu.func @table(%[[I:.*]]: memref<600xi32>, %[[G:.*]]: memref<180000xf16>, %[[Y:.*]]: memref<9000000xf16>)
// CHECK-SAME:    workgroup(%[[SUMS:.*]] : memref<8192xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[ROWS:.*]] : memref<256xi32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[MASKS:.*]] : memref<8xi32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1876, 1, 1>
// CHECK:         %[[THREAD:.*]] = gpu.thread_id x
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[SUMS]]
// CHECK:         scf.for %[[BASE:.*]] = %c0{{.*}} to %c600{{.*}} step %c256
// CHECK:           %[[INDEX:.*]] = memref.load %[[I]]
// CHECK:           %[[WIDE:.*]] = arith.extsi %[[INDEX]] : i32 to i64
// CHECK:           %[[ROW:.*]] = arith.subi %[[WIDE]]
// CHECK:           arith.cmpi ult, %[[ROW]]
// CHECK:           %[[MASK:.*]] = nvvm.vote.sync ballot
// CHECK:           gpu.barrier
// CHECK:           memref.store %{{.*}}, %[[ROWS]][%[[THREAD]]]
// CHECK:           scf.if
// CHECK:             memref.store %[[MASK]], %[[MASKS]]
// CHECK:           gpu.barrier
// CHECK:           scf.if
// CHECK:             scf.for %[[WARP:.*]] = %c0{{.*}} to %c8
// CHECK:               memref.load %[[MASKS]][%[[WARP]]]
// CHECK:               llvm.intr.ctpop
// CHECK:               scf.for
// CHECK:                 llvm.intr.cttz
// CHECK:                 memref.load %[[ROWS]]
// CHECK:                 memref.load %[[G]]
// CHECK:                 arith.extf
// CHECK:                 memref.load %[[SUMS]]
// CHECK:                 arith.addf
// CHECK:                 memref.store %{{.*}}, %[[SUMS]]
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:             memref.load %[[SUMS]]
// CHECK:             arith.truncf
// CHECK:             memref.store %{{.*}}, %[[Y]]
//
// PTX:       gpu.binary @echo_kernels
// PTX-NOT:   .local
// PTX-SAME:  .entry table(
// PTX-SAME:  vote.sync.ballot.b32
// PTX-SAME:  add.rn.f32
// PTX-SAME:  cvt.rn.f16.f32
func.func private @table(%i: tensor<600xi32>, %g: tensor<600x300xf16>) -> tensor<30000x300xf16>
    attributes {echo.kernel} {
  %0 = echo.embedding_grad %i, %g {rows = 30000 : i64} : (tensor<600xi32>, tensor<600x300xf16>) -> tensor<30000x300xf16>
  return %0 : tensor<30000x300xf16>
}

// -----

// Few columns: threads with the same column share the tile's rows. Few rows:
// tiles have one.
// CHECK-LABEL: gpu.func @narrow(
// CHECK-SAME:    known_grid_size = array<i32: 10, 1, 1>
// CHECK:         arith.divui
// CHECK:         %[[SHARE:.*]] = arith.divui %{{.*}}, %c32
// CHECK:         %[[OWNER:.*]] = arith.remui %{{.*}}, %c8
// CHECK-NEXT:    %[[OWNED:.*]] = arith.cmpi eq, %[[OWNER]], %[[SHARE]]
// CHECK-NEXT:    scf.if %[[OWNED]]
func.func private @narrow(%i: tensor<6xi32>, %g: tensor<6x4xf32>) -> tensor<10x4xf32>
    attributes {echo.kernel} {
  %0 = echo.embedding_grad %i, %g {rows = 10 : i64} : (tensor<6xi32>, tensor<6x4xf32>) -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}

// RUN: echo-opt --split-input-file --convert-echo-to-linalg \
// RUN:   --echo-map-kernels-to-gpu %s | FileCheck %s
// RUN: echo-opt --split-input-file --echo-kernels-to-gpu='chip=sm_90' %s \
// RUN:   | FileCheck %s --check-prefix=PTX

// Eight neighbouring columns, and 32 threads for each: 24 of them have a block
// of 128 rows. Their sums are added in order; threads beyond the last column
// help with it, and write nothing.
// CHECK: gpu.func @column(%[[X:.*]]: memref<150000xf32>, %[[Y:.*]]: memref<50xf32>)
// CHECK-SAME:    workgroup(%[[SHARED:.*]] : memref<256xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 7, 1, 1>
// CHECK-DAG:     %[[THREAD:.*]] = gpu.thread_id x
// CHECK-DAG:     %[[NUMBER:.*]] = arith.remui %[[THREAD]], %c8
// CHECK-DAG:     %[[LANE:.*]] = arith.divui %[[THREAD]], %c8
// CHECK:         scf.for %[[FIRST:.*]] = %{{.*}} to %c50
// CHECK:           %[[COLUMN:.*]] = arith.addi %[[FIRST]], %[[NUMBER]]
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[COLUMN]], %c50
// CHECK:           %[[OWN:.*]] = arith.minui %[[COLUMN]], %c49
// CHECK:           %[[LOWER:.*]] = arith.muli %{{.*}}, %c128
// CHECK:           %[[END:.*]] = arith.addi %[[LOWER]], %c128
// CHECK:           %[[UPPER:.*]] = arith.minui %[[END]], %c3000
// CHECK:           %[[PART:.*]] = scf.for %{{.*}} = %[[LOWER]] to %[[UPPER]] step %c1
// CHECK:             memref.load %[[X]]
// CHECK:             arith.addf
// CHECK:           gpu.barrier
// CHECK:           memref.store %[[PART]], %[[SHARED]]
// CHECK-NEXT:      gpu.barrier
// CHECK:           %[[TOTAL:.*]] = scf.for %{{.*}} to %c24
// CHECK:             memref.load %[[SHARED]]
// CHECK:             arith.addf
// CHECK:           %[[ZERO:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK:           %[[WRITES:.*]] = arith.andi %[[ZERO]], %[[INSIDE]]
// CHECK:           scf.if %[[WRITES]] {
// CHECK-NEXT:        memref.store %[[TOTAL]], %[[Y]][%[[OWN]]]
//
// PTX:       gpu.binary @echo_kernels
// PTX-SAME:  .entry column(
// PTX-SAME:  st.shared.b32
// PTX-SAME:  bar.sync
// PTX-SAME:  ld.shared.b32
func.func private @column(%x: tensor<3000x50xf32>) -> tensor<50xf32>
    attributes {echo.kernel} {
  %0 = echo.reduce sum %x {dims = array<i64: 0>} : (tensor<3000x50xf32>) -> tensor<50xf32>
  return %0 : tensor<50xf32>
}

// -----

// 32 columns and 8 threads for each, which take 8 blocks of rows at a time.
// CHECK-LABEL: gpu.func @batches(
// CHECK-SAME:    known_grid_size = array<i32: 64, 1, 1>
// CHECK:         scf.for %[[FIRST:.*]] = %c0{{.*}} to %c24{{.*}} step %c8
// CHECK:           %[[REST:.*]] = arith.subi %c24{{.*}}, %[[FIRST]]
// CHECK:           %[[COUNT:.*]] = arith.minui %[[REST]], %c8
// CHECK:           gpu.barrier
// CHECK:           scf.for %{{.*}} to %[[COUNT]]
func.func private @batches(%x: tensor<3000x2048xf32>) -> tensor<2048xf32>
    attributes {echo.kernel} {
  %0 = echo.reduce sum %x {dims = array<i64: 0>} : (tensor<3000x2048xf32>) -> tensor<2048xf32>
  return %0 : tensor<2048xf32>
}

// -----

// Up to 128 rows are one block, which a thread adds up by itself.
// CHECK-LABEL: gpu.func @one_block(
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.for %{{.*}} to %c128
// CHECK:         memref.store
func.func private @one_block(%x: tensor<128x50xf32>) -> tensor<50xf32>
    attributes {echo.kernel} {
  %0 = echo.reduce sum %x {dims = array<i64: 0>} : (tensor<128x50xf32>) -> tensor<50xf32>
  return %0 : tensor<50xf32>
}

// -----

// A thread adds up what it computes in a register, and writes the sum once.
// CHECK: gpu.func @thread(%{{.*}}: memref<12288xf32>, %[[Y:.*]]: memref<12288xf32>, %[[SUM:.*]]: memref<1024xf32>)
// CHECK:         %[[OWN:[a-z0-9_]*]] = memref.alloca() {alignment = 64 : i64} : memref<1xf32>
// CHECK:         scf.for %{{.*}} to %c1024
// CHECK:           scf.for %[[ROW:.*]] = %{{.*}} to
// CHECK:             %[[OLD:.*]] = memref.load %[[OWN]][%c0
// CHECK:             %[[BEFORE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[OLD]]
// CHECK:             %[[AFTER:.*]] = arith.addf %[[BEFORE]]
// CHECK:             memref.store %[[AFTER]], %[[OWN]][%c0
// CHECK:             scf.if
// CHECK-NEXT:          memref.store %[[AFTER]], %[[SUM]]
// CHECK:             memref.store %{{.*}}, %[[Y]]
func.func private @thread(%x: tensor<12x1024xf32>) -> (tensor<12x1024xf32>, tensor<1024xf32>)
    attributes {echo.kernel} {
  %0 = echo.mul %x, %x : (tensor<12x1024xf32>, tensor<12x1024xf32>) -> tensor<12x1024xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<12x1024xf32>) -> tensor<1024xf32>
  return %0, %1 : tensor<12x1024xf32>, tensor<1024xf32>
}

// -----

// One sum over all rows would be one block's: it is read again, by 128 blocks of
// 32 columns, and the rows are 100 blocks'.
// CHECK: gpu.func @one_sum
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 128, 1, 1>
func.func private @one_sum(%x: tensor<100x32768xf32>) -> (tensor<100x32768xf32>, tensor<32768xf32>, tensor<100xf32>)
    attributes {echo.kernel} {
  %0 = echo.mul %x, %x : (tensor<100x32768xf32>, tensor<100x32768xf32>) -> tensor<100x32768xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<100x32768xf32>) -> tensor<32768xf32>
  %2 = echo.reduce sum %0 {dims = array<i64: 1>} : (tensor<100x32768xf32>) -> tensor<100xf32>
  return %0, %1, %2 : tensor<100x32768xf32>, tensor<32768xf32>, tensor<100xf32>
}

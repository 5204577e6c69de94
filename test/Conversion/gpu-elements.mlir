// RUN: echo-opt --split-input-file --convert-echo-to-linalg \
// RUN:   --echo-map-kernels-to-gpu=alignment=64 %s | FileCheck %s
// RUN: echo-opt --split-input-file --convert-echo-to-linalg \
// RUN:   --echo-map-kernels-to-gpu %s | FileCheck %s --check-prefix=UNKNOWN

// 16 bytes of the largest elements at once; the flags are bytes. Two elements
// are left.
// CHECK: gpu.func @vectors(%[[X:.*]]: memref<4098xf32>, %[[Y:.*]]: memref<4098xf32>, %[[S:.*]]: memref<4098xf32>, %[[P:.*]]: memref<4098xi8>)
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 33, 1, 1>
// CHECK:         %[[FIRST:.*]] = arith.addi
// CHECK:         %[[START:.*]] = arith.muli %[[FIRST]], %c4
// CHECK:         scf.for %[[I:.*]] = %[[START]] to %c4096{{.*}} step %c4224
// CHECK:           vector.load %[[X]][%[[I]]] {alignment = 16 : i64} : memref<4098xf32>, vector<4xf32>
// CHECK:           vector.load %[[Y]][%[[I]]] {alignment = 16 : i64} : memref<4098xf32>, vector<4xf32>
// CHECK:           vector.store %{{.*}}, %[[S]][%[[I]]] {alignment = 16 : i64} : memref<4098xf32>, vector<4xf32>
// CHECK:           vector.store %{{.*}}, %[[P]][%[[I]]] {alignment = 4 : i64} : memref<4098xi8>, vector<4xi8>
// CHECK:         %[[REST:.*]] = arith.addi %[[FIRST]], %c4096
// CHECK:         scf.for %[[J:.*]] = %[[REST]] to %c4098
// CHECK:           memref.store %{{.*}}, %[[S]][%[[J]]]
//
// Nothing is known of buffers that may be parts of others.
// UNKNOWN-LABEL: gpu.func @vectors
// UNKNOWN:         vector.load %{{.*}}[%{{.*}}] : memref<4098xf32>, vector<4xf32>
// UNKNOWN:         vector.store %{{.*}}[%{{.*}}] : memref<4098xf32>, vector<4xf32>
func.func private @vectors(%x: tensor<4098xf32>, %y: tensor<4098xf32>)
    -> (tensor<4098xf32>, tensor<4098xi1>) attributes {echo.kernel} {
  %0 = echo.mul %x, %y : (tensor<4098xf32>, tensor<4098xf32>) -> tensor<4098xf32>
  %1 = echo.compare gt %0, %x : (tensor<4098xf32>, tensor<4098xf32>) -> tensor<4098xi1>
  return %0, %1 : tensor<4098xf32>, tensor<4098xi1>
}

// -----

// Rows of 12 elements of 2 bytes hold vectors of 4, and a slice begins in the
// middle of one.
// CHECK: gpu.func @rows(%[[X:.*]]: memref<192xf16>, %[[Y:.*]]: memref<12xf16>, %[[S:.*]]: memref<180xf16>)
// CHECK:         vector.load %[[X]][%{{.*}}] {alignment = 8 : i64} : memref<192xf16>, vector<4xf16>
// CHECK:         vector.load %[[Y]][%{{.*}}] {alignment = 8 : i64} : memref<12xf16>, vector<4xf16>
// CHECK:         vector.store %{{.*}}, %[[S]][%{{.*}}] {alignment = 8 : i64} : memref<180xf16>, vector<4xf16>
func.func private @rows(%x: tensor<16x12xf16>, %y: tensor<12xf16>) -> tensor<15x12xf16>
    attributes {echo.kernel} {
  %0 = tensor.extract_slice %x[1, 0] [15, 12] [1, 1] : tensor<16x12xf16> to tensor<15x12xf16>
  %1 = echo.mul %0, %y : (tensor<15x12xf16>, tensor<12xf16>) -> tensor<15x12xf16>
  return %1 : tensor<15x12xf16>
}

// -----

// Launches on buffers tell where their parts begin: at the worst after 8 bytes.
// UNKNOWN: gpu.func @slice(%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// UNKNOWN:         vector.load %[[X]][%{{.*}}] {alignment = 8 : i64} : memref<8xf32>, vector<4xf32>
// UNKNOWN:         vector.store %{{.*}}, %[[Y]][%{{.*}}] {alignment = 16 : i64} : memref<8xf32>, vector<4xf32>
func.func @host(%x: memref<32xf32>, %y: memref<64xi8>) {
  %c32 = arith.constant 32 : index
  %0 = echo.buffer_view %x[40] : memref<32xf32> to memref<8xf32>
  %1 = echo.buffer_view %x[64] : memref<32xf32> to memref<8xf32>
  %2 = memref.view %y[%c32][] : memref<64xi8> to memref<8xf32>
  echo.launch @slice(%0) outs(%2 : memref<8xf32>) : (memref<8xf32>) -> ()
  echo.launch @slice(%1) outs(%2 : memref<8xf32>) : (memref<8xf32>) -> ()
  return
}
func.func private @slice(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {echo.kernel} {
  %0 = echo.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Indices have 32 bits unless there are many elements or they come from data of
// 64 bits.
// CHECK: gpu.module @echo_kernels attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>}
func.func private @small(%x: tensor<1073741823xf32>) -> tensor<1073741823xf32>
    attributes {echo.kernel} {
  %0 = echo.neg %x : (tensor<1073741823xf32>) -> tensor<1073741823xf32>
  return %0 : tensor<1073741823xf32>
}

// -----

// CHECK: gpu.module @echo_kernels attributes {dlti.dl_spec = #dlti.dl_spec<index = 64 : i32>}
func.func private @large(%x: tensor<1073741824xf32>) -> tensor<1073741824xf32>
    attributes {echo.kernel} {
  %0 = echo.neg %x : (tensor<1073741824xf32>) -> tensor<1073741824xf32>
  return %0 : tensor<1073741824xf32>
}

// -----

// CHECK: gpu.module @echo_kernels attributes {dlti.dl_spec = #dlti.dl_spec<index = 64 : i32>}
func.func private @from_data(%x: tensor<5x8xf32>, %i: tensor<3xi64>) -> tensor<3x8xf32>
    attributes {echo.kernel} {
  %0 = echo.embedding %x, %i : (tensor<5x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

// What memory never holds counts, too: dropout numbers the 4,900,000,000
// elements that are added up.
// CHECK: gpu.module @echo_kernels attributes {dlti.dl_spec = #dlti.dl_spec<index = 64 : i32>}
func.func private @large_inside(%x: tensor<70000xf32>, %n: tensor<i64>) -> tensor<70000xf32>
    attributes {echo.kernel} {
  %0 = echo.broadcast %x : (tensor<70000xf32>) -> tensor<70000x70000xf32>
  %1, %2 = echo.dropout %0, %n, %n, %n {rate = 0.5 : f64} : (tensor<70000x70000xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<70000x70000xf32>, tensor<70000x70000xi1>)
  %3 = echo.reduce sum %1 {dims = array<i64: 1>} : (tensor<70000x70000xf32>) -> tensor<70000xf32>
  return %3 : tensor<70000xf32>
}

// -----

// A sum of nothing is 0.
// CHECK:      gpu.func @sum_of_nothing
// CHECK-SAME:   known_grid_size = array<i32: 1, 1, 1>
// CHECK:        memref.store
func.func private @sum_of_nothing(%x: tensor<0x4xf32>) -> tensor<4xf32>
    attributes {echo.kernel} {
  %0 = echo.reduce sum %x {dims = array<i64: 0>} : (tensor<0x4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A constant is read in one access too, and lies where that can be done.
// CHECK: memref.global "private" constant @constants_constant_0 : memref<8xf32> = {{.*}} {alignment = 64 : i64}
// CHECK: gpu.func @constants
// CHECK:         vector.load %{{.*}}[%{{.*}}] {alignment = 16 : i64} : memref<8xf32>, vector<4xf32>
func.func private @constants(%x: tensor<8xf32>) -> tensor<8xf32>
    attributes {echo.kernel} {
  %c = echo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %0 = echo.mul %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// RUN: echo-opt --split-input-file --convert-echo-to-linalg \
// RUN:   --echo-map-kernels-to-gpu %s | FileCheck %s --check-prefix=GPU
// RUN: echo-opt --split-input-file --echo-kernels-to-gpu='chip=sm_90' %s \
// RUN:   | FileCheck %s --check-prefix=PTX

// 40 x 17 elements in blocks of 32: 22 blocks. The predicate is a byte.
// GPU-LABEL: func.func private @pointwise(tensor<40x17xf32>, tensor<17xf32>) -> (tensor<40x17xf32>, tensor<40x17xi1>) attributes {echo.kernel}
// GPU:       gpu.module @echo_kernels attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} {
// GPU:         gpu.func @pointwise(%[[X:.*]]: memref<680xf32>, %[[Y:.*]]: memref<17xf32>, %[[S:.*]]: memref<680xf32>, %[[P:.*]]: memref<680xi8>) kernel
// GPU-SAME:      known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 22, 1, 1>
// GPU-DAG:       %[[BLOCK:.*]] = gpu.block_id x
// GPU-DAG:       %[[THREAD:.*]] = gpu.thread_id x
// GPU:           %[[BASE:.*]] = arith.muli %[[BLOCK]], %{{.*}} : index
// GPU:           %[[FIRST:.*]] = arith.addi %[[BASE]], %[[THREAD]] : index
// GPU:           %[[STEP:.*]] = arith.constant 704 : index
// GPU:           %[[END:.*]] = arith.constant 680 : index
// GPU:           scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %[[STEP]]
// GPU:             memref.store %{{.*}}, %[[S]][%{{.*}}] : memref<680xf32>
// GPU:             memref.store %{{.*}}, %[[P]][%{{.*}}] : memref<680xi8>
// GPU:           gpu.return
//
// PTX-LABEL: func.func private @pointwise
// PTX:       gpu.binary @echo_kernels
// PTX-SAME:  .target sm_90
// PTX-SAME:  .entry pointwise(
// PTX-SAME:  .maxntid 32
// PTX-SAME:  mul.rn.f32
// PTX-SAME:  add.rn.f32
// PTX-SAME:  st.{{(global\.)?}}b8
func.func private @pointwise(%x: tensor<40x17xf32>, %y: tensor<17xf32>)
    -> (tensor<40x17xf32>, tensor<40x17xi1>) attributes {echo.kernel} {
  %0 = echo.mul %x, %x : (tensor<40x17xf32>, tensor<40x17xf32>) -> tensor<40x17xf32>
  %1 = echo.add %0, %y : (tensor<40x17xf32>, tensor<17xf32>) -> tensor<40x17xf32>
  %2 = echo.compare gt %1, %x : (tensor<40x17xf32>, tensor<40x17xf32>) -> tensor<40x17xi1>
  return %1, %2 : tensor<40x17xf32>, tensor<40x17xi1>
}

// -----

// Scalars follow the outputs as 64 bits: an offset, and a float.
// GPU:       gpu.func @parameters(%{{.*}}: memref<32xf32>, %{{.*}}: memref<8xf32>, %[[OFFSET:.*]]: i64, %[[BITS:.*]]: i64)
// GPU-DAG:     arith.index_cast %[[OFFSET]] : i64 to index
// GPU-DAG:     %[[LOW:.*]] = arith.trunci %[[BITS]] : i64 to i32
// GPU-DAG:     %[[SCALE:.*]] = arith.bitcast %[[LOW]] : i32 to f32
// GPU:         %[[WIDE:.*]] = vector.broadcast %[[SCALE]] : f32 to vector<4xf32>
// GPU:         arith.mulf %{{.*}}, %[[WIDE]]
//
// PTX:       gpu.binary @echo_kernels
// PTX-SAME:  .entry parameters(
// PTX-SAME:  .param .u64 parameters_param_3
func.func private @parameters(%x: tensor<4x8xf32>, %offset: index, %scale: f32)
    -> tensor<1x8xf32> attributes {echo.kernel} {
  %0 = tensor.extract_slice %x[%offset, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
  %1 = tensor.splat %scale : tensor<1x8xf32>
  %2 = echo.mul %0, %1 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  return %2 : tensor<1x8xf32>
}

// -----

// Where there is nothing to compute, nothing is launched.
// GPU:       gpu.func @empty(%{{.*}}: memref<0xf32>, %{{.*}}: memref<0xf32>)
// GPU-SAME:    known_grid_size = array<i32: 0, 1, 1>
// GPU-NEXT:    gpu.return
//
// PTX:       gpu.binary @echo_kernels
// PTX-SAME:  .entry empty(
func.func private @empty(%x: tensor<0x5xf32>) -> tensor<0x5xf32>
    attributes {echo.kernel} {
  %0 = echo.exp %x : (tensor<0x5xf32>) -> tensor<0x5xf32>
  return %0 : tensor<0x5xf32>
}

// -----

// A root is rounded correctly; a constant is in the module's memory.
// GPU:       gpu.module @echo_kernels
// GPU:         memref.global "private" constant @root_constant_0 : memref<3xf32>
// GPU:         gpu.func @root
// GPU:           llvm.call_intrinsic "llvm.sqrt"
//
// PTX:       gpu.binary @echo_kernels
// PTX-SAME:  .entry root(
// PTX-SAME:  sqrt.rn.f32
func.func private @root(%x: tensor<7x3xf32>) -> tensor<7x3xf32>
    attributes {echo.kernel} {
  %0 = echo.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %1 = echo.mul %x, %0 : (tensor<7x3xf32>, tensor<3xf32>) -> tensor<7x3xf32>
  %2 = echo.sqrt %1 : (tensor<7x3xf32>) -> tensor<7x3xf32>
  return %2 : tensor<7x3xf32>
}

// -----

// The host function stays, and its launches find the kernels' types.
// GPU-LABEL: func.func @host
// GPU:         echo.launch @k
// GPU:       func.func private @k(tensor<2xbf16>) -> tensor<2xbf16> attributes {echo.kernel}
// GPU:         gpu.func @k(%{{.*}}: memref<2xi16>, %{{.*}}: memref<2xi16>)
//
// PTX-LABEL: func.func @host
// PTX:       gpu.binary @echo_kernels
// PTX-SAME:  .entry k(
func.func @host(%x: tensor<2xbf16>) -> tensor<2xbf16> {
  %0 = echo.launch @k(%x) : (tensor<2xbf16>) -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}
func.func private @k(%x: tensor<2xbf16>) -> tensor<2xbf16>
    attributes {echo.kernel} {
  %0 = echo.neg %x : (tensor<2xbf16>) -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}

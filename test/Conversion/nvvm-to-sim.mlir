// RUN: echo-opt --split-input-file --echo-nvvm-to-sim %s | FileCheck %s
// RUN: echo-opt %s --split-input-file --echo-nvvm-to-sim \
// RUN:   | echo-opt --split-input-file --verify-each > /dev/null

// The functions come from a table that the loader gives. A kernel takes the
// addresses of its arguments; shared memory is a variable of the object.
// CHECK-LABEL: module @echo_kernels {
// CHECK:         llvm.mlir.global external protected @echo_sim_functions()
// CHECK:         llvm.mlir.global internal @shared() {addr_space = 0 : i32, alignment = 16 : i64} : !llvm.array<32 x f32> {
// CHECK:         llvm.func internal @sum(%[[ARGUMENTS:.*]]: !llvm.ptr) attributes {gpu.known_block_size = array<i32: 64, 1, 1>} {
// CHECK:           %[[SLOT0:.*]] = llvm.getelementptr %[[ARGUMENTS]][0]
// CHECK:           %[[ADDRESS0:.*]] = llvm.load %[[SLOT0]] : !llvm.ptr -> !llvm.ptr
// CHECK:           %[[X:.*]] = llvm.load %[[ADDRESS0]] : !llvm.ptr -> !llvm.ptr
// CHECK:           %[[SLOT1:.*]] = llvm.getelementptr %[[ARGUMENTS]][1]
// CHECK:           %[[ADDRESS1:.*]] = llvm.load %[[SLOT1]] : !llvm.ptr -> !llvm.ptr
// CHECK:           %[[N:.*]] = llvm.load %[[ADDRESS1]] : !llvm.ptr -> i64
// CHECK:           %[[DIM:.*]] = llvm.mlir.constant(0 : i32)
// CHECK:           %[[TID:.*]] = llvm.call @echo_sim_thread_id(%[[DIM]])
//
// An access is announced with its size and alignment.
// CHECK:           %[[PLACE:.*]] = llvm.getelementptr %[[X]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-DAG:       %[[BYTES:.*]] = llvm.mlir.constant(16 : i64)
// CHECK-DAG:       %[[ALIGNMENT:.*]] = llvm.mlir.constant(8 : i32)
// CHECK-DAG:       %[[READ:.*]] = llvm.mlir.constant(0 : i32)
// CHECK:           llvm.call @echo_sim_access(%[[PLACE]], %[[BYTES]], %[[ALIGNMENT]], %[[READ]])
// CHECK:           llvm.load %[[PLACE]] {alignment = 8 : i64}
//
// Nothing is said of the alignment of a scalar: it is its size.
// CHECK:           %[[S:.*]] = llvm.mlir.addressof @shared : !llvm.ptr
// CHECK-DAG:       %[[BYTES:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-DAG:       %[[ALIGNMENT:.*]] = llvm.mlir.constant(4 : i32)
// CHECK-DAG:       %[[WRITE:.*]] = llvm.mlir.constant(1 : i32)
// CHECK:           llvm.call @echo_sim_access(%[[S]], %[[BYTES]], %[[ALIGNMENT]], %[[WRITE]])
// CHECK:           llvm.store %{{.*}}, %[[S]]
//
// Two barriers are two places.
// CHECK:           %[[FIRST:.*]] = llvm.mlir.constant(0 : i32)
// CHECK:           llvm.call @echo_sim_barrier(%[[FIRST]])
// CHECK:           %[[SECOND:.*]] = llvm.mlir.constant(1 : i32)
// CHECK:           llvm.call @echo_sim_barrier(%[[SECOND]])
// CHECK:           llvm.return
//
// CHECK:         llvm.func internal @echo_sim_thread_id(%[[DIM:.*]]: i32) -> i32 {
// CHECK:           %[[TABLE:.*]] = llvm.mlir.addressof @echo_sim_functions
// CHECK:           %[[FUNCTIONS:.*]] = llvm.load %[[TABLE]]
// CHECK:           %[[SLOT:.*]] = llvm.getelementptr %[[FUNCTIONS]][0]
// CHECK:           %[[FUNCTION:.*]] = llvm.load %[[SLOT]]
// CHECK:           llvm.call %[[FUNCTION]](%[[DIM]])
// CHECK:         llvm.mlir.global internal constant @echo_sim_sum_name("sum\00")
// CHECK:         llvm.mlir.global internal constant @echo_sim_sum_shared() {{.*}} !llvm.array<1 x struct<(ptr, i64)>> {
// CHECK:           llvm.mlir.addressof @shared
// CHECK:           llvm.mlir.constant(128 : i64)
// CHECK:         llvm.mlir.global external constant @echo_sim_kernels() {{.*}} !llvm.array<1 x struct<(ptr, ptr, ptr, i64)>> {
// CHECK:           llvm.mlir.addressof @sum :
// CHECK:         llvm.mlir.global external constant @echo_sim_num_kernels(1 : i64)
gpu.module @echo_kernels {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<32 x f32>
  llvm.func @sum(%x: !llvm.ptr, %n: i64) attributes {gpu.kernel, nvvm.kernel, gpu.known_block_size = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %i = llvm.sext %t : i32 to i64
    %p = llvm.getelementptr inbounds %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p {alignment = 8 : i64} : !llvm.ptr -> vector<4xf32>
    %e = llvm.extractelement %v[%t : i32] : vector<4xf32>
    %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
    llvm.store %e, %s : f32, !llvm.ptr<3>
    nvvm.barrier0
    nvvm.barrier
    llvm.return
  }
}

// -----

// What nobody else sees isn't announced: variables on the stack, constants.
// CHECK-LABEL: module @local {
// CHECK:         llvm.func internal @k(
// CHECK-NOT:       @echo_sim_access
// CHECK:           llvm.return
gpu.module @local {
  llvm.mlir.global internal constant @table(dense<1.0> : tensor<4xf32>) {addr_space = 0 : i32} : !llvm.array<4 x f32>
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %0 = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
    %1 = llvm.mlir.addressof @table : !llvm.ptr
    %2 = llvm.getelementptr %1[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %3 = llvm.load %2 : !llvm.ptr -> f32
    llvm.store %3, %0 : f32, !llvm.ptr
    llvm.return
  }
}

// -----

// Functions of libdevice with one right result are LLVM's own.
// CHECK-LABEL: module @exact {
// CHECK-NOT:     __nv
// CHECK:         llvm.call_intrinsic "llvm.floor"(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.call_intrinsic "llvm.copysign"(%{{.*}}) : (f64, f64) -> f64
// CHECK-NOT:     __nv
gpu.module @exact {
  llvm.func @__nv_floorf(f32) -> f32
  llvm.func @__nv_copysign(f64, f64) -> f64
  llvm.func @k(%x: f32, %y: f64) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.call @__nv_floorf(%x) : (f32) -> f32
    %1 = llvm.call @__nv_copysign(%y, %y) : (f64, f64) -> f64
    llvm.return
  }
}

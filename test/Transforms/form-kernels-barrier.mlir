// RUN: echo-opt %s --echo-form-kernels --split-input-file | FileCheck %s
// RUN: echo-opt %s --echo-form-kernels --cse --canonicalize --split-input-file | FileCheck %s
// RUN: echo-opt %s --echo-form-kernels --echo-outline-kernels --echo-bufferize --split-input-file | FileCheck %s --check-prefix=BUFFER

// tanh is evaluated again for its reader behind the loss: in one kernel with
// that reader, which runs behind the library call that the barrier waits for.
// On the host, the barrier keeps the kernels apart; on buffers it costs nothing.
// CHECK-LABEL: func.func @again(
// CHECK-SAME:    %[[X:.*]]: tensor<8x8xf32>, %[[W:.*]]: tensor<8x8xf32>)
// CHECK:         %[[Y:.*]] = echo.kernel(%[[X]])
// CHECK:           echo.tanh
// CHECK:         %[[L:.*]] = echo.matmul %[[Y]], %[[W]]
// CHECK:         %[[G:.*]] = echo.matmul %[[L]], %[[W]]
// CHECK:         %[[B:.*]] = echo.optimization_barrier(%[[X]], %[[G]])
// CHECK:         %[[D:.*]] = echo.kernel(%{{.*}}) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NOT:       echo.optimization_barrier
// CHECK:           echo.tanh
// CHECK:           echo.mul
// CHECK:         return %[[D]]
// BUFFER-LABEL: func.func @again(
// BUFFER-SAME:    %[[X:[^:]*]]: memref<8x8xf32>
// BUFFER:         echo.launch @[[K:.*]](%[[X]]) outs(%[[Y:.*]] : memref<8x8xf32>)
// BUFFER:         echo.gemm(%[[Y]],
// BUFFER:         echo.gemm(
// BUFFER-NOT:     memref.alloc
// BUFFER-NOT:     echo.copy
// BUFFER-NOT:     echo.buffer_view
// BUFFER:         echo.launch @{{.*}}%[[X]]
// BUFFER:         return
func.func @again(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = echo.tanh %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = echo.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = echo.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = echo.optimization_barrier(%x, %2) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = echo.tanh %3 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = echo.mul %2, %4 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// -----

// What the barrier waits for is part of the kernel of its reader, with that
// one's reader: the kernel reads x itself. Nothing else reads %2 and %4.
// CHECK-LABEL: func.func @same_kernel(
// CHECK-SAME:    %[[X:.*]]: tensor<8x8xf32>, %[[W:.*]]: tensor<8x8xf32>)
// CHECK:         %[[Y:.*]] = echo.kernel(%[[X]])
// CHECK:         %[[L:.*]] = echo.matmul
// CHECK-NOT:     echo.optimization_barrier
// CHECK:         %[[D:.*]] = echo.kernel(%[[L]], %[[X]]) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT:    ^bb0(%[[A0:.*]]: tensor<8x8xf32>, %[[A1:.*]]: tensor<8x8xf32>):
// CHECK-NEXT:      %[[E:.*]] = echo.exp %[[A0]]
// CHECK-NEXT:      %[[T:.*]] = echo.tanh %[[A1]]
// CHECK-NEXT:      %[[M:.*]] = echo.mul %[[E]], %[[T]]
// CHECK-NEXT:      echo.yield %[[M]]
// BUFFER-LABEL: func.func @same_kernel(
func.func @same_kernel(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = echo.tanh %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = echo.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = echo.exp %1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = echo.optimization_barrier(%x, %2) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = echo.tanh %3 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = echo.mul %2, %4 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// -----

// The product behind the barrier waits for %2, a part of the first kernel of
// which only %3 is read elsewhere: it waits for the kernel.
// CHECK-LABEL: func.func @inner_value(
// CHECK-SAME:    %[[X:.*]]: tensor<8x8xf32>, %[[W:.*]]: tensor<8x8xf32>)
// CHECK:         %[[P:.*]] = echo.matmul %[[X]], %[[W]]
// CHECK:         %[[K:.*]] = echo.kernel(%[[P]]) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK:           echo.exp
// CHECK:           echo.neg
// CHECK:         %[[B:.*]] = echo.optimization_barrier(%[[X]], %[[K]])
// CHECK:         %[[Q:.*]] = echo.matmul %[[B]], %[[W]]
// CHECK:         return %[[K]], %[[Q]]
// BUFFER-LABEL: func.func @inner_value(
// BUFFER-SAME:    %[[X:[^:]*]]: memref<8x8xf32>
// BUFFER:         echo.gemm(%[[X]],
// BUFFER:         echo.launch
// BUFFER-NEXT:    memref.alloc
// BUFFER-NEXT:    echo.gemm(%[[X]],
// BUFFER-NEXT:    return
func.func @inner_value(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = echo.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = echo.exp %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = echo.reshape %1 : (tensor<8x8xf32>) -> tensor<64xf32>
  %3 = echo.neg %1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = echo.optimization_barrier(%x, %2) : (tensor<8x8xf32>, tensor<64xf32>) -> tensor<8x8xf32>
  %5 = echo.matmul %4, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3, %5 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Barriers in front of and behind what moves elements. Several barriers of one
// tensor are one input of a kernel.
// CHECK-LABEL: func.func @movements(
// CHECK-SAME:    %[[X:.*]]: tensor<8x8xf32>, %[[G:.*]]: tensor<64xf32>)
// CHECK:         %[[B:.*]] = echo.optimization_barrier(%[[X]], %[[G]])
// CHECK:         %[[K:.*]] = echo.kernel(%[[B]], %[[G]])
// CHECK-NEXT:    ^bb0(%[[Y:.*]]: tensor<8x8xf32>, %[[A:.*]]: tensor<64xf32>):
// CHECK-NEXT:      %[[T:.*]] = echo.transpose %[[Y]]
// CHECK-NEXT:      %[[R:.*]] = echo.reshape %[[T]]
// CHECK-NEXT:      %[[S:.*]] = echo.add %[[A]], %[[R]]
// CHECK-NEXT:      %[[U:.*]] = echo.tanh %[[Y]]
// CHECK-NEXT:      %[[V:.*]] = echo.reshape %[[U]]
// CHECK-NEXT:      echo.mul %[[S]], %[[V]]
// BUFFER-LABEL: func.func @movements(
func.func @movements(%x: tensor<8x8xf32>, %g: tensor<64xf32>) -> tensor<64xf32> {
  %0 = echo.optimization_barrier(%x, %g) : (tensor<8x8xf32>, tensor<64xf32>) -> tensor<8x8xf32>
  %1 = echo.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = echo.optimization_barrier(%1, %g) : (tensor<8x8xf32>, tensor<64xf32>) -> tensor<8x8xf32>
  %3 = echo.reshape %2 : (tensor<8x8xf32>) -> tensor<64xf32>
  %4 = echo.add %g, %3 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %5 = echo.optimization_barrier(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = echo.optimization_barrier(%5, %g) : (tensor<8x8xf32>, tensor<64xf32>) -> tensor<8x8xf32>
  %7 = echo.optimization_barrier(%6, %g) : (tensor<8x8xf32>, tensor<64xf32>) -> tensor<8x8xf32>
  %8 = echo.tanh %7 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %9 = echo.reshape %8 : (tensor<8x8xf32>) -> tensor<64xf32>
  %10 = echo.mul %4, %9 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %10 : tensor<64xf32>
}

// -----

// The second concatenation reads what was kept: it copies, so that the parts
// don't lie in its buffer from the start. What it waits for is a part of a tensor
// that isn't copied for that.
// CHECK-LABEL: func.func @join(
// CHECK:         echo.concat
// CHECK:         echo.kernel
// CHECK:           echo.concat
// CHECK-NOT:     echo.slice
// CHECK:         return
// BUFFER-LABEL: func.func @join(
// BUFFER:         %[[A:.*]] = memref.alloc() : memref<16x8xf32>
// BUFFER-COUNT-2: echo.copy
// BUFFER:         echo.gemm(%[[A]],
// BUFFER:         %[[B:.*]] = memref.alloc() : memref<16x8xf32>
// BUFFER:         echo.launch @{{.*}} outs(%[[B]] : memref<16x8xf32>)
// BUFFER:         echo.gemm(%[[B]],
// BUFFER:         return
func.func @join(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<16x8xf32> {
  %0 = echo.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = echo.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = echo.concat %0, %1 {axis = 0 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %3 = echo.matmul %2, %w : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %4 = echo.slice %3 {offsets = array<i64: 0, 2>, sizes = array<i64: 16, 4>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<16x4xf32>
  %5 = echo.optimization_barrier(%0, %4) : (tensor<8x8xf32>, tensor<16x4xf32>) -> tensor<8x8xf32>
  %6 = echo.optimization_barrier(%1, %4) : (tensor<8x8xf32>, tensor<16x4xf32>) -> tensor<8x8xf32>
  %7 = echo.concat %5, %6 {axis = 0 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %8 = echo.matmul %7, %w : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  return %8 : tensor<16x8xf32>
}

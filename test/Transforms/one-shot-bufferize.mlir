// RUN: echo-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s
// CHECK-NOT: echo.

// The barrier's result is its operand's buffer. %g is a tensor of another use,
// which the barrier doesn't read.
// CHECK-LABEL: func.func @alias(
// CHECK-SAME:    %[[X:.*]]: memref<8xf32>, %[[G:.*]]: memref<8xf32>)
// CHECK-NEXT:    %[[C:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[E:.*]] = memref.load %[[X]][%[[C]]]
// CHECK-NEXT:    return %[[E]]
func.func @alias(%x: tensor<8xf32>, %g: tensor<8xf32>) -> f32 {
  %0 = echo.optimization_barrier(%x, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %c = arith.constant 0 : index
  %1 = tensor.extract %0[%c] : tensor<8xf32>
  return %1 : f32
}

// A write behind the barrier is one of the operand: in place if nothing reads
// the operand's old value afterwards, though %g, for which the barrier waits, is
// overwritten before.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[X:.*]]: memref<8xf32>, %[[G:.*]]: memref<8xf32>, %[[S:.*]]: f32)
// CHECK-NOT:     memref.alloc
// CHECK:         memref.store %[[S]], %[[G]]
// CHECK:         memref.store %[[S]], %[[X]]
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @in_place(%x: tensor<8xf32>, %g: tensor<8xf32>, %s: f32) -> (tensor<8xf32>, tensor<8xf32>) {
  %c = arith.constant 0 : index
  %0 = tensor.insert %s into %g[%c] : tensor<8xf32>
  %1 = echo.optimization_barrier(%x, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = tensor.insert %s into %1[%c] : tensor<8xf32>
  return %0, %2 : tensor<8xf32>, tensor<8xf32>
}

// The operand's old value is read afterwards: a copy.
// CHECK-LABEL: func.func @conflict(
// CHECK-SAME:    %[[X:[^:]*]]: memref<8xf32>,
// CHECK:         %[[A:.*]] = memref.alloc
// CHECK:         memref.copy %[[X]], %[[A]]
// CHECK:         memref.store %{{.*}}, %[[A]]
// CHECK:         memref.load %[[X]]
func.func @conflict(%x: tensor<8xf32>, %g: tensor<8xf32>, %s: f32) -> (f32, tensor<8xf32>) {
  %c = arith.constant 0 : index
  %0 = echo.optimization_barrier(%x, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.insert %s into %0[%c] : tensor<8xf32>
  %2 = tensor.extract %x[%c] : tensor<8xf32>
  return %2, %1 : f32, tensor<8xf32>
}

// A scalar that waits for a tensor.
// CHECK-LABEL: func.func @scalar(
// CHECK-SAME:    %[[S:.*]]: f32, %{{.*}}: memref<8xf32>)
// CHECK-NEXT:    %[[E:.*]] = math.exp %[[S]]
// CHECK-NEXT:    return %[[E]]
func.func @scalar(%s: f32, %g: tensor<8xf32>) -> f32 {
  %0 = echo.optimization_barrier(%s, %g) : (f32, tensor<8xf32>) -> f32
  %1 = math.exp %0 : f32
  return %1 : f32
}

// RUN: echo-opt %s --convert-echo-to-linalg --echo-lower-kernels | FileCheck %s
// RUN: echo-opt %s --convert-echo-to-linalg --echo-lower-kernels --convert-echo-kernels-to-llvm | FileCheck %s --check-prefix=LLVM

// 4 * 10 elements of one shape are one loop of vectors without a rest, one
// chunk; what is computed in between isn't stored.
// CHECK-LABEL: func.func private @fused(
// CHECK-SAME:    %[[A:.*]]: memref<40xf32>, %[[B:.*]]: memref<40xf32>, %[[C:.*]]: memref<40xf32>, %{{.*}}: index, %{{.*}}: index)
// CHECK-SAME:    attributes {echo.chunks = 1 : i64, echo.kernel}
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-DAG:         vector.load %[[A]]
// CHECK-DAG:         vector.load %[[B]]
// CHECK:             arith.addf {{.*}} : vector<8xf32>
// CHECK:             arith.mulf {{.*}} : vector<8xf32>
// CHECK-NEXT:        vector.store %{{.*}}, %[[C]]
// CHECK-NOT:     scf.for
// CHECK:         return
// LLVM-LABEL: llvm.func @fused(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// LLVM-SAME:    attributes {echo.chunks = 1 : i64, echo.kernel}
func.func private @fused(%a: tensor<4x10xf32>, %b: tensor<4x10xf32>) -> tensor<4x10xf32> attributes {echo.kernel} {
  %0 = echo.add %a, %b : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<4x10xf32>
  %1 = echo.mul %0, %b : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<4x10xf32>
  return %1 : tensor<4x10xf32>
}

// A chunk has about 16384 elements of work: 100 * 1000 / 16384 is 6.1, so 7 are
// wanted; ceil(100 / 7) = 15 rows in each give ceil(100 / 15) = 7.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME:    echo.chunks = 7
func.func private @rows(%a: tensor<100x1000xf32>) -> tensor<100xf32> attributes {echo.kernel} {
  %0 = echo.reduce sum %a {dims = array<i64: 1>} : (tensor<100x1000xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// Nothing to do is no chunk.
// CHECK-LABEL: func.func private @empty(
// CHECK-SAME:    echo.chunks = 0
// CHECK-NEXT:    return
func.func private @empty(%a: tensor<0x4xf32>) -> tensor<0x4xf32> attributes {echo.kernel} {
  %0 = echo.neg %a : (tensor<0x4xf32>) -> tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

// Flags are bytes in memory.
// CHECK-LABEL: func.func private @flags(
// CHECK-SAME:    memref<8xf32>, %[[M:.*]]: memref<8xi8>
// CHECK:         arith.extui {{.*}} : vector<8xi1> to vector<8xi8>
func.func private @flags(%a: tensor<8xf32>) -> tensor<8xi1> attributes {echo.kernel} {
  %0 = echo.compare gt %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  return %0 : tensor<8xi1>
}

// Constants that aren't splats are globals.
// CHECK:         memref.global "private" constant @table_constant_0 : memref<3xf32>
// CHECK-LABEL: func.func private @table(
// CHECK:         memref.get_global @table_constant_0
// LLVM:        llvm.mlir.global internal constant @table_constant_0
func.func private @table() -> tensor<3xf32> attributes {echo.kernel} {
  %0 = echo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// The host program stays.
// LLVM-LABEL: func.func @host(
func.func @host(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

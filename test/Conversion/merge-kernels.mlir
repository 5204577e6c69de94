// RUN: echo-opt %s --echo-merge-kernels | FileCheck %s
// RUN: echo-opt %s --echo-merge-kernels --echo-lower-kernels | FileCheck %s --check-prefix=LOWER
// RUN: echo-opt %s --echo-merge-kernels --echo-lower-kernels --convert-echo-kernels-to-llvm | FileCheck %s --check-prefix=LLVM

// What differs between two steps are one offset and one number, which occurs
// twice: two parameters. 0.5 is 1056964608 as bits, 0.25 is 1048576000.
// CHECK-LABEL: func.func @run(
// CHECK-NEXT:    echo.launch @step0(%{{.*}}) {parameters = array<i64: 1056964608, 0>}
// CHECK-NEXT:    echo.launch @step0(%{{.*}}) {parameters = array<i64: 1048576000, 3>}
// CHECK-NEXT:    echo.launch @other(%{{[^)]*}}) :
// CHECK-NEXT:    return
func.func @run(%x: tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<2x8xf32>) {
  %0 = echo.launch @step0(%x) : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %1 = echo.launch @step1(%x) : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %2 = echo.launch @other(%x) : (tensor<4x8xf32>) -> tensor<2x8xf32>
  return %0, %1, %2 : tensor<1x8xf32>, tensor<1x8xf32>, tensor<2x8xf32>
}

// CHECK-LABEL: func.func private @step0(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[SCALE:.*]]: f32, %[[ROW:.*]]: index)
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[X]][%[[ROW]], 0] [1, 8] [1, 1]
// CHECK:         linalg.generic
// CHECK:           %[[Y:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK:           arith.addf %[[Y]], %[[SCALE]]
// CHECK-NOT:   @step1
// CHECK-LABEL: func.func private @other(%{{[^,]*}}: tensor<4x8xf32>) ->

// Parameters come behind the buffers.
// LOWER-LABEL: func.func private @step0(%{{.*}}: memref<32xf32>, %{{.*}}: memref<8xf32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: index, %{{.*}}: index)
// LLVM-LABEL: llvm.func @step0(
// LLVM-SAME:    %[[ARGS:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// LLVM-DAG:     %[[SLOT:.*]] = llvm.getelementptr %[[ARGS]][2]
// LLVM-DAG:     llvm.load %[[SLOT]] : !llvm.ptr -> i64
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func private @step0(%x: tensor<4x8xf32>) -> tensor<1x8xf32> attributes {echo.kernel} {
  %c = arith.constant 0.5 : f32
  %d = arith.constant 0.5 : f32
  %s = tensor.extract_slice %x[0, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
  %e = tensor.empty() : tensor<1x8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = arith.mulf %in, %c : f32
    %z = arith.addf %y, %d : f32
    linalg.yield %z : f32
  } -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
func.func private @step1(%x: tensor<4x8xf32>) -> tensor<1x8xf32> attributes {echo.kernel} {
  %c = arith.constant 0.25 : f32
  %d = arith.constant 0.25 : f32
  %s = tensor.extract_slice %x[3, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
  %e = tensor.empty() : tensor<1x8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = arith.mulf %in, %c : f32
    %z = arith.addf %y, %d : f32
    linalg.yield %z : f32
  } -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// Another shape is another kernel.
func.func private @other(%x: tensor<4x8xf32>) -> tensor<2x8xf32> attributes {echo.kernel} {
  %s = tensor.extract_slice %x[1, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  return %s : tensor<2x8xf32>
}

// RUN: echo-opt %s | echo-opt | FileCheck %s

func.func private @k(tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) attributes {echo.kernel}

// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: tensor<4xf32>) -> tensor<f32> {
  // CHECK: %{{.*}}:2 = echo.launch @k(%{{.*}}) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
  %0:2 = echo.launch @k(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// CHECK-LABEL: func.func @buffers
func.func @buffers(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<f32>, %a: memref<2x3xf64>, %b: memref<3x5xf64>, %bias: memref<5xf64>, %c: memref<2x5xf64>) {
  // CHECK: echo.launch @k(%{{.*}}) outs(%{{.*}}, %{{.*}} : memref<4xf32>, memref<f32>) : (memref<4xf32>) -> ()
  echo.launch @k(%x) outs(%y, %s : memref<4xf32>, memref<f32>) : (memref<4xf32>) -> ()
  // CHECK: echo.gemm(%{{.*}}, %{{.*}}) outs(%{{.*}}) {{.*}}accumulate = true
  echo.gemm(%a, %b) outs(%c) {batch = 1 : i64, m = 2 : i64, n = 5 : i64, k = 3 : i64, transpose_a = false, transpose_b = false,
      stride_a = 0 : i64, stride_b = 0 : i64, stride_c = 0 : i64, accumulate = true}
      : memref<2x3xf64>, memref<3x5xf64>, memref<2x5xf64>
  // CHECK: echo.gemm(%{{.*}}, %{{.*}}, bias %{{.*}}) outs(%{{.*}})
  echo.gemm(%a, %b, bias %bias) outs(%c) {batch = 1 : i64, m = 2 : i64, n = 5 : i64, k = 3 : i64, transpose_a = false, transpose_b = false,
      stride_a = 0 : i64, stride_b = 0 : i64, stride_c = 0 : i64}
      : memref<2x3xf64>, memref<3x5xf64>, memref<2x5xf64>, memref<5xf64>
  // CHECK: echo.copy %{{.*}} to %{{.*}} : memref<4xf32>, memref<4xf32>
  echo.copy %x to %y : memref<4xf32>, memref<4xf32>
  // CHECK: echo.buffer_view %{{.*}}[8] : memref<4xf32> to memref<2x1xf32>
  %v = echo.buffer_view %x[8] : memref<4xf32> to memref<2x1xf32>
  return
}

// RUN: echo-opt %s --split-input-file --verify-diagnostics

func.func @no_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects the name of a function, found @missing}}
  %0 = echo.launch @missing(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @f(tensor<4xf32>) -> tensor<4xf32>
func.func @not_a_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a function with the attribute echo.kernel, found @f}}
  %0 = echo.launch @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {echo.kernel}
func.func @type(%x: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error @below {{input #0 has type 'tensor<5xf32>', but kernel @f has 'tensor<4xf32>'}}
  %0 = echo.launch @f(%x) : (tensor<5xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {echo.kernel}
func.func @outputs(%x: memref<4xf32>) {
  // expected-error @below {{has 0 outputs, but kernel @f has 1}}
  echo.launch @f(%x) : (memref<4xf32>) -> ()
  return
}

// -----

func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {echo.kernel}
func.func @mixed(%x: tensor<4xf32>, %y: memref<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{on tensors takes no outputs}}
  %0 = echo.launch @f(%x) outs(%y : memref<4xf32>) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @gemm_type(%a: memref<4xi32>) {
  // expected-error @below {{expects element type f16, bf16, f32 or f64, found 'i32'}}
  echo.gemm(%a, %a) outs(%a) {batch = 1 : i64, m = 2 : i64, n = 2 : i64, k = 2 : i64, transpose_a = false, transpose_b = false,
      stride_a = 0 : i64, stride_b = 0 : i64, stride_c = 0 : i64} : memref<4xi32>, memref<4xi32>, memref<4xi32>
  return
}

// -----

// 3 matrices of 2 x 2, 3 apart, need 2 * 3 + 4 = 10 elements.
func.func @gemm_fit(%a: memref<9xf32>, %c: memref<12xf32>) {
  // expected-error @below {{expects the matrices of a inside its buffer: 3 of 2 x 2, 3 apart, found 'memref<9xf32>'}}
  echo.gemm(%a, %c) outs(%c) {batch = 3 : i64, m = 2 : i64, n = 2 : i64, k = 2 : i64, transpose_a = false, transpose_b = false,
      stride_a = 3 : i64, stride_b = 4 : i64, stride_c = 4 : i64} : memref<9xf32>, memref<12xf32>, memref<12xf32>
  return
}

// -----

func.func @gemm_bias(%a: memref<4xf32>, %b: memref<3xf32>) {
  // expected-error @below {{expects a bias of n = 2 elements, found 'memref<3xf32>'}}
  echo.gemm(%a, %a, bias %b) outs(%a) {batch = 1 : i64, m = 2 : i64, n = 2 : i64, k = 2 : i64, transpose_a = false, transpose_b = false,
      stride_a = 0 : i64, stride_b = 0 : i64, stride_c = 0 : i64} : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<3xf32>
  return
}

// -----

func.func @copy(%a: memref<4xf32>, %b: memref<2x2xf32>) {
  // expected-error @below {{expects one type, found 'memref<4xf32>' and 'memref<2x2xf32>'}}
  echo.copy %a to %b : memref<4xf32>, memref<2x2xf32>
  return
}

// -----

func.func @view_outside(%a: memref<4xf32>) {
  // expected-error @below {{expects the result inside the source: bytes [8, 8 + 12) of 16}}
  %0 = echo.buffer_view %a[8] : memref<4xf32> to memref<3xf32>
  return
}

// -----

func.func @view_offset(%a: memref<4xf32>) {
  // expected-error @below {{expects an offset >= 0 that is a multiple of 4 bytes, found 2}}
  %0 = echo.buffer_view %a[2] : memref<4xf32> to memref<2xf32>
  return
}

// RUN: echo-opt %s -split-input-file -verify-diagnostics

// (C1) of reduce
func.func @reduce_range(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.reduce' op expected dims in [0, 2), found 2}}
  %0 = echo.reduce sum %a {dims = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_order(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.reduce' op expected increasing dims, found [1, 0]}}
  %0 = echo.reduce sum %a {dims = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @reduce_twice(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.reduce' op expected increasing dims, found [1, 1]}}
  %0 = echo.reduce sum %a {dims = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

// (C2) of reduce
func.func @reduce_result(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.reduce' op expected result 0 of type 'tensor<2xf32>', found 'tensor<2x1xf32>'}}
  %0 = echo.reduce sum %a {dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @reduce_keepdims(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.reduce' op expected result 0 of type 'tensor<2x1xf32>', found 'tensor<2xf32>'}}
  %0 = echo.reduce sum %a {dims = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// (C3) of reduce
func.func @reduce_bool(%a: tensor<2xi1>) {
  // expected-error @+1 {{'echo.reduce' op expected an element type other than i1, found 'i1'}}
  %0 = echo.reduce max %a {dims = array<i64: 0>} : (tensor<2xi1>) -> tensor<i1>
  return
}

// -----

func.func @reduce_mean(%a: tensor<2xi32>) {
  // expected-error @+1 {{'echo.reduce' op expected a float element type for a mean, found 'i32'}}
  %0 = echo.reduce mean %a {dims = array<i64: 0>} : (tensor<2xi32>) -> tensor<i32>
  return
}

// -----

// (C1) of argmax
func.func @argmax_axis(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.argmax' op expected axis in [0, 1), found 1}}
  %0 = echo.argmax %a {axis = 1 : i64} : (tensor<2xf32>) -> tensor<i32>
  return
}

// -----

func.func @argmax_empty(%a: tensor<2x0xf32>) {
  // expected-error @+1 {{'echo.argmax' op expected at least one element in dimension 1, found none}}
  %0 = echo.argmax %a {axis = 1 : i64} : (tensor<2x0xf32>) -> tensor<2xi32>
  return
}

// -----

// (C2) of argmax
func.func @argmax_result(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.argmax' op expected result 0 of type 'tensor<2xi32>', found 'tensor<3xi32>'}}
  %0 = echo.argmax %a {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @argmax_element_type(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.argmax' op result #0 must be ranked tensor of 32-bit signless integer values}}
  %0 = echo.argmax %a {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

// (C1) of matmul
func.func @matmul_lhs_rank(%a: tensor<3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'echo.matmul' op expected lhs of rank at least 2, found 1}}
  %0 = echo.matmul %a, %b : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @matmul_rhs_rank(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'echo.matmul' op expected rhs of rank at least 2, found 1}}
  %0 = echo.matmul %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @matmul_element_type(%a: tensor<2x3xf32>, %b: tensor<3x4xf16>) {
  // expected-error @+1 {{'echo.matmul' op expected rhs with element type 'f32', found 'f16'}}
  %0 = echo.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf16>) -> tensor<2x4xf32>
  return
}

// -----

// (C2) of matmul
func.func @matmul_depth(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'echo.matmul' op expected equal contracted sizes, found 3 in lhs and 4 in rhs}}
  %0 = echo.matmul %a, %b {transpose_rhs = true} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C3) of matmul
func.func @matmul_batch(%a: tensor<2x2x3xf32>, %b: tensor<5x3x4xf32>) {
  // expected-error @+1 {{'echo.matmul' op expected batch dimensions that broadcast, found [2] and [5]}}
  %0 = echo.matmul %a, %b : (tensor<2x2x3xf32>, tensor<5x3x4xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

// (C4) of matmul
func.func @matmul_result(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'echo.matmul' op expected result 0 of type 'tensor<2x4xf32>', found 'tensor<4x2xf32>'}}
  %0 = echo.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

// (C5) of matmul
func.func @matmul_bias_shape(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<2xf32>) {
  // expected-error @+1 {{'echo.matmul' op expected bias with shape [4], found [2]}}
  %0 = echo.matmul %a, %b, %c : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_bias_type(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<4xf64>) {
  // expected-error @+1 {{'echo.matmul' op expected bias with element type 'f32', found 'f64'}}
  %0 = echo.matmul %a, %b, %c : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf64>) -> tensor<2x4xf32>
  return
}

// -----

// (C1) of linear
func.func @linear_input(%a: tensor<f32>, %b: tensor<4x3xf32>) {
  // expected-error @+1 {{'echo.linear' op expected input of rank at least 1, found 0}}
  %0 = echo.linear %a, %b : (tensor<f32>, tensor<4x3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @linear_weight(%a: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'echo.linear' op expected weight of rank 2, found 1}}
  %0 = echo.linear %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @linear_element_type(%a: tensor<3xf32>, %b: tensor<4x3xf16>) {
  // expected-error @+1 {{'echo.linear' op expected weight with element type 'f32', found 'f16'}}
  %0 = echo.linear %a, %b : (tensor<3xf32>, tensor<4x3xf16>) -> tensor<4xf32>
  return
}

// -----

// (C2) of linear
func.func @linear_depth(%a: tensor<3xf32>, %b: tensor<4x2xf32>) {
  // expected-error @+1 {{'echo.linear' op expected input with size 2 in its last dimension, as in dimension 1 of weight, found 3}}
  %0 = echo.linear %a, %b : (tensor<3xf32>, tensor<4x2xf32>) -> tensor<4xf32>
  return
}

// -----

// (C3) of linear
func.func @linear_result(%a: tensor<5x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @+1 {{'echo.linear' op expected result 0 of type 'tensor<5x4xf32>', found 'tensor<5x3xf32>'}}
  %0 = echo.linear %a, %b : (tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

// (C4) of linear
func.func @linear_bias(%a: tensor<3xf32>, %b: tensor<4x3xf32>, %c: tensor<3xf32>) {
  // expected-error @+1 {{'echo.linear' op expected bias with shape [4], found [3]}}
  %0 = echo.linear %a, %b, %c : (tensor<3xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @linear_bias_type(%a: tensor<3xf32>, %b: tensor<4x3xf32>, %c: tensor<4xf16>) {
  // expected-error @+1 {{'echo.linear' op expected bias with element type 'f32', found 'f16'}}
  %0 = echo.linear %a, %b, %c : (tensor<3xf32>, tensor<4x3xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// (C1) of matmul_add
func.func @matmul_add_rank(%c: tensor<2x4xf32>, %a: tensor<3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'echo.matmul_add' op expected lhs of rank at least 2, found 1}}
  %0 = echo.matmul_add %c, %a, %b : (tensor<2x4xf32>, tensor<3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C2) of matmul_add
func.func @matmul_add_depth(%c: tensor<2x4xf32>, %a: tensor<2x3xf32>, %b: tensor<4x4xf32>) {
  // expected-error @+1 {{'echo.matmul_add' op expected equal contracted sizes, found 3 in lhs and 4 in rhs}}
  %0 = echo.matmul_add %c, %a, %b : (tensor<2x4xf32>, tensor<2x3xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// (C3) of matmul_add
func.func @matmul_add_batch(%c: tensor<2x2x4xf32>, %a: tensor<2x2x3xf32>, %b: tensor<5x3x4xf32>) {
  // expected-error @+1 {{'echo.matmul_add' op expected batch dimensions that broadcast, found [2] and [5]}}
  %0 = echo.matmul_add %c, %a, %b : (tensor<2x2x4xf32>, tensor<2x2x3xf32>, tensor<5x3x4xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

// (C4) of matmul_add
func.func @matmul_add_result(%c: tensor<2x4xf32>, %a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'echo.matmul_add' op expected result 0 of type 'tensor<2x4xf32>', found 'tensor<4x2xf32>'}}
  %0 = echo.matmul_add %c, %a, %b : (tensor<2x4xf32>, tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

// (C5) of matmul_add
func.func @matmul_add_accumulator(%c: tensor<4xf32>, %a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'echo.matmul_add' op expected accumulator with shape [2, 4], found [4]}}
  %0 = echo.matmul_add %c, %a, %b : (tensor<4xf32>, tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_add_element(%c: tensor<2x4xf64>, %a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'echo.matmul_add' op expected accumulator with element type 'f32', found 'f64'}}
  %0 = echo.matmul_add %c, %a, %b : (tensor<2x4xf64>, tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// RUN: echo-opt %s -split-input-file -verify-diagnostics

// (C1) of constant
func.func @constant() {
  // expected-error @+1 {{'echo.constant' op expected result 0 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = "echo.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

func.func @constant_vector() {
  // expected-error @+1 {{'echo.constant' op result #0 must be ranked tensor of}}
  %0 = echo.constant dense<1.0> : vector<2xf32>
  return
}

// -----

// (C1) of iota
func.func @iota_dimension() {
  // expected-error @+1 {{'echo.iota' op expected dimension in [0, 2), found 2}}
  %0 = echo.iota {dimension = 2 : i64} : tensor<2x3xi32>
  return
}

// -----

// (C2) of iota
func.func @iota_dynamic() {
  // expected-error @+1 {{'echo.iota' op expected a static shape, found [?, 3]}}
  %0 = echo.iota {dimension = 0 : i64} : tensor<?x3xi32>
  return
}

// -----

func.func @iota_bool() {
  // expected-error @+1 {{'echo.iota' op expected an element type other than i1, found i1}}
  %0 = echo.iota {dimension = 0 : i64} : tensor<3xi1>
  return
}

// -----

// (C1) of reshape
func.func @reshape_element_type(%a: tensor<6xf32>) {
  // expected-error @+1 {{'echo.reshape' op expected result with element type 'f32', found 'f16'}}
  %0 = echo.reshape %a : (tensor<6xf32>) -> tensor<2x3xf16>
  return
}

// -----

// (C2) of reshape
func.func @reshape_count(%a: tensor<6xf32>) {
  // expected-error @+1 {{'echo.reshape' op expected a result of 6 elements, found 8}}
  %0 = echo.reshape %a : (tensor<6xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reshape_overflow(%a: tensor<4294967296x4294967296xf32>) {
  // expected-error @+1 {{'echo.reshape' op expected at most 63 bits for the number of elements}}
  %0 = echo.reshape %a : (tensor<4294967296x4294967296xf32>) -> tensor<1xf32>
  return
}

// -----

// (C1) of transpose
func.func @transpose_twice(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.transpose' op expected a permutation of 0 .. 1, found [1, 1]}}
  %0 = echo.transpose %a {permutation = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @transpose_rank(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.transpose' op expected a permutation of 0 .. 1, found [0]}}
  %0 = echo.transpose %a {permutation = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C2) of transpose
func.func @transpose_result(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.transpose' op expected result 0 of type 'tensor<3x2xf32>', found 'tensor<2x3xf32>'}}
  %0 = echo.transpose %a {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C1) of broadcast
func.func @broadcast_element_type(%a: tensor<3xf32>) {
  // expected-error @+1 {{'echo.broadcast' op expected result with element type 'f32', found 'f16'}}
  %0 = echo.broadcast %a : (tensor<3xf32>) -> tensor<2x3xf16>
  return
}

// -----

// (C2) of broadcast
func.func @broadcast_size(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.broadcast' op expected an operand shape that broadcasts to [2, 3], found [2]}}
  %0 = echo.broadcast %a : (tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_rank(%a: tensor<1x3xf32>) {
  // expected-error @+1 {{'echo.broadcast' op expected an operand shape that broadcasts to [3], found [1, 3]}}
  %0 = echo.broadcast %a : (tensor<1x3xf32>) -> tensor<3xf32>
  return
}

// -----

// (C1) of slice
func.func @slice_offsets(%a: tensor<4x3xf32>) {
  // expected-error @+1 {{'echo.slice' op expected offsets with one entry for each of 2 dimensions, found 1}}
  %0 = echo.slice %a {offsets = array<i64: 0>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_sizes(%a: tensor<4x3xf32>) {
  // expected-error @+1 {{'echo.slice' op expected sizes with one entry for each of 2 dimensions, found 3}}
  %0 = echo.slice %a {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 3, 1>, strides = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_strides(%a: tensor<4x3xf32>) {
  // expected-error @+1 {{'echo.slice' op expected strides with one entry for each of 2 dimensions, found 0}}
  %0 = echo.slice %a {offsets = array<i64: 0, 0>, sizes = array<i64: 2, 3>, strides = array<i64>} : (tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// (C2) of slice
func.func @slice_negative_offset(%a: tensor<4xf32>) {
  // expected-error @+1 {{'echo.slice' op expected entries of offsets to be at least 0, found -1}}
  %0 = echo.slice %a {offsets = array<i64: -1>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_negative_size(%a: tensor<4xf32>) {
  // expected-error @+1 {{'echo.slice' op expected entries of sizes to be at least 0, found -2}}
  %0 = echo.slice %a {offsets = array<i64: 0>, sizes = array<i64: -2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_stride_zero(%a: tensor<4xf32>) {
  // expected-error @+1 {{'echo.slice' op expected entries of strides to be at least 1, found 0}}
  %0 = echo.slice %a {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 0>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// (C3) of slice: 1 + 2 * 2 = 5
func.func @slice_end(%a: tensor<5xf32>) {
  // expected-error @+1 {{'echo.slice' op expected the last element of dimension 0 to be in [0, 5), found 5}}
  %0 = echo.slice %a {offsets = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 2>} : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice_overflow(%a: tensor<?xf32>) {
  // expected-error @+1 {{'echo.slice' op expected the last element of dimension 0 to have an index of at most 63 bits}}
  %0 = echo.slice %a {offsets = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 9223372036854775807>} : (tensor<?xf32>) -> tensor<3xf32>
  return
}

// -----

// (C4) of slice
func.func @slice_result(%a: tensor<5xf32>) {
  // expected-error @+1 {{'echo.slice' op expected result 0 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = echo.slice %a {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

// (C1) of pad
func.func @pad_low(%a: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'echo.pad' op expected low with one entry for each of 1 dimensions, found 2}}
  %0 = echo.pad %a, %v {low = array<i64: 1, 0>, high = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @pad_negative(%a: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'echo.pad' op expected entries of high to be at least 0, found -1}}
  %0 = echo.pad %a, %v {low = array<i64: 1>, high = array<i64: -1>} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @pad_value_rank(%a: tensor<2xf32>, %v: tensor<1xf32>) {
  // expected-error @+1 {{'echo.pad' op expected value with shape [], found [1]}}
  %0 = echo.pad %a, %v {low = array<i64: 1>, high = array<i64: 0>} : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
  return
}

// -----

// (C2) of pad
func.func @pad_result(%a: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'echo.pad' op expected result 0 of type 'tensor<6xf32>', found 'tensor<5xf32>'}}
  %0 = echo.pad %a, %v {low = array<i64: 1>, high = array<i64: 3>} : (tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @pad_overflow(%a: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'echo.pad' op expected dimension 0 to have at most 63 bits after padding}}
  %0 = echo.pad %a, %v {low = array<i64: 9223372036854775807>, high = array<i64: 3>} : (tensor<2xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

// (C3) of pad
func.func @pad_value_type(%a: tensor<2xf32>, %v: tensor<f16>) {
  // expected-error @+1 {{'echo.pad' op expected value with element type 'f32', found 'f16'}}
  %0 = echo.pad %a, %v {low = array<i64: 1>, high = array<i64: 0>} : (tensor<2xf32>, tensor<f16>) -> tensor<3xf32>
  return
}

// -----

// (C1) of concat
func.func @concat_none() {
  // expected-error @+1 {{'echo.concat' op expected at least one operand, found none}}
  %0 = "echo.concat"() {axis = 0 : i64} : () -> tensor<0xf32>
  return
}

// -----

func.func @concat_rank(%a: tensor<2xf32>, %b: tensor<2x1xf32>) {
  // expected-error @+1 {{'echo.concat' op expected operand 1 of rank 1, found 2}}
  %0 = echo.concat %a, %b {axis = 0 : i64} : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concat_element_type(%a: tensor<2xf32>, %b: tensor<2xf16>) {
  // expected-error @+1 {{'echo.concat' op expected operand 1 with element type 'f32', found 'f16'}}
  %0 = echo.concat %a, %b {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf16>) -> tensor<4xf32>
  return
}

// -----

// (C2) of concat
func.func @concat_axis(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.concat' op expected axis in [0, 1), found -1}}
  %0 = echo.concat %a, %a {axis = -1 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

// (C3) of concat
func.func @concat_sizes(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @+1 {{'echo.concat' op expected operand 1 with size 3 in dimension 1, found 4}}
  %0 = echo.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_result(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'echo.concat' op expected result 0 of type 'tensor<4x3xf32>', found 'tensor<5x3xf32>'}}
  %0 = echo.concat %a, %a {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

// (C1) of split
func.func @split_axis(%a: tensor<4xf32>) {
  // expected-error @+1 {{'echo.split' op expected axis in [0, 1), found 1}}
  %0:2 = echo.split %a {axis = 1 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @split_none(%a: tensor<4xf32>) {
  // expected-error @+1 {{'echo.split' op expected at least one result, found none}}
  "echo.split"(%a) {axis = 0 : i64} : (tensor<4xf32>) -> ()
  return
}

// -----

// (C2) of split
func.func @split_multiple(%a: tensor<5xf32>) {
  // expected-error @+1 {{'echo.split' op expected a multiple of 2 in dimension 0, found 5}}
  %0:2 = echo.split %a {axis = 0 : i64} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  return
}

// -----

func.func @split_result(%a: tensor<4xf32>) {
  // expected-error @+1 {{'echo.split' op expected result 1 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0:2 = echo.split %a {axis = 0 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  return
}

// -----

// (C1) of reverse
func.func @reverse_axes(%a: tensor<4xf32>) {
  // expected-error @+1 {{'echo.reverse' op expected axes in [0, 1), found 1}}
  %0 = echo.reverse %a {axes = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reverse_twice(%a: tensor<4xf32>) {
  // expected-error @+1 {{'echo.reverse' op expected distinct axes, found 0 twice}}
  %0 = echo.reverse %a {axes = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// (C2) of reverse
func.func @reverse_result(%a: tensor<4xf32>) {
  // expected-error @+1 {{'echo.reverse' op expected result 0 of type 'tensor<4xf32>', found 'tensor<3xf32>'}}
  %0 = echo.reverse %a {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

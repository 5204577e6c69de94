// RUN: echo-opt %s -split-input-file -verify-diagnostics

// A result type that cannot be shows what was inferred; i8 is no operand's
// element type here.

func.func @add(%a: tensor<2x1x?xf32>, %b: tensor<3x1xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<2x3x?xf32>', found 'tensor<i8>'}}
  %0 = "echo.add"(%a, %b) : (tensor<2x1x?xf32>, tensor<3x1xf32>) -> tensor<i8>
  return
}

// -----

func.func @dynamic_against_static(%a: tensor<?x?x0xf32>, %b: tensor<4x1x1xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<4x?x0xf32>', found 'tensor<i8>'}}
  %0 = "echo.add"(%a, %b) : (tensor<?x?x0xf32>, tensor<4x1x1xf32>) -> tensor<i8>
  return
}

// -----

func.func @compare(%a: tensor<?xf32>, %b: tensor<2x1xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<2x?xi1>', found 'tensor<i1>'}}
  %0 = "echo.compare"(%a, %b) {direction = #echo<direction lt>} : (tensor<?xf32>, tensor<2x1xf32>) -> tensor<i1>
  return
}

// -----

func.func @select(%p: tensor<?x1xi1>, %a: tensor<3xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<?x3xf32>', found 'tensor<i8>'}}
  %0 = "echo.select"(%p, %a, %b) : (tensor<?x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<i8>
  return
}

// -----

func.func @transpose(%a: tensor<2x?x4xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<4x2x?xf32>', found 'tensor<i8>'}}
  %0 = "echo.transpose"(%a) {permutation = array<i64: 2, 0, 1>} : (tensor<2x?x4xf32>) -> tensor<i8>
  return
}

// -----

func.func @slice(%a: tensor<?x4xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<3x2xf32>', found 'tensor<i8>'}}
  %0 = "echo.slice"(%a) {offsets = array<i64: 0, 0>, sizes = array<i64: 3, 2>, strides = array<i64: 1, 1>} : (tensor<?x4xf32>) -> tensor<i8>
  return
}

// -----

func.func @pad(%a: tensor<?x4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<?x9xf32>', found 'tensor<i8>'}}
  %0 = "echo.pad"(%a, %v) {low = array<i64: 1, 2>, high = array<i64: 0, 3>} : (tensor<?x4xf32>, tensor<f32>) -> tensor<i8>
  return
}

// -----

func.func @concat(%a: tensor<?x2xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<3x6xf32>', found 'tensor<i8>'}}
  %0 = "echo.concat"(%a, %b) {axis = 1 : i64} : (tensor<?x2xf32>, tensor<3x4xf32>) -> tensor<i8>
  return
}

// -----

func.func @concat_dynamic(%a: tensor<3x?xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<3x?xf32>', found 'tensor<i8>'}}
  %0 = "echo.concat"(%a, %b) {axis = 1 : i64} : (tensor<3x?xf32>, tensor<3x4xf32>) -> tensor<i8>
  return
}

// -----

func.func @split(%a: tensor<6x?xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<3x?xf32>', found 'tensor<i8>'}}
  %0:2 = "echo.split"(%a) {axis = 0 : i64} : (tensor<6x?xf32>) -> (tensor<i8>, tensor<i8>)
  return
}

// -----

func.func @split_dynamic(%a: tensor<6x?xf32>) {
  // expected-error @+1 {{expected result 1 of type 'tensor<6x?xf32>', found 'tensor<i8>'}}
  %0:2 = "echo.split"(%a) {axis = 1 : i64} : (tensor<6x?xf32>) -> (tensor<6x2xf32>, tensor<i8>)
  return
}

// -----

func.func @reduce(%a: tensor<2x?x4xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<?xf32>', found 'tensor<i8>'}}
  %0 = "echo.reduce"(%a) {kind = #echo<kind sum>, dims = array<i64: 0, 2>} : (tensor<2x?x4xf32>) -> tensor<i8>
  return
}

// -----

func.func @reduce_keepdims(%a: tensor<2x?x4xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<1x?x1xf32>', found 'tensor<i8>'}}
  %0 = "echo.reduce"(%a) {kind = #echo<kind sum>, dims = array<i64: 0, 2>, keepdims = true} : (tensor<2x?x4xf32>) -> tensor<i8>
  return
}

// -----

func.func @argmax(%a: tensor<2x?x4xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<2x?xi32>', found 'tensor<i32>'}}
  %0 = "echo.argmax"(%a) {axis = 2 : i64} : (tensor<2x?x4xf32>) -> tensor<i32>
  return
}

// -----

func.func @matmul(%a: tensor<?x1x3x2xf32>, %b: tensor<5x4x?xf32>, %bias: tensor<4xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<?x5x2x4xf32>', found 'tensor<f32>'}}
  %0 = "echo.matmul"(%a, %b, %bias) {transpose_lhs = true, transpose_rhs = true} : (tensor<?x1x3x2xf32>, tensor<5x4x?xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

// The accumulator knows the batch.
func.func @matmul_add(%c: tensor<7x5x2x4xf32>, %a: tensor<?x1x3x2xf32>, %b: tensor<5x4x?xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<7x5x2x4xf32>', found 'tensor<f32>'}}
  %0 = "echo.matmul_add"(%c, %a, %b) {transpose_lhs = true, transpose_rhs = true} : (tensor<7x5x2x4xf32>, tensor<?x1x3x2xf32>, tensor<5x4x?xf32>) -> tensor<f32>
  return
}

// -----

func.func @linear(%a: tensor<7x?x3xf32>, %w: tensor<?x3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<7x?x4xf32>', found 'tensor<f32>'}}
  %0 = "echo.linear"(%a, %w, %b) : (tensor<7x?x3xf32>, tensor<?x3xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @layer_norm(%a: tensor<?x?xf16>, %s: tensor<4xf16>) {
  // expected-error @+1 {{expected result 1 of type 'tensor<?x1xf32>', found 'tensor<f16>'}}
  %0:3 = "echo.layer_norm"(%a, %s, %s) : (tensor<?x?xf16>, tensor<4xf16>, tensor<4xf16>) -> (tensor<2x4xf16>, tensor<f16>, tensor<f16>)
  return
}

// -----

func.func @embedding(%t: tensor<?x8xf32>, %i: tensor<3x?xi64>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<3x?x8xf32>', found 'tensor<i8>'}}
  %0 = "echo.embedding"(%t, %i) : (tensor<?x8xf32>, tensor<3x?xi64>) -> tensor<i8>
  return
}

// -----

func.func @embedding_grad(%i: tensor<3x?xi64>, %g: tensor<?x2x8xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<9x8xf32>', found 'tensor<f32>'}}
  %0 = "echo.embedding_grad"(%i, %g) {rows = 9 : i64} : (tensor<3x?xi64>, tensor<?x2x8xf32>) -> tensor<f32>
  return
}

// -----

func.func @cross_entropy(%x: tensor<?x3x9xbf16>, %l: tensor<2x?xi32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<2x3xf32>', found 'tensor<bf16>'}}
  %0:2 = "echo.softmax_cross_entropy"(%x, %l) : (tensor<?x3x9xbf16>, tensor<2x?xi32>) -> (tensor<bf16>, tensor<bf16>)
  return
}

// -----

func.func @dropout(%x: tensor<?x3xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{expected result 1 of type 'tensor<?x3xi1>', found 'tensor<i1>'}}
  %0:2 = "echo.dropout"(%x, %n, %n, %n) {rate = 0.5 : f64} : (tensor<?x3xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<2x3xf32>, tensor<i1>)
  return
}

// -----

// The width of the cell is known from the cell alone.
func.func @lstm_cell(%g: tensor<2x?xf32>, %c: tensor<?x5xf32>) {
  // expected-error @+1 {{expected result 2 of type 'tensor<2x20xf32>', found 'tensor<f32>'}}
  %0:3 = "echo.lstm_cell"(%g, %c) : (tensor<2x?xf32>, tensor<?x5xf32>) -> (tensor<2x5xf32>, tensor<?x?xf32>, tensor<f32>)
  return
}

// -----

func.func @lstm_cell_grad(%a: tensor<2x?xf32>, %c: tensor<?x5xf32>) {
  // expected-error @+1 {{expected result 0 of type 'tensor<2x20xf32>', found 'tensor<f32>'}}
  %0:2 = "echo.lstm_cell_grad"(%a, %c, %c, %c, %c) : (tensor<2x?xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// Types that are more or less static than the inferred one are accepted.
func.func @compatible(%a: tensor<2x3xf32>, %d: tensor<?x3xf32>) {
  %0 = echo.add %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  %1 = echo.add %d, %d : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  %2 = echo.exp %d : (tensor<?x3xf32>) -> tensor<2x?xf32>
  %3 = echo.convert %d : (tensor<?x3xf32>) -> tensor<2x3xf16>
  %4 = echo.reduce sum %d {dims = array<i64: 1>} : (tensor<?x3xf32>) -> tensor<2xf32>
  %5 = echo.broadcast %d : (tensor<?x3xf32>) -> tensor<4x2x3xf32>
  %6 = echo.reshape %d : (tensor<?x3xf32>) -> tensor<6xf32>
  return
}

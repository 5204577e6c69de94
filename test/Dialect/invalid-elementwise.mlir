// RUN: echo-opt %s -split-input-file -verify-diagnostics

// (C1) of binary ops
func.func @add_element_types(%a: tensor<2xf32>, %b: tensor<2xf16>) {
  // expected-error @+1 {{'echo.add' op expected rhs with element type 'f32', found 'f16'}}
  %0 = echo.add %a, %b : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  return
}

// -----

func.func @add_result_element_type(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.add' op expected result 0 of type 'tensor<2xf32>', found 'tensor<2xf16>'}}
  %0 = echo.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

// (C2) of binary ops
func.func @sub_shapes(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{'echo.sub' op expected operand shapes that broadcast, found [2, 3] and [2]}}
  %0 = echo.sub %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @mul_result_shape(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'echo.mul' op expected result 0 of type 'tensor<2x3xf32>', found 'tensor<3xf32>'}}
  %0 = echo.mul %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @div_element_types(%a: tensor<2xi32>, %b: tensor<2xi64>) {
  // expected-error @+1 {{'echo.div' op expected rhs with element type 'i32', found 'i64'}}
  %0 = echo.div %a, %b : (tensor<2xi32>, tensor<2xi64>) -> tensor<2xi32>
  return
}

// -----

func.func @rem_shapes(%a: tensor<2xi32>, %b: tensor<3xi32>) {
  // expected-error @+1 {{'echo.rem' op expected operand shapes that broadcast, found [2] and [3]}}
  %0 = echo.rem %a, %b : (tensor<2xi32>, tensor<3xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @rem_floats(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.rem' op operand #0 must be ranked tensor of}}
  %0 = echo.rem %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @max_shapes(%a: tensor<?x2xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'echo.max' op expected operand shapes that broadcast, found [?, 2] and [3]}}
  %0 = echo.max %a, %b : (tensor<?x2xf32>, tensor<3xf32>) -> tensor<?x2xf32>
  return
}

// -----

func.func @min_shapes(%a: tensor<0xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'echo.min' op expected operand shapes that broadcast, found [0] and [3]}}
  %0 = echo.min %a, %b : (tensor<0xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @pow_integers(%a: tensor<2xi32>) {
  // expected-error @+1 {{'echo.pow' op operand #0 must be ranked tensor of}}
  %0 = echo.pow %a, %a : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @unranked(%a: tensor<*xf32>) {
  // expected-error @+1 {{'echo.add' op operand #0 must be ranked tensor of}}
  %0 = echo.add %a, %a : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

// (C1) of unary ops
func.func @neg(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.neg' op expected result 0 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = echo.neg %a : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @abs(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.abs' op expected result 0 of type 'tensor<2xf32>', found 'tensor<2xf16>'}}
  %0 = echo.abs %a : (tensor<2xf32>) -> tensor<2xf16>
  return
}

// -----

func.func @sign(%a: tensor<?x2xf32>) {
  // expected-error @+1 {{'echo.sign' op expected result 0 of type 'tensor<?x2xf32>', found 'tensor<2x3xf32>'}}
  %0 = echo.sign %a : (tensor<?x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @exp(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.exp' op expected result 0 of type 'tensor<2xf32>', found 'tensor<2x1xf32>'}}
  %0 = echo.exp %a : (tensor<2xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @log(%a: tensor<2xi32>) {
  // expected-error @+1 {{'echo.log' op operand #0 must be ranked tensor of}}
  %0 = echo.log %a : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @sqrt(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.sqrt' op expected result 0 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = echo.sqrt %a : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @rsqrt(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.rsqrt' op expected result 0 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = echo.rsqrt %a : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @tanh(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.tanh' op expected result 0 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = echo.tanh %a : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @sigmoid(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.sigmoid' op expected result 0 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = echo.sigmoid %a : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @relu(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.relu' op expected result 0 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = echo.relu %a : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @gelu(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.gelu' op expected result 0 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = echo.gelu %a : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @erf(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.erf' op expected result 0 of type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = echo.erf %a : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// (C1) of compare
func.func @compare_element_types(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error @+1 {{'echo.compare' op expected rhs with element type 'f32', found 'i32'}}
  %0 = echo.compare lt %a, %b : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

// (C2) of compare
func.func @compare_shapes(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'echo.compare' op expected operand shapes that broadcast, found [2] and [3]}}
  %0 = echo.compare lt %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>
  return
}

// -----

// (C3) of compare
func.func @compare_result(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.compare' op result #0 must be ranked tensor of 1-bit signless integer values}}
  %0 = echo.compare lt %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// (C1) of select
func.func @select_element_types(%p: tensor<2xi1>, %a: tensor<2xf32>, %b: tensor<2xf64>) {
  // expected-error @+1 {{'echo.select' op expected on_false with element type 'f32', found 'f64'}}
  %0 = echo.select %p, %a, %b : (tensor<2xi1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

// (C2) of select
func.func @select_shapes(%p: tensor<2xi1>, %a: tensor<3xf32>) {
  // expected-error @+1 {{'echo.select' op expected operand shapes that broadcast, found [2] and [3] and [3]}}
  %0 = echo.select %p, %a, %a : (tensor<2xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

// (C1) of convert
func.func @convert(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.convert' op expected result with shape [2], found [3]}}
  %0 = echo.convert %a : (tensor<2xf32>) -> tensor<3xf16>
  return
}

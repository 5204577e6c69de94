// RUN: echo-opt %s -split-input-file -verify-diagnostics

// (C1) of binarize: 63 bits take two words.
func.func @binarize(%a: tensor<3x21xi1>) {
  // expected-error @+1 {{'echo.binarize' op expected a result of 2 words for 63 elements, found 1}}
  %0 = echo.binarize %a : (tensor<3x21xi1>) -> tensor<1xi32>
  return
}

// -----

func.func @binarize_words(%a: tensor<32xi1>) {
  // expected-error @+1 {{'echo.binarize' op result #0 must be ranked tensor of 32-bit signless integer values, but got 'tensor<1xi64>'}}
  %0 = echo.binarize %a : (tensor<32xi1>) -> tensor<1xi64>
  return
}

// -----

func.func @binarize_overflow(%a: tensor<4611686018427387904x4xi1>) {
  // expected-error @+1 {{'echo.binarize' op expected at most 63 bits for the number of elements}}
  %0 = echo.binarize %a : (tensor<4611686018427387904x4xi1>) -> tensor<1xi32>
  return
}

// -----

// (C1) of debinarize
func.func @debinarize(%a: tensor<2x2xi32>) {
  // expected-error @+1 {{'echo.debinarize' op expected an operand of 3 words for 96 elements, found 4}}
  %0 = echo.debinarize %a : (tensor<2x2xi32>) -> tensor<96xi1>
  return
}

// -----

func.func @debinarize_flags(%a: tensor<1xi32>) {
  // expected-error @+1 {{'echo.debinarize' op result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<32xf32>'}}
  %0 = echo.debinarize %a : (tensor<1xi32>) -> tensor<32xf32>
  return
}

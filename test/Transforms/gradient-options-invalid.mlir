// RUN: not echo-opt %s --echo-gradient='function=missing' 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not echo-opt %s --echo-gradient='loss=3' 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not echo-opt %s --echo-gradient='loss=-2' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not echo-opt %s --echo-gradient='loss=1' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not echo-opt %s --echo-gradient='function=declared' 2>&1 | FileCheck %s --check-prefix=BODY

// FUNCTION: error: expected a function @missing; there is none
// RANGE: error: expected loss= to name one of 2 results, found 3
// NEGATIVE: error: expected loss= to name one of 2 results, found -2
// TYPE: error: expected the loss, result #1, to be a float tensor of rank 0, found 'tensor<2xf32>'
// BODY: error: expected a function with a body
func.func @f(%w: tensor<2xf32> {echo.role = "parameter"}) -> (tensor<f32>, tensor<2xf32>) {
  %0 = echo.reduce sum %w {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %0, %w : tensor<f32>, tensor<2xf32>
}
func.func private @declared(tensor<f32>) -> tensor<f32>

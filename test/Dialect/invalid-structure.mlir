// RUN: echo-opt %s -split-input-file -verify-diagnostics

// (C1) of kernel
func.func @kernel_arguments(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.kernel' op expected block arguments of the operands' types ('tensor<2xf32>'), found ('tensor<3xf32>')}}
  %0 = echo.kernel(%a) : (tensor<2xf32>) -> tensor<3xf32> {
  ^bb0(%arg: tensor<3xf32>):
    echo.yield %arg : tensor<3xf32>
  }
  return
}

// -----

// (C2) of kernel
func.func @kernel_results(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.kernel' op expected yielded values of the results' types ('tensor<3xf32>'), found ('tensor<2xf32>')}}
  %0 = echo.kernel(%a) : (tensor<2xf32>) -> tensor<3xf32> {
  ^bb0(%arg: tensor<2xf32>):
    echo.yield %arg : tensor<2xf32>
  }
  return
}

// -----

func.func @kernel_captures(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = echo.kernel(%a) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%arg: tensor<2xf32>):
    // expected-error @+1 {{'echo.add' op using value defined outside the region}}
    %1 = echo.add %arg, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    echo.yield %1 : tensor<2xf32>
  }
  return
}

// -----

func.func @yield_outside(%a: tensor<2xf32>) {
  // expected-error @+1 {{'echo.yield' op expects parent op 'echo.kernel'}}
  echo.yield %a : tensor<2xf32>
}

// -----

func.func @barrier(%x: tensor<8xf32>, %g: tensor<f32>) -> tensor<4xf32> {
  // expected-error @+1 {{failed to verify that all of {operand, result} have same type}}
  %0 = "echo.optimization_barrier"(%x, %g) : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// RUN: echo-opt %s -split-input-file -verify-diagnostics --echo-optimizer='kind=adam'

// expected-error @+1 {{has no gradients: no result has 'echo.gradient_of'}}
func.func @forward(%w: tensor<f32> {echo.role = "parameter"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @+1 {{the optimizer needs an argument named 'learning_rate', but one exists already}}
func.func @taken(%w: tensor<f32> {echo.role = "parameter"}, %r: tensor<f32> {echo.name = "learning_rate"})
    -> (tensor<f32> {echo.gradient_of = 0 : i64}) {
  return %w : tensor<f32>
}

// -----

// expected-error @+1 {{the optimizer needs an argument named 'w.m', but one exists already}}
func.func @taken_state(%w: tensor<f32> {echo.role = "parameter", echo.name = "w"}, %m: tensor<f32> {echo.name = "w.m"})
    -> (tensor<f32> {echo.gradient_of = 0 : i64}) {
  return %w : tensor<f32>
}

// -----

// expected-error @+1 {{expected one gradient for parameter 'w', found more}}
func.func @two_gradients(%w: tensor<f32> {echo.role = "parameter", echo.name = "w"})
    -> (tensor<f32> {echo.gradient_of = 0 : i64}, tensor<f32> {echo.gradient_of = 0 : i64}) {
  return %w, %w : tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{parameter 'w' is replaced already by result #1}}
func.func @replaced_by_argument(
    %w: tensor<f32> {echo.role = "parameter", echo.name = "w", tf.aliasing_output = 1 : i32})
    -> (tensor<f32> {echo.gradient_of = 0 : i64}, tensor<f32>) {
  return %w, %w : tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{parameter 'w' is replaced already by result #1}}
func.func @replaced(%w: tensor<f32> {echo.role = "parameter", echo.name = "w"})
    -> (tensor<f32> {echo.gradient_of = 0 : i64}, tensor<f32> {echo.aliases_argument = 0 : i64}) {
  return %w, %w : tensor<f32>, tensor<f32>
}

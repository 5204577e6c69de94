// A product in each of two time steps, then loss = sum((y w)^2).
func.func @forward(
    %x: tensor<4x3xf32> {echo.name = "x", echo.role = "input", echo.init = #echo.init<normal, 0.0, 1.0>},
    %v: tensor<3x3xf32> {echo.name = "v", echo.role = "parameter", echo.init = #echo.init<uniform, -0.5, 0.5>},
    %w: tensor<3x2xf32> {echo.name = "w", echo.role = "parameter", echo.init = #echo.init<uniform, -0.5, 0.5>})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %0 = echo.matmul %x, %v : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("dense/t0")
  %1 = echo.matmul %0, %v : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32> loc("dense/t1")
  %y = echo.matmul %1, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32> loc("output")
  %s = echo.mul %y, %y : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32> loc("loss")
  %loss = echo.reduce sum %s {dims = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32> loc("loss")
  return %loss : tensor<f32>
}

// Linear regression: y = x w, loss = sum((y - t)^2).
func.func @forward(
    %x: tensor<4x3xf32> {echo.name = "x", echo.role = "input", echo.init = #echo.init<normal, 0.0, 1.0>},
    %t: tensor<4x2xf32> {echo.name = "t", echo.role = "label", echo.init = #echo.init<uniform, -1.0, 1.0>},
    %w: tensor<3x2xf32> {echo.name = "w", echo.role = "parameter", echo.init = #echo.init<uniform, -0.5, 0.5>})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}, tensor<4x2xf32> {echo.name = "out/y"}) {
  %y = echo.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %d = echo.sub %y, %t : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %s = echo.mul %d, %d : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %loss = echo.reduce sum %s {dims = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32>
  return %loss, %y : tensor<f32>, tensor<4x2xf32>
}

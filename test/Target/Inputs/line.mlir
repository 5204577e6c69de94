func.func @line(
    %x: tensor<4xf32> {echo.name = "x", echo.role = "input"},
    %w: tensor<4xf32> {echo.name = "w", echo.role = "parameter", echo.init = #echo.init<constant, 1.0>})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %0 = echo.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("line/product")
  %1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32> loc("line/sum")
  return %1 : tensor<f32>
}

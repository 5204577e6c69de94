func.func @f(%x: tensor<5x7xf32> {echo.role = "parameter", echo.name = "x"})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %0 = echo.tanh %x : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %loss = echo.reduce sum %0 {dims = array<i64: 0, 1>} : (tensor<5x7xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

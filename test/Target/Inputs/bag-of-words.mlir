// The gradient of the embedding is a constant that is broadcast.
func.func @f(%t: tensor<100x16xf32> {echo.name = "t", echo.role = "parameter"},
             %i: tensor<12xi32> {echo.name = "i", echo.init = #echo.init<randint, 0.0, 100.0>})
    -> (tensor<f32> {echo.name = "loss", echo.loss}) {
  %0 = echo.embedding %t, %i : (tensor<100x16xf32>, tensor<12xi32>) -> tensor<12x16xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0, 1>} : (tensor<12x16xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

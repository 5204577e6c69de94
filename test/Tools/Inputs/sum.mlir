func.func @sum(%a: tensor<2xf32> {echo.name = "a"}, %b: tensor<f32> {echo.name = "b"})
    -> (tensor<2xf32> {echo.name = "c"}) {
  %c = echo.add %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %c : tensor<2xf32>
}

func.func @twice(%x: tensor<2xf32> {echo.name = "x"}) -> (tensor<2xf32> {echo.name = "y"}) {
  %0 = func.call @double(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @double(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @double(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = echo.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

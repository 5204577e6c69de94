func.func @overflow(
    %a: tensor<2305843009213693951xf32> {echo.role = "state"},
    %b: tensor<2305843009213693951xf32> {echo.role = "state"},
    %c: tensor<2305843009213693951xf32> {echo.role = "state"},
    %x: tensor<f32>) -> (tensor<f32> {echo.loss}) {
  %l = echo.exp %x : (tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}
func.func @dynamic(%x: tensor<?xf32>) -> (tensor<f32> {echo.loss}) {
  %l = echo.reduce sum %x {dims = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

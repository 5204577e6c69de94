// Four tanh between two products; the loss is the sum of squares.
func.func @chain(
    %x: tensor<64x32xf32> {echo.name = "x", echo.role = "input"},
    %w: tensor<32x256xf32> {echo.name = "net/w", echo.role = "parameter"},
    %v: tensor<256x32xf32> {echo.name = "net/v", echo.role = "parameter"})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %0 = echo.matmul %x, %w : (tensor<64x32xf32>, tensor<32x256xf32>) -> tensor<64x256xf32> loc("net/first")
  %1 = echo.tanh %0 : (tensor<64x256xf32>) -> tensor<64x256xf32> loc("net/tanh1")
  %2 = echo.tanh %1 : (tensor<64x256xf32>) -> tensor<64x256xf32> loc("net/tanh2")
  %3 = echo.tanh %2 : (tensor<64x256xf32>) -> tensor<64x256xf32> loc("net/tanh3")
  %4 = echo.tanh %3 : (tensor<64x256xf32>) -> tensor<64x256xf32> loc("net/tanh4")
  %5 = echo.matmul %4, %v : (tensor<64x256xf32>, tensor<256x32xf32>) -> tensor<64x32xf32> loc("net/second")
  %square = echo.mul %5, %5 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32> loc("loss")
  %loss = echo.reduce sum %square {dims = array<i64: 0, 1>} : (tensor<64x32xf32>) -> tensor<f32> loc("loss")
  return %loss : tensor<f32>
}

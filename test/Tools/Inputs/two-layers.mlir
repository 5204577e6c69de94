// h = x w, out = h v, loss = sum(out * t), and a step of gradient descent.
func.func @step(
    %x: tensor<64x32xf32> {echo.name = "x", echo.role = "input"} loc("x"),
    %t: tensor<64x1xf32> {echo.name = "t", echo.role = "label"},
    %rate: tensor<f32> {echo.name = "rate", echo.role = "input"},
    %w: tensor<32x16xf32> {echo.name = "net/first/w", echo.role = "parameter"},
    %v: tensor<16x1xf32> {echo.name = "net/second/v", echo.role = "parameter"})
    -> (tensor<f32> {echo.loss, echo.name = "loss"},
        tensor<32x16xf32> {echo.aliases_argument = 3 : i64},
        tensor<16x1xf32> {echo.aliases_argument = 4 : i64}) {
  %h = echo.matmul %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32> loc("net/first/t0")
  %out = echo.matmul %h, %v : (tensor<64x16xf32>, tensor<16x1xf32>) -> tensor<64x1xf32> loc("net/second")
  %p = echo.mul %out, %t : (tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x1xf32> loc("loss")
  %loss = echo.reduce sum %p {dims = array<i64: 0, 1>} : (tensor<64x1xf32>) -> tensor<f32> loc("loss")
  %gh = echo.matmul %t, %v {transpose_rhs = true} : (tensor<64x1xf32>, tensor<16x1xf32>) -> tensor<64x16xf32> loc("net/second")
  %gv = echo.matmul %h, %t {transpose_lhs = true} : (tensor<64x16xf32>, tensor<64x1xf32>) -> tensor<16x1xf32> loc("net/second")
  %gw = echo.matmul %x, %gh {transpose_lhs = true} : (tensor<64x32xf32>, tensor<64x16xf32>) -> tensor<32x16xf32> loc("net/first/t0")
  %dw = echo.mul %gw, %rate : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %nw = echo.sub %w, %dw : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %dv = echo.mul %gv, %rate : (tensor<16x1xf32>, tensor<f32>) -> tensor<16x1xf32>
  %nv = echo.sub %v, %dv : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
  return %loss, %nw, %nv : tensor<f32>, tensor<32x16xf32>, tensor<16x1xf32>
}

// A forward graph in which ops of one chain come before and behind a reader that
// rematerialization recomputes it for.
func.func @f(%arg0: tensor<512xf32> {echo.name = "arg0"}, %arg1: tensor<512xf32> {echo.name = "arg1"}, %arg2: tensor<i32> {echo.name = "arg2"}) -> (tensor<1527xi1> {echo.name = "r0"}, tensor<362xi1> {echo.name = "r1"}, tensor<f32> {echo.name = "r2"}, tensor<1025x1xf32> {echo.name = "r3"}) {
  %v0 = echo.slice %arg1 {offsets = array<i64: 3>, sizes = array<i64: 509>, strides = array<i64: 1>} : (tensor<512xf32>) -> tensor<509xf32>
  %v1 = echo.compare lt %v0, %v0 : (tensor<509xf32>, tensor<509xf32>) -> tensor<509xi1>
  %v2 = echo.concat %v1, %v1, %v1 {axis = 0 : i64} : (tensor<509xi1>, tensor<509xi1>, tensor<509xi1>) -> tensor<1527xi1>
  %v3 = echo.log_softmax %arg1 {axis = 0 : i64} : (tensor<512xf32>) -> tensor<512xf32>
  %v4 = echo.reverse %v2 {axes = array<i64: 0>} : (tensor<1527xi1>) -> tensor<1527xi1>
  %v5 = echo.slice %v1 {offsets = array<i64: 0>, sizes = array<i64: 362>, strides = array<i64: 1>} : (tensor<509xi1>) -> tensor<362xi1>
  %v6 = echo.compare gt %v2, %v4 : (tensor<1527xi1>, tensor<1527xi1>) -> tensor<1527xi1>
  %v7 = echo.convert %v5 : (tensor<362xi1>) -> tensor<362xf32>
  %v8 = echo.compare lt %v7, %v7 : (tensor<362xf32>, tensor<362xf32>) -> tensor<362xi1>
  %v10 = echo.min %v7, %v7 : (tensor<362xf32>, tensor<362xf32>) -> tensor<362xf32>
  %v11, %v12, %v13 = echo.layer_norm %v3, %arg0, %arg0 {epsilon = 1.0e-5 : f64} : (tensor<512xf32>, tensor<512xf32>, tensor<512xf32>) -> (tensor<512xf32>, tensor<1xf32>, tensor<1xf32>)
  %v15, %v16, %v17 = echo.layer_norm %v13, %v13, %v13 {epsilon = 1.0e-5 : f64} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  %v18 = echo.select %v8, %v10, %v7 : (tensor<362xi1>, tensor<362xf32>, tensor<362xf32>) -> tensor<362xf32>
  %v19 = echo.slice %v16 {offsets = array<i64: 0>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<1xf32>) -> tensor<1xf32>
  %v20 = echo.broadcast %v18 : (tensor<362xf32>) -> tensor<362xf32>
  %v21 = echo.reduce sum %v20 {dims = array<i64: 0>} : (tensor<362xf32>) -> tensor<f32>
  %v24 = echo.embedding_grad %arg2, %v19 {rows = 1025 : i64} : (tensor<i32>, tensor<1xf32>) -> tensor<1025x1xf32>
  return %v6, %v8, %v21, %v24 : tensor<1527xi1>, tensor<362xi1>, tensor<f32>, tensor<1025x1xf32>
}

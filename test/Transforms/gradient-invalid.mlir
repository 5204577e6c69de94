// RUN: echo-opt %s -split-input-file -verify-diagnostics --echo-gradient

// expected-error @+1 {{expected a result with 'echo.loss' or one float scalar result, found 0 float scalars}}
func.func @no_loss(%w: tensor<2xf32> {echo.role = "parameter"}) -> tensor<2xf32> {
  return %w : tensor<2xf32>
}

// -----

// expected-error @+1 {{expected a result with 'echo.loss' or one float scalar result, found 2 float scalars}}
func.func @two_scalars(%w: tensor<f32> {echo.role = "parameter"}) -> (tensor<f32>, tensor<f32>) {
  return %w, %w : tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{expected one result with 'echo.loss', found results 0 and 1}}
func.func @two_losses(%w: tensor<f32> {echo.role = "parameter"})
    -> (tensor<f32> {echo.loss}, tensor<f32> {echo.loss}) {
  return %w, %w : tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{expected result 0 with 'echo.loss' to be a float tensor of rank 0, found 'tensor<1xf32>'}}
func.func @loss_of_rank_1(%w: tensor<1xf32> {echo.role = "parameter"}) -> (tensor<1xf32> {echo.loss}) {
  return %w : tensor<1xf32>
}

// -----

// expected-error @+1 {{has no float argument with echo.role = "parameter"}}
func.func @no_parameter(%w: tensor<f32>, %i: tensor<i64> {echo.role = "parameter"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @+1 {{expected parameter 'w' to be a ranked tensor of static shape, found 'tensor<?xf32>'}}
func.func @dynamic_parameter(%w: tensor<?xf32> {echo.role = "parameter", echo.name = "w"}, %x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// expected-error @+1 {{has gradients already: result #1 has 'echo.gradient_of'}}
func.func @twice(%w: tensor<f32> {echo.role = "parameter"})
    -> (tensor<f32> {echo.loss}, tensor<f32> {echo.gradient_of = 0 : i64}) {
  return %w, %w : tensor<f32>, tensor<f32>
}

// -----

func.func @no_gradient(%w: tensor<4x2xf32> {echo.role = "parameter", echo.name = "table"}, %i: tensor<4xi32>) -> tensor<f32> {
  %0 = echo.tanh %w : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // expected-error @+1 {{has no gradient, but parameter 'table' needs one}}
  %1 = echo.embedding_grad %i, %0 {rows = 5 : i64} : (tensor<4xi32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %2 = echo.reduce sum %1 {dims = array<i64: 0, 1>} : (tensor<5x2xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// An op of another dialect is no different.
func.func @other_dialect(%w: tensor<2xf32> {echo.role = "parameter", echo.name = "w"}) -> tensor<f32> {
  // expected-error @+1 {{'math.cos' op has no gradient, but parameter 'w' needs one}}
  %0 = math.cos %w : tensor<2xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// Off the path to the loss it is left alone.
func.func @beside_the_path(%w: tensor<2xf32> {echo.role = "parameter"}, %x: tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>) {
  %0 = math.cos %w : tensor<2xf32>
  %1 = math.cos %x : tensor<2xf32>
  %2 = echo.mul %w, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = echo.reduce sum %2 {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %3, %0 : tensor<f32>, tensor<2xf32>
}

// -----

func.func @region(%w: tensor<f32> {echo.role = "parameter", echo.name = "w"}, %c: i1) -> tensor<f32> {
  // The region reads %w though the op has no such operand.
  // expected-error @+1 {{has regions: no gradient can be built through it, but parameter 'w' needs one}}
  %0 = scf.if %c -> tensor<f32> {
    scf.yield %w : tensor<f32>
  } else {
    %1 = echo.exp %w : (tensor<f32>) -> tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

func.func private @callee(tensor<f32>) -> tensor<f32>
func.func @call(%w: tensor<f32> {echo.role = "parameter", echo.name = "w"}) -> tensor<f32> {
  // expected-error @+1 {{'func.call' op has no gradient, but parameter 'w' needs one}}
  %0 = call @callee(%w) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error @+1 {{is used by other ops: its type can't be changed}}
func.func @called(%w: tensor<f32> {echo.role = "parameter"}) -> tensor<f32> {
  return %w : tensor<f32>
}
func.func private @caller(%w: tensor<f32>) -> tensor<f32> {
  // expected-note @+1 {{used here}}
  %0 = call @called(%w) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error @+1 {{expected a function of one block, found 2}}
func.func @blocks(%w: tensor<f32> {echo.role = "parameter"}) -> tensor<f32> {
  cf.br ^next
^next:
  return %w : tensor<f32>
}

// -----

func.func @dynamic(%w: tensor<3xf32> {echo.role = "parameter", echo.name = "w"}, %x: tensor<?xf32>) -> tensor<f32> {
  // expected-error @+1 {{expected ranked tensors of static shapes to build the gradient for parameter 'w', found 'tensor<?xf32>'}}
  %0 = echo.add %w, %x : (tensor<3xf32>, tensor<?xf32>) -> tensor<3xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// An auxiliary result that has no gradient of its own.
func.func @activated(%w: tensor<8xf32> {echo.role = "parameter"}, %c: tensor<2xf32>) -> tensor<f32> {
  // expected-error @+1 {{result 'activated' (#2) is there for the gradient and has none of its own, but the loss depends on it}}
  %0:3 = echo.lstm_cell %w, %c : (tensor<8xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<8xf32>)
  %1 = echo.reduce sum %0#2 {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @independent(%w: tensor<2xf32> {echo.role = "parameter", echo.name = "w"},
    // expected-warning @+1 {{the loss doesn't depend on parameter 'v': its gradient is zero}}
    %v: tensor<3xf32> {echo.role = "parameter", echo.name = "v"}) -> tensor<f32> {
  %0 = echo.reduce sum %w {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error @+1 {{expected one public function with a body, or the name of a function, found 2 public functions}}
module {
  // expected-note @+1 {{@a}}
  func.func @a(%w: tensor<f32>) -> tensor<f32> {
    return %w : tensor<f32>
  }
  // expected-note @+1 {{@b}}
  func.func @b(%w: tensor<f32>) -> tensor<f32> {
    return %w : tensor<f32>
  }
}

// -----

// expected-error @+1 {{expected one public function with a body, or the name of a function, found 0 public functions}}
module {}

// -----

// expected-error @+1 {{expected one public function with a body, or the name of a function, found 0 public functions}}
module {
  // expected-note @+1 {{@k is a kernel, as 'echo.kernel' says}}
  func.func @k(%w: tensor<f32>) -> tensor<f32> attributes {echo.kernel} {
    return %w : tensor<f32>
  }
}

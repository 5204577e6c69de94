// RUN: echo-opt %s --echo-bufferize --split-input-file --verify-diagnostics

func.func @unknown_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{can't be part of a host program; expected a kernel launch, a library call, a view or a concatenation}}
  %0 = echo.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{calls a function, which a host program can't; expected its body in place of the call (--inline puts it there)}}
  %0 = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @control_flow(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  // expected-error @above {{expects argument #1 to be a ranked tensor with a static shape whose size fits 63 bits, found 'i1'}}
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expects a body of one block}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expects argument #0 to be a ranked tensor with a static shape whose size fits 63 bits, found 'tensor<?xf32>'}}
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// 2^31 * 2^31 * 4 bytes is 2^64.
// expected-error @below {{found 'tensor<2147483648x2147483648xf32>'}}
func.func @overflow(%x: tensor<2147483648x2147483648xf32>) -> tensor<2147483648x2147483648xf32> {
  return %x : tensor<2147483648x2147483648xf32>
}

// -----

func.func @columns(%x: tensor<4x4xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{result #0 isn't contiguous in the operand, so it can't be a view}}
  %0 = echo.slice %x {offsets = array<i64: 0, 1>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @side_by_side(%x: tensor<4x2xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{operand #0 isn't contiguous in the result, so the parts can't be joined in place; expected a kernel}}
  %0 = echo.concat %x, %x {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// expected-error @below {{expected argument 0 to be replaced by one result, found results 0 and 1}}
func.func @twice(%x: tensor<4xf32> {echo.role = "state"})
    -> (tensor<4xf32> {echo.aliases_argument = 0 : i64}, tensor<4xf32> {echo.aliases_argument = 0 : i64}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{expected 'tf.aliasing_output' of argument 0 to be the index of one of 1 results, found 3 : i32}}
func.func @aliasing_output(%x: tensor<4xf32> {echo.role = "state", tf.aliasing_output = 3 : i32}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{result #0 replaces argument #0, whose role isn't parameter or state}}
func.func @input(%x: tensor<4xf32>) -> (tensor<4xf32> {echo.aliases_argument = 0 : i64}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expected result 0 with 'echo.loss' to replace no argument, found that it replaces argument 0; return the value twice}}
func.func @aliased_loss(%x: tensor<f32> {echo.role = "state", tf.aliasing_output = 0 : i32}) -> (tensor<f32> {echo.loss}) {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{expected result #0 to have a name of its own, since it replaces no argument; found 'x', which an argument has}}
func.func @name(%x: tensor<4xf32> {echo.name = "x"}) -> (tensor<4xf32> {echo.name = "x"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expects tensors without an encoding, found 'tensor<4xf32, "e">'}}
func.func @encoding(%x: tensor<4xf32, "e">) -> tensor<4xf32, "e"> {
  return %x : tensor<4xf32, "e">
}

// -----

func.func @kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected a launch of it (echo-outline-kernels makes them)}}
  %0 = echo.kernel(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = echo.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    echo.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

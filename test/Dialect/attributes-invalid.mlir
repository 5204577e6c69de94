// RUN: echo-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected 'echo.role' of argument 1 to be "parameter", "state", "input" or "label", found "weight"}}
func.func @role(%a: tensor<f32>, %b: tensor<f32> {echo.role = "weight"}) { return }

// -----

// expected-error @+1 {{expected 'echo.role' of argument 0 to be "parameter", "state", "input" or "label", found 1 : i64}}
func.func @role_kind(%a: tensor<f32> {echo.role = 1}) { return }

// -----

// expected-error @+1 {{expected 'echo.role' on an argument, found it on result 0}}
func.func @role_on_result(%a: tensor<f32>) -> (tensor<f32> {echo.role = "state"}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{expected 'echo.name' of argument 0 to be a non-empty string, found ""}}
func.func @name_empty(%a: tensor<f32> {echo.name = ""}) { return }

// -----

// expected-error @+1 {{expected 'echo.name' of result 0 to be a non-empty string, found 3 : i64}}
func.func @name_kind(%a: tensor<f32>) -> (tensor<f32> {echo.name = 3}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{expected distinct names of arguments, found 'w' for arguments 0 and 2}}
func.func @name_twice(%a: tensor<f32> {echo.name = "w"}, %b: tensor<f32>, %c: tensor<f32> {echo.name = "w"}) { return }

// -----

// Argument 1 has no name of its own and is called arg1.
// expected-error @+1 {{expected distinct names of arguments, found 'arg1' for arguments 0 and 1}}
func.func @name_default(%a: tensor<f32> {echo.name = "arg1"}, %b: tensor<f32>) { return }

// -----

// expected-error @+1 {{expected distinct names of results, found 'x' for results 0 and 1}}
func.func @result_name_twice(%a: tensor<f32>) -> (tensor<f32> {echo.name = "x"}, tensor<f32> {echo.name = "x"}) {
  return %a, %a : tensor<f32>, tensor<f32>
}

// -----

// A result may have an argument's name.
func.func @names(%a: tensor<f32> {echo.name = "x"}) -> (tensor<f32> {echo.name = "x"}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{expected 'echo.init' of argument 0 to be #echo.init, found 0 : i64}}
func.func @init_kind(%a: tensor<f32> {echo.init = 0}) { return }

// -----

// (C5) of #echo.init
// expected-error @+1 {{expected 'echo.init' of argument 0 to draw values that elements of 'tensor<f32>' hold, found #echo.init<randint, 0, 4>}}
func.func @init_randint(%a: tensor<f32> {echo.init = #echo.init<randint, 0, 4>}) { return }

// -----

// (C4) of #echo.init
// expected-error @+1 {{expected 'echo.init' of argument 0 to draw values that elements of 'tensor<2xi32>' hold, found #echo.init<uniform, 0.000000e+00, 4.000000e+00>}}
func.func @init_uniform(%a: tensor<2xi32> {echo.init = #echo.init<uniform, 0.0, 4.0>}) { return }

// -----

// expected-error @+1 {{expected 'echo.init' of argument 0 to draw values that elements of 'tensor<2xi1>' hold, found #echo.init<normal, 0.000000e+00, 4.000000e+00>}}
func.func @init_normal(%a: tensor<2xi1> {echo.init = #echo.init<normal, 0.0, 4.0>}) { return }

// -----

// expected-error @+1 {{expected 'echo.init' of argument 0 to draw values that elements of 'tensor<i32>' hold, found #echo.init<constant, 5.000000e-01>}}
func.func @init_half(%a: tensor<i32> {echo.init = #echo.init<constant, 0.5>}) { return }

// -----

// expected-error @+1 {{expected 'echo.init' of argument 0 to draw values that elements of 'tensor<i1>' hold, found #echo.init<constant, 2.000000e+00>}}
func.func @init_flag(%a: tensor<i1> {echo.init = #echo.init<constant, 2>}) { return }

// -----

// 2^63 is one more than the largest i64.
// expected-error @+1 {{expected 'echo.init' of argument 0 to draw values that elements of 'tensor<i64>' hold}}
func.func @init_large(%a: tensor<i64> {echo.init = #echo.init<constant, 9223372036854775808.0>}) { return }

// -----

// -129 is one less than the smallest i8.
// expected-error @+1 {{expected 'echo.init' of argument 0 to draw values that elements of 'tensor<i8>' hold, found #echo.init<randint, -129, 0>}}
func.func @init_below(%a: tensor<i8> {echo.init = #echo.init<randint, -129, 0>}) { return }

// -----

// 128 may be drawn, one more than the largest i8.
// expected-error @+1 {{expected 'echo.init' of argument 0 to draw values that elements of 'tensor<i8>' hold, found #echo.init<randint, 0, 129>}}
func.func @init_above(%a: tensor<i8> {echo.init = #echo.init<randint, 0, 129>}) { return }

// -----

// The largest f16 is 65504; 65520 is halfway to the next and rounds to infinity.
// expected-error @+1 {{expected 'echo.init' of argument 0 to draw values that elements of 'tensor<f16>' hold, found #echo.init<constant, 6.552000e+04>}}
func.func @init_infinity(%a: tensor<f16> {echo.init = #echo.init<constant, 65520.0>}) { return }

// -----

// What every type just holds.
func.func @init_limits(%a: tensor<i8> {echo.init = #echo.init<randint, -128, 128>},
                       %b: tensor<i1> {echo.init = #echo.init<randint, 0, 2>},
                       %c: tensor<i64> {echo.init = #echo.init<constant, -9223372036854775808.0>},
                       %d: tensor<f16> {echo.init = #echo.init<constant, 65519.0>},
                       %e: tensor<f64> {echo.init = #echo.init<constant, 1.0e308>}) { return }

// -----

// expected-error @+1 {{expected 'echo.init' on an argument, found it on result 0}}
func.func @init_on_result(%a: tensor<f32>) -> (tensor<f32> {echo.init = #echo.init<constant, 0.0>}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{expected constant, uniform, normal or randint, found gaussian}}
func.func @init_word(%a: tensor<f32> {echo.init = #echo.init<gaussian, 0.0, 4.0>}) { return }

// -----

// expected-error @+1 {{expected a number, found "a"}}
func.func @init_number(%a: tensor<f32> {echo.init = #echo.init<constant, "a">}) { return }

// -----

// (C1) of #echo.init
// expected-error @+1 {{expected finite numbers in #echo.init}}
func.func @init_infinite(%a: tensor<f64> {echo.init = #echo.init<constant, 0x7FF0000000000000 : f64>}) { return }

// -----

// (C2) of #echo.init
// expected-error @+1 {{expected a lower bound below the upper one, found 1.000000e+00 and 1.000000e+00}}
func.func @init_empty(%a: tensor<f32> {echo.init = #echo.init<uniform, 1.0, 1.0>}) { return }

// -----

// expected-error @+1 {{expected a deviation of at least 0, found -1.000000e+00}}
func.func @init_deviation(%a: tensor<f32> {echo.init = #echo.init<normal, 0.0, -1.0>}) { return }

// -----

// (C3) of #echo.init
// expected-error @+1 {{expected integer bounds of at most 53 bits, found 5.000000e-01}}
func.func @init_fraction(%a: tensor<i32> {echo.init = #echo.init<randint, 0, 0.5>}) { return }

// -----

// expected-error @+1 {{expected 'echo.loss' of result 0 to be a unit attribute, found true}}
func.func @loss_kind(%a: tensor<f32>) -> (tensor<f32> {echo.loss = true}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{expected result 0 with 'echo.loss' to be a float tensor of rank 0, found 'tensor<1xf32>'}}
func.func @loss_rank(%a: tensor<1xf32>) -> (tensor<1xf32> {echo.loss}) { return %a : tensor<1xf32> }

// -----

// expected-error @+1 {{expected result 0 with 'echo.loss' to be a float tensor of rank 0, found 'tensor<i32>'}}
func.func @loss_integer(%a: tensor<i32>) -> (tensor<i32> {echo.loss}) { return %a : tensor<i32> }

// -----

// expected-error @+1 {{expected one result with 'echo.loss', found results 0 and 2}}
func.func @loss_twice(%a: tensor<f32>) -> (tensor<f32> {echo.loss}, tensor<f32>, tensor<f32> {echo.loss}) {
  return %a, %a, %a : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{expected 'echo.loss' on a result, found it on argument 0}}
func.func @loss_on_argument(%a: tensor<f32> {echo.loss}) { return }

// -----

// expected-error @+1 {{expected 'echo.gradient_of' of result 0 to be an i64, the index of an argument, found "a"}}
func.func @gradient_kind(%a: tensor<f32>) -> (tensor<f32> {echo.gradient_of = "a"}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{expected 'echo.gradient_of' of result 0 to be in [0, 1), found 1}}
func.func @gradient_range(%a: tensor<f32>) -> (tensor<f32> {echo.gradient_of = 1}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{expected result 0 with 'echo.gradient_of' 1 to have the argument's type 'tensor<2xf32>', found 'tensor<f32>'}}
func.func @gradient_type(%a: tensor<f32>, %b: tensor<2xf32>) -> (tensor<f32> {echo.gradient_of = 1}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{expected 'echo.aliases_argument' of result 0 to be in [0, 1), found -1}}
func.func @aliases_range(%a: tensor<f32>) -> (tensor<f32> {echo.aliases_argument = -1}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{expected result 0 with 'echo.aliases_argument' 1 to have the argument's type 'tensor<f64>', found 'tensor<f32>'}}
func.func @aliases_type(%a: tensor<f32>, %b: tensor<f64>) -> (tensor<f32> {echo.aliases_argument = 1}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{expected argument 0 to be replaced by one result, found results 0 and 1}}
func.func @aliases_twice(%a: tensor<f32>) -> (tensor<f32> {echo.aliases_argument = 0}, tensor<f32> {echo.aliases_argument = 0}) {
  return %a, %a : tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{expected argument 0 to be replaced by one result, found result 0 and, by 'tf.aliasing_output', result 1}}
func.func @aliases_both(%a: tensor<f32> {tf.aliasing_output = 1 : i32}) -> (tensor<f32> {echo.aliases_argument = 0}, tensor<f32>) {
  return %a, %a : tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{expected 'echo.kernel' on a function to be a unit attribute, found 1 : i64}}
func.func private @kernel_kind(tensor<f32>) attributes {echo.kernel = 1}

// -----

// A misspelt role is no role.
// expected-error @+1 {{unknown attribute 'echo.rol' on argument 1; expected one of 'echo.role', 'echo.name', 'echo.init', 'echo.overwritable', 'echo.arena', 'echo.arena_offset'}}
func.func @unknown_on_argument(%a: tensor<f32>, %b: tensor<f32> {echo.rol = "parameter"}) { return }

// -----

// expected-error @+1 {{unknown attribute 'echo.lost' on result 0; expected one of 'echo.name', 'echo.loss', 'echo.gradient_of', 'echo.aliases_argument'}}
func.func @unknown_on_result(%a: tensor<f32>) -> (tensor<f32> {echo.lost}) { return %a : tensor<f32> }

// -----

// expected-error @+1 {{unknown attribute 'echo.kernels' on a function; expected one of 'echo.kernel', 'echo.cost', 'echo.chunks', 'echo.constants', 'echo.arena_bytes', 'echo.arena_alignment', 'echo.logical_peak_bytes'}}
func.func @unknown_on_function() attributes {echo.kernels} { return }

// -----

func.func @unknown_on_op(%a: tensor<f32>) {
  // expected-error @+1 {{unknown attribute 'echo.layer' on an op; expected none there}}
  %0 = "echo.exp"(%a) {echo.layer = "l"} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// expected-error @+1 {{expected 'echo.role' on an argument, found it on a function}}
func.func @role_on_function() attributes {echo.role = "parameter"} { return }

// -----

func.func @name_on_op(%a: tensor<f32>) {
  // expected-error @+1 {{expected 'echo.name' on an argument or a result, found it on an op}}
  %0 = "echo.exp"(%a) {echo.name = "y"} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// expected-error @+1 {{expected 'echo.chunks' on a function to be an i64 of at least 0, found -1 : i64}}
func.func private @chunks(tensor<f32>) attributes {echo.chunks = -1}

// -----

// expected-error @+1 {{expected 'echo.arena_offset' on argument 0 to be an i64 of at least 0, found 0 : i32}}
func.func private @offset(memref<f32> {echo.arena_offset = 0 : i32})

// -----

// expected-error @+1 {{expected 'echo.arena' on argument 0 to be a unit attribute, found true}}
func.func private @arena(memref<f32> {echo.arena = true})

// -----

// expected-error @+1 {{expected 'echo.cost' on a function to be {bytes, flops : i64, ops : string}, found}}
func.func private @cost() attributes {echo.cost = {bytes = 1 : i64, flops = 2 : i32, ops = "add"}}

// -----

// expected-error @+1 {{expected 'echo.constants' on a function to be an array, found 0 : i64}}
func.func private @constants() attributes {echo.constants = 0}

// -----

// expected-error @+1 {{expected 'echo.overwritable' on argument 0 to be an array<i64> of indices of results, found array<i64: 1>}}
func.func private @overwritable(tensor<f32> {echo.overwritable = array<i64: 1>}) -> tensor<f32> attributes {echo.kernel}

// -----

func.func @kernel_place(%a: tensor<f32>) {
  // expected-error @+1 {{expected 'echo.kernel' on a function, found it on an op}}
  %0 = "echo.exp"(%a) {echo.kernel} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// expected-error @+1 {{expected 'echo.chunks' on a kernel that was lowered to buffers, found tensors}}
func.func private @tensor_chunks(tensor<f32>) attributes {echo.kernel, echo.chunks = 9 : i64}

// -----

// expected-error @+1 {{expected 'echo.name' of argument 0 to be without zero bytes, found "a\00b"}}
func.func @zero_byte(%a: tensor<f32> {echo.name = "a\00b"}) { return }

// -----

// expected-error @+1 {{expected result 0 with 'echo.loss' to replace no argument, found that it replaces argument 0; return the value twice}}
func.func @aliased_loss(%a: tensor<f32> {echo.role = "state"}) -> (tensor<f32> {echo.loss, echo.aliases_argument = 0 : i64}) { return %a : tensor<f32> }

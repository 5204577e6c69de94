// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Forward functions, which prepare.py compiles for f32, f64, f16 and bf16: every
// op and every template of a kernel. Extents lie around a vector, a warp, a block
// and what a grid has on y and z. No result is a NaN, whose sign and payload are
// nobody's.

!t = f32
// Of sums.
!sum = f32

// Elements: one by one, with many results of one kernel.
func.func @elements(
    %x: tensor<61x67x!t> {echo.role = "input", echo.name = "x"},
    %y: tensor<67x!t> {echo.role = "input", echo.name = "y"},
    %z: tensor<61x1x!t> {echo.role = "input", echo.name = "z"})
    -> (tensor<61x67x!t> {echo.name = "abs"}, tensor<61x67x!t> {echo.name = "neg"},
        tensor<61x67x!t> {echo.name = "exp"}, tensor<61x67x!t> {echo.name = "log"},
        tensor<61x67x!t> {echo.name = "sqrt"}, tensor<61x67x!t> {echo.name = "rsqrt"},
        tensor<61x67x!t> {echo.name = "tanh"}, tensor<61x67x!t> {echo.name = "sigmoid"},
        tensor<61x67x!t> {echo.name = "gelu"}, tensor<61x67x!t> {echo.name = "erf"},
        tensor<61x67x!t> {echo.name = "relu"}, tensor<61x67x!t> {echo.name = "sign"},
        tensor<61x67x!t> {echo.name = "sub"}, tensor<61x67x!t> {echo.name = "div"},
        tensor<61x67x!t> {echo.name = "pow"}, tensor<61x67x!t> {echo.name = "max"},
        tensor<61x67x!t> {echo.name = "min"}, tensor<61x67x!t> {echo.name = "multiply_add"},
        tensor<61x67x!t> {echo.name = "select"}, tensor<61x67x!t> {echo.name = "exp_13"},
        tensor<61x67x!t> {echo.name = "exp_95"}, tensor<61x67x!t> {echo.name = "exp_730"},
        tensor<61x67xi1> {echo.name = "not_a_number"}) {
  %abs = echo.abs %x : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %neg = echo.neg %x : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %exp = echo.exp %x : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %log = echo.log %abs : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %sqrt = echo.sqrt %abs : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %rsqrt = echo.rsqrt %abs : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %tanh = echo.tanh %x : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %sigmoid = echo.sigmoid %x : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %gelu = echo.gelu %x : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %erf = echo.erf %x : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %relu = echo.relu %x : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %sign = echo.sign %x : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %sub = echo.sub %x, %y : (tensor<61x67x!t>, tensor<67x!t>) -> tensor<61x67x!t>
  %div = echo.div %x, %y : (tensor<61x67x!t>, tensor<67x!t>) -> tensor<61x67x!t>
  %pow = echo.pow %abs, %y : (tensor<61x67x!t>, tensor<67x!t>) -> tensor<61x67x!t>
  %max = echo.max %x, %z : (tensor<61x67x!t>, tensor<61x1x!t>) -> tensor<61x67x!t>
  %min = echo.min %x, %z : (tensor<61x67x!t>, tensor<61x1x!t>) -> tensor<61x67x!t>
  %product = echo.mul %x, %y : (tensor<61x67x!t>, tensor<67x!t>) -> tensor<61x67x!t>
  %sum = echo.add %product, %z : (tensor<61x67x!t>, tensor<61x1x!t>) -> tensor<61x67x!t>
  %less = echo.compare lt %x, %z : (tensor<61x67x!t>, tensor<61x1x!t>) -> tensor<61x67xi1>
  %select = echo.select %less, %exp, %y : (tensor<61x67xi1>, tensor<61x67x!t>, tensor<67x!t>) -> tensor<61x67x!t>
  // Below the normal range of f16, of f32 and bf16, and of f64.
  %c13 = echo.constant dense<-13.0> : tensor<!t>
  %c95 = echo.constant dense<-95.0> : tensor<!t>
  %c730 = echo.constant dense<-730.0> : tensor<!t>
  %s13 = echo.add %sigmoid, %c13 : (tensor<61x67x!t>, tensor<!t>) -> tensor<61x67x!t>
  %s95 = echo.add %sigmoid, %c95 : (tensor<61x67x!t>, tensor<!t>) -> tensor<61x67x!t>
  %s730 = echo.add %sigmoid, %c730 : (tensor<61x67x!t>, tensor<!t>) -> tensor<61x67x!t>
  %exp13 = echo.exp %s13 : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %exp95 = echo.exp %s95 : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %exp730 = echo.exp %s730 : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %root = echo.sqrt %x : (tensor<61x67x!t>) -> tensor<61x67x!t>
  %nan = echo.compare ne %root, %root : (tensor<61x67x!t>, tensor<61x67x!t>) -> tensor<61x67xi1>
  return %abs, %neg, %exp, %log, %sqrt, %rsqrt, %tanh, %sigmoid, %gelu, %erf, %relu, %sign,
      %sub, %div, %pow, %max, %min, %sum, %select, %exp13, %exp95, %exp730, %nan
      : tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67x!t>,
        tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67x!t>,
        tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67x!t>,
        tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67x!t>,
        tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67x!t>,
        tensor<61x67x!t>, tensor<61x67x!t>, tensor<61x67xi1>
}

// Elements in vectors of 16 bytes, with a rest and without; none at all; the other
// element types.
func.func @vectors(
    %x: tensor<70001x!t> {echo.role = "input", echo.name = "x"},
    %y: tensor<70001x!t> {echo.role = "input", echo.name = "y"},
    %r: tensor<24x!t> {echo.role = "input", echo.name = "r"},
    %m: tensor<33x24x!t> {echo.role = "input", echo.name = "m"},
    %i: tensor<515xi32> {echo.role = "input", echo.name = "i", echo.init = #echo.init<randint, -1000, 1000>},
    %j: tensor<515xi32> {echo.role = "input", echo.name = "j", echo.init = #echo.init<randint, -4, 5>},
    %none: tensor<0x7x!t> {echo.role = "input", echo.name = "none"})
    -> (tensor<70001x!t> {echo.name = "multiply_add"}, tensor<70001xi1> {echo.name = "greater"},
        tensor<33x24x!t> {echo.name = "rows"}, tensor<32x24xf32> {echo.name = "slice_f32"},
        tensor<33x24xi32> {echo.name = "truncated"}, tensor<33x24xi8> {echo.name = "bytes"},
        tensor<515xi32> {echo.name = "remainder"}, tensor<515xi32> {echo.name = "quotient"},
        tensor<515x!t> {echo.name = "from_i32"}, tensor<515xi64> {echo.name = "i64"},
        tensor<7x!t> {echo.name = "sum_of_none"}, tensor<0x7x!t> {echo.name = "nothing"}) {
  %0 = echo.mul %x, %y : (tensor<70001x!t>, tensor<70001x!t>) -> tensor<70001x!t>
  %1 = echo.add %0, %x : (tensor<70001x!t>, tensor<70001x!t>) -> tensor<70001x!t>
  %2 = echo.compare gt %1, %y : (tensor<70001x!t>, tensor<70001x!t>) -> tensor<70001xi1>
  %3 = echo.mul %m, %r : (tensor<33x24x!t>, tensor<24x!t>) -> tensor<33x24x!t>
  %4 = echo.slice %3 {offsets = array<i64: 1, 0>, sizes = array<i64: 32, 24>, strides = array<i64: 1, 1>}
      : (tensor<33x24x!t>) -> tensor<32x24x!t>
  %5 = echo.convert %4 : (tensor<32x24x!t>) -> tensor<32x24xf32>
  %hundred = echo.constant dense<100.0> : tensor<!t>
  %large = echo.mul %m, %hundred : (tensor<33x24x!t>, tensor<!t>) -> tensor<33x24x!t>
  %6 = echo.convert %large : (tensor<33x24x!t>) -> tensor<33x24xi32>
  %7 = echo.convert %large : (tensor<33x24x!t>) -> tensor<33x24xi8>
  %8 = echo.rem %i, %j : (tensor<515xi32>, tensor<515xi32>) -> tensor<515xi32>
  %9 = echo.div %i, %j : (tensor<515xi32>, tensor<515xi32>) -> tensor<515xi32>
  %10 = echo.convert %i : (tensor<515xi32>) -> tensor<515x!t>
  %11 = echo.convert %9 : (tensor<515xi32>) -> tensor<515xi64>
  %12 = echo.mul %11, %11 : (tensor<515xi64>, tensor<515xi64>) -> tensor<515xi64>
  %13 = echo.reduce sum %none {dims = array<i64: 0>} : (tensor<0x7x!t>) -> tensor<7x!t>
  %14 = echo.tanh %none : (tensor<0x7x!t>) -> tensor<0x7x!t>
  return %1, %2, %3, %5, %6, %7, %8, %9, %10, %12, %13, %14
      : tensor<70001x!t>, tensor<70001xi1>, tensor<33x24x!t>, tensor<32x24xf32>,
        tensor<33x24xi32>, tensor<33x24xi8>, tensor<515xi32>, tensor<515xi32>,
        tensor<515x!t>, tensor<515xi64>, tensor<7x!t>, tensor<0x7x!t>
}

// Rows by threads, by warps and by blocks: chains of reductions, layer norm of 17
// elements, more rows than a grid has on y or z, rows of two lengths.
func.func @chains(
    %short: tensor<66000x3x!t> {echo.role = "input", echo.name = "short"},
    %warp: tensor<70x1000x!t> {echo.role = "input", echo.name = "warp"},
    %many: tensor<1100x40x!t> {echo.role = "input", echo.name = "many"},
    %block: tensor<5x1025x!t> {echo.role = "input", echo.name = "block"},
    %narrow: tensor<19x17x!t> {echo.role = "input", echo.name = "narrow"},
    %scale: tensor<17x!t> {echo.role = "input", echo.name = "scale"},
    %part: tensor<5x3x!t> {echo.role = "input", echo.name = "part"})
    -> (tensor<66000x3x!t> {echo.name = "softmax_3"}, tensor<70x1000x!t> {echo.name = "log_softmax_1000"},
        tensor<70x1x!t> {echo.name = "variance_1000"}, tensor<1100x40x!t> {echo.name = "softmax_40"},
        tensor<5x1025x!t> {echo.name = "log_softmax_1025"}, tensor<5x1x!t> {echo.name = "variance_1025"},
        tensor<19x17x!t> {echo.name = "layer_norm_17"}, tensor<19x1x!sum> {echo.name = "mean_17"},
        tensor<5x4x!t> {echo.name = "joined_sums"}, tensor<70x!t> {echo.name = "max_1000"},
        tensor<5x!t> {echo.name = "min_1025"}, tensor<70xi32> {echo.name = "argmax_1000"},
        tensor<5xi32> {echo.name = "argmax_1025"}, tensor<!t> {echo.name = "sum_of_all"}) {
  %0 = echo.softmax %short {axis = 1 : i64} : (tensor<66000x3x!t>) -> tensor<66000x3x!t>
  %1 = echo.log_softmax %warp {axis = 1 : i64} : (tensor<70x1000x!t>) -> tensor<70x1000x!t>
  %2 = echo.reduce mean %1 {dims = array<i64: 1>, keepdims = true} : (tensor<70x1000x!t>) -> tensor<70x1x!t>
  %3 = echo.sub %1, %2 : (tensor<70x1000x!t>, tensor<70x1x!t>) -> tensor<70x1000x!t>
  %4 = echo.mul %3, %3 : (tensor<70x1000x!t>, tensor<70x1000x!t>) -> tensor<70x1000x!t>
  %5 = echo.reduce mean %4 {dims = array<i64: 1>, keepdims = true} : (tensor<70x1000x!t>) -> tensor<70x1x!t>
  %6 = echo.softmax %many {axis = 1 : i64} : (tensor<1100x40x!t>) -> tensor<1100x40x!t>
  %7 = echo.log_softmax %block {axis = 1 : i64} : (tensor<5x1025x!t>) -> tensor<5x1025x!t>
  %8 = echo.reduce mean %7 {dims = array<i64: 1>, keepdims = true} : (tensor<5x1025x!t>) -> tensor<5x1x!t>
  %9 = echo.sub %7, %8 : (tensor<5x1025x!t>, tensor<5x1x!t>) -> tensor<5x1025x!t>
  %10 = echo.mul %9, %9 : (tensor<5x1025x!t>, tensor<5x1025x!t>) -> tensor<5x1025x!t>
  %11 = echo.reduce mean %10 {dims = array<i64: 1>, keepdims = true} : (tensor<5x1025x!t>) -> tensor<5x1x!t>
  %12, %13, %14 = echo.layer_norm %narrow, %scale, %scale {epsilon = 1.0e-5 : f64}
      : (tensor<19x17x!t>, tensor<17x!t>, tensor<17x!t>)
        -> (tensor<19x17x!t>, tensor<19x1x!sum>, tensor<19x1x!sum>)
  %15 = echo.reduce sum %block {dims = array<i64: 1>, keepdims = true} : (tensor<5x1025x!t>) -> tensor<5x1x!t>
  %16 = echo.concat %15, %part {axis = 1 : i64} : (tensor<5x1x!t>, tensor<5x3x!t>) -> tensor<5x4x!t>
  %17 = echo.tanh %16 : (tensor<5x4x!t>) -> tensor<5x4x!t>
  %18 = echo.reduce max %warp {dims = array<i64: 1>} : (tensor<70x1000x!t>) -> tensor<70x!t>
  %19 = echo.reduce min %block {dims = array<i64: 1>} : (tensor<5x1025x!t>) -> tensor<5x!t>
  %20 = echo.argmax %warp {axis = 1 : i64} : (tensor<70x1000x!t>) -> tensor<70xi32>
  %21 = echo.argmax %block {axis = 1 : i64} : (tensor<5x1025x!t>) -> tensor<5xi32>
  %22 = echo.reduce sum %many {dims = array<i64: 0, 1>} : (tensor<1100x40x!t>) -> tensor<!t>
  return %0, %1, %5, %6, %7, %11, %12, %13, %17, %18, %19, %20, %21, %22
      : tensor<66000x3x!t>, tensor<70x1000x!t>, tensor<70x1x!t>, tensor<1100x40x!t>,
        tensor<5x1025x!t>, tensor<5x1x!t>, tensor<19x17x!t>, tensor<19x1x!sum>,
        tensor<5x4x!t>, tensor<70x!t>, tensor<5x!t>, tensor<70xi32>, tensor<5xi32>,
        tensor<!t>
}

// Columns in two stages, and chains of them; columns in the middle; softmax and
// argmax along them.
func.func @stages(
    %x: tensor<1003x17x!t> {echo.role = "input", echo.name = "x"},
    %tall: tensor<5000x3x!t> {echo.role = "input", echo.name = "tall"},
    %wide: tensor<300x600x!t> {echo.role = "input", echo.name = "wide"},
    %middle: tensor<3x300x5x!t> {echo.role = "input", echo.name = "middle"},
    %few: tensor<100x33x!t> {echo.role = "input", echo.name = "few"})
    -> (tensor<1003x17x!t> {echo.name = "normalized"}, tensor<1x17x!t> {echo.name = "variance"},
        tensor<3x!t> {echo.name = "sum_5000"}, tensor<600x!t> {echo.name = "sum_300"},
        tensor<3x5x!t> {echo.name = "sum_middle"}, tensor<3x5x!t> {echo.name = "max_middle"},
        tensor<33x!t> {echo.name = "sum_100"}, tensor<100x33x!t> {echo.name = "softmax_columns"},
        tensor<33xi32> {echo.name = "argmax_columns"}) {
  %0 = echo.reduce mean %x {dims = array<i64: 0>, keepdims = true} : (tensor<1003x17x!t>) -> tensor<1x17x!t>
  %1 = echo.sub %x, %0 : (tensor<1003x17x!t>, tensor<1x17x!t>) -> tensor<1003x17x!t>
  %2 = echo.mul %1, %1 : (tensor<1003x17x!t>, tensor<1003x17x!t>) -> tensor<1003x17x!t>
  %3 = echo.reduce mean %2 {dims = array<i64: 0>, keepdims = true} : (tensor<1003x17x!t>) -> tensor<1x17x!t>
  %4 = echo.div %1, %3 : (tensor<1003x17x!t>, tensor<1x17x!t>) -> tensor<1003x17x!t>
  %5 = echo.reduce sum %tall {dims = array<i64: 0>} : (tensor<5000x3x!t>) -> tensor<3x!t>
  %6 = echo.reduce sum %wide {dims = array<i64: 0>} : (tensor<300x600x!t>) -> tensor<600x!t>
  %7 = echo.reduce sum %middle {dims = array<i64: 1>} : (tensor<3x300x5x!t>) -> tensor<3x5x!t>
  %8 = echo.reduce max %middle {dims = array<i64: 1>} : (tensor<3x300x5x!t>) -> tensor<3x5x!t>
  %9 = echo.reduce sum %few {dims = array<i64: 0>} : (tensor<100x33x!t>) -> tensor<33x!t>
  %10 = echo.softmax %few {axis = 0 : i64} : (tensor<100x33x!t>) -> tensor<100x33x!t>
  %11 = echo.argmax %few {axis = 0 : i64} : (tensor<100x33x!t>) -> tensor<33xi32>
  return %4, %3, %5, %6, %7, %8, %9, %10, %11
      : tensor<1003x17x!t>, tensor<1x17x!t>, tensor<3x!t>, tensor<600x!t>, tensor<3x5x!t>,
        tensor<3x5x!t>, tensor<33x!t>, tensor<100x33x!t>, tensor<33xi32>
}

// Tables: rows that occur often, indices outside of them, wide and narrow ones.
func.func @tables(
    %table: tensor<101x67x!t> {echo.role = "input", echo.name = "table"},
    %words: tensor<45x2xi32> {echo.role = "input", echo.name = "words", echo.init = #echo.init<randint, 0, 101>},
    %near: tensor<600xi32> {echo.role = "input", echo.name = "near", echo.init = #echo.init<randint, -2, 9>},
    %far: tensor<257xi64> {echo.role = "input", echo.name = "far", echo.init = #echo.init<randint, 0, 500>},
    %wide: tensor<600x256x!t> {echo.role = "input", echo.name = "wide"},
    %narrow: tensor<257x5x!t> {echo.role = "input", echo.name = "narrow"})
    -> (tensor<45x2x67x!t> {echo.name = "rows"}, tensor<7x256x!t> {echo.name = "few_rows"},
        tensor<500x5x!t> {echo.name = "many_rows"}) {
  %0 = echo.embedding %table, %words : (tensor<101x67x!t>, tensor<45x2xi32>) -> tensor<45x2x67x!t>
  %1 = echo.embedding_grad %near, %wide {rows = 7 : i64} : (tensor<600xi32>, tensor<600x256x!t>) -> tensor<7x256x!t>
  %2 = echo.embedding_grad %far, %narrow {rows = 500 : i64} : (tensor<257xi64>, tensor<257x5x!t>) -> tensor<500x5x!t>
  return %0, %1, %2 : tensor<45x2x67x!t>, tensor<7x256x!t>, tensor<500x5x!t>
}

// Tiles of transposes, and everything that only moves elements.
func.func @moves(
    %x: tensor<31x65x!t> {echo.role = "input", echo.name = "x"},
    %y: tensor<65x31x!t> {echo.role = "input", echo.name = "y"},
    %z: tensor<10x35x40x!t> {echo.role = "input", echo.name = "z"})
    -> (tensor<65x31x!t> {echo.name = "transposed_sum"}, tensor<10x40x35x!t> {echo.name = "z021"},
        tensor<40x35x10x!t> {echo.name = "z210"}, tensor<35x40x10x!t> {echo.name = "z120"},
        tensor<35x10x40x!t> {echo.name = "z102"}, tensor<33x70x!t> {echo.name = "padded"},
        tensor<31x65x!t> {echo.name = "reversed"}, tensor<31x130x!t> {echo.name = "joined"},
        tensor<13x5x31x!t> {echo.name = "split"}, tensor<4x31x65x!t> {echo.name = "repeated"},
        tensor<31x65x!t> {echo.name = "counted"}, tensor<31x65xi1> {echo.name = "unpacked"},
        tensor<63xi32> {echo.name = "packed"}) {
  %0 = echo.transpose %x {permutation = array<i64: 1, 0>} : (tensor<31x65x!t>) -> tensor<65x31x!t>
  %1 = echo.add %0, %y : (tensor<65x31x!t>, tensor<65x31x!t>) -> tensor<65x31x!t>
  %2 = echo.transpose %z {permutation = array<i64: 0, 2, 1>} : (tensor<10x35x40x!t>) -> tensor<10x40x35x!t>
  %3 = echo.transpose %z {permutation = array<i64: 2, 1, 0>} : (tensor<10x35x40x!t>) -> tensor<40x35x10x!t>
  %4 = echo.transpose %z {permutation = array<i64: 1, 2, 0>} : (tensor<10x35x40x!t>) -> tensor<35x40x10x!t>
  %5 = echo.transpose %z {permutation = array<i64: 1, 0, 2>} : (tensor<10x35x40x!t>) -> tensor<35x10x40x!t>
  %one = echo.constant dense<1.0> : tensor<!t>
  %6 = echo.pad %x, %one {low = array<i64: 2, 0>, high = array<i64: 0, 5>} : (tensor<31x65x!t>, tensor<!t>) -> tensor<33x70x!t>
  %7 = echo.reverse %x {axes = array<i64: 0, 1>} : (tensor<31x65x!t>) -> tensor<31x65x!t>
  %8 = echo.concat %x, %7 {axis = 1 : i64} : (tensor<31x65x!t>, tensor<31x65x!t>) -> tensor<31x130x!t>
  %9:5 = echo.split %y {axis = 0 : i64}
      : (tensor<65x31x!t>) -> (tensor<13x31x!t>, tensor<13x31x!t>, tensor<13x31x!t>, tensor<13x31x!t>, tensor<13x31x!t>)
  %10 = echo.concat %9#4, %9#0, %9#3, %9#1, %9#2 {axis = 1 : i64}
      : (tensor<13x31x!t>, tensor<13x31x!t>, tensor<13x31x!t>, tensor<13x31x!t>, tensor<13x31x!t>) -> tensor<13x155x!t>
  %11 = echo.reshape %10 : (tensor<13x155x!t>) -> tensor<13x5x31x!t>
  %12 = echo.broadcast %x : (tensor<31x65x!t>) -> tensor<4x31x65x!t>
  %13 = echo.iota {dimension = 1 : i64} : tensor<31x65x!t>
  %14 = echo.mul %x, %13 : (tensor<31x65x!t>, tensor<31x65x!t>) -> tensor<31x65x!t>
  %15 = echo.binarize %x : (tensor<31x65x!t>) -> tensor<63xi32>
  %16 = echo.debinarize %15 : (tensor<63xi32>) -> tensor<31x65xi1>
  return %1, %2, %3, %4, %5, %6, %7, %8, %11, %12, %14, %16, %15
      : tensor<65x31x!t>, tensor<10x40x35x!t>, tensor<40x35x10x!t>, tensor<35x40x10x!t>,
        tensor<35x10x40x!t>, tensor<33x70x!t>, tensor<31x65x!t>, tensor<31x130x!t>,
        tensor<13x5x31x!t>, tensor<4x31x65x!t>, tensor<31x65x!t>, tensor<31x65xi1>,
        tensor<63xi32>
}

// What a recurrent step is made of, forward and backward: LSTM cell, attention,
// cross-entropy with padding, dropout.
func.func @steps(
    %gates: tensor<19x132x!t> {echo.role = "input", echo.name = "gates"},
    %cell: tensor<19x33x!t> {echo.role = "input", echo.name = "cell"},
    %dh: tensor<19x33x!t> {echo.role = "input", echo.name = "dh"},
    %keys: tensor<9x7x40x!t> {echo.role = "input", echo.name = "keys"},
    %query: tensor<7x40x!t> {echo.role = "input", echo.name = "query"},
    %weight: tensor<40x!t> {echo.role = "input", echo.name = "weight"},
    %logits: tensor<45x1100x!t> {echo.role = "input", echo.name = "logits"},
    %labels: tensor<45xi32> {echo.role = "label", echo.name = "labels", echo.init = #echo.init<randint, 0, 3>},
    %seed: tensor<i64> {echo.role = "state", echo.name = "seed"},
    %step: tensor<i64> {echo.role = "state", echo.name = "step", echo.init = #echo.init<constant, 5>})
    -> (tensor<19x33x!t> {echo.name = "hidden"}, tensor<19x33x!t> {echo.name = "next_cell"},
        tensor<19x132x!t> {echo.name = "dgates"}, tensor<19x33x!t> {echo.name = "dcell"},
        tensor<9x7x!t> {echo.name = "attention"}, tensor<45x!sum> {echo.name = "losses"},
        tensor<45x1100x!t> {echo.name = "dlogits"}, tensor<9x7x40x!t> {echo.name = "dropped"},
        tensor<9x7x40xi1> {echo.name = "mask"}) {
  %h, %c, %activated = echo.lstm_cell %gates, %cell
      : (tensor<19x132x!t>, tensor<19x33x!t>)
        -> (tensor<19x33x!t>, tensor<19x33x!t>, tensor<19x132x!t>)
  %dgates, %dcell = echo.lstm_cell_grad %activated, %cell, %c, %dh, %dh
      : (tensor<19x132x!t>, tensor<19x33x!t>, tensor<19x33x!t>, tensor<19x33x!t>, tensor<19x33x!t>)
        -> (tensor<19x132x!t>, tensor<19x33x!t>)
  %0 = echo.add %keys, %query : (tensor<9x7x40x!t>, tensor<7x40x!t>) -> tensor<9x7x40x!t>
  %1, %mean, %rstd = echo.layer_norm %0, %weight, %weight {epsilon = 1.0e-5 : f64}
      : (tensor<9x7x40x!t>, tensor<40x!t>, tensor<40x!t>)
        -> (tensor<9x7x40x!t>, tensor<9x7x1x!sum>, tensor<9x7x1x!sum>)
  %2 = echo.tanh %1 : (tensor<9x7x40x!t>) -> tensor<9x7x40x!t>
  %3 = echo.mul %2, %weight : (tensor<9x7x40x!t>, tensor<40x!t>) -> tensor<9x7x40x!t>
  %4 = echo.reduce sum %3 {dims = array<i64: 2>} : (tensor<9x7x40x!t>) -> tensor<9x7x!t>
  %5 = echo.softmax %4 {axis = 0 : i64} : (tensor<9x7x!t>) -> tensor<9x7x!t>
  %losses, %lse = echo.softmax_cross_entropy %logits, %labels
      {ignore_label = 0 : i64, label_smoothing = 0.1 : f64}
      : (tensor<45x1100x!t>, tensor<45xi32>) -> (tensor<45x!sum>, tensor<45x!sum>)
  %dlogits = echo.softmax_cross_entropy_grad %logits, %labels, %lse, %losses
      {ignore_label = 0 : i64, label_smoothing = 0.1 : f64}
      : (tensor<45x1100x!t>, tensor<45xi32>, tensor<45x!sum>, tensor<45x!sum>) -> tensor<45x1100x!t>
  %start = echo.constant dense<7> : tensor<i64>
  %dropped, %mask = echo.dropout %keys, %seed, %step, %start {rate = 0.2 : f64}
      : (tensor<9x7x40x!t>, tensor<i64>, tensor<i64>, tensor<i64>)
        -> (tensor<9x7x40x!t>, tensor<9x7x40xi1>)
  return %h, %c, %dgates, %dcell, %5, %losses, %dlogits, %dropped, %mask
      : tensor<19x33x!t>, tensor<19x33x!t>, tensor<19x132x!t>, tensor<19x33x!t>,
        tensor<9x7x!t>, tensor<45x!sum>, tensor<45x1100x!t>, tensor<9x7x40x!t>,
        tensor<9x7x40xi1>
}

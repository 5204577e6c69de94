// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Steps without a library call, one for each kind of kernel: their results on a
// GPU have the bits of the CPU. Extents are no multiples of a warp or a block.

func.func @pointwise(
    %x: tensor<257x33xf32> {echo.role = "parameter", echo.name = "x"},
    %y: tensor<257x33xf32> {echo.role = "input", echo.name = "y"},
    %r: tensor<33xf32> {echo.role = "input", echo.name = "r"})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %0 = echo.mul %x, %y : (tensor<257x33xf32>, tensor<257x33xf32>) -> tensor<257x33xf32>
  %1 = echo.add %0, %r : (tensor<257x33xf32>, tensor<33xf32>) -> tensor<257x33xf32>
  %2 = echo.tanh %1 : (tensor<257x33xf32>) -> tensor<257x33xf32>
  %3 = echo.gelu %0 : (tensor<257x33xf32>) -> tensor<257x33xf32>
  %4 = echo.sigmoid %3 : (tensor<257x33xf32>) -> tensor<257x33xf32>
  %5 = echo.exp %4 : (tensor<257x33xf32>) -> tensor<257x33xf32>
  %6 = echo.relu %1 : (tensor<257x33xf32>) -> tensor<257x33xf32>
  %7 = echo.add %2, %5 : (tensor<257x33xf32>, tensor<257x33xf32>) -> tensor<257x33xf32>
  %8 = echo.sub %7, %6 : (tensor<257x33xf32>, tensor<257x33xf32>) -> tensor<257x33xf32>
  %loss = echo.reduce sum %8 {dims = array<i64: 0, 1>} : (tensor<257x33xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @rows(
    %x: tensor<70x1000xf32> {echo.role = "parameter", echo.name = "x"},
    %scale: tensor<1000xf32> {echo.role = "parameter", echo.name = "scale"},
    %offset: tensor<1000xf32> {echo.role = "parameter", echo.name = "offset"},
    %y: tensor<70x1000xf32> {echo.role = "input", echo.name = "y"})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %n, %mean, %rstd = echo.layer_norm %x, %scale, %offset {epsilon = 1.0e-5 : f64}
      : (tensor<70x1000xf32>, tensor<1000xf32>, tensor<1000xf32>)
        -> (tensor<70x1000xf32>, tensor<70x1xf32>, tensor<70x1xf32>)
  %s = echo.softmax %n {axis = 1 : i64} : (tensor<70x1000xf32>) -> tensor<70x1000xf32>
  %0 = echo.mul %s, %y : (tensor<70x1000xf32>, tensor<70x1000xf32>) -> tensor<70x1000xf32>
  %m = echo.reduce max %0 {dims = array<i64: 1>} : (tensor<70x1000xf32>) -> tensor<70xf32>
  %loss = echo.reduce mean %m {dims = array<i64: 0>} : (tensor<70xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @columns(
    %b: tensor<17xf32> {echo.role = "parameter", echo.name = "b"},
    %x: tensor<1003x17xf32> {echo.role = "input", echo.name = "x"})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %0 = echo.add %x, %b : (tensor<1003x17xf32>, tensor<17xf32>) -> tensor<1003x17xf32>
  %1 = echo.tanh %0 : (tensor<1003x17xf32>) -> tensor<1003x17xf32>
  %2 = echo.reduce sum %1 {dims = array<i64: 0>} : (tensor<1003x17xf32>) -> tensor<17xf32>
  %loss = echo.reduce mean %2 {dims = array<i64: 0>} : (tensor<17xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @lookup(
    %table: tensor<101x67xf32> {echo.role = "parameter", echo.name = "table"},
    %words: tensor<45xi32> {echo.role = "input", echo.name = "words", echo.init = #echo.init<randint, 0, 101>},
    %labels: tensor<45xi32> {echo.role = "label", echo.name = "labels", echo.init = #echo.init<randint, 0, 67>})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %0 = echo.embedding %table, %words : (tensor<101x67xf32>, tensor<45xi32>) -> tensor<45x67xf32>
  %each, %lse = echo.softmax_cross_entropy %0, %labels
      {ignore_label = 0 : i64, label_smoothing = 0.1 : f64}
      : (tensor<45x67xf32>, tensor<45xi32>) -> (tensor<45xf32>, tensor<45xf32>)
  %loss = echo.reduce sum %each {dims = array<i64: 0>} : (tensor<45xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @lstm(
    %gates: tensor<19x132xf32> {echo.role = "parameter", echo.name = "gates"},
    %cell: tensor<19x33xf32> {echo.role = "input", echo.name = "cell"})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %h, %c, %activated = echo.lstm_cell %gates, %cell
      : (tensor<19x132xf32>, tensor<19x33xf32>)
        -> (tensor<19x33xf32>, tensor<19x33xf32>, tensor<19x132xf32>)
  %0 = echo.add %h, %c : (tensor<19x33xf32>, tensor<19x33xf32>) -> tensor<19x33xf32>
  %loss = echo.reduce sum %0 {dims = array<i64: 0, 1>} : (tensor<19x33xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @movement(
    %x: tensor<37x5x41xf32> {echo.role = "parameter", echo.name = "x"},
    %y: tensor<5x41x37xf32> {echo.role = "input", echo.name = "y"})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {
  %0 = echo.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<37x5x41xf32>) -> tensor<5x41x37xf32>
  %1 = echo.mul %0, %y : (tensor<5x41x37xf32>, tensor<5x41x37xf32>) -> tensor<5x41x37xf32>
  %2 = echo.slice %1 {offsets = array<i64: 0, 3, 1>, sizes = array<i64: 5, 30, 12>, strides = array<i64: 1, 1, 3>}
      : (tensor<5x41x37xf32>) -> tensor<5x30x12xf32>
  %3 = echo.slice %1 {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 5, 11, 12>, strides = array<i64: 1, 1, 1>}
      : (tensor<5x41x37xf32>) -> tensor<5x11x12xf32>
  %4 = echo.concat %2, %3 {axis = 1 : i64} : (tensor<5x30x12xf32>, tensor<5x11x12xf32>) -> tensor<5x41x12xf32>
  %5 = echo.tanh %4 : (tensor<5x41x12xf32>) -> tensor<5x41x12xf32>
  %loss = echo.reduce sum %5 {dims = array<i64: 0, 1, 2>} : (tensor<5x41x12xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @random(
    %x: tensor<23x129xf32> {echo.role = "parameter", echo.name = "x"},
    %seed: tensor<i64> {echo.role = "state", echo.name = "seed"},
    %step: tensor<i64> {echo.role = "state", echo.name = "step", echo.init = #echo.init<constant, 0>})
    -> (tensor<f32> {echo.loss, echo.name = "loss"}, tensor<i64> {echo.aliases_argument = 2 : i64}) {
  %start = echo.constant dense<0> : tensor<i64>
  %one = echo.constant dense<1> : tensor<i64>
  %y, %mask = echo.dropout %x, %seed, %step, %start {rate = 0.2 : f64}
      : (tensor<23x129xf32>, tensor<i64>, tensor<i64>, tensor<i64>)
        -> (tensor<23x129xf32>, tensor<23x129xi1>)
  %0 = echo.tanh %y : (tensor<23x129xf32>) -> tensor<23x129xf32>
  %loss = echo.reduce sum %0 {dims = array<i64: 0, 1>} : (tensor<23x129xf32>) -> tensor<f32>
  %next = echo.add %step, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %loss, %next : tensor<f32>, tensor<i64>
}

// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What cuBLAS computes, for several types: transposed operands, batches,
// a bias, sums in place, extents that no vector divides.

!t = f32

func.func @products(
    %a: tensor<37x45x!t> {echo.role = "input", echo.name = "a"},
    %b: tensor<45x51x!t> {echo.role = "input", echo.name = "b"},
    %w: tensor<51x45x!t> {echo.role = "input", echo.name = "w"},
    %bias: tensor<51x!t> {echo.role = "input", echo.name = "bias"},
    %c: tensor<37x51x!t> {echo.role = "input", echo.name = "c"},
    %q: tensor<6x13x24x!t> {echo.role = "input", echo.name = "q"},
    %k: tensor<6x17x24x!t> {echo.role = "input", echo.name = "k"},
    %v: tensor<6x17x24x!t> {echo.role = "input", echo.name = "v"},
    %long: tensor<700x8x!t> {echo.role = "input", echo.name = "long"})
    -> (tensor<37x51x!t> {echo.name = "plain"}, tensor<37x51x!t> {echo.name = "linear"},
        tensor<37x51x!t> {echo.name = "added"}, tensor<45x51x!t> {echo.name = "transposed"},
        tensor<6x13x17x!t> {echo.name = "scores"}, tensor<6x13x24x!t> {echo.name = "context"},
        tensor<8x8x!t> {echo.name = "long_sum"}) {
  %0 = echo.matmul %a, %b : (tensor<37x45x!t>, tensor<45x51x!t>) -> tensor<37x51x!t>
  %1 = echo.linear %a, %w, %bias : (tensor<37x45x!t>, tensor<51x45x!t>, tensor<51x!t>) -> tensor<37x51x!t>
  %2 = echo.matmul_add %c, %a, %b : (tensor<37x51x!t>, tensor<37x45x!t>, tensor<45x51x!t>) -> tensor<37x51x!t>
  %3 = echo.matmul %a, %c {transpose_lhs = true} : (tensor<37x45x!t>, tensor<37x51x!t>) -> tensor<45x51x!t>
  %4 = echo.matmul %q, %k {transpose_rhs = true} : (tensor<6x13x24x!t>, tensor<6x17x24x!t>) -> tensor<6x13x17x!t>
  %5 = echo.matmul %4, %v : (tensor<6x13x17x!t>, tensor<6x17x24x!t>) -> tensor<6x13x24x!t>
  %6 = echo.matmul %long, %long {transpose_lhs = true} : (tensor<700x8x!t>, tensor<700x8x!t>) -> tensor<8x8x!t>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<37x51x!t>, tensor<37x51x!t>, tensor<37x51x!t>, tensor<45x51x!t>,
        tensor<6x13x17x!t>, tensor<6x13x24x!t>, tensor<8x8x!t>
}

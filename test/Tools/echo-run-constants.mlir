// RUN: rm -rf %t && mkdir %t
// RUN: echo-run %s --quiet --output=%t/cpu
// RUN: echo-run %s --target=interpreter --quiet --output=%t/interpreter
// RUN: %python %S/Inputs/npy.py show %t/cpu/f32.npy %t/cpu/i32.npy %t/cpu/flags.npy %t/cpu/sparse.npy | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t/interpreter/f32.npy %t/interpreter/i32.npy %t/interpreter/flags.npy %t/interpreter/sparse.npy | FileCheck %s

// Constants as frontends write large ones.
// CHECK:      f32.npy <f4 (2,) 2.0 4.0
// CHECK-NEXT: i32.npy <i4 (2, 2) 1 2 3 4
// CHECK-NEXT: flags.npy <f4 (3,) 1.0 0.0 1.0
// CHECK-NEXT: sparse.npy <f4 (4,) 1.0 1.0 6.0 1.0
func.func @f(%x: tensor<2xf32> {echo.init = #echo.init<constant, 1.0>})
    -> (tensor<2xf32> {echo.name = "f32"}, tensor<2x2xi32> {echo.name = "i32"},
        tensor<3xf32> {echo.name = "flags"}, tensor<4xf32> {echo.name = "sparse"}) {
  %floats = echo.constant dense_resource<floats> : tensor<2xf32>
  %sum = echo.add %floats, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %ints = echo.constant dense_resource<ints> : tensor<2x2xi32>
  %bits = echo.constant dense_resource<bits> : tensor<3xi1>
  %flags = echo.convert %bits : (tensor<3xi1>) -> tensor<3xf32>
  %few = echo.constant sparse<[[2]], [5.0]> : tensor<4xf32>
  %one = echo.constant dense<1.0> : tensor<4xf32>
  %sparse = echo.add %few, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %sum, %ints, %flags, %sparse
      : tensor<2xf32>, tensor<2x2xi32>, tensor<3xf32>, tensor<4xf32>
}

// A blob begins with its alignment. 1.0 and 3.0; 1, 2, 3, 4; true, false, true.
{-#
  dialect_resources: {
    builtin: {
      floats: "0x040000000000803F00004040",
      ints: "0x0400000001000000020000000300000004000000",
      bits: "0x01000000010001"
    }
  }
#-}

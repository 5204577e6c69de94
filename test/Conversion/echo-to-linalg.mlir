// RUN: echo-opt %s --convert-echo-to-linalg | FileCheck %s

// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[$KEEP:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[$SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$BACK:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 7)>

// Broadcasting is a map.
// CHECK-LABEL: func.func private @add(
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$ROW]], #[[$ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK:           arith.addf
func.func private @add(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> attributes {echo.kernel} {
  %0 = echo.add %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// f16 accumulates in f32 and rounds once, after the division.
// CHECK-LABEL: func.func private @mean(
// CHECK:         arith.extf
// CHECK:         linalg.fill
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$KEEP]]], iterator_types = ["parallel", "reduction"]}
// CHECK:           arith.addf %{{.*}}, %{{.*}} : f32
// CHECK:         arith.divf
// CHECK:         arith.truncf %{{.*}} : f32 to f16
func.func private @mean(%a: tensor<4x8xf16>) -> tensor<4xf16> attributes {echo.kernel} {
  %0 = echo.reduce mean %a {dims = array<i64: 1>} : (tensor<4x8xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// A sum over dimensions that aren't adjacent is two sums, the inner one first.
// CHECK-LABEL: func.func private @groups(
// CHECK:         iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:         iterator_types = ["reduction", "parallel"]
func.func private @groups(%a: tensor<4x8x3xf32>) -> tensor<8xf32> attributes {echo.kernel} {
  %0 = echo.reduce sum %a {dims = array<i64: 0, 2>} : (tensor<4x8x3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @softmax(
// CHECK-NOT:     echo.softmax
// CHECK:         arith.maximumf
// CHECK:         indexing_maps = [#[[$ID]], #[[$COLUMN]], #[[$ID]]]
// CHECK:           arith.subf
// CHECK:         arith.divf
// CHECK:         return
func.func private @softmax(%a: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {echo.kernel} {
  %0 = echo.softmax %a {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func private @moves(
// CHECK:         indexing_maps = [#[[$SWAP]], #[[$ID]]]
// CHECK:         indexing_maps = [#[[$BACK]], #[[$ID]]]
// CHECK:         tensor.extract_slice %{{.*}}[1, 2] [2, 3] [1, 2]
// CHECK:         tensor.concat dim(1)
// CHECK:         tensor.pad %{{.*}} low[0, 1] high[0, 2]
func.func private @moves(%a: tensor<4x8xf32>, %v: tensor<f32>) -> (tensor<8x4xf32>, tensor<4x8xf32>, tensor<2x3xf32>, tensor<4x16xf32>, tensor<4x11xf32>) attributes {echo.kernel} {
  %0 = echo.transpose %a {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = echo.reverse %a {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = echo.slice %a {offsets = array<i64: 1, 2>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 2>} : (tensor<4x8xf32>) -> tensor<2x3xf32>
  %3 = echo.concat %a, %a {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %4 = echo.pad %a, %v {low = array<i64: 0, 1>, high = array<i64: 0, 2>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x11xf32>
  return %0, %1, %2, %3, %4 : tensor<8x4xf32>, tensor<4x8xf32>, tensor<2x3xf32>, tensor<4x16xf32>, tensor<4x11xf32>
}

// No offset is inside a dimension of no elements.
// CHECK-LABEL: func.func private @empty_parts(
// CHECK-NOT:     tensor.extract_slice
// CHECK-COUNT-3: linalg.fill {{.*}} tensor<0x2xf32>
func.func private @empty_parts(%a: tensor<0x4xf32>)
    -> (tensor<0x2xf32>, tensor<0x2xf32>, tensor<0x2xf32>) attributes {echo.kernel} {
  %0 = echo.slice %a {offsets = array<i64: 0, 1>, sizes = array<i64: 0, 2>, strides = array<i64: 1, 2>} : (tensor<0x4xf32>) -> tensor<0x2xf32>
  %1:2 = echo.split %a {axis = 1 : i64} : (tensor<0x4xf32>) -> (tensor<0x2xf32>, tensor<0x2xf32>)
  return %0, %1#0, %1#1 : tensor<0x2xf32>, tensor<0x2xf32>, tensor<0x2xf32>
}

// Functions that aren't kernels stay.
// CHECK-LABEL: func.func @host(
// CHECK:         echo.tanh
func.func @host(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = echo.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

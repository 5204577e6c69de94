// RUN: echo-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func @reshape
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>
// CHECK-DAG: %[[ONE:.*]] = echo.reshape %[[A]] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-DAG: %[[C:.*]] = echo.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
// CHECK: return %[[A]], %[[A]], %[[ONE]], %[[C]]
func.func @reshape(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x2xi32>) {
  %0 = echo.reshape %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = echo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  %2 = echo.reshape %1 : (tensor<6xf32>) -> tensor<2x3xf32>
  %3 = echo.reshape %1 : (tensor<6xf32>) -> tensor<3x2xf32>
  %4 = echo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %5 = echo.reshape %4 : (tensor<4xi32>) -> tensor<2x2xi32>
  return %0, %2, %3, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x2xi32>
}

// Dimension i of the result is dimension outer[i] of the middle, which is
// inner[outer[i]] of the operand: inner = (2, 0, 1), outer = (1, 0, 2) give
// (0, 2, 1).
// CHECK-LABEL: func @transpose
// CHECK-SAME: %[[A:.*]]: tensor<2x3x4xf32>
// CHECK-DAG: %[[T:.*]] = echo.transpose %[[A]] {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
// CHECK-DAG: %[[C:.*]] = echo.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
// CHECK: return %[[A]], %[[T]], %[[A]], %[[C]]
func.func @transpose(%a: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x4x3xf32>, tensor<2x3x4xf32>, tensor<3x2xi32>) {
  %0 = echo.transpose %a {permutation = array<i64: 0, 1, 2>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = echo.transpose %a {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %2 = echo.transpose %1 {permutation = array<i64: 1, 0, 2>} : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>
  %3 = echo.transpose %1 {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  %4 = echo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %5 = echo.transpose %4 {permutation = array<i64: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  return %0, %2, %3, %5 : tensor<2x3x4xf32>, tensor<2x4x3xf32>, tensor<2x3x4xf32>, tensor<3x2xi32>
}

// A square matrix keeps its type when transposed, but not its elements.
// CHECK-LABEL: func @transpose_square
// CHECK: echo.transpose
func.func @transpose_square(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = echo.transpose %a {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK-LABEL: func @broadcast
// CHECK-SAME: %[[A:.*]]: tensor<3xf32>
// CHECK-DAG: %[[B:.*]] = echo.broadcast %[[A]] : (tensor<3xf32>) -> tensor<4x2x3xf32>
// CHECK-DAG: %[[C:.*]] = echo.constant dense<{{\[\[}}1, 1], [2, 2]]> : tensor<2x2xi32>
// CHECK-DAG: %[[S:.*]] = echo.constant dense<5> : tensor<2x2xi32>
// CHECK: return %[[A]], %[[B]], %[[C]], %[[S]]
func.func @broadcast(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<4x2x3xf32>, tensor<2x2xi32>, tensor<2x2xi32>) {
  %0 = echo.broadcast %a : (tensor<3xf32>) -> tensor<3xf32>
  %1 = echo.broadcast %a : (tensor<3xf32>) -> tensor<2x3xf32>
  %2 = echo.broadcast %1 : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %3 = echo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %4 = echo.broadcast %3 : (tensor<2x1xi32>) -> tensor<2x2xi32>
  %5 = echo.constant dense<5> : tensor<i32>
  %6 = echo.broadcast %5 : (tensor<i32>) -> tensor<2x2xi32>
  return %0, %2, %4, %6 : tensor<3xf32>, tensor<4x2x3xf32>, tensor<2x2xi32>, tensor<2x2xi32>
}

// Element i of the outer slice is element 1 + 2 i of the inner one, which is
// 3 + 2 (1 + 2 i) = 5 + 4 i of the operand.
// CHECK-LABEL: func @slice
// CHECK-SAME: %[[A:.*]]: tensor<16xf32>
// CHECK-DAG: %[[S:.*]] = echo.slice %[[A]] {offsets = array<i64: 5>, sizes = array<i64: 2>, strides = array<i64: 4>} : (tensor<16xf32>) -> tensor<2xf32>
// CHECK-DAG: %[[C:.*]] = echo.constant dense<[2, 4]> : tensor<2xi32>
// CHECK: return %[[A]], %[[S]], %[[C]]
func.func @slice(%a: tensor<16xf32>) -> (tensor<16xf32>, tensor<2xf32>, tensor<2xi32>) {
  %0 = echo.slice %a {offsets = array<i64: 0>, sizes = array<i64: 16>, strides = array<i64: 1>} : (tensor<16xf32>) -> tensor<16xf32>
  %1 = echo.slice %a {offsets = array<i64: 3>, sizes = array<i64: 5>, strides = array<i64: 2>} : (tensor<16xf32>) -> tensor<5xf32>
  %2 = echo.slice %1 {offsets = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 2>} : (tensor<5xf32>) -> tensor<2xf32>
  %3 = echo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %4 = echo.slice %3 {offsets = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 2>} : (tensor<4xi32>) -> tensor<2xi32>
  return %0, %2, %4 : tensor<16xf32>, tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: func @pad
// CHECK-SAME: %[[A:.*]]: tensor<2xf32>
// CHECK: %[[C:.*]] = echo.constant dense<[9, 1, 2, 9, 9]> : tensor<5xi32>
// CHECK: return %[[A]], %[[C]]
func.func @pad(%a: tensor<2xf32>, %v: tensor<f32>) -> (tensor<2xf32>, tensor<5xi32>) {
  %0 = echo.pad %a, %v {low = array<i64: 0>, high = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = echo.constant dense<[1, 2]> : tensor<2xi32>
  %2 = echo.constant dense<9> : tensor<i32>
  %3 = echo.pad %1, %2 {low = array<i64: 1>, high = array<i64: 2>} : (tensor<2xi32>, tensor<i32>) -> tensor<5xi32>
  return %0, %3 : tensor<2xf32>, tensor<5xi32>
}

// CHECK-LABEL: func @concat
// CHECK-SAME: %[[A:.*]]: tensor<4x2xf32>, %[[E:.*]]: tensor<0x2xf32>
// CHECK-DAG: %[[TWO:.*]] = echo.concat %[[A]], %[[A]] {axis = 0 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
// CHECK-DAG: %[[C:.*]] = echo.constant dense<{{\[\[}}1, 2, 5], [3, 4, 6]]> : tensor<2x3xi32>
// CHECK: return %[[A]], %[[TWO]], %[[A]], %[[C]]
func.func @concat(%a: tensor<4x2xf32>, %e: tensor<0x2xf32>) -> (tensor<4x2xf32>, tensor<8x2xf32>, tensor<4x2xf32>, tensor<2x3xi32>) {
  %0 = echo.concat %a {axis = 0 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = echo.concat %a, %e, %a {axis = 0 : i64} : (tensor<4x2xf32>, tensor<0x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %2:2 = echo.split %a {axis = 0 : i64} : (tensor<4x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  %3 = echo.concat %2#0, %2#1 {axis = 0 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %4 = echo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %5 = echo.constant dense<[[5], [6]]> : tensor<2x1xi32>
  %6 = echo.concat %4, %5 {axis = 1 : i64} : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
  return %0, %1, %3, %6 : tensor<4x2xf32>, tensor<8x2xf32>, tensor<4x2xf32>, tensor<2x3xi32>
}

// Parts in another order aren't the whole.
// CHECK-LABEL: func @concat_swapped
// CHECK: echo.concat
func.func @concat_swapped(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = echo.split %a {axis = 0 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %1 = echo.concat %0#1, %0#0 {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Neighbouring parts of one tensor are a view of it, through reshapes: all of
// it, or rows 2 to 5 of 6.
// CHECK-LABEL: func @concat_neighbours
// CHECK-SAME: %[[A:.*]]: tensor<3x2x5xf32>
// CHECK: %[[ALL:.*]] = echo.reshape %[[A]] : (tensor<3x2x5xf32>) -> tensor<6x5xf32>
// CHECK: %[[PART:.*]] = echo.slice %{{.*}} {offsets = array<i64: 2, 0>, sizes = array<i64: 4, 5>, strides = array<i64: 1, 1>} : (tensor<6x5xf32>) -> tensor<4x5xf32>
// CHECK: return %[[ALL]], %[[PART]]
func.func @concat_neighbours(%a: tensor<3x2x5xf32>) -> (tensor<6x5xf32>, tensor<4x5xf32>) {
  %0:3 = echo.split %a {axis = 0 : i64} : (tensor<3x2x5xf32>) -> (tensor<1x2x5xf32>, tensor<1x2x5xf32>, tensor<1x2x5xf32>)
  %1 = echo.reshape %0#0 : (tensor<1x2x5xf32>) -> tensor<2x5xf32>
  %2 = echo.reshape %0#1 : (tensor<1x2x5xf32>) -> tensor<2x5xf32>
  %3 = echo.reshape %0#2 : (tensor<1x2x5xf32>) -> tensor<2x5xf32>
  %4 = echo.concat %1, %2, %3 {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<6x5xf32>
  %5 = echo.concat %2, %3 {axis = 0 : i64} : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  return %4, %5 : tensor<6x5xf32>, tensor<4x5xf32>
}

// CHECK-LABEL: func @reverse
// CHECK-SAME: %[[A:.*]]: tensor<1x2x3xf32>
// CHECK: %[[C:.*]] = echo.constant dense<{{\[\[}}3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>
// CHECK: return %[[A]], %[[A]], %[[C]]
func.func @reverse(%a: tensor<1x2x3xf32>) -> (tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<2x3xi32>) {
  %0 = echo.reverse %a {axes = array<i64: 0>} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %1 = echo.reverse %a {axes = array<i64: 1, 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %2 = echo.reverse %1 {axes = array<i64: 2, 1>} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %3 = echo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %4 = echo.reverse %3 {axes = array<i64: 1>} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0, %2, %4 : tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<2x3xi32>
}

// A sum of one element starts at 0.0, so that it isn't -0.0 for -0.0.
// CHECK-LABEL: func @reduce
// CHECK-SAME: %[[A:.*]]: tensor<1x3xf32>
// CHECK: %[[SUM:.*]] = echo.reduce sum %[[A]]
// CHECK: return %[[A]], %[[A]], %[[SUM]]
func.func @reduce(%a: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
  %0 = echo.reduce sum %a {dims = array<i64>} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = echo.reduce max %a {dims = array<i64: 0>, keepdims = true} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %2 = echo.reduce sum %a {dims = array<i64: 0>, keepdims = true} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return %0, %1, %2 : tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}

// RUN: echo-opt %s | FileCheck %s
// RUN: echo-opt %s | echo-opt | FileCheck %s
// RUN: echo-opt %s --mlir-print-op-generic | echo-opt | FileCheck %s
// RUN: echo-opt %s --emit-bytecode | echo-opt | FileCheck %s

// CHECK-LABEL: func @binary
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>, %[[I:.*]]: tensor<2x3xi32>
func.func @binary(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %i: tensor<2x3xi32>) {
  // CHECK: echo.add %[[A]], %[[B]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %0 = echo.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.sub %[[A]], %[[B]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = echo.sub %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.mul %[[A]], %[[B]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = echo.mul %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.div %[[A]], %[[B]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = echo.div %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.rem %[[I]], %[[I]] : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %4 = echo.rem %i, %i : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  // CHECK: echo.max %[[A]], %[[B]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = echo.max %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.min %[[A]], %[[B]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %6 = echo.min %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.pow %[[A]], %[[B]] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %7 = echo.pow %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func @unary
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>
func.func @unary(%a: tensor<2x3xf32>) {
  // CHECK: echo.neg %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = echo.neg %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.abs %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = echo.abs %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.sign %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = echo.sign %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.exp %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = echo.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.log %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = echo.log %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.sqrt %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = echo.sqrt %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.rsqrt %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = echo.rsqrt %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.tanh %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = echo.tanh %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.sigmoid %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = echo.sigmoid %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.relu %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = echo.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.gelu %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = echo.gelu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.erf %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = echo.erf %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func @compare_select_convert
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<f32>
func.func @compare_select_convert(%a: tensor<2x3xf32>, %b: tensor<f32>) {
  // CHECK: %[[P:.*]] = echo.compare eq %[[A]], %[[B]] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
  %0 = echo.compare eq %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
  // CHECK: echo.compare ne
  %1 = echo.compare ne %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
  // CHECK: echo.compare lt
  %2 = echo.compare lt %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
  // CHECK: echo.compare le
  %3 = echo.compare le %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
  // CHECK: echo.compare gt
  %4 = echo.compare gt %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
  // CHECK: echo.compare ge
  %5 = echo.compare ge %a, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
  // CHECK: echo.select %[[P]], %[[A]], %[[B]] : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %6 = echo.select %0, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK: echo.convert %[[A]] : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  %7 = echo.convert %a : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  return
}

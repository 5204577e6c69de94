// RUN: echo-opt %s -canonicalize | FileCheck %s

// Bits 0, 2 and 33: 1 + 4 = 5, and 2. Neither NaN nor a zero is positive.
// CHECK-LABEL: func @binarize
// CHECK-DAG: %[[FLAGS:.*]] = echo.constant dense<[5, 2]> : tensor<2xi32>
// CHECK-DAG: %[[SIGNS:.*]] = echo.constant dense<4> : tensor<1xi32>
// CHECK-DAG: %[[ALL:.*]] = echo.constant dense<-1> : tensor<2x1xi32>
// CHECK-DAG: %[[INTS:.*]] = echo.constant dense<2> : tensor<1xi32>
// CHECK: return %[[FLAGS]], %[[SIGNS]], %[[ALL]], %[[INTS]]
func.func @binarize() -> (tensor<2xi32>, tensor<1xi32>, tensor<2x1xi32>, tensor<1xi32>) {
  %flags = echo.constant dense<[true, false, true, false, false, false, false, false, false, false,
                                false, false, false, false, false, false, false, false, false, false,
                                false, false, false, false, false, false, false, false, false, false,
                                false, false, false, true]> : tensor<34xi1>
  %0 = echo.binarize %flags : (tensor<34xi1>) -> tensor<2xi32>
  %signs = echo.constant dense<[[-0.0, 0x7FC00000], [1.0e-30, -1.0]]> : tensor<2x2xf32>
  %1 = echo.binarize %signs : (tensor<2x2xf32>) -> tensor<1xi32>
  %all = echo.constant dense<1.0> : tensor<2x32xf32>
  %2 = echo.binarize %all : (tensor<2x32xf32>) -> tensor<2x1xi32>
  %ints = echo.constant dense<[-3, 7, 0]> : tensor<3xi8>
  %3 = echo.binarize %ints : (tensor<3xi8>) -> tensor<1xi32>
  return %0, %1, %2, %3 : tensor<2xi32>, tensor<1xi32>, tensor<2x1xi32>, tensor<1xi32>
}

// 6 is 2 + 4.
// CHECK-LABEL: func @debinarize
// CHECK: %[[C:.*]] = echo.constant dense<{{\[\[}}false, true], [true, false]]> : tensor<2x2xi1>
// CHECK: return %[[C]]
func.func @debinarize() -> tensor<2x2xi1> {
  %0 = echo.constant dense<6> : tensor<1xi32>
  %1 = echo.debinarize %0 : (tensor<1xi32>) -> tensor<2x2xi1>
  return %1 : tensor<2x2xi1>
}

// Whole words are what they were; bits without an element would be lost. What
// was packed stays so.
// CHECK-LABEL: func @pairs
// CHECK-SAME: %[[W:.*]]: tensor<2xi32>, %[[F:.*]]: tensor<64xi1>
// CHECK: %[[D:.*]] = echo.debinarize %[[W]] : (tensor<2xi32>) -> tensor<63xi1>
// CHECK: %[[P:.*]] = echo.binarize %[[D]]
// CHECK: %[[B:.*]] = echo.binarize %[[F]]
// CHECK: %[[U:.*]] = echo.debinarize %[[B]]
// CHECK: return %[[W]], %[[P]], %[[U]]
func.func @pairs(%w: tensor<2xi32>, %f: tensor<64xi1>) -> (tensor<2xi32>, tensor<2xi32>, tensor<64xi1>) {
  %0 = echo.debinarize %w : (tensor<2xi32>) -> tensor<4x16xi1>
  %1 = echo.binarize %0 : (tensor<4x16xi1>) -> tensor<2xi32>
  %2 = echo.debinarize %w : (tensor<2xi32>) -> tensor<63xi1>
  %3 = echo.binarize %2 : (tensor<63xi1>) -> tensor<2xi32>
  %4 = echo.binarize %f : (tensor<64xi1>) -> tensor<2xi32>
  %5 = echo.debinarize %4 : (tensor<2xi32>) -> tensor<64xi1>
  return %1, %3, %5 : tensor<2xi32>, tensor<2xi32>, tensor<64xi1>
}

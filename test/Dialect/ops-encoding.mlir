// RUN: echo-opt %s | FileCheck %s
// RUN: echo-opt %s | echo-opt | FileCheck %s
// RUN: echo-opt %s --mlir-print-op-generic | echo-opt | FileCheck %s
// RUN: echo-opt %s --emit-bytecode | echo-opt | FileCheck %s

// CHECK-LABEL: func @binarize
// CHECK-SAME: %[[A:.*]]: tensor<4x64xf32>, %[[B:.*]]: tensor<3x21xi1>, %[[C:.*]]: tensor<bf16>, %[[D:.*]]: tensor<0x5xi8>, %[[E:.*]]: tensor<?x64xf64>
func.func @binarize(%a: tensor<4x64xf32>, %b: tensor<3x21xi1>, %c: tensor<bf16>, %d: tensor<0x5xi8>, %e: tensor<?x64xf64>) {
  // CHECK: echo.binarize %[[A]] : (tensor<4x64xf32>) -> tensor<4x2xi32>
  %0 = echo.binarize %a : (tensor<4x64xf32>) -> tensor<4x2xi32>
  // CHECK: echo.binarize %[[A]] : (tensor<4x64xf32>) -> tensor<8xi32>
  %1 = echo.binarize %a : (tensor<4x64xf32>) -> tensor<8xi32>
  // 63 bits.
  // CHECK: echo.binarize %[[B]] : (tensor<3x21xi1>) -> tensor<2xi32>
  %2 = echo.binarize %b : (tensor<3x21xi1>) -> tensor<2xi32>
  // CHECK: echo.binarize %[[C]] : (tensor<bf16>) -> tensor<1xi32>
  %3 = echo.binarize %c : (tensor<bf16>) -> tensor<1xi32>
  // CHECK: echo.binarize %[[D]] : (tensor<0x5xi8>) -> tensor<0xi32>
  %4 = echo.binarize %d : (tensor<0x5xi8>) -> tensor<0xi32>
  // CHECK: echo.binarize %[[E]] : (tensor<?x64xf64>) -> tensor<?x2xi32>
  %5 = echo.binarize %e : (tensor<?x64xf64>) -> tensor<?x2xi32>
  return
}

// CHECK-LABEL: func @debinarize
// CHECK-SAME: %[[A:.*]]: tensor<4x2xi32>, %[[B:.*]]: tensor<?xi32>, %[[C:.*]]: tensor<1xi32>
func.func @debinarize(%a: tensor<4x2xi32>, %b: tensor<?xi32>, %c: tensor<1xi32>) {
  // CHECK: echo.debinarize %[[A]] : (tensor<4x2xi32>) -> tensor<4x64xi1>
  %0 = echo.debinarize %a : (tensor<4x2xi32>) -> tensor<4x64xi1>
  // CHECK: echo.debinarize %[[A]] : (tensor<4x2xi32>) -> tensor<15x17xi1>
  %1 = echo.debinarize %a : (tensor<4x2xi32>) -> tensor<15x17xi1>
  // CHECK: echo.debinarize %[[B]] : (tensor<?xi32>) -> tensor<?x3xi1>
  %2 = echo.debinarize %b : (tensor<?xi32>) -> tensor<?x3xi1>
  // CHECK: echo.debinarize %[[C]] : (tensor<1xi32>) -> tensor<i1>
  %3 = echo.debinarize %c : (tensor<1xi32>) -> tensor<i1>
  return
}

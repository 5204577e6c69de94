// RUN: echo-opt %s -canonicalize | FileCheck %s

// -0.0 is neutral in a float sum; 0.0 isn't, as -0.0 + 0.0 is 0.0.
// CHECK-LABEL: func @add
// CHECK-SAME: %[[A:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<2xi32>, %[[B:.*]]: tensor<2xi1>
// CHECK: %[[KEPT:.*]] = echo.add %[[A]]
// CHECK-NEXT: return %[[A]], %[[I]], %[[B]], %[[KEPT]]
func.func @add(%a: tensor<2xf32>, %i: tensor<2xi32>, %b: tensor<2xi1>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xi1>, tensor<2xf32>) {
  %m0 = echo.constant dense<-0.0> : tensor<f32>
  %p0 = echo.constant dense<0.0> : tensor<f32>
  %i0 = echo.constant dense<0> : tensor<i32>
  %false = echo.constant dense<false> : tensor<i1>
  %0 = echo.add %m0, %a : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = echo.add %i, %i0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %2 = echo.add %b, %false : (tensor<2xi1>, tensor<i1>) -> tensor<2xi1>
  %3 = echo.add %a, %p0 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xi32>, tensor<2xi1>, tensor<2xf32>
}

// An operand that broadcasting changes isn't the result.
// CHECK-LABEL: func @add_broadcasts
// CHECK: echo.add
func.func @add_broadcasts(%a: tensor<2xf32>) -> tensor<3x2xf32> {
  %m0 = echo.constant dense<-0.0> : tensor<3x1xf32>
  %0 = echo.add %a, %m0 : (tensor<2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// x - 0.0 is x; x - -0.0 isn't for -0.0; x - x is 0 for integers alone.
// CHECK-LABEL: func @sub
// CHECK-SAME: %[[A:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<2xi32>
// CHECK-DAG: %[[ZERO:.*]] = echo.constant dense<0> : tensor<2xi32>
// CHECK-DAG: %[[KEPT:.*]] = echo.sub %[[A]], %{{.*}} : (tensor<2xf32>, tensor<f32>)
// CHECK-DAG: %[[SELF:.*]] = echo.sub %[[A]], %[[A]]
// CHECK: return %[[A]], %[[KEPT]], %[[SELF]], %[[I]], %[[ZERO]]
func.func @sub(%a: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>) {
  %p0 = echo.constant dense<0.0> : tensor<f32>
  %m0 = echo.constant dense<-0.0> : tensor<f32>
  %i0 = echo.constant dense<0> : tensor<i32>
  %0 = echo.sub %a, %p0 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = echo.sub %a, %m0 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = echo.sub %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = echo.sub %i, %i0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %4 = echo.sub %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>
}

// x * 0.0 is NaN for infinite x.
// CHECK-LABEL: func @mul
// CHECK-SAME: %[[A:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<2xi32>, %[[B:.*]]: tensor<2xi1>
// CHECK-DAG: %[[ZERO:.*]] = echo.constant dense<0> : tensor<2xi32>
// CHECK-DAG: %[[KEPT:.*]] = echo.mul %[[A]]
// CHECK: return %[[A]], %[[KEPT]], %[[I]], %[[ZERO]], %[[B]]
func.func @mul(%a: tensor<2xf32>, %i: tensor<2xi32>, %b: tensor<2xi1>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi1>) {
  %one = echo.constant dense<1.0> : tensor<f32>
  %zero = echo.constant dense<0.0> : tensor<f32>
  %i0 = echo.constant dense<0> : tensor<i32>
  %i1 = echo.constant dense<1> : tensor<i32>
  %true = echo.constant dense<true> : tensor<i1>
  %0 = echo.mul %a, %one : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = echo.mul %a, %zero : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = echo.mul %i, %i1 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %3 = echo.mul %i, %i0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %4 = echo.mul %b, %true : (tensor<2xi1>, tensor<i1>) -> tensor<2xi1>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi1>
}

// CHECK-LABEL: func @div_max_min
// CHECK-SAME: %[[A:.*]]: tensor<2xf32>, %[[I:.*]]: tensor<2xi32>
// CHECK-NEXT: return %[[A]], %[[I]], %[[A]], %[[I]]
func.func @div_max_min(%a: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi32>) {
  %one = echo.constant dense<1.0> : tensor<f32>
  %i1 = echo.constant dense<1> : tensor<i32>
  %0 = echo.div %a, %one : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = echo.div %i, %i1 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %2 = echo.max %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = echo.min %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: func @unary
// CHECK-SAME: %[[A:.*]]: tensor<2xf32>
// CHECK-DAG: %[[ABS:.*]] = echo.abs %[[A]]
// CHECK-DAG: %[[RELU:.*]] = echo.relu %[[A]]
// CHECK: return %[[A]], %[[ABS]], %[[RELU]]
func.func @unary(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = echo.neg %a : (tensor<2xf32>) -> tensor<2xf32>
  %1 = echo.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = echo.abs %a : (tensor<2xf32>) -> tensor<2xf32>
  %3 = echo.abs %2 : (tensor<2xf32>) -> tensor<2xf32>
  %4 = echo.relu %a : (tensor<2xf32>) -> tensor<2xf32>
  %5 = echo.relu %4 : (tensor<2xf32>) -> tensor<2xf32>
  return %1, %3, %5 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func @select
// CHECK-SAME: %[[P:.*]]: tensor<2xi1>, %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>
// CHECK-NEXT: return %[[A]], %[[A]], %[[B]]
func.func @select(%p: tensor<2xi1>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %true = echo.constant dense<true> : tensor<i1>
  %false = echo.constant dense<false> : tensor<i1>
  %0 = echo.select %p, %a, %a : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = echo.select %true, %a, %b : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = echo.select %false, %a, %b : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// f16 is part of f32, not of bf16; i8 is part of i32.
// CHECK-LABEL: func @convert
// CHECK-SAME: %[[A:.*]]: tensor<2xf16>, %[[I:.*]]: tensor<2xi8>
// CHECK: %[[BACK:.*]] = echo.convert %{{.*}} : (tensor<2xbf16>) -> tensor<2xf16>
// CHECK-NEXT: return %[[A]], %[[A]], %[[BACK]], %[[I]]
func.func @convert(%a: tensor<2xf16>, %i: tensor<2xi8>) -> (tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xi8>) {
  %0 = echo.convert %a : (tensor<2xf16>) -> tensor<2xf16>
  %1 = echo.convert %a : (tensor<2xf16>) -> tensor<2xf32>
  %2 = echo.convert %1 : (tensor<2xf32>) -> tensor<2xf16>
  %3 = echo.convert %a : (tensor<2xf16>) -> tensor<2xbf16>
  %4 = echo.convert %3 : (tensor<2xbf16>) -> tensor<2xf16>
  %5 = echo.convert %i : (tensor<2xi8>) -> tensor<2xi32>
  %6 = echo.convert %5 : (tensor<2xi32>) -> tensor<2xi8>
  return %0, %2, %4, %6 : tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xi8>
}

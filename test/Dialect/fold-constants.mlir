// RUN: echo-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func @add
// In i8, 100 + 100 = 200 - 256; in i1 a sum is an or.
// CHECK-DAG: %[[A:.*]] = echo.constant dense<[3.000000e+00, -1.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[B:.*]] = echo.constant dense<-56> : tensor<i8>
// CHECK-DAG: %[[C:.*]] = echo.constant dense<[true, true, false]> : tensor<3xi1>
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @add() -> (tensor<2xf32>, tensor<i8>, tensor<3xi1>) {
  %0 = echo.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %1 = echo.constant dense<2.0> : tensor<f32>
  %2 = echo.add %0, %1 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = echo.constant dense<100> : tensor<i8>
  %4 = echo.add %3, %3 : (tensor<i8>, tensor<i8>) -> tensor<i8>
  %5 = echo.constant dense<[true, false, false]> : tensor<3xi1>
  %6 = echo.constant dense<[true, true, false]> : tensor<3xi1>
  %7 = echo.add %5, %6 : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  return %2, %4, %7 : tensor<2xf32>, tensor<i8>, tensor<3xi1>
}

// [10, 20]^T - [1, 2, 3] broadcasts.
// CHECK-LABEL: func @sub_broadcast
// CHECK: echo.constant dense<{{\[\[}}9, 8, 7], [19, 18, 17]]> : tensor<2x3xi32>
func.func @sub_broadcast() -> tensor<2x3xi32> {
  %0 = echo.constant dense<[[10], [20]]> : tensor<2x1xi32>
  %1 = echo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %2 = echo.sub %0, %1 : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return %2 : tensor<2x3xi32>
}

// f16: 2048 * (1 + 2^-10) = 2050, which is even and so an f16.
// CHECK-LABEL: func @mul
// CHECK: echo.constant dense<2.050000e+03> : tensor<f16>
func.func @mul() -> tensor<f16> {
  %0 = echo.constant dense<2048.0> : tensor<f16>
  %1 = echo.constant dense<1.0009765625> : tensor<f16>
  %2 = echo.mul %0, %1 : (tensor<f16>, tensor<f16>) -> tensor<f16>
  return %2 : tensor<f16>
}

// -7 / 2 = -3 toward zero, 5 / 0 = 0, least / -1 = least; 1.0 / 0.0 = inf.
// CHECK-LABEL: func @div
// CHECK-DAG: %[[I:.*]] = echo.constant dense<[-3, 0, -128]> : tensor<3xi8>
// CHECK-DAG: %[[F:.*]] = echo.constant dense<[0x7F800000, 5.000000e-01]> : tensor<2xf32>
// CHECK: return %[[I]], %[[F]]
func.func @div() -> (tensor<3xi8>, tensor<2xf32>) {
  %0 = echo.constant dense<[-7, 5, -128]> : tensor<3xi8>
  %1 = echo.constant dense<[2, 0, -1]> : tensor<3xi8>
  %2 = echo.div %0, %1 : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  %3 = echo.constant dense<1.0> : tensor<f32>
  %4 = echo.constant dense<[0.0, 2.0]> : tensor<2xf32>
  %5 = echo.div %3, %4 : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return %2, %5 : tensor<3xi8>, tensor<2xf32>
}

// -7 = -3 * 2 - 1; by zero 0; least by -1 leaves 0.
// CHECK-LABEL: func @rem
// CHECK: echo.constant dense<[-1, 0, 0]> : tensor<3xi8>
func.func @rem() -> tensor<3xi8> {
  %0 = echo.constant dense<[-7, 5, -128]> : tensor<3xi8>
  %1 = echo.constant dense<[2, 0, -1]> : tensor<3xi8>
  %2 = echo.rem %0, %1 : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  return %2 : tensor<3xi8>
}

// CHECK-LABEL: func @max_min
// CHECK-DAG: %[[MAX:.*]] = echo.constant dense<[2.000000e+00, 5.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[MIN:.*]] = echo.constant dense<[-1, -4]> : tensor<2xi32>
// CHECK: return %[[MAX]], %[[MIN]]
func.func @max_min() -> (tensor<2xf32>, tensor<2xi32>) {
  %0 = echo.constant dense<[1.0, 5.0]> : tensor<2xf32>
  %1 = echo.constant dense<2.0> : tensor<f32>
  %2 = echo.max %0, %1 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = echo.constant dense<[7, -4]> : tensor<2xi32>
  %4 = echo.constant dense<-1> : tensor<i32>
  %5 = echo.min %3, %4 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  return %2, %5 : tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: func @unary
// CHECK-DAG: %[[NEG:.*]] = echo.constant dense<[-0.000000e+00, 2.500000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[ABS:.*]] = echo.constant dense<[0.000000e+00, 2.500000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[SIGN:.*]] = echo.constant dense<[0.000000e+00, -1.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[RELU:.*]] = echo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-DAG: %[[INT:.*]] = echo.constant dense<[-1, 0, 1]> : tensor<3xi32>
// CHECK: return %[[NEG]], %[[ABS]], %[[SIGN]], %[[RELU]], %[[INT]]
func.func @unary() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xi32>) {
  %0 = echo.constant dense<[0.0, -2.5]> : tensor<2xf32>
  %1 = echo.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = echo.abs %0 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = echo.sign %0 : (tensor<2xf32>) -> tensor<2xf32>
  %4 = echo.relu %0 : (tensor<2xf32>) -> tensor<2xf32>
  %5 = echo.constant dense<[-9, 0, 4]> : tensor<3xi32>
  %6 = echo.sign %5 : (tensor<3xi32>) -> tensor<3xi32>
  return %1, %2, %3, %4, %6 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xi32>
}

// 0x7FC00000 is a NaN: only ne holds.
// CHECK-LABEL: func @compare
// CHECK-DAG: %[[EQ:.*]] = echo.constant dense<[false, true, false]> : tensor<3xi1>
// CHECK-DAG: %[[NE:.*]] = echo.constant dense<[true, false, true]> : tensor<3xi1>
// CHECK-DAG: %[[GE:.*]] = echo.constant dense<[true, true, false]> : tensor<3xi1>
// CHECK-DAG: %[[LT:.*]] = echo.constant dense<false> : tensor<3xi1>
// CHECK-DAG: %[[LE:.*]] = echo.constant dense<[false, true]> : tensor<2xi1>
// CHECK: return %[[EQ]], %[[NE]], %[[GE]], %[[LT]], %[[LE]]
func.func @compare() -> (tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<2xi1>) {
  %0 = echo.constant dense<[1.0, -0.0, 0x7FC00000]> : tensor<3xf32>
  %1 = echo.constant dense<0.0> : tensor<f32>
  %2 = echo.compare eq %0, %1 : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  %3 = echo.compare ne %0, %1 : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  %4 = echo.compare ge %0, %1 : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  %5 = echo.compare lt %0, %1 : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  %6 = echo.constant dense<[3, -2]> : tensor<2xi32>
  %7 = echo.constant dense<-2> : tensor<i32>
  %8 = echo.compare le %6, %7 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi1>
  return %2, %3, %4, %5, %8 : tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<2xi1>
}

// CHECK-LABEL: func @select
// CHECK: echo.constant dense<[1.000000e+00, 9.000000e+00]> : tensor<2xf32>
func.func @select() -> tensor<2xf32> {
  %0 = echo.constant dense<[true, false]> : tensor<2xi1>
  %1 = echo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %2 = echo.constant dense<9.0> : tensor<f32>
  %3 = echo.select %0, %1, %2 : (tensor<2xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}

// To i8: -1.5 truncates, 1e9 saturates, NaN is 0. 16777217 = 2^24 + 1 rounds to
// even in f32. 0.1 in f32 is not a bf16, but one rounding away from
// 0x3DCD = 0.10009765625. A true is 1, and -2 isn't 0.
// CHECK-LABEL: func @convert
// CHECK-DAG: %[[I:.*]] = echo.constant dense<[-1, 127, 0]> : tensor<3xi8>
// CHECK-DAG: %[[F:.*]] = echo.constant dense<0x4B800000> : tensor<f32>
// CHECK-DAG: %[[BF:.*]] = echo.constant dense<1.000980e-01> : tensor<bf16>
// CHECK-DAG: %[[B:.*]] = echo.constant dense<[true, false]> : tensor<2xi1>
// CHECK-DAG: %[[ONE:.*]] = echo.constant dense<1.000000e+00> : tensor<f32>
// CHECK: return %[[I]], %[[F]], %[[BF]], %[[B]], %[[ONE]]
func.func @convert() -> (tensor<3xi8>, tensor<f32>, tensor<bf16>, tensor<2xi1>, tensor<f32>) {
  %0 = echo.constant dense<[-1.5, 1.0e9, 0x7FC00000]> : tensor<3xf32>
  %1 = echo.convert %0 : (tensor<3xf32>) -> tensor<3xi8>
  %2 = echo.constant dense<16777217> : tensor<i32>
  %3 = echo.convert %2 : (tensor<i32>) -> tensor<f32>
  %4 = echo.constant dense<0.1> : tensor<f32>
  %5 = echo.convert %4 : (tensor<f32>) -> tensor<bf16>
  %6 = echo.constant dense<[-2, 0]> : tensor<2xi32>
  %7 = echo.convert %6 : (tensor<2xi32>) -> tensor<2xi1>
  %8 = echo.constant dense<true> : tensor<i1>
  %9 = echo.convert %8 : (tensor<i1>) -> tensor<f32>
  return %1, %3, %5, %7, %9 : tensor<3xi8>, tensor<f32>, tensor<bf16>, tensor<2xi1>, tensor<f32>
}

// Bits that aren't known: NaN payloads (inf - inf), max of zeros, relu of
// -0.0, a second rounding from f64 to f16, transcendentals.
// CHECK-LABEL: func @unknown
// CHECK: echo.sub
// CHECK: echo.max
// CHECK: echo.relu
// CHECK: echo.convert
// CHECK: echo.exp
// CHECK: echo.pow
func.func @unknown() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f16>, tensor<f32>, tensor<f32>) {
  %inf = echo.constant dense<0x7F800000> : tensor<f32>
  %p0 = echo.constant dense<0.0> : tensor<f32>
  %m0 = echo.constant dense<-0.0> : tensor<f32>
  %tenth = echo.constant dense<0.1> : tensor<f64>
  %0 = echo.sub %inf, %inf : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = echo.max %p0, %m0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = echo.relu %m0 : (tensor<f32>) -> tensor<f32>
  %3 = echo.convert %tenth : (tensor<f64>) -> tensor<f16>
  %4 = echo.exp %p0 : (tensor<f32>) -> tensor<f32>
  %5 = echo.pow %inf, %p0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %3, %4, %5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f16>, tensor<f32>, tensor<f32>
}

// 2000 elements aren't computed, a splat of an operand's shape is.
// CHECK-LABEL: func @large
// CHECK-DAG: %[[SUM:.*]] = echo.constant dense<3.000000e+00> : tensor<2000x2xf32>
// CHECK-DAG: %[[WIDE:.*]] = echo.add %{{.*}} : (tensor<2000x1xf32>, tensor<2xf32>) -> tensor<2000x2xf32>
// CHECK-DAG: %[[BROADCAST:.*]] = echo.broadcast
// CHECK: return %[[SUM]], %[[WIDE]], %[[BROADCAST]]
func.func @large() -> (tensor<2000x2xf32>, tensor<2000x2xf32>, tensor<2000xf32>) {
  %0 = echo.constant dense<1.0> : tensor<2000x2xf32>
  %1 = echo.constant dense<2.0> : tensor<f32>
  %2 = echo.add %0, %1 : (tensor<2000x2xf32>, tensor<f32>) -> tensor<2000x2xf32>
  %3 = echo.constant dense<1.0> : tensor<2000x1xf32>
  %4 = echo.constant dense<2.0> : tensor<2xf32>
  %5 = echo.add %3, %4 : (tensor<2000x1xf32>, tensor<2xf32>) -> tensor<2000x2xf32>
  %6 = echo.broadcast %1 : (tensor<f32>) -> tensor<2000xf32>
  return %2, %5, %6 : tensor<2000x2xf32>, tensor<2000x2xf32>, tensor<2000xf32>
}

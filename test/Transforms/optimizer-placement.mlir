// RUN: echo-opt %s -split-input-file --echo-optimizer='kind=sgd' | FileCheck %s

// The update follows the last reader of the old value, and the last reader of
// what may be a view of it.
// CHECK-LABEL: func.func @last_reader
func.func @last_reader(%w: tensor<2x3xf32> {echo.role = "parameter", echo.name = "w"}, %g: tensor<2x3xf32>)
    -> (tensor<6xf32>, tensor<2x3xf32>, tensor<2x3xf32> {echo.gradient_of = 0 : i64}) {
  // CHECK: %[[VIEW:.*]] = echo.reshape %[[W:.*]] :
  // CHECK-NEXT: echo.exp %[[W]]
  // CHECK-NEXT: echo.tanh %[[VIEW]]
  // CHECK-NEXT: %[[S:.*]] = echo.mul
  // CHECK-NEXT: %[[N:.*]] = echo.sub %[[W]], %[[S]]
  // CHECK-NEXT: echo.neg
  // CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[N]]
  %0 = echo.reshape %w : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = echo.exp %w : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = echo.tanh %0 : (tensor<6xf32>) -> tensor<6xf32>
  %3 = echo.neg %2 : (tensor<6xf32>) -> tensor<6xf32>
  return %3, %1, %g : tensor<6xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// bf16 is computed in f32 and rounded once.
// CHECK-LABEL: func.func @bf16
// CHECK-SAME: %[[W:.*]]: tensor<3xbf16> {{.*}}, %[[G:.*]]: tensor<3xbf16>, %[[RATE:.*]]: tensor<f32>
// CHECK-NEXT: %[[G32:.*]] = echo.convert %[[G]] : (tensor<3xbf16>) -> tensor<3xf32>
// CHECK-NEXT: %[[W32:.*]] = echo.convert %[[W]] : (tensor<3xbf16>) -> tensor<3xf32>
// CHECK-NEXT: %[[S:.*]] = echo.mul %[[G32]], %[[RATE]]
// CHECK-NEXT: %[[N32:.*]] = echo.sub %[[W32]], %[[S]]
// CHECK-NEXT: %[[N:.*]] = echo.convert %[[N32]] : (tensor<3xf32>) -> tensor<3xbf16>
// CHECK-NEXT: return %[[N]]
func.func @bf16(%w: tensor<3xbf16> {echo.role = "parameter", echo.name = "w"}, %g: tensor<3xbf16>)
    -> (tensor<3xbf16> {echo.gradient_of = 0 : i64}) {
  return %g : tensor<3xbf16>
}

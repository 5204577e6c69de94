// The packaged mlir-opt loads dialect and passes. Its own flags come before
// plugins are loaded, so passes go through --pass-pipeline.
// REQUIRES: mlir-dylib
// UNSUPPORTED: sanitized
// RUN: %mlir_opt --load-dialect-plugin=%echo_lib/EchoPlugin.so \
// RUN:   --load-pass-plugin=%echo_lib/EchoPlugin.so \
// RUN:   --pass-pipeline='builtin.module(echo-gradient)' %s | FileCheck %s
// RUN: not %mlir_opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT

// WITHOUT: Dialect `echo' not found for custom op 'echo.

// d(sum of a * a)/da = 2 a, and the loss stays the first result.
// CHECK-LABEL: func.func @f
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>
// CHECK: %[[SQUARE:.*]] = echo.mul %[[A]], %[[A]]
// CHECK: %[[LOSS:.*]] = echo.reduce
// CHECK-SAME: %[[SQUARE]]
// CHECK: return %[[LOSS]], %{{.*}} : tensor<f32>, tensor<4xf32>
func.func @f(%a: tensor<4xf32> {echo.role = "parameter", echo.name = "a"}) -> (tensor<f32> {echo.loss}) {
  %0 = echo.mul %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

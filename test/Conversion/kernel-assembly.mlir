// RUN: echo-opt %s --convert-echo-to-linalg --echo-lower-kernels --convert-echo-kernels-to-llvm \
// RUN:   | mlir-translate --mlir-to-llvmir | opt -O2 | llc -mcpu=x86-64-v3 -O2 | FileCheck %s

// Loops work on whole registers, transcendentals included, and call no library.

// CHECK-LABEL: tanh:
// CHECK-NOT:     callq
// CHECK:         vmulps {{.*}}%ymm
// CHECK:         vdivps {{.*}}%ymm
// CHECK:         vmovups %ymm{{[0-9]+}}, {{[0-9]*}}(
// CHECK:         retq
func.func private @tanh(%a: tensor<64x32xf32>) -> tensor<64x32xf32> attributes {echo.kernel} {
  %0 = echo.tanh %a : (tensor<64x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// CHECK-LABEL: exp:
// CHECK-NOT:     callq
// CHECK:         vmulps {{.*}}%ymm
// CHECK:         vmovups %ymm{{[0-9]+}}, {{[0-9]*}}(
// CHECK:         retq
func.func private @exp(%a: tensor<64x32xf32>) -> tensor<64x32xf32> attributes {echo.kernel} {
  %0 = echo.exp %a : (tensor<64x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// CHECK-LABEL: add:
// CHECK-NOT:     callq
// CHECK:         vaddps {{.*}}%ymm
// CHECK:         vmovups %ymm{{[0-9]+}}, {{[0-9]*}}(
// CHECK:         retq
func.func private @add(%a: tensor<64x32xf32>, %b: tensor<64x32xf32>) -> tensor<64x32xf32> attributes {echo.kernel} {
  %0 = echo.add %a, %b : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// RUN: echo-opt %s --convert-echo-kernels-to-llvm --split-input-file --verify-diagnostics

// expected-error @below {{expected a kernel that --echo-lower-kernels made}}
func.func private @not_lowered(%x: tensor<2xf32>) -> tensor<2xf32> attributes {echo.kernel} {
  return %x : tensor<2xf32>
}

// -----

// expected-error @below {{expected a kernel that --echo-lower-kernels made}}
func.func private @without_range(%x: memref<2xf32>) attributes {echo.kernel, echo.chunks = 1 : i64} {
  return
}

// RUN: echo-opt %s --echo-form-kernels --verify-diagnostics

func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{expected static shapes to form kernels, found 'tensor<?xf32>'}}
  %0 = echo.tanh %a : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Each fault is one diagnostic at the op, and the IR is left as it is.

// RUN: echo-opt %s --split-input-file --verify-diagnostics --echo-remat=strategy=echo
// RUN: echo-opt %s --split-input-file --verify-diagnostics --echo-print-use-refs \
// RUN:   -o /dev/null
// RUN: not echo-opt %s --split-input-file --echo-remat=strategy=echo \
// RUN:   --mlir-print-ir-after-failure -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=optimization_barrier

// expected-error@+1 {{expected a result with 'echo.loss' or one float scalar result, found 0 float scalars}}
func.func @no_loss(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error@+1 {{expected a result with 'echo.loss' or one float scalar result, found 2 float scalars}}
func.func @two_scalars(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %x, %x : tensor<f32>, tensor<f32>
}

// -----

// expected-error@+1 {{expected one result with 'echo.loss', found results 0 and 1}}
func.func @two_losses(%x: tensor<f32>) -> (tensor<f32> {echo.loss}, tensor<f32> {echo.loss}) {
  return %x, %x : tensor<f32>, tensor<f32>
}

// -----

func.func @recursion(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{can't be planned: expected a training step that doesn't call itself, found a call of @recursion from @recursion}}
  %0 = call @recursion(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// By way of another function, and in a region.
func.func @step(%x: tensor<f32>, %c: i1) -> tensor<f32> {
  %0 = scf.if %c -> tensor<f32> {
    %1 = func.call @helper(%x, %c) : (tensor<f32>, i1) -> tensor<f32>
    scf.yield %1 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %0 : tensor<f32>
}
func.func private @helper(%x: tensor<f32>, %c: i1) -> tensor<f32> {
  // expected-error@+1 {{found a call of @step from @step by way of other functions}}
  %0 = call @step(%x, %c) : (tensor<f32>, i1) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// %a is carried around a loop of blocks.
// expected-error@+1 {{expected a function of one block, found 3}}
func.func @blocks(%x: tensor<f32>, %c: i1) -> tensor<f32> {
  cf.br ^bb1(%x : tensor<f32>)
^bb1(%a: tensor<f32>):
  %0 = math.tanh %a : tensor<f32>
  cf.cond_br %c, ^bb1(%0 : tensor<f32>), ^bb2
^bb2:
  return %0 : tensor<f32>
}

// -----

// 2^32 2^32 elements.
func.func @size(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{can't be planned: expected every tensor to be a ranked tensor with a static shape whose size fits 63 bits, found 'tensor<4294967296x4294967296xf32>'}}
  %0 = tensor.empty() : tensor<4294967296x4294967296xf32>
  return %x : tensor<f32>
}

// -----

// Two of 2^61 elements of 2 bytes: each fits, the sum doesn't.
// expected-error@+1 {{can't be planned: the values take more than 2^62 bytes together}}
func.func @sum(%x: tensor<2305843009213693952xf16>) -> tensor<f32> {
  %0 = math.tanh %x : tensor<2305843009213693952xf16>
  %1 = arith.constant dense<0.0> : tensor<f32>
  return %1 : tensor<f32>
}

// -----

// 2 (2^22)^3 flops of tensors of 2^44 elements.
func.func @flops(%x: tensor<4194304x4194304xf32>) -> tensor<f32> {
  // expected-error@+1 {{can't be planned: expected static sizes whose sums fit 64 bits}}
  %0 = linalg.matmul ins(%x, %x : tensor<4194304x4194304xf32>, tensor<4194304x4194304xf32>)
                     outs(%x : tensor<4194304x4194304xf32>) -> tensor<4194304x4194304xf32>
  %1 = arith.constant dense<0.0> : tensor<f32>
  return %1 : tensor<f32>
}

// -----

// expected-error@+1 {{can't be planned: expected every tensor to be a ranked tensor with a static shape whose size fits 63 bits, found 'tensor<?xf32>'}}
func.func @dynamic_argument(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = arith.constant dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @dynamic(%x: tensor<8xf32>, %n: index) -> tensor<f32> {
  // expected-error@+1 {{can't be planned: expected every tensor to be a ranked tensor with a static shape whose size fits 63 bits, found 'tensor<?xf32>'}}
  %0 = tensor.extract_slice %x[0] [%n] [1] : tensor<8xf32> to tensor<?xf32>
  %1 = arith.constant dense<0.0> : tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @unranked(%x: tensor<8xf32>) -> tensor<f32> {
  // expected-error@+1 {{can't be planned: expected every tensor to be a ranked tensor with a static shape whose size fits 63 bits, found 'tensor<*xf32>'}}
  %0 = tensor.cast %x : tensor<8xf32> to tensor<*xf32>
  %1 = arith.constant dense<0.0> : tensor<f32>
  return %1 : tensor<f32>
}

// -----

// expected-error@below {{expected one public function with a body, or the name of a function, found 0 public functions}}
module {
  func.func private @only(%x: tensor<f32>) -> tensor<f32>
}

// The dumps of what failed.
// CHECK: IR Dump After EchoRematPass Failed
// CHECK: IR Dump

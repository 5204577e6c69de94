// RUN: echo-opt %s --echo-outline-kernels | FileCheck %s
// RUN: echo-opt %s --echo-outline-kernels --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// Kernels with the same ops, types and wiring are one function, whatever they
// are launched on.
// CHECK-LABEL: func.func @merge(
// CHECK-SAME:    %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-NEXT:    %[[X:.*]] = echo.launch @kernel_0(%[[A]], %[[B]])
// CHECK-NEXT:    %[[Y:.*]] = echo.launch @kernel_0(%[[X]], %[[A]])
// CHECK-NEXT:    %[[Z:.*]] = echo.launch @kernel_1(%[[Y]], %[[A]])
// CHECK-NEXT:    return %[[Z]]
// LOC: echo.launch @kernel_0(%{{.*}}, %{{.*}}) : {{.*}} loc(#[[FIRST:.*]])
// LOC: echo.launch @kernel_0(%{{.*}}, %{{.*}}) : {{.*}} loc(#[[SECOND:.*]])
// LOC: #[[FIRST]] = loc("encoder/t0")
// LOC: #[[SECOND]] = loc("encoder/t1")
func.func @merge(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = echo.kernel(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
    %s = echo.sub %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    echo.yield %s : tensor<8xf32>
  } loc("encoder/t0")
  %1 = echo.kernel(%0, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
    %s = echo.sub %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    echo.yield %s : tensor<8xf32>
  } loc("encoder/t1")
  // The other way round is another kernel.
  %2 = echo.kernel(%1, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
    %s = echo.sub %y, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    echo.yield %s : tensor<8xf32>
  }
  return %2 : tensor<8xf32>
}

// Types and attributes tell kernels apart. A result may overwrite arguments of
// its type where all ops are elementwise over that shape; the row is read by
// several elements, and a reduction reads all of its argument.
// CHECK-LABEL: func.func @types(
// CHECK:         echo.launch @kernel_2
// CHECK:         echo.launch @kernel_3
// CHECK:         echo.launch @kernel_4
func.func @types(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<1x8xf32>, tensor<4x1xf32>) {
  %0 = echo.kernel(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
  ^bb0(%x: tensor<4x8xf32>, %y: tensor<8xf32>):
    %s = echo.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    echo.yield %s : tensor<4x8xf32>
  }
  %1 = echo.kernel(%a) : (tensor<4x8xf32>) -> tensor<1x8xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %s = echo.reduce sum %x {dims = array<i64: 0>, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
    echo.yield %s : tensor<1x8xf32>
  }
  %2 = echo.kernel(%a) : (tensor<4x8xf32>) -> tensor<4x1xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %s = echo.reduce sum %x {dims = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
    echo.yield %s : tensor<4x1xf32>
  }
  return %0, %1, %2 : tensor<4x8xf32>, tensor<1x8xf32>, tensor<4x1xf32>
}

// CHECK:      func.func private @kernel_0(
// CHECK-SAME:   %[[X:[^:]*]]: tensor<8xf32> {echo.overwritable = array<i64: 0>}
// CHECK-SAME:   %[[Y:[^:]*]]: tensor<8xf32> {echo.overwritable = array<i64: 0>}
// CHECK-SAME:   -> tensor<8xf32> attributes {echo.cost = {bytes = 96 : i64, flops = 8 : i64, ops = "sub"}, echo.kernel}
// CHECK-NEXT:   %[[S:.*]] = echo.sub %[[X]], %[[Y]]
// CHECK-NEXT:   return %[[S]]
// CHECK:      func.func private @kernel_1(
// CHECK:      func.func private @kernel_2(
// CHECK-SAME:   tensor<4x8xf32> {echo.overwritable = array<i64: 0>}, %{{[^:]*}}: tensor<8xf32>)
// CHECK:      func.func private @kernel_3(%{{[^:]*}}: tensor<4x8xf32>)
// CHECK:      func.func private @kernel_4(%{{[^:]*}}: tensor<4x8xf32>)

// A launch costs its ops' flops, and the bytes of its arguments and results as
// far as they are read: 3 rows of the table, and 4 of 8 elements.
// bytes: indices 3 * 4, rows 3 * 8 * 4, slice 4 * 4, results 3 * 8 * 4 + 4 * 4.
// flops: 24 products and 4 exponentials.
// CHECK:      func.func private @kernel_5(
// CHECK-SAME:   echo.cost = {bytes = 236 : i64, flops = 28 : i64, ops = "embedding+mul+slice+exp"}
func.func @cost(%t: tensor<100x8xf32>, %i: tensor<3xi32>, %a: tensor<8xf32>) -> (tensor<3x8xf32>, tensor<4xf32>) {
  %0:2 = echo.kernel(%t, %i, %a) : (tensor<100x8xf32>, tensor<3xi32>, tensor<8xf32>) -> (tensor<3x8xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<100x8xf32>, %y: tensor<3xi32>, %z: tensor<8xf32>):
    %e = echo.embedding %x, %y : (tensor<100x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
    %m = echo.mul %e, %e : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %s = echo.slice %z {offsets = array<i64: 4>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
    %x2 = echo.exp %s : (tensor<4xf32>) -> tensor<4xf32>
    echo.yield %m, %x2 : tensor<3x8xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<3x8xf32>, tensor<4xf32>
}

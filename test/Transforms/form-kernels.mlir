// RUN: echo-opt %s --echo-form-kernels --split-input-file | FileCheck %s
// RUN: echo-opt %s --echo-form-kernels --echo-form-kernels --split-input-file | FileCheck %s
// RUN: echo-opt %s --echo-form-kernels=fuse=false --split-input-file | FileCheck %s --check-prefix=SINGLE

// Elementwise ops of one result shape share a kernel; what is read outside
// leaves it. %1 is read by the kernel alone.
// CHECK-LABEL: func.func @run(
// CHECK-SAME:    %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK:         %[[K:.*]]:2 = echo.kernel(%[[A]], %[[B]])
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<8xf32>):
// CHECK-NEXT:      %[[S:.*]] = echo.add %[[X]], %[[Y]]
// CHECK-NEXT:      %[[T:.*]] = echo.tanh %[[S]]
// CHECK-NEXT:      %[[C:.*]] = echo.constant dense<2.0
// CHECK-NEXT:      %[[M:.*]] = echo.mul %[[T]], %[[C]]
// CHECK-NEXT:      echo.yield %[[S]], %[[M]]
// CHECK:         return %[[K]]#0, %[[K]]#1
func.func @run(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = echo.add %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %c = echo.constant dense<2.0> : tensor<f32>
  %1 = echo.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = echo.mul %1, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A row reduction shares its kernel with what it reads and what reads the rows.
// CHECK-LABEL: func.func @rows
// CHECK-COUNT-1: echo.kernel
// CHECK-NOT:     echo.kernel
// SINGLE-LABEL: func.func @rows
// SINGLE-COUNT-3: echo.kernel
func.func @rows(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = echo.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = echo.log %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A reduction of the results of another one is a kernel of its own.
// CHECK-LABEL: func.func @reductions
// CHECK-COUNT-2: echo.kernel
// CHECK-NOT:     echo.kernel
func.func @reductions(%a: tensor<4x8x16xf32>) -> tensor<4x8xf32> {
  %0 = echo.reduce sum %a {dims = array<i64: 2>} : (tensor<4x8x16xf32>) -> tensor<4x8xf32>
  %1 = echo.softmax %0 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// The sum of 98,304 = 12 * 8,192 elements is one of 12 sums of parts, which
// several blocks of a device share.
// CHECK-LABEL: func.func @long_row
// CHECK:         %[[SUMS:.*]] = echo.kernel
// CHECK:           %[[SQUARES:.*]] = echo.mul
// CHECK:           %[[PARTS:.*]] = echo.reshape %[[SQUARES]] : (tensor<1024x96xf32>) -> tensor<12x8192xf32>
// CHECK:           echo.reduce sum %[[PARTS]] {dims = array<i64: 1>} : (tensor<12x8192xf32>) -> tensor<12xf32>
// CHECK:         %[[SUM:.*]] = echo.kernel(%[[SUMS]])
// CHECK:           echo.reduce sum %{{.*}} {dims = array<i64: 0>} : (tensor<12xf32>) -> tensor<f32>
// CHECK:         %[[MEAN:.*]] = echo.kernel(%[[SUM]])
// CHECK:           echo.constant dense<9.830400e+04>
// CHECK:           echo.div
// CHECK:         return %[[MEAN]]
func.func @long_row(%a: tensor<1024x96xf32>) -> tensor<f32> {
  %0 = echo.mul %a, %a : (tensor<1024x96xf32>, tensor<1024x96xf32>) -> tensor<1024x96xf32>
  %1 = echo.reduce mean %0 {dims = array<i64: 0, 1>} : (tensor<1024x96xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// 128 rows and more keep a device busy as they are.
// CHECK-LABEL: func.func @long_rows
// CHECK-COUNT-1: echo.kernel
// CHECK-NOT:     echo.kernel
func.func @long_rows(%a: tensor<128x98304xf32>) -> tensor<128xf32> {
  %0 = echo.reduce sum %a {dims = array<i64: 1>} : (tensor<128x98304xf32>) -> tensor<128xf32>
  return %0 : tensor<128xf32>
}

// -----

// Sums over dimensions in front of the rows: those over one dimension add up
// while the kernel walks over the rows; the sum over both dimensions takes a
// second kernel for what is left.
// CHECK-LABEL: func.func @sums
// CHECK:         %[[K:.*]]:3 = echo.kernel
// CHECK:           echo.softmax
// CHECK:           echo.reduce sum %{{.*}} {dims = array<i64: 1>}
// CHECK:           echo.reduce max %{{.*}} {dims = array<i64: 1>, keepdims = true}
// CHECK:         echo.kernel(%[[K]]#{{.}})
// CHECK-NOT:       echo.softmax
// CHECK:           echo.reduce sum %{{.*}} {dims = array<i64: 0>}
func.func @sums(%a: tensor<8x5x16xf32>) -> (tensor<8x5x16xf32>, tensor<16xf32>, tensor<8x1x16xf32>) {
  %0 = echo.softmax %a {axis = 2 : i64} : (tensor<8x5x16xf32>) -> tensor<8x5x16xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0, 1>} : (tensor<8x5x16xf32>) -> tensor<16xf32>
  %2 = echo.reduce max %0 {dims = array<i64: 1>, keepdims = true} : (tensor<8x5x16xf32>) -> tensor<8x1x16xf32>
  return %0, %1, %2 : tensor<8x5x16xf32>, tensor<16xf32>, tensor<8x1x16xf32>
}

// -----

// The gates of an LSTM cell are parts of a sum that nothing else reads: one
// kernel, in which the sum has no buffer. Reshaping in between is no matter.
// CHECK-LABEL: func.func @cell(
// CHECK-SAME:    %[[A:.*]]: tensor<1x2x32xf32>, %[[B:.*]]: tensor<2x32xf32>, %[[C:.*]]: tensor<2x8xf32>)
// CHECK-NEXT:    %[[V:.*]] = echo.reshape %[[A]]
// CHECK-NEXT:    %[[K:.*]]:3 = echo.kernel(%[[V]], %[[B]], %[[C]])
// CHECK:           %[[S:.*]] = echo.add
// CHECK-NEXT:      echo.lstm_cell %[[S]]
// CHECK-NEXT:      echo.yield
// CHECK:         return %[[K]]#0, %[[K]]#1, %[[K]]#2
func.func @cell(%a: tensor<1x2x32xf32>, %b: tensor<2x32xf32>, %c: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x32xf32>) {
  %0 = echo.reshape %a : (tensor<1x2x32xf32>) -> tensor<2x32xf32>
  %1 = echo.add %0, %b : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
  %h, %n, %g = echo.lstm_cell %1, %c : (tensor<2x32xf32>, tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x32xf32>)
  return %h, %n, %g : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x32xf32>
}

// -----

// Reshapes between members of a kernel are in it.
// CHECK-LABEL: func.func @reshaped
// CHECK-COUNT-1: echo.kernel
// CHECK:           echo.exp
// CHECK-NEXT:      echo.reshape
// CHECK-NEXT:      echo.mul
// CHECK-NOT:     echo.kernel
func.func @reshaped(%a: tensor<4x6xf32>, %b: tensor<2x12xf32>) -> tensor<2x12xf32> {
  %0 = echo.exp %a : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = echo.reshape %0 : (tensor<4x6xf32>) -> tensor<2x12xf32>
  %2 = echo.mul %1, %b : (tensor<2x12xf32>, tensor<2x12xf32>) -> tensor<2x12xf32>
  return %2 : tensor<2x12xf32>
}

// -----

// The product needs %0 and is needed by %2: one kernel of both would wait for
// itself.
// CHECK-LABEL: func.func @path
// CHECK:         echo.kernel
// CHECK:         echo.matmul
// CHECK:         echo.kernel
func.func @path(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = echo.exp %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = echo.matmul %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = echo.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A kernel that updates a bias writes nothing of another size: the bias couldn't
// be updated in place. Its gradient is summed where what is summed is written.
// CHECK-LABEL: func.func @update
// CHECK:         echo.kernel
// CHECK:           echo.mul
// CHECK:           echo.reduce sum
// CHECK:         echo.kernel
// CHECK:           echo.sub
func.func @update(%g: tensor<4x8xf32>, %b: tensor<8xf32> {echo.role = "parameter"}) -> (tensor<4x8xf32>, tensor<8xf32> {echo.aliases_argument = 1 : i64}) {
  %0 = echo.mul %g, %g : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<8xf32>
  %2 = echo.sub %b, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<8xf32>
}

// -----

// Library calls and views stay; a constant that they read gets a kernel that
// writes it.
// CHECK-LABEL: func.func @host(
// CHECK-SAME:    %[[A:.*]]: tensor<2x3xf32>)
// CHECK:         %[[W:.*]] = echo.kernel() : () -> tensor<3x4xf32>
// CHECK-NEXT:      %[[C:.*]] = echo.constant dense<1.0
// CHECK-NEXT:      echo.yield %[[C]]
// CHECK:         %[[P:.*]] = echo.matmul %[[A]], %[[W]]
// CHECK-NEXT:    %[[R:.*]] = echo.reshape %[[P]]
// CHECK-NEXT:    return %[[R]]
func.func @host(%a: tensor<2x3xf32>) -> tensor<8xf32> {
  %w = echo.constant dense<1.0> : tensor<3x4xf32>
  %0 = echo.matmul %a, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = echo.reshape %0 : (tensor<2x4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A slice of leading rows is a view, one of columns moves elements.
// CHECK-LABEL: func.func @slices
// CHECK:         echo.slice
// CHECK:         echo.kernel
// CHECK:           echo.slice
func.func @slices(%a: tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<4x2xf32>) {
  %0 = echo.slice %a {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %1 = echo.slice %a {offsets = array<i64: 0, 3>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<4x2xf32>
}

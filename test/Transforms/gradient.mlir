// RUN: echo-opt %s -split-input-file --echo-gradient | FileCheck %s
// RUN: echo-opt %s -split-input-file --echo-gradient -mlir-print-debuginfo \
// RUN:   -mlir-print-local-scope | FileCheck %s --check-prefix=LOC

// Results are the forward results, then a gradient per float parameter in
// argument order; inputs and integer parameters have none.
// CHECK-LABEL: func.func @results(
// CHECK-SAME: -> (tensor<f32> {echo.loss}, tensor<3xf32>,
// CHECK-SAME: tensor<3xf32> {echo.gradient_of = 0 : i64, echo.name = "w.grad"},
// CHECK-SAME: tensor<3xf32> {echo.gradient_of = 3 : i64, echo.name = "arg3.grad"})
func.func @results(%w: tensor<3xf32> {echo.role = "parameter", echo.name = "w"},
                   %x: tensor<3xf32> {echo.role = "input"},
                   %i: tensor<3xi32> {echo.role = "parameter"},
                   %v: tensor<3xf32> {echo.role = "parameter"})
    -> (tensor<f32>, tensor<3xf32>) {
  // CHECK: %[[A:.*]] = echo.mul %[[W:.*]], %[[X:.*]] :
  // CHECK: %[[B:.*]] = echo.add %[[A]], %[[V:.*]] :
  %0 = echo.mul %w, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = echo.add %0, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = echo.reduce sum %1 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  // CHECK: %[[LOSS:.*]] = echo.reduce sum %[[B]]
  // CHECK: %[[ONE:.*]] = echo.constant dense<1.0{{.*}}> : tensor<f32>
  // CHECK: %[[G:.*]] = echo.broadcast %[[ONE]] : (tensor<f32>) -> tensor<3xf32>
  // CHECK: %[[GW:.*]] = echo.mul %[[G]], %[[X]]
  // CHECK-NEXT: return %[[LOSS]], %[[B]], %[[GW]], %[[G]]
  return %2, %1 : tensor<f32>, tensor<3xf32>
}

// -----

// Three readers of %0: the parts are added from the last reader to the first.
// CHECK-LABEL: func.func @fan_out
func.func @fan_out(%w: tensor<f32> {echo.role = "parameter"}) -> tensor<f32> {
  // CHECK: %[[T:.*]] = echo.tanh
  // CHECK: %[[E:.*]] = echo.exp %[[T]]
  // CHECK: %[[S:.*]] = echo.sigmoid %[[T]]
  %0 = echo.tanh %w : (tensor<f32>) -> tensor<f32>
  %1 = echo.exp %0 : (tensor<f32>) -> tensor<f32>
  %2 = echo.sigmoid %0 : (tensor<f32>) -> tensor<f32>
  %3 = echo.add %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = echo.sub %3, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: %[[ONE:.*]] = echo.constant dense<1.0{{.*}}> : tensor<f32>
  // CHECK: %[[FROM_SUB:.*]] = echo.neg %[[ONE]]
  // CHECK: %[[FROM_SIGMOID:.*]] = echo.mul %[[ONE]],
  // CHECK: %[[SUM:.*]] = echo.add %[[FROM_SUB]], %[[FROM_SIGMOID]]
  // CHECK: %[[FROM_EXP:.*]] = echo.mul %[[ONE]], %[[E]]
  // CHECK: echo.add %[[SUM]], %[[FROM_EXP]]
  return %4 : tensor<f32>
}

// -----

// One op that reads a value twice gives two parts.
// CHECK-LABEL: func.func @square
func.func @square(%w: tensor<f32> {echo.role = "parameter"}) -> tensor<f32> {
  // CHECK: %[[ONE:.*]] = echo.constant dense<1.0{{.*}}>
  // CHECK: %[[L:.*]] = echo.mul %[[ONE]], %[[W:.*]] :
  // CHECK: %[[R:.*]] = echo.mul %[[ONE]], %[[W]] :
  // CHECK: %[[SUM:.*]] = echo.add %[[L]], %[[R]]
  // CHECK: return %{{.*}}, %[[SUM]]
  %0 = echo.mul %w, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// What broadcasting repeated is summed: leading dimensions without keepdims,
// inner ones of an operand of the same rank with it, both with a reshape.
// CHECK-LABEL: func.func @broadcasting
func.func @broadcasting(%a: tensor<3xf32> {echo.role = "parameter"},
                        %b: tensor<2x1xf32> {echo.role = "parameter"},
                        %c: tensor<1x3xf32> {echo.role = "parameter"},
                        %x: tensor<4x2x3xf32>) -> tensor<f32> {
  %0 = echo.add %x, %a : (tensor<4x2x3xf32>, tensor<3xf32>) -> tensor<4x2x3xf32>
  %1 = echo.add %0, %b : (tensor<4x2x3xf32>, tensor<2x1xf32>) -> tensor<4x2x3xf32>
  %2 = echo.add %b, %c : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %3 = echo.add %1, %2 : (tensor<4x2x3xf32>, tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %4 = echo.reduce sum %3 {dims = array<i64: 0, 1, 2>} : (tensor<4x2x3xf32>) -> tensor<f32>
  // CHECK: %[[G:.*]] = echo.broadcast %{{.*}} -> tensor<4x2x3xf32>
  // CHECK: %[[G2:.*]] = echo.reduce sum %[[G]] {dims = array<i64: 0>} : (tensor<4x2x3xf32>) -> tensor<2x3xf32>
  // CHECK: echo.reduce sum %[[G2]] {dims = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  // CHECK: echo.reduce sum %[[G2]] {dims = array<i64: 0>, keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  // CHECK: %[[B:.*]] = echo.reduce sum %[[G]] {dims = array<i64: 0, 2>} : (tensor<4x2x3xf32>) -> tensor<2xf32>
  // CHECK: echo.reshape %[[B]] : (tensor<2xf32>) -> tensor<2x1xf32>
  // CHECK: echo.reduce sum %[[G]] {dims = array<i64: 0, 1>} : (tensor<4x2x3xf32>) -> tensor<3xf32>
  return %4 : tensor<f32>
}

// -----

// Gradients read results: tanh's operand isn't read, nor log's result.
// CHECK-LABEL: func.func @reads_results
func.func @reads_results(%w: tensor<2xf32> {echo.role = "parameter"}) -> tensor<f32> {
  // CHECK: %[[A:.*]] = echo.tanh
  // CHECK: %[[B:.*]] = echo.sigmoid %[[A]]
  // CHECK: %[[C:.*]] = echo.exp %[[B]]
  // CHECK: %[[D:.*]] = echo.sqrt %[[C]]
  // CHECK: %[[E:.*]] = echo.softmax %[[D]]
  // CHECK: echo.broadcast
  // CHECK: %[[P:.*]] = echo.mul %{{.*}}, %[[E]]
  // CHECK: echo.mul %[[E]], %
  // CHECK: echo.div %{{.*}}, %[[D]]
  // CHECK: echo.mul %{{.*}}, %[[C]]
  // CHECK: echo.sub %{{.*}}, %[[B]]
  // CHECK: echo.mul %[[B]], %
  // CHECK: echo.mul %[[A]], %[[A]]
  %0 = echo.tanh %w : (tensor<2xf32>) -> tensor<2xf32>
  %1 = echo.sigmoid %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = echo.exp %1 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = echo.sqrt %2 : (tensor<2xf32>) -> tensor<2xf32>
  %4 = echo.softmax %3 {axis = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  %5 = echo.reduce sum %4 {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}

// -----

// The gradient of sign is zero: the ops that lead to it aren't built, and what
// only they would have read is gone.
// CHECK-LABEL: func.func @stops_at_sign
func.func @stops_at_sign(%w: tensor<f32> {echo.role = "parameter"}) -> tensor<f32> {
  // CHECK: echo.exp
  // CHECK-NEXT: echo.sign
  // CHECK-NEXT: %[[LOSS:.*]] = echo.tanh
  // CHECK-NEXT: %[[ZERO:.*]] = echo.constant dense<0.0{{.*}}> : tensor<f32>
  // CHECK-NEXT: return %[[LOSS]], %[[ZERO]]
  %0 = echo.exp %w : (tensor<f32>) -> tensor<f32>
  %1 = echo.sign %0 : (tensor<f32>) -> tensor<f32>
  %2 = echo.tanh %1 : (tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// Comparisons, argmax and integers end the path; no error.
// CHECK-LABEL: func.func @integer_paths
func.func @integer_paths(%w: tensor<4x2xf32> {echo.role = "parameter"}) -> tensor<f32> {
  // CHECK: %[[I:.*]] = echo.argmax
  // CHECK: %[[R:.*]] = echo.embedding
  // CHECK: echo.convert
  // CHECK: echo.convert
  // CHECK: echo.embedding_grad %[[I]], %
  // CHECK-NOT: echo.convert
  // CHECK: return
  %0 = echo.argmax %w {axis = 1 : i64} : (tensor<4x2xf32>) -> tensor<4xi32>
  %1 = echo.embedding %w, %0 : (tensor<4x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>
  %2 = echo.convert %w : (tensor<4x2xf32>) -> tensor<4x2xi32>
  %3 = echo.convert %2 : (tensor<4x2xi32>) -> tensor<4x2xf32>
  %4 = echo.mul %1, %3 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = echo.reduce mean %4 {dims = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}

// -----

// The parts of a split meet in one concat; a part without gradient is zeros.
// CHECK-LABEL: func.func @split_parts
func.func @split_parts(%w: tensor<6xf32> {echo.role = "parameter"}) -> tensor<f32> {
  // CHECK: %[[P:.*]]:3 = echo.split
  // CHECK: echo.broadcast
  // CHECK: %[[G0:.*]] = echo.mul %{{.*}}, %[[P]]#2
  // CHECK: %[[G2:.*]] = echo.mul %{{.*}}, %[[P]]#0
  // CHECK: %[[ZERO:.*]] = echo.constant dense<0.0{{.*}}> : tensor<2xf32>
  // CHECK: echo.concat %[[G0]], %[[ZERO]], %[[G2]] {axis = 0 : i64}
  %0:3 = echo.split %w {axis = 0 : i64} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %1 = echo.mul %0#0, %0#2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = echo.reduce sum %1 {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// A weight's gradient is one product over all rows, whatever the dimensions
// in front.
// CHECK-LABEL: func.func @linear_rows
func.func @linear_rows(%w: tensor<5x3xf32> {echo.role = "parameter"},
                       %b: tensor<5xf32> {echo.role = "parameter"},
                       %x: tensor<7x2x3xf32>) -> tensor<f32> {
  // CHECK: %[[G:.*]] = echo.reshape %{{.*}} -> tensor<14x5xf32>
  // CHECK: %[[X:.*]] = echo.reshape %{{.*}} : (tensor<7x2x3xf32>) -> tensor<14x3xf32>
  // CHECK: echo.matmul %[[G]], %[[X]] {transpose_lhs = true} : (tensor<14x5xf32>, tensor<14x3xf32>) -> tensor<5x3xf32>
  // CHECK: echo.reduce sum %[[G]] {dims = array<i64: 0>}
  %0 = echo.linear %x, %w, %b : (tensor<7x2x3xf32>, tensor<5x3xf32>, tensor<5xf32>) -> tensor<7x2x5xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0, 1, 2>} : (tensor<7x2x5xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// A gradient op has its forward op's location.
// LOC-LABEL: func.func @locations
func.func @locations(%w: tensor<f32> {echo.role = "parameter"}) -> tensor<f32> {
  // LOC: echo.exp {{.*}} loc("encoder/lstm0/t3")
  // LOC: echo.mul {{.*}} loc("encoder/lstm0/t3")
  %0 = echo.exp %w : (tensor<f32>) -> tensor<f32> loc("encoder/lstm0/t3")
  return %0 : tensor<f32>
}

// -----

// Private functions and functions without gradients stay as they are.
// CHECK-LABEL: func.func private @helper
// CHECK-SAME: (%{{.*}}: tensor<f32>) -> tensor<f32>
func.func private @helper(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// CHECK-LABEL: func.func @beside
func.func @beside(%w: tensor<f32> {echo.role = "parameter"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// RUN: echo-opt %s --echo-bufferize --split-input-file | FileCheck %s

// The update is written straight into the weight: its kernel is the last
// reader of the old value and allows it. No copy, and the result is gone.
func.func private @twice(tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
func.func private @update(tensor<8xf32> {echo.overwritable = array<i64: 0>}, tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @update_in_place(
// CHECK-SAME:    %[[W:[^:]*]]: memref<8xf32> {echo.name = "w", echo.role = "parameter"}
// CHECK-SAME:    %[[X:[^:]*]]: memref<8xf32> {echo.name = "arg1"})
// CHECK-NOT:     ->
func.func @update_in_place(
    %w: tensor<8xf32> {echo.name = "w", echo.role = "parameter"},
    %x: tensor<8xf32>) -> (tensor<8xf32> {echo.aliases_argument = 0 : i64}) {
  // CHECK:      %[[G:.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: echo.launch @twice(%[[X]]) outs(%[[G]] : memref<8xf32>) : (memref<8xf32>) -> ()
  // CHECK-NEXT: echo.launch @update(%[[W]], %[[G]]) outs(%[[W]] : memref<8xf32>)
  // CHECK-NEXT: return{{$}}
  %g = echo.launch @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %u = echo.launch @update(%w, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %u : tensor<8xf32>
}

// -----

// The kernel doesn't allow its first argument to be overwritten: a temporary
// and a copy at the end.
func.func private @reverse(tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @not_overwritable(
// CHECK-SAME:    %[[W:[^:]*]]: memref<8xf32>
func.func @not_overwritable(
    %w: tensor<8xf32> {echo.role = "state"})
    -> (tensor<8xf32> {echo.aliases_argument = 0 : i64}) {
  // CHECK:      %[[T:.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: echo.launch @reverse(%[[W]]) outs(%[[T]] : memref<8xf32>)
  // CHECK-NEXT: echo.copy %[[T]] to %[[W]]
  // CHECK-NEXT: return{{$}}
  %u = echo.launch @reverse(%w) : (tensor<8xf32>) -> tensor<8xf32>
  return %u : tensor<8xf32>
}

// -----

// The old step count is read after the new one is computed. The increment is
// only returned, so it runs behind the last reader: no copy.
func.func private @increment(tensor<i64> {echo.overwritable = array<i64: 0>}) -> tensor<i64> attributes {echo.kernel}
func.func private @mask(tensor<i64>) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @late_update(
// CHECK-SAME:    %[[S:[^:]*]]: memref<i64>
// CHECK-SAME:    -> (memref<8xf32> {echo.name = "result1"})
func.func @late_update(%step: tensor<i64> {echo.role = "state", tf.aliasing_output = 0 : i32})
    -> (tensor<i64>, tensor<8xf32>) {
  // CHECK:      %[[M:.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: echo.launch @mask(%[[S]]) outs(%[[M]] : memref<8xf32>)
  // CHECK-NEXT: echo.launch @increment(%[[S]]) outs(%[[S]] : memref<i64>)
  // CHECK-NEXT: return %[[M]] : memref<8xf32>
  %next = echo.launch @increment(%step) : (tensor<i64>) -> tensor<i64>
  %mask = echo.launch @mask(%step) : (tensor<i64>) -> tensor<8xf32>
  return %next, %mask : tensor<i64>, tensor<8xf32>
}

// -----

// The new weight is read by another kernel, and the old one after it: the
// update can't move, so it needs a temporary.
func.func private @update(tensor<8xf32> {echo.overwritable = array<i64: 0>}) -> tensor<8xf32> attributes {echo.kernel}
func.func private @sum(tensor<8xf32>, tensor<8xf32>) -> tensor<f32> attributes {echo.kernel}
// CHECK-LABEL: func.func @read_after_update(
// CHECK-SAME:    %[[W:[^:]*]]: memref<8xf32>
func.func @read_after_update(%w: tensor<8xf32> {echo.role = "parameter"})
    -> (tensor<8xf32> {echo.aliases_argument = 0 : i64}, tensor<f32>) {
  // CHECK:      %[[T:.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: echo.launch @update(%[[W]]) outs(%[[T]] : memref<8xf32>)
  // CHECK-NEXT: %[[S:.*]] = memref.alloc() : memref<f32>
  // CHECK-NEXT: echo.launch @sum(%[[W]], %[[T]]) outs(%[[S]] : memref<f32>)
  // CHECK-NEXT: echo.copy %[[T]] to %[[W]]
  // CHECK-NEXT: return %[[S]]
  %u = echo.launch @update(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %s = echo.launch @sum(%w, %u) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %u, %s : tensor<8xf32>, tensor<f32>
}

// -----

// Two states change places: one is saved, or the second copy would read what
// the first has written. The third is a chain: it takes the old value of a.
// CHECK-LABEL: func.func @swap(
// CHECK-SAME:    %[[A:[^:]*]]: memref<4xf32>
// CHECK-SAME:    %[[B:[^:]*]]: memref<4xf32>
// CHECK-SAME:    %[[C:[^:]*]]: memref<4xf32>
func.func @swap(%a: tensor<4xf32> {echo.role = "state"},
                %b: tensor<4xf32> {echo.role = "state"},
                %c: tensor<4xf32> {echo.role = "state"})
    -> (tensor<4xf32> {echo.aliases_argument = 0 : i64},
        tensor<4xf32> {echo.aliases_argument = 1 : i64},
        tensor<4xf32> {echo.aliases_argument = 2 : i64}) {
  // CHECK:      echo.copy %[[A]] to %[[C]]
  // CHECK-NEXT: %[[SAVED:.*]] = memref.alloc() : memref<4xf32>
  // CHECK-NEXT: echo.copy %[[A]] to %[[SAVED]]
  // CHECK-NEXT: echo.copy %[[B]] to %[[A]]
  // CHECK-NEXT: echo.copy %[[SAVED]] to %[[B]]
  // CHECK-NEXT: return{{$}}
  return %b, %a, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A shift register of states, listed so that copying in order would be wrong:
// c gets b before b gets a.
// CHECK-LABEL: func.func @shift(
// CHECK-SAME:    %[[A:[^:]*]]: memref<4xf32>
// CHECK-SAME:    %[[B:[^:]*]]: memref<4xf32>
// CHECK-SAME:    %[[C:[^:]*]]: memref<4xf32>
func.func @shift(%a: tensor<4xf32> {echo.role = "state"},
                 %b: tensor<4xf32> {echo.role = "state"},
                 %c: tensor<4xf32> {echo.role = "state"})
    -> (tensor<4xf32> {echo.aliases_argument = 0 : i64},
        tensor<4xf32> {echo.aliases_argument = 1 : i64},
        tensor<4xf32> {echo.aliases_argument = 2 : i64}) {
  // CHECK-NEXT: echo.copy %[[B]] to %[[C]]
  // CHECK-NEXT: echo.copy %[[A]] to %[[B]]
  // CHECK-NEXT: return{{$}}
  return %a, %a, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// An argument, a view of one, and a value that is returned twice are copied;
// the first return of a value isn't. Result 3 replaces w and is an ordinary
// result too: it is written into w and copied from there.
func.func private @twice(tensor<4xf32>) -> tensor<4xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @returned(
// CHECK-SAME:    %[[W:[^:]*]]: memref<4xf32>
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xf32>
func.func @returned(%w: tensor<4xf32> {echo.role = "parameter"}, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>,
        tensor<4xf32>, tensor<4xf32> {echo.aliases_argument = 0 : i64}) {
  // CHECK:      %[[Y:.*]] = memref.alloc() : memref<4xf32>
  // CHECK-NEXT: echo.launch @twice(%[[X]]) outs(%[[Y]] : memref<4xf32>)
  // CHECK-NEXT: echo.launch @twice(%[[Y]]) outs(%[[W]] : memref<4xf32>)
  // CHECK-NEXT: %[[V:.*]] = echo.buffer_view %[[X]][0] : memref<4xf32> to memref<2x2xf32>
  // CHECK-NEXT: %[[R0:.*]] = memref.alloc() : memref<4xf32>
  // CHECK-NEXT: echo.copy %[[X]] to %[[R0]]
  // CHECK-NEXT: %[[R1:.*]] = memref.alloc() : memref<2x2xf32>
  // CHECK-NEXT: echo.copy %[[V]] to %[[R1]]
  // CHECK-NEXT: %[[R3:.*]] = memref.alloc() : memref<4xf32>
  // CHECK-NEXT: echo.copy %[[Y]] to %[[R3]]
  // CHECK-NEXT: %[[R4:.*]] = memref.alloc() : memref<4xf32>
  // CHECK-NEXT: echo.copy %[[W]] to %[[R4]]
  // CHECK-NEXT: return %[[R0]], %[[R1]], %[[Y]], %[[R3]], %[[R4]]
  %y = echo.launch @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = echo.launch @twice(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %v = echo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
  return %x, %v, %y, %y, %z, %z
      : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>,
        tensor<4xf32>, tensor<4xf32>
}

// -----

// A result that is the argument that it replaces needs nothing.
// CHECK-LABEL: func.func @unchanged(
func.func @unchanged(%seed: tensor<i64> {echo.name = "seed", echo.role = "state"})
    -> (tensor<i64> {echo.aliases_argument = 0 : i64}) {
  // CHECK-NEXT: return{{$}}
  return %seed : tensor<i64>
}

// -----

// Views are byte offsets into the row-major source: the last of 3 time steps of
// 2x4 f32 starts at 2 * 8 * 4 = 64 bytes. Views of views start at the sum of
// the offsets.
func.func private @read(tensor<1x2x4xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[X:[^:]*]]: memref<3x2x4xf32>
func.func @views(%x: tensor<3x2x4xf32>) -> tensor<8xf32> {
  // CHECK-DAG: %[[P:.*]] = echo.buffer_view %[[X]][64] : memref<3x2x4xf32> to memref<1x2x4xf32>
  // CHECK-DAG: %[[FLAT:.*]] = echo.buffer_view %[[X]][0] : memref<3x2x4xf32> to memref<24xf32>
  // Elements 6 to 9 of 24: byte 24. Elements 8 and 9: 24 + 2 * 4 = 32.
  // CHECK-DAG: %[[S:.*]] = echo.buffer_view %[[X]][24] : memref<3x2x4xf32> to memref<4xf32>
  // CHECK-DAG: %[[T:.*]] = echo.buffer_view %[[X]][32] : memref<3x2x4xf32> to memref<2xf32>
  // CHECK: echo.launch @read(%[[P]], %[[S]], %[[T]])
  %parts:3 = echo.split %x {axis = 0 : i64} : (tensor<3x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  %flat = echo.reshape %x : (tensor<3x2x4xf32>) -> tensor<24xf32>
  %s = echo.slice %flat {offsets = array<i64: 6>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<24xf32>) -> tensor<4xf32>
  %t = echo.slice %s {offsets = array<i64: 2>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  %y = echo.launch @read(%parts#2, %s, %t) : (tensor<1x2x4xf32>, tensor<4xf32>, tensor<2xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// A dead input gives its buffer to the result, a weight or a value with
// another reader doesn't.
func.func private @relu(tensor<8xf32> {echo.overwritable = array<i64: 0>}) -> tensor<8xf32> attributes {echo.kernel}
func.func private @add(tensor<8xf32> {echo.overwritable = array<i64: 0>}, tensor<8xf32> {echo.overwritable = array<i64: 0>}) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[W:[^:]*]]: memref<8xf32>
func.func @in_place(%w: tensor<8xf32> {echo.role = "parameter"}) -> tensor<8xf32> {
  // CHECK:      %[[A:.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: echo.launch @relu(%[[W]]) outs(%[[A]] : memref<8xf32>)
  // CHECK-NEXT: %[[B:.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: echo.launch @relu(%[[A]]) outs(%[[B]] : memref<8xf32>)
  // CHECK-NEXT: echo.launch @add(%[[A]], %[[B]]) outs(%[[A]] : memref<8xf32>)
  // CHECK-NEXT: return %[[A]]
  %a = echo.launch @relu(%w) : (tensor<8xf32>) -> tensor<8xf32>
  %b = echo.launch @relu(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = echo.launch @add(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

// One input can't give its buffer to two results, and an input that is read
// twice only if every use allows it.
func.func private @pair(tensor<8xf32> {echo.overwritable = array<i64: 0, 1>}) -> (tensor<8xf32>, tensor<8xf32>) attributes {echo.kernel}
func.func private @mixed(tensor<8xf32> {echo.overwritable = array<i64: 0>}, tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @in_place_once(
// CHECK-SAME:    %[[X:[^:]*]]: memref<8xf32>
func.func @in_place_once(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK:      %[[B:.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: echo.launch @pair(%[[X]]) outs(%[[X]], %[[B]] : memref<8xf32>, memref<8xf32>)
  // CHECK-NEXT: %[[C:.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: echo.launch @mixed(%[[X]], %[[X]]) outs(%[[C]] : memref<8xf32>)
  %a:2 = echo.launch @pair(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %c = echo.launch @mixed(%a#0, %a#0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %a#1, %c : tensor<8xf32>, tensor<8xf32>
}

// -----

// Library calls: Y = X W^T + b is m = 2 * 3 = 6 rows of k = 4 by n = 5.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x3x4xf32>
// CHECK-SAME:    %[[W:[^:]*]]: memref<5x4xf32>
// CHECK-SAME:    %[[B:[^:]*]]: memref<5xf32>
func.func @linear(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  // CHECK: echo.gemm(%[[X]], %[[W]], bias %[[B]]) outs(%{{.*}})
  // CHECK-SAME: batch = 1 : i64, k = 4 : i64, m = 6 : i64, n = 5 : i64,
  // CHECK-SAME: stride_a = 0 : i64, stride_b = 0 : i64, stride_c = 30 : i64
  // CHECK-SAME: transpose_a = false, transpose_b = true
  %y = echo.linear %x, %w, %b : (tensor<2x3x4xf32>, tensor<5x4xf32>, tensor<5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// A batch on both sides: strides are whole matrices, 2 * 3 and 3 * 4. A matrix
// that the batch shares makes it one of 5 * 2 = 10 rows; transposed on the
// left it can't, and the shared matrix gets stride 0.
// CHECK-LABEL: func.func @matmul(
func.func @matmul(%a: tensor<5x2x3xf64>, %b: tensor<5x3x4xf64>, %c: tensor<3x4xf64>, %at: tensor<5x3x2xf64>)
    -> (tensor<5x2x4xf64>, tensor<5x2x4xf64>, tensor<5x2x4xf64>) {
  // CHECK: echo.gemm
  // CHECK-SAME: batch = 5 : i64, k = 3 : i64, m = 2 : i64, n = 4 : i64,
  // CHECK-SAME: stride_a = 6 : i64, stride_b = 12 : i64, stride_c = 8 : i64
  %0 = echo.matmul %a, %b : (tensor<5x2x3xf64>, tensor<5x3x4xf64>) -> tensor<5x2x4xf64>
  // CHECK: echo.gemm
  // CHECK-SAME: batch = 1 : i64, k = 3 : i64, m = 10 : i64, n = 4 : i64,
  %1 = echo.matmul %a, %c : (tensor<5x2x3xf64>, tensor<3x4xf64>) -> tensor<5x2x4xf64>
  // CHECK: echo.gemm
  // CHECK-SAME: batch = 5 : i64, k = 3 : i64, m = 2 : i64, n = 4 : i64,
  // CHECK-SAME: stride_a = 6 : i64, stride_b = 0 : i64, stride_c = 8 : i64, transpose_a = true
  %2 = echo.matmul %at, %c {transpose_lhs = true} : (tensor<5x3x2xf64>, tensor<3x4xf64>) -> tensor<5x2x4xf64>
  return %0, %1, %2 : tensor<5x2x4xf64>, tensor<5x2x4xf64>, tensor<5x2x4xf64>
}

// -----

// [2, 1] by [1, 3] batches have no common stride: one call per outer index.
// Result 1 of 2 starts at 3 * (2 * 2) * 4 = 48 bytes, lhs matrix 1 at
// 1 * (2 * 5) * 4 = 40; the rhs is read whole both times.
// CHECK-LABEL: func.func @outer_batches(
// CHECK-SAME:    %[[A:[^:]*]]: memref<2x1x2x5xf32>
// CHECK-SAME:    %[[B:[^:]*]]: memref<3x5x2xf32>
func.func @outer_batches(%a: tensor<2x1x2x5xf32>, %b: tensor<3x5x2xf32>) -> tensor<2x3x2x2xf32> {
  // CHECK:      %[[C:.*]] = memref.alloc() : memref<2x3x2x2xf32>
  // CHECK-NEXT: %[[A0:.*]] = echo.buffer_view %[[A]][0] : memref<2x1x2x5xf32> to memref<1x2x5xf32>
  // CHECK-NEXT: %[[B0:.*]] = echo.buffer_view %[[B]][0] : memref<3x5x2xf32> to memref<3x5x2xf32>
  // CHECK-NEXT: %[[C0:.*]] = echo.buffer_view %[[C]][0] : memref<2x3x2x2xf32> to memref<3x2x2xf32>
  // CHECK-NEXT: echo.gemm(%[[A0]], %[[B0]]) outs(%[[C0]])
  // CHECK-SAME: batch = 3 : i64, k = 5 : i64, m = 2 : i64, n = 2 : i64,
  // CHECK-SAME: stride_a = 0 : i64, stride_b = 10 : i64, stride_c = 4 : i64
  // CHECK-NEXT: %[[A1:.*]] = echo.buffer_view %[[A]][40]
  // CHECK-NEXT: %[[B1:.*]] = echo.buffer_view %[[B]][0]
  // CHECK-NEXT: %[[C1:.*]] = echo.buffer_view %[[C]][48]
  // CHECK-NEXT: echo.gemm(%[[A1]], %[[B1]]) outs(%[[C1]])
  %c = echo.matmul %a, %b : (tensor<2x1x2x5xf32>, tensor<3x5x2xf32>) -> tensor<2x3x2x2xf32>
  return %c : tensor<2x3x2x2xf32>
}

// -----

// Both parts are computed in the whole: no copy, one buffer, which is there
// before the first part.
func.func private @twice(tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @join(
// CHECK-SAME:    %[[X:[^:]*]]: memref<8xf32>
// CHECK-NEXT:    %[[C:.*]] = memref.alloc() : memref<16xf32>
// CHECK-NEXT:    %[[A:.*]] = echo.buffer_view %[[C]][0] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    echo.launch @twice(%[[X]]) outs(%[[A]] : memref<8xf32>)
// CHECK-NEXT:    %[[B:.*]] = echo.buffer_view %[[C]][32] : memref<16xf32> to memref<8xf32>
// CHECK-NEXT:    echo.launch @twice(%[[A]]) outs(%[[B]] : memref<8xf32>)
// CHECK-NEXT:    return %[[C]]
func.func @join(%x: tensor<8xf32>) -> tensor<16xf32> {
  %a = echo.launch @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = echo.launch @twice(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = echo.concat %a, %b {axis = 0 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %c : tensor<16xf32>
}

// -----

// Reshaped parts and a concatenation inside another; the inner one begins 8
// elements into the outer one.
func.func private @twice(tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
func.func private @sum(tensor<16xf32>) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @nested(
// CHECK-DAG:     %[[C:.*]] = memref.alloc() : memref<4x8xf32>
// CHECK-DAG:     echo.buffer_view %[[C]][32] : memref<4x8xf32> to memref<8xf32>
// CHECK-DAG:     echo.buffer_view %[[C]][64] : memref<4x8xf32> to memref<8xf32>
// CHECK-DAG:     %[[I:.*]] = echo.buffer_view %[[C]][32] : memref<4x8xf32> to memref<16xf32>
// CHECK-DAG:     %[[S:.*]] = echo.buffer_view %[[C]][0] : memref<4x8xf32> to memref<8xf32>
// CHECK-DAG:     echo.launch @sum(%[[I]]) outs(%[[S]] : memref<8xf32>)
// CHECK-DAG:     echo.buffer_view %[[C]][96] : memref<4x8xf32> to memref<8xf32>
// CHECK-NOT:     echo.copy
// CHECK:         return %[[C]]
func.func @nested(%x: tensor<8xf32>) -> tensor<4x8xf32> {
  %a = echo.launch @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = echo.launch @twice(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %inner = echo.concat %a, %b {axis = 0 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %s = echo.launch @sum(%inner) : (tensor<16xf32>) -> tensor<8xf32>
  %d = echo.launch @twice(%s) : (tensor<8xf32>) -> tensor<8xf32>
  %0 = echo.reshape %s : (tensor<8xf32>) -> tensor<1x8xf32>
  %1 = echo.reshape %inner : (tensor<16xf32>) -> tensor<2x8xf32>
  %2 = echo.reshape %d : (tensor<8xf32>) -> tensor<1x8xf32>
  %c = echo.concat %0, %1, %2 {axis = 0 : i64} : (tensor<1x8xf32>, tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// -----

// An argument and the same part once more are copied; a returned part has a
// buffer of its own.
func.func private @twice(tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @copied(
// CHECK-SAME:    %[[X:[^:]*]]: memref<8xf32>
// CHECK-NEXT:    %[[R:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    echo.launch @twice(%[[X]]) outs(%[[R]] : memref<8xf32>)
// CHECK-NEXT:    %[[C:.*]] = memref.alloc() : memref<32xf32>
// CHECK-NEXT:    %[[A:.*]] = echo.buffer_view %[[C]][0]
// CHECK-NEXT:    echo.launch @twice(%[[R]]) outs(%[[A]] : memref<8xf32>)
// CHECK-NEXT:    %[[V1:.*]] = echo.buffer_view %[[C]][32]
// CHECK-NEXT:    echo.copy %[[X]] to %[[V1]]
// CHECK-NEXT:    %[[V2:.*]] = echo.buffer_view %[[C]][64]
// CHECK-NEXT:    echo.copy %[[A]] to %[[V2]]
// CHECK-NEXT:    %[[V3:.*]] = echo.buffer_view %[[C]][96]
// CHECK-NEXT:    echo.copy %[[R]] to %[[V3]]
// CHECK-NEXT:    return %[[R]], %[[C]]
func.func @copied(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<32xf32>) {
  %r = echo.launch @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %a = echo.launch @twice(%r) : (tensor<8xf32>) -> tensor<8xf32>
  %c = echo.concat %a, %x, %a, %r {axis = 0 : i64} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<32xf32>
  return %r, %c : tensor<8xf32>, tensor<32xf32>
}

// -----

// %a is read when the whole is dead: in there it would keep 16 elements alive
// instead of 8.
func.func private @twice(tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
func.func private @sum(tensor<16xf32>) -> tensor<8xf32> attributes {echo.kernel}
func.func private @both(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @long_lived_part(
// CHECK-NEXT:    %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    echo.launch @twice({{.*}}) outs(%[[A]] : memref<8xf32>)
// CHECK-NEXT:    %[[C:.*]] = memref.alloc() : memref<16xf32>
// CHECK-NEXT:    %[[B:.*]] = echo.buffer_view %[[C]][32]
// CHECK-NEXT:    echo.launch @twice(%[[A]]) outs(%[[B]] : memref<8xf32>)
// CHECK-NEXT:    %[[V:.*]] = echo.buffer_view %[[C]][0]
// CHECK-NEXT:    echo.copy %[[A]] to %[[V]]
func.func @long_lived_part(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = echo.launch @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = echo.launch @twice(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = echo.concat %a, %b {axis = 0 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %s = echo.launch @sum(%c) : (tensor<16xf32>) -> tensor<8xf32>
  %r = echo.launch @both(%a, %s) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// The kernel may overwrite its argument, but %a is a part of %c, which is read
// later.
func.func private @twice(tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
func.func private @next(tensor<8xf32> {echo.overwritable = array<i64: 0>}) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @part_is_read(
// CHECK:         %[[C:.*]] = memref.alloc() : memref<16xf32>
// CHECK:         %[[N:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    echo.launch @next(%{{.*}}) outs(%[[N]] : memref<8xf32>)
// CHECK-NEXT:    return %[[N]], %[[C]]
func.func @part_is_read(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<16xf32>) {
  %a = echo.launch @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = echo.launch @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %c = echo.concat %a, %b {axis = 0 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %n = echo.launch @next(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %n, %c : tensor<8xf32>, tensor<16xf32>
}

// -----

// A result takes the part of a buffer that its input is: other parts are read
// later, this one isn't.
func.func private @twice(tensor<16xf32>) -> tensor<16xf32> attributes {echo.kernel}
func.func private @next(tensor<8xf32> {echo.overwritable = array<i64: 0>}) -> tensor<8xf32> attributes {echo.kernel}
func.func private @both(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @part_is_overwritten(
// CHECK:         %[[C:.*]] = memref.alloc() : memref<16xf32>
// CHECK:         %[[A:.*]] = echo.buffer_view %[[C]][0]
// CHECK:         %[[B:.*]] = echo.buffer_view %[[C]][32]
// CHECK:         echo.launch @next(%[[A]]) outs(%[[A]] : memref<8xf32>)
// CHECK:         echo.launch @both(%[[A]], %[[B]])
func.func @part_is_overwritten(%x: tensor<16xf32>) -> tensor<8xf32> {
  %c = echo.launch @twice(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %p:2 = echo.split %c {axis = 0 : i64} : (tensor<16xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %n = echo.launch @next(%p#0) : (tensor<8xf32>) -> tensor<8xf32>
  %r = echo.launch @both(%n, %p#1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// The old value is read afterwards: the sum is made in a copy.
// CHECK-LABEL: func.func @accumulator_is_read(
// CHECK-SAME:    %[[A:[^:]*]]: memref<4x4xf32>
// CHECK-NEXT:    %[[P:.*]] = memref.alloc() : memref<4x4xf32>
// CHECK-NEXT:    echo.gemm(%[[A]], %[[A]]) outs(%[[P]]) {batch = 1
// CHECK-NEXT:    %[[S:.*]] = memref.alloc() : memref<4x4xf32>
// CHECK-NEXT:    echo.copy %[[P]] to %[[S]]
// CHECK-NEXT:    echo.gemm(%[[A]], %[[A]]) outs(%[[S]]) {accumulate = true,
// CHECK-NEXT:    return %[[P]], %[[S]]
func.func @accumulator_is_read(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %p = echo.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = echo.matmul_add %p, %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p, %s : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A factor can't change while the product is added up.
// CHECK-LABEL: func.func @accumulator_is_factor(
// CHECK:         %[[P:.*]] = memref.alloc() : memref<4x4xf32>
// CHECK:         echo.gemm
// CHECK-NEXT:    %[[S:.*]] = memref.alloc() : memref<4x4xf32>
// CHECK-NEXT:    echo.copy %[[P]] to %[[S]]
// CHECK-NEXT:    echo.gemm(%[[P]], %{{.*}}) outs(%[[S]]) {accumulate = true,
func.func @accumulator_is_factor(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %p = echo.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = echo.matmul_add %p, %p, %a : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// -----

// A parameter isn't changed by a sum that is returned.
// CHECK-LABEL: func.func @accumulator_is_parameter(
// CHECK-SAME:    %[[W:[^:]*]]: memref<4x4xf32>
// CHECK-NEXT:    %[[S:.*]] = memref.alloc() : memref<4x4xf32>
// CHECK-NEXT:    echo.copy %[[W]] to %[[S]]
// CHECK-NEXT:    echo.gemm({{.*}}) outs(%[[S]]) {accumulate = true,
func.func @accumulator_is_parameter(%w: tensor<4x4xf32> {echo.role = "parameter"}, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = echo.matmul_add %w, %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

// -----

// The same in f16 and bf16.
// CHECK-LABEL: func.func @half(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x3xf16>
// CHECK-SAME:    %[[W:[^:]*]]: memref<4x3xf16>
// CHECK-SAME:    %[[B:[^:]*]]: memref<4xf16>
// CHECK-SAME:    %[[S:[^:]*]]: memref<2x4xbf16>
// CHECK-SAME:    %[[P:[^:]*]]: memref<2x3xbf16>
// CHECK-SAME:    %[[Q:[^:]*]]: memref<3x4xbf16>
func.func @half(%x: tensor<2x3xf16>, %w: tensor<4x3xf16>, %b: tensor<4xf16>,
                %s: tensor<2x4xbf16>, %p: tensor<2x3xbf16>, %q: tensor<3x4xbf16>) -> (tensor<2x4xf16>, tensor<2x4xbf16>) {
  // CHECK: echo.gemm(%[[X]], %[[W]], bias %[[B]]) outs(%{{.*}}) {{.*}} : memref<2x3xf16>, memref<4x3xf16>, memref<2x4xf16>, memref<4xf16>
  %0 = echo.linear %x, %w, %b : (tensor<2x3xf16>, tensor<4x3xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  // CHECK: echo.gemm(%[[P]], %[[Q]]) outs(%[[S]]) {accumulate = true, {{.*}} : memref<2x3xbf16>, memref<3x4xbf16>, memref<2x4xbf16>
  %1 = echo.matmul_add %s, %p, %q : (tensor<2x4xbf16>, tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xbf16>
  return %0, %1 : tensor<2x4xf16>, tensor<2x4xbf16>
}

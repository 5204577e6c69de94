// RUN: echo-opt %s --echo-plan-memory --split-input-file | FileCheck %s

// Positions: 0 alloc a, 1 launch, 2 alloc b, 3 launch, 4 alloc c, 5 launch,
// 6 return. x lives in [0, 2), a in [1, 4), b in [3, 6), c in [5, 7): never
// more than two at once. 100 floats are 400 bytes, 448 aligned to 64, so the
// logical peak is 800 and the arena 896. c takes the place of a, b that of x.
func.func private @f(tensor<100xf32>) -> tensor<100xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:[^:]*]]: memref<100xf32> {echo.arena_offset = [[OX:[0-9]+]] : i64}
// CHECK-SAME:    %[[ARENA:[^:]*]]: memref<896xi8> {echo.arena})
// CHECK-SAME:    echo.arena_alignment = 64 : i64, echo.arena_bytes = 896 : i64, echo.logical_peak_bytes = 800 : i64
func.func @chain(%x: memref<100xf32>) -> memref<100xf32> {
  // CHECK-DAG:  %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG:  %[[C448:.*]] = arith.constant 448 : index
  // CHECK:      %[[VX:.*]] = memref.view %[[ARENA]][%[[PX:.*]]][] : memref<896xi8> to memref<100xf32>
  // CHECK:      %[[VA:.*]] = memref.view %[[ARENA]][%[[PA:.*]]][] : memref<896xi8> to memref<100xf32>
  // CHECK-NEXT: echo.launch @f(%[[VX]]) outs(%[[VA]]
  // CHECK-NEXT: %[[VB:.*]] = memref.view %[[ARENA]][%[[PX]]][]
  // CHECK-NEXT: echo.launch @f(%[[VA]]) outs(%[[VB]]
  // CHECK-NEXT: %[[VC:.*]] = memref.view %[[ARENA]][%[[PA]]][]
  // CHECK-NEXT: echo.launch @f(%[[VB]]) outs(%[[VC]]
  // CHECK-NEXT: return %[[VC]]
  %a = memref.alloc() : memref<100xf32>
  echo.launch @f(%x) outs(%a : memref<100xf32>) : (memref<100xf32>) -> ()
  %b = memref.alloc() : memref<100xf32>
  echo.launch @f(%a) outs(%b : memref<100xf32>) : (memref<100xf32>) -> ()
  %c = memref.alloc() : memref<100xf32>
  echo.launch @f(%b) outs(%c : memref<100xf32>) : (memref<100xf32>) -> ()
  return %c : memref<100xf32>
}

// -----

// A view keeps its source alive: a is read through v after b is written, so
// three of 64 bytes are live together, although a itself isn't used again.
func.func private @f(tensor<16xf32>) -> tensor<16xf32> attributes {echo.kernel}
func.func private @g(tensor<4x4xf32>, tensor<16xf32>) -> tensor<16xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    echo.arena_bytes = 192 : i64
func.func @views(%w: memref<16xf32> {echo.role = "parameter"}) -> memref<16xf32> {
  %a = memref.alloc() : memref<16xf32>
  %v = echo.buffer_view %a[0] : memref<16xf32> to memref<4x4xf32>
  echo.launch @f(%w) outs(%a : memref<16xf32>) : (memref<16xf32>) -> ()
  %b = memref.alloc() : memref<16xf32>
  echo.launch @f(%w) outs(%b : memref<16xf32>) : (memref<16xf32>) -> ()
  %c = memref.alloc() : memref<16xf32>
  echo.launch @g(%v, %b) outs(%c : memref<16xf32>) : (memref<4x4xf32>, memref<16xf32>) -> ()
  return %c : memref<16xf32>
}

// -----

// Parameters and states have memory of their own. An output that nobody reads
// and an input that nobody reads still need their space: x and y, both filled
// at the start, then d beside nothing. 64 + 64 bytes.
func.func private @f(tensor<16xf32>) -> tensor<16xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @unread(
// CHECK-SAME:    %{{[^:]*}}: memref<16xf32> {echo.role = "state"}
// CHECK-SAME:    %{{[^:]*}}: memref<16xf32> {echo.arena_offset = [[X:[0-9]+]] : i64}
// CHECK-SAME:    %{{[^:]*}}: memref<16xf32> {echo.arena_offset = {{[0-9]+}} : i64}
// CHECK-SAME:    echo.arena_bytes = 128 : i64
func.func @unread(%s: memref<16xf32> {echo.role = "state"}, %x: memref<16xf32>, %y: memref<16xf32>) {
  %d = memref.alloc() : memref<16xf32>
  echo.launch @f(%s) outs(%d : memref<16xf32>) : (memref<16xf32>) -> ()
  return
}

// -----

// A use inside a region counts at the op that holds the region; deallocs go.
func.func private @f(tensor<16xf32>) -> tensor<16xf32> attributes {echo.kernel}
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    echo.arena_bytes = 192 : i64
func.func @nested(%w: memref<16xf32> {echo.role = "parameter"}) -> memref<16xf32> {
  %true = arith.constant true
  %a = memref.alloc() : memref<16xf32>
  echo.launch @f(%w) outs(%a : memref<16xf32>) : (memref<16xf32>) -> ()
  %b = memref.alloc() : memref<16xf32>
  echo.launch @f(%w) outs(%b : memref<16xf32>) : (memref<16xf32>) -> ()
  %c = memref.alloc() : memref<16xf32>
  echo.copy %b to %c : memref<16xf32>, memref<16xf32>
  scf.if %true {
    echo.copy %a to %c : memref<16xf32>, memref<16xf32>
  }
  // CHECK-NOT: memref.dealloc
  memref.dealloc %a : memref<16xf32>
  memref.dealloc %b : memref<16xf32>
  return %c : memref<16xf32>
}

// -----

// i1 takes a byte per element, an empty buffer nothing; nothing at all makes
// an arena of 0 bytes.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME:    echo.arena_bytes = 64 : i64, echo.logical_peak_bytes = 33 : i64
func.func @sizes(%m: memref<33xi1>, %e: memref<0x8xf32>) {
  return
}
// CHECK-LABEL: func.func @empty(
// CHECK-SAME:    memref<0xi8> {echo.arena}
func.func @empty() {
  return
}

// RUN: echo-opt %s --echo-plan-memory --split-input-file --verify-diagnostics
// RUN: not echo-opt %s --echo-plan-memory=alignment=48 --split-input-file 2>&1 | FileCheck %s
// CHECK: expects an alignment that is a power of two, found 48

// expected-error @below {{argument #0 isn't a buffer: 'tensor<4xf32>' (echo-bufferize comes first)}}
func.func @tensors(%x: tensor<4xf32>) {
  return
}

// -----

func.func @dynamic(%n: memref<4xf32>) {
  %c = arith.constant 4 : index
  // expected-error @below {{expects a buffer with a static shape, the identity layout and a size that fits 63 bits, found 'memref<?xf32>'}}
  %a = memref.alloc(%c) : memref<?xf32>
  return
}

// -----

func.func @select(%p: memref<4xf32> {echo.role = "state"}) {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  // expected-error @below {{may return a buffer that it was given}}
  %b = arith.select %true, %a, %p : memref<4xf32>
  return
}

// -----

func.func @nested_alloc() {
  %true = arith.constant true
  scf.if %true {
    // expected-error @below {{lies in a nested region}}
    %a = memref.alloc() : memref<4xf32>
  }
  return
}

// -----

func.func @alignment() {
  // expected-error @below {{asks for alignment 128, but the arena has 64}}
  %a = memref.alloc() {alignment = 128 : i64} : memref<4xf32>
  return
}

// -----

// Two of 2^62 bytes that live together.
// expected-error @below {{can't be planned: the bytes that are live together overflow 63 bits}}
func.func @overflow(%a: memref<4611686018427387904xi8>, %b: memref<4611686018427387904xi8>) {
  return
}

// -----

// expected-error @below {{has an arena already}}
func.func @again() attributes {echo.arena_bytes = 0 : i64} {
  return
}

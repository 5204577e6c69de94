// RUN: echo-opt %s --echo-emit-program --split-input-file --verify-diagnostics

// expected-error @below {{has no arena (echo-plan-memory comes first)}}
func.func @unplanned(%s: memref<4xf32> {echo.role = "state", echo.name = "s"}) {
  return
}

// -----

func.func private @k(tensor<4xf32>) -> tensor<4xf32> attributes {echo.kernel}
func.func @not_lowered(%s: memref<4xf32> {echo.role = "state", echo.name = "s"},
                       %arena: memref<0xi8> {echo.arena})
    attributes {echo.arena_bytes = 0 : i64, echo.arena_alignment = 64 : i64, echo.logical_peak_bytes = 0 : i64} {
  // expected-error @below {{expects kernel @k to be an LLVM function '!llvm.func<void (ptr, i64, i64)>' with echo.chunks (convert-echo-kernels-to-llvm comes first)}}
  echo.launch @k(%s) outs(%s : memref<4xf32>) : (memref<4xf32>) -> ()
  return
}

// -----

llvm.func @float(f32) attributes {echo.kernel, echo.chunks = 1 : i64}
func.func @wrong_signature(%s: memref<4xf32> {echo.role = "state", echo.name = "s"},
                           %arena: memref<0xi8> {echo.arena})
    attributes {echo.arena_bytes = 0 : i64, echo.arena_alignment = 64 : i64, echo.logical_peak_bytes = 0 : i64} {
  // expected-error @below {{expects kernel @float to be an LLVM function '!llvm.func<void (ptr, i64, i64)>' with echo.chunks}}
  echo.launch @float(%s) outs(%s : memref<4xf32>) : (memref<4xf32>) -> ()
  return
}

// -----

func.func @unknown_op(%arena: memref<0xi8> {echo.arena})
    attributes {echo.arena_bytes = 0 : i64, echo.arena_alignment = 64 : i64, echo.logical_peak_bytes = 0 : i64} {
  // expected-error @below {{can't be part of a program; expected launches, library calls, copies and views}}
  %a = memref.alloc() : memref<4xf32>
  return
}

// -----

// The arena has 64 bytes, but the copy reads from byte 128.
// expected-error @below {{doesn't make a valid program: operand 0: offset 128 is outside its region of 64 bytes}}
func.func @outside(%s: memref<4xf32> {echo.role = "state", echo.name = "s"},
                   %arena: memref<256xi8> {echo.arena})
    attributes {echo.arena_bytes = 64 : i64, echo.arena_alignment = 64 : i64, echo.logical_peak_bytes = 0 : i64} {
  %c128 = arith.constant 128 : index
  %v = memref.view %arena[%c128][] : memref<256xi8> to memref<4xf32>
  echo.copy %v to %s : memref<4xf32>, memref<4xf32>
  return
}

// -----

// expected-error @below {{expected one public function with a body, or the name of a function, found 2 public functions}}
module {
  // expected-note @below {{@a}}
  func.func @a() { return }
  // expected-note @below {{@b}}
  func.func @b() { return }
}

// -----

// expected-error @below {{doesn't make a valid program: tensor 1 's': two tensors have this name}}
func.func @names(%a: memref<f32> {echo.role = "state", echo.name = "s"},
                 %arena: memref<64xi8> {echo.arena})
    -> (memref<f32> {echo.name = "s"})
    attributes {echo.arena_bytes = 64 : i64, echo.arena_alignment = 64 : i64, echo.logical_peak_bytes = 64 : i64} {
  %offset = arith.constant 0 : index
  %b = memref.view %arena[%offset][] : memref<64xi8> to memref<f32>
  return %b : memref<f32>
}

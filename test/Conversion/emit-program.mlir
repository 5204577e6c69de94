// RUN: echo-opt %s --echo-emit-program | FileCheck %s

// The table holds a kernel once, however often it is called, in the order of
// first use; the host function is gone.
// CHECK-NOT: func.func
// CHECK:     llvm.mlir.global external constant @echo_program("ECHOPROG
// CHECK:     llvm.mlir.global external constant @echo_program_size({{[0-9]+}} : i64)
// CHECK:     llvm.mlir.global external constant @echo_kernels()
// CHECK-SAME: !llvm.array<2 x ptr>
// CHECK:     %[[U:.*]] = llvm.mlir.undef : !llvm.array<2 x ptr>
// CHECK:     %[[B:.*]] = llvm.mlir.addressof @b : !llvm.ptr
// CHECK:     %[[T:.*]] = llvm.insertvalue %[[B]], %[[U]][0]
// CHECK:     %[[A:.*]] = llvm.mlir.addressof @a : !llvm.ptr
// CHECK:     %[[R:.*]] = llvm.insertvalue %[[A]], %[[T]][1]
// CHECK:     llvm.return %[[R]]
llvm.func @a(!llvm.ptr, i64, i64) attributes {echo.kernel, echo.chunks = 1 : i64}
llvm.func @b(!llvm.ptr, i64, i64) attributes {echo.kernel, echo.chunks = 1 : i64}
func.func @step(%s: memref<4xf32> {echo.role = "state", echo.name = "s"},
                %arena: memref<0xi8> {echo.arena})
    attributes {echo.arena_bytes = 0 : i64, echo.arena_alignment = 64 : i64, echo.logical_peak_bytes = 0 : i64} {
  echo.launch @b(%s) outs(%s : memref<4xf32>) : (memref<4xf32>) -> ()
  echo.launch @a(%s) outs(%s : memref<4xf32>) : (memref<4xf32>) -> ()
  echo.launch @b(%s) outs(%s : memref<4xf32>) : (memref<4xf32>) -> ()
  return
}

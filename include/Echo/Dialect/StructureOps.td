//===- StructureOps.td - Kernels and the host program -*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_STRUCTUREOPS_TD
#define ECHO_DIALECT_STRUCTUREOPS_TD

include "Echo/Dialect/EchoOpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def Echo_KernelOp : Echo_Op<"kernel", [IsolatedFromAbove, Pure, Echo_DropResults,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "ops that share a kernel";
  let description = [{
    A region of fused ops on tensors with several results. Operands become the
    block's arguments.

    Constraints:
    - (C1) the block's arguments have the operands' types.
    - (C2) the yielded values have the results' types.

    Example:
    ```mlir
    %1 = echo.kernel(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    ^bb0(%arg0: tensor<2x3xf32>):
      %2 = echo.exp %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
      echo.yield %2 : tensor<2x3xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Echo_Tensor>:$inputs);
  let results = (outs Variadic<Echo_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) $body
  }];
}

def Echo_YieldOp : Echo_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["KernelOp"]>]> {
  let summary = "ends a kernel";
  let description = "Hands the kernel's results over.";
  let arguments = (ins Variadic<Echo_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Echo_LaunchOp : Echo_Op<"launch", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs an outlined kernel";
  let description = [{
    On tensors: `inputs` are the kernel function's arguments, the results are
    its results, `outputs` is empty, and the op has no effect. On buffers:
    there are no results, the kernel reads `inputs` and writes `outputs`; an
    output may be the same buffer as an input that the kernel allows to be
    overwritten.

    Constraints:
    - (C1) `kernel` names a function with the attribute `echo.kernel`.
    - (C2) on tensors: types agree with the function's; on buffers: inputs and
      outputs are memrefs of the types of its arguments and results.
    - (C3) `parameters` has a value for every scalar argument of the function,
      which come behind the tensors: an integer, or the bits of a float.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<AnyTypeOf<[Echo_Tensor, Echo_Buffer]>>:$inputs,
                       Variadic<Echo_Buffer>:$outputs,
                       OptionalAttr<DenseI64ArrayAttr>:$parameters);
  let results = (outs Variadic<Echo_Tensor>:$results);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    attr-dict `:` functional-type($inputs, $results)
  }];
}

def Echo_GemmOp : Echo_Op<"gemm", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "library call: strided batched matrix product on buffers";
  let description = [{
    For every b < batch: `C_b = op(A_b) op(B_b) + beta * C_b`, or with a bias
    `C_b = op(A_b) op(B_b) + bias` for every row. A_b starts `b * stride_a`
    elements after A, and so on; matrices are row-major and dense: op(A_b) is
    m x k, op(B_b) k x n, C_b m x n. A stride of 0 repeats the matrix. f16 and
    bf16 are summed in f32, with the old C_b or the bias, and rounded once.

    Constraints:
    - (C1) f16, bf16, f32 or f64, one element type.
    - (C2) batch, m, n, k and strides are >= 0.
    - (C3) bias, if given, has n elements.
    - (C4) every matrix lies inside its buffer.
  }];
  let arguments = (ins Echo_Buffer:$a, Echo_Buffer:$b, Optional<Echo_Buffer>:$bias,
                       Echo_Buffer:$c, I64Attr:$batch, I64Attr:$m, I64Attr:$n,
                       I64Attr:$k, BoolAttr:$transpose_a, BoolAttr:$transpose_b,
                       I64Attr:$stride_a, I64Attr:$stride_b, I64Attr:$stride_c,
                       DefaultValuedAttr<BoolAttr, "false">:$accumulate);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `(` $a `,` $b (`,` `bias` $bias^)? `)` `outs` `(` $c `)` attr-dict
    `:` type($a) `,` type($b) `,` type($c) (`,` type($bias)^)?
  }];
}

def Echo_CopyOp : Echo_Op<"copy", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "copies a buffer into another of the same type";
  let description = [{
    Constraints:
    - (C1) source and target have one type with a static shape.
  }];
  let arguments = (ins Echo_Buffer:$source, Echo_Buffer:$target);
  let hasVerifier = 1;
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `,` type($target)";
}

def Echo_BufferViewOp : Echo_Op<"buffer_view", [Pure,
    DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "a row-major part of a buffer in another shape";
  let description = [{
    The bytes of `source` from `offset` on, as a buffer of the result's type.
    Unlike `memref.subview` and `memref.reinterpret_cast` the result has the
    identity layout, which is what kernels and library calls take.

    Constraints:
    - (C1) source and result have static shapes and the identity layout.
    - (C2) offset is in bytes, >= 0, a multiple of the result's element size.
    - (C3) the result lies inside the source.
  }];
  let arguments = (ins Echo_Buffer:$source, I64Attr:$offset);
  let results = (outs Echo_Buffer:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$source `[` $offset `]` attr-dict `:` type($source) `to` type($result)";
}

def Echo_OptimizationBarrierOp : Echo_Op<"optimization_barrier", [Pure,
    AllTypesMatch<["operand", "result"]>, Echo_View, Echo_Movement,
    DeclareOpInterfaceMethods<CostOpInterface>,
    DeclareOpInterfaceMethods<RecomputeOpInterface>]> {
  let summary = "its operand, not before another value";
  let description = [{
    The result equals `operand`; what reads it isn't computed before `after` is.
    Types are any, so that it serves graphs without Echo ops as well.

    An op that is evaluated a second time reads its inputs through barriers: an
    optimizer that knows nothing of it then neither merges it with the first
    evaluation nor moves it to where that is. Inside a loop `after` has to be
    computed in the loop, or else both may move out of it.

    The op is never simplified. Kernel forming keeps the order and reads
    through it, bufferization makes the result the operand's buffer, and
    `echo-remove-barriers` takes it away where the order is fixed.

    Constraints:
    - (C1) the result has the operand's type.

    Example:
    ```mlir
    %1 = echo.optimization_barrier(%x, %gradient)
        : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyType:$operand, AnyType:$after);
  let results = (outs AnyType:$result);
  let extraClassDeclaration = [{
    ::llvm::FailureOr<uint64_t> getFlops() { return uint64_t(0); }
    ::llvm::FailureOr<uint64_t> getBytesRead() { return uint64_t(0); }
    ::llvm::FailureOr<uint64_t> getBytesWritten() { return uint64_t(0); }
  }];
  let assemblyFormat = [{
    `(` $operand `,` $after `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // ECHO_DIALECT_STRUCTUREOPS_TD

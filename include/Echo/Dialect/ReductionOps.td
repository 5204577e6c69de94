//===- ReductionOps.td - Reductions -*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_REDUCTIONOPS_TD
#define ECHO_DIALECT_REDUCTIONOPS_TD

include "Echo/Dialect/EchoOpBase.td"

def Echo_ReduceOp : Echo_GraphOp<"reduce", [Echo_Infer, Echo_Gradient, Echo_SplitFusion,
    Echo_RowSum]> {
  let summary = "sum, max, mean or min over dimensions";
  let description = [{
    The order of a sum is a fixed tree given by the shape, see
    `Echo/Numerics/ReductionTree.h`. f16 and bf16 accumulate in f32. An empty
    sum is 0, an empty max -inf, an empty min +inf, an empty mean NaN. NaN in
    a max or min gives NaN. The gradient of max and min is shared equally by
    ties.

    Constraints:
    - (C1) dims are increasing and in 0 .. rank - 1.
    - (C2) the result's shape is the operand's without dims, or with 1 in
      their places if keepdims; one element type.
    - (C3) the element type isn't i1; mean needs floats.

    Example:
    ```mlir
    %1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
    %2 = echo.reduce max %0 {dims = array<i64: 1>, keepdims = true}
        : (tensor<2x3xf32>) -> tensor<2x1xf32>
    ```
  }];
  let arguments = (ins Echo_Tensor:$operand, Echo_ReduceKindAttr:$kind,
                       DenseI64ArrayAttr:$dims,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdims);
  let results = (outs Echo_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = [{`` $kind operands attr-dict
                         `:` functional-type(operands, results)}];
  let extraClassDeclaration = [{
    ::llvm::FailureOr<uint64_t> getFlops() {
      return ::mlir::echo::detail::flopsPerOperandElement(*this, 1);
    }
  }];
}

def Echo_ArgmaxOp : Echo_GraphOp<"argmax", [Echo_Infer, Echo_Fusion]> {
  let summary = "index of the largest element along a dimension";
  let description = [{
    The first of equal elements wins; the first NaN wins over all numbers.

    Constraints:
    - (C1) 0 <= axis < rank; dim(operand, axis) isn't 0.
    - (C2) the result's shape is the operand's without axis; its element type
      is i32.

    Example:
    ```mlir
    %1 = echo.argmax %0 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi32>
    ```
  }];
  let arguments = (ins Echo_Tensor:$operand, I64Attr:$axis);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::FailureOr<uint64_t> getFlops() {
      return ::mlir::echo::detail::flopsPerOperandElement(*this, 1);
    }
  }];
}

#endif // ECHO_DIALECT_REDUCTIONOPS_TD

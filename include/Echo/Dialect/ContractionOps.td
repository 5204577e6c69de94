//===- ContractionOps.td - Contractions -*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_CONTRACTIONOPS_TD
#define ECHO_DIALECT_CONTRACTIONOPS_TD

include "Echo/Dialect/EchoOpBase.td"

def Echo_MatmulOp : Echo_GraphOp<"matmul", [Echo_Infer, Echo_Gradient, Echo_Library,
    Echo_RowParallel, Echo_RowSum, Echo_Accumulate]> {
  let summary = "matrix product with batch dimensions";
  let description = [{
    `op(lhs) op(rhs) + bias` over the last two dimensions, where op transposes
    them if the flag says so. Leading dimensions are batch dimensions and
    broadcast as in NumPy. f16 and bf16 accumulate in f32.

    Constraints:
    - (C1) lhs and rhs have rank >= 2 and one float element type.
    - (C2) the contracted sizes agree.
    - (C3) batch dimensions broadcast.
    - (C4) the result's shape is batch, rows of op(lhs), columns of op(rhs).
    - (C5) bias, if given, has shape [columns] and the element type.

    Example:
    ```mlir
    %2 = echo.matmul %0, %1 {transpose_rhs = true}
        : (tensor<8x2x3xf32>, tensor<4x3xf32>) -> tensor<8x2x4xf32>
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$lhs, Echo_FloatTensor:$rhs,
                       Optional<Echo_FloatTensor>:$bias,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_lhs,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_rhs);
  let results = (outs Echo_FloatTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// 2 m n k, and m n for a bias, for each batch.
    ::llvm::FailureOr<uint64_t> getFlops();
    bool isComputeHeavy() { return true; }
  }];
}

def Echo_MatmulAddOp : Echo_GraphOp<"matmul_add", [Echo_Infer, Echo_Gradient,
    DeclareOpInterfaceMethods<LibraryCallOpInterface, ["getAccumulatorOperand"]>]> {
  let summary = "matrix product added to a tensor";
  let description = [{
    `accumulator + op(lhs) op(rhs)` with op and batch dimensions as in matmul.
    The product is added up first, in f32 for f16 and bf16, then added to the
    accumulator and rounded. In a host program the sum takes the accumulator's
    buffer where nothing reads that afterwards.

    Constraints:
    - (C1) lhs and rhs have rank >= 2 and one float element type.
    - (C2) the contracted sizes agree.
    - (C3) batch dimensions broadcast.
    - (C4) the result's shape is batch, rows of op(lhs), columns of op(rhs).
    - (C5) accumulator has the result's type.

    Example:
    ```mlir
    %3 = echo.matmul_add %0, %1, %2 {transpose_lhs = true}
        : (tensor<3x4xf32>, tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$accumulator, Echo_FloatTensor:$lhs,
                       Echo_FloatTensor:$rhs,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_lhs,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_rhs);
  let results = (outs Echo_FloatTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// 2 m n k + m n for each batch.
    ::llvm::FailureOr<uint64_t> getFlops();
    bool isComputeHeavy() { return true; }
  }];
}

def Echo_LinearOp : Echo_GraphOp<"linear", [Echo_Infer, Echo_Gradient, Echo_Library,
    Echo_RowParallel, Echo_Accumulate]> {
  let summary = "fully connected layer, Y = X W^T + b";
  let description = [{
    Constraints:
    - (C1) input has rank >= 1, weight has rank 2; one float element type.
    - (C2) the last dimension of input is dim(weight, 1).
    - (C3) the result's shape is the input's with dim(weight, 0) last.
    - (C4) bias, if given, has shape [dim(weight, 0)] and the element type.

    Example:
    ```mlir
    %3 = echo.linear %x, %w, %b
        : (tensor<8x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$input, Echo_FloatTensor:$weight,
                       Optional<Echo_FloatTensor>:$bias);
  let results = (outs Echo_FloatTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// 2 m n k, and m n for a bias, for each batch.
    ::llvm::FailureOr<uint64_t> getFlops();
    bool isComputeHeavy() { return true; }
  }];
}

#endif // ECHO_DIALECT_CONTRACTIONOPS_TD

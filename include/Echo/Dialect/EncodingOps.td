//===- EncodingOps.td - Ops that pack flags into words -*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_ENCODINGOPS_TD
#define ECHO_DIALECT_ENCODINGOPS_TD

include "Echo/Dialect/EchoOpBase.td"

def Echo_BinarizeOp : Echo_GraphOp<"binarize", [Echo_Fusion]> {
  let summary = "one bit an element, whether it is positive";
  let description = [{
    Packs `operand > 0` (for i1 the operand itself) into words of 32 bits: the
    bit of element i, in row-major order, is bit `i mod 32`, counted from the
    least significant one, of word `i / 32`. Bits of the last word that no
    element has are 0. NaN isn't positive.

    A step stashes masks and the signs of ReLU so: a feature map of which
    the backward part reads one bit an element.

    Constraints:
    - (C1) where both shapes are static, the result has one word for every 32
      elements of the operand or part of 32; its shape is free otherwise.

    Example:
    ```mlir
    %1 = echo.binarize %0 : (tensor<8x64xf32>) -> tensor<8x2xi32>
    ```
  }];
  let arguments = (ins Echo_Tensor:$operand);
  let results = (outs RankedTensorOf<[I32]>:$words);
  let builders = [
    // Words have the operand's shape but for the last dimension, if that is a
    // multiple of 32, or one dimension.
    OpBuilder<(ins "::mlir::Value":$operand)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kWordBits = 32;
    ::llvm::FailureOr<uint64_t> getFlops() {
      return ::mlir::echo::detail::flopsPerOperandElement(*this, 1);
    }
  }];
}

def Echo_DebinarizeOp : Echo_GraphOp<"debinarize", [Echo_Movement]> {
  let summary = "the flags that words hold";
  let description = [{
    The inverse of `binarize`: element i is bit `i mod 32` of word `i / 32`.
    Kernels read the words, and have the flags in no memory.

    A `binarize` that it reads isn't looked through: what is stashed as bits
    stays so.

    Constraints:
    - (C1) where both shapes are static, the operand has one word for every 32
      elements of the result or part of 32.

    Example:
    ```mlir
    %1 = echo.debinarize %0 : (tensor<8x2xi32>) -> tensor<8x64xi1>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$words);
  let results = (outs Echo_BoolTensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // ECHO_DIALECT_ENCODINGOPS_TD

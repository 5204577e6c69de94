//===- ShapeOps.td - Shape and data movement ops -*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_SHAPEOPS_TD
#define ECHO_DIALECT_SHAPEOPS_TD

include "Echo/Dialect/EchoOpBase.td"

// Costs of ops that move elements and compute none.
def Echo_Moves {
  code noFlops = [{
    ::llvm::FailureOr<uint64_t> getFlops() { return uint64_t(0); }
  }];
  // Of the operand's buffer only the result's elements are read.
  code part = noFlops # [{
    ::llvm::FailureOr<uint64_t> getBytesRead() {
      return ::mlir::echo::detail::resultBytes(*this);
    }
  }];
  code nothing = noFlops # [{
    ::llvm::FailureOr<uint64_t> getBytesRead() { return uint64_t(0); }
    ::llvm::FailureOr<uint64_t> getBytesWritten() { return uint64_t(0); }
  }];
}

class Echo_ShapeOp<string mnemonic, list<Trait> traits = []>
    : Echo_GraphOp<mnemonic, traits> {
  let extraClassDeclaration = Echo_Moves.noFlops;
}

def Echo_ConstantOp : Echo_ShapeOp<"constant", [ConstantLike, Echo_Infer]> {
  let summary = "a constant tensor";
  let description = [{
    Constraints:
    - (C1) the result's type is the value's type.

    Example:
    ```mlir
    %0 = echo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Echo_Tensor:$result);
  let hasFolder = 1;
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict $value";
}

def Echo_IotaOp : Echo_ShapeOp<"iota", [Echo_Movement]> {
  let summary = "counts along a dimension";
  let description = [{
    The element at an index is the index's component `dimension`.

    Constraints:
    - (C1) 0 <= dimension < rank of the result.
    - (C2) the result's shape is static and its element type isn't i1.

    Example:
    ```mlir
    // [[0, 1, 2], [0, 1, 2]]
    %0 = echo.iota {dimension = 1 : i64} : tensor<2x3xi32>
    ```
  }];
  let arguments = (ins I64Attr:$dimension);
  let results = (outs Echo_Tensor:$result);
  let builders = [
    OpBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                   "int64_t":$dimension)>
  ];
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Echo_ReshapeOp : Echo_ShapeOp<"reshape", [Echo_Gradient, Echo_View, Echo_Movement]> {
  let summary = "the same elements in another shape, row-major";
  let description = [{
    Constraints:
    - (C1) operand and result have one element type.
    - (C2) where both are static, both have the same number of elements.

    Example:
    ```mlir
    %1 = echo.reshape %0 : (tensor<2x6xf32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins Echo_Tensor:$operand);
  let results = (outs Echo_Tensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$operand, "::llvm::ArrayRef<int64_t>":$shape)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = Echo_Moves.nothing;
}

def Echo_TransposeOp : Echo_ShapeOp<"transpose", [Echo_Infer, Echo_Gradient, Echo_Fusion]> {
  let summary = "permutes dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.

    Constraints:
    - (C1) permutation is a permutation of 0 .. rank - 1.
    - (C2) dim(result, i) = dim(operand, permutation[i]); one element type.

    Example:
    ```mlir
    %1 = echo.transpose %0 {permutation = array<i64: 2, 0, 1>}
        : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
    ```
  }];
  let arguments = (ins Echo_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Echo_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Echo_BroadcastOp : Echo_ShapeOp<"broadcast", [Echo_Gradient, Echo_Movement]> {
  let summary = "repeats an operand to the result's shape";
  let description = [{
    NumPy's broadcast_to: shapes are aligned at the last dimension; a
    dimension of size 1, or one that is missing, is repeated.

    Constraints:
    - (C1) one element type.
    - (C2) rank(operand) <= rank(result), and every operand dimension is 1 or
      the result's.

    Example:
    ```mlir
    %1 = echo.broadcast %0 : (tensor<2x1xf32>) -> tensor<4x2x3xf32>
    ```
  }];
  let arguments = (ins Echo_Tensor:$operand);
  let results = (outs Echo_Tensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$operand, "::llvm::ArrayRef<int64_t>":$shape)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Echo_SliceOp : Echo_ShapeOp<"slice", [Echo_Infer, Echo_Gradient, Echo_View, Echo_Movement]> {
  let summary = "a rectangular part of a tensor";
  let description = [{
    Element i of the result in dimension d is element
    `offsets[d] + i * strides[d]` of the operand.

    Constraints:
    - (C1) offsets, sizes and strides have one entry per dimension.
    - (C2) offsets >= 0, sizes >= 0, strides >= 1.
    - (C3) offsets[d] + (sizes[d] - 1) * strides[d] < dim(operand, d) where
      that is static and sizes[d] > 0.
    - (C4) the result's shape is sizes; one element type.

    Example:
    ```mlir
    // rows 1 and 3
    %1 = echo.slice %0 {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 3>,
                        strides = array<i64: 2, 1>}
        : (tensor<4x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Echo_Tensor:$operand, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs Echo_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = Echo_Moves.part;
}

def Echo_PadOp : Echo_ShapeOp<"pad", [Echo_Infer, Echo_Gradient, Echo_Fusion]> {
  let summary = "surrounds a tensor with a scalar";
  let description = [{
    Constraints:
    - (C1) low and high have one entry >= 0 per dimension; value has rank 0.
    - (C2) dim(result, d) = low[d] + dim(operand, d) + high[d].
    - (C3) operand, value and result have one element type.

    Example:
    ```mlir
    %2 = echo.pad %0, %1 {low = array<i64: 1, 0>, high = array<i64: 0, 2>}
        : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Echo_Tensor:$operand, Echo_Tensor:$value,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Echo_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Echo_ConcatOp : Echo_ShapeOp<"concat", [Echo_Infer, Echo_Gradient, Echo_Fusion,
    Echo_Join]> {
  let summary = "joins tensors along a dimension";
  let description = [{
    Constraints:
    - (C1) at least one operand; all have one rank and element type.
    - (C2) 0 <= axis < rank.
    - (C3) all dimensions but axis agree; dim(result, axis) is their sum.

    Example:
    ```mlir
    %2 = echo.concat %0, %1 {axis = 1 : i64}
        : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Echo_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Echo_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = Echo_Moves.noFlops # Echo_NotMirrored<>.declaration;
}

def Echo_SplitOp : Echo_ShapeOp<"split", [Echo_Gradient, Echo_View, Echo_Movement]> {
  let summary = "cuts a tensor into equal parts along a dimension";
  let description = [{
    Result i holds part i of as many equal parts as there are results. Its
    gradient is one concat, where slices would need a sum of padded tensors:
    this is how a graph reads all time steps of a sequence. Along the
    outermost dimension the results are views.

    Constraints:
    - (C1) 0 <= axis < rank; at least one result.
    - (C2) dim(operand, axis) is a multiple of the number of results; every
      result has the operand's type with that part of it.

    Example:
    ```mlir
    %1:3 = echo.split %0 {axis = 0 : i64}
        : (tensor<6x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
    ```
  }];
  let arguments = (ins Echo_Tensor:$operand, I64Attr:$axis);
  let results = (outs Variadic<Echo_Tensor>:$parts);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$operand, "int64_t":$axis, "int64_t":$count)>
  ];
  let hasVerifier = 1;
}

def Echo_ReverseOp : Echo_ShapeOp<"reverse", [Echo_Infer, Echo_Gradient, Echo_Fusion]> {
  let summary = "reverses dimensions";
  let description = [{
    Constraints:
    - (C1) axes are distinct and in 0 .. rank - 1.
    - (C2) operand and result have one type.

    Example:
    ```mlir
    %1 = echo.reverse %0 {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Echo_Tensor:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs Echo_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // ECHO_DIALECT_SHAPEOPS_TD

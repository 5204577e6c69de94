//===- CompositeOps.td - Composite ops of neural networks -*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_COMPOSITEOPS_TD
#define ECHO_DIALECT_COMPOSITEOPS_TD

include "Echo/Dialect/EchoOpBase.td"

// Flops of a composite, for each element of operand 0; a function such as exp
// counts as one.
class Echo_FlopsPerElement<int flops> {
  code declaration = [{
    ::llvm::FailureOr<uint64_t> getFlops() {
      return ::mlir::echo::detail::flopsPerOperandElement(*this, }] # flops # [{);
    }
  }];
}

def Echo_SoftmaxOp : Echo_GraphOp<"softmax", [Echo_Infer, Echo_Gradient, Echo_Decompose, Echo_Fusion]> {
  let summary = "softmax along a dimension";
  let description = [{
    `exp(x - max) / sum(exp(x - max))` along axis. A row of -inf gives zeros,
    and its gradient is zero. f16 and bf16 compute in f32. The gradient reads
    the result.

    Constraints:
    - (C1) 0 <= axis < rank.
    - (C2) operand and result have one type.

    Example:
    ```mlir
    %1 = echo.softmax %0 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$operand, I64Attr:$axis);
  let results = (outs Echo_FloatTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = Echo_FlopsPerElement<5>.declaration
      # Echo_NotMirrored<>.declaration;
}

def Echo_LogSoftmaxOp : Echo_GraphOp<"log_softmax", [Echo_Infer, Echo_Gradient, Echo_Decompose, Echo_Fusion]> {
  let summary = "logarithm of softmax along a dimension";
  let description = [{
    `x - max - log(sum(exp(x - max)))` along axis; a row of -inf gives -inf,
    and its gradient is zero. The gradient reads the result.

    Constraints:
    - (C1) 0 <= axis < rank.
    - (C2) operand and result have one type.

    Example:
    ```mlir
    %1 = echo.log_softmax %0 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$operand, I64Attr:$axis);
  let results = (outs Echo_FloatTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = Echo_FlopsPerElement<5>.declaration;
}

def Echo_LayerNormOp : Echo_GraphOp<"layer_norm", [Echo_Infer, Echo_Gradient, Echo_Decompose, Echo_Fusion]> {
  let summary = "layer normalization over the last dimension";
  let description = [{
    `(x - mean) * rstd * scale + offset`, where mean and
    `rstd = rsqrt(variance + epsilon)` are over the last dimension (biased
    variance). mean and rstd are results, for the gradient: they have the
    operand's shape with 1 as the last dimension, in f32 for f16 and bf16.

    Constraints:
    - (C1) rank >= 1; scale and offset have shape [last dimension].
    - (C2) operand, scale, offset and result have one element type.
    - (C3) epsilon > 0.

    Example:
    ```mlir
    %y, %mean, %rstd = echo.layer_norm %x, %scale, %offset {epsilon = 1.0e-5 : f64}
        : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>)
          -> (tensor<2x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$operand, Echo_FloatTensor:$scale,
                       Echo_FloatTensor:$offset,
                       DefaultValuedAttr<F64Attr, "1e-5">:$epsilon);
  let results = (outs Echo_FloatTensor:$result, Echo_FloatTensor:$mean,
                      Echo_FloatTensor:$rstd);
  let hasVerifier = 1;
  let extraClassDeclaration = Echo_FlopsPerElement<8>.declaration;
}

def Echo_EmbeddingOp : Echo_GraphOp<"embedding", [Echo_Infer, Echo_Gradient, Echo_Fusion]> {
  let summary = "rows of a table";
  let description = [{
    `result[i..., :] = table[indices[i...], :]`. An index outside the table
    reads zeros.

    Constraints:
    - (C1) table has rank 2.
    - (C2) the result's shape is the indices' shape with dim(table, 1) last;
      the table's element type.

    Example:
    ```mlir
    %1 = echo.embedding %table, %indices
        : (tensor<1000x64xf32>, tensor<5x2xi32>) -> tensor<5x2x64xf32>
    ```
  }];
  let arguments = (ins Echo_Tensor:$table, Echo_IndexTensor:$indices);
  let results = (outs Echo_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::FailureOr<uint64_t> getFlops() { return uint64_t(0); }
    /// The indices, and the rows they name.
    ::llvm::FailureOr<uint64_t> getBytesRead();
  }];
}

def Echo_EmbeddingGradOp : Echo_GraphOp<"embedding_grad", [Echo_Infer, Echo_RowSum]> {
  let summary = "sums rows into a table of zeros";
  let description = [{
    `result[v, :]` is the sum of `gradient[i..., :]` over all positions i with
    `indices[i...] = v`, added in row-major order of the positions. Indices
    outside 0 .. rows - 1 are skipped.

    Constraints:
    - (C1) gradient's shape is the indices' shape and one more dimension.
    - (C2) the result's shape is [rows, last dimension of gradient]; rows >= 0.

    Example:
    ```mlir
    %1 = echo.embedding_grad %indices, %gradient {rows = 1000 : i64}
        : (tensor<5x2xi32>, tensor<5x2x64xf32>) -> tensor<1000x64xf32>
    ```
  }];
  let arguments = (ins Echo_IndexTensor:$indices, Echo_FloatTensor:$gradient,
                       I64Attr:$rows);
  let results = (outs Echo_FloatTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// One addition for each element of gradient.
    ::llvm::FailureOr<uint64_t> getFlops();
  }];
}

def Echo_SoftmaxCrossEntropyOp : Echo_GraphOp<"softmax_cross_entropy", [
    Echo_Infer, Echo_Gradient, Echo_Decompose, Echo_Fusion]> {
  let summary = "cross-entropy of a softmax against integer labels";
  let description = [{
    Per position, with `p = softmax(logits)` over the last dimension of V
    classes and s = label_smoothing:
    `loss = -(1 - s) * log p[label] - s / V * sum_v log p[v]`.
    Positions whose label is ignore_label have loss 0 and gradient 0.
    `log_sum_exp` is a result, for the gradient. A row of -inf has loss 0,
    log_sum_exp -inf and gradient 0. f16 and bf16 logits compute in f32, and
    both results are f32 then.

    Constraints:
    - (C1) logits have rank >= 1; labels have their shape without the last
      dimension.
    - (C2) 0 <= label_smoothing < 1.
    - (C3) loss and log_sum_exp have the labels' shape and the logits' element
      type, or f32 for f16 and bf16.
    Labels outside 0 .. V - 1 that aren't ignore_label count as ignored.

    Example:
    ```mlir
    %loss, %lse = echo.softmax_cross_entropy %logits, %labels
        {ignore_label = 0 : i64, label_smoothing = 0.1 : f64}
        : (tensor<8x100xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$logits, Echo_IndexTensor:$labels,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_label,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Echo_FloatTensor:$loss, Echo_FloatTensor:$log_sum_exp);
  let hasVerifier = 1;
  let extraClassDeclaration = Echo_FlopsPerElement<5>.declaration
      # Echo_NotMirrored<>.declaration;
}

def Echo_SoftmaxCrossEntropyGradOp : Echo_GraphOp<"softmax_cross_entropy_grad", [
    Echo_Infer, Echo_Decompose, Echo_Fusion]> {
  let summary = "gradient of softmax_cross_entropy";
  let description = [{
    `(exp(logits[v] - log_sum_exp) - (1 - s) * [v = label] - s / V) * gradient`,
    zero for ignored positions.

    Constraints:
    - (C1) as softmax_cross_entropy; gradient and log_sum_exp have the labels'
      shape.
    - (C2) the result has the logits' type.

    Example:
    ```mlir
    %1 = echo.softmax_cross_entropy_grad %logits, %labels, %lse, %gradient
        : (tensor<8x100xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>)
          -> tensor<8x100xf32>
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$logits, Echo_IndexTensor:$labels,
                       Echo_FloatTensor:$log_sum_exp, Echo_FloatTensor:$gradient,
                       DefaultValuedAttr<I64Attr, "-100">:$ignore_label,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Echo_FloatTensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = Echo_FlopsPerElement<5>.declaration;
}

def Echo_DropoutOp : Echo_GraphOp<"dropout", [Echo_Infer, Echo_Gradient, Echo_Fusion]> {
  let summary = "zeroes elements at random, counter-based";
  let description = [{
    `mask[i] = uniform(seed, step, offset, i) >= rate`, and
    `result = mask ? operand * scale : 0` with `scale = 1 / (1 - rate)` in
    the element type. The random numbers are Philox4x32-10 (see
    `Echo/Numerics/Philox.h`), so that a second evaluation gives the same bits;
    offset tells apart the dropouts of one step. The gradient reads the mask.

    Constraints:
    - (C1) 0 <= rate < 1.
    - (C2) result has the operand's type, mask its shape with i1.

    Example:
    ```mlir
    %y, %mask = echo.dropout %x, %seed, %step, %offset {rate = 0.2 : f64}
        : (tensor<2x8xf32>, tensor<i64>, tensor<i64>, tensor<i64>)
          -> (tensor<2x8xf32>, tensor<2x8xi1>)
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$operand, Echo_ScalarI64:$seed,
                       Echo_ScalarI64:$step, Echo_ScalarI64:$offset,
                       F64Attr:$rate);
  let results = (outs Echo_FloatTensor:$result, Echo_BoolTensor:$mask);
  let hasVerifier = 1;
  let extraClassDeclaration = Echo_FlopsPerElement<2>.declaration # [{
    /// The mask is one bit an element.
    bool allowsBitEncoding(unsigned index) { return index == 1; }
  }] # Echo_NotMirrored<>.declaration;
}

def Echo_LstmCellOp : Echo_GraphOp<"lstm_cell", [Echo_Infer, Echo_Gradient, Echo_Decompose, Echo_Fusion]> {
  let summary = "one step of an LSTM after its matrix products";
  let description = [{
    gates holds the pre-activations of input, forget, cell and output gate side
    by side: `i, f, g, o = split(gates)`, then `cell' = sigmoid(f) * cell +
    sigmoid(i) * tanh(g)` and `hidden = sigmoid(o) * tanh(cell')`.
    `activated` holds the four activated gates side by side, for the gradient.

    Constraints:
    - (C1) gates have rank >= 1 and last dimension 4 H; cell has gates' shape
      with H as last dimension; one float element type.
    - (C2) hidden and new_cell have cell's type, activated has gates' type.

    Example:
    ```mlir
    %h, %c1, %activated = echo.lstm_cell %gates, %c0
        : (tensor<2x32xf32>, tensor<2x8xf32>)
          -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x32xf32>)
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$gates, Echo_FloatTensor:$cell);
  let results = (outs Echo_FloatTensor:$hidden, Echo_FloatTensor:$new_cell,
                      Echo_FloatTensor:$activated);
  let hasVerifier = 1;
  let extraClassDeclaration = Echo_FlopsPerElement<3>.declaration;
}

def Echo_LstmCellGradOp : Echo_GraphOp<"lstm_cell_grad", [Echo_Infer, Echo_Decompose, Echo_Fusion]> {
  let summary = "gradient of lstm_cell";
  let description = [{
    From the gradients of hidden and new_cell to those of gates and cell. Reads
    lstm_cell's results and the old cell.

    Constraints:
    - (C1) types as in lstm_cell.

    Example:
    ```mlir
    %dgates, %dc0 = echo.lstm_cell_grad %activated, %c0, %c1, %dh, %dc1
        : (tensor<2x32xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>)
          -> (tensor<2x32xf32>, tensor<2x8xf32>)
    ```
  }];
  let arguments = (ins Echo_FloatTensor:$activated, Echo_FloatTensor:$cell,
                       Echo_FloatTensor:$new_cell,
                       Echo_FloatTensor:$hidden_gradient,
                       Echo_FloatTensor:$cell_gradient);
  let results = (outs Echo_FloatTensor:$gates_gradient,
                      Echo_FloatTensor:$old_cell_gradient);
  let hasVerifier = 1;
  let extraClassDeclaration = Echo_FlopsPerElement<6>.declaration;
}

#endif // ECHO_DIALECT_COMPOSITEOPS_TD

//===- Contraction.cpp - Gradients of contractions ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/TensorBuilder.h"

using namespace mlir;
using namespace mlir::echo;

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

/// All dimensions but the last as one: [rows, last].
static Value flattenRows(TensorBuilder &b, Value value) {
  ArrayRef<int64_t> shape = b.shapeOf(value);
  return b.reshape(value, {product(shape.drop_back()), shape.back()});
}

/// Sums all dimensions but the last.
static Value sumRows(TensorBuilder &b, Value value) {
  return b.sumTo(value, b.shapeOf(value).take_back());
}

LogicalResult
MatmulOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                        ArrayRef<bool> needed,
                        SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  Value lhs = getLhs(), rhs = getRhs();
  bool transposeLhs = getTransposeLhs(), transposeRhs = getTransposeRhs();
  operandGradients.assign(getNumOperands(), Value());

  // C = A B: dA = dC B^T and dB = A^T dC; a transposed operand's gradient is
  // the transpose of that product, which swaps its factors.
  if (needed[0]) {
    Value product = transposeLhs ? b.matmul(rhs, g, transposeRhs, true)
                                 : b.matmul(g, rhs, false, !transposeRhs);
    operandGradients[0] = b.sumTo(product, b.shapeOf(lhs));
  }
  if (needed[1]) {
    Value left = lhs, right = g;
    ArrayRef<int64_t> rhsShape = b.shapeOf(rhs);
    // One matrix for the whole batch: the sum over the batch is part of the
    // contraction over all rows, one product instead of a batch and a sum.
    bool shared = product(rhsShape.drop_back(2)) == 1;
    bool sameRows = b.shapeOf(lhs).drop_back(2) == b.shapeOf(g).drop_back(2);
    if (shared && sameRows && !transposeLhs) {
      left = flattenRows(b, lhs);
      right = flattenRows(b, g);
    }
    Value product = transposeRhs ? b.matmul(right, left, true, transposeLhs)
                                 : b.matmul(left, right, !transposeLhs, false);
    if (product.getType() == rhs.getType())
      operandGradients[1] = product;
    else if (b.typeOf(product).getNumElements() ==
             b.typeOf(rhs).getNumElements())
      operandGradients[1] = b.reshape(product, rhsShape);
    else
      operandGradients[1] = b.sumTo(product, rhsShape);
  }
  if (getBias() && needed[2])
    operandGradients[2] = sumRows(b, g);
  return success();
}

LogicalResult
LinearOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                        ArrayRef<bool> needed,
                        SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  operandGradients.assign(getNumOperands(), Value());
  // Y = X W^T + b: dX = dY W, dW = dY^T X, db = the sum of dY's rows.
  Value g = flattenRows(b, resultGradients[0]);
  if (needed[0])
    operandGradients[0] = b.reshape(b.matmul(g, getWeight(), false, false),
                                    b.shapeOf(getInput()));
  if (needed[1])
    operandGradients[1] = b.matmul(g, flattenRows(b, getInput()), true, false);
  if (getBias() && needed[2])
    operandGradients[2] = sumRows(b, g);
  return success();
}

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

/// The gradients of lhs and rhs of a product; null where they aren't needed.
template <typename Op>
static std::pair<Value, Value> productGradients(TensorBuilder &b, Op op,
                                                Value g, bool needsLhs,
                                                bool needsRhs) {
  Value lhs = op.getLhs(), rhs = op.getRhs(), lhsGradient, rhsGradient;
  bool transposeLhs = op.getTransposeLhs(), transposeRhs = op.getTransposeRhs();

  // C = A B: dA = dC B^T and dB = A^T dC; a transposed operand's gradient is
  // the transpose of that product, which swaps its factors.
  if (needsLhs) {
    Value product = transposeLhs ? b.matmul(rhs, g, transposeRhs, true)
                                 : b.matmul(g, rhs, false, !transposeRhs);
    lhsGradient = b.sumTo(product, b.shapeOf(lhs));
  }
  if (needsRhs) {
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
      rhsGradient = product;
    else if (b.typeOf(product).getNumElements() ==
             b.typeOf(rhs).getNumElements())
      rhsGradient = b.reshape(product, rhsShape);
    else
      rhsGradient = b.sumTo(product, rhsShape);
  }
  return {lhsGradient, rhsGradient};
}

LogicalResult
MatmulOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                        ArrayRef<bool> needed,
                        SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  auto [lhs, rhs] = productGradients(b, *this, g, needed[0], needed[1]);
  operandGradients.assign({lhs, rhs});
  if (getBias())
    operandGradients.push_back(needed[2] ? sumRows(b, g) : Value());
  return success();
}

LogicalResult
MatmulAddOp::buildGradient(OpBuilder &builder, ValueRange resultGradients,
                           ArrayRef<bool> needed,
                           SmallVectorImpl<Value> &operandGradients) {
  TensorBuilder b(builder, getLoc());
  Value g = resultGradients[0];
  auto [lhs, rhs] = productGradients(b, *this, g, needed[1], needed[2]);
  operandGradients.assign({g, lhs, rhs});
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

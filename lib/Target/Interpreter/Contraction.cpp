//===- Contraction.cpp - Evaluates matrix products ------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Broadcast.h"
#include "ElementTypes.h"
#include "Models.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::interpreter;

namespace {

/// A row-major m x k or k x n matrix in the type of computation; stored
/// transposed if `transpose`.
template <typename S>
void loadMatrix(const S *in, int64_t rows, int64_t columns, bool transpose,
                std::vector<typename S::Compute> &out) {
  out.resize(rows * columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      out[row * columns + column] =
          S::load(in[transpose ? column * rows + row : row * columns + column]);
}

/// One product, added up in order over k. `addend`, if not null, is added to
/// the sum: row i of the result takes its row i, `addendPitch` apart.
template <typename S>
void multiply(const S *lhs, const S *rhs, const S *addend, int64_t addendPitch,
              S *out, int64_t m, int64_t n, int64_t k, bool transposeLhs,
              bool transposeRhs) {
  using C = typename S::Compute;
  std::vector<C> a, b, row(n);
  loadMatrix(lhs, m, k, transposeLhs, a);
  loadMatrix(rhs, k, n, transposeRhs, b);
  for (int64_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), C(0));
    for (int64_t l = 0; l < k; ++l) {
      const C factor = a[i * k + l];
      const C *other = b.data() + l * n;
      for (int64_t j = 0; j < n; ++j)
        row[j] += factor * other[j];
    }
    for (int64_t j = 0; j < n; ++j)
      out[i * n + j] = S::store(
          addend ? row[j] + S::load(addend[i * addendPitch + j]) : row[j]);
  }
}

/// op(lhs) op(rhs), with an optional bias for all rows or an accumulator of the
/// result's shape.
template <typename Op>
LogicalResult evaluateProduct(Op op, Interpreter &interpreter,
                              const HostTensor &lhs, const HostTensor &rhs,
                              const HostTensor *bias,
                              const HostTensor *accumulator,
                              SmallVectorImpl<HostTensor> &results) {
  ArrayRef<int64_t> lhsBatch = lhs.getShape().drop_back(2);
  ArrayRef<int64_t> rhsBatch = rhs.getShape().drop_back(2);
  ArrayRef<int64_t> lhsMatrix = lhs.getShape().take_back(2);
  ArrayRef<int64_t> rhsMatrix = rhs.getShape().take_back(2);
  bool transposeLhs = op.getTransposeLhs(), transposeRhs = op.getTransposeRhs();
  int64_t m = lhsMatrix[transposeLhs], k = lhsMatrix[!transposeLhs];
  int64_t n = rhsMatrix[!transposeRhs];
  SmallVector<int64_t> batch, shape;
  bool fits = k == rhsMatrix[transposeRhs] &&
              OpTrait::util::getBroadcastedShape(lhsBatch, rhsBatch, batch);
  shape = batch;
  shape.append({m, n});
  if (!fits || (bias && bias->getNumElements() != n) ||
      (accumulator && accumulator->getShape() != ArrayRef<int64_t>(shape)))
    return op.emitOpError("has operands that don't fit at run time: ")
           << lhs.getType() << " and " << rhs.getType();
  FailureOr<HostTensor> result =
      interpreter.allocate(op, shape, lhs.getElementType());
  if (failed(result))
    return failure();
  dispatchFloat(lhs.getElementType(), [&](auto stored) {
    using S = decltype(stored);
    const S *a = lhs.dataAs<S>(), *b = rhs.dataAs<S>();
    const S *shared = bias ? bias->dataAs<S>() : nullptr;
    const S *added = accumulator ? accumulator->dataAs<S>() : nullptr;
    S *out = result->template mutableDataAs<S>();
    forEachRun<3>(
        batch,
        {rowMajorStrides(batch), broadcastStrides(lhsBatch, batch),
         broadcastStrides(rhsBatch, batch)},
        [&](int64_t count, auto offsets, auto strides) {
          for (int64_t i = 0; i < count; ++i) {
            int64_t place = (offsets[0] + i * strides[0]) * m * n;
            multiply(a + (offsets[1] + i * strides[1]) * m * k,
                     b + (offsets[2] + i * strides[2]) * k * n,
                     added ? added + place : shared, added ? n : 0, out + place,
                     m, n, k, transposeLhs, transposeRhs);
          }
        });
  });
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateMatmul(MatmulOp op, Interpreter &interpreter,
                             ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  return evaluateProduct(op, interpreter, operands[0], operands[1],
                         operands.size() > 2 ? &operands[2] : nullptr,
                         /*accumulator=*/nullptr, results);
}

LogicalResult evaluateMatmulAdd(MatmulAddOp op, Interpreter &interpreter,
                                ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  return evaluateProduct(op, interpreter, operands[1], operands[2],
                         /*bias=*/nullptr, &operands[0], results);
}

LogicalResult evaluateLinear(LinearOp op, Interpreter &interpreter,
                             ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  const HostTensor &input = operands[0], &weight = operands[1];
  int64_t k = input.getShape().back(), n = weight.getShape()[0];
  if (weight.getShape()[1] != k ||
      (operands.size() > 2 && operands[2].getNumElements() != n))
    return op.emitOpError("has operands that don't fit at run time: ")
           << input.getType() << " and " << weight.getType();
  SmallVector<int64_t> shape(input.getShape());
  int64_t m = ShapedType::getNumElements(ArrayRef(shape).drop_back());
  shape.back() = n;
  FailureOr<HostTensor> result =
      interpreter.allocate(op, shape, input.getElementType());
  if (failed(result))
    return failure();
  dispatchFloat(input.getElementType(), [&](auto stored) {
    using S = decltype(stored);
    multiply(input.dataAs<S>(), weight.dataAs<S>(),
             operands.size() > 2 ? operands[2].dataAs<S>() : nullptr,
             /*addendPitch=*/0, result->mutableDataAs<S>(), m, n, k, false, true);
  });
  results.push_back(std::move(*result));
  return success();
}

} // namespace

void mlir::echo::interpreter::attachContractionModels(MLIRContext *context) {
  MatmulOp::attachInterface<Model<MatmulOp, evaluateMatmul>>(*context);
  MatmulAddOp::attachInterface<Model<MatmulAddOp, evaluateMatmulAdd>>(*context);
  LinearOp::attachInterface<Model<LinearOp, evaluateLinear>>(*context);
}

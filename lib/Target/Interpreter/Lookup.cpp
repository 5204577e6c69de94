//===- Lookup.cpp - Evaluates embedding and dropout -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Broadcast.h"
#include "Echo/Numerics/Philox.h"
#include "ElementTypes.h"
#include "Models.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::interpreter;

namespace {

using Results = SmallVectorImpl<HostTensor>;

LogicalResult evaluateEmbedding(EmbeddingOp op, Interpreter &interpreter,
                                ArrayRef<HostTensor> operands,
                                Results &results) {
  const HostTensor &table = operands[0], &indices = operands[1];
  int64_t rows = table.getShape()[0], width = table.getShape()[1];
  SmallVector<int64_t> shape(indices.getShape());
  shape.push_back(width);
  FailureOr<HostTensor> result =
      interpreter.allocate(op, shape, table.getElementType());
  if (failed(result))
    return failure();
  int64_t rowBytes = width * table.getElementSize();
  char *out = result->getMutableData();
  dispatchInteger(indices.getElementType(), [&](auto stored) {
    using S = decltype(stored);
    const S *index = indices.dataAs<S>();
    for (int64_t i = 0, e = indices.getNumElements(); i < e; ++i) {
      int64_t row = S::load(index[i]);
      if (row >= 0 && row < rows)
        std::copy_n(table.getData() + row * rowBytes, rowBytes,
                    out + i * rowBytes);
    }
  });
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateEmbeddingGrad(EmbeddingGradOp op,
                                    Interpreter &interpreter,
                                    ArrayRef<HostTensor> operands,
                                    Results &results) {
  const HostTensor &indices = operands[0], &gradient = operands[1];
  int64_t rows = op.getRows(), width = gradient.getShape().back();
  if (gradient.getNumElements() != indices.getNumElements() * width)
    return op.emitOpError("has operands that don't fit at run time: ")
           << indices.getType() << " and " << gradient.getType();
  FailureOr<HostTensor> result =
      interpreter.allocate(op, {rows, width}, gradient.getElementType());
  if (failed(result))
    return failure();
  dispatchFloat(gradient.getElementType(), [&](auto stored) {
    using S = decltype(stored);
    using C = typename S::Compute;
    const S *in = gradient.dataAs<S>();
    std::vector<C> sums(rows * width, C(0));
    for (int64_t i = 0, e = indices.getNumElements(); i < e; ++i) {
      int64_t row = indices.getInt(i);
      if (row < 0 || row >= rows)
        continue;
      for (int64_t j = 0; j < width; ++j)
        sums[row * width + j] += S::load(in[i * width + j]);
    }
    S *out = result->mutableDataAs<S>();
    for (size_t i = 0; i < sums.size(); ++i)
      out[i] = S::store(sums[i]);
  });
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateDropout(DropoutOp op, Interpreter &interpreter,
                              ArrayRef<HostTensor> operands, Results &results) {
  const HostTensor &operand = operands[0];
  uint64_t seed = operands[1].getInt(0), step = operands[2].getInt(0);
  uint64_t offset = operands[3].getInt(0);
  double rate = op.getRate().convertToDouble();
  FailureOr<HostTensor> result =
      interpreter.allocate(op, operand.getShape(), operand.getElementType());
  FailureOr<HostTensor> mask = interpreter.allocate(
      op, operand.getShape(), IntegerType::get(op.getContext(), 1));
  if (failed(result) || failed(mask))
    return failure();
  Flag *kept = mask->mutableDataAs<Flag>();
  const float threshold = numerics::dropoutThreshold(rate);
  dispatchFloat(operand.getElementType(), [&](auto stored) {
    using S = decltype(stored);
    using C = typename S::Compute;
    const C scale =
        S::load(convertElement<S>(F64{numerics::dropoutScale(rate)}));
    const S *in = operand.dataAs<S>();
    S *out = result->mutableDataAs<S>();
    for (int64_t i = 0, e = operand.getNumElements(); i < e; ++i) {
      numerics::RandomPosition<numerics::HostWords> at = {
          uint32_t(i),      uint32_t(uint64_t(i) >> 32),
          uint32_t(offset), uint32_t(step),
          uint32_t(seed),   uint32_t(seed >> 32)};
      bool keep = numerics::uniform(numerics::HostWords(), at) >= threshold;
      kept[i] = Flag::store(keep);
      out[i] = keep ? S::store(S::load(in[i]) * scale) : S::store(C(0));
    }
  });
  results.push_back(std::move(*result));
  results.push_back(std::move(*mask));
  return success();
}

} // namespace

void mlir::echo::interpreter::attachLookupModels(MLIRContext *context) {
  EmbeddingOp::attachInterface<Model<EmbeddingOp, evaluateEmbedding>>(*context);
  EmbeddingGradOp::attachInterface<
      Model<EmbeddingGradOp, evaluateEmbeddingGrad>>(*context);
  DropoutOp::attachInterface<Model<DropoutOp, evaluateDropout>>(*context);
}

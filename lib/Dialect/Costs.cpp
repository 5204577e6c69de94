//===- Costs.cpp - Flops and bytes of ops ---------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CostOpInterface where a line in the .td file isn't enough.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::echo;

/// Each element of a product takes `depth` multiplications and additions, and
/// one more addition for a bias or an accumulator.
static FailureOr<uint64_t> getProductFlops(Operation *op, int64_t depth,
                                           bool hasAddend) {
  if (ShapedType::isDynamic(depth))
    return failure();
  std::optional<int64_t> flops =
      llvm::checkedMulAdd<int64_t>(2, depth, hasAddend ? 1 : 0);
  if (!flops)
    return failure();
  return echo::detail::flopsPerResultElement(op, *flops);
}

FailureOr<uint64_t> MatmulOp::getFlops() {
  ArrayRef<int64_t> matrix = getLhs().getType().getShape().take_back(2);
  return getProductFlops(*this, matrix[getTransposeLhs() ? 0 : 1],
                         getBias() != nullptr);
}

FailureOr<uint64_t> MatmulAddOp::getFlops() {
  ArrayRef<int64_t> matrix = getLhs().getType().getShape().take_back(2);
  return getProductFlops(*this, matrix[getTransposeLhs() ? 0 : 1],
                         /*hasAddend=*/true);
}

FailureOr<uint64_t> LinearOp::getFlops() {
  return getProductFlops(*this, getWeight().getType().getDimSize(1),
                         getBias() != nullptr);
}

FailureOr<uint64_t> EmbeddingOp::getBytesRead() {
  FailureOr<uint64_t> indices = echo::detail::typeBytes(getIndices().getType());
  FailureOr<uint64_t> rows = echo::detail::typeBytes(getType());
  if (failed(indices) || failed(rows))
    return failure();
  std::optional<uint64_t> sum = llvm::checkedAddUnsigned(*indices, *rows);
  if (!sum)
    return failure();
  return *sum;
}

FailureOr<uint64_t> EmbeddingGradOp::getFlops() {
  std::optional<int64_t> count =
      countElements(getGradient().getType().getShape());
  if (!count)
    return failure();
  return static_cast<uint64_t>(*count);
}

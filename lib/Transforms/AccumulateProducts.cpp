//===- AccumulateProducts.cpp - Sums of products in place -----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %p = echo.matmul %a, %b         =>    %s = echo.matmul_add %x, %a, %b
//   %s = echo.add %x, %p
//
// A library's product adds to what is in memory at no cost. Where %x is made
// by a kernel that could make %s as well, that kernel is left to do so.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/Views.h"
#include "Echo/Transforms/Passes.h"
#include "Echo/Transforms/Rewrites.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOACCUMULATEPRODUCTSPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

/// True if `value` lies in memory whatever kernels are formed and nothing
/// reads its bytes but its one user: a library call's result, or a part of a
/// tensor that is only read in such parts.
static bool isFreeAccumulator(Value value) {
  FailureOr<ByteRange> range = followViews(value);
  if (failed(range) || isa<BlockArgument>(range->source))
    return false;
  Operation *root = range->source.getDefiningOp();
  if (root->hasTrait<OpTrait::ConstantLike>())
    return false;
  FailureOr<uint64_t> rootBytes =
      echo::detail::typeBytes(range->source.getType());
  bool isPart =
      failed(rootBytes) || static_cast<int64_t>(*rootBytes) > range->bytes;
  if (!isPart && !isa<LibraryCallOpInterface>(root))
    return false;
  for (Value part = value;; part = part.getDefiningOp()->getOperand(0)) {
    if (!part.hasOneUse())
      return false;
    if (part == range->source)
      return true;
  }
}

/// Merges `product` into the addition `add` of it and `accumulator`.
static bool accumulate(AddOp add, Value product, Value accumulator) {
  auto op = product.getDefiningOp<AccumulateOpInterface>();
  if (!op || !product.hasOneUse() || op->getBlock() != add->getBlock() ||
      product.getType() != add.getType() ||
      accumulator.getType() != add.getType() || !accumulator.hasOneUse() ||
      !isFreeAccumulator(accumulator))
    return false;
  // The product's place stays, so that its factors live no longer.
  Operation *producer = accumulator.getDefiningOp();
  if (producer->getBlock() != op->getBlock() || !producer->isBeforeInBlock(op))
    return false;
  OpBuilder builder(op);
  FailureOr<Value> sum = op.buildAccumulated(builder, accumulator);
  if (failed(sum))
    return false;
  add.getResult().replaceAllUsesWith(*sum);
  add.erase();
  op.erase();
  return true;
}

void mlir::echo::accumulateProducts(func::FuncOp function) {
  for (Block &block : function.getBody()) {
    SmallVector<AddOp> adds(block.getOps<AddOp>());
    for (AddOp add : adds)
      if (!accumulate(add, add.getRhs(), add.getLhs()))
        accumulate(add, add.getLhs(), add.getRhs());
  }
}

namespace {

struct EchoAccumulateProductsPass
    : public mlir::echo::impl::EchoAccumulateProductsPassBase<
          EchoAccumulateProductsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kKernelAttr))
        accumulateProducts(function);
  }
};

} // namespace

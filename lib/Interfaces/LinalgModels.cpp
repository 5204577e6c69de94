//===- LinalgModels.cpp - Knowledge about linalg ops ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Interfaces/ExternalModels.h"
#include "Models.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::models;
using mlir::linalg::LinalgOp;

namespace {

/// Any structured op, named or generic: its loops and what it does in them.
struct Structured : Cheap<Structured> {
  /// What is computed in one iteration; moving an element isn't.
  static int64_t countArithmetic(LinalgOp op) {
    return llvm::count_if(op.getBlock()->without_terminator(), [](auto &inner) {
      return !isa<linalg::IndexOp, CastOpInterface>(inner) &&
             !inner.template hasTrait<OpTrait::ConstantLike>();
    });
  }

  Count getFlops(Operation *op) const {
    auto structured = cast<LinalgOp>(op);
    return product(structured.getStaticLoopRanges(),
                   countArithmetic(structured));
  }

  /// An output that isn't read is a place to write to.
  Count getBytesRead(Operation *op) const {
    auto structured = cast<LinalgOp>(op);
    uint64_t sum = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<ShapedType>(operand.get().getType()) ||
          !structured.payloadUsesValueFromOperand(&operand))
        continue;
      Count bytes = echo::detail::typeBytes(operand.get().getType());
      if (failed(bytes))
        return failure();
      sum += *bytes;
    }
    return sum;
  }

  /// Matrix products and convolutions. A sum of products without a free
  /// dimension reads each number once: it takes as long as reading. So does
  /// pooling, a convolution without products to linalg.
  bool isComputeHeavy(Operation *op) const {
    auto structured = cast<LinalgOp>(op);
    if (isaContractionOpInterface(structured))
      return hasFreeDimension(structured);
    return isaConvolutionOpInterface(structured) &&
           countArithmetic(structured) > 1;
  }

  /// True if a dimension of the result isn't one of both factors.
  static bool hasFreeDimension(LinalgOp op) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    return llvm::any_of(maps.back().getResults(), [&](AffineExpr dim) {
      return !llvm::is_contained(maps[0].getResults(), dim) ||
             !llvm::is_contained(maps[1].getResults(), dim);
    });
  }
};

} // namespace

void mlir::echo::registerLinalgExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachWhere<Mirrored, Structured>(
        context, linalg::LinalgDialect::getDialectNamespace(),
        [](RegisteredOperationName op) { return op.hasInterface<LinalgOp>(); });
    AttachTo<Mirrored, PerResult<1>>::ops<linalg::IndexOp>(context);
    AttachTo<Mirrored, Copy>::ops<linalg::PackOp, linalg::UnPackOp>(context);
    AttachTo<NotMirrored, PerOperand<5>>::ops<linalg::SoftmaxOp>(context);
  });
}

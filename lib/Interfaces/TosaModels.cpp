//===- TosaModels.cpp - Knowledge about tosa ops --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Interfaces/ExternalModels.h"
#include "Models.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::models;
using namespace mlir::tosa;

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

bool allRanked(Operation *op) {
  auto isRanked = [](Type type) { return cast<ShapedType>(type).hasRank(); };
  return llvm::all_of(op->getOperandTypes(), isRanked) &&
         llvm::all_of(op->getResultTypes(), isRanked);
}

/// A multiplication and an addition for each of `depth` in each of `shape`.
Count multiplyAdds(ArrayRef<int64_t> shape, ArrayRef<int64_t> depth) {
  SmallVector<int64_t> all(shape);
  llvm::append_range(all, depth);
  return product(all, 2);
}

/// Weights [output channels, spatial dimensions, input channels].
struct Convolution : Heavy<Convolution> {
  Count getFlops(Operation *op) const {
    if (!allRanked(op))
      return failure();
    return multiplyAdds(shapeOf(op->getResult(0)),
                        shapeOf(op->getOperand(1)).drop_front());
  }
};

/// Weights [height, width, channels, multiplier].
struct DepthwiseConvolution : Heavy<DepthwiseConvolution> {
  Count getFlops(Operation *op) const {
    if (!allRanked(op))
      return failure();
    return multiplyAdds(shapeOf(op->getResult(0)),
                        shapeOf(op->getOperand(1)).take_front(2));
  }
};

/// Every element of the input meets all weights of its channel.
struct TransposedConvolution : Heavy<TransposedConvolution> {
  Count getFlops(Operation *op) const {
    if (!allRanked(op))
      return failure();
    return multiplyAdds(shapeOf(op->getOperand(0)),
                        shapeOf(op->getOperand(1)).drop_back());
  }
};

struct MatrixProduct : Heavy<MatrixProduct> {
  Count getFlops(Operation *op) const {
    if (!allRanked(op))
      return failure();
    return multiplyAdds(shapeOf(op->getResult(0)),
                        shapeOf(op->getOperand(0)).take_back());
  }
};

template <typename Op>
struct Pool : Cheap<Pool<Op>> {
  Count getFlops(Operation *op) const {
    if (!allRanked(op))
      return failure();
    SmallVector<int64_t> sizes(shapeOf(op->getResult(0)));
    llvm::append_range(sizes, cast<Op>(op).getKernel());
    return product(sizes);
  }
};

} // namespace

void mlir::echo::registerTosaExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TosaDialect *) {
    StringRef dialect = TosaDialect::getDialectNamespace();
    attachWhere<Mirrored, PerResult<1>>(
        context, dialect, [](RegisteredOperationName op) {
          return op.hasTrait<OpTrait::tosa::TosaElementwiseOperator>();
        });
    // Numbers of elements, known when the program is compiled.
    attachWhere<Mirrored, Free>(
        context, dialect, [](RegisteredOperationName op) {
          return op.hasTrait<OpTrait::tosa::TosaShapeOperator>() ||
                 op.hasTrait<OpTrait::ConstantLike>();
        });
    AttachTo<Mirrored, PerResult<1>>::ops<CastOp, MulOp, NegateOp, RescaleOp,
                                          ResizeOp, TableOp>(context);
    AttachTo<Mirrored, PerOperand<1>>::ops<ArgMaxOp, ReduceAllOp, ReduceAnyOp,
                                           ReduceMaxOp, ReduceMinOp,
                                           ReduceProductOp, ReduceSumOp>(
        context);
    AttachTo<Mirrored, Pool<AvgPool2dOp>>::ops<AvgPool2dOp>(context);
    AttachTo<Mirrored, Pool<MaxPool2dOp>>::ops<MaxPool2dOp>(context);
    AttachTo<Mirrored, Free>::ops<IdentityOp, tosa::ReshapeOp>(context);
    AttachTo<Mirrored, CopyPart>::ops<GatherOp, tosa::SliceOp>(context);
    AttachTo<Mirrored, Copy>::ops<tosa::PadOp, ReverseOp, ScatterOp, TileOp,
                                  TransposeOp>(context);
    AttachTo<NotMirrored, Copy>::ops<tosa::ConcatOp>(context);
    AttachTo<Mirrored, Convolution>::ops<Conv2DOp, Conv3DOp>(context);
    AttachTo<Mirrored, DepthwiseConvolution>::ops<DepthwiseConv2DOp>(context);
    AttachTo<Mirrored, TransposedConvolution>::ops<TransposeConv2DOp>(context);
    AttachTo<Mirrored, MatrixProduct>::ops<MatMulOp, MatmulTBlockScaledOp>(
        context);
  });
}

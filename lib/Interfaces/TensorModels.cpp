//===- TensorModels.cpp - Knowledge about tensor ops ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Interfaces/ExternalModels.h"
#include "Models.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::models;
using namespace mlir::tensor;

void mlir::echo::registerTensorExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TensorDialect *) {
    // What is written into an empty tensor is its reader's business.
    AttachTo<Mirrored, Free>::ops<BitcastOp, CastOp, CollapseShapeOp, DimOp,
                                  EmptyOp, ExpandShapeOp, RankOp, ReshapeOp>(
        context);
    AttachTo<Mirrored, CopyPart>::ops<ExtractOp, ExtractSliceOp, GatherOp>(
        context);
    AttachTo<Mirrored, Copy>::ops<FromElementsOp, InsertOp, InsertSliceOp,
                                  PadOp, ScatterOp, SplatOp>(context);
    AttachTo<NotMirrored, Copy>::ops<ConcatOp>(context);
  });
}

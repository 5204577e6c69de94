//===- Verifiers.cpp - Constraints of ops ----------------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"

using namespace mlir;
using namespace mlir::echo;

LogicalResult IotaOp::verify() { return success(); }
LogicalResult ReshapeOp::verify() { return success(); }
LogicalResult TransposeOp::verify() { return success(); }
LogicalResult BroadcastOp::verify() { return success(); }
LogicalResult SliceOp::verify() { return success(); }
LogicalResult PadOp::verify() { return success(); }
LogicalResult ConcatOp::verify() { return success(); }
LogicalResult SplitOp::verify() { return success(); }
LogicalResult ReverseOp::verify() { return success(); }
LogicalResult ReduceOp::verify() { return success(); }
LogicalResult ArgmaxOp::verify() { return success(); }
LogicalResult MatmulOp::verify() { return success(); }
LogicalResult LinearOp::verify() { return success(); }
LogicalResult SoftmaxOp::verify() { return success(); }
LogicalResult LogSoftmaxOp::verify() { return success(); }
LogicalResult LayerNormOp::verify() { return success(); }
LogicalResult EmbeddingOp::verify() { return success(); }
LogicalResult EmbeddingGradOp::verify() { return success(); }
LogicalResult SoftmaxCrossEntropyOp::verify() { return success(); }
LogicalResult SoftmaxCrossEntropyGradOp::verify() { return success(); }
LogicalResult DropoutOp::verify() { return success(); }
LogicalResult LstmCellOp::verify() { return success(); }
LogicalResult LstmCellGradOp::verify() { return success(); }
LogicalResult KernelOp::verify() { return success(); }
LogicalResult LaunchOp::verify() { return success(); }
LogicalResult GemmOp::verify() { return success(); }
LogicalResult CopyOp::verify() { return success(); }
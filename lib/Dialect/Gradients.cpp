//===- Gradients.cpp - Gradients of ops ----------------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"

using namespace mlir;
using namespace mlir::echo;

LogicalResult AddOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult SubOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult MulOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult DivOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult RemOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult MaxOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult MinOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult PowOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult NegOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult AbsOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult SignOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult ExpOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult LogOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult SqrtOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult RsqrtOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult TanhOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult SigmoidOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult ReluOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult GeluOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult ErfOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult SelectOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult ConvertOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult ReshapeOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult TransposeOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult BroadcastOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult SliceOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult PadOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult ConcatOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult SplitOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult ReverseOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult ReduceOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult MatmulOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult LinearOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult SoftmaxOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult LogSoftmaxOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult LayerNormOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult EmbeddingOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult SoftmaxCrossEntropyOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult DropoutOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
LogicalResult LstmCellOp::buildGradient(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return emitOpError("has no gradient"); }
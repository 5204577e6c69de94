//===- Decompositions.cpp - Composite ops in simpler ones ----------------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"

using namespace mlir;
using namespace mlir::echo;

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &) { return failure(); }
FailureOr<SmallVector<Value>> LogSoftmaxOp::decompose(OpBuilder &) { return failure(); }
FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &) { return failure(); }
FailureOr<SmallVector<Value>> SoftmaxCrossEntropyOp::decompose(OpBuilder &) { return failure(); }
FailureOr<SmallVector<Value>> SoftmaxCrossEntropyGradOp::decompose(OpBuilder &) { return failure(); }
FailureOr<SmallVector<Value>> LstmCellOp::decompose(OpBuilder &) { return failure(); }
FailureOr<SmallVector<Value>> LstmCellGradOp::decompose(OpBuilder &) { return failure(); }
//===- BufferForms.cpp - Views, library calls and buffer ops ----------------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"

using namespace mlir;
using namespace mlir::echo;

FailureOr<int64_t> ReshapeOp::getViewOffset(unsigned) { return failure(); }
FailureOr<int64_t> SliceOp::getViewOffset(unsigned) { return failure(); }
FailureOr<int64_t> SplitOp::getViewOffset(unsigned) { return failure(); }
LogicalResult MatmulOp::buildLibraryCall(OpBuilder &, ValueRange, ValueRange) { return failure(); }
LogicalResult LinearOp::buildLibraryCall(OpBuilder &, ValueRange, ValueRange) { return failure(); }
void LaunchOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
void GemmOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
void CopyOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
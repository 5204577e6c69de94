//===- Queries.h - Questions about any op -----------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What rematerialization asks of an op, of whatever dialect: the answers are
// the op's own (RecomputeOpInterface, CostOpInterface), or those of a model
// (ExternalModels.h). Of an op without either nothing is known but its types:
// it is never computed again, and what it computes is worth keeping.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_INTERFACES_QUERIES_H
#define ECHO_INTERFACES_QUERIES_H

#include "mlir/IR/Operation.h"

namespace mlir::echo {

/// True if neither the op nor one in its regions has a memory effect, or may
/// have one.
bool isFreeOfEffects(Operation *op);

/// True if `op` may be evaluated a second time, with the same bits. Never one
/// with an effect or without an answer: loops and branches are opaque.
bool isRecomputable(Operation *op);

/// True if the recomputation rule of MXNet's `mirror` option evaluates `op`
/// again: it may be, and is neither heavy nor spared.
bool isMirrored(Operation *op);

/// True if the op's time is worth more than the memory of its result; true for
/// an op without an answer.
bool isComputeHeavy(Operation *op);

/// The op's flops; 0 if it has no answer. Failure where a size is dynamic.
FailureOr<uint64_t> getFlops(Operation *op);
/// Bytes that the op reads and writes as a kernel of its own; by its types if
/// it has no answer. Failure where a size is dynamic.
FailureOr<uint64_t> getBytesRead(Operation *op);
FailureOr<uint64_t> getBytesWritten(Operation *op);

} // namespace mlir::echo

#endif // ECHO_INTERFACES_QUERIES_H

//===- StepParts.h - Forward, backward and side -----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forward and backward are not labels: they follow from what depends on what.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ANALYSIS_STEPPARTS_H
#define ECHO_ANALYSIS_STEPPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <array>

namespace mlir::echo {

/// Forward: what the loss depends on. Backward: what a returned gradient or an
/// updated parameter depends on and the loss doesn't; in a function with neither
/// parameters nor results that are marked as gradients, all results but the
/// loss. Side: the rest (metrics, running statistics, next states); it runs with
/// the forward part.
enum class StepPart : uint8_t { Forward, Backward, Side };

/// "forward", "backward", "side"
StringRef nameOf(StepPart part);

/// The part of every op in a function's block.
class StepParts {
public:
  StepPart get(Operation *op) const { return parts[places.at(op)]; }

  /// Ops that compute: without constants and the terminator.
  uint64_t count(StepPart part) const {
    return counts[static_cast<size_t>(part)];
  }

private:
  friend FailureOr<StepParts> findStepParts(func::FuncOp, unsigned);

  DenseMap<Operation *, uint32_t> places; ///< of ops, in the block's order
  SmallVector<StepPart> parts;            ///< by place
  std::array<uint64_t, 3> counts = {};
};

/// Finds the parts of a function of one block whose result `loss` is the loss.
/// Works on tensors, where a value depends on its op, and on buffers, where it
/// depends on the ops that wrote it: a host program's calls have parts as the
/// graph's ops do. Fails with a diagnostic at the function.
FailureOr<StepParts> findStepParts(func::FuncOp function, unsigned loss);

/// The buffer that `value` is a view of, through views of views; itself if it
/// isn't one.
Value findViewedBuffer(Value value);

/// An access to a buffer by an op.
struct BufferAccess {
  Value value;  ///< the operand
  Value buffer; ///< what it is a view of
  bool reads = false, writes = false;

  /// True if every byte is written and none of the old ones is read.
  bool replacesAll() const;
};

/// What `op` reads and writes, from its memory effects; the return reads what
/// it returns. In-place results are two accesses, of an input and an output.
SmallVector<BufferAccess> findAccesses(Operation *op);

} // namespace mlir::echo

#endif // ECHO_ANALYSIS_STEPPARTS_H

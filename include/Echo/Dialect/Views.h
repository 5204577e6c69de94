//===- Views.h - Tensors that are parts of others ---------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_VIEWS_H
#define ECHO_DIALECT_VIEWS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::echo {

/// The bytes [offset, offset + bytes) of the row-major elements of `source`.
struct ByteRange {
  Value source;
  int64_t offset = 0;
  int64_t bytes = 0;

  int64_t end() const { return offset + bytes; }
  /// True if `next` begins where this ends.
  bool isFollowedBy(const ByteRange &next) const {
    return source == next.source && end() == next.offset;
  }
};

/// Follows reshapes and contiguous slices and splits (BufferViewOpInterface) to
/// the tensor whose bytes a value is; a value that is no view is its own
/// source. Failure where a size isn't known.
FailureOr<ByteRange> followViews(Value value);

/// Builds the tensor of `type` that lies in `source` from byte `offset` on, as
/// a slice of rows between reshapes where these are needed. Failure if the
/// offset or the source isn't a multiple of the type's rows; nothing is built
/// then.
FailureOr<Value> buildView(OpBuilder &builder, Location loc, Value source,
                           int64_t offset, RankedTensorType type);

/// True if there is an optimization barrier between `value` and the tensor whose
/// bytes it is: what computes that one runs long before.
bool isBehindBarrier(Value value);

/// True if `op` is a concatenation that is better part of the host program than
/// a kernel: its parts are contiguous, and more than half of the bytes can be
/// computed in place (see BufferJoinOpInterface) rather than copied.
bool joinsInPlace(Operation *op);

} // namespace mlir::echo

#endif // ECHO_DIALECT_VIEWS_H

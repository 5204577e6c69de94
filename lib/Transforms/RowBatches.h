//===- RowBatches.h - Rows of several tensors as one tensor -----*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_TRANSFORMS_ROWBATCHES_H
#define ECHO_LIB_TRANSFORMS_ROWBATCHES_H

#include "Echo/Dialect/Views.h"
#include "mlir/IR/Block.h"

namespace mlir::echo {

/// Ops whose operands are joined along the rows, in this order.
struct RowBatch {
  SmallVector<Operation *> ops;
  /// By joined operand: where its rows lie next to each other already; no
  /// source if they don't.
  SmallVector<ByteRange> existing;
};

/// Where the values lie in the tensor that holds most of them, at least two:
/// what they are views of, or a concatenation that they are part of. No source
/// for those that it doesn't hold.
SmallVector<ByteRange> findCommonPlaces(ArrayRef<Value> values);

/// Divides `ops` into batches. `operands` are the numbers of the operands that
/// are joined; each is looked for in its common place. An op is in a batch with
/// those that are its neighbours in all of these places, or have none either.
SmallVector<RowBatch> divideIntoBatches(ArrayRef<Operation *> ops,
                                        ArrayRef<unsigned> operands);

/// The rows of joined operand `index` of a batch, built at the builder's place:
/// [rows] and the dimensions behind the first, or with `flat` [rows, last
/// dimension].
Value buildRows(OpBuilder &builder, Location loc, const RowBatch &batch,
                unsigned operand, const ByteRange &existing, bool flat);

/// Finds a place in `block` for new ops that read `inputs` and replace
/// `replaced`, and returns the op behind which they go, or null for the block's
/// start: the last definition of an input, or what stands before the first
/// replaced op. Readers of replaced ops that stand before that place are moved
/// behind it in their order. Failure if an input depends on a replaced op, or
/// an op with effects would have to be moved; nothing is moved then.
FailureOr<Operation *> makePlace(Block &block, ArrayRef<Value> inputs,
                                 ArrayRef<Operation *> replaced);

} // namespace mlir::echo

#endif // ECHO_LIB_TRANSFORMS_ROWBATCHES_H

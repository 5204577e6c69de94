//===- KernelPlan.h - Loops and chunks of a kernel --------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel writes, as boxes of its outputs, and the loops that write
// them. Boxes of one shape share their loops, so that what they have in common
// is computed once: the four gates of an LSTM cell are one loop.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_CONVERSION_KERNELPLAN_H
#define ECHO_LIB_CONVERSION_KERNELPLAN_H

#include "KernelEmitter.h"
#include <vector>

namespace mlir::echo {

/// Elements of work in a chunk, about.
inline constexpr int64_t kChunkWork = 16384;

/// Part of an output, and the tensor that it holds.
struct Box {
  unsigned output = 0;
  SmallVector<int64_t> offsets, sizes;
  /// The group's dimensions that count each dimension, outermost first; none
  /// for sizes of 1.
  SmallVector<SmallVector<unsigned, 1>> dims;
  Value tensor;
  /// The tensor is a scalar that fills the box.
  bool isFill = false;
  /// The box is the operand of this reduction over one dimension, whose
  /// results are the output: elements are added up as they come.
  std::optional<Reduction> accumulated;
  /// Loops that must run before it can be written.
  unsigned level = 0;

  /// True if a dimension of the group counts in the box.
  bool uses(unsigned dim) const {
    return llvm::any_of(dims,
                        [&](auto &own) { return llvm::is_contained(own, dim); });
  }
};

/// A loop over one or more neighbouring dimensions of the boxes.
struct Loop {
  SmallVector<unsigned> dims;
  int64_t size = 1;
  bool isVector = false;
};

/// A reduction that is computed once for a row, or more rarely.
struct RowReduction {
  int64_t reduced = 0;
  bool isRow = false; ///< as in Reduction
  bool isShared = false; ///< threads can share it
};

/// An argument's element (or that of its reshape) that is read once for each
/// element of a group.
struct ElementRead {
  Value tensor;
  AffineMap index;   ///< as for KernelEmitter::emit
  LinearForm offset; ///< in the argument's buffer
};

/// Boxes of one shape, and their loops, outermost first. Shapes are one if
/// reshaping makes them so; a box may have 1 in place of dimensions or lack
/// the last ones. Chunks cut the rows, which the first `numRowLoops` loops
/// count together, and then the columns, which the next one counts.
struct BoxGroup {
  SmallVector<int64_t> sizes;
  std::vector<Box> boxes;
  SmallVector<Loop> loops;
  unsigned numRowLoops = 0;
  bool hasColumnReduction = false;
  int64_t rows = 1, rowsPerChunk = 1, rowChunks = 1;
  int64_t columnsPerChunk = 0, columnChunks = 1; ///< 1: columns aren't cut
  SmallVector<RowReduction> rowReductions;
  SmallVector<ElementRead> reads;
  /// Neighbouring elements of the last loop are independent of each other, and
  /// neighbours in all boxes.
  bool isContiguous = false;
  int64_t chunks() const { return rowChunks * columnChunks; }

  /// True if elements along a loop are added up, in this box or in any.
  bool isAccumulated(const Box &box, const Loop &loop) const;
  bool isAccumulated(const Loop &loop) const {
    return llvm::any_of(
        boxes, [&](const Box &box) { return isAccumulated(box, loop); });
  }
  /// Adds a box if its shape fits, cutting dimensions if need be.
  bool add(const Box &box);
  /// The index of an element of `box` for the loops' dimensions.
  AffineMap indexOf(const Box &box, MLIRContext *context) const;
  /// The number of an element in what is added up with it.
  AffineExpr reducedPosition(const Box &box, MLIRContext *context) const {
    return position(box, box.accumulated->first, context);
  }
  /// Its offset in the output.
  AffineExpr offsetOf(const Box &box, ArrayRef<int64_t> shape,
                      MLIRContext *context) const;

private:
  /// Position `index` of dimension `dim` of a box.
  AffineExpr position(const Box &box, unsigned dim, MLIRContext *context) const;
};

/// The groups of what a kernel function of linalg ops returns. With
/// `forThreads` no loop is a vector loop, and chunks are as small as can be: a
/// row, or rows that are added up.
std::vector<BoxGroup> planKernel(func::FuncOp kernel, bool forThreads = false);

} // namespace mlir::echo

#endif // ECHO_LIB_CONVERSION_KERNELPLAN_H

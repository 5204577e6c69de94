//===- Folding.h - Constant folding of tensors ------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folded constant has the bits that the compiled code would compute. What
// doesn't give them for sure (transcendentals, NaN payloads, the sign of a
// zero where it is open) isn't folded.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_DIALECT_FOLDING_H
#define ECHO_LIB_DIALECT_FOLDING_H

#include "Echo/Dialect/EchoDialect.h"

namespace mlir::echo {

/// Constants of more elements aren't computed at compile time.
inline constexpr int64_t kMaxFoldedElements = 1024;

/// True if `type` is static and of 1 to kMaxFoldedElements elements.
bool isSmallTensor(RankedTensorType type);

/// Builds a constant of `type` from a function that gives the operand's
/// (linear) element for each index of the result. Null if `operand` isn't
/// constant or one of the two is too large.
DenseElementsAttr
gatherElements(Attribute operand, RankedTensorType type,
               llvm::function_ref<int64_t(ArrayRef<int64_t>)> sourceIndex);

/// The position of `index` in a row-major tensor of `shape`. Dimensions are
/// aligned at the last one, as broadcasting does; sizes of 1 are repeated.
int64_t linearize(ArrayRef<int64_t> index, ArrayRef<int64_t> shape);

/// Calls `visit` with all indices of a static shape in row-major order until
/// it returns false. True if all were visited.
bool visitIndices(ArrayRef<int64_t> shape,
                  llvm::function_ref<bool(ArrayRef<int64_t>)> visit);

} // namespace mlir::echo

#endif // ECHO_LIB_DIALECT_FOLDING_H

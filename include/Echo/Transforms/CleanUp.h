//===- CleanUp.h - Removes what is of no more use ---------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_CLEANUP_H
#define ECHO_TRANSFORMS_CLEANUP_H

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::echo {

/// Replaces every optimization barrier inside `root` by its operand: the order
/// of ops is final, and no pass that merges equal ops runs any more.
void removeBarriers(Operation *root);

/// Removes from the regions of `root`, which stays as it is from outside, what
/// nothing needs: ops without effects, block arguments, and results of loops and
/// branches, of `linalg.generic` and of ops that can do without them
/// (DropResultsOpInterface). As elsewhere in MLIR, only reading memory, and
/// allocating what nothing uses, is no effect. Nothing else is rewritten.
void eliminateDeadNodes(Operation *root);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_CLEANUP_H

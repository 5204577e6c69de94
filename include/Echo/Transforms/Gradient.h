//===- Gradient.h - Builds gradients of graphs ------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_GRADIENT_H
#define ECHO_TRANSFORMS_GRADIENT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::echo {

/// A value that a gradient is wanted of, and its name in diagnostics.
struct GradientTarget {
  Value value;
  std::string name;
};

/// Builds d `loss` / d `target` for every target at the end of `block`, before
/// its terminator, and returns one gradient per target, of the target's type;
/// null where the loss doesn't depend on the target.
///
/// `lossGradient` is the gradient that the loss starts with, of its type.
/// Targets are block arguments or values from outside of the block.
///
/// The gradient ops of a forward op stand together; their order is the reverse
/// of the forward ops' order. Where a value has several readers, its gradient
/// is the sum of the readers' parts, added from the last reader to the first,
/// and in the order of the operands within one reader. Time and memory are
/// linear in the number of ops and operands.
///
/// Fails with a diagnostic at the op if an op between a target and the loss has
/// no gradient, a dynamic shape or regions; the block is as it was then.
FailureOr<SmallVector<Value>> buildGradients(Block &block, Value loss,
                                             Value lossGradient,
                                             ArrayRef<GradientTarget> targets);

/// Fails with a diagnostic at the function if an op refers to it.
LogicalResult checkNotUsed(func::FuncOp function);

/// Extends a forward function: its results are followed by the gradient of
/// the loss with respect to every float argument with `echo.role` "parameter",
/// in argument order, with the result attributes `echo.gradient_of` and
/// `echo.name` = `<argument>.grad`. A parameter that the loss doesn't depend on
/// gets zeros and a warning. The loss result is marked with `echo.loss`.
/// On failure the function is as it was.
LogicalResult addGradients(func::FuncOp function,
                           std::optional<int64_t> loss = std::nullopt);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_GRADIENT_H

//===- Kernels.h - Forming and outlining kernels ----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_KERNELS_H
#define ECHO_TRANSFORMS_KERNELS_H

#include "Echo/Planning/Fusion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::echo {

/// Wraps the ops of a host function into `echo.kernel` regions, as
/// `Echo/Planning/Fusion.h` plans them. Library calls, views and terminators
/// stay; small constants and ops that move elements are cloned into the kernels
/// that read them. Ops of the block may change their order. Fails with a
/// diagnostic at an op whose types aren't static.
LogicalResult formKernels(func::FuncOp function,
                          const planning::FusionOptions &options = {});

/// Moves the `echo.kernel` ops of all functions of a module into private
/// functions, one for all kernels of equal structure, and leaves `echo.launch`
/// ops.
LogicalResult outlineKernels(ModuleOp module);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_KERNELS_H

//===- Bufferize.h - Host programs on buffers -------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_BUFFERIZE_H
#define ECHO_TRANSFORMS_BUFFERIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::echo {

/// True if argument `index` is a parameter or state: memory that outlives a
/// step.
bool isPersistentArgument(func::FuncOp function, unsigned index);

/// For every result the index of the argument that it replaces, from
/// `echo.aliases_argument` on the result or `tf.aliasing_output` on the
/// argument. Fails with a diagnostic if an index is out of range, if types
/// differ, or if two results replace one argument.
FailureOr<SmallVector<std::optional<unsigned>>>
getAliasedArguments(func::FuncOp function);

/// Gives every argument, and every result that replaces none, the attribute
/// `echo.name` if it has none: "arg<index>", "result<index>", or "loss" for the
/// loss. Fails with a diagnostic where getAliasedArguments does.
LogicalResult nameTensors(func::FuncOp function);

/// Turns a function of launches, library calls and views on tensors into one
/// on buffers, in linear time; see the pass `echo-bufferize`. `symbols` finds
/// the kernels.
LogicalResult bufferizeHostFunction(func::FuncOp function,
                                    const SymbolTable &symbols);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_BUFFERIZE_H

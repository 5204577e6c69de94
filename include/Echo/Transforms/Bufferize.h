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

/// Gives every argument, and every result that replaces none, the attribute
/// `echo.name` if it has none: "arg<index>", "result<index>", or "loss" for the
/// loss. Fails with a diagnostic where getAliasedArguments does, where a result
/// replaces what isn't parameter or state, where a given name is an argument's
/// and a result's, and where a tensor has an encoding.
LogicalResult nameTensors(func::FuncOp function);

/// Turns a function of launches, library calls and views on tensors into one
/// on buffers, in linear time; see the pass `echo-bufferize`. `symbols` finds
/// the kernels.
LogicalResult bufferizeHostFunction(func::FuncOp function,
                                    const SymbolTable &symbols);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_BUFFERIZE_H

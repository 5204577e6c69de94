//===- FunctionAttributes.h - What functions say of tensors -----*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the attributes on a function's arguments and results (EchoBase.td has
// their meaning) with their defaults, and verifies them.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_FUNCTIONATTRIBUTES_H
#define ECHO_DIALECT_FUNCTIONATTRIBUTES_H

#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::echo {

/// The function of a module that a pass or tool works on, which has a body and
/// isn't a kernel: the one called `name`, or, if that is empty, the only public
/// one. Fails with a diagnostic at the module or at the function.
FailureOr<func::FuncOp> findFunction(ModuleOp module, StringRef name);

/// The role of an argument; `ArgumentRole::Input` if nothing is said.
ArgumentRole getArgumentRole(FunctionOpInterface function, unsigned index);

/// True if an argument is a parameter or state: memory that outlives a step.
bool isPersistentArgument(FunctionOpInterface function, unsigned index);

/// The name of an argument or result: `echo.name`, or `arg3`, `result0`.
std::string getArgumentName(FunctionOpInterface function, unsigned index);
std::string getResultName(FunctionOpInterface function, unsigned index);

/// How an argument that nobody gave is filled; null if nothing is said.
InitAttr getArgumentInit(FunctionOpInterface function, unsigned index);

/// On a kernel function: what a launch costs, for reports; see describeKernel
/// in Analysis/CallCosts.h. {bytes, flops : i64, ops : string}
inline constexpr llvm::StringLiteral kCostAttr = "echo.cost";

/// On an argument, the i32 or i64 index of the result that replaces it, as JAX
/// writes it.
inline constexpr llvm::StringLiteral kAliasingOutputAttr = "tf.aliasing_output";

/// For every result the argument that it replaces: `echo.aliases_argument` on
/// the result or `tf.aliasing_output` on the argument. Fails with a diagnostic
/// at the function where `tf.aliasing_output`, which the dialect doesn't verify,
/// is no index of a result, names one of another type, or contradicts another
/// argument.
FailureOr<SmallVector<std::optional<unsigned>>>
getAliasedArguments(FunctionOpInterface function);

/// The argument whose gradient a result is: `echo.gradient_of`.
std::optional<unsigned> getGradientArgument(FunctionOpInterface function,
                                            unsigned result);

/// The result with `echo.loss`, otherwise the only one that is a float scalar;
/// nothing if there is none of either, or there are several.
std::optional<unsigned> findLoss(FunctionOpInterface function);

/// The result that is the loss: `option` if given, otherwise the one with
/// `echo.loss`, otherwise the only result that is a float scalar. On failure a
/// diagnostic was emitted at the function.
FailureOr<unsigned> getLossIndex(FunctionOpInterface function,
                                 std::optional<int64_t> option = std::nullopt);

/// True for tensors of rank 0 with a float element type: what a loss may be.
bool isFloatScalar(Type type);

/// Verify one of the dialect's attributes on an op, argument or result.
LogicalResult verifyOpAttribute(Operation *op, NamedAttribute attribute);
LogicalResult verifyArgumentAttribute(FunctionOpInterface function,
                                      unsigned index, NamedAttribute attribute);
LogicalResult verifyResultAttribute(FunctionOpInterface function,
                                    unsigned index, NamedAttribute attribute);

} // namespace mlir::echo

#endif // ECHO_DIALECT_FUNCTIONATTRIBUTES_H

//===- EchoDialect.h - The Echo dialect -------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_ECHODIALECT_H
#define ECHO_DIALECT_ECHODIALECT_H

#include "Echo/Dialect/Shapes.h"
#include "Echo/Interfaces/EchoInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Traits.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::echo {

/// Names of the dialect's attributes on functions, arguments and results;
/// EchoBase.td has their meaning.
inline constexpr llvm::StringLiteral kRoleAttr = "echo.role";
inline constexpr llvm::StringLiteral kNameAttr = "echo.name";
inline constexpr llvm::StringLiteral kInitAttr = "echo.init";
inline constexpr llvm::StringLiteral kLossAttr = "echo.loss";
inline constexpr llvm::StringLiteral kGradientOfAttr = "echo.gradient_of";
inline constexpr llvm::StringLiteral kAliasesArgumentAttr =
    "echo.aliases_argument";
inline constexpr llvm::StringLiteral kKernelAttr = "echo.kernel";

} // namespace mlir::echo

#include "Echo/Dialect/EchoDialect.h.inc"
#include "Echo/Dialect/EchoEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "Echo/Dialect/EchoAttributes.h.inc"
#define GET_OP_CLASSES
#include "Echo/Dialect/EchoOps.h.inc"

#endif // ECHO_DIALECT_ECHODIALECT_H

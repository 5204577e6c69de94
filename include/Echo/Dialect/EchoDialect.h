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
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::echo {

/// Names of the dialect's attributes on functions, arguments and results;
/// EchoBase.td has their meaning. No others verify: FunctionAttributes.cpp lists
/// where each belongs.
inline constexpr llvm::StringLiteral kRoleAttr = "echo.role";
inline constexpr llvm::StringLiteral kNameAttr = "echo.name";
inline constexpr llvm::StringLiteral kInitAttr = "echo.init";
inline constexpr llvm::StringLiteral kLossAttr = "echo.loss";
inline constexpr llvm::StringLiteral kGradientOfAttr = "echo.gradient_of";
inline constexpr llvm::StringLiteral kAliasesArgumentAttr =
    "echo.aliases_argument";
inline constexpr llvm::StringLiteral kKernelAttr = "echo.kernel";
/// On an argument of a kernel function: the results (array<i64>) that may be
/// written straight into the argument's buffer.
inline constexpr llvm::StringLiteral kOverwritableAttr = "echo.overwritable";
/// On a lowered kernel function: the chunks (i64) of its iteration space.
inline constexpr llvm::StringLiteral kChunksAttr = "echo.chunks";
/// On a lowered kernel function: the elements of its constants, until they
/// become globals of the module.
inline constexpr llvm::StringLiteral kConstantsAttr = "echo.constants";
/// Set by memory planning. On the arena argument (unit), on an argument that
/// lies in the arena (i64, its byte offset), and on the function (i64).
inline constexpr llvm::StringLiteral kArenaAttr = "echo.arena";
inline constexpr llvm::StringLiteral kArenaOffsetAttr = "echo.arena_offset";
inline constexpr llvm::StringLiteral kArenaBytesAttr = "echo.arena_bytes";
inline constexpr llvm::StringLiteral kArenaAlignmentAttr =
    "echo.arena_alignment";
inline constexpr llvm::StringLiteral kLogicalPeakAttr =
    "echo.logical_peak_bytes";

} // namespace mlir::echo

#include "Echo/Dialect/EchoDialect.h.inc"
#include "Echo/Dialect/EchoEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "Echo/Dialect/EchoAttributes.h.inc"
#define GET_OP_CLASSES
#include "Echo/Dialect/EchoOps.h.inc"

#endif // ECHO_DIALECT_ECHODIALECT_H

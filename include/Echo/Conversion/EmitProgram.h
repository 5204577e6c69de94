//===- EmitProgram.h - From host function to program table ------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_CONVERSION_EMITPROGRAM_H
#define ECHO_CONVERSION_EMITPROGRAM_H

#include "Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::echo {

/// Names of the symbols of an artefact; see Program.h.
inline constexpr llvm::StringLiteral kProgramSymbol = "echo_program";
inline constexpr llvm::StringLiteral kProgramSizeSymbol = "echo_program_size";
inline constexpr llvm::StringLiteral kKernelsSymbol = "echo_kernels";

/// The host function of a module: the one called `entry`, or, if that is
/// empty, the only public function that isn't a kernel. Fails with a
/// diagnostic.
FailureOr<func::FuncOp> findHostFunction(ModuleOp module, StringRef entry);

/// The layer of an op: its innermost location's first name, or "".
StringRef layerName(Location location);

/// The program of a planned host function, and the kernels that it calls in
/// the order of their indices.
struct EmittedProgram {
  ::echo::Program program;
  SmallVector<LLVM::LLVMFuncOp> kernels;
};

/// Reads a host function whose memory is planned and whose kernels are lowered
/// to LLVM functions. Fails with a diagnostic at what doesn't fit a program.
FailureOr<EmittedProgram> buildProgram(func::FuncOp function,
                                       const SymbolTable &symbols);

/// Adds the globals of an artefact to a module.
void emitProgramGlobals(ModuleOp module, const EmittedProgram &emitted);

} // namespace mlir::echo

#endif // ECHO_CONVERSION_EMITPROGRAM_H

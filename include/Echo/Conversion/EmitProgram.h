//===- EmitProgram.h - From host function to program table ------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_CONVERSION_EMITPROGRAM_H
#define ECHO_CONVERSION_EMITPROGRAM_H

#include "Echo/Dialect/EchoDialect.h"
#include "Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::echo {

/// Names of the symbols of an artefact; see Program.h.
inline constexpr llvm::StringLiteral kProgramSymbol = "echo_program";
inline constexpr llvm::StringLiteral kProgramSizeSymbol = "echo_program_size";
inline constexpr llvm::StringLiteral kKernelsSymbol = "echo_kernels";
inline constexpr llvm::StringLiteral kImagesSymbol = "echo_images";
inline constexpr llvm::StringLiteral kNumImagesSymbol = "echo_num_images";

/// What a program says for an element type (nothing if it has no word for it),
/// a role, and initial values (null: nobody said).
std::optional<::echo::DataType> programType(Type elementType);
::echo::Role programRole(ArgumentRole role);
::echo::Init programInit(InitAttr init);

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

/// The same for a GPU, whose kernels are functions of the GPU dialect in
/// `kernels` that say which block and grid they are to be launched with. The
/// program's target is "cuda".
FailureOr<::echo::Program> buildGPUProgram(func::FuncOp function,
                                           const SymbolTable &symbols,
                                           gpu::GPUModuleOp kernels);

/// Adds the globals with the bytes of a program to a module.
void emitProgramBytes(ModuleOp module, const ::echo::Program &program);

/// Adds the globals of an artefact for the CPU to a module.
void emitProgramGlobals(ModuleOp module, const EmittedProgram &emitted);

} // namespace mlir::echo

#endif // ECHO_CONVERSION_EMITPROGRAM_H

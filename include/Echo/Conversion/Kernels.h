//===- Kernels.h - Lowering of kernel functions -----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel function goes through three forms. The first says what is computed
// and over which iteration spaces, and knows no target; the others are the
// CPU's. For a GPU, the first becomes a function of the GPU dialect.
//
//   1. linalg on tensors: every op is a linalg.generic (its iterators are the
//      iteration space), a tensor op that moves elements, or a constant
//   2. loops on buffers over a range of chunks
//   3. an LLVM function on an array of pointers
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_CONVERSION_KERNELS_H
#define ECHO_CONVERSION_KERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::echo {

/// Writes composite ops in a kernel function with simpler ones.
LogicalResult decomposeKernel(func::FuncOp kernel);

/// Builds what an op of Echo, or one that tells its arithmetic, is in linalg on
/// tensors, and returns the values of its results; decomposed ops, library calls
/// and embedding_grad have none. Fails with a diagnostic at the op.
FailureOr<SmallVector<Value>> lowerToLinalg(OpBuilder &builder, Operation *op);

/// Turns the Echo ops of a kernel function into linalg on tensors. Ops whose
/// writes are scattered (embedding_grad) stay.
LogicalResult convertKernelToLinalg(func::FuncOp kernel);

/// Turns all Echo ops of a function that isn't lowered by way of kernels into
/// linalg, tensor, arith, math and scf, for compilers that know nothing of Echo.
/// Fails with a diagnostic at an op that only a host program has.
LogicalResult convertGraphToLinalg(func::FuncOp function);

/// Makes one kernel function of linalg on tensors of those that are equal but
/// for numbers. Numbers that differ become arguments behind the tensors, and
/// `parameters` of the launches: integers, or the bits of floats.
LogicalResult mergeKernels(ModuleOp module);

/// Turns a kernel function of linalg on tensors into one on buffers,
/// `(inputs..., outputs..., parameters: i64..., %begin: index, %end: index)`,
/// that computes chunks begin to end. Buffers are one-dimensional and hold the
/// elements in row-major order; i1 takes a byte, and bf16 is held as i16.
/// Functions don't share state: kernels can be lowered in parallel.
LogicalResult lowerKernel(func::FuncOp kernel);

/// Turns a lowered kernel function into the LLVM dialect, in place but for the
/// function op itself.
LogicalResult convertKernelBodyToLLVM(func::FuncOp kernel);

/// The GPU module that kernels are mapped to.
inline constexpr llvm::StringLiteral kGPUModuleName = "echo_kernels";
/// What a kernel of the NVVM dialect says that it has to be launched with, as
/// arrays of three i32.
inline constexpr llvm::StringLiteral kKnownBlockSizeAttr =
    "gpu.known_block_size";
inline constexpr llvm::StringLiteral kKnownGridSizeAttr = "gpu.known_grid_size";

/// Adds a GPU function to `module` that computes what a kernel function of
/// linalg on tensors does, on buffers as those of lowerKernel: `(inputs...,
/// outputs..., parameters: i64...)`. It says which block and grid it is to be
/// launched with. The buffers' addresses are multiples of `alignments`, which
/// are powers of two; of buffers that have none there nothing is known. The
/// bits don't depend on the number of the device's multiprocessors.
FailureOr<gpu::GPUFuncOp> mapKernelToGPU(func::FuncOp kernel,
                                         gpu::GPUModuleOp module,
                                         ArrayRef<uint64_t> alignments = {},
                                         int64_t multiprocessors = 128);

/// Turns a GPU module in the NVVM dialect into a module of the same name, in its
/// place, that the host runs on the simulator (runtime/sim/Device.h). Fails with
/// a diagnostic at what the simulator has no counterpart of.
FailureOr<ModuleOp> convertToSimulator(gpu::GPUModuleOp module);

/// The kernel functions of a module, in order.
SmallVector<func::FuncOp> kernelFunctions(ModuleOp module);

} // namespace mlir::echo

#endif // ECHO_CONVERSION_KERNELS_H

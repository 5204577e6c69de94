//===- GPUTarget.h - Images of kernels for GPUs -----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_TARGET_GPU_GPUTARGET_H
#define ECHO_LIB_TARGET_GPU_GPUTARGET_H

#include "../CPU/CPUTarget.h"
#include "Program.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::echo::gputarget {

/// The chip that stands for the simulator.
inline constexpr llvm::StringLiteral kSimulatorChip = "sim";

/// All kernels, compiled for one chip.
struct KernelImage {
  std::string chip;
  ::echo::ImageKind kind;
  std::string bytes;
};

/// Checks the names of chips; diagnostics at `loc`.
LogicalResult checkChips(Location loc, ArrayRef<std::string> chips);

/// Compiles the kernels of a GPU module, which stays as it is, for the chips of
/// the options.
LogicalResult makeImages(gpu::GPUModuleOp kernels,
                         const ArtifactOptions &options,
                         SmallVectorImpl<KernelImage> &images);

/// The image of one chip. Machine code needs the CUDA Toolkit.
FailureOr<KernelImage> makeImage(gpu::GPUModuleOp kernels, StringRef chip,
                                 ::echo::ImageKind kind,
                                 const ArtifactOptions &options);

/// Writes the kernels as LLVM IR: optimized for the simulator, else as LLVM's
/// back end for NVIDIA GPUs gets them.
LogicalResult writeLLVMIR(gpu::GPUModuleOp kernels, StringRef chip,
                          const ArtifactOptions &options,
                          llvm::raw_ostream &stream);

/// A module in the LLVM dialect with the globals of an artefact (Program.h).
OwningOpRef<ModuleOp> makeArtifactModule(Location loc,
                                         const ::echo::Program &program,
                                         ArrayRef<KernelImage> images);

} // namespace mlir::echo::gputarget

#endif // ECHO_LIB_TARGET_GPU_GPUTARGET_H

//===- SimulatedModule.h - GPU kernels in process ---------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_CONVERSION_SIMULATEDMODULE_H
#define ECHO_UNITTESTS_CONVERSION_SIMULATEDMODULE_H

#include "CompiledKernels.h"
#include "sim/Simulator.h"

namespace mlir::echo::testing {

/// Kernels that are compiled for the simulator, in process.
class SimulatedModule {
public:
  /// Compiles a module as echo-nvvm-to-sim leaves it. The buffers of its
  /// launches are aligned to so many bytes and no better; 0: as their elements.
  explicit SimulatedModule(ModuleOp module, uint64_t alignment = 0);

  /// A launch of a kernel with the block and grid that it says it needs;
  /// buffers and arguments are missing.
  ::echo::sim::Launch launchOf(StringRef kernel) const;
  /// Runs a kernel on tensors. Outputs are written over the inputs whose
  /// numbers `overwriting` gives (-1: into memory of their own).
  std::vector<::echo::sim::Fault>
  run(StringRef kernel, ArrayRef<HostTensor> inputs,
      MutableArrayRef<HostTensor> outputs, ArrayRef<int64_t> overwriting,
      ArrayRef<int64_t> parameters,
      const ::echo::sim::LaunchOptions &options) const;
  /// Threads of the largest launch.
  uint64_t mostThreads() const;

private:
  uint64_t alignment;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::StringMap<::echo::sim::Launch> launches;
};

} // namespace mlir::echo::testing

#endif // ECHO_UNITTESTS_CONVERSION_SIMULATEDMODULE_H

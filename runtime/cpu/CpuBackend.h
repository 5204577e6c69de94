//===- CpuBackend.h - Compiled kernels on the CPU ---------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CPU_CPUBACKEND_H
#define ECHO_RUNTIME_CPU_CPUBACKEND_H

#include "HostBackend.h"

namespace echo {

/// Runs the kernels of an artefact for the target "cpu".
class CpuBackend final : public HostBackend {
public:
  CpuBackend(const Program &program, const KernelFunction *kernels, int threads)
      : HostBackend(program, threads), kernels(kernels) {}

  const std::string &name() const override {
    static const std::string name = "cpu";
    return name;
  }

private:
  void runKernel(const Call &call, void *const *args) override {
    KernelFunction kernel = kernels[call.function];
    auto chunks = static_cast<int64_t>(call.chunks);
    if (chunks == 1) {
      kernel(args, 0, 1);
      return;
    }
    pool.run(chunks, [kernel, args](int64_t begin, int64_t end) {
      kernel(args, begin, end);
    });
  }

  const KernelFunction *kernels;
};

} // namespace echo

#endif // ECHO_RUNTIME_CPU_CPUBACKEND_H

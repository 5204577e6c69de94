//===- HostBackend.h - Walks the call table on the CPU ----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CPU_HOSTBACKEND_H
#define ECHO_RUNTIME_CPU_HOSTBACKEND_H

#include "Backend.h"
#include "CallSlots.h"
#include "ThreadPool.h"

namespace echo {

/// A back end on the host's memory, but for the kernels: GEMM, copies and times
/// are the same for all. Nothing is allocated while a step runs.
class HostBackend : public Backend {
public:
  /// Throws Error (ECHO_LIBRARY_ERROR) if the threads can't be started. The
  /// program outlives it.
  HostBackend(const Program &program, int threads);

  bool sharesMemoryWith(const Backend &other) const override;
  std::unique_ptr<DeviceMemory> allocate(uint64_t bytes, uint64_t alignment,
                                         const std::string &purpose) override;
  std::unique_ptr<DeviceMemory>
  allocateStaging(uint64_t bytes, const std::string &purpose) override;
  std::unique_ptr<DeviceMemory> wrap(void *data) override;
  void copyIn(char *target, const void *source, uint64_t bytes) override;
  void copyOut(void *target, const char *source, uint64_t bytes) const override;
  void resolve(const Vector<char *> &regions,
               const Vector<StagedInput> &inputs) override;
  void run() override;
  void setProfiling(bool enabled) override;
  const Vector<CallTime> &times() const override { return callTimes; }

protected:
  /// `args` are the slots that a CPU kernel is given (KernelFunction).
  virtual void runKernel(const Call &call, void *const *args) = 0;

  const Program &program;
  ThreadPool pool;
  char *arena = nullptr; ///< when resolved

private:
  void runCall(size_t index);
  void runProfiled();
  void runCopy(char *target, const char *source, int64_t bytes);

  CallSlots slots; ///< what kernels are given
  Vector<StagedInput> inputs;
  bool profiling = false;
  Vector<CallTime> callTimes;
};

} // namespace echo

#endif // ECHO_RUNTIME_CPU_HOSTBACKEND_H

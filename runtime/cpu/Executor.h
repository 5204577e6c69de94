//===- Executor.h - Walks the call table on the CPU -------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CPU_EXECUTOR_H
#define ECHO_RUNTIME_CPU_EXECUTOR_H

#include "Memory.h"
#include "Program.h"
#include "ThreadPool.h"

namespace echo {

/// What the clock said of one call of the table.
struct CallTime {
  uint64_t runs = 0;
  double seconds = 0; ///< of all runs
  double lastBegin = 0, lastSeconds = 0; ///< lastBegin: since the walk began
};

/// Runs a checked program whose kernels are `kernels`; both outlive it.
class Executor {
public:
  /// Throws Error (ECHO_LIBRARY_ERROR) if the threads can't be started.
  Executor(const Program &program, const KernelFunction *kernels, int threads);

  /// Fixes the address of every operand: `regions` holds the arena and then
  /// one address per tensor (null where it isn't persistent).
  void resolve(const Vector<char *> &regions);

  /// Walks the table once. The operands are resolved.
  void run();

  /// Starts or stops taking every call's time. Starting sets all times to
  /// zero; after stopping they can still be read.
  void setProfiling(bool enabled);
  /// One per call; empty while none was ever taken.
  const Vector<CallTime> &times() const { return callTimes; }

private:
  void runCall(size_t index);
  void runProfiled();
  void runKernel(const Call &call, void *const *args);
  void runCopy(char *target, const char *source, int64_t bytes);

  const Program &program;
  const KernelFunction *kernels;
  ThreadPool pool;
  /// Per call its operands' addresses, then a kernel's parameters, in the
  /// slots that the kernel is given.
  Vector<void *> slots;
  Vector<size_t> firstSlot;
  bool profiling = false;
  Vector<CallTime> callTimes;
};

} // namespace echo

#endif // ECHO_RUNTIME_CPU_EXECUTOR_H

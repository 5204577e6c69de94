//===- Executor.cpp - Walks the call table on the CPU ---------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Executor.h"

#include "Error.h"
#include "Gemm.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>

using namespace echo;

static_assert(sizeof(void *) == sizeof(int64_t),
              "kernel parameters travel in pointer-sized slots");

Executor::Executor(const Program &program, const KernelFunction *kernels,
                   int threads) try
    : program(program), kernels(kernels), pool(checkThreads(threads)) {
  claimOpenBLAS();
} catch (const std::system_error &error) {
  throw Error(ECHO_LIBRARY_ERROR,
              std::string("can't start the threads: ") + error.what());
}

void Executor::resolve(const Vector<char *> &regions) {
  size_t total = 0;
  for (const Call &call : program.calls)
    total += call.numOperands +
             (call.kind == CallKind::Kernel ? call.numParameters : 0);
  // Memory of an earlier call is taken again.
  slots.clear();
  firstSlot.clear();
  slots.reserve(total);
  firstSlot.reserve(program.calls.size());
  for (const Call &call : program.calls) {
    firstSlot.push_back(slots.size());
    for (uint32_t i = 0; i < call.numOperands; ++i) {
      const Location &operand = program.operands[call.firstOperand + i];
      slots.push_back(regions[operand.region] + operand.offset);
    }
    if (call.kind != CallKind::Kernel)
      continue;
    for (uint32_t i = 0; i < call.numParameters; ++i) {
      void *slot;
      std::memcpy(&slot, &program.parameters[call.firstParameter + i],
                  sizeof(slot));
      slots.push_back(slot);
    }
  }
}

void Executor::runKernel(const Call &call, void *const *args) {
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

/// Source and target are the same buffer or don't overlap.
void Executor::runCopy(char *target, const char *source, int64_t bytes) {
  // One thread reaches less than the memory's bandwidth.
  constexpr int64_t kChunk = int64_t(1) << 18;
  if (target == source || bytes == 0)
    return;
  pool.run((bytes + kChunk - 1) / kChunk, [=](int64_t begin, int64_t end) {
    int64_t first = begin * kChunk, last = std::min(bytes, end * kChunk);
    std::memcpy(target + first, source + first, last - first);
  });
}

void Executor::runCall(size_t index) {
  const Call &call = program.calls[index];
  void *const *args = slots.data() + firstSlot[index];
  const int64_t *parameters = program.parameters.data() + call.firstParameter;
  switch (call.kind) {
  case CallKind::Kernel:
    runKernel(call, args);
    break;
  case CallKind::Gemm:
    runGemm(
        pool, GemmParameters::read(parameters),
        {args[0], args[1], call.numOperands == 4 ? args[3] : nullptr, args[2]});
    break;
  case CallKind::Copy:
    runCopy(static_cast<char *>(args[1]), static_cast<const char *>(args[0]),
            parameters[0]);
    break;
  }
}

void Executor::run() {
  // Another user of OpenBLAS in this process may have changed it.
  claimOpenBLAS();
  if (profiling)
    return runProfiled();
  for (size_t i = 0; i < program.calls.size(); ++i)
    runCall(i);
}

void Executor::runProfiled() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now(), begin = start;
  for (size_t i = 0; i < program.calls.size(); ++i) {
    runCall(i);
    // A call's end is the next one's begin: one look at the clock per call.
    Clock::time_point end = Clock::now();
    CallTime &time = callTimes[i];
    time.lastBegin = std::chrono::duration<double>(begin - start).count();
    time.lastSeconds = std::chrono::duration<double>(end - begin).count();
    time.seconds += time.lastSeconds;
    ++time.runs;
    begin = end;
  }
}

void Executor::setProfiling(bool enabled) {
  if (enabled)
    callTimes = Vector<CallTime>(program.calls.size());
  profiling = enabled;
}

//===- HostBackend.cpp - Walks the call table on the CPU ------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBackend.h"

#include "Error.h"
#include "Gemm.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>

using namespace echo;

namespace {

class MappedRegion final : public DeviceMemory {
public:
  MappedRegion(uint64_t bytes, uint64_t alignment, const std::string &purpose)
      : memory(bytes, alignment, purpose.c_str()) {
    start = hostStart = memory.data();
  }

private:
  MappedMemory memory;
};

class CallersRegion final : public DeviceMemory {
public:
  explicit CallersRegion(void *data) {
    start = hostStart = static_cast<char *>(data);
  }
};

} // namespace

HostBackend::HostBackend(const Program &program, int threads) try
    : program(program), pool(checkThreads(threads)) {
  claimOpenBLAS();
} catch (const std::system_error &error) {
  throw Error(ECHO_LIBRARY_ERROR,
              std::string("can't start the threads: ") + error.what());
}

bool HostBackend::sharesMemoryWith(const Backend &other) const {
  return dynamic_cast<const HostBackend *>(&other) != nullptr;
}

std::unique_ptr<DeviceMemory>
HostBackend::allocate(uint64_t bytes, uint64_t alignment,
                      const std::string &purpose) {
  return std::make_unique<MappedRegion>(bytes, alignment, purpose);
}

std::unique_ptr<DeviceMemory>
HostBackend::allocateStaging(uint64_t bytes, const std::string &purpose) {
  constexpr uint64_t kAlignment = 64;
  return std::make_unique<MappedRegion>(bytes, kAlignment, purpose);
}

std::unique_ptr<DeviceMemory> HostBackend::wrap(void *data) {
  return std::make_unique<CallersRegion>(data);
}

void HostBackend::copyIn(char *target, const void *source, uint64_t bytes) {
  if (bytes != 0)
    std::memmove(target, source, bytes);
}

void HostBackend::copyOut(void *target, const char *source,
                          uint64_t bytes) const {
  if (bytes != 0)
    std::memmove(target, source, bytes);
}

void HostBackend::resolve(const Vector<char *> &regions,
                          const Vector<StagedInput> &staged) {
  arena = regions[0];
  inputs = staged;
  slots.resolve(program, regions);
}

/// Source and target are the same buffer or don't overlap.
void HostBackend::runCopy(char *target, const char *source, int64_t bytes) {
  // One thread reaches less than the memory's bandwidth.
  constexpr int64_t kChunk = int64_t(1) << 18;
  if (target == source || bytes == 0)
    return;
  pool.run((bytes + kChunk - 1) / kChunk, [=](int64_t begin, int64_t end) {
    int64_t first = begin * kChunk, last = std::min(bytes, end * kChunk);
    std::memcpy(target + first, source + first, last - first);
  });
}

void HostBackend::runCall(size_t index) {
  const Call &call = program.calls[index];
  void *const *args = slots.of(index);
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

void HostBackend::run() {
  // Another user of OpenBLAS in this process may have changed it.
  claimOpenBLAS();
  for (const StagedInput &input : inputs)
    std::memcpy(arena + input.offset, input.source, input.bytes);
  if (profiling)
    return runProfiled();
  for (size_t i = 0; i < program.calls.size(); ++i)
    runCall(i);
}

void HostBackend::runProfiled() {
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

void HostBackend::setProfiling(bool enabled) {
  if (enabled)
    callTimes = Vector<CallTime>(program.calls.size());
  profiling = enabled;
}

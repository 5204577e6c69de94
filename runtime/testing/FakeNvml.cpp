//===- FakeNvml.cpp - A stand-in for NVML ---------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device that takes 100 watts all the time.
//
//===----------------------------------------------------------------------===//

#include "testing/FakeState.h"

using namespace echo::cuda;

#define ECHO_CUDA_DECLARE(member, symbol, parameters)                          \
  extern "C" __attribute__((                                                   \
      visibility("default"))) int member##Nvml parameters __asm__(#symbol);
ECHO_NVML_FUNCTIONS(ECHO_CUDA_DECLARE)
#undef ECHO_CUDA_DECLARE

namespace echo::cuda {
struct NvmlDeviceTag {
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
};
} // namespace echo::cuda

static constexpr unsigned kMilliwatts = 100000;
static constexpr int kNvmlNotSupported = 3;

int initNvml() {
  ECHO_FAKE_PLANNED();
  FakeState &state = FakeState::get();
  std::lock_guard lock(state.mutex);
  ++state.counters["nvml_users"];
  return 0;
}

int shutdownNvml() {
  FakeState &state = FakeState::get();
  std::lock_guard lock(state.mutex);
  --state.counters["nvml_users"];
  ECHO_FAKE_PLANNED();
  return 0;
}

int deviceByPciBusIdNvml(const char *, NvmlDevice *device) {
  ECHO_FAKE_PLANNED();
  static NvmlDeviceTag known;
  *device = &known;
  return 0;
}

int powerUsageNvml(NvmlDevice, unsigned *milliwatts) {
  ECHO_FAKE_PLANNED();
  *milliwatts = kMilliwatts;
  return 0;
}

int totalEnergyNvml(NvmlDevice device, unsigned long long *millijoules) {
  ECHO_FAKE_PLANNED();
  FakeState &state = FakeState::get();
  std::lock_guard lock(state.mutex);
  if (state.settings["has_energy"] == 0)
    return kNvmlNotSupported;
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - device->begin;
  *millijoules = static_cast<unsigned long long>(seconds.count() * kMilliwatts);
  return 0;
}

// The runtime asks the driver instead; benchmarks/gpu/monitor.py asks NVML.
extern "C" __attribute__((visibility("default"))) int
nvmlDeviceGetMemoryInfo(NvmlDevice, unsigned long long *totalFreeUsed) {
  FakeState &state = FakeState::get();
  std::lock_guard lock(state.mutex);
  totalFreeUsed[0] = state.settings["memory"];
  totalFreeUsed[2] = state.memory.allocatedBytes();
  totalFreeUsed[1] = totalFreeUsed[0] - totalFreeUsed[2];
  return 0;
}

//===- Monitor.cpp - Power and energy of a device -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/Monitor.h"

#include "Error.h"

using namespace echo;
using namespace echo::cuda;

Monitor::Monitor(const std::string &pciBusId) {
  try {
    library.emplace("NVML", "ECHO_NVML",
                    std::vector<std::string>{"libnvidia-ml.so.1"});
#define ECHO_CUDA_FIND(member, symbol, parameters)                             \
  library->find(member, #symbol);
    ECHO_NVML_FUNCTIONS(ECHO_CUDA_FIND)
#undef ECHO_CUDA_FIND
  } catch (const Error &) {
    // Power isn't known then.
    return;
  }
  isOpen = init() == 0;
  if (isOpen && deviceByPciBusId(pciBusId.c_str(), &device) != 0)
    device = nullptr;
}

Monitor::~Monitor() {
  if (isOpen)
    shutdown();
}

std::optional<double> Monitor::watts() const {
  unsigned milliwatts = 0;
  if (!device || powerUsage(device, &milliwatts) != 0)
    return std::nullopt;
  return milliwatts / 1e3;
}

std::optional<double> Monitor::joules() const {
  unsigned long long millijoules = 0;
  if (!device || totalEnergy(device, &millijoules) != 0)
    return std::nullopt;
  return static_cast<double>(millijoules) / 1e3;
}

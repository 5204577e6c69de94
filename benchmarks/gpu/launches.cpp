//===- launches.cpp - Time of a launch through the wrappers ---------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints as JSON how long a launch takes on the host, in nanoseconds, with a
// driver that returns at once (stub-driver.c, which ECHO_CUDA_DRIVER names):
// the driver's own function through a pointer, mgpuLaunchKernel as a session
// calls it, with its device in use, and as code of gpu-to-llvm calls it. The
// fastest of some rounds each. artifact.py builds and runs it.
//
//===----------------------------------------------------------------------===//

#include "cuda/Device.h"
#include "cuda/Wrappers.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

using namespace echo::cuda;

namespace {

template <typename Callable>
double nanosecondsOf(Callable &&launch) {
  constexpr int kRounds = 20, kLaunches = 200000;
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i)
      launch();
    std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / kLaunches);
  }
  return best;
}

} // namespace

int main() try {
  std::shared_ptr<Device> device = Device::open(0);
  Function function = nullptr;
  Stream stream = nullptr;
  void *parameters[3] = {};
  auto *direct = device->driver().launchKernel;
  auto wrapped = [&] {
    mgpuLaunchKernel(function, 100, 1, 1, 256, 1, 1, 0, stream, parameters,
                     nullptr, 3);
  };
  double driver = nanosecondsOf([&] {
    direct(function, 100, 1, 1, 256, 1, 1, 0, stream, parameters, nullptr);
  });
  double session = 0;
  {
    Device::Use use(*device);
    session = nanosecondsOf(wrapped);
  }
  double alone = nanosecondsOf(wrapped);
  std::printf("{\"driver\": %.2f, \"session\": %.2f, \"alone\": %.2f}\n",
              driver, session, alone);
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "launches: %s\n", error.what());
  return 1;
}

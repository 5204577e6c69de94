//===- Cost.cpp - Time of kernels and library calls -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Cost.h"

#include <algorithm>

using namespace mlir::echo::planning;

double Rates::operator[](Precision precision) const {
  switch (precision) {
  case Precision::F64:
    return f64;
  case Precision::F16:
    return f16;
  case Precision::BF16:
    return bf16;
  case Precision::F32:
    break;
  }
  return f32;
}

double Device::productEfficiency(double flops, Precision precision) const {
  double startupFlops =
      matrixRate[precision] * matrixEfficiency * matrixStartupSeconds;
  if (flops + startupFlops == 0)
    return matrixEfficiency;
  return matrixEfficiency * flops / (flops + startupFlops);
}

/// Bytes are added as doubles: their sum may pass 64 bits, its time doesn't.
static double memorySeconds(const Device &device, uint64_t bytesRead,
                            uint64_t bytesWritten) {
  return (static_cast<double>(bytesRead) + static_cast<double>(bytesWritten)) /
         (device.memoryBandwidth * device.memoryEfficiency);
}

double mlir::echo::planning::secondsOf(const Device &device,
                                       const KernelCost &cost) {
  double compute =
      static_cast<double>(cost.flops) / device.vectorRate[cost.precision];
  double memory = memorySeconds(device, cost.bytesRead, cost.bytesWritten);
  return static_cast<double>(cost.launches) * device.launchSeconds +
         std::max(compute, memory);
}

double mlir::echo::planning::secondsOf(const Device &device,
                                       const LibraryCallCost &cost) {
  double compute =
      static_cast<double>(cost.flops) /
      (device.matrixRate[cost.precision] * device.matrixEfficiency);
  double memory = memorySeconds(device, cost.bytesRead, cost.bytesWritten);
  double startup =
      device.launchSeconds + (cost.flops ? device.matrixStartupSeconds : 0);
  return static_cast<double>(cost.launches) * startup +
         std::max(compute, memory);
}

void MeasuredTimes::add(std::string_view kind, std::string_view work,
                        uint64_t flops, uint64_t bytes, uint64_t calls,
                        double seconds) {
  Time &time = times[Key(kind, work, flops, bytes)];
  time.calls += calls;
  time.seconds += seconds;
}

std::optional<double> MeasuredTimes::find(std::string_view kind,
                                          std::string_view work, uint64_t flops,
                                          uint64_t bytes) const {
  auto found = times.find(Key(kind, work, flops, bytes));
  if (found == times.end() || found->second.calls == 0)
    return std::nullopt;
  return found->second.seconds / static_cast<double>(found->second.calls);
}

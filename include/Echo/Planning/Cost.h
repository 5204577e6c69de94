//===- Cost.h - Time of kernels and library calls ---------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a call of the host program costs on a device. docs/devices.md has the
// model's reasons, the sources of the built-in numbers, and the JSON formats.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_PLANNING_COST_H
#define ECHO_PLANNING_COST_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace mlir::echo::planning {

/// The type that arithmetic is done in; integers count as F32.
enum class Precision : uint8_t { F64, F32, F16, BF16 };

/// Floating-point operations per second for each precision.
struct Rates {
  double f64 = 0, f32 = 0, f16 = 0, bf16 = 0;

  double operator[](Precision precision) const;
};

struct Device {
  std::string name;
  Rates vectorRate;                ///< peak of generated kernels
  Rates matrixRate;                ///< peak of matrix products and convolutions
  double memoryBandwidth = 0;      ///< peak, bytes per second
  double memoryEfficiency = 1;     ///< share of the peak that a kernel reaches
  double matrixEfficiency = 1;     ///< share that a large product reaches
  double matrixStartupSeconds = 0; ///< filling and draining the device
  double launchSeconds = 0;        ///< from one call to the next

  /// The share of `matrixRate` that a product of `flops` reaches, launch not
  /// counted: matrixEfficiency for large ones, half of it where the flops take
  /// as long as the startup.
  double productEfficiency(double flops, Precision precision) const;
};

/// What a call does.
struct CallCost {
  uint64_t flops = 0, bytesRead = 0, bytesWritten = 0;
  uint64_t launches = 1;
  Precision precision = Precision::F32;
};

/// A kernel: its bytes are those of its inputs and outputs alone, not of what
/// stays inside. A rematerialized clone that joins its reader's kernel adds
/// flops, and bytes only for inputs that the kernel didn't read before.
struct KernelCost : CallCost {};

/// A matrix product or convolution that a library executes.
struct LibraryCallCost : CallCost {};

/// launches * launch + max(flops / rate, bytes / bandwidth)
double secondsOf(const Device &device, const KernelCost &cost);
/// launches * (launch + startup) + max(flops / rate, bytes / bandwidth), rates
/// times their efficiency. No startup where there are no flops.
double secondsOf(const Device &device, const LibraryCallCost &cost);

/// The built-in devices: rtx2080ti, v100, a100, h100, h200, cpu.
const std::vector<Device> &builtinDevices();
/// Null if there is none of this name.
const Device *findDevice(std::string_view name);
/// "rtx2080ti, v100, ..."
std::string builtinDeviceNames();

/// Times of calls that a run measured. A call is known by its kind ("kernel",
/// "gemm", "copy"), what it computes (a kernel's ops, a product's sizes), and
/// its flops and bytes; entries of equal calls are averaged.
class MeasuredTimes {
public:
  void add(std::string_view kind, std::string_view work, uint64_t flops,
           uint64_t bytes, uint64_t calls, double seconds);
  /// Seconds of one call.
  std::optional<double> find(std::string_view kind, std::string_view work,
                             uint64_t flops, uint64_t bytes) const;
  bool empty() const { return times.empty(); }

private:
  struct Time {
    uint64_t calls = 0;
    double seconds = 0;
  };
  using Key = std::tuple<std::string, std::string, uint64_t, uint64_t>;
  std::map<Key, Time> times;
};

/// A device and what was measured on it.
struct CostModel {
  Device device;
  MeasuredTimes measured;
};

/// Reads a device description, or the report of a profiled run, whose calls
/// override the model of the device that it names ("device", default "cpu").
/// Returns false and says in `error` what is wrong and where.
bool readCostModel(std::string_view json, CostModel &model, std::string &error);

} // namespace mlir::echo::planning

#endif // ECHO_PLANNING_COST_H

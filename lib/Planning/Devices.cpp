//===- Devices.cpp - Built-in and described devices -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Cost.h"
#include "Json.h"

using namespace mlir::echo::planning;

/// Kernels compute f16 and bf16 in f32, so their vector rates are f32's.
static Rates vectorRates(double f64, double f32) {
  return {f64, f32, f32, f32};
}

/// A GPU of NVIDIA; docs/devices.md has the sources.
static Device gpu(const char *name, Rates vector, Rates matrix,
                  double bandwidth, double startup) {
  Device device;
  device.name = name;
  device.vectorRate = vector;
  device.matrixRate = matrix;
  device.memoryBandwidth = bandwidth;
  device.memoryEfficiency = 0.88;
  device.matrixEfficiency = 0.9;
  device.matrixStartupSeconds = startup;
  device.launchSeconds = 1e-6;
  return device;
}

static Device cpu() {
  Device device;
  device.name = "cpu";
  device.vectorRate = vectorRates(20e9, 40e9);
  device.matrixRate = {78.4e9, 156.8e9, 156.8e9, 156.8e9};
  device.memoryBandwidth = 25.6e9;
  device.memoryEfficiency = 0.8;
  device.matrixEfficiency = 0.85;
  device.matrixStartupSeconds = 2e-6;
  device.launchSeconds = 5e-6;
  return device;
}

const std::vector<Device> &mlir::echo::planning::builtinDevices() {
  static const std::vector<Device> devices = {
      gpu("rtx2080ti", vectorRates(0.42e12, 13.4e12),
          {0.42e12, 13.4e12, 53.8e12, 13.4e12}, 616e9, 6e-6),
      gpu("v100", vectorRates(7.8e12, 15.7e12),
          {7.8e12, 15.7e12, 125e12, 15.7e12}, 900e9, 6e-6),
      gpu("a100", vectorRates(9.7e12, 19.5e12),
          {19.5e12, 19.5e12, 312e12, 312e12}, 2039e9, 5e-6),
      gpu("h100", vectorRates(34e12, 67e12), {67e12, 67e12, 989e12, 989e12},
          3350e9, 4e-6),
      gpu("h200", vectorRates(34e12, 67e12), {67e12, 67e12, 989e12, 989e12},
          4800e9, 4e-6),
      cpu()};
  return devices;
}

const Device *mlir::echo::planning::findDevice(std::string_view name) {
  for (const Device &device : builtinDevices())
    if (device.name == name)
      return &device;
  return nullptr;
}

std::string mlir::echo::planning::builtinDeviceNames() {
  std::string names;
  for (const Device &device : builtinDevices())
    names += (names.empty() ? "" : ", ") + device.name;
  return names;
}

static void readRates(ObjectReader &parent, const char *name, Rates &rates,
                      std::string &error) {
  const Json *field = parent.read(name);
  if (!field)
    return;
  ObjectReader reader(*field, parent.pathOf(name), error);
  reader.readNumber("f64", rates.f64, /*positive=*/true);
  reader.readNumber("f32", rates.f32, /*positive=*/true);
  reader.readNumber("f16", rates.f16, /*positive=*/true);
  reader.readNumber("bf16", rates.bf16, /*positive=*/true);
  reader.finish();
}

/// A share in (0, 1].
static void readShare(ObjectReader &reader, const char *name, double &share) {
  reader.readNumber(name, share, /*positive=*/true);
  if (share > 1)
    reader.fail("'" + reader.pathOf(name) +
                "': expected a number of at most 1, found " +
                Json(share).dump());
}

static bool readDevice(const Json &value, Device &device, std::string &error) {
  ObjectReader reader(value, "", error);
  reader.readString("name", device.name);
  readRates(reader, "vector_rate", device.vectorRate, error);
  readRates(reader, "matrix_rate", device.matrixRate, error);
  reader.readNumber("memory_bandwidth", device.memoryBandwidth,
                    /*positive=*/true);
  readShare(reader, "memory_efficiency", device.memoryEfficiency);
  readShare(reader, "matrix_efficiency", device.matrixEfficiency);
  reader.readNumber("matrix_startup_seconds", device.matrixStartupSeconds);
  reader.readNumber("launch_seconds", device.launchSeconds);
  return reader.finish();
}

/// Reports of runs have more fields than these.
static bool readReport(const Json &value, CostModel &model,
                       std::string &error) {
  std::string name = "cpu";
  if (auto device = value.find("device"); device != value.end()) {
    if (!device->is_string()) {
      error = "'device': expected a string, found " + describeJson(*device);
      return false;
    }
    name = device->get<std::string>();
  }
  const Device *device = findDevice(name);
  if (!device) {
    error =
        "'device': expected " + builtinDeviceNames() + ", found '" + name + "'";
    return false;
  }
  model.device = *device;
  const Json &profile = value["profile"];
  if (!profile.is_array()) {
    error = "'profile': expected an array, found " + describeJson(profile);
    return false;
  }
  for (size_t i = 0; i < profile.size(); ++i) {
    ObjectReader reader(profile[i], "profile[" + std::to_string(i) + "]",
                        error);
    std::string kind, callName, op, layer;
    uint64_t calls = 0, flops = 0, bytes = 0;
    double seconds = 0;
    reader.readString("kind", kind);
    reader.readString("name", callName);
    reader.readString("op", op);
    reader.readString("layer", layer);
    reader.readInteger("calls", calls);
    reader.readNumber("seconds", seconds);
    reader.readInteger("flops", flops);
    reader.readInteger("bytes", bytes);
    if (!error.empty())
      return false;
    // A library call's sizes are in its name, a kernel's name is a number.
    model.measured.add(kind, kind == "kernel" ? op : callName, flops, bytes,
                       calls, seconds);
  }
  return true;
}

bool mlir::echo::planning::readCostModel(std::string_view json,
                                         CostModel &model, std::string &error) {
  Json value;
  CostModel read;
  error.clear();
  if (!parseJson(json, value, error))
    return false;
  bool isReport = value.is_object() && value.contains("profile");
  if (!(isReport ? readReport(value, read, error)
                 : readDevice(value, read.device, error)))
    return false;
  model = std::move(read);
  return true;
}

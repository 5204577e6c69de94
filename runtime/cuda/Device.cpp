//===- Device.cpp - A CUDA device -----------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/Device.h"

#include "Error.h"

#include <algorithm>
#include <map>

using namespace echo;
using namespace echo::cuda;

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

/// CUDA 12.0: PTX 8.0, graphs with flags.
static constexpr int kLeastDriverVersion = 12000;

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Driver::Driver()
    : library("the CUDA driver", "ECHO_CUDA_DRIVER", {"libcuda.so.1"}) {
  // What every driver has, so that an old one says how old it is.
  library.find(driverGetVersion, "cuDriverGetVersion");
  library.find(getErrorName, "cuGetErrorName");
  library.find(getErrorString, "cuGetErrorString");
  int version = 0;
  Result result = driverGetVersion(&version);
  if (result != kSuccess)
    throw Error(ECHO_LIBRARY_ERROR,
                "cuDriverGetVersion failed: " + describe(result));
  if (version < kLeastDriverVersion)
    throw Error(ECHO_LIBRARY_ERROR,
                "the CUDA driver, '" + library.path() + "', is for CUDA " +
                    versionText(version) + "; " +
                    versionText(kLeastDriverVersion) + " or newer is needed");
#define ECHO_CUDA_FIND(member, symbol, parameters)                             \
  library.find(member, #symbol);
  ECHO_CUDA_DRIVER_FUNCTIONS(ECHO_CUDA_FIND)
#undef ECHO_CUDA_FIND
  result = init(0);
  if (result != kSuccess)
    throw Error(ECHO_DEVICE_ERROR, "cuInit failed: " + describe(result));
}

std::shared_ptr<Driver> Driver::load() {
  static std::mutex mutex;
  static std::weak_ptr<Driver> loaded;
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Driver> driver = loaded.lock();
  if (!driver) {
    driver.reset(new Driver);
    loaded = driver;
  }
  return driver;
}

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  return std::string(name ? name : "unknown error") + " (" +
         std::to_string(result) + ")" + (text ? std::string(": ") + text : "");
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

Device::Device(int wanted) : functions(Driver::load()) {
  title = "cuda:" + std::to_string(wanted);
  auto checkOpen = [&](Result result, const char *what) {
    if (result != kSuccess)
      throw Error(result == kOutOfMemory ? ECHO_OUT_OF_MEMORY
                                         : ECHO_DEVICE_ERROR,
                  failure(result, what));
  };
  int count = 0;
  checkOpen(functions->deviceGetCount(&count), "cuDeviceGetCount");
  if (wanted >= count)
    throw Error(ECHO_DEVICE_ERROR, "no device " + title + ": the driver sees " +
                                       std::to_string(count) +
                                       (count == 1 ? " device" : " devices"));
  checkOpen(functions->deviceGet(&number, wanted), "cuDeviceGet");
  char text[256] = "";
  checkOpen(functions->deviceGetName(text, sizeof(text) - 1, number),
            "cuDeviceGetName");
  title += std::string(" ") + text;
  int major = 0, minor = 0;
  checkOpen(functions->deviceGetAttribute(&major, kAttributeMajor, number),
            "cuDeviceGetAttribute");
  checkOpen(functions->deviceGetAttribute(&minor, kAttributeMinor, number),
            "cuDeviceGetAttribute");
  computeCapability = major * 10 + minor;
  checkOpen(functions->deviceGetPCIBusId(text, sizeof(text) - 1, number),
            "cuDeviceGetPCIBusId");
  busId = text;
  checkOpen(functions->primaryCtxRetain(&context, number),
            "cuDevicePrimaryCtxRetain");
}

Device::~Device() {
  if (context)
    functions->primaryCtxRelease(number);
}

std::shared_ptr<Device> Device::open(int number) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<Device>> devices;
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Device> device = devices[number].lock();
  if (!device) {
    device.reset(new Device(number));
    devices[number] = device;
  }
  return device;
}

std::string Device::failure(Result result, const char *what) const {
  return title + ": " + what + " failed: " + functions->describe(result);
}

void Device::checkCapturing(Result result, const char *what) const {
  if (result != kSuccess)
    throw Error(result == kOutOfMemory ? ECHO_OUT_OF_MEMORY : ECHO_DEVICE_ERROR,
                failure(result, what));
}

void Device::check(Result result, const char *what) {
  if (result == kSuccess)
    return;
  // An error that stays is told by every call. That another thread captures a
  // graph on the device isn't one.
  Result state = functions->ctxSynchronize();
  if (state == kSuccess || state == kCaptureUnsupported)
    return checkCapturing(result, what);
  std::string reason = failure(result, what);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!isLost)
      lossReason = reason;
    isLost = true;
  }
  throw Error(ECHO_DEVICE_ERROR,
              reason + "; the device is lost to this process until all of its "
                       "sessions on it are closed");
}

void Device::requireUsable() const {
  if (!isLost)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  throw Error(ECHO_DEVICE_ERROR,
              "the device is lost since an earlier error: " + lossReason +
                  "; close all sessions on it and open them again");
}

void Device::memoryInfo(uint64_t &freeBytes, uint64_t &totalBytes) {
  size_t available = 0, total = 0;
  check(functions->memGetInfo(&available, &total), "cuMemGetInfo");
  freeBytes = available;
  totalBytes = total;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {

class DeviceRegion final : public DeviceMemory {
public:
  DeviceRegion(std::shared_ptr<Device> device, DeviceAddress memory,
               uint64_t alignment)
      : device(std::move(device)), memory(memory) {
    start = reinterpret_cast<char *>((memory + alignment - 1) / alignment *
                                     alignment);
  }
  ~DeviceRegion() override {
    Device::Use use(*device, std::nothrow);
    device->driver().memFree(memory);
  }

private:
  std::shared_ptr<Device> device;
  DeviceAddress memory;
};

class PinnedRegion final : public DeviceMemory {
public:
  PinnedRegion(std::shared_ptr<Device> device, void *memory)
      : device(std::move(device)) {
    start = hostStart = static_cast<char *>(memory);
  }
  ~PinnedRegion() override {
    Device::Use use(*device, std::nothrow);
    device->driver().memFreeHost(hostStart);
  }

private:
  std::shared_ptr<Device> device;
};

// No library allocates 0 bytes; addresses of empty tensors are distinct.
constexpr uint64_t kLeastBytes = 256;
/// What cuMemAlloc promises.
constexpr uint64_t kAlignment = 256;

} // namespace

std::unique_ptr<DeviceMemory>
Device::allocate(uint64_t bytes, uint64_t alignment, const std::string &purpose,
                 const std::function<std::string()> &advice) {
  ++allocationCount();
  DeviceAddress memory = 0;
  uint64_t slack = alignment > kAlignment ? alignment : 0;
  Result result = functions->memAlloc(
      &memory, std::max<uint64_t>(bytes, kLeastBytes) + slack);
  if (result == kOutOfMemory) {
    uint64_t freeBytes, totalBytes;
    memoryInfo(freeBytes, totalBytes);
    throw Error(ECHO_OUT_OF_MEMORY,
                "out of memory on " + title + ": asked for " +
                    std::to_string(bytes) + " bytes for " + purpose + ", " +
                    std::to_string(freeBytes) + " of " +
                    std::to_string(totalBytes) + " bytes are free" + advice());
  }
  check(result, "cuMemAlloc");
  return std::make_unique<DeviceRegion>(shared_from_this(), memory, alignment);
}

std::unique_ptr<DeviceMemory> Device::allocateHost(uint64_t bytes,
                                                   const std::string &purpose) {
  ++allocationCount();
  void *memory = nullptr;
  Result result = functions->memHostAlloc(
      &memory, std::max<uint64_t>(bytes, kLeastBytes), 0);
  if (result == kOutOfMemory)
    throw Error(ECHO_OUT_OF_MEMORY, "out of memory: " + std::to_string(bytes) +
                                        " bytes of pinned host memory for " +
                                        purpose);
  check(result, "cuMemHostAlloc");
  return std::make_unique<PinnedRegion>(shared_from_this(), memory);
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

static thread_local Device *innermost = nullptr;

Device *Device::current() { return innermost; }

Device::Use::Use(Device &device)
    : device(device), outer(innermost), isPushed(false) {
  device.requireUsable();
  device.checkCapturing(device.functions->ctxPushCurrent(device.context),
                        "cuCtxPushCurrent");
  isPushed = true;
  innermost = &device;
}

Device::Use::Use(Device &device, std::nothrow_t)
    : device(device), outer(innermost),
      isPushed(device.functions->ctxPushCurrent(device.context) == kSuccess) {
  innermost = &device;
}

Device::Use::~Use() {
  Context popped;
  if (isPushed)
    device.functions->ctxPopCurrent(&popped);
  innermost = outer;
}

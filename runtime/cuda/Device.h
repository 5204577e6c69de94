//===- Device.h - A CUDA device -----------------------------------*- C++
//-*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver is the first library below that is there: $ECHO_CUDA_DRIVER, or
// libcuda.so.1. A device is used through its primary context, as other users of
// CUDA in the process use it, and the context that a caller has made current
// stays so.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CUDA_DEVICE_H
#define ECHO_RUNTIME_CUDA_DEVICE_H

#include "Backend.h"
#include "cuda/DriverApi.h"
#include "cuda/SharedLibrary.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace echo::cuda {

/// The functions of the driver. Shared by all that use it at a time.
class Driver {
public:
  /// Loads and initializes the driver, unless it is loaded. Throws Error: which
  /// library was looked for, or why it can't be used.
  static std::shared_ptr<Driver> load();

#define ECHO_CUDA_MEMBER(member, symbol, parameters)                           \
  Result(*member) parameters = nullptr;
  ECHO_CUDA_DRIVER_FUNCTIONS(ECHO_CUDA_MEMBER)
#undef ECHO_CUDA_MEMBER

  /// "CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected"
  std::string describe(Result result) const;

private:
  Driver();

  SharedLibrary library;
};

/// A device with its primary context. May be used by several threads.
class Device : public std::enable_shared_from_this<Device> {
public:
  /// Opens device `number`, or shares it with those that have it open. Throws
  /// Error.
  static std::shared_ptr<Device> open(int number);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const Driver &driver() const { return *functions; }
  /// "cuda:0 NVIDIA H200"
  const std::string &name() const { return title; }
  /// 90 for compute capability 9.0.
  int capability() const { return computeCapability; }
  /// "0000:01:00.0"
  const std::string &pciBusId() const { return busId; }

  /// Throws Error (ECHO_OUT_OF_MEMORY or ECHO_DEVICE_ERROR) if a call of `what`
  /// failed. An error that stays makes the device lost.
  void check(Result result, const char *what);
  /// The same for a call of a thread that captures a stream: the device isn't
  /// asked whether the error stays.
  void checkCapturing(Result result, const char *what) const;
  /// Throws Error (ECHO_DEVICE_ERROR) if the device is lost: it can be used
  /// again when all that use it have closed it.
  void requireUsable() const;

  /// Needs a Use. What `advice` returns is added to the error when there is no
  /// memory for it.
  std::unique_ptr<DeviceMemory>
  allocate(uint64_t bytes, uint64_t alignment, const std::string &purpose,
           const std::function<std::string()> &advice);
  /// Pinned memory of the host. Needs a Use.
  std::unique_ptr<DeviceMemory> allocateHost(uint64_t bytes,
                                             const std::string &purpose);
  /// Of the whole device. Needs a Use.
  void memoryInfo(uint64_t &freeBytes, uint64_t &totalBytes);

  /// Makes a device's context current to this thread for a while. The wrappers
  /// (Wrappers.h) act on it then.
  class Use {
  public:
    /// Throws Error if the device is lost or the context can't be used.
    explicit Use(Device &device);
    /// For destructors: throws nothing, works on a lost device as well.
    Use(Device &device, std::nothrow_t);
    ~Use();
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

  private:
    Device &device;
    Device *outer;
    bool isPushed;
  };
  /// That of the innermost Use of this thread, or null.
  static Device *current();

private:
  explicit Device(int number);
  std::string failure(Result result, const char *what) const;

  std::shared_ptr<Driver> functions;
  DeviceNumber number = 0;
  Context context = nullptr;
  std::string title, busId;
  int computeCapability = 0;
  std::atomic<bool> isLost{false};
  mutable std::mutex mutex;
  std::string lossReason; // under the mutex
};

} // namespace echo::cuda

#endif // ECHO_RUNTIME_CUDA_DEVICE_H

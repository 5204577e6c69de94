//===- Wrappers.cpp - Functions that upstream's GPU code calls ------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/Wrappers.h"

#include "Error.h"
#include "cuda/Device.h"

#include <cstdio>
#include <map>

using namespace echo;
using namespace echo::cuda;

namespace {

constexpr Result kNotSupported = 801; // CUDA_ERROR_NOT_SUPPORTED

struct ThreadState {
  Result error = kSuccess;
  const char *what = "";
  char jitLog[4096] = "";
};
thread_local ThreadState state;

std::atomic<int> defaultDevice{0};

/// Calls `function` with the device's driver.
template <typename Callable>
void onDevice(const char *what, Callable &&function) noexcept {
  if (Device *device = Device::current()) {
    Result result = function(device->driver());
    if (result != kSuccess && state.error == kSuccess) {
      state.error = result;
      state.what = what;
    }
    return;
  }
  try {
    // Open as long as the process: nobody says when it isn't needed any more.
    static auto &opened = *new std::map<int, std::shared_ptr<Device>>;
    static std::mutex mutex;
    std::shared_ptr<Device> device;
    {
      std::lock_guard<std::mutex> lock(mutex);
      std::shared_ptr<Device> &entry = opened[defaultDevice];
      if (!entry)
        entry = Device::open(defaultDevice);
      device = entry;
    }
    Device::Use use(*device);
    device->check(function(device->driver()), what);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

DeviceAddress addressOf(const void *pointer) {
  return reinterpret_cast<DeviceAddress>(pointer);
}

} // namespace

Result echo::cuda::takeWrapperError(const char *&what) {
  Result error = state.error;
  what = state.what;
  state.error = kSuccess;
  return error;
}

const char *echo::cuda::jitLog() { return state.jitLog; }

Module mgpuModuleLoad(void *data, size_t bytes) {
  Module module = nullptr;
  onDevice("cuModuleLoadDataEx", [&](const Driver &driver) {
    return driver.moduleLoadDataEx(&module, data, 0, nullptr, nullptr);
  });
  return module;
}

Module mgpuModuleLoadJIT(void *data, int optimizationLevel) {
  Module module = nullptr;
  state.jitLog[0] = '\0';
  onDevice("cuModuleLoadDataEx", [&](const Driver &driver) {
    int options[] = {kJitErrorLog, kJitErrorLogBytes, kJitOptimizationLevel};
    void *values[] = {
        state.jitLog,
        reinterpret_cast<void *>(uintptr_t(sizeof(state.jitLog) - 1)),
        reinterpret_cast<void *>(uintptr_t(optimizationLevel))};
    Result result = driver.moduleLoadDataEx(&module, data, 3, options, values);
    state.jitLog[sizeof(state.jitLog) - 1] = '\0';
    return result;
  });
  return module;
}

void mgpuModuleUnload(Module module) {
  onDevice("cuModuleUnload",
           [&](const Driver &driver) { return driver.moduleUnload(module); });
}

Function mgpuModuleGetFunction(Module module, const char *name) {
  Function function = nullptr;
  onDevice("cuModuleGetFunction", [&](const Driver &driver) {
    return driver.moduleGetFunction(&function, module, name);
  });
  return function;
}

void mgpuLaunchKernel(Function function, intptr_t gridX, intptr_t gridY,
                      intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                      intptr_t blockZ, int32_t sharedBytes, Stream stream,
                      void **parameters, void **extra, size_t numParameters) {
  onDevice("cuLaunchKernel", [&](const Driver &driver) {
    return driver.launchKernel(
        function, static_cast<unsigned>(gridX), static_cast<unsigned>(gridY),
        static_cast<unsigned>(gridZ), static_cast<unsigned>(blockX),
        static_cast<unsigned>(blockY), static_cast<unsigned>(blockZ),
        static_cast<unsigned>(sharedBytes), stream, parameters, extra);
  });
}

Stream mgpuStreamCreate() {
  Stream stream = nullptr;
  onDevice("cuStreamCreate", [&](const Driver &driver) {
    return driver.streamCreate(&stream, kStreamNonBlocking);
  });
  return stream;
}

void mgpuStreamDestroy(Stream stream) {
  onDevice("cuStreamDestroy",
           [&](const Driver &driver) { return driver.streamDestroy(stream); });
}

void mgpuStreamSynchronize(Stream stream) {
  onDevice("cuStreamSynchronize", [&](const Driver &driver) {
    return driver.streamSynchronize(stream);
  });
}

void mgpuStreamWaitEvent(Stream stream, Event event) {
  onDevice("cuStreamWaitEvent", [&](const Driver &driver) {
    return driver.streamWaitEvent(stream, event, 0);
  });
}

Event mgpuEventCreate() {
  Event event = nullptr;
  onDevice("cuEventCreate", [&](const Driver &driver) {
    return driver.eventCreate(&event, kEventDisableTiming);
  });
  return event;
}

void mgpuEventDestroy(Event event) {
  onDevice("cuEventDestroy",
           [&](const Driver &driver) { return driver.eventDestroy(event); });
}

void mgpuEventSynchronize(Event event) {
  onDevice("cuEventSynchronize", [&](const Driver &driver) {
    return driver.eventSynchronize(event);
  });
}

void mgpuEventRecord(Event event, Stream stream) {
  onDevice("cuEventRecord", [&](const Driver &driver) {
    return driver.eventRecord(event, stream);
  });
}

void *mgpuMemAlloc(uint64_t bytes, Stream stream, bool isHostShared) {
  DeviceAddress memory = 0;
  onDevice("cuMemAlloc", [&](const Driver &driver) {
    if (isHostShared)
      return kNotSupported;
    return bytes == 0 ? Result(kSuccess) : driver.memAlloc(&memory, bytes);
  });
  return reinterpret_cast<void *>(memory);
}

void mgpuMemFree(void *memory, Stream stream) {
  onDevice("cuMemFree", [&](const Driver &driver) {
    return memory ? driver.memFree(addressOf(memory)) : Result(kSuccess);
  });
}

void mgpuMemcpy(void *target, void *source, size_t bytes, Stream stream) {
  onDevice("cuMemcpyAsync", [&](const Driver &driver) {
    return driver.memcpyAsync(addressOf(target), addressOf(source), bytes,
                              stream);
  });
}

void mgpuMemset32(void *target, unsigned value, size_t count, Stream stream) {
  onDevice("cuMemsetD32Async", [&](const Driver &driver) {
    return driver.memsetD32Async(addressOf(target), value, count, stream);
  });
}

void mgpuMemset16(void *target, unsigned short value, size_t count,
                  Stream stream) {
  onDevice("cuMemsetD16Async", [&](const Driver &driver) {
    return driver.memsetD16Async(addressOf(target), value, count, stream);
  });
}

void mgpuSetDefaultDevice(int32_t device) { defaultDevice = device; }

//===- Backend.h - What a step runs on --------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A session keeps names and values; a back end has the memory and walks the
// table of calls on it. Three are there: the CPU (cpu/CpuBackend.h), a GPU that
// is simulated on the CPU (sim/SimBackend.h) and CUDA (cuda/CudaBackend.h).
//
// A back end is used by one thread at a time. Its functions throw Error.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_BACKEND_H
#define ECHO_RUNTIME_COMMON_BACKEND_H

#include "Memory.h"
#include "Program.h"
#include "echo_runtime.h"

#include <memory>
#include <string>

namespace echo {

class Artifact;

/// What the clock said of one call of the table. In seconds.
struct CallTime {
  uint64_t runs = 0;
  double seconds = 0;                    ///< of all runs
  double lastBegin = 0, lastSeconds = 0; ///< lastBegin: since the walk began
};

/// echo_session_options, read.
struct SessionOptions {
  int threads = 0;    ///< 0: all cores that this process may use
  std::string device; ///< "": the artefact's own
  bool allowTF32 = false;
  bool withoutGraph = false;
  bool isReverse = false; ///< sim: order of threads and blocks
};

/// Memory that the kernels of a back end can use; it may outlive the back end.
class DeviceMemory {
public:
  virtual ~DeviceMemory() = default;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  /// For kernels.
  char *address() const { return start; }
  /// The same memory for the host, or null where it can't reach it.
  char *host() const { return hostStart; }

protected:
  DeviceMemory() = default;
  char *start = nullptr, *hostStart = nullptr;
};

/// An input or label: every run begins with copying it into the arena.
struct StagedInput {
  const char *source; ///< of allocateStaging()
  uint64_t offset;    ///< in the arena
  uint64_t bytes;
};

class Backend {
public:
  virtual ~Backend() = default;

  /// "cpu", "sim", "cuda:0 NVIDIA H200".
  virtual const std::string &name() const = 0;
  /// Whether both use the same memory, so that one may run on what the other
  /// allocated.
  virtual bool sharesMemoryWith(const Backend &other) const = 0;

  /// Memory for a region of the program. `purpose` is for errors.
  virtual std::unique_ptr<DeviceMemory>
  allocate(uint64_t bytes, uint64_t alignment, const std::string &purpose) = 0;
  /// Memory of the host that inputs are copied from.
  virtual std::unique_ptr<DeviceMemory>
  allocateStaging(uint64_t bytes, const std::string &purpose) = 0;
  /// The caller's memory as that of a region, not owned.
  virtual std::unique_ptr<DeviceMemory> wrap(void *data) = 0;
  /// Copies between the host's memory and a region's, and waits for it.
  virtual void copyIn(char *target, const void *source, uint64_t bytes) = 0;
  virtual void copyOut(void *target, const char *source,
                       uint64_t bytes) const = 0;

  /// Fixes the address of every operand: `regions` holds the arena and then
  /// one address per tensor (null where it isn't persistent).
  virtual void resolve(const Vector<char *> &regions,
                       const Vector<StagedInput> &inputs) = 0;
  /// What can fail in front of a run without a change of any region.
  virtual void prepare() {}
  /// Copies the inputs, walks the table once, and waits for the end. When it
  /// throws, any region may have any content.
  virtual void run() = 0;

  /// Starts or stops taking every call's time. Starting sets all times to
  /// zero; after stopping they can still be read.
  virtual void setProfiling(bool enabled) = 0;
  /// One per call; empty while none was ever taken.
  virtual const Vector<CallTime> &times() const = 0;

  /// What the device knows of itself; the session fills in the rest.
  virtual void fillStatistics(echo_statistics &) const {}
};

/// The back end that runs an artefact on the device that the options name.
/// The artefact outlives it.
std::unique_ptr<Backend> createBackend(const Artifact &artifact,
                                       const SessionOptions &options);

/// The same on CUDA device `deviceNumber`; see cuda/CudaBackend.h.
std::unique_ptr<Backend> createCudaBackend(const Artifact &artifact,
                                           const SessionOptions &options,
                                           int deviceNumber);

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_BACKEND_H

//===- CudaBackend.h - Steps on a CUDA device ---------------------*- C++
//-*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first step issues every call to one stream. Then the same calls, the
// copies of the inputs among them, are captured as a graph, and later steps
// launch that; where operands move (a bound or shared tensor), it is captured
// anew. With profiling every step issues its calls, with an event after each.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CUDA_CUDABACKEND_H
#define ECHO_RUNTIME_CUDA_CUDABACKEND_H

#include "CallSlots.h"
#include "Error.h"
#include "cuda/Blas.h"
#include "cuda/Device.h"
#include "cuda/Monitor.h"

#include <chrono>

namespace echo::cuda {

class CudaBackend final : public Backend {
public:
  /// Throws Error: no driver or device, no image for it
  /// (ECHO_INVALID_ARTIFACT), no kernel of a name in it.
  CudaBackend(const Artifact &artifact, const SessionOptions &options,
              int deviceNumber);
  ~CudaBackend() override;

  const std::string &name() const override { return device->name(); }
  bool sharesMemoryWith(const Backend &other) const override;
  std::unique_ptr<DeviceMemory> allocate(uint64_t bytes, uint64_t alignment,
                                         const std::string &purpose) override;
  std::unique_ptr<DeviceMemory>
  allocateStaging(uint64_t bytes, const std::string &purpose) override;
  std::unique_ptr<DeviceMemory> wrap(void *data) override;
  void copyIn(char *target, const void *source, uint64_t bytes) override;
  void copyOut(void *target, const char *source, uint64_t bytes) const override;
  void resolve(const Vector<char *> &regions,
               const Vector<StagedInput> &inputs) override;
  void prepare() override;
  void run() override;
  void setProfiling(bool enabled) override;
  const Vector<CallTime> &times() const override { return callTimes; }
  void fillStatistics(echo_statistics &statistics) const override;

private:
  /// Destroys what the driver made; for the destructor and for a constructor
  /// that fails.
  struct Resources {
    explicit Resources(std::shared_ptr<Device> device)
        : device(std::move(device)) {}
    ~Resources();
    void destroyGraph();
    void destroyEvents();

    std::shared_ptr<Device> device;
    Stream stream = nullptr;
    Module module = nullptr;
    GraphExec graph = nullptr;
    Vector<Event> events;
  };

  void loadImage(const Artifact &artifact);
  void findKernels(const Artifact &artifact);
  /// Throws what a wrapper has left behind.
  void checkWrapper() const;
  std::string adviceFor(uint64_t bytes, bool isArena) const;
  /// An error of a driver or library that found no memory, with what is left
  /// and what would help; any other one as it is.
  Error withAdvice(const Error &error) const;
  void issueInputs();
  void issueCall(size_t index);
  void issueAll();
  /// All calls with events between them, and how much time lay between these.
  void issueProfiled();
  void readTimes();
  void capture();
  void synchronize() const;

  const Program &program;
  std::shared_ptr<Device> device;
  Resources resources;
  std::unique_ptr<Blas> blas;      ///< when resolved, if there is a GEMM
  std::vector<Function> functions; ///< by Call::function
  Monitor monitor;

  CallSlots slots;
  /// The address of every slot: a launch is given those of its own.
  Vector<void *> slotAddresses;
  Vector<StagedInput> inputs;
  char *arena = nullptr; ///< when resolved
  bool allowTF32, withoutGraph;
  bool hasBegun = false, isWarm = false; ///< a run has begun, and has ended
  bool profiling = false;
  Vector<CallTime> callTimes;
  uint64_t allocatedBytes = 0, graphSteps = 0;
  std::chrono::duration<double> issueSeconds{0}; ///< of the last run
  std::optional<double> firstJoules;
};

} // namespace echo::cuda

#endif // ECHO_RUNTIME_CUDA_CUDABACKEND_H

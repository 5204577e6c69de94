//===- FakeState.h - State of the fake device -------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_TESTING_FAKESTATE_H
#define ECHO_RUNTIME_TESTING_FAKESTATE_H

#include "cuda/DriverApi.h"
#include "sim/HostObject.h"
#include "testing/FakeCuda.h"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace echo::cuda {

// CUresult.
enum : Result {
  kInvalidValue = 1,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kInvalidHandle = 400,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchFailed = 719,
  kNotSupported = 801,
  kCaptureInvalidated = 901,
};

// cublasStatus_t.
enum : BlasStatus {
  kBlasNotInitialized = 1,
  kBlasAllocFailed = 3,
  kBlasInvalidValue = 7,
  kBlasExecutionFailed = 13,
  kBlasNotSupported = 15,
};

/// A piece of work of a stream.
using Operation = std::function<Result()>;

/// The addresses of the device's memory.
class FakeMemory {
public:
  /// 0 if there is no room. Every block begins at a page, with one that nobody
  /// may touch behind it.
  DeviceAddress allocate(uint64_t bytes);
  bool release(DeviceAddress address);
  /// Whether all these bytes are of one block.
  bool holds(DeviceAddress address, uint64_t bytes) const;
  /// Whether the address is of the range at all.
  bool contains(const void *address) const;
  size_t numBlocks() const { return blocks.size(); }
  uint64_t allocatedBytes() const;
  /// All blocks, for a kernel.
  sim::Buffer range() const;

  /// Work of the device may touch its memory meanwhile.
  class Access {
  public:
    explicit Access(FakeMemory &memory);
    ~Access();
    Access(const Access &) = delete;

  private:
    FakeMemory &memory;
  };

private:
  void protect(int protection);

  char *base = nullptr;
  std::map<uint64_t, uint64_t> blocks; ///< offset and bytes
  int users = 0;
};

struct ContextTag {
  int users = 0;           ///< retains
  Result error = kSuccess; ///< one that stays
};
/// Memory of the host, which goes with its context.
struct PinnedTag {
  PinnedTag(Context context, void *memory, uint64_t bytes)
      : context(context), memory(memory), bytes(bytes) {}
  ~PinnedTag() { std::free(memory); }
  PinnedTag(const PinnedTag &) = delete;

  Context context;
  void *memory;
  uint64_t bytes;
};
struct ModuleTag {
  Context context;
  sim::HostObject object;
  std::map<std::string, std::unique_ptr<FunctionTag>> functions;
};
struct FunctionTag {
  const echo_sim_kernel *kernel;
};
struct GraphTag {
  std::vector<Operation> operations;
};
struct GraphExecTag {
  Context context;
  std::vector<Operation> operations;
};
struct StreamTag {
  Context context;
  std::vector<Operation> queue;
  Graph capture = nullptr;
  bool isInvalid = false; ///< the capture
};
struct EventTag {
  Context context;
  Stream stream = nullptr;
  bool isRecorded = false;
  std::chrono::steady_clock::time_point time;
};

/// Everything, under one lock.
class FakeState {
public:
  static FakeState &get();

  std::recursive_mutex mutex;
  std::map<std::string, int64_t> settings, counters;
  std::string message;
  FakeMemory memory;
  std::map<int, std::unique_ptr<ContextTag>> contexts; ///< by device
  std::map<DeviceAddress, Context> allocations;
  std::map<void *, std::unique_ptr<PinnedTag>> hostAllocations;
  std::map<Module, std::unique_ptr<ModuleTag>> modules;
  std::map<Stream, std::unique_ptr<StreamTag>> streams;
  std::map<Event, std::unique_ptr<EventTag>> events;
  std::map<Graph, std::unique_ptr<GraphTag>> graphs;
  std::map<GraphExec, std::unique_ptr<GraphExecTag>> graphExecs;

  void reset();
  /// Whether a setting that counts down has come to its end.
  bool isDue(const std::string &setting);
  /// What a call of a library's function returns if it was made to fail, or 0.
  /// `function` is the name of its definition here.
  int plannedFailure(const char *function);
  /// Whether all of ECHO_FAKE_CUDA was understood.
  bool isUnderstood = true;
  /// Counts it, keeps the first text, and returns `result`.
  Result misuse(Result result, const std::string &text);
  /// Appends work to a stream or to the graph that it captures.
  Result enqueue(Stream stream, Operation operation);
  /// Runs what was put off.
  Result drain(Stream stream);
  Result drainAll(Context context);
  /// An error if the bytes aren't the device's.
  Result checkDevice(DeviceAddress address, uint64_t bytes, const char *what);
  void releaseContext(int device);
  int64_t count(const std::string &name);

private:
  FakeState();
  Result runAll(std::vector<Operation> &operations, Context context);
};

/// Returns from a function that was made to fail.
#define ECHO_FAKE_PLANNED()                                                    \
  if (int planned = FakeState::get().plannedFailure(__func__))                 \
  return planned

/// The context that is current to this thread, or null.
Context currentContext();

} // namespace echo::cuda

#endif // ECHO_RUNTIME_TESTING_FAKESTATE_H

//===- CudaBackend.cpp - Steps on a CUDA device ---------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/CudaBackend.h"

#include "Artifact.h"
#include "Error.h"
#include "cuda/Images.h"
#include "cuda/Wrappers.h"

#include <algorithm>

using namespace echo;
using namespace echo::cuda;

/// More dynamic shared memory than this has to be asked for.
static constexpr uint32_t kFreeSharedBytes = 48 << 10;

CudaBackend::Resources::~Resources() {
  Device::Use use(*device, std::nothrow);
  destroyGraph();
  destroyEvents();
  if (module)
    device->driver().moduleUnload(module);
  if (stream)
    device->driver().streamDestroy(stream);
}

void CudaBackend::Resources::destroyGraph() {
  if (graph)
    device->driver().graphExecDestroy(graph);
  graph = nullptr;
}

void CudaBackend::Resources::destroyEvents() {
  for (Event event : events)
    device->driver().eventDestroy(event);
  events.clear();
}

CudaBackend::CudaBackend(const Artifact &artifact,
                         const SessionOptions &options, int deviceNumber)
    : program(artifact.program()), device(Device::open(deviceNumber)),
      resources(device), monitor(device->pciBusId()),
      allowTF32(options.allowTF32), withoutGraph(options.withoutGraph) {
  Device::Use use(*device);
  resources.stream = mgpuStreamCreate();
  checkWrapper();
  if (program.kernels.empty())
    return;
  try {
    loadImage(artifact);
  } catch (const Error &error) {
    throw withAdvice(error);
  }
  findKernels(artifact);
}

CudaBackend::~CudaBackend() {
  Device::Use use(*device, std::nothrow);
  blas.reset();
}

void CudaBackend::checkWrapper() const {
  const char *what;
  Result result = takeWrapperError(what);
  device->check(result, what);
}

void CudaBackend::loadImage(const Artifact &artifact) {
  std::vector<const Image *> images =
      imagesFor(artifact.images(), device->capability());
  std::string errors;
  std::string chip = chipName(device->capability());
  if (images.empty())
    throw Error(ECHO_INVALID_ARTIFACT,
                "'" + artifact.path() + "': compiled for " + artifact.chips() +
                    "; " + device->name() + " is a " + chip +
                    ": compile with --chip=" + chip);
  // Another one may do: PTX can be too new for the driver.
  for (const Image *image : images) {
    void *data = const_cast<void *>(image->data);
    constexpr int kOptimizationLevel = 4;
    resources.module = image->kind == static_cast<uint64_t>(ImageKind::PTX)
                           ? mgpuModuleLoadJIT(data, kOptimizationLevel)
                           : mgpuModuleLoad(data, image->bytes);
    const char *what;
    Result result = takeWrapperError(what);
    if (result == kSuccess)
      return;
    resources.module = nullptr;
    if (result == kOutOfMemory)
      device->check(result, what);
    errors += "\nimage for " + std::string(image->chip) + ": " + what +
              " failed: " + device->driver().describe(result);
    if (image->kind == static_cast<uint64_t>(ImageKind::PTX) && *jitLog())
      errors += "\n" + std::string(jitLog());
  }
  throw Error(ECHO_INVALID_ARTIFACT, "'" + artifact.path() +
                                         "': " + device->name() +
                                         " takes none of its images" + errors);
}

void CudaBackend::findKernels(const Artifact &artifact) {
  for (const Kernel &kernel : program.kernels) {
    functions.push_back(
        mgpuModuleGetFunction(resources.module, kernel.name.c_str()));
    const char *what;
    Result result = takeWrapperError(what);
    if (result == kNotFound)
      throw Error(ECHO_INVALID_ARTIFACT,
                  "'" + artifact.path() + "': no kernel '" + kernel.name +
                      "' in its image: " + device->driver().describe(result));
    device->check(result, (what + (" of '" + kernel.name) + "'").c_str());
    if (kernel.sharedBytes > kFreeSharedBytes)
      device->check(device->driver().funcSetAttribute(
                        functions.back(), kFunctionDynamicShared,
                        static_cast<int>(kernel.sharedBytes)),
                    ("cuFuncSetAttribute of '" + kernel.name + "'").c_str());
  }
}

bool CudaBackend::sharesMemoryWith(const Backend &other) const {
  auto *cuda = dynamic_cast<const CudaBackend *>(&other);
  return cuda && cuda->device == device;
}

/// What to do without the memory: the arena grows with the batch.
std::string CudaBackend::adviceFor(uint64_t bytes, bool isArena) const {
  uint64_t freeBytes = 0, totalBytes = 0;
  device->memoryInfo(freeBytes, totalBytes);
  uint64_t persistentBytes = 0;
  for (const Tensor &tensor : program.tensors)
    persistentBytes += isPersistent(tensor.role) ? tensor.bytes : 0;
  std::string text = ".\nThe step holds " + std::to_string(program.arenaBytes) +
                     " bytes in its arena and " +
                     std::to_string(persistentBytes) +
                     " in parameters and states";
  if (program.strategy == "none")
    text += "; with --strategy=echo it may hold less";
  else if (!program.strategy.empty())
    text += ", with --strategy=" + program.strategy;
  if (!isArena || bytes <= program.workspaceBytes)
    return text + "; a smaller batch holds less";
  // In whole percents, with a tenth left for code and libraries. Parameters,
  // which come after the arena, and the workspace don't shrink with the batch.
  uint64_t fixed = program.workspaceBytes + persistentBytes;
  uint64_t usable = freeBytes - freeBytes / 10;
  uint64_t percent = usable < fixed ? 0
                                    : (usable - fixed) * 100 /
                                          (bytes - program.workspaceBytes);
  if (percent == 0)
    return text + "; no batch of it would fit";
  if (percent >= 100)
    return text + "; the driver refuses it though as much is free";
  return text + "; a batch of about " + std::to_string(percent) +
         "% of this one would fit";
}

Error CudaBackend::withAdvice(const Error &error) const {
  size_t freeBytes, totalBytes;
  if (error.status() != ECHO_OUT_OF_MEMORY ||
      device->driver().memGetInfo(&freeBytes, &totalBytes) != kSuccess)
    return error;
  return Error(error.status(), std::string(error.what()) + "; " +
                                   std::to_string(freeBytes) + " of " +
                                   std::to_string(totalBytes) +
                                   " bytes are free" + adviceFor(0, false));
}

std::unique_ptr<DeviceMemory>
CudaBackend::allocate(uint64_t bytes, uint64_t alignment,
                      const std::string &purpose) {
  Device::Use use(*device);
  std::unique_ptr<DeviceMemory> memory =
      device->allocate(bytes, alignment, purpose, [&] {
        return adviceFor(bytes, purpose == "the arena");
      });
  allocatedBytes += bytes;
  return memory;
}

std::unique_ptr<DeviceMemory>
CudaBackend::allocateStaging(uint64_t bytes, const std::string &purpose) {
  Device::Use use(*device);
  return device->allocateHost(bytes, purpose);
}

std::unique_ptr<DeviceMemory> CudaBackend::wrap(void *) {
  throwInvalid("the caller's memory can't be bound on " + device->name() +
               ", which doesn't reach it; copy it with echo_session_set");
}

void CudaBackend::synchronize() const {
  device->check(device->driver().streamSynchronize(resources.stream),
                "cuStreamSynchronize");
}

void CudaBackend::copyIn(char *target, const void *source, uint64_t bytes) {
  Device::Use use(*device);
  if (bytes == 0)
    return;
  device->check(
      device->driver().memcpyHtoDAsync(reinterpret_cast<DeviceAddress>(target),
                                       source, bytes, resources.stream),
      "cuMemcpyHtoDAsync");
  synchronize();
}

void CudaBackend::copyOut(void *target, const char *source,
                          uint64_t bytes) const {
  Device::Use use(*device);
  if (bytes == 0)
    return;
  device->check(device->driver().memcpyDtoHAsync(
                    target, reinterpret_cast<DeviceAddress>(source), bytes,
                    resources.stream),
                "cuMemcpyDtoHAsync");
  synchronize();
}

void CudaBackend::resolve(const Vector<char *> &regions,
                          const Vector<StagedInput> &staged) {
  Device::Use use(*device);
  resources.destroyGraph();
  arena = regions[0];
  inputs = staged;
  slots.resolve(program, regions);
  slotAddresses.clear();
  slotAddresses.reserve(slots.size());
  for (size_t i = 0; i < program.calls.size(); ++i) {
    size_t end =
        i + 1 < program.calls.size() ? slots.first(i + 1) : slots.size();
    for (size_t j = slots.first(i); j < end; ++j)
      slotAddresses.push_back(
          const_cast<void **>(slots.of(i) + (j - slots.first(i))));
  }
  bool hasGemm =
      std::any_of(program.calls.begin(), program.calls.end(),
                  [](const Call &call) { return call.kind == CallKind::Gemm; });
  if (blas || !hasGemm)
    return;
  try {
    blas = std::make_unique<Blas>(
        *device, resources.stream,
        program.workspaceBytes ? arena + program.workspaceOffset : nullptr,
        program.workspaceBytes, allowTF32);
  } catch (const Error &error) {
    throw withAdvice(error);
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void CudaBackend::issueInputs() {
  for (const StagedInput &input : inputs)
    device->checkCapturing(
        device->driver().memcpyHtoDAsync(
            reinterpret_cast<DeviceAddress>(arena + input.offset), input.source,
            input.bytes, resources.stream),
        "cuMemcpyHtoDAsync");
}

void CudaBackend::issueCall(size_t index) try {
  const Call &call = program.calls[index];
  void *const *args = slots.of(index);
  const int64_t *parameters = program.parameters.data() + call.firstParameter;
  switch (call.kind) {
  case CallKind::Kernel: {
    const Kernel &kernel = program.kernels[call.function];
    if (kernel.grid[0] == 0 || kernel.grid[1] == 0 || kernel.grid[2] == 0)
      return;
    mgpuLaunchKernel(functions[call.function], kernel.grid[0], kernel.grid[1],
                     kernel.grid[2], kernel.block[0], kernel.block[1],
                     kernel.block[2], static_cast<int32_t>(kernel.sharedBytes),
                     resources.stream,
                     slotAddresses.data() + slots.first(index), nullptr,
                     kernel.arguments.size() + kernel.numParameters);
    const char *what;
    Result result = takeWrapperError(what);
    device->checkCapturing(result, what);
    return;
  }
  case CallKind::Gemm:
    blas->run(
        GemmParameters::read(parameters),
        {args[0], args[1], call.numOperands == 4 ? args[3] : nullptr, args[2]});
    return;
  case CallKind::Copy:
    if (args[0] != args[1] && parameters[0] != 0)
      device->checkCapturing(device->driver().memcpyDtoDAsync(
                                 reinterpret_cast<DeviceAddress>(args[1]),
                                 reinterpret_cast<DeviceAddress>(args[0]),
                                 parameters[0], resources.stream),
                             "cuMemcpyDtoDAsync");
    return;
  }
} catch (const Error &error) {
  throw Error(error.status(),
              program.describeCall(program.calls[index]) + ": " + error.what());
}

void CudaBackend::issueAll() {
  issueInputs();
  for (size_t i = 0; i < program.calls.size(); ++i)
    issueCall(i);
}

void CudaBackend::capture() {
  const Driver &driver = device->driver();
  device->check(
      driver.streamBeginCapture(resources.stream, kCaptureThreadLocal),
      "cuStreamBeginCapture");
  Graph graph = nullptr;
  try {
    issueAll();
  } catch (...) {
    // Nothing has run; the stream goes back to what it was.
    driver.streamEndCapture(resources.stream, &graph);
    if (graph)
      driver.graphDestroy(graph);
    throw;
  }
  device->check(driver.streamEndCapture(resources.stream, &graph),
                "cuStreamEndCapture");
  Result result = driver.graphInstantiate(&resources.graph, graph, 0);
  driver.graphDestroy(graph);
  if (result != kSuccess)
    resources.graph = nullptr;
  device->check(result, "cuGraphInstantiate");
}

void CudaBackend::prepare() {
  Device::Use use(*device);
  if (!hasBegun)
    firstJoules = monitor.joules();
  hasBegun = true;
  if (!isWarm || resources.graph || profiling || withoutGraph)
    return;
  try {
    capture();
  } catch (const Error &error) {
    throw Error(error.status(),
                std::string("the step can't be captured as a graph: ") +
                    withAdvice(error).what() +
                    "; nothing has run, and without_graph in the session's "
                    "options (echo-run --no-graph) issues every call anew");
  }
}

void CudaBackend::run() {
  Device::Use use(*device);
  bool isReplayed = !profiling && resources.graph;
  auto begin = std::chrono::steady_clock::now();
  try {
    if (isReplayed)
      device->checkCapturing(
          device->driver().graphLaunch(resources.graph, resources.stream),
          "cuGraphLaunch");
    else if (profiling)
      issueProfiled();
    else
      issueAll();
  } catch (const Error &error) {
    // What was issued ends before the memory is used again. An error that stays
    // is found here: the device is lost then.
    synchronize();
    throw withAdvice(error);
  }
  issueSeconds = std::chrono::steady_clock::now() - begin;
  synchronize();
  if (profiling)
    readTimes();
  graphSteps += isReplayed;
  isWarm = true;
}

void CudaBackend::issueProfiled() {
  auto record = [&](size_t event) {
    device->checkCapturing(
        device->driver().eventRecord(resources.events[event], resources.stream),
        "cuEventRecord");
  };
  issueInputs();
  record(0);
  for (size_t i = 0; i < program.calls.size(); ++i) {
    issueCall(i);
    record(i + 1);
  }
}

void CudaBackend::readTimes() {
  auto secondsBetween = [&](size_t first, size_t last) {
    float milliseconds = 0;
    device->check(device->driver().eventElapsedTime(&milliseconds,
                                                    resources.events[first],
                                                    resources.events[last]),
                  "cuEventElapsedTime");
    return milliseconds / 1e3;
  };
  for (size_t i = 0; i < program.calls.size(); ++i) {
    CallTime &time = callTimes[i];
    time.lastBegin = secondsBetween(0, i);
    time.lastSeconds = secondsBetween(i, i + 1);
    time.seconds += time.lastSeconds;
    ++time.runs;
  }
}

void CudaBackend::setProfiling(bool enabled) {
  Device::Use use(*device);
  if (!enabled) {
    profiling = false;
    resources.destroyEvents();
    return;
  }
  Vector<CallTime> zeros(program.calls.size());
  resources.events.reserve(program.calls.size() + 1);
  try {
    while (resources.events.size() < program.calls.size() + 1) {
      Event event = nullptr;
      device->check(device->driver().eventCreate(&event, kEventDefault),
                    "cuEventCreate");
      resources.events.push_back(event);
    }
  } catch (...) {
    if (!profiling)
      resources.destroyEvents();
    throw;
  }
  callTimes = std::move(zeros);
  profiling = true;
}

void CudaBackend::fillStatistics(echo_statistics &statistics) const {
  statistics.device_bytes = allocatedBytes;
  statistics.graph_steps = graphSteps;
  statistics.last_issue_seconds = issueSeconds.count();
  Device::Use use(*device);
  device->memoryInfo(statistics.device_free_bytes,
                     statistics.device_total_bytes);
  statistics.power_watts = monitor.watts().value_or(0);
  std::optional<double> joules = monitor.joules();
  if (joules && firstJoules)
    statistics.energy_joules = *joules - *firstJoules;
}

std::unique_ptr<Backend> echo::createCudaBackend(const Artifact &artifact,
                                                 const SessionOptions &options,
                                                 int deviceNumber) {
  return std::make_unique<CudaBackend>(artifact, options, deviceNumber);
}

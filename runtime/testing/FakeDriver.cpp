//===- FakeDriver.cpp - A stand-in for the CUDA driver --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "testing/FakeState.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>

using namespace echo;
using namespace echo::cuda;

// The definitions have the types that the runtime calls.
#define ECHO_CUDA_DECLARE(member, symbol, parameters)                          \
  extern "C" __attribute__((                                                   \
      visibility("default"))) Result member##Fake parameters __asm__(#symbol);
ECHO_CUDA_DRIVER_FUNCTIONS(ECHO_CUDA_DECLARE)
#undef ECHO_CUDA_DECLARE

static thread_local std::vector<Context> current;

Context echo::cuda::currentContext() {
  return current.empty() ? nullptr : current.back();
}

namespace {

/// The lock and the context of a call.
struct Call {
  FakeState &state = FakeState::get();
  std::lock_guard<std::recursive_mutex> lock{state.mutex};
  Context context = nullptr;

  /// What a call that needs a context returns when it can't go on.
  Result begin() {
    context = currentContext();
    for (auto &[device, known] : state.contexts)
      if (known.get() == context && context)
        return context->error;
    return kInvalidContext;
  }
};

} // namespace

/// The begin of a function that ends something: it fails when that is done.
#define ECHO_FAKE_BEGIN_END()                                                  \
  Call call;                                                                   \
  FakeState &state = call.state;                                               \
  if (Result failed = call.begin())                                            \
    return failed;                                                             \
  (void)state

/// The begin of the others that need a context.
#define ECHO_FAKE_BEGIN()                                                      \
  ECHO_FAKE_BEGIN_END();                                                       \
  ECHO_FAKE_PLANNED()

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

Result initFake(unsigned) {
  ECHO_FAKE_PLANNED();
  Call call;
  if (!call.state.isUnderstood)
    return kInvalidValue;
  return call.state.settings["devices"] == 0 ? Result(kNoDevice) : kSuccess;
}

Result driverGetVersionFake(int *version) {
  ECHO_FAKE_PLANNED();
  Call call;
  *version = static_cast<int>(call.state.settings["version"]);
  return kSuccess;
}

static const std::pair<const char *, const char *> *textOf(Result result) {
  static const std::map<Result, std::pair<const char *, const char *>> texts = {
      {kSuccess, {"CUDA_SUCCESS", "no error"}},
      {kInvalidValue, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
      {kOutOfMemory, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
      {kNoDevice,
       {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
      {kInvalidDevice, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
      {kInvalidImage,
       {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
      {kInvalidContext,
       {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
      {kNoBinaryForGpu,
       {"CUDA_ERROR_NO_BINARY_FOR_GPU",
        "no kernel image is available for execution on the device"}},
      {kInvalidPtx, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
      {kInvalidHandle,
       {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
      {kNotFound, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
      {kNotReady, {"CUDA_ERROR_NOT_READY", "device not ready"}},
      {kIllegalAddress,
       {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access"}},
      {kLaunchOutOfResources,
       {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        "too many resources requested for launch"}},
      {kLaunchFailed,
       {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
      {kNotSupported, {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}},
      {kCaptureUnsupported,
       {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
        "operation not permitted when stream is capturing"}},
      {kCaptureInvalidated,
       {"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
        "operation failed due to a previous error during capture"}}};
  auto found = texts.find(result);
  return found == texts.end() ? nullptr : &found->second;
}

Result getErrorNameFake(Result result, const char **name) {
  ECHO_FAKE_PLANNED();
  auto *text = textOf(result);
  *name = text ? text->first : nullptr;
  return text ? kSuccess : Result(kInvalidValue);
}

Result getErrorStringFake(Result result, const char **string) {
  ECHO_FAKE_PLANNED();
  auto *text = textOf(result);
  *string = text ? text->second : nullptr;
  return text ? kSuccess : Result(kInvalidValue);
}

Result deviceGetCountFake(int *count) {
  ECHO_FAKE_PLANNED();
  Call call;
  *count = static_cast<int>(call.state.settings["devices"]);
  return kSuccess;
}

Result deviceGetFake(DeviceNumber *device, int number) {
  ECHO_FAKE_PLANNED();
  Call call;
  if (number < 0 || number >= call.state.settings["devices"])
    return kInvalidDevice;
  *device = number;
  return kSuccess;
}

Result deviceGetNameFake(char *name, int bytes, DeviceNumber) {
  ECHO_FAKE_PLANNED();
  std::snprintf(name, bytes, "Fake");
  return kSuccess;
}

Result deviceGetAttributeFake(int *value, int attribute, DeviceNumber) {
  ECHO_FAKE_PLANNED();
  Call call;
  auto capability = static_cast<int>(call.state.settings["capability"]);
  if (attribute != kAttributeMajor && attribute != kAttributeMinor)
    return kInvalidValue;
  *value = attribute == kAttributeMajor ? capability / 10 : capability % 10;
  return kSuccess;
}

Result deviceGetPCIBusIdFake(char *text, int bytes, DeviceNumber device) {
  ECHO_FAKE_PLANNED();
  std::snprintf(text, bytes, "0000:%02x:00.0", device + 1);
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

Result primaryCtxRetainFake(Context *context, DeviceNumber device) {
  ECHO_FAKE_PLANNED();
  Call call;
  auto &known = call.state.contexts[device];
  if (!known)
    known = std::make_unique<ContextTag>();
  ++known->users;
  *context = known.get();
  return kSuccess;
}

Result primaryCtxReleaseFake(DeviceNumber device) {
  Call call;
  auto known = call.state.contexts.find(device);
  if (known == call.state.contexts.end())
    return kInvalidContext;
  if (--known->second->users == 0)
    call.state.releaseContext(device);
  ECHO_FAKE_PLANNED();
  return kSuccess;
}

Result ctxPushCurrentFake(Context context) {
  ECHO_FAKE_PLANNED();
  current.push_back(context);
  return kSuccess;
}

Result ctxPopCurrentFake(Context *context) {
  if (current.empty())
    return kInvalidContext;
  *context = current.back();
  current.pop_back();
  ECHO_FAKE_PLANNED();
  return kSuccess;
}

Result ctxSynchronizeFake() {
  ECHO_FAKE_BEGIN();
  for (auto &[stream, owned] : state.streams)
    if (stream->context == call.context && stream->capture) {
      stream->isInvalid = true;
      return kCaptureUnsupported;
    }
  return state.drainAll(call.context);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result memGetInfoFake(size_t *available, size_t *total) {
  ECHO_FAKE_BEGIN();
  *total = state.settings["memory"];
  uint64_t used = state.memory.allocatedBytes();
  *available = used > *total ? 0 : *total - used;
  return kSuccess;
}

Result memAllocFake(DeviceAddress *address, size_t bytes) {
  ECHO_FAKE_BEGIN();
  if (bytes == 0)
    return kInvalidValue;
  auto total = static_cast<uint64_t>(state.settings["memory"]);
  uint64_t used = state.memory.allocatedBytes();
  if (used > total || bytes > total - used)
    return kOutOfMemory;
  *address = state.memory.allocate(bytes);
  if (*address == 0)
    return kOutOfMemory;
  state.allocations[*address] = call.context;
  return kSuccess;
}

Result memFreeFake(DeviceAddress address) {
  ECHO_FAKE_BEGIN_END();
  // As the driver, which waits for the work that may use it.
  state.drainAll(call.context);
  if (state.allocations.erase(address) == 0)
    return state.misuse(kInvalidValue, "cuMemFree of what isn't allocated");
  state.memory.release(address);
  ECHO_FAKE_PLANNED();
  return kSuccess;
}

Result memHostAllocFake(void **address, size_t bytes, unsigned) {
  ECHO_FAKE_BEGIN();
  constexpr size_t kPage = 4096;
  *address = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (!*address)
    return kOutOfMemory;
  state.hostAllocations[*address] =
      std::make_unique<PinnedTag>(call.context, *address, bytes);
  return kSuccess;
}

Result memFreeHostFake(void *address) {
  Call call;
  if (call.begin() == kInvalidContext)
    return kInvalidContext;
  if (call.state.hostAllocations.erase(address) == 0)
    return call.state.misuse(kInvalidValue,
                             "cuMemFreeHost of what isn't allocated");
  ECHO_FAKE_PLANNED();
  return kSuccess;
}

static Result checkHost(FakeState &state, const void *address) {
  if (!state.memory.contains(address))
    return kSuccess;
  return state.misuse(kInvalidValue, "memory of the device as the host's");
}

/// Whether all bytes are pinned: others are read when the call is made.
static bool isPinned(FakeState &state, const void *address, size_t bytes) {
  auto block = state.hostAllocations.upper_bound(const_cast<void *>(address));
  if (block == state.hostAllocations.begin())
    return false;
  --block;
  auto *begin = static_cast<const char *>(block->first);
  return static_cast<const char *>(address) + bytes <=
         begin + block->second->bytes;
}

Result memcpyHtoDAsyncFake(DeviceAddress target, const void *source,
                           size_t bytes, Stream stream) {
  ECHO_FAKE_BEGIN();
  if (Result failed = checkHost(state, source))
    return failed;
  if (Result failed = state.checkDevice(target, bytes, "cuMemcpyHtoDAsync"))
    return failed;
  std::shared_ptr<std::string> copy;
  if (!isPinned(state, source, bytes))
    copy =
        std::make_shared<std::string>(static_cast<const char *>(source), bytes);
  return state.enqueue(stream, [=, &state] {
    Result result = state.checkDevice(target, bytes, "a copy that was put off");
    if (result == kSuccess)
      std::memcpy(reinterpret_cast<void *>(target),
                  copy ? copy->data() : source, bytes);
    return result;
  });
}

Result memcpyDtoHAsyncFake(void *target, DeviceAddress source, size_t bytes,
                           Stream stream) {
  ECHO_FAKE_BEGIN();
  if (Result failed = checkHost(state, target))
    return failed;
  if (Result failed = state.checkDevice(source, bytes, "cuMemcpyDtoHAsync"))
    return failed;
  return state.enqueue(stream, [=] {
    std::memcpy(target, reinterpret_cast<void *>(source), bytes);
    return Result(kSuccess);
  });
}

Result memcpyDtoDAsyncFake(DeviceAddress target, DeviceAddress source,
                           size_t bytes, Stream stream) {
  ECHO_FAKE_BEGIN();
  for (DeviceAddress address : {target, source})
    if (Result failed = state.checkDevice(address, bytes, "cuMemcpyDtoDAsync"))
      return failed;
  return state.enqueue(stream, [=, &state] {
    for (DeviceAddress address : {target, source})
      if (Result failed =
              state.checkDevice(address, bytes, "a copy that was put off"))
        return failed;
    std::memmove(reinterpret_cast<void *>(target),
                 reinterpret_cast<void *>(source), bytes);
    return Result(kSuccess);
  });
}

Result memcpyAsyncFake(DeviceAddress target, DeviceAddress source, size_t bytes,
                       Stream stream) {
  ECHO_FAKE_PLANNED();
  FakeState &state = FakeState::get();
  bool isTarget = state.memory.contains(reinterpret_cast<void *>(target));
  bool isSource = state.memory.contains(reinterpret_cast<void *>(source));
  if (isTarget && isSource)
    return memcpyDtoDAsyncFake(target, source, bytes, stream);
  if (isTarget)
    return memcpyHtoDAsyncFake(target, reinterpret_cast<void *>(source), bytes,
                               stream);
  return memcpyDtoHAsyncFake(reinterpret_cast<void *>(target), source, bytes,
                             stream);
}

template <typename T>
static Result memset(DeviceAddress target, T value, size_t count,
                     Stream stream) {
  ECHO_FAKE_BEGIN();
  if (Result failed = state.checkDevice(target, count * sizeof(T), "cuMemset"))
    return failed;
  return state.enqueue(stream, [=] {
    std::fill_n(reinterpret_cast<T *>(target), count, value);
    return Result(kSuccess);
  });
}

Result memsetD8AsyncFake(DeviceAddress target, unsigned char value,
                         size_t count, Stream stream) {
  ECHO_FAKE_PLANNED();
  return memset(target, value, count, stream);
}
Result memsetD16AsyncFake(DeviceAddress target, unsigned short value,
                          size_t count, Stream stream) {
  ECHO_FAKE_PLANNED();
  return memset(target, value, count, stream);
}
Result memsetD32AsyncFake(DeviceAddress target, unsigned value, size_t count,
                          Stream stream) {
  ECHO_FAKE_PLANNED();
  return memset(target, value, count, stream);
}

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

/// The bytes of an ELF file, which nobody tells: up to the end of its section
/// table.
static uint64_t elfBytes(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  uint64_t end = header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment,
                static_cast<const char *>(image) + header.e_phoff +
                    i * sizeof(segment),
                sizeof(segment));
    end = std::max<uint64_t>(end, segment.p_offset + segment.p_filesz);
  }
  return end;
}

Result moduleLoadDataExFake(Module *module, const void *image,
                            unsigned numOptions, int *options, void **values) {
  ECHO_FAKE_BEGIN();
  auto *bytes = static_cast<const char *>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) {
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == kJitErrorLog)
        std::strcpy(static_cast<char *>(values[i]),
                    "fake ptxas: there is no compiler here");
    return kInvalidPtx;
  }
  if (state.settings["capability"] != 0)
    return kNoBinaryForGpu;
  auto loaded = std::make_unique<ModuleTag>();
  loaded->context = call.context;
  std::string error = loaded->object.load({bytes, elfBytes(image)});
  if (!error.empty())
    return state.misuse(kInvalidImage, error);
  *module = loaded.get();
  state.modules[*module] = std::move(loaded);
  return kSuccess;
}

Result moduleUnloadFake(Module module) {
  ECHO_FAKE_BEGIN_END();
  state.drainAll(call.context);
  if (!state.modules.erase(module))
    return kInvalidHandle;
  ECHO_FAKE_PLANNED();
  return kSuccess;
}

Result moduleGetFunctionFake(Function *function, Module module,
                             const char *name) {
  ECHO_FAKE_BEGIN();
  if (!state.modules.count(module))
    return kInvalidHandle;
  const echo_sim_kernel *kernel = module->object.find(name);
  if (!kernel)
    return kNotFound;
  auto &known = module->functions[name];
  if (!known)
    known = std::make_unique<FunctionTag>(FunctionTag{kernel});
  *function = known.get();
  return kSuccess;
}

Result funcSetAttributeFake(Function, int, int) {
  ECHO_FAKE_BEGIN();
  return kNotSupported;
}

/// Runs a kernel in the simulator.
static Result runKernel(FakeState &state, const echo_sim_kernel &kernel,
                        sim::Dim3 grid, sim::Dim3 block, void **parameters) {
  if (state.isDue("fault_launch")) {
    state.message =
        std::string("kernel '") + kernel.name + "' was made to fault";
    return kLaunchFailed;
  }
  sim::Launch launch;
  launch.kernel = kernel.name;
  launch.function = kernel.function;
  launch.arguments = parameters;
  launch.grid = grid;
  launch.block = block;
  launch.buffers = {state.memory.range()};
  launch.shared = sim::sharedVariables(kernel);
  sim::LaunchOptions options;
  options.findsRaces = false;
  sim::LaunchResult result = sim::launch(launch, options);
  ++state.counters["launches"];
  if (result.isOk())
    return kSuccess;
  const sim::Fault &fault = result.faults.front();
  state.message = describe(fault);
  return fault.kind == sim::FaultKind::OutOfBounds ? kIllegalAddress
                                                   : kLaunchFailed;
}

Result launchKernelFake(Function function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned sharedBytes, Stream stream,
                        void **parameters, void **extra) {
  ECHO_FAKE_BEGIN();
  if (!gridX || !gridY || !gridZ || !blockX || !blockY || !blockZ ||
      gridX > 2147483647u || gridY > 65535 || gridZ > 65535 ||
      blockX * blockY * blockZ > 1024 || blockZ > 64 || extra)
    return kInvalidValue;
  if (sharedBytes != 0)
    return kNotSupported;
  return state.enqueue(stream, [=, &state] {
    return runKernel(state, *function->kernel, {gridX, gridY, gridZ},
                     {blockX, blockY, blockZ}, parameters);
  });
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

/// Whether there is such an object in this context.
template <typename Map, typename Object>
static bool isAlive(const Map &objects, Object *object) {
  return objects.count(object) != 0;
}

Result streamCreateFake(Stream *stream, unsigned) {
  ECHO_FAKE_BEGIN();
  auto created = std::make_unique<StreamTag>();
  created->context = call.context;
  *stream = created.get();
  state.streams[*stream] = std::move(created);
  return kSuccess;
}

Result streamDestroyFake(Stream stream) {
  ECHO_FAKE_BEGIN_END();
  if (!isAlive(state.streams, stream))
    return state.misuse(kInvalidHandle, "a stream is destroyed twice");
  state.drain(stream);
  state.streams.erase(stream);
  ECHO_FAKE_PLANNED();
  return kSuccess;
}

Result streamSynchronizeFake(Stream stream) {
  ECHO_FAKE_BEGIN();
  if (!isAlive(state.streams, stream))
    return kInvalidHandle;
  if (stream->capture) {
    stream->isInvalid = true;
    return kCaptureUnsupported;
  }
  return state.drain(stream);
}

Result streamWaitEventFake(Stream stream, Event event, unsigned) {
  ECHO_FAKE_BEGIN();
  if (!isAlive(state.streams, stream) || !isAlive(state.events, event))
    return kInvalidHandle;
  // Work of the stream that comes first runs first.
  return event->stream && event->stream != stream ? state.drain(event->stream)
                                                  : kSuccess;
}

Result eventCreateFake(Event *event, unsigned) {
  ECHO_FAKE_BEGIN();
  auto created = std::make_unique<EventTag>();
  created->context = call.context;
  *event = created.get();
  state.events[*event] = std::move(created);
  return kSuccess;
}

Result eventDestroyFake(Event event) {
  ECHO_FAKE_BEGIN_END();
  if (!isAlive(state.events, event))
    return state.misuse(kInvalidHandle, "an event is destroyed twice");
  state.drainAll(call.context);
  state.events.erase(event);
  ECHO_FAKE_PLANNED();
  return kSuccess;
}

Result eventRecordFake(Event event, Stream stream) {
  ECHO_FAKE_BEGIN();
  if (!isAlive(state.events, event))
    return kInvalidHandle;
  event->stream = stream;
  event->isRecorded = false;
  return state.enqueue(stream, [event] {
    event->isRecorded = true;
    event->time = std::chrono::steady_clock::now();
    return Result(kSuccess);
  });
}

Result eventSynchronizeFake(Event event) {
  ECHO_FAKE_BEGIN();
  if (!isAlive(state.events, event))
    return kInvalidHandle;
  return event->stream ? state.drain(event->stream) : kSuccess;
}

Result eventElapsedTimeFake(float *milliseconds, Event first, Event last) {
  ECHO_FAKE_BEGIN();
  if (!isAlive(state.events, first) || !isAlive(state.events, last))
    return kInvalidHandle;
  if (!first->isRecorded || !last->isRecorded)
    return kNotReady;
  *milliseconds =
      std::chrono::duration<float, std::milli>(last->time - first->time)
          .count();
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Result streamBeginCaptureFake(Stream stream, int) {
  ECHO_FAKE_BEGIN();
  if (!isAlive(state.streams, stream) || stream->capture)
    return kInvalidHandle;
  auto graph = std::make_unique<GraphTag>();
  stream->capture = graph.get();
  stream->isInvalid = false;
  state.graphs[graph.get()] = std::move(graph);
  return kSuccess;
}

Result streamEndCaptureFake(Stream stream, Graph *graph) {
  ECHO_FAKE_BEGIN_END();
  if (!isAlive(state.streams, stream) || !stream->capture)
    return kInvalidHandle;
  *graph = stream->capture;
  stream->capture = nullptr;
  int planned = state.plannedFailure(__func__);
  if (!stream->isInvalid && planned == 0)
    return kSuccess;
  state.graphs.erase(*graph);
  *graph = nullptr;
  return planned ? planned : Result(kCaptureInvalidated);
}

Result graphInstantiateFake(GraphExec *exec, Graph graph, unsigned long long) {
  ECHO_FAKE_BEGIN();
  if (!isAlive(state.graphs, graph))
    return kInvalidHandle;
  auto created = std::make_unique<GraphExecTag>();
  created->context = call.context;
  created->operations = graph->operations;
  *exec = created.get();
  state.graphExecs[*exec] = std::move(created);
  return kSuccess;
}

Result graphDestroyFake(Graph graph) {
  Call call;
  if (!call.state.graphs.erase(graph))
    return kInvalidHandle;
  ECHO_FAKE_PLANNED();
  return kSuccess;
}

Result graphLaunchFake(GraphExec exec, Stream stream) {
  ECHO_FAKE_BEGIN();
  if (!isAlive(state.graphExecs, exec))
    return kInvalidHandle;
  ++state.counters["graph_launches"];
  for (const Operation &operation : exec->operations)
    if (Result failed = state.enqueue(stream, operation))
      return failed;
  return kSuccess;
}

Result graphExecDestroyFake(GraphExec exec) {
  ECHO_FAKE_BEGIN_END();
  state.drainAll(call.context);
  if (!state.graphExecs.erase(exec))
    return kInvalidHandle;
  ECHO_FAKE_PLANNED();
  return kSuccess;
}

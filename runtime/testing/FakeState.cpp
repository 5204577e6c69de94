//===- FakeState.cpp - State of the fake device ---------------------------===//
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
#include <sstream>
#include <sys/mman.h>

using namespace echo;
using namespace echo::cuda;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static constexpr uint64_t kPage = 4096;
static constexpr uint64_t kRangeBytes = uint64_t(1) << 40;

DeviceAddress FakeMemory::allocate(uint64_t bytes) {
  if (!base) {
    void *range = mmap(nullptr, kRangeBytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
      return 0;
    base = static_cast<char *>(range);
  }
  // The first gap that holds it.
  uint64_t size = (bytes + kPage - 1) / kPage * kPage + kPage;
  uint64_t offset = 0;
  for (auto [begin, used] : blocks) {
    if (begin - offset >= size)
      break;
    offset = begin + (used + kPage - 1) / kPage * kPage + kPage;
  }
  if (size > kRangeBytes - offset)
    return 0;
  blocks[offset] = bytes;
  // Nobody relies on what was there before.
  Access access(*this);
  std::fill(base + offset, base + offset + bytes, '\xff');
  return reinterpret_cast<DeviceAddress>(base + offset);
}

bool FakeMemory::release(DeviceAddress address) {
  auto block = blocks.find(address - reinterpret_cast<DeviceAddress>(base));
  if (!base || block == blocks.end())
    return false;
  uint64_t bytes = (block->second + kPage - 1) / kPage * kPage;
  madvise(base + block->first, bytes, MADV_DONTNEED);
  mprotect(base + block->first, bytes, PROT_NONE);
  blocks.erase(block);
  return true;
}

bool FakeMemory::contains(const void *address) const {
  auto *place = static_cast<const char *>(address);
  return base && place >= base && place < base + kRangeBytes;
}

bool FakeMemory::holds(DeviceAddress address, uint64_t bytes) const {
  if (!contains(reinterpret_cast<void *>(address)))
    return false;
  uint64_t offset = address - reinterpret_cast<DeviceAddress>(base);
  auto block = blocks.upper_bound(offset);
  if (block == blocks.begin())
    return false;
  --block;
  uint64_t inside = offset - block->first;
  return inside <= block->second && bytes <= block->second - inside;
}

uint64_t FakeMemory::allocatedBytes() const {
  uint64_t sum = 0;
  for (auto [offset, bytes] : blocks)
    sum += bytes;
  return sum;
}

sim::Buffer FakeMemory::range() const {
  if (blocks.empty())
    return {};
  auto [offset, bytes] = *blocks.rbegin();
  return {base, offset + bytes, false};
}

void FakeMemory::protect(int protection) {
  for (auto [offset, bytes] : blocks)
    mprotect(base + offset, (bytes + kPage - 1) / kPage * kPage, protection);
}

FakeMemory::Access::Access(FakeMemory &memory) : memory(memory) {
  if (memory.users++ == 0)
    memory.protect(PROT_READ | PROT_WRITE);
}

FakeMemory::Access::~Access() {
  if (--memory.users == 0)
    memory.protect(PROT_NONE);
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

namespace {

/// A function of a library, by the name of its definition here.
struct LibraryFunction {
  std::string symbol; ///< without "_v2"
  int failure = 0;    ///< what it returns when it was made to fail
};

std::map<std::string, LibraryFunction> libraryFunctions() {
  constexpr int kUnknown = 999; // of the driver, and of NVML
  const std::map<std::string, int> failures = {
      {"cuMemAlloc", kOutOfMemory},
      {"cuMemHostAlloc", kOutOfMemory},
      {"cuModuleLoadDataEx", kOutOfMemory},
      {"cuGraphInstantiateWithFlags", kOutOfMemory},
      {"cuLaunchKernel", kLaunchOutOfResources},
      {"cuStreamEndCapture", kCaptureInvalidated},
      {"cublasCreate", kBlasAllocFailed}};
  std::map<std::string, LibraryFunction> functions;
  auto add = [&](const char *definition, std::string symbol, int failure) {
    if (size_t suffix = symbol.rfind("_v2"); suffix != std::string::npos)
      symbol.resize(suffix);
    auto own = failures.find(symbol);
    functions[definition] = {symbol,
                             own == failures.end() ? failure : own->second};
  };
#define ECHO_FAKE_ADD(member, symbol, parameters)                              \
  add(#member "Fake", #symbol, kUnknown);
  ECHO_CUDA_DRIVER_FUNCTIONS(ECHO_FAKE_ADD)
#undef ECHO_FAKE_ADD
#define ECHO_FAKE_ADD(member, symbol, parameters)                              \
  add(#member "Blas", #symbol, kBlasExecutionFailed);
  ECHO_CUBLAS_FUNCTIONS(ECHO_FAKE_ADD)
#undef ECHO_FAKE_ADD
#define ECHO_FAKE_ADD(member, symbol, parameters)                              \
  add(#member "Nvml", #symbol, kUnknown);
  ECHO_NVML_FUNCTIONS(ECHO_FAKE_ADD)
#undef ECHO_FAKE_ADD
  return functions;
}

const std::map<std::string, LibraryFunction> &knownFunctions() {
  static const std::map<std::string, LibraryFunction> functions =
      libraryFunctions();
  return functions;
}

} // namespace

FakeState &FakeState::get() {
  static FakeState state;
  return state;
}

FakeState::FakeState() {
  for (const char *name : {"blas_handles", "blas_descriptors", "nvml_users"})
    counters[name] = 0;
  reset();
}

void FakeState::reset() {
  settings = {{"version", 13000},  {"devices", 1},      {"capability", 0},
              {"memory", 1 << 30}, {"fault_launch", 0}, {"has_epilogue", 1},
              {"has_energy", 1}};
  for (const auto &[definition, function] : knownFunctions())
    settings[function.symbol] = 0;
  for (const char *name :
       {"leaks", "launches", "graph_launches", "products", "epilogues",
        "tf32_products", "rounded_sums", "misuse"})
    counters[name] = 0;
  message.clear();
  const char *given = std::getenv("ECHO_FAKE_CUDA");
  std::istringstream list(given ? given : "");
  for (std::string item; std::getline(list, item, ',');) {
    size_t equals = item.find('=');
    auto setting = settings.find(item.substr(0, equals));
    char *end = nullptr;
    long long value = equals == std::string::npos
                          ? 0
                          : std::strtoll(item.c_str() + equals + 1, &end, 10);
    if (setting == settings.end() || !end || *end ||
        end == item.c_str() + equals + 1) {
      std::fprintf(stderr,
                   "ECHO_FAKE_CUDA: expected a setting and its number, found "
                   "'%s'\n",
                   item.c_str());
      isUnderstood = false;
      continue;
    }
    setting->second = value;
  }
}

int FakeState::plannedFailure(const char *function) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  auto known = knownFunctions().find(function);
  if (known == knownFunctions().end() || !isDue(known->second.symbol))
    return 0;
  return known->second.failure;
}

bool FakeState::isDue(const std::string &setting) {
  int64_t &left = settings[setting];
  return left > 0 && --left == 0;
}

Result FakeState::misuse(Result result, const std::string &text) {
  ++counters["misuse"];
  if (message.empty())
    message = text;
  std::fprintf(stderr, "fake CUDA: %s\n", text.c_str());
  return result;
}

Result FakeState::enqueue(Stream stream, Operation operation) {
  if (!streams.count(stream))
    return misuse(kInvalidHandle, "work for a stream that isn't there");
  if (stream->capture)
    stream->capture->operations.push_back(std::move(operation));
  else
    stream->queue.push_back(std::move(operation));
  return kSuccess;
}

Result FakeState::runAll(std::vector<Operation> &operations, Context context) {
  FakeMemory::Access access(memory);
  for (Operation &operation : operations) {
    if (context->error != kSuccess)
      break;
    Result result = operation();
    if (result != kSuccess)
      context->error = result;
  }
  return context->error;
}

Result FakeState::drain(Stream stream) {
  std::vector<Operation> operations = std::move(stream->queue);
  stream->queue.clear();
  return runAll(operations, stream->context);
}

Result FakeState::drainAll(Context context) {
  for (auto &[stream, owned] : streams)
    if (stream->context == context)
      drain(stream);
  return context->error;
}

Result FakeState::checkDevice(DeviceAddress address, uint64_t bytes,
                              const char *what) {
  if (memory.holds(address, bytes))
    return kSuccess;
  bool isDevice = memory.contains(reinterpret_cast<void *>(address));
  return misuse(kInvalidValue,
                std::string(what) + ": " + std::to_string(bytes) +
                    (isDevice ? " bytes that aren't of one allocation"
                              : " bytes of the host as the device's"));
}

namespace {

/// Erases what belongs to a context, and returns how much it was.
template <typename Map>
int64_t eraseOf(Map &objects, Context context) {
  int64_t count = 0;
  for (auto object = objects.begin(); object != objects.end();) {
    bool isOf = object->second->context == context;
    count += isOf;
    object = isOf ? objects.erase(object) : std::next(object);
  }
  return count;
}

} // namespace

void FakeState::releaseContext(int device) {
  Context context = contexts[device].get();
  int64_t left = 0;
  for (auto block = allocations.begin(); block != allocations.end();) {
    if (block->second != context) {
      ++block;
      continue;
    }
    memory.release(block->first);
    block = allocations.erase(block);
    ++left;
  }
  left += eraseOf(graphExecs, context) + eraseOf(events, context) +
          eraseOf(streams, context) + eraseOf(modules, context) +
          eraseOf(hostAllocations, context);
  // What can't be destroyed any more isn't left behind by the caller.
  if (context->error == kSuccess)
    counters["leaks"] += left;
  contexts.erase(device);
}

int64_t FakeState::count(const std::string &name) {
  std::map<std::string, uint64_t> alive = {
      {"contexts", contexts.size()},
      {"allocations", allocations.size()},
      {"allocated_bytes", memory.allocatedBytes()},
      {"host_allocations", hostAllocations.size()},
      {"modules", modules.size()},
      {"streams", streams.size()},
      {"events", events.size()},
      {"graphs", graphs.size()},
      {"graph_execs", graphExecs.size()}};
  if (auto found = alive.find(name); found != alive.end())
    return static_cast<int64_t>(found->second);
  for (const auto *numbers : {&counters, &settings})
    if (auto found = numbers->find(name); found != numbers->end())
      return found->second;
  return -1;
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

int echo_fake_set(const char *name, int64_t value) {
  FakeState &state = FakeState::get();
  std::lock_guard lock(state.mutex);
  auto setting = state.settings.find(name);
  if (setting == state.settings.end())
    return 1;
  setting->second = value;
  return 0;
}

int64_t echo_fake_get(const char *name) {
  FakeState &state = FakeState::get();
  std::lock_guard lock(state.mutex);
  return state.count(name);
}

const char *echo_fake_message() { return FakeState::get().message.c_str(); }

void echo_fake_reset() {
  FakeState &state = FakeState::get();
  std::lock_guard lock(state.mutex);
  state.reset();
}

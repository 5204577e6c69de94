//===- Simulator.cpp - GPU kernels on the CPU -----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sim/Simulator.h"

#include "Program.h"
#include "sim/Device.h"
#include "sim/Fiber.h"
#include "sim/ShadowMemory.h"

#include <algorithm>
#include <cstring>
#include <optional>

using namespace echo::sim;

static constexpr uint32_t kWarpSize = 32;
/// What every device takes at least.
static constexpr uint64_t kMaxBlockThreads = 1024;
static constexpr uint32_t kMaxBlockZ = 64;
static constexpr uint32_t kMaxGridX = (uint32_t(1) << 31) - 1;
static constexpr uint32_t kMaxGridYZ = 65535;

std::string_view echo::sim::describe(FaultKind kind) {
  switch (kind) {
  case FaultKind::InvalidLaunch:
    return "invalid launch";
  case FaultKind::OutOfBounds:
    return "out of bounds";
  case FaultKind::Misaligned:
    return "misaligned";
  case FaultKind::ReadOnly:
    return "write to read-only memory";
  case FaultKind::Race:
    return "race";
  case FaultKind::DivergentBarrier:
    return "divergent barrier";
  case FaultKind::DivergentWarp:
    return "divergent warp";
  case FaultKind::InvalidLane:
    return "invalid lane";
  case FaultKind::Trap:
    break;
  }
  return "trap";
}

static std::string textOf(Dim3 index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
         std::to_string(index.z) + ")";
}

std::string echo::sim::describe(const Fault &fault) {
  return "kernel '" + fault.kernel + "', block " + textOf(fault.block) +
         ", thread " + textOf(fault.thread) + ": " +
         std::string(describe(fault.kind)) + ": " + fault.text;
}

/// The index that is `linear`-th, x first.
static Dim3 indexOf(uint64_t linear, Dim3 sizes) {
  return {uint32_t(linear % sizes.x), uint32_t(linear / sizes.x % sizes.y),
          uint32_t(linear / sizes.x / sizes.y)};
}

static uint32_t component(Dim3 index, uint32_t dim) {
  return dim == 0 ? index.x : dim == 1 ? index.y : index.z;
}

namespace {

/// Something that a thread waits for others at.
enum class Wait : uint8_t { Nothing, Barrier, WarpBarrier, Shuffle, Ballot };

} // namespace

static const char *textOf(Wait wait) {
  switch (wait) {
  case Wait::Barrier:
    return "a barrier";
  case Wait::WarpBarrier:
    return "a barrier of the warp";
  case Wait::Shuffle:
    return "a shuffle";
  case Wait::Ballot:
    return "a vote";
  case Wait::Nothing:
    break;
  }
  return "nothing";
}

namespace {

struct Thread {
  Fiber fiber;
  Dim3 index;
  uint32_t linear = 0;
  bool isExited = false;
  uint32_t warpInterval = 0;
  uint32_t point = 0; ///< 1: the shadow memory knows where the thread is

  // Operands and results of what it waits at; the place tells one operation
  // from another of the same kind.
  Wait wait = Wait::Nothing;
  uint32_t place = 0;
  uint32_t mask = 0, kind = 0, value = 0, operand = 0, clamp = 0;
  uint32_t result = 0;
  bool isValid = false;

  uint32_t lane() const { return linear % kWarpSize; }
  uint32_t warp() const { return linear / kWarpSize; }
};

class Simulation {
public:
  Simulation(const Launch &launch, const LaunchOptions &options)
      : launch(launch), options(options) {}

  LaunchResult run();

  // For the kernel's threads.
  Thread &thread() { return *current; }
  const Launch &what() const { return launch; }
  Dim3 blockIndex() const { return block; }
  void waitAt(Wait wait, uint32_t place) {
    current->wait = wait;
    current->place = place;
    current->fiber.suspend();
  }
  /// False if the thread can't go on.
  bool access(const void *address, uint64_t bytes, uint32_t alignment,
              uint32_t kind);
  /// For what the current thread can't go on behind: nothing resumes it again,
  /// and nothing on its stack is destroyed.
  [[noreturn]] void stop() {
    isStopped = true;
    for (;;)
      current->fiber.suspend();
  }
  void trap() { report(FaultKind::Trap, *current, "the kernel gave up"); }

private:
  bool checkConfiguration();
  void runBlock(uint64_t linear);
  bool runThreads();
  void resolveWarp(uint32_t warp);
  void resolve(const std::vector<Thread *> &lanes, uint32_t warp);
  void shuffle(Thread &thread, uint32_t firstThread);
  bool releaseBarrier();
  bool reportWaiting();
  void report(FaultKind kind, const Thread &thread, std::string text);
  std::string locate(const void *address) const;
  bool isOnStack(const void *address, uint64_t bytes) const;

  const Launch &launch;
  const LaunchOptions &options;
  LaunchResult result;
  std::optional<FiberStacks> stacks;
  std::vector<Thread> threads;
  Thread *current = nullptr;
  Dim3 block;
  uint64_t linearBlock = 0;
  uint32_t interval = 0;
  ShadowMemory shadow;
  std::optional<TrafficCounter> traffic;
  const Thread *shadowed = nullptr; ///< whose point is the shadow's last
  bool isStopped = false;
};

/// What runs on this thread of the host.
thread_local Simulation *active = nullptr;

} // namespace

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

void Simulation::report(FaultKind kind, const Thread &thread,
                        std::string text) {
  if (result.faults.size() >= options.maxFaults) {
    ++result.numMoreFaults;
    return;
  }
  Fault fault;
  fault.kind = kind;
  fault.kernel = launch.kernel;
  fault.block = block;
  fault.thread = thread.index;
  fault.text = std::move(text);
  result.faults.push_back(std::move(fault));
}

/// "offset 8 of buffer 1 (64 bytes)", of the last one that begins in front of
/// the address.
std::string Simulation::locate(const void *address) const {
  auto place = reinterpret_cast<uintptr_t>(address);
  const Buffer *nearest = nullptr;
  std::string name;
  auto look = [&](const std::vector<Buffer> &buffers, const char *kind) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      auto begin = reinterpret_cast<uintptr_t>(buffers[i].data);
      if (begin <= place && (!nearest || nearest->data < buffers[i].data)) {
        nearest = &buffers[i];
        name = kind + (" " + std::to_string(i));
      }
    }
  };
  look(launch.buffers, "buffer");
  look(launch.shared, "shared variable");
  if (!nearest)
    return "an address in front of all buffers";
  uint64_t offset = place - reinterpret_cast<uintptr_t>(nearest->data);
  return "offset " + std::to_string(offset) + " of " + name + " (" +
         std::to_string(nearest->bytes) + " bytes)";
}

bool Simulation::isOnStack(const void *address, uint64_t bytes) const {
  auto place = static_cast<const char *>(address);
  const char *bottom = stacks->bottom(current->linear);
  return place >= bottom && place + bytes <= bottom + stacks->bytes();
}

static const char *describeAccess(uint32_t kind) {
  return kind == ECHO_SIM_READ    ? "reads "
         : kind == ECHO_SIM_WRITE ? "writes "
                                  : "updates ";
}

bool Simulation::access(const void *address, uint64_t bytes, uint32_t alignment,
                        uint32_t kind) {
  if (bytes == 0 || isOnStack(address, bytes))
    return true;
  auto begin = static_cast<const char *>(address);
  auto holds = [&](const Buffer &buffer) {
    auto data = static_cast<const char *>(buffer.data);
    return begin >= data && bytes <= buffer.bytes &&
           size_t(begin - data) <= buffer.bytes - bytes;
  };
  auto find = [&](const std::vector<Buffer> &buffers) -> const Buffer * {
    // One that may be written, if there are several.
    const Buffer *found = nullptr;
    for (const Buffer &buffer : buffers)
      if (holds(buffer) && (!found || found->isReadOnly))
        found = &buffer;
    return found;
  };
  const Buffer *buffer = find(launch.buffers);
  bool isShared = !buffer;
  if (isShared)
    buffer = find(launch.shared);
  bool isWrite = kind != ECHO_SIM_READ;
  if (!buffer || (buffer->isReadOnly && isWrite)) {
    report(buffer ? FaultKind::ReadOnly : FaultKind::OutOfBounds, *current,
           describeAccess(kind) + std::to_string(bytes) + " bytes at " +
               locate(address));
    return false;
  }
  if (reinterpret_cast<uintptr_t>(address) % alignment != 0) {
    report(FaultKind::Misaligned, *current,
           describeAccess(kind) + std::to_string(bytes) + " bytes at " +
               locate(address) + ", whose address is no multiple of " +
               std::to_string(alignment));
    return false;
  }
  if (traffic && !isShared) {
    if (kind != ECHO_SIM_WRITE)
      traffic->load(current->linear, address, bytes);
    if (isWrite)
      traffic->store(current->linear, address, bytes);
  }
  if (!options.findsRaces)
    return true;
  if (shadowed != current || current->point == 0) {
    uint64_t thread = linearBlock * launch.block.count() + current->linear;
    shadow.enter({thread, linearBlock, current->warp(), interval,
                  current->warpInterval});
    shadowed = current;
    current->point = 1;
  }
  auto access = kind == ECHO_SIM_READ    ? ShadowMemory::Access::Read
                : kind == ECHO_SIM_WRITE ? ShadowMemory::Access::Write
                                         : ShadowMemory::Access::Atomic;
  std::optional<ShadowMemory::Race> race =
      shadow.record(address, bytes, access);
  if (!race)
    return true;
  uint64_t blockThreads = launch.block.count();
  report(FaultKind::Race, *current,
         describeAccess(kind) + ("a byte at " + locate(begin + race->offset)) +
             " that block " + textOf(indexOf(race->other.block, launch.grid)) +
             ", thread " +
             textOf(indexOf(race->other.thread % blockThreads, launch.block)) +
             (race->isWrite ? " wrote" : " read") +
             " with no barrier in between");
  return true;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// The value of the lane that PTX names (shfl.sync).
void Simulation::shuffle(Thread &thread, uint32_t firstThread) {
  uint32_t lane = thread.lane();
  uint32_t offset = thread.operand & 31, clamp = thread.clamp & 31;
  uint32_t segment = thread.clamp >> 8 & 31;
  uint32_t first = lane & segment;
  uint32_t last = (lane & segment) | (clamp & ~segment);
  int64_t source = lane;
  bool isValid = false;
  switch (thread.kind) {
  case ECHO_SIM_SHUFFLE_UP:
    source = int64_t(lane) - offset;
    isValid = source >= int64_t(last);
    break;
  case ECHO_SIM_SHUFFLE_DOWN:
    source = lane + offset;
    isValid = source <= int64_t(last);
    break;
  case ECHO_SIM_SHUFFLE_XOR:
    source = lane ^ offset;
    isValid = source <= int64_t(last);
    break;
  default:
    source = first | (offset & ~segment);
    isValid = source <= int64_t(last);
  }
  if (!isValid)
    source = lane;
  thread.isValid = isValid;
  if (!(thread.mask >> source & 1)) {
    report(FaultKind::InvalidLane, thread,
           "a shuffle takes the value of lane " + std::to_string(source) +
               ", which isn't in its mask");
    isStopped = true;
    return;
  }
  thread.result = threads[firstThread + source].value;
}

/// Lets the lanes of a mask go on if they are all there.
void Simulation::resolve(const std::vector<Thread *> &lanes, uint32_t warp) {
  const Thread &first = *lanes.front();
  uint32_t present = 0, predicates = 0;
  for (const Thread *lane : lanes) {
    present |= uint32_t(1) << lane->lane();
    if (lane->value)
      predicates |= uint32_t(1) << lane->lane();
  }
  if (present != first.mask)
    return;
  uint32_t firstThread = warp * kWarpSize;
  for (Thread *lane : lanes) {
    if (first.wait == Wait::Shuffle)
      shuffle(*lane, firstThread);
    else
      lane->result = predicates;
  }
  // Of a part of the warp the others know nothing: they aren't ordered.
  uint32_t living = 0;
  for (uint32_t i = firstThread;
       i < std::min<size_t>(firstThread + kWarpSize, threads.size()); ++i)
    if (!threads[i].isExited)
      living |= uint32_t(1) << threads[i].lane();
  for (Thread *lane : lanes) {
    if (lane->wait == Wait::WarpBarrier && (first.mask & living) == living) {
      ++lane->warpInterval;
      lane->point = 0;
    }
    lane->wait = Wait::Nothing;
  }
}

void Simulation::resolveWarp(uint32_t warp) {
  size_t begin = warp * kWarpSize;
  size_t end = std::min<size_t>(begin + kWarpSize, threads.size());
  for (size_t i = begin; i < end && !isStopped; ++i) {
    Thread &first = threads[i];
    if (first.wait == Wait::Nothing || first.wait == Wait::Barrier)
      continue;
    std::vector<Thread *> lanes;
    for (size_t j = begin; j < end; ++j) {
      Thread &other = threads[j];
      if (other.wait == first.wait && other.place == first.place &&
          other.mask == first.mask)
        lanes.push_back(&other);
    }
    resolve(lanes, warp);
  }
}

/// Lets all threads go on if they are at the barrier; nobody else can.
bool Simulation::releaseBarrier() {
  size_t exited = 0, waiting = 0;
  const Thread *first = nullptr, *other = nullptr;
  for (const Thread &thread : threads) {
    exited += thread.isExited;
    if (thread.wait != Wait::Barrier)
      continue;
    ++waiting;
    if (!first)
      first = &thread;
    else if (thread.place != first->place && !other)
      other = &thread;
  }
  if (waiting == 0 || waiting + exited != threads.size())
    return false;
  if (exited != 0 || other) {
    report(FaultKind::DivergentBarrier, *first,
           exited != 0
               ? std::to_string(waiting) + " threads are at a barrier, " +
                     std::to_string(exited) + " have exited"
               : "thread " + textOf(other->index) + " is at another barrier");
    isStopped = true;
    return true;
  }
  ++interval;
  for (Thread &thread : threads) {
    thread.wait = Wait::Nothing;
    thread.point = 0;
  }
  return true;
}

/// Nobody can go on: says what the first one waits for.
bool Simulation::reportWaiting() {
  for (const Thread &thread : threads) {
    if (thread.wait == Wait::Nothing)
      continue;
    bool isWarp = thread.wait != Wait::Barrier;
    std::string text = std::string("waits at ") + textOf(thread.wait);
    for (const Thread &other : threads) {
      if (&other == &thread ||
          (isWarp && (other.warp() != thread.warp() ||
                      !(thread.mask >> other.lane() & 1))) ||
          (other.wait == thread.wait && other.place == thread.place &&
           other.mask == thread.mask))
        continue;
      text += ", thread " + textOf(other.index) +
              (other.isExited
                   ? std::string(" has exited")
                   : std::string(" is at ") + (other.wait == thread.wait
                                                   ? "another one"
                                                   : textOf(other.wait)));
      break;
    }
    if (isWarp && !(thread.mask >> thread.lane() & 1))
      text += ", and its lane isn't in the mask";
    report(isWarp ? FaultKind::DivergentWarp : FaultKind::DivergentBarrier,
           thread, text);
    isStopped = true;
    return true;
  }
  return false;
}

/// Lets every thread that can run until it waits; false if none can.
bool Simulation::runThreads() {
  bool hasRun = false;
  for (size_t i = 0; i < threads.size() && !isStopped; ++i) {
    Thread &thread = threads[options.isReverse ? threads.size() - 1 - i : i];
    if (thread.isExited || thread.wait != Wait::Nothing)
      continue;
    hasRun = true;
    current = &thread;
    thread.fiber.resume();
    thread.isExited = thread.fiber.isDone();
    if (!thread.isExited && !isStopped)
      resolveWarp(thread.warp());
  }
  return hasRun;
}

void Simulation::runBlock(uint64_t linear) {
  linearBlock = linear;
  block = indexOf(linear, launch.grid);
  interval = 0;
  shadowed = nullptr;
  if (traffic)
    traffic->beginBlock(threads.size());
  for (const Buffer &variable : launch.shared) {
    std::memset(variable.data, 0xff, variable.bytes);
    shadow.forget(variable.data, variable.bytes);
  }
  for (Thread &thread : threads) {
    thread.isExited = false;
    thread.wait = Wait::Nothing;
    thread.warpInterval = thread.point = 0;
    thread.fiber.start(
        stacks->bottom(thread.linear), stacks->bytes(),
        [](void *function) {
          auto kernel = reinterpret_cast<void (*)(void **)>(function);
          kernel(active->what().arguments);
        },
        reinterpret_cast<void *>(launch.function));
  }
  while (!isStopped)
    if (!runThreads() && !releaseBarrier() && !reportWaiting())
      return;
}

/// Reports a grid or block that no device takes.
bool Simulation::checkConfiguration() {
  std::string error;
  const Dim3 &grid = launch.grid, &size = launch.block;
  if (size.count() == 0 || size.count() > kMaxBlockThreads ||
      size.z > kMaxBlockZ)
    error = "expected a block of 1 to " + std::to_string(kMaxBlockThreads) +
            " threads, at most " + std::to_string(kMaxBlockZ) +
            " of them in z, found " + textOf(size);
  else if (grid.count() == 0 || grid.x > kMaxGridX || grid.y > kMaxGridYZ ||
           grid.z > kMaxGridYZ)
    error = "expected a grid of at least one block and at most " +
            std::to_string(kMaxGridX) + " blocks in x and " +
            std::to_string(kMaxGridYZ) + " in y and z, found " + textOf(grid);
  uint64_t sharedBytes = 0;
  for (const Buffer &variable : launch.shared)
    sharedBytes += variable.bytes;
  if (sharedBytes > ::echo::kMaxStaticSharedBytes)
    error = "expected at most " +
            std::to_string(::echo::kMaxStaticSharedBytes) +
            " bytes of shared memory, found " + std::to_string(sharedBytes);
  if (error.empty())
    return true;
  Thread nobody;
  nobody.index = block = {0, 0, 0};
  report(FaultKind::InvalidLaunch, nobody, error);
  return false;
}

LaunchResult Simulation::run() {
  if (!checkConfiguration())
    return std::move(result);
  uint64_t numThreads = launch.block.count(), numBlocks = launch.grid.count();
  stacks.emplace(numThreads, options.stackBytes);
  threads.resize(numThreads);
  for (uint32_t i = 0; i < numThreads; ++i) {
    threads[i].linear = i;
    threads[i].index = indexOf(i, launch.block);
  }
  if (options.countsTraffic)
    traffic.emplace(launch.buffers);
  for (uint64_t i = 0; i < numBlocks && !isStopped; ++i)
    runBlock(options.isReverse ? numBlocks - 1 - i : i);
  if (traffic)
    result.traffic = traffic->traffic();
  return std::move(result);
}

LaunchResult echo::sim::launch(const Launch &launch,
                               const LaunchOptions &options) {
  Simulation simulation(launch, options);
  active = &simulation;
  LaunchResult result = simulation.run();
  active = nullptr;
  return result;
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

uint32_t echo_sim_thread_id(uint32_t dim) {
  return component(active->thread().index, dim);
}
uint32_t echo_sim_block_size(uint32_t dim) {
  return component(active->what().block, dim);
}
uint32_t echo_sim_block_id(uint32_t dim) {
  return component(active->blockIndex(), dim);
}
uint32_t echo_sim_grid_size(uint32_t dim) {
  return component(active->what().grid, dim);
}
uint32_t echo_sim_lane_id() { return active->thread().lane(); }

void echo_sim_barrier(uint32_t place) { active->waitAt(Wait::Barrier, place); }

void echo_sim_warp_barrier(uint32_t place, uint32_t mask) {
  active->thread().mask = mask;
  active->waitAt(Wait::WarpBarrier, place);
}

uint32_t echo_sim_shuffle(uint32_t place, uint32_t kind, uint32_t mask,
                          uint32_t value, uint32_t lane, uint32_t clamp,
                          uint8_t *isValid) {
  Thread &thread = active->thread();
  thread.kind = kind;
  thread.mask = mask;
  thread.value = value;
  thread.operand = lane;
  thread.clamp = clamp;
  active->waitAt(Wait::Shuffle, place);
  if (isValid)
    *isValid = thread.isValid;
  return thread.result;
}

uint32_t echo_sim_ballot(uint32_t place, uint32_t mask, uint32_t predicate) {
  Thread &thread = active->thread();
  thread.mask = mask;
  thread.value = predicate;
  active->waitAt(Wait::Ballot, place);
  return thread.result;
}

void echo_sim_access(const void *address, uint64_t bytes, uint32_t alignment,
                     uint32_t access) {
  if (!active->access(address, bytes, alignment, access))
    active->stop();
}

void echo_sim_trap() {
  active->trap();
  active->stop();
}

const echo_sim_functions *echo_sim_get_functions() {
  static const echo_sim_functions functions = {
      echo_sim_thread_id,    echo_sim_block_size, echo_sim_block_id,
      echo_sim_grid_size,    echo_sim_lane_id,    echo_sim_barrier,
      echo_sim_warp_barrier, echo_sim_shuffle,    echo_sim_ballot,
      echo_sim_access,       echo_sim_trap};
  return &functions;
}

//===- ThreadPool.cpp - Parallel loops over chunks ------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"

#include "Error.h"

#include <algorithm>
#include <sched.h>
#include <stdexcept>
#include <utility>

using namespace echo;

namespace {

// Ranges per thread: enough that an uneven load evens out.
constexpr int kRangesPerThread = 4;
// Some fifty microseconds: longer than what lies between two loops of a step,
// a call on one thread or the caller's work, and about as long as it takes to
// wake a sleeping thread.
constexpr int kSpins = 1500;

// The parts of ThreadPool::state.
constexpr uint64_t kActive = (uint64_t(1) << 16) - 1; // workers inside
constexpr uint64_t kOpen = uint64_t(1) << 16;         // workers may join
constexpr uint64_t kStopping = uint64_t(1) << 17;
constexpr uint64_t kLoop = uint64_t(1) << 18; // counts loops

uint64_t loopOf(uint64_t state) { return state / kLoop; }

thread_local bool insideBody = false;

/// Marks that this thread runs a loop's body.
class BodyScope {
public:
  BodyScope() { insideBody = true; }
  ~BodyScope() { insideBody = false; }
};

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

} // namespace

int echo::availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  // More cores than a cpu_set_t holds.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int echo::checkThreads(int threads) {
  if (threads < 0 || threads > 1024)
    throwInvalid("threads is " + std::to_string(threads) +
                 ", expected 0 (all cores) to 1024");
  return threads == 0 ? availableCores() : threads;
}

ThreadPool::ThreadPool(int threads) {
  // Spinning helps only while every thread has a core.
  if (threads <= availableCores())
    spins = kSpins;
  workers.reserve(threads - 1);
  try {
    for (int i = 1; i < threads; ++i)
      workers.emplace_back([this] { workerLoop(); });
  } catch (...) {
    stopWorkers();
    throw;
  }
}

ThreadPool::~ThreadPool() { stopWorkers(); }

void ThreadPool::stopWorkers() {
  publish(kStopping, static_cast<int64_t>(workers.size()));
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::takeRanges() {
  BodyScope scope;
  int64_t size = chunks / ranges, longer = chunks % ranges;
  while (true) {
    int64_t range = nextRange.fetch_add(1, std::memory_order_relaxed);
    if (range >= ranges)
      return;
    // The first `longer` ranges have one chunk more.
    int64_t begin = range * size + std::min(range, longer);
    int64_t end = begin + size + (range < longer ? 1 : 0);
    try {
      body(context, begin, end);
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      if (!error)
        error = std::current_exception();
      nextRange.store(ranges, std::memory_order_relaxed);
      return;
    }
  }
}

uint64_t ThreadPool::awaitLoop(uint64_t seen) {
  for (int i = 0; i < spins; ++i) {
    uint64_t current = state.load(std::memory_order_acquire);
    if (loopOf(current) != seen)
      return current;
    pause();
  }
  std::unique_lock<std::mutex> lock(mutex);
  // Sequentially consistent with publish(): either the caller sees a sleeper,
  // or the sleeper sees the loop.
  sleepers.fetch_add(1);
  uint64_t current;
  while (loopOf(current = state.load()) == seen)
    wakeUp.wait(lock);
  sleepers.fetch_sub(1);
  return current;
}

bool ThreadPool::join(uint64_t current) {
  uint64_t loop = loopOf(current);
  while ((current & kOpen) && loopOf(current) == loop)
    if (state.compare_exchange_weak(current, current + 1,
                                    std::memory_order_acquire))
      return true;
  return false;
}

void ThreadPool::leave() {
  uint64_t after = state.fetch_sub(1) - 1;
  if ((after & (kActive | kOpen)) == 0 && callerSleeps.load()) {
    std::lock_guard<std::mutex> lock(mutex);
    finished.notify_one();
  }
}

void ThreadPool::workerLoop() {
  uint64_t seen = 0;
  while (true) {
    uint64_t current = awaitLoop(seen);
    if (current & kStopping)
      return;
    seen = loopOf(current);
    // Too late for a loop: the caller has done it alone.
    if (!join(current))
      continue;
    takeRanges();
    leave();
  }
}

void ThreadPool::publish(uint64_t flags, int64_t wanted) {
  // No worker is inside and none can join: nobody else writes.
  uint64_t next = (loopOf(state.load(std::memory_order_relaxed)) + 1) * kLoop;
  state.store(next | flags);
  int64_t asleep = sleepers.load();
  if (asleep == 0)
    return;
  { // Those who are about to sleep have looked at the state, or will.
    std::lock_guard<std::mutex> lock(mutex);
  }
  for (int64_t i = 0; i < std::min(asleep, wanted); ++i)
    wakeUp.notify_one();
}

void ThreadPool::close() {
  uint64_t current = state.fetch_and(~kOpen) & ~kOpen;
  for (int i = 0; i < spins && (current & kActive); ++i) {
    pause();
    current = state.load(std::memory_order_acquire);
  }
  if ((current & kActive) == 0)
    return;
  std::unique_lock<std::mutex> lock(mutex);
  // Sequentially consistent with leave().
  callerSleeps.store(true);
  finished.wait(lock, [this] { return (state.load() & kActive) == 0; });
  callerSleeps.store(false);
}

void ThreadPool::run(int64_t count, Body function, void *data) {
  if (insideBody)
    throw std::logic_error("a parallel loop inside a parallel loop");
  if (busy.exchange(true, std::memory_order_acquire))
    throw std::logic_error("two threads run loops on one pool");
  struct Release {
    std::atomic<bool> &busy;
    ~Release() { busy.store(false, std::memory_order_release); }
  } release{busy};
  if (count <= 0)
    return;
  if (count == 1 || workers.empty()) {
    BodyScope scope;
    function(data, 0, count);
    return;
  }

  body = function;
  context = data;
  chunks = count;
  ranges = std::min<int64_t>(count, int64_t(threads()) * kRangesPerThread);
  nextRange.store(0, std::memory_order_relaxed);
  error = nullptr;
  publish(kOpen, ranges - 1);
  takeRanges();
  close();
  if (std::exception_ptr thrown = std::exchange(error, nullptr))
    std::rethrow_exception(thrown);
}

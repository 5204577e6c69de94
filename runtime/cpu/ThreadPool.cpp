//===- ThreadPool.cpp - Parallel loops over chunks ------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"

#include <algorithm>
#include <sched.h>
#include <stdexcept>
#include <utility>

using namespace echo;

namespace {

// Ranges per thread: enough that an uneven load evens out.
constexpr int kRangesPerThread = 4;
// About ten microseconds: longer than the gap between two kernels of a step,
// shorter than what another process would miss.
constexpr int kSpins = 200;

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
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
    generation.fetch_add(1, std::memory_order_release);
  }
  wakeUp.notify_all();
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

void ThreadPool::workerLoop() {
  uint64_t seen = 0;
  while (true) {
    for (int i = 0; i < spins; ++i) {
      if (generation.load(std::memory_order_acquire) != seen)
        break;
      pause();
    }
    {
      std::unique_lock<std::mutex> lock(mutex);
      while (generation.load(std::memory_order_relaxed) == seen) {
        ++sleepers;
        wakeUp.wait(lock);
        --sleepers;
      }
      if (stopping)
        return;
      seen = generation.load(std::memory_order_relaxed);
      // Too late for this loop: the caller has done it alone.
      if (!open)
        continue;
      active.fetch_add(1, std::memory_order_relaxed);
    }
    takeRanges();
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (active.fetch_sub(1, std::memory_order_release) == 1)
        finished.notify_one();
    }
  }
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

  int toWake;
  {
    std::lock_guard<std::mutex> lock(mutex);
    body = function;
    context = data;
    chunks = count;
    ranges = std::min<int64_t>(count, int64_t(threads()) * kRangesPerThread);
    nextRange.store(0, std::memory_order_relaxed);
    error = nullptr;
    open = true;
    generation.fetch_add(1, std::memory_order_release);
    toWake = static_cast<int>(std::min<int64_t>(sleepers, ranges - 1));
  }
  for (int i = 0; i < toWake; ++i)
    wakeUp.notify_one();
  takeRanges();

  for (int i = 0; i < spins; ++i) {
    if (active.load(std::memory_order_acquire) == 0)
      break;
    pause();
  }
  std::exception_ptr thrown;
  {
    std::unique_lock<std::mutex> lock(mutex);
    open = false;
    finished.wait(
        lock, [this] { return active.load(std::memory_order_acquire) == 0; });
    thrown = std::exchange(error, nullptr);
  }
  if (thrown)
    std::rethrow_exception(thrown);
}

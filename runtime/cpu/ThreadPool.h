//===- ThreadPool.h - Parallel loops over chunks ----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CPU_THREADPOOL_H
#define ECHO_RUNTIME_CPU_THREADPOOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace echo {

/// Runs loops over chunks on a fixed set of threads, the calling one among
/// them. Which thread takes which chunks is left open; what a chunk is was
/// settled by the shape before, so that results don't depend on it. Between
/// loops the workers spin for a while and then sleep; a loop that finds them
/// spinning takes no lock and makes no system call. Running a loop allocates
/// nothing.
class ThreadPool {
public:
  /// Evaluates chunks [begin, end).
  using Body = void (*)(void *context, int64_t begin, int64_t end);

  /// Starts threads - 1 workers (threads >= 1); throws std::system_error.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int threads() const { return static_cast<int>(workers.size()) + 1; }

  /// Calls body on ranges that cover [0, chunks) once, and returns when all are
  /// done. One chunk, or one thread: a plain call. The first exception of a
  /// body is rethrown here; ranges not begun are then left out. Throws
  /// std::logic_error inside a body, or while another thread runs a loop.
  void run(int64_t chunks, Body body, void *context);

  /// The same for a callable (begin, end).
  template <typename Callable>
  void run(int64_t chunks, Callable &&callable) {
    using Type = std::remove_reference_t<Callable>;
    run(
        chunks,
        [](void *context, int64_t begin, int64_t end) {
          (*static_cast<Type *>(context))(begin, end);
        },
        const_cast<void *>(static_cast<const void *>(&callable)));
  }

private:
  void workerLoop();
  /// Waits for another loop than `seen`, spinning and then asleep; its state.
  uint64_t awaitLoop(uint64_t seen);
  /// Joins the open loop of `state`; false if it was closed meanwhile.
  bool join(uint64_t state);
  void leave();
  /// Takes ranges of the current loop until there are none.
  void takeRanges();
  /// Begins a loop, and wakes up to `wanted` sleeping workers.
  void publish(uint64_t flags, int64_t wanted);
  /// Closes the loop and waits until all workers have left it.
  void close();
  void stopWorkers();

  // The current loop; written while no worker is inside one.
  Body body = nullptr;
  void *context = nullptr;
  int64_t chunks = 0;
  int64_t ranges = 0;
  // On cache lines of their own: all threads write them.
  alignas(64) std::atomic<int64_t> nextRange{0};

  /// The number of the loop, whether workers may join it, and how many are
  /// inside; see ThreadPool.cpp. One word, so that a worker that comes late
  /// never touches the next loop.
  alignas(64) std::atomic<uint64_t> state{0};
  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<bool> callerSleeps{false};
  std::mutex mutex; // for those who sleep
  std::condition_variable wakeUp, finished;
  std::exception_ptr error; // under the mutex
  int spins = 0;
  std::atomic<bool> busy{false};
  std::vector<std::thread> workers;
};

/// How many cores this process may use, at least 1.
int availableCores();

/// The number of threads that a caller asked for, 0 for all cores; throws
/// Error.
int checkThreads(int threads);

} // namespace echo

#endif // ECHO_RUNTIME_CPU_THREADPOOL_H

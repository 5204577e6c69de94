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
/// loops the workers spin for some microseconds and then sleep. Running a loop
/// allocates nothing.
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
  /// Takes ranges of the current loop until there are none.
  void takeRanges();
  void stopWorkers();

  // The current loop; written under the mutex while no worker is active.
  Body body = nullptr;
  void *context = nullptr;
  int64_t chunks = 0;
  int64_t ranges = 0;
  std::atomic<int64_t> nextRange{0};
  std::exception_ptr error; // under the mutex

  std::mutex mutex;
  std::condition_variable wakeUp, finished;
  std::atomic<uint64_t> generation{0}; // counts loops
  std::atomic<int> active{0};          // workers inside the current loop
  bool open = false;                   // workers may still join
  bool stopping = false;
  int sleepers = 0;
  int spins = 0;
  std::atomic<bool> busy{false};
  std::vector<std::thread> workers;
};

/// How many cores this process may use, at least 1.
int availableCores();

} // namespace echo

#endif // ECHO_RUNTIME_CPU_THREADPOOL_H

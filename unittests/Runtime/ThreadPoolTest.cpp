//===- ThreadPoolTest.cpp - Parallel loops over chunks --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu/ThreadPool.h"

#include "gtest/gtest.h"

#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>

using namespace echo;

namespace {

TEST(ThreadPool, EveryChunkOnce) {
  for (int threads : {1, 2, 3, 8, 33}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t chunks : {0, 1, 2, 7, 31, 1000}) {
      std::unique_ptr<std::atomic<int>[]> counts(new std::atomic<int>[chunks]);
      for (int64_t i = 0; i < chunks; ++i)
        counts[i] = 0;
      pool.run(chunks, [&](int64_t begin, int64_t end) {
        ASSERT_LT(begin, end);
        for (int64_t i = begin; i < end; ++i)
          ++counts[i];
      });
      for (int64_t i = 0; i < chunks; ++i)
        ASSERT_EQ(counts[i], 1) << i << " of " << chunks;
    }
  }
}

TEST(ThreadPool, HugeChunkCounts) {
  // Range bounds must not wrap: the ranges' sizes add up to the count.
  ThreadPool pool(4);
  int64_t chunks = (int64_t(1) << 62) + 5;
  std::atomic<uint64_t> sum{0};
  pool.run(chunks, [&](int64_t begin, int64_t end) {
    sum += static_cast<uint64_t>(end - begin);
  });
  EXPECT_EQ(sum, static_cast<uint64_t>(chunks));
}

TEST(ThreadPool, ManyShortLoops) {
  // Loop after loop: a worker that comes late must not touch the next loop.
  ThreadPool pool(4);
  std::vector<int64_t> values(64);
  for (int loop = 1; loop <= 20000; ++loop) {
    int64_t chunks = 1 + loop % 64;
    pool.run(chunks, [&values, loop](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        values[i] += loop;
    });
  }
  // Chunk i takes part in the loops with loop mod 64 >= i.
  for (int64_t i = 0; i < 64; ++i) {
    int64_t expected = 0;
    for (int loop = 1; loop <= 20000; ++loop)
      if (loop % 64 >= i)
        expected += loop;
    EXPECT_EQ(values[i], expected) << i;
  }
}

TEST(ThreadPool, SleepingWorkersWakeUp) {
  ThreadPool pool(3);
  for (int i = 0; i < 5; ++i) {
    // Longer than workers spin.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<int> count{0};
    pool.run(10, [&](int64_t begin, int64_t end) {
      count += static_cast<int>(end - begin);
    });
    EXPECT_EQ(count, 10);
  }
}

TEST(ThreadPool, WorkersTakePart) {
  // Every range waits for the other: both threads must be inside at once.
  ThreadPool pool(2);
  std::atomic<int> inside{0};
  pool.run(2, [&](int64_t, int64_t) {
    ++inside;
    while (inside < 2)
      std::this_thread::yield();
  });
  EXPECT_EQ(inside, 2);
}

TEST(ThreadPool, OneChunkRunsOnTheCaller) {
  ThreadPool pool(4);
  std::thread::id id;
  pool.run(1, [&](int64_t, int64_t) { id = std::this_thread::get_id(); });
  EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(ThreadPool, ExceptionsReachTheCaller) {
  for (int threads : {1, 4}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 100; ++repeat) {
      try {
        pool.run(50, [](int64_t begin, int64_t end) {
          if (begin <= 17 && 17 < end)
            throw std::runtime_error("chunk 17");
        });
        FAIL() << "expected an exception";
      } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "chunk 17");
      }
      // The pool goes on working.
      std::atomic<int64_t> sum{0};
      pool.run(10, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          sum += i;
      });
      EXPECT_EQ(sum, 45);
    }
  }
}

TEST(ThreadPool, NestingIsRefused) {
  for (int threads : {1, 2}) {
    ThreadPool pool(threads), other(2);
    auto body = [](int64_t, int64_t) {};
    EXPECT_THROW(pool.run(4, [&](int64_t, int64_t) { pool.run(2, body); }),
                 std::logic_error);
    EXPECT_THROW(pool.run(4, [&](int64_t, int64_t) { other.run(2, body); }),
                 std::logic_error);
    EXPECT_THROW(pool.run(1, [&](int64_t, int64_t) { pool.run(1, body); }),
                 std::logic_error);
    // Not nested any more.
    pool.run(4, body);
    other.run(4, body);
  }
}

TEST(ThreadPool, TwoCallersAreRefused) {
  ThreadPool pool(2);
  std::atomic<bool> refused{false};
  pool.run(1, [&](int64_t, int64_t) {
    std::thread second([&] {
      try {
        pool.run(1, [](int64_t, int64_t) {});
      } catch (const std::logic_error &) {
        refused = true;
      }
    });
    second.join();
  });
  EXPECT_TRUE(refused);
}

TEST(ThreadPool, ManyPools) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(1 + i % 7);
    std::atomic<int> count{0};
    pool.run(5, [&](int64_t begin, int64_t end) {
      count += static_cast<int>(end - begin);
    });
    EXPECT_EQ(count, 5);
  }
}

TEST(ThreadPool, AvailableCores) { EXPECT_GE(availableCores(), 1); }

} // namespace

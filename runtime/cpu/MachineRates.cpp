//===- MachineRates.cpp - What a machine reaches --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineRates.h"

#include "Gemm.h"
#include "Memory.h"
#include "ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

using namespace echo;

namespace {

// Source and target of a copy; together more than today's last-level caches.
constexpr uint64_t kMemoryBytes = uint64_t(128) << 20;
// Fits a core's own cache, twice.
constexpr uint64_t kCacheBytes = uint64_t(128) << 10;
constexpr int kCacheRounds = 256;
// Short enough that memcpy doesn't go around the caches, as no kernel does.
constexpr uint64_t kPieceBytes = uint64_t(64) << 10;
constexpr int64_t kExtent = 1024;
constexpr int kRepetitions = 5;
constexpr uint64_t kAlignment = 64;

/// The shortest of some runs; the first, which touches the memory, isn't
/// counted.
template <typename Function>
double shortestSeconds(Function &&function) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= kRepetitions; ++i) {
    auto start = std::chrono::steady_clock::now();
    function();
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    if (i != 0)
      best = std::min(best, seconds.count());
  }
  return std::max(best, std::numeric_limits<double>::min());
}

void copyPiece(MappedMemory &target, const MappedMemory &source,
               uint64_t offset) {
  std::memcpy(target.data() + offset, source.data() + offset, kPieceBytes);
}

double measureMemory(ThreadPool &pool) {
  MappedMemory source(kMemoryBytes, kAlignment, "a measurement");
  MappedMemory target(kMemoryBytes, kAlignment, "a measurement");
  // Pages that were never written may all be one page of zeros.
  std::memset(source.data(), 1, kMemoryBytes);
  double seconds = shortestSeconds([&] {
    pool.run(kMemoryBytes / kPieceBytes, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece)
        copyPiece(target, source, piece * kPieceBytes);
    });
  });
  return 2.0 * kMemoryBytes / seconds;
}

double measureCache(ThreadPool &pool) {
  uint64_t bytes = kCacheBytes * pool.threads();
  MappedMemory source(bytes, kAlignment, "a measurement");
  MappedMemory target(bytes, kAlignment, "a measurement");
  std::memset(source.data(), 1, bytes);
  double seconds = shortestSeconds([&] {
    pool.run(pool.threads(), [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part)
        for (int round = 0; round < kCacheRounds; ++round)
          for (uint64_t piece = 0; piece < kCacheBytes; piece += kPieceBytes)
            copyPiece(target, source, part * kCacheBytes + piece);
    });
  });
  return 2.0 * bytes * kCacheRounds / seconds;
}

double measureGemm(ThreadPool &pool) {
  constexpr uint64_t kBytes = kExtent * kExtent * sizeof(float);
  MappedMemory a(kBytes, kAlignment, "a measurement");
  MappedMemory b(kBytes, kAlignment, "a measurement");
  MappedMemory c(kBytes, kAlignment, "a measurement");
  for (MappedMemory *matrix : {&a, &b})
    std::fill_n(reinterpret_cast<float *>(matrix->data()), kExtent * kExtent,
                0.5f);
  GemmParameters gemm = {};
  gemm.dataType = static_cast<int64_t>(DataType::F32);
  gemm.batch = 1;
  gemm.m = gemm.n = gemm.k = kExtent;
  double seconds = shortestSeconds([&] {
    runGemm(pool, gemm, {a.data(), b.data(), nullptr, c.data()});
  });
  return 2.0 * kExtent * kExtent * kExtent / seconds;
}

} // namespace

MachineRates echo::measureMachine(int threads) {
  ThreadPool pool(threads);
  claimOpenBLAS();
  MachineRates rates;
  rates.memoryBytesPerSecond = measureMemory(pool);
  rates.cacheBytesPerSecond = measureCache(pool);
  rates.gemmFlopsPerSecond = measureGemm(pool);
  return rates;
}

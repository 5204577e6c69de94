//===- ShadowMemory.h - Who touched a byte ----------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_SIM_SHADOWMEMORY_H
#define ECHO_RUNTIME_SIM_SHADOWMEMORY_H

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace echo::sim {

/// Finds accesses of different threads to one byte that nothing orders, one of
/// them a write. Threads of a block are ordered by its barriers, those of a
/// warp by the warp's too, and blocks by nothing. For every byte the last write
/// is kept, the last read, and the last read of another thread than that: of
/// several races one is found. Atomic operations hide each other: a plain
/// access of a thread is compared with the last of them alone.
class ShadowMemory {
public:
  /// A thread between two barriers.
  struct Point {
    uint64_t thread; ///< unique in the launch
    uint64_t block;
    uint32_t warp; ///< of the block
    uint32_t interval, warpInterval; ///< barriers so far, of block and warp
  };
  enum class Access : uint8_t { Read, Write, Atomic };
  struct Race {
    Point other;
    bool isWrite;    ///< what the other one did
    uint64_t offset; ///< of the byte, from the address
  };

  /// Later accesses are of this point.
  void enter(const Point &point) { points.push_back(point); }
  /// The first byte that races, if any.
  std::optional<Race> record(const void *address, uint64_t bytes,
                             Access access);
  /// As if nobody had touched them.
  void forget(const void *address, uint64_t bytes);

private:
  /// Indices of points plus one; 0: none.
  struct Cell {
    uint32_t write = 0, read = 0, otherRead = 0;
    bool isAtomic = false; ///< the write
  };
  static constexpr uint64_t kPageBytes = 4096;
  using Page = std::array<Cell, kPageBytes>;

  Cell &cellOf(uint64_t address);
  bool isOrdered(uint32_t earlier) const;

  std::vector<Point> points;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  uint64_t lastNumber = ~uint64_t(0);
  Page *lastPage = nullptr;
};

} // namespace echo::sim

#endif // ECHO_RUNTIME_SIM_SHADOWMEMORY_H

//===- Traffic.h - What a kernel moves --------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_SIM_TRAFFIC_H
#define ECHO_RUNTIME_SIM_TRAFFIC_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace echo::sim {

struct Buffer;

/// Loads, or stores, of a launch's buffers; shared variables don't count.
struct Transfers {
  uint64_t accesses = 0; ///< of one thread each
  uint64_t bytes = 0;    ///< that these ask for
  /// What the accesses of a warp's lanes at the same time touch of memory, in
  /// sectors of 32 bytes: a device moves whole ones. The n-th loads, or stores,
  /// of the threads are taken to be at the same time.
  uint64_t sectors = 0;
  /// The bytes if each was moved once. What a launch loads of its outputs, but
  /// for those that are inputs too, could stay with its threads.
  uint64_t least = 0;
};
struct Traffic {
  Transfers loads, stores;
};

/// Counts the accesses of a launch. An atomic operation is a load and a store.
class TrafficCounter {
public:
  explicit TrafficCounter(const std::vector<Buffer> &buffers);

  /// From here on threads are those of another block, of `threads` of them.
  void beginBlock(size_t threads);
  /// An access within one of the buffers.
  void load(uint32_t thread, const void *address, uint64_t bytes);
  void store(uint32_t thread, const void *address, uint64_t bytes);

  const Traffic &traffic() const { return counts; }

private:
  /// Bytes of buffers that lie in one another or behind one another.
  struct Range {
    uint64_t begin, end;
    std::vector<bool> isInput, isLoaded, isStored;
  };
  struct Sector {
    uint64_t number;
    uint32_t access, warp;
    bool isStore;
    bool operator==(const Sector &other) const {
      return number == other.number && access == other.access &&
             warp == other.warp && isStore == other.isStore;
    }
  };
  struct SectorHash {
    size_t operator()(const Sector &sector) const;
  };

  void count(Transfers &transfers, bool isStore, uint32_t thread,
             const void *address, uint64_t bytes);
  Range *find(uint64_t address);

  std::vector<Range> ranges;
  /// Loads and stores of each thread so far.
  std::vector<std::array<uint32_t, 2>> accesses;
  std::unordered_set<Sector, SectorHash> sectors; ///< of the block
  Traffic counts;
};

} // namespace echo::sim

#endif // ECHO_RUNTIME_SIM_TRAFFIC_H

//===- Traffic.cpp - What a kernel moves ----------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sim/Traffic.h"
#include "sim/Simulator.h"

#include <algorithm>

using namespace echo::sim;

static constexpr uint64_t kSectorBytes = 32;
static constexpr uint32_t kWarpSize = 32;

static uint64_t addressOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

size_t TrafficCounter::SectorHash::operator()(const Sector &sector) const {
  uint64_t rest = uint64_t(sector.access) << 6 | sector.warp << 1 |
                  uint64_t(sector.isStore);
  return (sector.number * 0x9e3779b97f4a7c15 ^ rest) * 0xff51afd7ed558ccd;
}

TrafficCounter::TrafficCounter(const std::vector<Buffer> &buffers) {
  std::vector<Buffer> sorted = buffers;
  std::sort(sorted.begin(), sorted.end(), [](const Buffer &a, const Buffer &b) {
    return addressOf(a.data) < addressOf(b.data);
  });
  for (const Buffer &buffer : sorted) {
    uint64_t begin = addressOf(buffer.data), end = begin + buffer.bytes;
    if (ranges.empty() || begin > ranges.back().end)
      ranges.push_back({begin, end, {}, {}, {}});
    Range &range = ranges.back();
    range.end = std::max(range.end, end);
    range.isInput.resize(range.end - range.begin);
    if (buffer.isReadOnly)
      std::fill(range.isInput.begin() + (begin - range.begin),
                range.isInput.begin() + (end - range.begin), true);
  }
  for (Range &range : ranges) {
    range.isLoaded.resize(range.isInput.size());
    range.isStored.resize(range.isInput.size());
  }
}

void TrafficCounter::beginBlock(size_t threads) {
  accesses.assign(threads, {0, 0});
  sectors.clear();
}

TrafficCounter::Range *TrafficCounter::find(uint64_t address) {
  auto behind = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](uint64_t place, const Range &range) { return place < range.begin; });
  return behind == ranges.begin() ? nullptr : &*(behind - 1);
}

void TrafficCounter::count(Transfers &transfers, bool isStore, uint32_t thread,
                           const void *address, uint64_t bytes) {
  ++transfers.accesses;
  transfers.bytes += bytes;
  uint64_t begin = addressOf(address);
  uint32_t access = accesses[thread][isStore]++;
  for (uint64_t sector = begin / kSectorBytes;
       sector <= (begin + bytes - 1) / kSectorBytes; ++sector)
    transfers.sectors +=
        sectors.insert({sector, access, thread / kWarpSize, isStore}).second;
  Range *range = find(begin);
  if (!range)
    return;
  std::vector<bool> &isTouched = isStore ? range->isStored : range->isLoaded;
  for (uint64_t i = begin - range->begin; i < begin - range->begin + bytes;
       ++i) {
    transfers.least += !isTouched[i] && (isStore || range->isInput[i]);
    isTouched[i] = true;
  }
}

void TrafficCounter::load(uint32_t thread, const void *address,
                          uint64_t bytes) {
  count(counts.loads, /*isStore=*/false, thread, address, bytes);
}

void TrafficCounter::store(uint32_t thread, const void *address,
                           uint64_t bytes) {
  count(counts.stores, /*isStore=*/true, thread, address, bytes);
}

//===- Arena.cpp - Placement of buffers in one arena ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Arena.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

using namespace mlir::echo::planning;

/// Offsets are int64_t in the IR, so nothing may lie past this.
static constexpr uint64_t kMaxBytes = std::numeric_limits<int64_t>::max();

/// Entries of placed buffers that one planArena may look at in first-fit. A
/// count and not a time, so that a plan doesn't depend on the machine.
static constexpr uint64_t kScanBudget = uint64_t(1) << 27;

namespace {

/// A buffer of the problem with its size rounded up; only those that take
/// space.
struct Item {
  uint64_t size;
  int64_t begin, end;
  size_t index;
};

/// The start or end of an item on the time axis.
struct Event {
  int64_t time;
  bool isBegin;
  size_t item;
};

/// Placed items in blocks, sorted by offset; a block knows the time that its
/// items span, so that whole blocks are skipped.
class PlacedItems {
public:
  /// The lowest offset where an item fits between those that live with it, or
  /// kMaxBytes if there is none. Counts the entries it looks at.
  uint64_t findLowest(const Item &item, uint64_t &budget) const {
    uint64_t offset = 0;
    for (const Block &block : blocks) {
      if (!overlaps(block.begin, block.end, item))
        continue;
      if (budget < block.entries.size()) {
        budget = 0;
        return kMaxBytes;
      }
      budget -= block.entries.size();
      for (const Entry &entry : block.entries) {
        if (!overlaps(entry.begin, entry.end, item))
          continue;
        if (entry.offset >= offset && entry.offset - offset >= item.size)
          return offset;
        offset = std::max(offset, entry.offset + entry.size);
      }
    }
    return item.size <= kMaxBytes - offset ? offset : kMaxBytes;
  }

  void insert(const Item &item, uint64_t offset) {
    auto block = std::partition_point(
        blocks.begin(), blocks.end(), [&](const Block &block) {
          return block.entries.back().offset < offset;
        });
    if (block == blocks.end()) {
      if (blocks.empty())
        blocks.emplace_back();
      block = blocks.end() - 1;
    }
    std::vector<Entry> &entries = block->entries;
    auto position = std::partition_point(
        entries.begin(), entries.end(),
        [&](const Entry &entry) { return entry.offset < offset; });
    entries.insert(position, {offset, item.size, item.begin, item.end});
    block->begin = std::min(block->begin, item.begin);
    block->end = std::max(block->end, item.end);
    if (entries.size() < 2 * kBlockSize)
      return;
    Block upper;
    upper.entries.assign(entries.begin() + kBlockSize, entries.end());
    entries.resize(kBlockSize);
    block->updateSpan();
    upper.updateSpan();
    blocks.insert(block + 1, std::move(upper));
  }

private:
  static constexpr size_t kBlockSize = 64;

  struct Entry {
    uint64_t offset, size;
    int64_t begin, end;
  };

  struct Block {
    std::vector<Entry> entries;
    int64_t begin = std::numeric_limits<int64_t>::max();
    int64_t end = std::numeric_limits<int64_t>::min();

    void updateSpan() {
      begin = std::numeric_limits<int64_t>::max();
      end = std::numeric_limits<int64_t>::min();
      for (const Entry &entry : entries) {
        begin = std::min(begin, entry.begin);
        end = std::max(end, entry.end);
      }
    }
  };

  static bool overlaps(int64_t begin, int64_t end, const Item &item) {
    return begin < item.end && item.begin < end;
  }

  std::vector<Block> blocks;
};

} // namespace

static std::string describe(size_t index, const ArenaBuffer &buffer) {
  return "buffer " + std::to_string(index) + " of " +
         std::to_string(buffer.bytes) + " bytes, live in [" +
         std::to_string(buffer.begin) + ", " + std::to_string(buffer.end) + ")";
}

/// Checks the problem and rounds sizes up; false with a reason if it can't be
/// planned.
static bool collectItems(const ArenaProblem &problem, std::vector<Item> &items,
                         std::string &error) {
  uint64_t alignment = problem.alignment;
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    error = "expected an alignment that is a power of two, found " +
            std::to_string(alignment);
    return false;
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const ArenaBuffer &buffer = problem.buffers[i];
    if (buffer.begin < 0 || buffer.begin >= buffer.end) {
      error = "expected a lifetime [begin, end) with 0 <= begin < end: " +
              describe(i, buffer);
      return false;
    }
    if (buffer.bytes == 0)
      continue;
    if (buffer.bytes > kMaxBytes - (alignment - 1)) {
      error = "sizes overflow 63 bits: " + describe(i, buffer);
      return false;
    }
    items.push_back({(buffer.bytes + alignment - 1) & ~(alignment - 1),
                     buffer.begin, buffer.end, i});
  }
  // The order of the input decides among equal buffers alone.
  std::sort(items.begin(), items.end(), [&](const Item &a, const Item &b) {
    return std::tie(a.begin, a.end, problem.buffers[a.index].bytes, a.index) <
           std::tie(b.begin, b.end, problem.buffers[b.index].bytes, b.index);
  });
  return true;
}

/// Starts and ends in the order of time, ends first: lifetimes are half-open.
static std::vector<Event> collectEvents(const std::vector<Item> &items) {
  std::vector<Event> events;
  events.reserve(2 * items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    events.push_back({items[i].begin, true, i});
    events.push_back({items[i].end, false, i});
  }
  std::sort(events.begin(), events.end(),
            [&](const Event &a, const Event &b) {
              // Of those that start together the largest comes first.
              return std::make_tuple(a.time, a.isBegin, ~items[a.item].size,
                                     a.item) <
                     std::make_tuple(b.time, b.isBegin, ~items[b.item].size,
                                     b.item);
            });
  return events;
}

/// The largest sum of live sizes; false if it overflows.
static bool findPeak(const std::vector<Item> &items,
                     const std::vector<Event> &events, uint64_t &peak) {
  uint64_t live = 0;
  peak = 0;
  for (const Event &event : events) {
    uint64_t size = items[event.item].size;
    if (!event.isBegin) {
      live -= size;
      continue;
    }
    if (size > kMaxBytes - live)
      return false;
    live += size;
    peak = std::max(peak, live);
  }
  return true;
}

/// Walks along time and gives each buffer the smallest free range that holds
/// it. O(n log n). Returns the bytes used, or kMaxBytes where they overflow.
static uint64_t placeBestFit(const std::vector<Item> &items,
                             const std::vector<Event> &events,
                             std::vector<uint64_t> &offsets) {
  std::map<uint64_t, uint64_t> freeByOffset;           // offset -> size
  std::set<std::pair<uint64_t, uint64_t>> freeBySize;  // size, offset
  uint64_t top = 0;
  auto addFree = [&](uint64_t offset, uint64_t size) {
    auto next = freeByOffset.lower_bound(offset);
    if (next != freeByOffset.end() && next->first == offset + size) {
      size += next->second;
      freeBySize.erase({next->second, next->first});
      next = freeByOffset.erase(next);
    }
    if (next != freeByOffset.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        offset = previous->first;
        size += previous->second;
        freeBySize.erase({previous->second, previous->first});
        freeByOffset.erase(previous);
      }
    }
    freeByOffset.emplace(offset, size);
    freeBySize.insert({size, offset});
  };
  for (const Event &event : events) {
    const Item &item = items[event.item];
    if (!event.isBegin) {
      addFree(offsets[event.item], item.size);
      continue;
    }
    uint64_t offset;
    auto fit = freeBySize.lower_bound({item.size, 0});
    if (fit != freeBySize.end()) {
      auto [size, start] = *fit;
      freeBySize.erase(fit);
      freeByOffset.erase(start);
      offset = start;
      if (size > item.size) {
        freeByOffset.emplace(start + item.size, size - item.size);
        freeBySize.insert({size - item.size, start + item.size});
      }
    } else {
      // Grows the arena, from the free range below its top if there is one.
      offset = top;
      if (!freeByOffset.empty()) {
        auto last = std::prev(freeByOffset.end());
        if (last->first + last->second == top) {
          offset = last->first;
          freeBySize.erase({last->second, last->first});
          freeByOffset.erase(last);
        }
      }
      if (item.size > kMaxBytes - offset)
        return kMaxBytes;
      top = offset + item.size;
    }
    offsets[event.item] = offset;
  }
  return top;
}

/// Places items one after the other at the lowest offset that is free for
/// their whole life. Returns the bytes used, or kMaxBytes where they overflow
/// or the budget ends.
static uint64_t placeFirstFit(const std::vector<Item> &items,
                              const std::vector<size_t> &order,
                              std::vector<uint64_t> &offsets,
                              uint64_t &budget) {
  PlacedItems placed;
  uint64_t top = 0;
  for (size_t i : order) {
    uint64_t offset = placed.findLowest(items[i], budget);
    if (offset == kMaxBytes)
      return kMaxBytes;
    placed.insert(items[i], offset);
    offsets[i] = offset;
    top = std::max(top, offset + items[i].size);
  }
  return top;
}

bool mlir::echo::planning::planArena(const ArenaProblem &problem, ArenaPlan &plan,
                               std::string &error) {
  plan = ArenaPlan();
  plan.offsets.assign(problem.buffers.size(), 0);
  std::vector<Item> items;
  if (!collectItems(problem, items, error))
    return false;
  std::vector<Event> events = collectEvents(items);
  if (!findPeak(items, events, plan.lowerBound)) {
    error = "the bytes that are live together overflow 63 bits";
    return false;
  }

  std::vector<uint64_t> best(items.size()), offsets(items.size());
  plan.bytes = placeBestFit(items, events, best);
  auto keepIfBetter = [&](uint64_t bytes) {
    if (bytes >= plan.bytes)
      return;
    plan.bytes = bytes;
    best = offsets;
  };

  uint64_t budget = kScanBudget;
  std::vector<size_t> order(items.size());
  auto tryOrder = [&](auto key) {
    if (plan.bytes == plan.lowerBound || budget == 0)
      return;
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      auto keyA = key(items[a]), keyB = key(items[b]);
      return keyA != keyB ? keyA > keyB : a < b;
    });
    keepIfBetter(placeFirstFit(items, order, offsets, budget));
  };
  auto lifetime = [](const Item &item) {
    return static_cast<uint64_t>(item.end - item.begin);
  };
  tryOrder([&](const Item &item) {
    return std::make_pair(item.size, lifetime(item));
  });
  tryOrder([&](const Item &item) {
    return std::make_pair(lifetime(item), item.size);
  });
  tryOrder([&](const Item &item) {
    return static_cast<long double>(item.size) * lifetime(item);
  });

  if (plan.bytes == kMaxBytes) {
    error = "the arena overflows 63 bits";
    return false;
  }
  for (size_t i = 0; i < items.size(); ++i)
    plan.offsets[items[i].index] = best[i];
  return true;
}

bool mlir::echo::planning::findLivePeak(const ArenaProblem &problem, uint64_t &peak,
                                  std::string &error) {
  ArenaProblem unaligned = problem;
  unaligned.alignment = 1;
  std::vector<Item> items;
  if (!collectItems(unaligned, items, error))
    return false;
  if (findPeak(items, collectEvents(items), peak))
    return true;
  error = "the bytes that are live together overflow 63 bits";
  return false;
}

bool mlir::echo::planning::checkArena(const ArenaProblem &problem,
                                const ArenaPlan &plan, std::string &error) {
  const std::vector<ArenaBuffer> &buffers = problem.buffers;
  if (plan.offsets.size() != buffers.size()) {
    error = "the plan has " + std::to_string(plan.offsets.size()) +
            " offsets for " + std::to_string(buffers.size()) + " buffers";
    return false;
  }
  struct Change {
    int64_t time;
    bool isBegin;
    size_t buffer;
  };
  std::vector<Change> changes;
  for (size_t i = 0; i < buffers.size(); ++i) {
    uint64_t offset = plan.offsets[i];
    if (problem.alignment == 0 || offset % problem.alignment != 0) {
      error = describe(i, buffers[i]) + " lies at " + std::to_string(offset) +
              ", which isn't aligned to " + std::to_string(problem.alignment);
      return false;
    }
    if (offset > plan.bytes || buffers[i].bytes > plan.bytes - offset) {
      error = describe(i, buffers[i]) + " lies at " + std::to_string(offset) +
              ", outside the arena of " + std::to_string(plan.bytes) +
              " bytes";
      return false;
    }
    if (buffers[i].bytes == 0)
      continue;
    changes.push_back({buffers[i].begin, true, i});
    changes.push_back({buffers[i].end, false, i});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change &a, const Change &b) {
              return std::tie(a.time, a.isBegin, a.buffer) <
                     std::tie(b.time, b.isBegin, b.buffer);
            });
  // Live buffers by offset: a new one can only overlap its two neighbours.
  std::map<uint64_t, size_t> live;
  for (const Change &change : changes) {
    size_t i = change.buffer;
    uint64_t offset = plan.offsets[i];
    if (!change.isBegin) {
      live.erase(offset);
      continue;
    }
    auto next = live.lower_bound(offset);
    size_t other = i;
    if (next != live.end() && next->first - offset < buffers[i].bytes)
      other = next->second;
    if (next != live.begin()) {
      auto previous = std::prev(next);
      if (offset - previous->first < buffers[previous->second].bytes)
        other = previous->second;
    }
    if (other != i) {
      error = describe(i, buffers[i]) + " at " + std::to_string(offset) +
              " overlaps " + describe(other, buffers[other]) + " at " +
              std::to_string(plan.offsets[other]);
      return false;
    }
    live.emplace(offset, i);
  }
  return true;
}

//===- Arena.h - Placement of buffers in one arena --------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_PLANNING_ARENA_H
#define ECHO_PLANNING_ARENA_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::echo::planning {

/// A buffer that lives in [begin, end) of the program's order and takes
/// `bytes`. Buffers of 0 bytes take no space but get a valid offset.
struct ArenaBuffer {
  uint64_t bytes = 0;
  int64_t begin = 0, end = 0;
};

struct ArenaProblem {
  std::vector<ArenaBuffer> buffers;
  uint64_t alignment = 64; ///< bytes, a power of two
};

struct ArenaPlan {
  std::vector<uint64_t> offsets; ///< bytes, one per buffer, aligned
  uint64_t bytes = 0;            ///< size of the arena
  uint64_t lowerBound = 0;       ///< largest sum of live aligned sizes
};

/// Places the buffers: a valid plan, deterministic. Returns false with a
/// reason if sizes overflow 64 bits or a buffer is malformed.
bool planArena(const ArenaProblem &problem, ArenaPlan &plan,
               std::string &error);

/// The largest sum of live sizes, without alignment: the logical peak. Returns
/// false with a reason if it overflows or a buffer is malformed.
bool findLivePeak(const ArenaProblem &problem, uint64_t &peak,
                  std::string &error);

/// Independent check of a plan: alignment, bounds, and no two buffers that are
/// live together overlap.
bool checkArena(const ArenaProblem &problem, const ArenaPlan &plan,
                std::string &error);

} // namespace mlir::echo::planning

#endif // ECHO_PLANNING_ARENA_H

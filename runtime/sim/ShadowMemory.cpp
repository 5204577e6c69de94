//===- ShadowMemory.cpp - Who touched a byte ------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sim/ShadowMemory.h"

using namespace echo::sim;

ShadowMemory::Cell &ShadowMemory::cellOf(uint64_t address) {
  uint64_t number = address / kPageBytes;
  if (number != lastNumber) {
    std::unique_ptr<Page> &page = pages[number];
    if (!page)
      page = std::make_unique<Page>();
    lastNumber = number;
    lastPage = page.get();
  }
  return (*lastPage)[address % kPageBytes];
}

/// True if the point is the current thread's or lies before a barrier that the
/// current thread has passed as well.
bool ShadowMemory::isOrdered(uint32_t earlier) const {
  const Point &a = points[earlier - 1], &b = points.back();
  if (a.thread == b.thread)
    return true;
  return a.block == b.block &&
         (a.interval != b.interval ||
          (a.warp == b.warp && a.warpInterval != b.warpInterval));
}

std::optional<ShadowMemory::Race>
ShadowMemory::record(const void *address, uint64_t bytes, Access access) {
  std::optional<Race> race;
  auto current = uint32_t(points.size());
  auto begin = reinterpret_cast<uint64_t>(address);
  for (uint64_t i = 0; i < bytes; ++i) {
    Cell &cell = cellOf(begin + i);
    auto check = [&](uint32_t point, bool isWrite) {
      if (!race && point != 0 && !isOrdered(point))
        race = Race{points[point - 1], isWrite, i};
    };
    bool isAtomic = access == Access::Atomic;
    if (!(isAtomic && cell.isAtomic))
      check(cell.write, /*isWrite=*/true);
    if (access == Access::Read) {
      if (cell.read != 0 &&
          points[cell.read - 1].thread != points.back().thread)
        cell.otherRead = cell.read;
      cell.read = current;
      continue;
    }
    check(cell.read, /*isWrite=*/false);
    check(cell.otherRead, /*isWrite=*/false);
    cell.write = current;
    cell.isAtomic = isAtomic;
  }
  return race;
}

void ShadowMemory::forget(const void *address, uint64_t bytes) {
  auto begin = reinterpret_cast<uint64_t>(address);
  for (uint64_t i = 0; i < bytes; ++i)
    cellOf(begin + i) = Cell();
}

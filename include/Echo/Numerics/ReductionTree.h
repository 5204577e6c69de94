//===- ReductionTree.h - The order of sums ---------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_NUMERICS_REDUCTIONTREE_H
#define ECHO_NUMERICS_REDUCTIONTREE_H

#include <algorithm>
#include <cstdint>

namespace mlir::echo::numerics {

/// The order of a sum, given by its shape alone. A sum over several
/// dimensions is a sequence of sums, innermost first: one over the last
/// dimensions together, if they are summed (and followed by nothing but sizes
/// of 1), then one for each other dimension. So the sums of a kernel that walks
/// over rows are known row by row. Each is a sum over the middle of
/// [outer, reduced, inner].
///
/// inner == 1 ("row"): lane l of L starts at +0 and adds elements l, l + L,
/// l + 2 L, ... in order; then lanes halve: for s = L / 2, ..., 1, lane l adds
/// lane l + s for l < s. Lane 0 is the sum. A row of more than 65,536 elements
/// is cut into equal parts if it can be: the sums of the parts, each by the same
/// rule, are the elements of a row that is added up like any other, uncut. A
/// part has as many elements as possible, at most 8,192 and at least 256.
///
/// inner > 1 ("column"): rows are taken in blocks; a block's partial starts at
/// +0 and adds its rows in order; the total starts at +0 and adds the partials
/// in order.
///
/// A mean is the sum divided by the count of all dimensions, one division after
/// the last sum. f16 and bf16 accumulate in f32 through all sums and round once
/// at the end.
inline constexpr int64_t kShortRow = 1024;
inline constexpr int64_t kShortRowLanes = 32;
inline constexpr int64_t kLongRowLanes = 256;
inline constexpr int64_t kLongestRow = 65536;
inline constexpr int64_t kLongestPart = 8192;
inline constexpr int64_t kShortestPart = 256;
inline constexpr int64_t kColumnBlock = 128;

inline constexpr int64_t rowLanes(int64_t reduced) {
  return reduced <= kShortRow ? kShortRowLanes : kLongRowLanes;
}

/// The parts that a row is cut into; 1: it isn't.
inline constexpr int64_t rowParts(int64_t reduced) {
  if (reduced > kLongestRow)
    for (int64_t size = kLongestPart; size >= kShortestPart; --size)
      if (reduced % size == 0)
        return reduced / size;
  return 1;
}

/// The sum of `reduced` elements, uncut; `load(i)` gives element i in the type T
/// of accumulation.
template <typename T, typename Load>
T partSum(int64_t reduced, Load load) {
  T lanes[kLongRowLanes];
  const int64_t count = rowLanes(reduced);
  std::fill(lanes, lanes + count, T(0));
  for (int64_t begin = 0; begin < reduced; begin += count) {
    const int64_t size = std::min(count, reduced - begin);
    for (int64_t lane = 0; lane < size; ++lane)
      lanes[lane] = lanes[lane] + load(begin + lane);
  }
  for (int64_t half = count / 2; half >= 1; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane)
      lanes[lane] = lanes[lane] + lanes[lane + half];
  return lanes[0];
}

/// The sum of a row.
template <typename T, typename Load>
T rowSum(int64_t reduced, Load load) {
  const int64_t parts = rowParts(reduced), size = reduced / parts;
  if (parts == 1)
    return partSum<T>(reduced, load);
  return partSum<T>(parts, [&](int64_t part) {
    return partSum<T>(size, [&](int64_t i) { return load(part * size + i); });
  });
}

/// The sums of `inner` columns of `reduced` rows; `load(row, column)` gives an
/// element. `totals` and `partials` have room for `inner` elements; the sums
/// are left in `totals`.
template <typename T, typename Load>
void columnSum(int64_t reduced, int64_t inner, Load load, T *totals,
               T *partials) {
  std::fill(totals, totals + inner, T(0));
  for (int64_t begin = 0; begin < reduced; begin += kColumnBlock) {
    const int64_t end = std::min(begin + kColumnBlock, reduced);
    std::fill(partials, partials + inner, T(0));
    for (int64_t row = begin; row < end; ++row)
      for (int64_t column = 0; column < inner; ++column)
        partials[column] = partials[column] + load(row, column);
    for (int64_t column = 0; column < inner; ++column)
      totals[column] = totals[column] + partials[column];
  }
}

} // namespace mlir::echo::numerics

#endif // ECHO_NUMERICS_REDUCTIONTREE_H

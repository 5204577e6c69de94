//===- Broadcast.h - Loops over broadcast operands ------------ -*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_TARGET_INTERPRETER_BROADCAST_H
#define ECHO_LIB_TARGET_INTERPRETER_BROADCAST_H

#include "Echo/Target/HostTensor.h"
#include "mlir/Dialect/Traits.h"
#include <array>

namespace mlir::echo::interpreter {

/// Row-major strides, in elements.
inline SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

/// Strides with which an operand is read at the indices of `result`: 0 where
/// it is repeated.
inline SmallVector<int64_t> broadcastStrides(ArrayRef<int64_t> operand,
                                             ArrayRef<int64_t> result) {
  SmallVector<int64_t> own = rowMajorStrides(operand);
  SmallVector<int64_t> strides(result.size(), 0);
  size_t missing = result.size() - operand.size();
  for (size_t d = 0; d < operand.size(); ++d)
    if (operand[d] != 1)
      strides[missing + d] = own[d];
  return strides;
}

/// Goes through the elements of `shape` in row-major order, in runs along one
/// dimension. Calls `run(count, offsets, strides)` with N operands' offsets of
/// the run's first element and strides within it. Dimensions that are
/// contiguous for all operands are one dimension.
template <size_t N, typename Run>
void forEachRun(ArrayRef<int64_t> shape,
                std::array<SmallVector<int64_t>, N> strides, Run run,
                std::array<int64_t, N> offsets = {}) {
  if (llvm::is_contained(shape, 0))
    return;
  // Collapse from the innermost dimension outwards; inner ones come first.
  SmallVector<int64_t> sizes;
  std::array<SmallVector<int64_t>, N> steps;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1)
      continue;
    bool joins = !sizes.empty();
    for (size_t n = 0; n < N && joins; ++n)
      joins = strides[n][d] == steps[n].back() * sizes.back();
    if (joins) {
      sizes.back() *= shape[d];
      continue;
    }
    sizes.push_back(shape[d]);
    for (size_t n = 0; n < N; ++n)
      steps[n].push_back(strides[n][d]);
  }
  if (sizes.empty()) {
    run(int64_t(1), offsets, std::array<int64_t, N>{});
    return;
  }
  std::array<int64_t, N> inner;
  for (size_t n = 0; n < N; ++n)
    inner[n] = steps[n][0];
  SmallVector<int64_t> index(sizes.size(), 0);
  while (true) {
    run(sizes[0], offsets, inner);
    size_t d = 1;
    for (; d < sizes.size(); ++d) {
      for (size_t n = 0; n < N; ++n)
        offsets[n] += steps[n][d];
      if (++index[d] < sizes[d])
        break;
      for (size_t n = 0; n < N; ++n)
        offsets[n] -= steps[n][d] * sizes[d];
      index[d] = 0;
    }
    if (d >= sizes.size())
      return;
  }
}

/// Copies elements between strided places of two tensors of one element size.
inline void copyStrided(int64_t elementSize, ArrayRef<int64_t> shape,
                        const char *source, ArrayRef<int64_t> sourceStrides,
                        int64_t sourceOffset, char *target,
                        ArrayRef<int64_t> targetStrides, int64_t targetOffset) {
  auto copy = [&](auto element) {
    using T = decltype(element);
    const T *in = reinterpret_cast<const T *>(source);
    T *out = reinterpret_cast<T *>(target);
    forEachRun<2>(shape,
                  {SmallVector<int64_t>(targetStrides),
                   SmallVector<int64_t>(sourceStrides)},
                  [&](int64_t count, auto offsets, auto strides) {
                    for (int64_t i = 0; i < count; ++i)
                      out[offsets[0] + i * strides[0]] =
                          in[offsets[1] + i * strides[1]];
                  },
                  {targetOffset, sourceOffset});
  };
  switch (elementSize) {
  case 1:
    return copy(uint8_t());
  case 2:
    return copy(uint16_t());
  case 4:
    return copy(uint32_t());
  default:
    return copy(uint64_t());
  }
}

} // namespace mlir::echo::interpreter

#endif // ECHO_LIB_TARGET_INTERPRETER_BROADCAST_H

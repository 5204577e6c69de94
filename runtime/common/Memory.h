//===- Memory.h - Counted memory of the runtime -----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a session keeps for its steps is allocated through here, and
// every allocation of the calling thread is counted, so that a session can
// report how many a step made.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_MEMORY_H
#define ECHO_RUNTIME_COMMON_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace echo {

/// Allocations that this thread made through CountedAllocator and MappedMemory.
uint64_t &allocationCount();

template <typename T>
struct CountedAllocator {
  using value_type = T;
  CountedAllocator() = default;
  template <typename U>
  CountedAllocator(const CountedAllocator<U> &) {}
  T *allocate(size_t count) {
    ++allocationCount();
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T *pointer, size_t count) {
    std::allocator<T>().deallocate(pointer, count);
  }
  template <typename U>
  bool operator==(const CountedAllocator<U> &) const {
    return true;
  }
  template <typename U>
  bool operator!=(const CountedAllocator<U> &) const {
    return false;
  }
};

template <typename T>
using Vector = std::vector<T, CountedAllocator<T>>;

/// Zeroed memory straight from the system, with an address that is a multiple
/// of `alignment`, also for 0 bytes.
class MappedMemory {
public:
  /// Throws Error (ECHO_OUT_OF_MEMORY) that says what was asked for `purpose`.
  MappedMemory(uint64_t bytes, uint64_t alignment, const char *purpose);
  ~MappedMemory();
  MappedMemory(const MappedMemory &) = delete;
  MappedMemory &operator=(const MappedMemory &) = delete;

  char *data() const { return aligned; }
  uint64_t size() const { return bytes; }

private:
  void *mapping = nullptr;
  uint64_t mappedBytes = 0;
  char *aligned = nullptr;
  uint64_t bytes = 0;
};

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_MEMORY_H

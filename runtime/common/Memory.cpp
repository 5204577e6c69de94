//===- Memory.cpp - Counted memory of the runtime -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include "Error.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace echo;

uint64_t &echo::allocationCount() {
  thread_local uint64_t count = 0;
  return count;
}

MappedMemory::MappedMemory(uint64_t bytes, uint64_t alignment,
                           const char *purpose)
    : bytes(bytes) {
  constexpr uint64_t kPage = 4096;
  constexpr uint64_t kHugePage = uint64_t(1) << 21;
  ++allocationCount();
  auto outOfMemory = [&](const char *reason) {
    throw Error(ECHO_OUT_OF_MEMORY, "out of memory: " + std::to_string(bytes) +
                                        " bytes for " + purpose + " (" +
                                        reason + ")");
  };
  // Kernels see whole vectors; a page at the end keeps 0 bytes addressable.
  uint64_t slack = alignment > kPage ? alignment : 0;
  if (bytes > UINT64_MAX - slack - kPage)
    outOfMemory("the size overflows");
  mappedBytes = (bytes + slack + kPage - 1) / kPage * kPage;
  if (mappedBytes == 0)
    mappedBytes = kPage;
  void *address = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    outOfMemory(std::strerror(errno));
  mapping = address;
  // A hint only: without huge pages everything works the same.
  if (mappedBytes >= kHugePage)
    madvise(mapping, mappedBytes, MADV_HUGEPAGE);
  uint64_t start = reinterpret_cast<uintptr_t>(mapping);
  uint64_t offset = (alignment - start % alignment) % alignment;
  aligned = static_cast<char *>(mapping) + offset;
}

MappedMemory::~MappedMemory() { munmap(mapping, mappedBytes); }

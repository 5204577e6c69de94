//===- AllocationTest.cpp - Steps allocate nothing ------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library's allocator is interposed: what the runtime reports of itself
// is compared with what really happens, in every thread. Time inside OpenBLAS
// is left out.
//
//===----------------------------------------------------------------------===//

#include "TestArtifact.h"
#include "echo_runtime.hpp"

#include "gtest/gtest.h"

#include <atomic>
#include <cblas.h>
#include <cerrno>
#include <dlfcn.h>

extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
}

namespace {

std::atomic<bool> counting{false};
std::atomic<uint64_t> allocations{0}, libraryCalls{0};
// Plain data, so that reading it from malloc allocates nothing.
thread_local int insideLibrary = 0;

void count() {
  if (counting.load(std::memory_order_relaxed) && insideLibrary == 0)
    allocations.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

extern "C" {

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}
void *realloc(void *pointer, size_t size) {
  count();
  return __libc_realloc(pointer, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **pointer, size_t alignment, size_t size) {
  count();
  *pointer = __libc_memalign(alignment, size);
  return *pointer ? 0 : ENOMEM;
}

void cblas_sgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transposeA,
                 CBLAS_TRANSPOSE transposeB, blasint m, blasint n, blasint k,
                 float alpha, const float *a, blasint lda, const float *b,
                 blasint ldb, float beta, float *c, blasint ldc) {
  using Function = decltype(&cblas_sgemm);
  ++insideLibrary;
  static auto library =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "cblas_sgemm"));
  library(layout, transposeA, transposeB, m, n, k, alpha, a, lda, b, ldb, beta,
          c, ldc);
  --insideLibrary;
  ++libraryCalls;
}

} // extern "C"

using namespace echo;
using namespace echo::test;
using runtime::Session;

namespace {

/// What the C library's allocator was asked for during a step.
uint64_t allocationsOfStep(Session &session) {
  allocations = 0;
  counting = true;
  session.step();
  counting = false;
  return allocations;
}

TEST(Allocation, StepsAllocateNothing) {
  Folder folder;
  compileStep(folder.path("step.so"));
  for (int threads : {1, 3}) {
    Session session(folder.path("step.so"), threads);
    session.initialize(1);
    EXPECT_GT(allocationsOfStep(session), 0u)
        << "the first step fixes addresses, and the counter sees it";
    for (int i = 0; i < 20; ++i) {
      libraryCalls = 0;
      session.set("x", std::vector<float>(kRows * kIn, float(i)));
      EXPECT_EQ(allocationsOfStep(session), 0u);
      EXPECT_EQ(session.statistics().last_step_allocations, 0u);
      EXPECT_EQ(libraryCalls, 2u) << "the products go through this file";
    }
  }
}

TEST(Allocation, ProfiledStepsAllocateNothing) {
  Folder folder;
  compileStep(folder.path("step.so"));
  Session session(folder.path("step.so"), 2);
  session.initialize(1);
  session.step();
  session.setProfiling(true);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(allocationsOfStep(session), 0u);
    EXPECT_EQ(session.statistics().last_step_allocations, 0u);
  }
  EXPECT_EQ(session.profile()[0].runs, 3u);
}

TEST(Allocation, OnlyTheStepAfterSharingAllocates) {
  Folder folder;
  compileStep(folder.path("step.so"));
  Session first(folder.path("step.so"), 2), second(folder.path("step.so"), 2);
  first.initialize(1);
  second.initialize(1);
  second.share(first);
  EXPECT_GT(allocationsOfStep(second), 0u);
  EXPECT_GT(second.statistics().last_step_allocations, 0u);
  EXPECT_EQ(allocationsOfStep(second), 0u);
  EXPECT_EQ(second.statistics().last_step_allocations, 0u);
}

TEST(Allocation, OtherAddressesAllocateNothing) {
  Folder folder;
  compileStep(folder.path("step.so"));
  Session first(folder.path("step.so"), 2), second(folder.path("step.so"), 2);
  first.initialize(1);
  second.initialize(1);
  second.step();
  second.share(first);
  EXPECT_EQ(allocationsOfStep(second), 0u);
  EXPECT_EQ(second.statistics().last_step_allocations, 0u);
}

} // namespace

//===- Fiber.cpp - Threads that take turns --------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sim/Fiber.h"

#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ECHO_SIM_ASAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ECHO_SIM_ASAN
#endif
#ifdef ECHO_SIM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

using namespace echo::sim;

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

FiberStacks::FiberStacks(size_t count, size_t bytes)
    : count(count), page(sysconf(_SC_PAGESIZE)) {
  stackBytes = (bytes + page - 1) / page * page;
  stride = page + stackBytes;
  void *mapped = mmap(nullptr, count * stride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw std::bad_alloc();
  memory = static_cast<char *>(mapped);
  for (size_t i = 0; i < count; ++i)
    if (mprotect(memory + i * stride, page, PROT_NONE) != 0) {
      munmap(memory, count * stride);
      throw std::bad_alloc();
    }
}

FiberStacks::~FiberStacks() { munmap(memory, count * stride); }

//===----------------------------------------------------------------------===//
// Switching
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

// Keeps what a call has to keep, on the old stack, and returns on the new one.
// ucontext's way asks the kernel for the signal mask, which takes ten times as
// long.
extern "C" void echo_sim_switch_stack(void **from, void *to);
asm(R"(
    .text
    .p2align 4
    .globl echo_sim_switch_stack
    .hidden echo_sim_switch_stack
    .type echo_sim_switch_stack, @function
echo_sim_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size echo_sim_switch_stack, .-echo_sim_switch_stack
)");

#endif

struct Fiber::Context {
  void (*function)(void *) = nullptr;
  void *argument = nullptr;
  bool isDone = true;
#if defined(__x86_64__)
  void *own = nullptr, *resumer = nullptr; ///< stack pointers
#else
  ucontext_t own, resumer;
#endif
#ifdef ECHO_SIM_ASAN
  const void *bottom = nullptr, *resumerBottom = nullptr;
  size_t bytes = 0, resumerBytes = 0;
  void *fakeStack = nullptr;
#endif

  void switchIn() {
#ifdef ECHO_SIM_ASAN
    void *resumerFakeStack = nullptr;
    __sanitizer_start_switch_fiber(&resumerFakeStack, bottom, bytes);
#endif
#if defined(__x86_64__)
    echo_sim_switch_stack(&resumer, own);
#else
    swapcontext(&resumer, &own);
#endif
#ifdef ECHO_SIM_ASAN
    __sanitizer_finish_switch_fiber(resumerFakeStack, nullptr, nullptr);
#endif
  }

  /// On the fiber's stack for the first time, or again.
  void arrive() {
#ifdef ECHO_SIM_ASAN
    __sanitizer_finish_switch_fiber(fakeStack, &resumerBottom, &resumerBytes);
#endif
  }

  void switchOut() {
#ifdef ECHO_SIM_ASAN
    __sanitizer_start_switch_fiber(isDone ? nullptr : &fakeStack, resumerBottom,
                                   resumerBytes);
#endif
#if defined(__x86_64__)
    echo_sim_switch_stack(&own, resumer);
#else
    swapcontext(&own, &resumer);
#endif
    arrive();
  }
};

/// The fiber that starts, for its first function, which takes no argument.
static thread_local void *starting;

Fiber::Fiber() : context(std::make_unique<Context>()) {}
Fiber::~Fiber() = default;
Fiber::Fiber(Fiber &&) noexcept = default;

void Fiber::run(Context *context) {
  context->arrive();
  context->function(context->argument);
  context->isDone = true;
  context->switchOut();
}

void Fiber::start(char *stack, size_t bytes, void (*function)(void *),
                  void *argument) {
  context->function = function;
  context->argument = argument;
  context->isDone = false;
  void (*first)() = [] { run(static_cast<Context *>(starting)); };
#ifdef ECHO_SIM_ASAN
  context->bottom = stack;
  context->bytes = bytes;
  context->fakeStack = nullptr;
#endif
#if defined(__x86_64__)
  // As if `first` had been called by a function without a caller: its address
  // is returned to when six registers are restored.
  auto top = (reinterpret_cast<uintptr_t>(stack) + bytes) & ~uintptr_t(15);
  auto *words = reinterpret_cast<uintptr_t *>(top);
  words[-1] = 0;
  words[-2] = reinterpret_cast<uintptr_t>(first);
  for (int i = 3; i <= 8; ++i)
    words[-i] = 0;
  context->own = words - 8;
#else
  getcontext(&context->own);
  context->own.uc_stack.ss_sp = stack;
  context->own.uc_stack.ss_size = bytes;
  context->own.uc_link = nullptr;
  makecontext(&context->own, first, 0);
#endif
}

void Fiber::resume() {
  starting = context.get();
  context->switchIn();
}

void Fiber::suspend() { context->switchOut(); }

bool Fiber::isDone() const { return context->isDone; }

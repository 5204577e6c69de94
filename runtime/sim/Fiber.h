//===- Fiber.h - Threads that take turns ------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_SIM_FIBER_H
#define ECHO_RUNTIME_SIM_FIBER_H

#include <cstddef>
#include <memory>

namespace echo::sim {

/// The stacks of some fibers, with a page in front of each that can't be
/// touched.
class FiberStacks {
public:
  /// Throws std::bad_alloc if there is no memory.
  FiberStacks(size_t count, size_t bytes);
  ~FiberStacks();
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;

  size_t size() const { return count; }
  size_t bytes() const { return stackBytes; }
  char *bottom(size_t index) const { return memory + index * stride + page; }

private:
  size_t count, stackBytes, page, stride;
  char *memory;
};

/// A function that can stop in the middle and go on later, on a stack of its
/// own. It may be left in the middle for good: nothing on its stack is
/// destroyed then.
class Fiber {
public:
  Fiber();
  ~Fiber();
  Fiber(Fiber &&) noexcept;

  /// Makes the next resume() call `function(argument)` on this stack.
  void start(char *stack, size_t bytes, void (*function)(void *),
             void *argument);
  /// Runs it until it suspends itself or returns; not from inside a fiber.
  void resume();
  /// From inside: goes back to resume().
  void suspend();
  bool isDone() const;

private:
  struct Context;
  static void run(Context *context);
  std::unique_ptr<Context> context;
};

} // namespace echo::sim

#endif // ECHO_RUNTIME_SIM_FIBER_H

//===- Simulator.h - GPU kernels on the CPU ---------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a kernel thread by thread and reports what would be undefined on a GPU.
// Threads of a block take turns at barriers, shuffles and votes; blocks run one
// after the other, so that shared variables are plain globals. For tests: one
// run in forward and one in reverse order of threads and blocks show what
// depends on the order, and poisoned shared memory what was never written.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_SIM_SIMULATOR_H
#define ECHO_RUNTIME_SIM_SIMULATOR_H

#include "sim/Traffic.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace echo::sim {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// Memory that a kernel may touch.
struct Buffer {
  void *data = nullptr;
  size_t bytes = 0;
  bool isReadOnly = false;
};

/// What to run. Calls of launch() keep nothing of it.
struct Launch {
  std::string kernel; ///< for reports
  void (*function)(void **arguments) = nullptr;
  /// The address of each argument.
  void **arguments = nullptr;
  Dim3 grid, block;
  std::vector<Buffer> buffers;
  /// Shared variables: filled with ones (NaN as floats) for every block.
  std::vector<Buffer> shared;
};

struct LaunchOptions {
  bool isReverse = false; ///< order of threads and blocks
  /// Looks for races between the accesses that a kernel announces.
  bool findsRaces = true;
  bool countsTraffic = false; ///< LaunchResult::traffic
  /// More faults than this are only counted.
  size_t maxFaults = 8;
  size_t stackBytes = 128 << 10; ///< of a thread
};

enum class FaultKind {
  InvalidLaunch,    ///< no device takes this grid or block
  OutOfBounds,      ///< an access outside all buffers and shared variables
  Misaligned,       ///< an access at no multiple of its alignment
  ReadOnly,         ///< a write to a buffer that is only read
  Race,             ///< accesses of two threads with no barrier between them
  DivergentBarrier, ///< not all threads of the block come to the same barrier
  DivergentWarp,    ///< not all lanes of a mask come to the same operation
  InvalidLane,      ///< a shuffle's value of a lane outside the mask
  Trap
};
std::string_view describe(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::Trap;
  std::string kernel;
  Dim3 block, thread; ///< indices
  std::string text;   ///< what happened
};
/// "kernel 'k', block (0, 0, 0), thread (1, 0, 0): race: ..."
std::string describe(const Fault &fault);

struct LaunchResult {
  std::vector<Fault> faults;
  size_t numMoreFaults = 0;
  Traffic traffic;
  bool isOk() const { return faults.empty(); }
};

/// Runs a kernel to its end, or to a fault that it can't go on behind: all but
/// races. The calling thread runs one launch at a time.
LaunchResult launch(const Launch &launch, const LaunchOptions &options = {});

} // namespace echo::sim

#endif // ECHO_RUNTIME_SIM_SIMULATOR_H

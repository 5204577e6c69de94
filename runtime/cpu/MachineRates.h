//===- MachineRates.h - What a machine reaches ------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CPU_MACHINERATES_H
#define ECHO_RUNTIME_CPU_MACHINERATES_H

namespace echo {

/// The best that a pool of threads reached.
struct MachineRates {
  double memoryBytesPerSecond = 0; ///< copying what no cache holds
  double cacheBytesPerSecond = 0;  ///< copying what a core's cache holds
  double gemmFlopsPerSecond = 0;   ///< f32, square matrices
};

/// Measures for some tenths of a second. Throws Error.
MachineRates measureMachine(int threads);

} // namespace echo

#endif // ECHO_RUNTIME_CPU_MACHINERATES_H

//===- Gemm.h - Matrix products through OpenBLAS ----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CPU_GEMM_H
#define ECHO_RUNTIME_CPU_GEMM_H

#include "Program.h"

namespace echo {

class ThreadPool;

struct GemmOperands {
  const void *a, *b;
  const void *bias; ///< null: none
  void *c;
};

/// Puts OpenBLAS to one thread per call, for the whole process: the pool calls
/// it from several threads instead, so that two pools never compete.
void claimOpenBLAS();

/// Runs a checked GEMM (Program::verify). The result is cut into
/// tiles by shape and type alone, each one a call of OpenBLAS on one thread:
/// the bits don't depend on the number of threads. f16 and bf16 are summed in
/// f32 and rounded once.
void runGemm(ThreadPool &pool, const GemmParameters &gemm,
             const GemmOperands &operands);

} // namespace echo

#endif // ECHO_RUNTIME_CPU_GEMM_H

//===- FusionTraffic.h - What kernels write to memory -----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_PLANNING_FUSIONTRAFFIC_H
#define ECHO_LIB_PLANNING_FUSIONTRAFFIC_H

#include "Echo/Planning/Fusion.h"

namespace mlir::echo::planning {

/// By value: whether a kernel writes it to memory, since something outside the
/// kernel reads it, or nothing at all does.
std::vector<bool> valuesWrittenByKernels(const FusionProblem &problem,
                                         const FusionPlan &plan);

} // namespace mlir::echo::planning

#endif // ECHO_LIB_PLANNING_FUSIONTRAFFIC_H

//===- RematEncodings.h - Feature maps as bits ------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_ANALYSIS_REMATENCODINGS_H
#define ECHO_LIB_ANALYSIS_REMATENCODINGS_H

#include "Echo/Analysis/RematGraph.h"

namespace mlir::echo {

/// Sets the bytes of the bits that the late readers of each value could work
/// with: all of them read flags, or ask whether an element is positive.
void findEncodings(planning::RematProblem &problem, ArrayRef<Operation *> ops,
                   ArrayRef<Value> values);

/// Packs what a plan encodes behind the ops that make and read it next, and
/// unpacks it for each op that reads it in the backward part. What asked for bits alone is erased.
void applyEncodings(const RematGraph &graph, const planning::RematPlan &plan);

} // namespace mlir::echo

#endif // ECHO_LIB_ANALYSIS_REMATENCODINGS_H

//===- ProblemPlan.h - Planning a problem in JSON ---------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_ECHOPLAN_PROBLEMPLAN_H
#define ECHO_TOOLS_ECHOPLAN_PROBLEMPLAN_H

#include "Echo/Planning/Cost.h"
#include "Echo/Transforms/Remat.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace mlir::echo::plan {

struct ProblemOptions {
  std::string problem;  ///< file, or "-"
  RematOptions remat;   ///< a strategy that there is, or a plan
  std::string savePlan; ///< file for the plan; empty: none
  std::string report;   ///< file for the numbers; empty: none
  bool compare = false; ///< all strategies instead of `remat`
  bool quiet = false;
};

/// Plans a problem (docs/remat.md) and prints what its step needs then. Returns
/// what is wrong, a line, or "".
std::string planProblem(const ProblemOptions &options,
                        const planning::CostModel &model,
                        llvm::raw_ostream &os);

} // namespace mlir::echo::plan

#endif // ECHO_TOOLS_ECHOPLAN_PROBLEMPLAN_H

//===- Report.h - Reports of plans ------------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_ECHOPLAN_REPORT_H
#define ECHO_TOOLS_ECHOPLAN_REPORT_H

#include "StepPlan.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::echo::plan {

/// What one layer has in memory at the peak.
struct LayerMemory {
  std::string name;
  StructureBytes bytes;
  uint64_t featureMaps = 0; ///< across the end of the forward part
};

/// The layers, largest at the peak first; `depth` as for layerGroup.
std::vector<LayerMemory> groupByLayer(const StepMemory &memory, unsigned depth);

/// Tables for a reader. `baseline` is the plan of strategy none.
void printTables(const StepPlan &plan, const StepPlan &baseline,
                 const planning::CostModel &model, unsigned depth,
                 llvm::raw_ostream &os);

/// The report as JSON; docs/plan.md has its fields.
std::string makeJson(const StepPlan &plan, const StepPlan &baseline,
                     unsigned depth);

/// A table of strategies, the first of which is none.
void printComparison(ArrayRef<StepPlan> plans, llvm::raw_ostream &os);

/// The reports of all of them as JSON, and whether each would be applied.
std::string makeComparisonJson(ArrayRef<StepPlan> plans, unsigned depth);

} // namespace mlir::echo::plan

#endif // ECHO_TOOLS_ECHOPLAN_REPORT_H

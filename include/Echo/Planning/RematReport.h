//===- RematReport.h - What a plan of rematerialization saves ---*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_PLANNING_REMATREPORT_H
#define ECHO_PLANNING_REMATREPORT_H

#include "Echo/Planning/Cost.h"
#include "Echo/Planning/Remat.h"

namespace mlir::echo::planning {

/// What a step needs under a plan, and without one.
struct RematReport {
  std::string strategy;
  uint64_t forwardOps = 0, backwardOps = 0, sideOps = 0;
  uint64_t persistentBytes = 0; ///< of residents
  RematFigures figures, baseline;
  /// Modelled for the device.
  double stepSeconds = 0, baselineSeconds = 0;
  double planningSeconds = 0;

  /// Nothing is placed in an arena: the peak counts.
  uint64_t totalBytes() const { return persistentBytes + figures.peakBytes; }
  uint64_t baselineBytes() const {
    return persistentBytes + baseline.peakBytes;
  }
  /// Added time, as a share of the step's.
  double overhead() const {
    return baselineSeconds > 0 ? stepSeconds / baselineSeconds - 1 : 0;
  }
  /// Whether a pass would keep to the plan: it lowers the peak.
  bool isApplied() const { return figures.peakBytes < baseline.peakBytes; }
};

RematReport reportRemat(const RematProblem &problem, const RematPlan &plan,
                        std::string_view strategy, const Device &device,
                        double planningSeconds);

/// As JSON, in the shape that docs/plan.md has.
std::string writeRematReport(const RematReport &report);
/// Of several strategies: {"strategies": [...]}.
std::string writeRematReports(const std::vector<RematReport> &reports);

} // namespace mlir::echo::planning

#endif // ECHO_PLANNING_REMATREPORT_H

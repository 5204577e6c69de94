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

/// A step under a plan with ops and clones that have a fusion shape in kernels,
/// as Planning/Fusion forms them; other ops take the `seconds` that they say.
struct RematKernels {
  double seconds = 0; ///< of the step on the device
  uint64_t bytes = 0; ///< that kernels read and write
  /// Clones that all of their readers share a kernel with: what they compute
  /// is never in memory. Views aren't counted.
  uint64_t clonesWithReaders = 0;
};
RematKernels modelKernels(const RematProblem &problem, const RematPlan &plan,
                          const Device &device);

/// What a step needs under a plan, and without one.
struct RematReport {
  std::string strategy;
  uint64_t forwardOps = 0, backwardOps = 0, sideOps = 0;
  uint64_t persistentBytes = 0; ///< of residents
  RematFigures figures, baseline;
  RematKernels kernels, baselineKernels; ///< on the device
  double planningSeconds = 0;

  /// Nothing is placed in an arena: the peak counts.
  uint64_t totalBytes() const { return persistentBytes + figures.peakBytes; }
  uint64_t baselineBytes() const {
    return persistentBytes + baseline.peakBytes;
  }
  /// Added time, as a share of the step's.
  double overhead() const {
    return baselineKernels.seconds > 0
               ? kernels.seconds / baselineKernels.seconds - 1
               : 0;
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

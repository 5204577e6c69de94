//===- RematReport.cpp - What a plan of rematerialization saves -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/RematReport.h"
#include "Json.h"

using namespace mlir::echo::planning;

RematReport mlir::echo::planning::reportRemat(const RematProblem &problem,
                                              const RematPlan &plan,
                                              std::string_view strategy,
                                              const Device &device,
                                              double planningSeconds) {
  RematReport report;
  report.strategy = strategy;
  for (const RematOp &op : problem.ops) {
    report.forwardOps += op.part == RematPart::Forward;
    report.backwardOps += op.part == RematPart::Backward;
    report.sideOps += op.part == RematPart::Side;
  }
  // What an op makes takes the memory of one that is there from the start.
  std::vector<bool> isMade(problem.values.size(), false);
  for (const RematOp &op : problem.ops)
    for (uint32_t value : op.results)
      isMade[value] = true;
  for (uint32_t value = 0; value < problem.values.size(); ++value)
    if (problem.values[value].isResident && !isMade[value])
      report.persistentBytes += problem.values[value].bytes;
  RematComparison figures = compareRemat(problem, plan);
  report.figures = figures.after;
  report.baseline = figures.before;
  report.kernels = modelKernels(problem, plan, device);
  report.baselineKernels = modelKernels(problem, RematPlan(), device);
  report.planningSeconds = planningSeconds;
  return report;
}

static Json toJson(const RematReport &report) {
  Json json;
  json["strategy"] = report.strategy;
  json["bytes"] = {{"persistent", report.persistentBytes},
                   {"feature_maps", report.figures.featureMapBytes},
                   {"logical_peak", report.figures.peakBytes},
                   {"total", report.totalBytes()}};
  json["ops"] = {{"forward", report.forwardOps},
                 {"backward", report.backwardOps},
                 {"side", report.sideOps},
                 {"recomputed", report.figures.recomputedOps},
                 {"unwritten", report.kernels.clonesWithReaders}};
  json["time"] = {{"modelled", report.kernels.seconds},
                  {"baseline", report.baselineKernels.seconds}};
  json["overhead"] = {{"modelled", report.overhead()}};
  json["seconds"] = {{"remat", report.planningSeconds}};
  json["applied"] = report.isApplied();
  return json;
}

static std::string dump(const Json &json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string mlir::echo::planning::writeRematReport(const RematReport &report) {
  return dump(toJson(report));
}

std::string mlir::echo::planning::writeRematReports(
    const std::vector<RematReport> &reports) {
  Json json;
  json["strategies"] = Json::array();
  for (const RematReport &report : reports)
    json["strategies"].push_back(toJson(report));
  return dump(json);
}

//===- ProblemPlan.cpp - Planning a problem in JSON -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProblemPlan.h"
#include "Echo/Planning/RematReport.h"
#include "OutputFile.h"
#include "Table.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>

using namespace mlir::echo;
using namespace mlir::echo::planning;

/// Feature maps that are listed.
static constexpr size_t kLargestFeatureMaps = 10;

static std::string percent(double share) {
  return llvm::formatv("{0:F2}%", 100 * share).str();
}

static RematReport planWith(const RematProblem &problem,
                            std::string_view strategy, const Device &device,
                            RematPlan &plan) {
  auto start = std::chrono::steady_clock::now();
  planRemat(problem, strategy, plan);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  return reportRemat(problem, plan, strategy, device, seconds.count());
}

static void printFeatureMaps(const RematProblem &problem, const RematPlan &plan,
                             llvm::raw_ostream &os) {
  llvm::SmallVector<const RematDecision *> decisions;
  for (const RematDecision &decision : plan.decisions)
    if (!problem.values[decision.value].isResident)
      decisions.push_back(&decision);
  auto order = [&](const RematDecision *decision) {
    return std::make_pair(~problem.values[decision->value].bytes,
                          decision->value);
  };
  llvm::sort(decisions, [&](const RematDecision *a, const RematDecision *b) {
    return order(a) < order(b);
  });
  if (decisions.size() > kLargestFeatureMaps)
    decisions.resize(kLargestFeatureMaps);
  if (decisions.empty())
    return;
  os << "\nlargest feature maps\n";
  plan::Table table;
  for (const RematDecision *decision : decisions) {
    std::string name;
    if (decision->value < problem.valueNames.size())
      name = problem.valueNames[decision->value];
    if (name.empty())
      name = "value " + std::to_string(decision->value);
    table.add({name, plan::showBytes(problem.values[decision->value].bytes),
               std::string(describe(decision->reason))});
  }
  table.print(os);
}

static void printPlan(const plan::ProblemOptions &options, const Device &device,
                      const RematProblem &problem, const RematPlan &plan,
                      const RematReport &report, llvm::raw_ostream &os) {
  os << options.problem << ", strategy " << report.strategy << ": "
     << report.forwardOps << " forward ops, " << report.backwardOps
     << " backward, " << report.sideOps << " side, "
     << report.figures.recomputedOps << " recomputed"
     << plan::describeUnwritten(report.figures.recomputedOps,
                                report.kernels.clonesWithReaders)
     << "\n\nmemory\n";
  plan::Table table;
  table.add({"", "with the plan", "without"});
  auto addRow = [&](const char *name, uint64_t with, uint64_t without) {
    table.add({name, plan::showBytes(with), plan::showBytes(without)});
  };
  addRow("persistent", report.persistentBytes, report.persistentBytes);
  addRow("logical peak", report.figures.peakBytes, report.baseline.peakBytes);
  addRow("total", report.totalBytes(), report.baselineBytes());
  addRow("feature maps", report.figures.featureMapBytes,
         report.baseline.featureMapBytes);
  table.print(os);
  printFeatureMaps(problem, plan, os);
  os << "\ntime of a step, modelled for " << device.name << ": "
     << plan::showSeconds(report.kernels.seconds)
     << "\noverhead: " << percent(report.overhead()) << "\nplanned in "
     << plan::showSeconds(report.planningSeconds) << "\n";
}

static void printComparison(const std::string &name,
                            const std::vector<RematReport> &reports,
                            llvm::raw_ostream &os) {
  const RematReport &none = reports.front();
  os << name << ": " << none.forwardOps << " forward ops, " << none.backwardOps
     << " backward, " << none.sideOps << " side\n\n";
  plan::Table table;
  table.add({"strategy", "total", "of none", "feature maps", "logical peak",
             "recomputed", "unwritten", "overhead", "planned in", "applied"});
  for (const RematReport &report : reports) {
    double ratio = report.baselineBytes() == 0
                       ? 1
                       : static_cast<double>(report.totalBytes()) /
                             static_cast<double>(report.baselineBytes());
    table.add({report.strategy, plan::showBytes(report.totalBytes()),
               llvm::formatv("{0:F3}", ratio).str(),
               plan::showBytes(report.figures.featureMapBytes),
               plan::showBytes(report.figures.peakBytes),
               std::to_string(report.figures.recomputedOps),
               std::to_string(report.kernels.clonesWithReaders),
               percent(report.overhead()),
               plan::showSeconds(report.planningSeconds),
               report.strategy == "none" ? "-"
               : report.isApplied()      ? "yes"
                                         : "no"});
  }
  table.print(os);
}

std::string plan::planProblem(const ProblemOptions &options,
                              const CostModel &model, llvm::raw_ostream &os) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file =
      openInputFile(options.problem, &error);
  if (!file)
    return error;
  RematProblem problem;
  if (!readRematProblem(file->getBuffer(), problem, error))
    return options.problem + ": " + error;
  file.reset();

  RematPlan plan;
  std::vector<RematReport> reports;
  if (options.compare)
    for (const RematStrategy &strategy : rematStrategies())
      reports.push_back(planWith(problem, strategy.name, model.device, plan));
  else if (!options.remat.plan)
    reports.push_back(
        planWith(problem, options.remat.strategy, model.device, plan));
  else if (readRematPlan(options.remat.plan->json, problem, plan, error))
    reports.push_back(reportRemat(problem, plan, "saved", model.device,
                                  /*planningSeconds=*/0));
  else
    return options.remat.plan->name + ": " + error;
  if (!options.quiet) {
    if (options.compare)
      printComparison(options.problem, reports, os);
    else
      printPlan(options, model.device, problem, plan, reports.front(), os);
  }
  if (!options.savePlan.empty())
    error =
        ::echo::writeOutput(options.savePlan, writeRematPlan(problem, plan));
  if (error.empty() && !options.report.empty())
    error = ::echo::writeOutput(
        options.report, options.compare ? writeRematReports(reports)
                                        : writeRematReport(reports.front()));
  return error;
}

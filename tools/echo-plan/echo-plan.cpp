//===- echo-plan.cpp - What a training step needs -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../LibraryOptions.h"
#include "../StrategyOption.h"
#include "Echo/Analysis/CallCosts.h"
#include "Echo/InitAll.h"
#include "OutputFile.h"
#include "ProblemPlan.h"
#include "Report.h"
#include "StepPlan.h"
#include "mlir/IR/AsmState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>

using namespace mlir;
using namespace mlir::echo;
namespace cl = llvm::cl;

namespace {

struct CommandLine {
  std::string deviceText =
      "Device to model the time of: " + planning::builtinDeviceNames() +
      ", a device in JSON, or the report of a profiled run (default: cpu)";

  cl::OptionCategory category{"echo-plan options"};
  cl::opt<std::string> input{cl::Positional, cl::desc("<model.mlir, or ->"),
                             cl::init("-"), cl::cat(category)};
  cl::opt<std::string> entry{
      "entry",
      cl::desc("Function to plan: a forward function with a loss or a training "
               "step; default: the only public one"),
      cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> optimizer{
      "optimizer",
      cl::desc("Build the gradient of a forward function and add a weight "
               "update: sgd, momentum or adam, options of --echo-optimizer "
               "after commas (adam,beta1=0.8,clip-norm=1)"),
      cl::value_desc("optimizer"), cl::cat(category)};
  StrategyOption strategy{category};
  cl::opt<bool> compare{
      "compare",
      cl::desc("Print a table of all strategies: each one's plan as it is, and "
               "whether it would be applied"),
      cl::cat(category)};
  cl::opt<std::string> problem{
      "problem",
      cl::desc("Plan a problem in JSON instead of a model (docs/remat.md)"),
      cl::value_desc("file.json, or -"), cl::cat(category)};
  cl::opt<std::string> saveProblem{
      "save-problem",
      cl::desc("Write the problem that the model's step is there as JSON"),
      cl::value_desc("file.json"), cl::cat(category)};
  cl::opt<std::string> savePlan{
      "save-plan", cl::desc("Write the plan there as JSON, for --plan"),
      cl::value_desc("file.json"), cl::cat(category)};
  cl::opt<std::string> device{"device", cl::desc(deviceText),
                              cl::value_desc("name or file.json"),
                              cl::init("cpu"), cl::cat(category)};
  cl::opt<std::string> report{
      "report", cl::desc("Write the numbers there as JSON (docs/plan.md)"),
      cl::value_desc("file.json"), cl::cat(category)};
  cl::opt<bool> quiet{"quiet", cl::desc("Print errors alone"),
                      cl::cat(category)};
  cl::opt<unsigned> layerDepth{
      "layer-depth",
      cl::desc("Components of layer names that the report tells apart "
               "(default: 2; 0: all)"),
      cl::value_desc("number"), cl::init(2), cl::cat(category)};
  cl::opt<int64_t> alignment{
      "alignment",
      cl::desc("Alignment of buffers in the arena in bytes (default: 64)"),
      cl::value_desc("bytes"), cl::init(64), cl::cat(category)};
};

} // namespace

static int fail(const Twine &message) {
  llvm::errs() << "echo-plan: error: " << message << "\n";
  return 1;
}

/// Writes a file that somebody asked for. Returns false after an error.
static bool writeFile(const std::string &path, StringRef json) {
  if (path.empty())
    return true;
  std::string error = ::echo::writeOutput(path, json);
  if (!error.empty())
    fail(error);
  return error.empty();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  forgetLibraryOptions();
  CommandLine options;
  cl::ParseCommandLineOptions(
      argc, argv,
      "Tells the memory that a training step needs, without running it\n");
  if (std::string error = options.strategy.check(); !error.empty())
    return fail(error);
  if (options.compare && options.strategy.isGiven())
    return fail("--compare shows all strategies: --" +
                Twine(options.strategy.hasPlan() ? "plan" : "strategy") +
                " has no meaning");
  RematOptions remat;
  if (!options.strategy.get().empty())
    remat.strategy = options.strategy.get();
  if (std::string error = options.strategy.readPlan(remat.plan);
      !error.empty())
    return fail(error);
  planning::CostModel model;
  if (failed(loadCostModel(options.device, model, [](const Twine &message) {
        fail("--" + message);
        return failure();
      })))
    return 1;

  if (options.compare && !options.savePlan.empty())
    return fail("--compare makes several plans: --save-plan has no meaning");
  if (!options.problem.empty()) {
    if (options.input.getNumOccurrences() != 0)
      return fail("--problem takes the place of a model, found " +
                  options.input);
    if (!options.saveProblem.empty())
      return fail("--save-problem saves the problem of a model, found "
                  "--problem=" +
                  options.problem);
    plan::ProblemOptions problemOptions;
    problemOptions.problem = options.problem;
    problemOptions.remat = std::move(remat);
    problemOptions.savePlan = options.savePlan;
    problemOptions.report = options.report;
    problemOptions.compare = options.compare;
    problemOptions.quiet = options.quiet;
    std::string error =
        plan::planProblem(problemOptions, model, llvm::outs());
    return error.empty() ? 0 : fail(error);
  }

  auto start = std::chrono::steady_clock::now();
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::echo::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // An error is its text and its place, not the whole graph.
  context.printOpOnDiagnostic(false);
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file =
      openInputFile(options.input, &error);
  if (!file)
    return fail(error);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;
  if (isa<UnknownLoc>(module->getLoc()))
    module->getOperation()->setLoc(
        FileLineColLoc::get(&context, options.input, 1, 1));
  std::chrono::duration<double> readSeconds =
      std::chrono::steady_clock::now() - start;

  plan::StepOptions stepOptions;
  stepOptions.entry = options.entry;
  stepOptions.optimizer = options.optimizer;
  stepOptions.alignment = options.alignment;
  FailureOr<plan::TrainingStep> step =
      plan::makeTrainingStep(*module, stepOptions);
  if (failed(step))
    return 1;
  // Host programs, which the plans refer to.
  std::vector<OwningOpRef<ModuleOp>> programs;
  std::vector<plan::StepPlan> plans;
  std::vector<RematOptions> choices(1);
  choices.front().strategy = "none";
  if (options.compare)
    for (const planning::RematStrategy &strategy : planning::rematStrategies()) {
      if (strategy.name != "none")
        choices.emplace_back().strategy = strategy.name;
    }
  else if (options.strategy.get() != "none")
    choices.push_back(remat);
  for (const RematOptions &choice : choices) {
    FailureOr<plan::StepPlan> stepPlan = plan::planStep(
        *module, *step, stepOptions, choice, model, programs.emplace_back());
    if (failed(stepPlan))
      return 1;
    stepPlan->seconds.read = readSeconds.count();
    plans.push_back(std::move(*stepPlan));
  }
  const plan::StepPlan &baseline = plans.front();
  // What the other tools do: a plan that needs no less memory isn't applied.
  plan::StepPlan chosen = plans.back();
  if (plans.back().arenaBytes >= baseline.arenaBytes)
    chosen = plan::withoutPlan(baseline, plans.back());
  if (!options.quiet) {
    if (options.compare)
      plan::printComparison(plans, llvm::outs());
    else
      plan::printTables(chosen, baseline, model, options.layerDepth,
                        llvm::outs());
  }
  if (!options.saveProblem.empty() || !options.savePlan.empty()) {
    FailureOr<plan::StepTexts> texts =
        plan::writeStep(*module, *step, remat, model);
    if (failed(texts) ||
        !writeFile(options.saveProblem, texts->problem) ||
        !writeFile(options.savePlan, texts->plan))
      return 1;
  }
  if (options.report.empty())
    return 0;
  std::string json =
      options.compare
          ? plan::makeComparisonJson(plans, options.layerDepth)
          : plan::makeJson(chosen, baseline, options.layerDepth);
  return writeFile(options.report, json) ? 0 : 1;
}

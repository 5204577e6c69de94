//===- echo-plan.cpp - What a training step needs -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../LibraryOptions.h"
#include "Echo/InitAll.h"
#include "OutputFile.h"
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

static std::string strategyHelp() {
  std::string text = "How to make the step smaller (default: none):";
  for (const plan::Strategy &strategy : plan::strategies())
    text += ("\n  " + strategy.name + ": " + strategy.summary).str();
  return text;
}

namespace {

struct CommandLine {
  std::string strategyText = strategyHelp();
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
  cl::opt<std::string> strategy{"strategy", cl::desc(strategyText),
                                cl::value_desc("name"), cl::init("none"),
                                cl::cat(category)};
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

/// A built-in device, or what a file describes. Returns false after an error.
static bool loadDevice(StringRef name, planning::CostModel &model) {
  if (const planning::Device *device =
          planning::findDevice(std::string_view(name.data(), name.size()))) {
    model.device = *device;
    return true;
  }
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(name, &error);
  if (!file) {
    fail("--device=" + name + ": expected " + planning::builtinDeviceNames() +
         ", or a JSON file (" + error + ")");
    return false;
  }
  StringRef text = file->getBuffer();
  if (planning::readCostModel(std::string_view(text.data(), text.size()), model,
                              error))
    return true;
  fail("--device=" + name + ": " + error);
  return false;
}

static bool writeReport(StringRef path, StringRef json) {
  std::string error = ::echo::writeOutput(path.str(), json);
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
  const plan::Strategy *strategy = plan::findStrategy(options.strategy);
  if (!strategy) {
    auto names =
        llvm::map_range(plan::strategies(),
                        [](const plan::Strategy &known) { return known.name; });
    return fail("--strategy=" + options.strategy + ": expected " +
                llvm::join(names, ", "));
  }
  planning::CostModel model;
  if (!loadDevice(options.device, model))
    return 1;

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
  FailureOr<plan::StepPlan> stepPlan =
      plan::planStep(*module, stepOptions, *strategy, model);
  if (failed(stepPlan))
    return 1;
  stepPlan->seconds.read = readSeconds.count();
  if (!options.quiet)
    plan::printTables(*stepPlan, *stepPlan, model, options.layerDepth,
                      llvm::outs());
  if (!options.report.empty() &&
      !writeReport(options.report,
                   plan::makeJson(*stepPlan, *stepPlan, options.layerDepth)))
    return 1;
  return 0;
}

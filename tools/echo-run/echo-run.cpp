//===- echo-run.cpp - Runs training steps ---------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../CacheOptions.h"
#include "../Diagnostics.h"
#include "../LibraryOptions.h"
#include "../StandardStreams.h"
#include "../StrategyOption.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/InitAll.h"
#include "Echo/Pipelines/Pipelines.h"
#include "Echo/Target/Artifact.h"
#include "Echo/Transforms/Bufferize.h"
#include "Echo/Transforms/Passes.h"
#include "Training.h"
#include "common/Error.h"
#include "common/Files.h"
#include "echo_runtime.hpp"
#include "mlir/IR/AsmState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/WithColor.h"

#include <chrono>
#include <new>

using namespace echo;
using namespace echo::run;
namespace cl = llvm::cl;

namespace {

enum class Target { CPU, Interpreter, Sim, CUDA };
enum class Precision { Exact, F64 };

/// A device in place of a target is told from a name that means nothing.
struct TargetParser : cl::parser<Target> {
  using cl::parser<Target>::parser;
  bool parse(cl::Option &option, llvm::StringRef name, llvm::StringRef argument,
             Target &value) {
    if (argument.starts_with("cuda:"))
      return option.error("'" + argument + "' is a device; expected " +
                          "--target=cuda --device=" + argument);
    return cl::parser<Target>::parse(option, name, argument, value);
  }
};

struct Options {
  Options() : cache(category) {}

  cl::OptionCategory category{"echo-run options"};
  cl::opt<std::string> model{
      cl::Positional, cl::Required, cl::cat(category),
      cl::desc("<model.mlir or step.so, or - for MLIR>")};
  cl::opt<std::string> entry{
      "entry", cl::cat(category), cl::value_desc("function"),
      cl::desc("Function to run; default: the only public one")};
  cl::opt<Target, /*ExternalStorage=*/false, TargetParser> target{
      "target", cl::cat(category), cl::init(Target::CPU),
      cl::desc("What runs it:"),
      cl::values(
          clEnumValN(Target::CPU, "cpu", "compiled for this machine (default)"),
          clEnumValN(Target::Interpreter, "interpreter",
                     "the reference interpreter, op by op"),
          clEnumValN(Target::Sim, "sim",
                     "compiled for a GPU that is simulated on the CPU"),
          clEnumValN(Target::CUDA, "cuda", "compiled for NVIDIA GPUs"))};
  cl::list<std::string> chips{
      "chip", cl::CommaSeparated, cl::cat(category), cl::value_desc("names"),
      cl::desc("Chips of the target cuda, as sm_90 (default: sm_75)")};
  cl::opt<std::string> device{
      "device", cl::cat(category), cl::value_desc("cpu|sim|cuda[:N]"),
      cl::desc("Device that runs a compiled step (default: what it was "
               "compiled for)")};
  cl::opt<bool> allowTF32{
      "allow-tf32", cl::cat(category), cl::init(false),
      cl::desc("Let products of f32 on cuda round their operands to TF32")};
  cl::opt<bool> noGraph{
      "no-graph", cl::cat(category), cl::init(false),
      cl::desc("Issue every call of every step on cuda anew, instead of a CUDA "
               "graph of them")};
  cl::opt<Precision> precision{
      "precision", cl::cat(category), cl::init(Precision::Exact),
      cl::desc("How the interpreter computes:"),
      cl::values(clEnumValN(Precision::Exact, "exact",
                            "in the declared types (default)"),
                 clEnumValN(Precision::F64, "f64", "every float in f64"))};
  mlir::echo::StrategyOption strategy{category};
  cl::opt<std::string> optimizer{
      "optimizer", cl::cat(category), cl::value_desc("kind[,option=value...]"),
      cl::desc("Make a training step of a forward graph: sgd, momentum or "
               "adam, with options of echo-optimizer")};
  cl::opt<uint64_t> steps{"steps", cl::cat(category), cl::init(1),
                          cl::value_desc("N"),
                          cl::desc("Steps to run (default: 1)")};
  cl::list<std::string> inputs{
      "input", cl::cat(category), cl::value_desc("name=file.npy"),
      cl::desc("Value of an argument; may be repeated. What isn't given is "
               "drawn from the seed")};
  cl::list<std::string> scalars{
      "set", cl::cat(category), cl::value_desc("name=value"),
      cl::desc("Value of an argument of one element; may be repeated")};
  cl::opt<uint64_t> seed{
      "seed", cl::cat(category), cl::init(0), cl::value_desc("S"),
      cl::desc("Seed of everything that is drawn (default: 0)")};
  cl::opt<unsigned> threads{
      "threads", cl::cat(category), cl::init(0), cl::value_desc("N"),
      cl::desc("Threads of the cpu target (default: all cores)")};
  cl::opt<std::string> output{
      "output", cl::cat(category), cl::value_desc("folder"),
      cl::desc("Write each result as .npy, and checkpoint.npz, there")};
  cl::opt<std::string> checkpoint{
      "checkpoint", cl::cat(category), cl::value_desc("file.npz"),
      cl::desc("Write parameters and state there at the end")};
  cl::opt<uint64_t> checkpointEvery{
      "checkpoint-every", cl::cat(category), cl::init(0), cl::value_desc("N"),
      cl::desc("Write the checkpoint after every Nth step too")};
  cl::opt<std::string> resume{
      "resume", cl::cat(category), cl::value_desc("file.npz"),
      cl::desc("Go on from a checkpoint: its parameters and state, and its "
               "count of steps")};
  cl::opt<std::string> report{"report", cl::cat(category),
                              cl::value_desc("file.json"),
                              cl::desc("Write losses, times and memory there")};
  cl::opt<std::string> profile{
      "profile", cl::cat(category), cl::ValueOptional,
      cl::value_desc("trace.json"),
      cl::desc("Print where the time goes: per kernel and library call, by "
               "kind and layer, beside what the machine reaches; with a file, "
               "write the last step there as a Chrome trace")};
  mlir::echo::CacheOptions cache;
  cl::opt<bool> quiet{"quiet", cl::cat(category), cl::init(false),
                      cl::desc("Print errors alone")};
};

/// A file for the compiled step that is removed with it, or by a signal that
/// ends the process.
class TemporaryFile {
public:
  TemporaryFile() {
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("echo-run", "so", path))
      throw Error(ECHO_IO_ERROR,
                  "can't make a temporary file: " + code.message());
    llvm::sys::RemoveFileOnSignal(path);
  }
  ~TemporaryFile() {
    llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  }
  std::string name() const { return path.str().str(); }

private:
  llvm::SmallString<128> path;
};

bool isSharedObject(llvm::StringRef content) {
  return content.starts_with("\x7f"
                             "ELF");
}

mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::echo::registerAllDialects(registry);
  return registry;
}

/// A module with its context; diagnostics are printed with their source line.
class Model {
public:
  /// `content`, of the file `path`, outlives it.
  Model(llvm::StringRef content, const std::string &path)
      : context(makeRegistry()) {
    // An error is its text and its place, not the whole graph.
    context.printOpOnDiagnostic(false);
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(content, path),
                               llvm::SMLoc());
    handler = std::make_unique<mlir::echo::ToolDiagnosticHandler>(
        sources, &context, path);
    module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
    if (!module)
      throw Diagnosed();
    if (mlir::isa<mlir::UnknownLoc>(module->getLoc()))
      module->getOperation()->setLoc(
          mlir::FileLineColLoc::get(&context, path, 1, 1));
  }

  mlir::ModuleOp get() { return *module; }
  mlir::MLIRContext *getContext() { return &context; }

private:
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  std::unique_ptr<mlir::echo::ToolDiagnosticHandler> handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Times phases of getting a step ready.
class Phases {
public:
  explicit Phases(TrainingOptions &training)
      : training(training), start(Clock::now()) {}

  /// The time since the last call, or the beginning, was `name`'s.
  void add(const char *name) {
    Clock::time_point now = Clock::now();
    training.phases.emplace_back(
        name, std::chrono::duration<double>(now - start).count());
    start = now;
  }
  void add(const std::vector<mlir::echo::PhaseTime> &parts) {
    for (const mlir::echo::PhaseTime &part : parts)
      training.phases.emplace_back(part.name, part.seconds);
    start = Clock::now();
  }

private:
  using Clock = std::chrono::steady_clock;
  TrainingOptions &training;
  Clock::time_point start;
};

const char *targetName(Target target) {
  switch (target) {
  case Target::CPU:
    return "cpu";
  case Target::Interpreter:
    return "interpreter";
  case Target::Sim:
    return "sim";
  case Target::CUDA:
    return "cuda";
  }
  return "unknown";
}

echo_session_options sessionOptions(const Options &options) {
  echo_session_options session{};
  session.threads = static_cast<int32_t>(options.threads);
  session.device = options.device.c_str();
  session.allow_tf32 = options.allowTF32;
  session.without_graph = options.noGraph;
  return session;
}

/// The step of a graph, compiled or out of the cache.
std::unique_ptr<Step> compile(llvm::StringRef content, const Options &options,
                              std::optional<mlir::echo::SavedPlan> plan,
                              TrainingOptions &training) {
  Phases phases(training);
  std::vector<mlir::echo::PhaseTime> parts;
  mlir::echo::ArtifactOptions artifact;
  artifact.target = targetName(options.target);
  artifact.chips.assign(options.chips.begin(), options.chips.end());
  if (std::string error = mlir::echo::resolveTarget(artifact); !error.empty())
    throwInvalid(error);
  artifact.entry = options.entry;
  artifact.optimizer = options.optimizer;
  artifact.strategy = options.strategy.get();
  artifact.plan = std::move(plan);
  artifact.phases = &parts;
  if (options.threads != 0)
    artifact.threads = options.threads;
  TemporaryFile file;
  std::string path = file.name();

  auto cache = options.cache.open();
  if (!cache)
    throw Error(ECHO_IO_ERROR, llvm::toString(cache.takeError()));
  std::string key;
  std::optional<std::string> kept;
  if (*cache) {
    key = mlir::echo::ArtifactCache::key(content, artifact);
    kept = (*cache)->lookup(key);
  }
  training.cache = kept ? "hit" : *cache ? "miss" : "off";
  if (kept) {
    checkOutputs(training);
    writeFile(path, *kept);
    phases.add("cache");
  } else {
    Model model(content, options.model);
    phases.add("parse");
    // The entry is named before outputs are looked at.
    if (failed(mlir::echo::findFunction(model.get(), options.entry)))
      throw Diagnosed();
    checkOutputs(training);
    mlir::echo::DiagnosticCounter said(model.getContext());
    if (failed(mlir::echo::compileToArtifact(model.get(), artifact, path)))
      throw Diagnosed();
    phases.add(parts);
    if (*cache && said.count() == 0)
      if (llvm::Error error = (*cache)->store(key, readFile(path)))
        llvm::WithColor::warning(llvm::errs(), "echo-run")
            << llvm::toString(std::move(error)) << "\n";
    phases.add("cache");
  }
  // The loader keeps what it has mapped: the file may go.
  std::unique_ptr<Step> step = openArtifact(path, sessionOptions(options));
  phases.add("load");
  return step;
}

std::unique_ptr<Step> interpret(Model &model, mlir::func::FuncOp function,
                                const Options &options,
                                std::optional<mlir::echo::SavedPlan> plan) {
  if (!options.optimizer.empty()) {
    mlir::PassManager manager(model.getContext());
    mlir::echo::TrainingStepOptions trainingStep;
    trainingStep.function = function.getName().str();
    trainingStep.optimizer = options.optimizer.getValue();
    auto fail = [&](const llvm::Twine &message) -> llvm::LogicalResult {
      return model.get().emitError(message);
    };
    if (failed(mlir::echo::buildTrainingStepPipeline(manager, trainingStep,
                                                     fail)) ||
        failed(manager.run(model.get())))
      throw Diagnosed();
  }
  if (options.strategy.isGiven()) {
    mlir::PassManager manager(model.getContext());
    mlir::echo::buildCleanUpPipeline(manager);
    mlir::echo::EchoRematPassOptions remat;
    remat.function = function.getName().str();
    remat.strategy = options.strategy.get();
    remat.promise = mlir::echo::RematPromise::Arena;
    manager.addPass(mlir::echo::createEchoRematPass(remat, std::move(plan)));
    if (failed(manager.run(model.get())))
      throw Diagnosed();
  }
  if (failed(mlir::echo::nameTensors(function)))
    throw Diagnosed();
  return interpretStep(function, options.precision == Precision::Exact);
}

/// The threads that the cpu target takes.
int threadsOf(const Options &options) {
  constexpr unsigned kMostThreads = 1024;
  if (options.threads > kMostThreads)
    throwInvalid("--threads=" + std::to_string(options.threads) +
                 ": expected 0 to " + std::to_string(kMostThreads));
  if (options.threads != 0)
    return static_cast<int>(options.threads);
  return static_cast<int>(llvm::hardware_concurrency().compute_thread_count());
}

void runTool(const Options &options) {
  TrainingOptions training;
  training.steps = options.steps;
  training.seed = options.seed;
  training.outputFolder = options.output;
  training.checkpoint = options.checkpoint;
  training.checkpointEvery = options.checkpointEvery;
  training.resume = options.resume;
  training.report = options.report;
  training.quiet = options.quiet;
  training.profile = options.profile.getNumOccurrences() != 0;
  training.trace = options.profile;
  training.model = options.model;
  bool interpreted = options.target == Target::Interpreter;
  training.threads = interpreted ? 1 : threadsOf(options);
  training.target = targetName(options.target);
  for (const std::string &text : options.inputs)
    training.inputs.push_back(splitAssignment(text, "--input"));
  for (const std::string &text : options.scalars)
    training.scalars.push_back(splitAssignment(text, "--set"));
  if (std::string error = options.strategy.check(); !error.empty())
    throwInvalid(error);
  std::optional<mlir::echo::SavedPlan> plan;
  if (std::string error = options.strategy.readPlan(plan); !error.empty())
    throw Error(ECHO_IO_ERROR, error);
  if (options.checkpointEvery != 0 && training.checkpoint.empty())
    throwInvalid("--checkpoint-every needs --checkpoint");
  if (options.precision.getNumOccurrences() && !interpreted)
    throwInvalid("--precision needs --target=interpreter");
  if (training.profile && interpreted)
    throwInvalid("--profile needs a compiled step");
  if (options.device.getNumOccurrences() && interpreted)
    throwInvalid("--device needs a compiled step");
  if (options.allowTF32 && interpreted)
    throwInvalid("--allow-tf32 needs a compiled step");
  if (options.noGraph && interpreted)
    throwInvalid("--no-graph needs a compiled step");
  if (training.profile && training.steps == 0)
    throwInvalid("--profile needs a step to run");

  auto start = std::chrono::steady_clock::now();
  std::string content =
      readFile(options.model == "-" ? "/dev/stdin" : options.model.getValue());
  std::unique_ptr<Model> model;
  std::unique_ptr<Step> step;
  if (isSharedObject(content) ||
      llvm::StringRef(options.model).ends_with(".so")) {
    if (interpreted || !options.entry.empty() || !options.optimizer.empty() ||
        options.strategy.isGiven())
      throwInvalid("'" + options.model +
                   "' is compiled: --target=interpreter, --entry, --optimizer, "
                   "--strategy and --plan take an .mlir file");
    checkOutputs(training);
    step = openArtifact(options.model, sessionOptions(options));
    training.target = step->device()->name;
    training.target.resize(
        std::min(training.target.find(':'), training.target.size()));
  } else if (interpreted) {
    model = std::make_unique<Model>(content, options.model);
    auto function = mlir::echo::findFunction(model->get(), options.entry);
    if (failed(function))
      throw Diagnosed();
    checkOutputs(training);
    step = interpret(*model, *function, options, std::move(plan));
  } else {
    step = compile(content, options, std::move(plan), training);
  }
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  training.compileSeconds = seconds.count();
  train(*step, training);
}

} // namespace

int main(int argc, char **argv) {
  mlir::echo::protectStandardStreams();
  llvm::InitLLVM init(argc, argv);
  mlir::echo::reportFileSizeLimit();
  // Running out of memory is an error as others, not the end of the process.
  std::set_new_handler(nullptr);
  mlir::echo::forgetLibraryOptions();
  Options options;
  cl::ParseCommandLineOptions(
      argc, argv,
      "Runs a training step or any function of Echo ops\n\n"
      "Prints loss and time per step, and memory. Exit code 1 on errors, with "
      "earlier files whole.\n",
      nullptr, nullptr, nullptr, /*LongOptionsUseDoubleDash=*/true);
  try {
    runTool(options);
    return 0;
  } catch (const Diagnosed &) {
    return 1;
  } catch (const std::bad_alloc &) {
    llvm::WithColor::error(llvm::errs(), "echo-run") << "out of memory\n";
    return 1;
  } catch (const std::exception &error) {
    llvm::WithColor::error(llvm::errs(), "echo-run") << error.what() << "\n";
    return 1;
  }
}

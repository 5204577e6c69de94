//===- echo-compile.cpp - Compiles graphs to artefacts --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../CacheOptions.h"
#include "../Diagnostics.h"
#include "../LibraryOptions.h"
#include "../StrategyOption.h"
#include "../StandardStreams.h"
#include "Echo/InitAll.h"
#include "OutputFile.h"
#include "Echo/Target/Artifact.h"
#include "mlir/IR/AsmState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::echo;
namespace cl = llvm::cl;

namespace {

struct CommandLine {
  CommandLine() : cache(category) {}

  cl::OptionCategory category{"echo-compile options"};
  cl::opt<std::string> input{cl::Positional, cl::desc("<model.mlir, or ->"),
                             cl::init("-"), cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::desc("Output file; - (the default) is standard output, which a "
                    "shared object can't be written to"),
      cl::value_desc("file"), cl::init("-"), cl::cat(category)};
  cl::opt<EmitKind> emit{
      "emit", cl::desc("What to write:"), cl::init(EmitKind::SharedObject),
      cl::values(
          clEnumValN(EmitKind::MLIR, "mlir", "the module in the LLVM dialect"),
          clEnumValN(EmitKind::LLVM, "llvm", "optimized LLVM IR"),
          clEnumValN(EmitKind::Assembly, "asm", "assembly"),
          clEnumValN(EmitKind::Object, "obj", "one object file"),
          clEnumValN(EmitKind::PTX, "ptx",
                     "the kernels as PTX of the first chip"),
          clEnumValN(EmitKind::Cubin, "cubin",
                     "the kernels as machine code of the first chip"),
          clEnumValN(EmitKind::SharedObject, "so",
                     "an artefact for the runtime (the default)")),
      cl::cat(category)};
  cl::opt<std::string> entry{
      "entry",
      cl::desc("Function to compile: a forward function with a loss, a "
               "training step, or any function; default: the only public one"),
      cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> target{
      "target",
      cl::desc("Target: cpu (the default), cuda, or sim (the same as "
               "--target=cuda --chip=sim)"),
      cl::value_desc("name"), cl::init("cpu"), cl::cat(category)};
  cl::list<std::string> chips{
      "chip", cl::CommaSeparated,
      cl::desc("Chips of the target cuda, as sm_90,sm_100; sim is the "
               "simulator (default: sm_75)"),
      cl::value_desc("names"), cl::cat(category)};
  StrategyOption strategy{category};
  cl::opt<std::string> optimizer{
      "optimizer",
      cl::desc("Build the gradient of a forward function and add a weight "
               "update: sgd, momentum or adam, options of --echo-optimizer "
               "after commas (adam,beta1=0.8,clip-norm=1), or those options "
               "as they are ('kind=adam beta1=0.8')"),
      cl::value_desc("optimizer"), cl::cat(category)};
  cl::opt<std::string> cpu{
      "cpu",
      cl::desc("CPU to compile for, LLVM's name (x86-64-v3); default: native, "
               "this machine's"),
      cl::value_desc("name"), cl::init("native"), cl::cat(category)};
  cl::opt<std::string> features{
      "features", cl::desc("Target features to add (+avx2,-avx512f)"),
      cl::value_desc("list"), cl::cat(category)};
  cl::opt<int64_t> alignment{
      "alignment",
      cl::desc("Alignment of buffers in the arena in bytes (default: 64)"),
      cl::value_desc("bytes"), cl::init(64), cl::cat(category)};
  cl::opt<unsigned> level{cl::Prefix, "O",
                          cl::desc("Optimization level, 0 to 3 (default: 3)"),
                          cl::value_desc("level"), cl::init(3),
                          cl::cat(category)};
  CacheOptions cache;
  cl::opt<unsigned> threads{
      "threads",
      cl::desc("Threads for code generation (default: 2); the output doesn't "
               "depend on it"),
      cl::value_desc("number"), cl::init(2), cl::cat(category)};
};

} // namespace

static int fail(const Twine &message) {
  llvm::errs() << "echo-compile: error: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  protectStandardStreams();
  llvm::InitLLVM init(argc, argv);
  reportFileSizeLimit();
  forgetLibraryOptions();
  CommandLine options;
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles a graph of Echo ops to an artefact for Echo's runtime\n");
  if (options.emit == EmitKind::SharedObject && options.output == "-")
    return fail("a shared object needs an output file (-o step.so), or choose "
                "another kind with --emit");
  if (options.level > 3)
    return fail("expected an optimization level of 0 to 3, found " +
                Twine(options.level));

  if (std::string error = options.strategy.check(); !error.empty())
    return fail(error);

  ArtifactOptions artifact;
  artifact.target = options.target;
  artifact.chips.assign(options.chips.begin(), options.chips.end());
  if (std::string error = resolveTarget(artifact); !error.empty())
    return fail(error);
  artifact.entry = options.entry;
  artifact.optimizer = options.optimizer;
  artifact.strategy = options.strategy.get();
  artifact.cpu = options.cpu;
  artifact.features = options.features;
  artifact.alignment = options.alignment;
  artifact.optimizationLevel = options.level;
  artifact.threads = options.threads;

  std::string error = options.strategy.readPlan(artifact.plan);
  if (!error.empty())
    return fail(error);
  std::unique_ptr<llvm::MemoryBuffer> file =
      openInputFile(options.input, &error);
  if (!file)
    return fail(error);
  std::unique_ptr<ArtifactCache> cache;
  std::string key;
  if (options.emit == EmitKind::SharedObject) {
    llvm::Expected<std::unique_ptr<ArtifactCache>> opened =
        options.cache.open();
    if (!opened)
      return fail(llvm::toString(opened.takeError()));
    cache = std::move(*opened);
  }
  if (cache) {
    key = ArtifactCache::key(file->getBuffer(), artifact);
    if (std::optional<std::string> kept = cache->lookup(key)) {
      error = ::echo::writeOutput(options.output, *kept);
      return error.empty() ? 0 : fail(error);
    }
  }

  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::echo::registerAllDialects(registry);
  MLIRContext context(registry);
  // An error is its text and its place, not the whole graph.
  context.printOpOnDiagnostic(false);

  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  ToolDiagnosticHandler diagnostics(sources, &context, options.input);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;
  if (isa<UnknownLoc>(module->getLoc()))
    module->getOperation()->setLoc(
        FileLineColLoc::get(&context, options.input, 1, 1));

  DiagnosticCounter said(&context);
  if (failed(compileToArtifact(*module, artifact, options.output,
                               options.emit)))
    return 1;
  // What was written to a pipe can't be read again.
  if (!cache || said.count() != 0 ||
      !llvm::sys::fs::is_regular_file(options.output))
    return 0;
  auto written = llvm::MemoryBuffer::getFile(options.output);
  llvm::Error failure =
      written ? cache->store(key, (*written)->getBuffer())
              : llvm::errorCodeToError(written.getError());
  if (failure)
    llvm::errs() << "echo-compile: warning: "
                 << llvm::toString(std::move(failure)) << "\n";
  return 0;
}

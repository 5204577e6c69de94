//===- CodeGen.cpp - From the LLVM dialect to machine code ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPUTarget.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/SplitModule.h"
#include <mutex>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::cpu;

/// Kernels that a partition has on average. Not a function of the machine: the
/// artefact would depend on it.
static constexpr unsigned kKernelsPerPartition = 16;
static constexpr unsigned kMaxPartitions = 16;

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const Machine &machine, unsigned level,
                    std::string &error) {
  initializeTargets();
  llvm::Triple triple(machine.triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // The bit rule: a*b+c is never contracted.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  auto codeGenLevel =
      llvm::CodeGenOpt::getLevel(level).value_or(llvm::CodeGenOptLevel::Default);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, machine.cpu, machine.features, options, llvm::Reloc::PIC_,
      std::nullopt, codeGenLevel));
}

FailureOr<Machine> cpu::resolveMachine(Location loc, StringRef cpu,
                                       StringRef features) {
  Machine machine;
  machine.triple = llvm::sys::getProcessTriple();
  // Names of instruction set features in a fixed order.
  llvm::StringMap<bool> hostFeatures = llvm::sys::getHostCPUFeatures();
  SmallVector<StringRef> names(hostFeatures.keys());
  llvm::sort(names);

  std::string error;
  std::unique_ptr<llvm::TargetMachine> generic =
      createTargetMachine(machine, 2, error);
  if (!generic)
    return emitError(loc) << "no code generator for " << machine.triple << ": "
                          << error;
  const llvm::MCSubtargetInfo &info = *generic->getMCSubtargetInfo();
  if (cpu == "native") {
    machine.cpu = llvm::sys::getHostCPUName().str();
    for (StringRef name : names)
      machine.features += (machine.features.empty() ? "" : ",") +
                          std::string(hostFeatures[name] ? "+" : "-") +
                          name.str();
  } else {
    if (!info.isCPUStringValid(cpu))
      return emitError(loc) << "unknown CPU '" << cpu << "' for "
                            << machine.triple;
    machine.cpu = cpu.str();
  }
  SmallVector<StringRef> added;
  features.split(added, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef feature : added) {
    StringRef name = feature.drop_front();
    bool known = llvm::any_of(info.getAllProcessorFeatures(),
                              [&](const llvm::SubtargetFeatureKV &entry) {
                                return name == entry.Key;
                              });
    if ((feature[0] != '+' && feature[0] != '-') || !known)
      return emitError(loc)
             << "expected target features as '+name' or '-name' with names of "
             << machine.triple << ", found '" << feature << "'";
    machine.features +=
        (machine.features.empty() ? "" : ",") + feature.str();
  }

  std::unique_ptr<llvm::TargetMachine> resolved =
      createTargetMachine(machine, 2, error);
  llvm::StringSet<> enabled;
  for (const llvm::SubtargetFeatureKV &entry :
       resolved->getMCSubtargetInfo()->getEnabledProcessorFeatures())
    enabled.insert(entry.Key);
  for (StringRef name : names)
    if (enabled.contains(name))
      machine.requiredFeatures +=
          (machine.requiredFeatures.empty() ? "+" : ",+") + name.str();
  return machine;
}

static std::unique_ptr<llvm::Module> translate(ModuleOp module,
                                               llvm::LLVMContext &context,
                                               llvm::TargetMachine &target) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context, "echo");
  if (!translated)
    return nullptr;
  translated->setTargetTriple(target.getTargetTriple());
  translated->setDataLayout(target.createDataLayout());
  return translated;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &target,
                     unsigned level) {
  llvm::LoopAnalysisManager loopAnalyses;
  llvm::FunctionAnalysisManager functionAnalyses;
  llvm::CGSCCAnalysisManager callGraphAnalyses;
  llvm::ModuleAnalysisManager moduleAnalyses;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(moduleAnalyses);
  builder.registerCGSCCAnalyses(callGraphAnalyses);
  builder.registerFunctionAnalyses(functionAnalyses);
  builder.registerLoopAnalyses(loopAnalyses);
  builder.crossRegisterProxies(loopAnalyses, functionAnalyses,
                               callGraphAnalyses, moduleAnalyses);
  static const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::OptimizationLevel optimization = levels[std::min(level, 3u)];
  llvm::ModulePassManager passes =
      level == 0 ? builder.buildO0DefaultPipeline(optimization)
                 : builder.buildPerModuleDefaultPipeline(optimization);
  passes.run(module, moduleAnalyses);
}

static bool emitMachineCode(llvm::Module &module, llvm::TargetMachine &target,
                            llvm::CodeGenFileType type,
                            llvm::raw_pwrite_stream &stream) {
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, type))
    return false;
  passes.run(module);
  return true;
}

LogicalResult cpu::generateCode(ModuleOp module, const Machine &machine,
                                const ArtifactOptions &options, EmitKind kind,
                                llvm::raw_ostream &stream) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> target =
      createTargetMachine(machine, options.optimizationLevel, error);
  if (!target)
    return module.emitError("no code generator: ") << error;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translate(module, context, *target);
  if (!translated)
    return failure();
  optimize(*translated, *target, options.optimizationLevel);
  if (kind == EmitKind::LLVM) {
    translated->print(stream, nullptr);
    return success();
  }
  ObjectBuffer buffer;
  llvm::raw_svector_ostream bufferStream(buffer);
  auto type = kind == EmitKind::Assembly ? llvm::CodeGenFileType::AssemblyFile
                                         : llvm::CodeGenFileType::ObjectFile;
  if (!emitMachineCode(*translated, *target, type, bufferStream))
    return module.emitError("the code generator can't write this kind of file");
  stream << buffer;
  return success();
}

LogicalResult cpu::generateObjects(ModuleOp module, const Machine &machine,
                                   const ArtifactOptions &options,
                                   SmallVectorImpl<ObjectBuffer> &objects) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> target =
      createTargetMachine(machine, options.optimizationLevel, error);
  if (!target)
    return module.emitError("no code generator: ") << error;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translate(module, context, *target);
  if (!translated)
    return failure();

  // A context belongs to one thread, so partitions travel as bitcode.
  unsigned numPartitions = std::clamp<unsigned>(
      translated->size() / kKernelsPerPartition, 1, kMaxPartitions);
  SmallVector<ObjectBuffer> bitcodes;
  auto addPartition = [&](std::unique_ptr<llvm::Module> part) {
    llvm::raw_svector_ostream stream(bitcodes.emplace_back());
    llvm::WriteBitcodeToFile(*part, stream);
  };
  llvm::SplitModule(*translated, numPartitions, addPartition);

  objects.clear();
  objects.resize(bitcodes.size());
  SmallVector<std::string> errors(bitcodes.size());
  auto compile = [&](size_t i) {
    std::unique_ptr<llvm::TargetMachine> target =
        createTargetMachine(machine, options.optimizationLevel, errors[i]);
    if (!target)
      return;
    llvm::LLVMContext context;
    llvm::Expected<std::unique_ptr<llvm::Module>> part =
        llvm::parseBitcodeFile(
            llvm::MemoryBufferRef(bitcodes[i], "partition"), context);
    if (!part) {
      errors[i] = llvm::toString(part.takeError());
      return;
    }
    optimize(**part, *target, options.optimizationLevel);
    llvm::raw_svector_ostream stream(objects[i]);
    if (!emitMachineCode(**part, *target, llvm::CodeGenFileType::ObjectFile,
                         stream))
      errors[i] = "the target writes no object files";
  };
  {
    llvm::DefaultThreadPool pool(
        llvm::hardware_concurrency(std::max(options.threads, 1u)));
    for (size_t i = 0; i < bitcodes.size(); ++i)
      pool.async(compile, i);
    pool.wait();
  }
  for (const std::string &message : errors)
    if (!message.empty())
      return module.emitError("code generation failed: ") << message;
  return success();
}

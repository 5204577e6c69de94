//===- Images.cpp - Images of kernels for GPUs ----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ToolRun.h"
#include "Echo/Conversion/EmitProgram.h"
#include "Echo/Conversion/Kernels.h"
#include "Echo/Pipelines/Pipelines.h"
#include "GPUTarget.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::gputarget;

std::string mlir::echo::findPtxas() {
  if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  SmallVector<std::string> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto folder = llvm::sys::Process::GetEnv(variable))
      folders.push_back(*folder);
  // An empty folder stands for no toolkit at all.
  if (folders.empty())
    folders.push_back("/usr/local/cuda");
  for (StringRef folder : folders) {
    if (folder.empty())
      continue;
    SmallString<128> path(folder);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return path.str().str();
  }
  return "";
}

/// A module of its own with a copy of the kernels in the NVVM dialect.
static FailureOr<OwningOpRef<ModuleOp>> lowerCopy(gpu::GPUModuleOp kernels) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernels.getLoc());
  (*module)->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                     UnitAttr::get(kernels.getContext()));
  OpBuilder::atBlockEnd(module->getBody()).clone(*kernels);
  PassManager manager(kernels.getContext());
  buildGPUToNVVMPipeline(manager.nest<gpu::GPUModuleOp>());
  if (failed(manager.run(*module)))
    return failure();
  return module;
}

/// The kernels as a shared object for this machine's simulator.
static FailureOr<std::string> makeHostObject(ModuleOp lowered,
                                             const ArtifactOptions &options) {
  gpu::GPUModuleOp kernels = *lowered.getOps<gpu::GPUModuleOp>().begin();
  FailureOr<ModuleOp> host = convertToSimulator(kernels);
  FailureOr<cpu::Machine> machine =
      cpu::resolveMachine(lowered.getLoc(), options.cpu, options.features);
  SmallVector<cpu::ObjectBuffer> objects;
  std::string content;
  if (failed(host) || failed(machine) ||
      failed(cpu::generateObjects(*host, *machine, options, objects)) ||
      failed(cpu::linkSharedObject(lowered.getLoc(), objects, content)))
    return failure();
  return content;
}

static void registerTranslations(MLIRContext &context) {
  registerBuiltinDialectTranslation(context);
  registerGPUDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  registerNVVMDialectTranslation(context);
}

/// Runs passes whose errors are told only if they fail: a CUDA Toolkit without
/// libdevice, which no kernel needs, is one that they go on with.
static LogicalResult runQuietly(PassManager &manager, ModuleOp module) {
  std::vector<Diagnostic> errors;
  LogicalResult result = success();
  {
    ScopedDiagnosticHandler handler(
        module.getContext(), [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return failure();
          errors.push_back(std::move(diagnostic));
          return success();
        });
    result = manager.run(module);
  }
  if (failed(result))
    for (Diagnostic &error : errors)
      module.getContext()->getDiagEngine().emit(std::move(error));
  return result;
}

/// The kernels as PTX of a chip of NVIDIA's, which ends with a zero.
static FailureOr<std::string> makePTX(ModuleOp lowered, StringRef chip,
                                      unsigned optimizationLevel) {
  registerTranslations(*lowered.getContext());
  PassManager manager(lowered.getContext());
  GpuNVVMAttachTargetOptions attach;
  attach.chip = chip.str();
  attach.optLevel = optimizationLevel;
  manager.addPass(createGpuNVVMAttachTarget(attach));
  GpuModuleToBinaryPassOptions toBinary;
  toBinary.compilationTarget = "isa";
  manager.addPass(createGpuModuleToBinaryPass(toBinary));
  if (failed(runQuietly(manager, lowered)))
    return failure();
  for (auto binary : lowered.getOps<gpu::BinaryOp>())
    for (Attribute object : binary.getObjects()) {
      std::string text =
          cast<gpu::ObjectAttr>(object).getObject().getValue().str();
      if (text.empty() || text.back() != '\0')
        text.push_back('\0');
      return text;
    }
  return lowered.emitError("no code for the chip '") << chip << "'";
}

/// Machine code of PTX for the same chip. Upstream's way to it leaves files
/// behind when a signal ends the process.
static FailureOr<std::string> assemble(Location loc, StringRef ptx,
                                       StringRef chip) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    return emitError(loc) << "found no ptxas in PATH or CUDA_HOME: machine "
                             "code of a GPU needs the CUDA Toolkit";
  ToolRun tool(loc);
  FailureOr<std::string> input = tool.addFile(".ptx", ptx.drop_back());
  FailureOr<std::string> output = tool.addFile(".cubin");
  if (failed(input) || failed(output) ||
      failed(tool.run(ptxas, {"-arch", chip, *input, "-o", *output})))
    return failure();
  return tool.read(*output);
}

LogicalResult gputarget::checkChips(Location loc, ArrayRef<std::string> chips) {
  if (chips.empty())
    return emitError(loc) << "expected chips to compile for, as sm_90, or sim";
  for (const std::string &chip : chips)
    if (chip != kSimulatorChip && !isKnownGPUChip(chip))
      return emitError(loc) << "expected chips that LLVM knows, as sm_90, or "
                               "sim, found '"
                            << chip << "'";
  return success();
}

FailureOr<KernelImage> gputarget::makeImage(gpu::GPUModuleOp kernels,
                                            StringRef chip,
                                            ::echo::ImageKind kind,
                                            const ArtifactOptions &options) {
  FailureOr<OwningOpRef<ModuleOp>> lowered = lowerCopy(kernels);
  if (failed(lowered))
    return failure();
  FailureOr<std::string> bytes =
      kind == ::echo::ImageKind::HostObject
          ? makeHostObject(**lowered, options)
          : makePTX(**lowered, chip, options.optimizationLevel);
  if (succeeded(bytes) && kind == ::echo::ImageKind::Cubin)
    bytes = assemble(kernels.getLoc(), *bytes, chip);
  if (failed(bytes))
    return failure();
  return KernelImage{chip.str(), kind, std::move(*bytes)};
}

LogicalResult gputarget::writeLLVMIR(gpu::GPUModuleOp kernels, StringRef chip,
                                     const ArtifactOptions &options,
                                     llvm::raw_ostream &stream) {
  FailureOr<OwningOpRef<ModuleOp>> lowered = lowerCopy(kernels);
  if (failed(lowered))
    return failure();
  gpu::GPUModuleOp copy = *(*lowered)->getOps<gpu::GPUModuleOp>().begin();
  if (chip == kSimulatorChip) {
    FailureOr<ModuleOp> host = convertToSimulator(copy);
    FailureOr<cpu::Machine> machine =
        cpu::resolveMachine(kernels.getLoc(), options.cpu, options.features);
    if (failed(host) || failed(machine))
      return failure();
    return cpu::generateCode(*host, *machine, options, EmitKind::LLVM, stream);
  }
  registerTranslations(*kernels.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(copy, context, "echo");
  if (!translated)
    return failure();
  translated->print(stream, nullptr);
  return success();
}

LogicalResult gputarget::makeImages(gpu::GPUModuleOp kernels,
                                    const ArtifactOptions &options,
                                    SmallVectorImpl<KernelImage> &images) {
  using ::echo::ImageKind;
  std::vector<std::pair<std::string, ImageKind>> wanted;
  bool hasToolkit = !findPtxas().empty();
  std::string lowest;
  for (const std::string &chip : options.chips) {
    if (chip == kSimulatorChip) {
      wanted.emplace_back(chip, ImageKind::HostObject);
      continue;
    }
    if (hasToolkit)
      wanted.emplace_back(chip, ImageKind::Cubin);
    if (lowest.empty() || capabilityOf(chip) < capabilityOf(lowest))
      lowest = chip;
  }
  if (!lowest.empty()) {
    wanted.emplace_back(lowest, ImageKind::PTX);
    if (!hasToolkit)
      emitRemark(kernels.getLoc())
          << "found no ptxas in PATH or CUDA_HOME: the artefact holds PTX for "
          << lowest << " alone, which the driver compiles when it is opened";
  }
  for (const auto &[chip, kind] : wanted) {
    FailureOr<KernelImage> image = makeImage(kernels, chip, kind, options);
    if (failed(image))
      return failure();
    images.push_back(std::move(*image));
  }
  return success();
}

OwningOpRef<ModuleOp>
gputarget::makeArtifactModule(Location loc, const ::echo::Program &program,
                              ArrayRef<KernelImage> images) {
  MLIRContext *context = loc.getContext();
  context->loadDialect<LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  emitProgramBytes(*module, program);

  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  Type byte = builder.getI8Type(), integer = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(context);
  constexpr uint64_t kAlignment = 16;
  auto addGlobal = [&](Type type, const Twine &name, Attribute value,
                       LLVM::Linkage linkage) {
    return LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                  linkage, name.str(), value, kAlignment);
  };
  auto addBytes = [&](const Twine &name, StringRef bytes) {
    return addGlobal(LLVM::LLVMArrayType::get(byte, bytes.size()), name,
                     builder.getStringAttr(bytes), LLVM::Linkage::Internal)
        .getName();
  };
  SmallVector<std::pair<StringRef, StringRef>> symbols;
  for (auto [index, image] : llvm::enumerate(images))
    symbols.emplace_back(
        addBytes("echo_chip" + Twine(index),
                 StringRef(image.chip.c_str(), image.chip.size() + 1)),
        addBytes("echo_image" + Twine(index), image.bytes));
  addGlobal(integer, kNumImagesSymbol, builder.getI64IntegerAttr(images.size()),
            LLVM::Linkage::External);
  auto imageType = LLVM::LLVMStructType::getLiteral(
      context, {pointer, integer, pointer, integer});
  auto tableType = LLVM::LLVMArrayType::get(imageType, images.size());
  LLVM::GlobalOp table =
      addGlobal(tableType, kImagesSymbol, Attribute(), LLVM::Linkage::External);
  builder.createBlock(&table.getInitializerRegion());
  Value value = LLVM::UndefOp::create(builder, loc, tableType);
  for (auto [index, image] : llvm::enumerate(images)) {
    auto number = [&](uint64_t value) -> Value {
      return LLVM::ConstantOp::create(builder, loc,
                                      builder.getI64IntegerAttr(value));
    };
    auto address = [&](StringRef symbol) -> Value {
      return LLVM::AddressOfOp::create(builder, loc, pointer, symbol);
    };
    Value fields[] = {address(symbols[index].first),
                      number(static_cast<uint64_t>(image.kind)),
                      address(symbols[index].second),
                      number(image.bytes.size())};
    for (auto [field, content] : llvm::enumerate(fields))
      value = LLVM::InsertValueOp::create(
          builder, loc, value, content,
          ArrayRef<int64_t>{static_cast<int64_t>(index),
                            static_cast<int64_t>(field)});
  }
  LLVM::ReturnOp::create(builder, loc, value);
  return module;
}

//===- CompiledKernels.cpp - Compiles and runs kernels in process ---------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "Echo/Conversion/Kernels.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/InitAll.h"
#include "Echo/Pipelines/Pipelines.h"
#include "Echo/Target/Artifact.h"
#include "Echo/Target/Interpreter.h"
#include "Echo/Transforms/Kernels.h"
#include "Echo/Transforms/Passes.h"
#include "SimulatedModule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/ObjectTransformLayer.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

/// What a thread of a GPU loads or stores at once.
static constexpr uint64_t kAccessBytes = 16;

CompiledKernels::CompiledKernels() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  mlir::echo::registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

CompiledKernels::~CompiledKernels() = default;

void CompiledKernels::forSeeds(unsigned count,
                               llvm::function_ref<void()> check) {
  unsigned first = 0;
  if (const char *seed = std::getenv("ECHO_FUZZ_SEED")) {
    first = std::strtoul(seed, nullptr, 10);
    count = first + 1;
  } else if (const char *graphs = std::getenv("ECHO_FUZZ_GRAPHS")) {
    count = std::strtoul(graphs, nullptr, 10);
  }
  for (unsigned seed = first; seed < count && !HasFailure(); ++seed) {
    SCOPED_TRACE("ECHO_FUZZ_SEED=" + std::to_string(seed));
    generator.seed(seed);
    check();
  }
}

std::string CompiledKernels::type(ArrayRef<int64_t> shape,
                                  const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

RankedTensorType CompiledKernels::parseType(const std::string &text) {
  return cast<RankedTensorType>(mlir::parseType(text, &context));
}

std::string
CompiledKernels::instantiate(StringRef source, StringRef element,
                             ArrayRef<std::pair<char, int64_t>> numbers) {
  std::string text;
  for (char c : source) {
    auto number = llvm::find_if(
        numbers, [&](const auto &named) { return named.first == c; });
    if (c == 'T')
      text += element;
    else if (number != numbers.end())
      text += std::to_string(number->second);
    else
      text += c;
  }
  return text;
}

HostTensor CompiledKernels::random(RankedTensorType type) {
  HostTensor tensor = *HostTensor::zeros(type);
  std::uniform_real_distribution<double> real(-3, 3);
  std::uniform_int_distribution<int64_t> integer(low, high);
  const double odd[] = {std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::quiet_NaN(), 0.0, -0.0};
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    if (type.getElementType().isInteger(1))
      tensor.setInt(i, generator() & 1);
    else if (!tensor.isFloat())
      tensor.setInt(i, integer(generator));
    else if (special && generator() % 5 == 0)
      tensor.setDouble(i, odd[generator() % 5]);
    else
      tensor.setDouble(i, real(generator));
  }
  return tensor;
}

OwningOpRef<ModuleOp> CompiledKernels::parse(const std::string &source) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source, ParserConfig(&context));
  EXPECT_TRUE(module) << source;
  return module;
}

/// As in an artefact, kernels find no functions but a few.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
checkFunctions(std::unique_ptr<llvm::MemoryBuffer> object) {
  auto file =
      llvm::object::ObjectFile::createObjectFile(object->getMemBufferRef());
  if (!file)
    return file.takeError();
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    StringRef name = llvm::cantFail(symbol.getName());
    bool isUndefined = llvm::cantFail(symbol.getFlags()) &
                       llvm::object::SymbolRef::SF_Undefined;
    if (isUndefined && !name.empty() && name != "_GLOBAL_OFFSET_TABLE_" &&
        !llvm::is_contained(libraryFunctionsOfKernels(), name))
      return llvm::createStringError("the kernels need the function '" + name +
                                     "'");
  }
  return std::move(object);
}

std::unique_ptr<llvm::orc::LLJIT>
mlir::echo::testing::compileInProcess(ModuleOp module,
                                      llvm::OptimizationLevel level) {
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, *llvmContext);
  EXPECT_TRUE(code);
  if (!code)
    return nullptr;
  auto target =
      llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  auto machine = llvm::cantFail(target.createTargetMachine());
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(machine.get());
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(callGraph);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, callGraph, modules);
  passes.buildPerModuleDefaultPipeline(level).run(*code, modules);
  std::unique_ptr<llvm::orc::LLJIT> jit = llvm::cantFail(
      llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target).create());
  jit->getObjTransformLayer().setTransform(checkFunctions);
  llvm::cantFail(jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(code), std::move(llvmContext))));
  return jit;
}

void CompiledKernels::formKernels(ModuleOp module, bool fuse) {
  PassManager manager(&context);
  EchoFormKernelsPassOptions options;
  options.fuse = fuse;
  manager.addPass(createEchoFormKernelsPass(options));
  manager.addPass(createEchoOutlineKernelsPass());
  ASSERT_TRUE(succeeded(manager.run(module)));
}

void CompiledKernels::compile(ModuleOp module, bool fuse) {
  overwritable.clear();
  kernels.clear();
  simulated.reset();
  simulatedAligned.reset();
  mostChunks = mostThreads = numAlignedAccesses = 0;
  formKernels(module, fuse);
  if (onCPU && !HasFatalFailure())
    compileForCPU(module);
  if (onThreads && fuse && !HasFatalFailure()) {
    simulated = compileForThreads(module, /*alignment=*/0, /*actual=*/0);
    simulatedAligned = compileForThreads(module, kAccessBytes, kAccessBytes);
    if (simulated) {
      mostThreads = simulated->mostThreads();
      for (func::FuncOp kernel : kernelFunctions(module))
        kernel.walk([&](Operation *op) {
          threadedOps.insert(op->getName().getStringRef());
        });
    }
  }
  if (HasFatalFailure())
    return;
  // The host's launches.
  PassManager merging(&context);
  merging.addPass(createConvertEchoToLinalgPass());
  merging.addPass(createEchoMergeKernelsPass());
  ASSERT_TRUE(succeeded(merging.run(module)));
  for (func::FuncOp kernel : kernelFunctions(module)) {
    SmallVector<SmallVector<int64_t>> &inputs = overwritable[kernel.getName()];
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      auto results =
          kernel.getArgAttrOfType<DenseI64ArrayAttr>(i, kOverwritableAttr);
      inputs.push_back(results ? llvm::to_vector(results.asArrayRef())
                               : SmallVector<int64_t>());
    }
  }
  numKernels = overwritable.size();
}

void CompiledKernels::compileForCPU(ModuleOp source) {
  OwningOpRef<ModuleOp> copy(source.clone());
  ModuleOp module = *copy;
  PassManager lowering(&context);
  lowering.addPass(createConvertEchoToLinalgPass());
  lowering.addPass(createEchoMergeKernelsPass());
  lowering.addPass(createEchoLowerKernelsPass());
  lowering.addPass(createConvertEchoKernelsToLLVMPass());
  ASSERT_TRUE(succeeded(lowering.run(module)));
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    function.erase();
  jit = compileInProcess(module, llvm::OptimizationLevel::O2);
  ASSERT_TRUE(jit);
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>()) {
    int64_t chunks = kernel->getAttrOfType<IntegerAttr>(kChunksAttr).getInt();
    auto address = jit->lookup(kernel.getName());
    ASSERT_TRUE(bool(address)) << llvm::toString(address.takeError());
    kernels[kernel.getName()] = {
        address->toPtr<void (*)(void *const *, int64_t, int64_t)>(), chunks};
    mostChunks = std::max(mostChunks, chunks);
  }
}

std::unique_ptr<SimulatedModule>
CompiledKernels::compileForThreads(ModuleOp source, uint64_t alignment,
                                   uint64_t actual) {
  OwningOpRef<ModuleOp> module(source.clone());
  PassManager mapping(&context);
  mapping.addPass(createConvertEchoToLinalgPass());
  mapping.addPass(createEchoMergeKernelsPass());
  EchoMapKernelsToGPUPassOptions options;
  options.alignment = alignment;
  mapping.addPass(createEchoMapKernelsToGPUPass(options));
  EXPECT_TRUE(succeeded(mapping.run(*module)));
  if (alignment != 0) {
    module->walk([&](Operation *op) {
      auto load = dyn_cast<vector::LoadOp>(op);
      auto store = dyn_cast<vector::StoreOp>(op);
      numAlignedAccesses +=
          (load && load.getAlignment()) || (store && store.getAlignment());
    });
    if (numAlignedAccesses == 0)
      return nullptr;
  }
  PassManager lowering(&context);
  buildGPUToNVVMPipeline(lowering.nest<gpu::GPUModuleOp>());
  lowering.addPass(createEchoNVVMToSimPass());
  EXPECT_TRUE(succeeded(lowering.run(*module)));
  auto kernels = module->lookupSymbol<ModuleOp>(kGPUModuleName);
  if (HasFailure() || !kernels)
    return nullptr;
  OwningOpRef<ModuleOp> alone(cast<ModuleOp>(kernels->clone()));
  return std::make_unique<SimulatedModule>(*alone, actual);
}

std::string CompiledKernels::Way::describe() const {
  std::string text = target == Target::CPU       ? "on the CPU"
                     : target == Target::Threads ? "on threads"
                                                 : "on aligned threads";
  for (auto [is, name] : {std::pair(isReverse, ", in reverse"),
                          std::pair(isInPlace, ", in place"),
                          std::pair(isInThirds, ", in thirds")})
    if (is)
      text += name;
  return text;
}

SmallVector<CompiledKernels::Way> CompiledKernels::ways() const {
  bool isInPlace =
      !isLarge && llvm::any_of(overwritable, [](const auto &kernel) {
        return llvm::any_of(kernel.second, [](ArrayRef<int64_t> results) {
          return !results.empty();
        });
      });
  SmallVector<Way> ways;
  if (onCPU)
    ways.push_back({Target::CPU, false, false, /*isInThirds=*/true});
  SmallVector<Target> targets;
  if (onCPU)
    targets.push_back(Target::CPU);
  if (simulated)
    targets.push_back(Target::Threads);
  if (simulatedAligned)
    targets.push_back(Target::AlignedThreads);
  for (Target target : targets)
    for (bool inPlace : {false, true})
      for (bool isReverse : {false, true})
        if (isInPlace || !inPlace)
          ways.push_back({target, isReverse, inPlace});
  return ways;
}

SmallVector<int64_t> CompiledKernels::overwritten(StringRef kernel,
                                                  size_t numOutputs,
                                                  const Way &way) const {
  SmallVector<int64_t> overwriting(numOutputs, -1);
  if (!way.isInPlace)
    return overwriting;
  auto inputs = overwritable.find(kernel);
  for (size_t output = 0; output < numOutputs; ++output)
    for (auto [input, results] : llvm::enumerate(inputs->second))
      if (llvm::is_contained(results, int64_t(output)) &&
          !llvm::is_contained(overwriting, int64_t(input))) {
        overwriting[output] = input;
        break;
      }
  return overwriting;
}

void CompiledKernels::launch(StringRef name, ArrayRef<HostTensor> inputs,
                             MutableArrayRef<HostTensor> outputs,
                             ArrayRef<int64_t> parameters, const Way &way) {
  SmallVector<int64_t> overwriting = overwritten(name, outputs.size(), way);
  if (way.target == Target::CPU)
    return launchOnCPU(name, inputs, outputs, overwriting, parameters, way);
  ::echo::sim::LaunchOptions options;
  options.isReverse = way.isReverse;
  options.findsRaces = !isLarge;
  SimulatedModule &module =
      way.target == Target::Threads ? *simulated : *simulatedAligned;
  for (const ::echo::sim::Fault &fault :
       module.run(name, inputs, outputs, overwriting, parameters, options))
    ADD_FAILURE() << describe(fault);
}

void CompiledKernels::launchOnCPU(StringRef name, ArrayRef<HostTensor> inputs,
                                  MutableArrayRef<HostTensor> outputs,
                                  ArrayRef<int64_t> overwriting,
                                  ArrayRef<int64_t> parameters,
                                  const Way &way) {
  const Kernel &kernel = kernels[name];
  SmallVector<HostTensor> copies(inputs);
  SmallVector<void *> pointers;
  for (HostTensor &copy : copies)
    pointers.push_back(copy.getMutableData());
  for (auto [output, input] : llvm::zip_equal(outputs, overwriting)) {
    // Whatever is there before must not matter.
    std::memset(output.getMutableData(), 0x7b, output.getBytes().size());
    pointers.push_back(input < 0 ? output.getMutableData() : pointers[input]);
  }
  for (int64_t parameter : parameters)
    pointers.push_back(reinterpret_cast<void *>(parameter));
  int64_t chunks = kernel.chunks;
  if (way.isReverse) {
    for (int64_t chunk = chunks; chunk-- > 0;)
      kernel.function(pointers.data(), chunk, chunk + 1);
  } else if (way.isInThirds) {
    for (int64_t part : {2, 0, 1})
      kernel.function(pointers.data(), chunks * part / 3,
                      chunks * (part + 1) / 3);
  } else {
    kernel.function(pointers.data(), 0, chunks);
  }
  for (auto [output, input] : llvm::zip_equal(outputs, overwriting))
    if (input >= 0)
      output = copies[input];
}

SmallVector<HostTensor> CompiledKernels::runHost(func::FuncOp function,
                                                 ArrayRef<HostTensor> arguments,
                                                 const Way &way) {
  llvm::DenseMap<Value, HostTensor> values;
  for (auto [argument, value] :
       llvm::zip_equal(function.getArguments(), arguments))
    values[argument] = value;
  SmallVector<HostTensor> results;
  for (Operation &op : function.getBody().front()) {
    if (auto call = dyn_cast<LaunchOp>(op)) {
      SmallVector<HostTensor> inputs, outputs;
      for (Value input : call.getInputs())
        inputs.push_back(values[input]);
      for (Type type : call.getResultTypes())
        outputs.push_back(*HostTensor::zeros(cast<RankedTensorType>(type)));
      launch(call.getKernel(), inputs, outputs,
             call.getParameters().value_or(ArrayRef<int64_t>()), way);
      for (auto [result, output] : llvm::zip_equal(call.getResults(), outputs))
        values[result] = output;
    } else if (auto view = dyn_cast<BufferViewOpInterface>(op)) {
      const HostTensor source = values[op.getOperand(0)];
      for (OpResult result : op.getResults()) {
        FailureOr<int64_t> offset =
            view.getViewOffset(result.getResultNumber());
        HostTensor part =
            *HostTensor::zeros(cast<RankedTensorType>(result.getType()));
        if (part.getNumElements() != 0)
          std::memcpy(part.getMutableData(), source.getData() + *offset,
                      part.getBytes().size());
        values[result] = part;
      }
    } else {
      EXPECT_TRUE(isa<func::ReturnOp>(op)) << op.getName().getStringRef().str();
      for (Value operand : op.getOperands())
        results.push_back(values[operand]);
    }
  }
  return results;
}

/// The same bytes, but for the payload of NaN.
static bool isSame(const HostTensor &lhs, const HostTensor &rhs, int64_t i) {
  if (lhs.isFloat() && std::isnan(lhs.getDouble(i)))
    return std::isnan(rhs.getDouble(i));
  int64_t size = lhs.getElementSize();
  return std::memcmp(lhs.getData() + i * size, rhs.getData() + i * size,
                     size) == 0;
}

void CompiledKernels::check(const std::string &source) {
  OwningOpRef<ModuleOp> module = parse(source);
  ASSERT_TRUE(module);
  SmallVector<HostTensor> arguments;
  for (Type type : module->lookupSymbol<func::FuncOp>("f").getArgumentTypes())
    arguments.push_back(random(cast<RankedTensorType>(type)));
  check(source, arguments);
}

void CompiledKernels::check(const std::string &source,
                            ArrayRef<HostTensor> arguments) {
  SCOPED_TRACE(source);
  OwningOpRef<ModuleOp> reference = parse(source);
  ASSERT_TRUE(reference);
  FailureOr<SmallVector<HostTensor>> expected =
      interpret(reference->lookupSymbol<func::FuncOp>("f"), arguments,
                {InterpreterMode::Exact});
  ASSERT_TRUE(succeeded(expected));
  results = *expected;
  // One op is one kernel either way.
  Block &block = reference->lookupSymbol<func::FuncOp>("f").getBody().front();
  SmallVector<bool> fusions = {true};
  if (!llvm::hasNItemsOrLess(block.without_terminator(), 1))
    fusions.insert(fusions.begin(), false);
  for (bool fuse : fusions) {
    OwningOpRef<ModuleOp> module = parse(source);
    ASSERT_TRUE(module);
    compile(*module, fuse);
    if (HasFailure())
      return;
    for (const Way &way : ways()) {
      SCOPED_TRACE((fuse ? "fused, " : "unfused, ") + way.describe());
      SmallVector<HostTensor> found =
          runHost(module->lookupSymbol<func::FuncOp>("f"), arguments, way);
      if (HasFailure())
        return;
      ASSERT_EQ(found.size(), results.size());
      for (auto [index, result] : llvm::enumerate(found)) {
        const HostTensor &wanted = results[index];
        ASSERT_EQ(result.getType(), wanted.getType());
        for (int64_t i = 0; i < result.getNumElements(); ++i)
          ASSERT_TRUE(isSame(wanted, result, i))
              << "result " << index << ", element " << i << ": expected "
              << wanted.getDouble(i) << ", found " << result.getDouble(i);
      }
    }
  }
}

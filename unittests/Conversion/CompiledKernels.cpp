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
#include "Echo/Target/Interpreter.h"
#include "Echo/Transforms/Kernels.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

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

/// Makes of each GPU function a kernel on buffers whose chunks are threads:
/// `%begin` is the thread.
static void makeThreadsChunks(ModuleOp module) {
  OpBuilder b(module.getContext());
  SmallVector<gpu::GPUModuleOp> gpuModules(module.getOps<gpu::GPUModuleOp>());
  for (gpu::GPUModuleOp gpuModule : gpuModules) {
    for (auto global :
         llvm::make_early_inc_range(gpuModule.getOps<memref::GlobalOp>()))
      global->moveBefore(gpuModule);
    for (auto kernel : gpuModule.getOps<gpu::GPUFuncOp>()) {
      Location loc = kernel.getLoc();
      int64_t blockSize = (*kernel.getKnownBlockSize())[0];
      int64_t blocks = (*kernel.getKnownGridSize())[0];
      Block &entry = kernel.getBody().front();
      Value thread = entry.addArgument(b.getIndexType(), loc);
      entry.addArgument(b.getIndexType(), loc);
      kernel.walk([&](Operation *op) {
        b.setInsertionPoint(op);
        if (isa<gpu::BlockIdOp, gpu::ThreadIdOp>(op)) {
          Value size = arith::ConstantIndexOp::create(b, loc, blockSize);
          Value id =
              isa<gpu::BlockIdOp>(op)
                  ? arith::DivUIOp::create(b, loc, thread, size).getResult()
                  : arith::RemUIOp::create(b, loc, thread, size).getResult();
          op->replaceAllUsesWith(ValueRange(id));
          op->erase();
        } else if (isa<gpu::ReturnOp>(op)) {
          func::ReturnOp::create(b, loc);
          op->erase();
        }
      });
      module.lookupSymbol<func::FuncOp>(kernel.getName()).erase();
      b.setInsertionPoint(gpuModule);
      auto function = func::FuncOp::create(
          b, loc, kernel.getName(),
          b.getFunctionType(entry.getArgumentTypes(), TypeRange()));
      function->setAttr(kKernelAttr, b.getUnitAttr());
      function->setAttr(kChunksAttr, b.getI64IntegerAttr(blocks * blockSize));
      function.getBody().takeBody(kernel.getBody());
    }
    gpuModule.erase();
  }
}

void CompiledKernels::compile(ModuleOp module, bool fuse) {
  kernels.clear();
  mostChunks = 0;
  PassManager manager(&context);
  EchoFormKernelsPassOptions options;
  options.fuse = fuse;
  manager.addPass(createEchoFormKernelsPass(options));
  manager.addPass(createEchoOutlineKernelsPass());
  manager.addPass(createConvertEchoToLinalgPass());
  manager.addPass(createEchoMergeKernelsPass());
  ASSERT_TRUE(succeeded(manager.run(module)));
  for (func::FuncOp kernel : kernelFunctions(module)) {
    Kernel &entry = kernels[kernel.getName()];
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      auto results =
          kernel.getArgAttrOfType<DenseI64ArrayAttr>(i, kOverwritableAttr);
      entry.overwritable.push_back(
          results ? llvm::to_vector(results.asArrayRef())
                  : SmallVector<int64_t>());
    }
  }
  numKernels = kernels.size();

  OwningOpRef<ModuleOp> lowered(module.clone());
  PassManager lowering(&context);
  if (onThreads) {
    PassManager mapping(&context);
    mapping.addPass(createEchoMapKernelsToGPUPass());
    ASSERT_TRUE(succeeded(mapping.run(*lowered)));
    makeThreadsChunks(*lowered);
  } else {
    lowering.addPass(createEchoLowerKernelsPass());
  }
  lowering.addPass(createConvertEchoKernelsToLLVMPass());
  ASSERT_TRUE(succeeded(lowering.run(*lowered)));
  for (auto function :
       llvm::make_early_inc_range(lowered->getOps<func::FuncOp>()))
    function.erase();
  for (auto kernel : lowered->getOps<LLVM::LLVMFuncOp>()) {
    kernels[kernel.getName()].chunks =
        kernel->getAttrOfType<IntegerAttr>(kChunksAttr).getInt();
    mostChunks = std::max(mostChunks, kernels[kernel.getName()].chunks);
  }

  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*lowered, *llvmContext);
  ASSERT_TRUE(code);
  auto target = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
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
  passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(*code, modules);
  jit = llvm::cantFail(
      llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target).create());
  llvm::cantFail(jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(code), std::move(llvmContext))));
  for (auto &kernel : kernels)
    kernel.second.function =
        llvm::cantFail(jit->lookup(kernel.first()))
            .toPtr<void (*)(void *const *, int64_t, int64_t)>();
}

void CompiledKernels::run(const Kernel &kernel, ArrayRef<void *> pointers,
                          int64_t lower, int64_t upper) {
  if (!onThreads)
    return kernel.function(pointers.data(), lower, upper);
  for (int64_t thread = lower; thread < upper; ++thread)
    kernel.function(pointers.data(), thread, thread + 1);
}

void CompiledKernels::launch(const Kernel &kernel, ArrayRef<HostTensor> inputs,
                             MutableArrayRef<HostTensor> outputs,
                             ArrayRef<int64_t> parameters, Order order) {
  SmallVector<HostTensor> copies(inputs);
  SmallVector<void *> pointers;
  for (HostTensor &copy : copies)
    pointers.push_back(copy.getMutableData());
  SmallVector<int64_t> overwriting(outputs.size(), -1);
  for (auto [index, output] : llvm::enumerate(outputs)) {
    // Whatever is there before must not matter.
    std::memset(output.getMutableData(), 0x7b, output.getBytes().size());
    pointers.push_back(output.getMutableData());
    if (order != Order::InPlace)
      continue;
    for (auto [input, results] : llvm::enumerate(kernel.overwritable))
      if (llvm::is_contained(results, int64_t(index)) &&
          !llvm::is_contained(overwriting, int64_t(input))) {
        overwriting[index] = input;
        pointers.back() = pointers[input];
        break;
      }
  }
  for (int64_t parameter : parameters)
    pointers.push_back(reinterpret_cast<void *>(parameter));
  int64_t chunks = kernel.chunks;
  if (order == Order::ReverseSingle) {
    for (int64_t chunk = chunks; chunk-- > 0;)
      run(kernel, pointers, chunk, chunk + 1);
  } else if (order == Order::Thirds) {
    for (int64_t part : {2, 0, 1})
      run(kernel, pointers, chunks * part / 3, chunks * (part + 1) / 3);
  } else {
    run(kernel, pointers, 0, chunks);
  }
  for (auto [index, output] : llvm::enumerate(outputs))
    if (overwriting[index] >= 0)
      output = copies[overwriting[index]];
}

SmallVector<HostTensor>
CompiledKernels::runHost(func::FuncOp function, ArrayRef<HostTensor> arguments,
                         Order order) {
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
      launch(kernels[call.getKernel()], inputs, outputs,
             call.getParameters().value_or(ArrayRef<int64_t>()), order);
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
  // One op is one kernel either way.
  Block &block = reference->lookupSymbol<func::FuncOp>("f").getBody().front();
  SmallVector<bool> ways = {true};
  if (!llvm::hasNItemsOrLess(block.without_terminator(), 1))
    ways.insert(ways.begin(), false);
  for (bool fuse : ways) {
    OwningOpRef<ModuleOp> module = parse(source);
    ASSERT_TRUE(module);
    compile(*module, fuse);
    if (HasFatalFailure())
      return;
    for (Order order : {Order::Whole, Order::ReverseSingle, Order::Thirds,
                        Order::InPlace}) {
      SmallVector<HostTensor> results =
          runHost(module->lookupSymbol<func::FuncOp>("f"), arguments, order);
      ASSERT_EQ(results.size(), expected->size());
      for (auto [index, result] : llvm::enumerate(results)) {
        const HostTensor &wanted = (*expected)[index];
        ASSERT_EQ(result.getNumElements(), wanted.getNumElements());
        for (int64_t i = 0; i < result.getNumElements(); ++i)
          ASSERT_TRUE(isSame(wanted, result, i))
              << (fuse ? "fused" : "unfused") << ", result " << index
              << ", element " << i << ", order " << int(order) << ": expected "
              << wanted.getDouble(i) << ", found " << result.getDouble(i);
      }
    }
  }
}

//===- SimObject.cpp - What an object of kernels exports ------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimObject.h"
#include "Echo/Conversion/Kernels.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "sim/Device.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::echo;

/// `(arguments...)` becomes an array of the arguments' addresses.
static LLVM::LLVMFuncOp convertSignature(LLVM::LLVMFuncOp kernel) {
  OpBuilder b(kernel.getContext());
  Location loc = kernel.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  Block &entry = kernel.getBody().front();
  b.setInsertionPointToStart(&entry);
  unsigned numArguments = entry.getNumArguments();
  Value arguments = entry.addArgument(pointer, loc);
  for (unsigned i = 0; i < numArguments; ++i) {
    BlockArgument argument = entry.getArgument(i);
    Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, arguments,
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    Value address = LLVM::LoadOp::create(b, loc, pointer, slot);
    argument.replaceAllUsesWith(
        LLVM::LoadOp::create(b, loc, argument.getType(), address));
  }
  entry.eraseArguments(0, numArguments);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer});
  b.setInsertionPoint(kernel);
  auto function = LLVM::LLVMFuncOp::create(b, loc, kernel.getName(), type,
                                           LLVM::Linkage::Internal);
  // What it is to be launched with.
  for (StringRef name : {kKnownBlockSizeAttr, kKnownGridSizeAttr})
    if (Attribute size = kernel->getAttr(name))
      function->setAttr(name, size);
  function.getBody().takeBody(kernel.getBody());
  kernel.erase();
  return function;
}

/// The shared variables of a function and of those that it calls, in order of
/// their uses.
static SmallVector<LLVM::GlobalOp>
sharedVariables(ModuleOp module, LLVM::LLVMFuncOp kernel,
                const llvm::DenseSet<StringAttr> &shared) {
  llvm::SetVector<Operation *> symbols;
  symbols.insert(kernel);
  SmallVector<LLVM::GlobalOp> variables;
  for (size_t i = 0; i < symbols.size(); ++i) {
    Operation *symbol = symbols[i];
    if (auto variable = dyn_cast<LLVM::GlobalOp>(symbol)) {
      if (shared.contains(variable.getSymNameAttr()))
        variables.push_back(variable);
      continue;
    }
    symbol->walk([&](Operation *op) {
      std::optional<StringRef> name;
      if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
        name = address.getGlobalName();
      else if (auto call = dyn_cast<LLVM::CallOp>(op))
        name = call.getCallee();
      if (Operation *used = name ? module.lookupSymbol(*name) : nullptr)
        symbols.insert(used);
    });
  }
  return variables;
}

/// A global whose value is an array of structs, given by their fields.
static void addArray(OpBuilder &b, ModuleOp module, StringRef name,
                     LLVM::Linkage linkage, ArrayRef<Type> fields, size_t size,
                     function_ref<SmallVector<Value>(size_t)> element) {
  Location loc = module.getLoc();
  b.setInsertionPointToEnd(module.getBody());
  auto elementType = LLVM::LLVMStructType::getLiteral(b.getContext(), fields);
  auto type = LLVM::LLVMArrayType::get(elementType, size);
  auto global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                                       linkage, name, Attribute());
  b.createBlock(&global.getInitializerRegion());
  Value array = LLVM::UndefOp::create(b, loc, type);
  for (size_t i = 0; i < size; ++i) {
    Value value = LLVM::UndefOp::create(b, loc, elementType);
    for (auto [field, part] : llvm::enumerate(element(i)))
      value = LLVM::InsertValueOp::create(b, loc, value, part, field);
    array = LLVM::InsertValueOp::create(b, loc, array, value, i);
  }
  LLVM::ReturnOp::create(b, loc, array);
}

void mlir::echo::exportKernels(ModuleOp module,
                               ArrayRef<LLVM::LLVMFuncOp> kernels,
                               const llvm::DenseSet<StringAttr> &shared) {
  OpBuilder b(module.getContext());
  Location loc = module.getLoc();
  DataLayout layout(module);
  Type i64 = b.getI64Type();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto addressOf = [&](StringRef symbol) -> Value {
    return LLVM::AddressOfOp::create(b, loc, pointer, symbol);
  };
  auto number = [&](uint64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
  };
  SmallVector<std::string> kernelNames;
  SmallVector<std::array<std::string, 2>> names; // of its name and variables
  SmallVector<size_t> numShared;
  for (LLVM::LLVMFuncOp function : kernels) {
    LLVM::LLVMFuncOp kernel = convertSignature(function);
    kernelNames.push_back(kernel.getName().str());
    std::string prefix = "echo_sim_" + kernelNames.back();
    names.push_back({prefix + "_name", prefix + "_shared"});
    b.setInsertionPointToEnd(module.getBody());
    std::string text = kernelNames.back() + '\0';
    LLVM::GlobalOp::create(b, loc,
                           LLVM::LLVMArrayType::get(b.getI8Type(), text.size()),
                           /*isConstant=*/true, LLVM::Linkage::Internal,
                           names.back()[0], b.getStringAttr(text));
    SmallVector<LLVM::GlobalOp> variables =
        sharedVariables(module, kernel, shared);
    numShared.push_back(variables.size());
    addArray(b, module, names.back()[1], LLVM::Linkage::Internal,
             {pointer, i64}, variables.size(),
             [&](size_t i) -> SmallVector<Value> {
               uint64_t bytes = layout.getTypeSize(variables[i].getType());
               return {addressOf(variables[i].getSymName()), number(bytes)};
             });
  }
  addArray(b, module, ECHO_SIM_KERNELS_SYMBOL, LLVM::Linkage::External,
           {pointer, pointer, pointer, i64}, kernels.size(),
           [&](size_t i) -> SmallVector<Value> {
             return {addressOf(names[i][0]), addressOf(kernelNames[i]),
                     addressOf(names[i][1]), number(numShared[i])};
           });
  b.setInsertionPointToEnd(module.getBody());
  LLVM::GlobalOp::create(b, loc, i64, /*isConstant=*/true,
                         LLVM::Linkage::External, ECHO_SIM_NUM_KERNELS_SYMBOL,
                         b.getI64IntegerAttr(kernels.size()));
}

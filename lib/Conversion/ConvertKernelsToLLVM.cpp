//===- ConvertKernelsToLLVM.cpp - Kernels in the LLVM dialect -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   func.func private @k(%x: memref<8xf32>, %y: memref<8xf32>,
//                        %begin: index, %end: index)
//   =>
//   llvm.func @k(%args: !llvm.ptr, %begin: i64, %end: i64)
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/Kernels.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "GroupLowering.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Threading.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::echo {
#define GEN_PASS_DEF_CONVERTECHOKERNELSTOLLVMPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

/// Replaces a lowered kernel's buffers by pointers that are loaded from an
/// array, and its range by i64.
static void convertSignature(func::FuncOp kernel,
                             const LLVMTypeConverter &converter) {
  Location loc = kernel.getLoc();
  Block &entry = kernel.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  unsigned numSlots = entry.getNumArguments() - 2;
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  Value pointers = entry.addArgument(pointer, loc);
  for (unsigned i = 0; i < numSlots; ++i) {
    BlockArgument buffer = entry.getArgument(i);
    Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, pointers,
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    // Behind the buffers are the bits of parameters.
    if (!isa<MemRefType>(buffer.getType())) {
      buffer.replaceAllUsesWith(
          LLVM::LoadOp::create(b, loc, buffer.getType(), slot));
      continue;
    }
    Value address = LLVM::LoadOp::create(b, loc, pointer, slot);
    Value descriptor = MemRefDescriptor::fromStaticShape(
        b, loc, converter, cast<MemRefType>(buffer.getType()), address);
    buffer.replaceAllUsesWith(
        UnrealizedConversionCastOp::create(b, loc, buffer.getType(), descriptor)
            .getResult(0));
  }
  for (unsigned i = numSlots; i < numSlots + 2; ++i) {
    BlockArgument bound = entry.getArgument(i);
    Value value = entry.addArgument(b.getI64Type(), loc);
    bound.replaceAllUsesWith(
        UnrealizedConversionCastOp::create(b, loc, bound.getType(), value)
            .getResult(0));
  }
  entry.eraseArguments(0, numSlots + 2);
  kernel.setFunctionType(b.getFunctionType(
      {pointer, b.getI64Type(), b.getI64Type()}, {}));
}

LogicalResult mlir::echo::convertKernelBodyToLLVM(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  LLVMTypeConverter converter(context, options);
  convertSignature(kernel, converter);

  expandBFloat16(kernel);

  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect>();
  target.addLegalOp<func::FuncOp, func::ReturnOp, UnrealizedConversionCastOp>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return false; });
  if (failed(applyPartialConversion(kernel, target, std::move(patterns))))
    return failure();
  SmallVector<UnrealizedConversionCastOp> casts, left;
  kernel.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts, &left);
  if (!left.empty())
    return left.front().emitOpError("is left after lowering a kernel to LLVM");
  return success();
}

/// Replaces the function op itself.
static void convertFunction(func::FuncOp kernel) {
  OpBuilder b(kernel);
  Type pointer = LLVM::LLVMPointerType::get(kernel.getContext()),
       integer = b.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(kernel.getContext()),
                                  {pointer, integer, integer});
  auto function = LLVM::LLVMFuncOp::create(b, kernel.getLoc(),
                                           kernel.getName(), type);
  function->setAttr(kKernelAttr, kernel->getAttr(kKernelAttr));
  function->setAttr(kChunksAttr, kernel->getAttr(kChunksAttr));
  if (Attribute cost = kernel->getAttr(kCostAttr))
    function->setAttr(kCostAttr, cost);
  function.getBody().takeBody(kernel.getBody());
  for (Block &block : function.getBody()) {
    auto exit = dyn_cast<func::ReturnOp>(block.getTerminator());
    if (!exit)
      continue;
    b.setInsertionPoint(exit);
    LLVM::ReturnOp::create(b, exit.getLoc(), ValueRange());
    exit.erase();
  }
  kernel.erase();
}

static void convertGlobal(memref::GlobalOp global) {
  OpBuilder b(global);
  auto value = cast<DenseElementsAttr>(*global.getInitialValue());
  auto type = LLVM::LLVMArrayType::get(value.getElementType(),
                                       value.getNumElements());
  LLVM::GlobalOp::create(b, global.getLoc(), type, /*isConstant=*/true,
                         LLVM::Linkage::Internal, global.getSymName(), value,
                         /*alignment=*/kConstantAlignment);
  global.erase();
}

/// True for (memrefs..., i64..., index, index) -> (), as lowerKernel leaves it.
static bool hasLoweredSignature(func::FuncOp kernel) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  return types.size() >= 2 && kernel.getNumResults() == 0 &&
         llvm::all_of(types.take_back(2), llvm::IsaPred<IndexType>) &&
         llvm::all_of(types.drop_back(2).drop_while(llvm::IsaPred<MemRefType>),
                      [](Type type) { return type.isInteger(64); });
}

namespace {

struct ConvertEchoKernelsToLLVMPass
    : public echo::impl::ConvertEchoKernelsToLLVMPassBase<
          ConvertEchoKernelsToLLVMPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> kernels = kernelFunctions(module);
    llvm::StringSet<> globals;
    for (func::FuncOp kernel : kernels) {
      if (!kernel->hasAttr(kChunksAttr) || !hasLoweredSignature(kernel)) {
        kernel.emitOpError("expected a kernel that --echo-lower-kernels made");
        return signalPassFailure();
      }
      kernel.walk([&](memref::GetGlobalOp op) { globals.insert(op.getName()); });
    }
    if (failed(failableParallelForEach(&getContext(), kernels,
                                       convertKernelBodyToLLVM)))
      return signalPassFailure();
    for (func::FuncOp kernel : kernels)
      convertFunction(kernel);
    for (auto global :
         llvm::make_early_inc_range(module.getOps<memref::GlobalOp>()))
      if (globals.contains(global.getSymName()))
        convertGlobal(global);
  }
};

} // namespace

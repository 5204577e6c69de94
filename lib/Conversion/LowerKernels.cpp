//===- LowerKernels.cpp - Kernels as loops over chunks --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CPU's form of a kernel. KernelPlan says which loops write the outputs and
// how they are cut into chunks; KernelEmitter writes what is computed in them:
//
//   func.func private @k(%x: tensor<64x512xf32>) -> tensor<64x512xf32>
//   =>
//   func.func private @k(%x: memref<32768xf32>, %y: memref<32768xf32>,
//                        %begin: index, %end: index)
//       attributes {echo.chunks = 2 : i64, echo.kernel} {
//     ... scf.for with vector.load, arith ops, vector.store
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/Kernels.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "EmbeddingGradKernel.h"
#include "GroupLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Threading.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOLOWERKERNELSPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

LogicalResult mlir::echo::lowerKernel(func::FuncOp kernel) {
  if (failed(verifyKernel(kernel)))
    return failure();
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  OpBuilder b(context);
  SmallVector<Type> types = bufferSignature(kernel);
  types.append(2, b.getIndexType());
  SmallVector<RankedTensorType> results = outputTypes(kernel);

  Region body;
  Block &entry = body.emplaceBlock();
  entry.addArguments(types, SmallVector<Location>(types.size(), loc));
  size_t numInputs = llvm::count_if(kernel.getArgumentTypes(),
                                    llvm::IsaPred<RankedTensorType>);
  ValueRange outputs =
      ValueRange(entry.getArguments()).slice(numInputs, results.size());
  Value begin = entry.getArgument(types.size() - 2);
  Value end = entry.getArgument(types.size() - 1);

  KernelEmitter emitter(kernel, &entry, numInputs + results.size());
  int64_t chunks = 0;
  auto gradients = kernel.getBody().getOps<EmbeddingGradOp>();
  if (!gradients.empty()) {
    chunks = lowerEmbeddingGrad(*gradients.begin(), emitter, &entry);
  } else {
    std::vector<BoxGroup> groups = planKernel(kernel);
    for (const BoxGroup &group : groups) {
      emitter.beginGroup();
      Value lower = begin, upper = end;
      if (groups.size() != 1) {
        // The part of the range that is this group's, counted from its first.
        Value first = emitter.constantIndex(chunks);
        Value last = emitter.constantIndex(chunks + group.chunks());
        auto clamp = [&](Value value) -> Value {
          value = arith::MaxUIOp::create(emitter.current(), loc, value, first);
          value = arith::MinUIOp::create(emitter.current(), loc, value, last);
          return arith::SubIOp::create(emitter.current(), loc, value, first);
        };
        lower = clamp(begin);
        upper = clamp(end);
      }
      GroupLowering(emitter, group, results, outputs).runChunks(lower, upper);
      chunks += group.chunks();
    }
  }
  func::ReturnOp::create(emitter.current(), loc);

  kernel.getBody().getBlocks().clear();
  kernel.getBody().takeBody(body);
  kernel.setFunctionType(b.getFunctionType(types, {}));
  kernel.removeArgAttrsAttr();
  kernel.removeResAttrsAttr();
  kernel->setAttr(kChunksAttr, b.getI64IntegerAttr(chunks));
  if (!emitter.getConstants().empty())
    kernel->setAttr(kConstantsAttr, b.getArrayAttr(emitter.getConstants()));
  return success();
}

namespace {

struct EchoLowerKernelsPass
    : public echo::impl::EchoLowerKernelsPassBase<EchoLowerKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (func::FuncOp kernel : kernelFunctions(getOperation()))
      if (!kernel->hasAttr(kChunksAttr))
        kernels.push_back(kernel);
    if (failed(failableParallelForEach(&getContext(), kernels, lowerKernel)))
      return signalPassFailure();
    for (func::FuncOp kernel : kernels) {
      auto constants = kernel->getAttrOfType<ArrayAttr>(kConstantsAttr);
      if (!constants)
        continue;
      kernel->removeAttr(kConstantsAttr);
      OpBuilder b(kernel);
      createGlobals(b, kernel.getLoc(), kernel.getName(), constants.getValue());
    }
  }
};

} // namespace

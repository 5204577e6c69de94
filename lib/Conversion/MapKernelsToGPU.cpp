//===- MapKernelsToGPU.cpp - Kernels as GPU functions ---------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plain mapping: a thread takes chunks of the kernel's iteration space (a row
// each), those whose numbers are its own and every `threads` further.
//
//   func.func private @k(%x: tensor<64x512xf32>) -> tensor<64xf32> { ... }
//   =>
//   func.func private @k(tensor<64x512xf32>) -> tensor<64xf32>
//   gpu.module @echo_kernels {
//     gpu.func @k(%x: memref<32768xf32>, %y: memref<64xf32>) kernel
//         attributes {known_block_size = array<i32: 256, 1, 1>,
//                     known_grid_size = array<i32: 1, 1, 1>} {
//       ... scf.for %chunk = %thread to %chunks step %threads
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/Kernels.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "EmbeddingGradKernel.h"
#include "GroupLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOMAPKERNELSTOGPUPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

/// The largest block that can be launched however many registers a kernel has.
static constexpr int64_t kBlockSize = 256;
/// What every device takes on x.
static constexpr int64_t kMaxBlocks = std::numeric_limits<int32_t>::max();

/// The blocks of a kernel for this many chunks; one if there are none.
static int64_t numBlocks(int64_t chunks) {
  return std::clamp<int64_t>(llvm::divideCeilSigned(chunks, kBlockSize), 1,
                             kMaxBlocks);
}

/// Makes square roots calls of an intrinsic, which PTX has with IEEE rounding:
/// the conversion of the GPU dialect would call a library's, which rounds as
/// IEEE says only if the library is told so.
static void convertRoots(Operation *function) {
  function->walk([](math::SqrtOp op) {
    OpBuilder b(op);
    auto root = LLVM::CallIntrinsicOp::create(b, op.getLoc(), op.getType(),
                                              b.getStringAttr("llvm.sqrt"),
                                              ValueRange(op.getOperand()));
    op.replaceAllUsesWith(root.getResults());
    op.erase();
  });
}

FailureOr<gpu::GPUFuncOp> mlir::echo::mapKernelToGPU(func::FuncOp kernel,
                                                     gpu::GPUModuleOp module) {
  if (failed(verifyKernel(kernel)))
    return failure();
  Location loc = kernel.getLoc();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto function = gpu::GPUFuncOp::create(
      b, loc, kernel.getName(),
      b.getFunctionType(bufferSignature(kernel), TypeRange()));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  SmallVector<RankedTensorType> results = outputTypes(kernel);

  std::vector<BoxGroup> groups;
  auto gradients = kernel.getBody().getOps<EmbeddingGradOp>();
  int64_t chunks = 0;
  if (!gradients.empty())
    chunks = results.front().getNumElements();
  else
    groups = planKernel(kernel, /*forThreads=*/true);
  for (const BoxGroup &group : groups)
    chunks = std::max(chunks, group.rowChunks);
  int64_t blocks = numBlocks(chunks);
  auto size = [&](int64_t x) {
    return b.getDenseI32ArrayAttr({int32_t(x), 1, 1});
  };
  function.setKnownBlockSizeAttr(size(kBlockSize));
  function.setKnownGridSizeAttr(size(blocks));

  Block &entry = function.getBody().front();
  size_t numInputs = llvm::count_if(kernel.getArgumentTypes(),
                                    llvm::IsaPred<RankedTensorType>);
  ValueRange outputs =
      ValueRange(entry.getArguments()).slice(numInputs, results.size());
  KernelEmitter emitter(kernel, &entry, numInputs + results.size(),
                        /*vectorWidth=*/1);
  auto create = [&](auto op, auto... arguments) -> Value {
    return decltype(op)::create(emitter.current(), loc, arguments...);
  };
  Value block = create(gpu::BlockIdOp(), gpu::Dimension::x);
  Value thread = create(gpu::ThreadIdOp(), gpu::Dimension::x);
  Value base =
      create(arith::MulIOp(), block, emitter.constantIndex(kBlockSize));
  Value first = create(arith::AddIOp(), base, thread);
  Value step = emitter.constantIndex(blocks * kBlockSize);
  if (!gradients.empty())
    lowerEmbeddingGradElements(*gradients.begin(), emitter, &entry, first,
                               step);
  for (const BoxGroup &group : groups) {
    emitter.beginGroup();
    GroupLowering(emitter, group, results, outputs).runThread(first, step);
  }
  gpu::ReturnOp::create(emitter.current(), loc);

  expandBFloat16(function);
  convertRoots(function);
  b.setInsertionPoint(function);
  createGlobals(b, loc, kernel.getName(), emitter.getConstants());
  return function;
}

namespace {

struct EchoMapKernelsToGPUPass
    : public echo::impl::EchoMapKernelsToGPUPassBase<EchoMapKernelsToGPUPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> kernels = kernelFunctions(module);
    if (kernels.empty())
      return;
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto gpuModule =
        gpu::GPUModuleOp::create(b, module.getLoc(), kGPUModuleName);
    SymbolTable(module).insert(gpuModule);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
    for (func::FuncOp kernel : kernels) {
      if (failed(mapKernelToGPU(kernel, gpuModule)))
        return signalPassFailure();
      // The host's launches need the function's type alone.
      kernel.getBody().getBlocks().clear();
      kernel.setPrivate();
    }
  }
};

} // namespace

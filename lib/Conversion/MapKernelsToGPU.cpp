//===- MapKernelsToGPU.cpp - Kernels as GPU functions ---------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Groups of boxes run one after another in one launch; ThreadedGroup says which
// threads write what of them.
//
//   func.func private @k(%x: tensor<64x512xf32>) -> tensor<64xf32> { ... }
//   =>
//   func.func private @k(tensor<64x512xf32>) -> tensor<64xf32>
//   gpu.module @echo_kernels {
//     gpu.func @k(%x: memref<32768xf32>, %y: memref<64xf32>) kernel
//         attributes {known_block_size = array<i32: 32, 1, 1>,
//                     known_grid_size = array<i32: 64, 1, 1>} {
//       ... scf.for %row = %warp to %rows step %warps
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/Kernels.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "EmbeddingGradKernel.h"
#include "Program.h"
#include "ThreadedGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOMAPKERNELSTOGPUPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

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

/// Bytes of the largest elements that memory holds for a kernel. Single values
/// don't count.
static int64_t elementBytes(func::FuncOp kernel) {
  int64_t bytes = 1;
  for (Type type : llvm::concat<const Type>(kernel.getArgumentTypes(),
                                            kernel.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.getNumElements() > 1)
      bytes = std::max<int64_t>(
          bytes, llvm::divideCeil(tensor.getElementTypeBitWidth(), 8));
  }
  return bytes;
}

/// Buffers that aren't part of others start at multiples of so many bytes.
static constexpr uint64_t kBufferAlignment = 64;

/// What a buffer starts at a multiple of: a power of two.
static uint64_t alignmentOf(Value buffer) {
  uint64_t bytes = kBufferAlignment;
  auto add = [&](int64_t offset) { bytes = std::gcd(bytes, offset); };
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto part = dyn_cast<BufferViewOp>(op)) {
      add(part.getOffset());
      buffer = part.getSource();
    } else if (auto part = dyn_cast<memref::ViewOp>(op)) {
      add(getConstantIntValue(part.getByteShift()).value_or(1));
      buffer = part.getSource();
    } else {
      return 1;
    }
  }
  return isa<MemRefType>(buffer.getType()) ? bytes : 1;
}

/// The alignments of a kernel's buffers in all of its launches, by its name: of
/// the inputs, then of the outputs. Of launches on tensors nothing is known:
/// their operands may become parts of buffers.
static llvm::StringMap<SmallVector<uint64_t>>
launchAlignments(ModuleOp module) {
  llvm::StringMap<SmallVector<uint64_t>> all;
  module.walk([&](LaunchOp launch) {
    SmallVector<uint64_t> &known = all[launch.getKernel()];
    known.resize(launch->getNumOperands() + launch->getNumResults(),
                 launch->getNumResults() ? 1 : kBufferAlignment);
    for (auto [bytes, operand] : llvm::zip(known, launch->getOperands()))
      bytes = std::gcd(bytes, alignmentOf(operand));
  });
  return all;
}

FailureOr<gpu::GPUFuncOp>
mlir::echo::mapKernelToGPU(func::FuncOp kernel, gpu::GPUModuleOp module,
                           ArrayRef<uint64_t> alignments,
                           int64_t multiprocessors) {
  if (failed(verifyKernel(kernel)))
    return failure();
  Location loc = kernel.getLoc();
  size_t numArguments = kernel.getNumArguments() + kernel.getNumResults();
  if (numArguments > ::echo::kMaxGPUArguments)
    return kernel.emitOpError("expected at most ")
           << ::echo::kMaxGPUArguments
           << " buffers and parameters, which a GPU's kernel takes, found "
           << numArguments;
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto function = gpu::GPUFuncOp::create(
      b, loc, kernel.getName(),
      b.getFunctionType(bufferSignature(kernel), TypeRange()));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  SmallVector<RankedTensorType> results = outputTypes(kernel);

  std::vector<BoxGroup> groups;
  auto gradients = kernel.getBody().getOps<EmbeddingGradOp>();
  std::vector<ThreadMapping> mappings;
  if (!gradients.empty())
    mappings.push_back(planEmbeddingGrad(*gradients.begin(), multiprocessors));
  else
    groups = planKernel(kernel, /*forThreads=*/true);
  for (const BoxGroup &group : groups)
    mappings.push_back(
        planThreads(group, elementBytes(kernel), multiprocessors));
  ThreadPlace place;
  place.launch = planLaunch(mappings, multiprocessors);
  place.multiprocessors = multiprocessors;
  auto size = [&](int64_t x) {
    return b.getDenseI32ArrayAttr({int32_t(x), 1, 1});
  };
  function.setKnownBlockSizeAttr(size(place.launch.block));
  function.setKnownGridSizeAttr(size(place.launch.blocks));

  Block &entry = function.getBody().front();
  if (place.launch.blocks == 0) {
    b.setInsertionPointToEnd(&entry);
    gpu::ReturnOp::create(b, loc);
    return function;
  }
  size_t numInputs = llvm::count_if(kernel.getArgumentTypes(),
                                    llvm::IsaPred<RankedTensorType>);
  // Shared buffers become arguments of the block, too.
  SmallVector<Value> outputs(
      ValueRange(entry.getArguments()).slice(numInputs, results.size()));
  KernelEmitter emitter(kernel, &entry, numInputs + results.size());
  auto create = [&](auto op, auto... arguments) -> Value {
    return decltype(op)::create(emitter.current(), loc, arguments...);
  };
  place.block = create(gpu::BlockIdOp(), gpu::Dimension::x);
  place.thread = create(gpu::ThreadIdOp(), gpu::Dimension::x);
  for (auto [value, bytes] : llvm::zip(entry.getArguments(), alignments))
    emitter.setAlignment(value, bytes);
  if (!gradients.empty())
    lowerThreadedEmbeddingGrad(*gradients.begin(), emitter, &entry, place);
  bool isAliased = llvm::any_of(
      llvm::seq<unsigned>(0, kernel.getNumArguments()), [&](unsigned i) {
        return bool(kernel.getArgAttr(i, kOverwritableAttr));
      });
  for (auto [group, mapping] : llvm::zip(groups, mappings)) {
    emitter.beginGroup(group.sizes.size());
    ThreadedGroup(emitter, group, results, outputs, mapping, place, isAliased)
        .run();
  }
  gpu::ReturnOp::create(emitter.current(), loc);
  if (emitter.sharedBytes() > int64_t(::echo::kMaxStaticSharedBytes))
    return kernel.emitOpError("expected to share at most ")
           << ::echo::kMaxStaticSharedBytes
           << " bytes of memory among a block's threads, found "
           << emitter.sharedBytes();

  expandBFloat16(function);
  convertRoots(function);
  b.setInsertionPoint(function);
  createGlobals(b, loc, kernel.getName(), emitter.getConstants());
  return function;
}

/// Indices below lie in 32 bits, with what is added to them.
static constexpr int64_t kSmallIndices = int64_t(1) << 30;

/// True if all tensors of a kernel, also those that memory never holds, are
/// numbered by small indices.
static bool hasSmallTensors(func::FuncOp kernel) {
  auto isSmall = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || (succeeded(mlir::echo::detail::typeBytes(tensor)) &&
                       tensor.getNumElements() < kSmallIndices);
  };
  WalkResult result = kernel.walk([&](Operation *op) {
    return llvm::all_of(op->getResultTypes(), isSmall)
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  return !result.wasInterrupted() &&
         llvm::all_of(kernel.getArgumentTypes(), isSmall);
}

/// True if all indices of a kernel whose tensors are small lie in 32 bits: the
/// bounds and steps of its loops, and what comes from data.
static bool hasSmallIndices(gpu::GPUFuncOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
      return constant.value() < kSmallIndices ? WalkResult::advance()
                                              : WalkResult::interrupt();
    // Parameters are offsets in buffers.
    auto cast = dyn_cast<arith::IndexCastOp>(op);
    return cast && cast.getIn().getType().isInteger(64) &&
                   !isa<BlockArgument>(cast.getIn())
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

static void setIndexWidth(gpu::GPUModuleOp module, bool isSmall) {
  Builder b(module.getContext());
  DataLayoutEntryInterface width = DataLayoutEntryAttr::get(
      b.getIndexType(), b.getI32IntegerAttr(isSmall ? 32 : 64));
  module->setAttr(DLTIDialect::kDataLayoutAttrName,
                  DataLayoutSpecAttr::get(b.getContext(), width));
}

namespace {

struct EchoMapKernelsToGPUPass
    : public mlir::echo::impl::EchoMapKernelsToGPUPassBase<
          EchoMapKernelsToGPUPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> kernels = kernelFunctions(module);
    if (kernels.empty())
      return;
    if (multiprocessors == 0) {
      module.emitError("expected a device of at least one multiprocessor");
      return signalPassFailure();
    }
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto gpuModule =
        gpu::GPUModuleOp::create(b, module.getLoc(), kGPUModuleName);
    SymbolTable(module).insert(gpuModule);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
    llvm::StringMap<SmallVector<uint64_t>> alignments =
        launchAlignments(module);
    bool isSmall = true;
    for (func::FuncOp kernel : kernels) {
      if (alignment != 0)
        alignments[kernel.getName()].assign(
            kernel.getNumArguments() + kernel.getNumResults(), alignment);
      FailureOr<gpu::GPUFuncOp> function = mapKernelToGPU(
          kernel, gpuModule, alignments[kernel.getName()], multiprocessors);
      if (failed(function))
        return signalPassFailure();
      isSmall =
          isSmall && hasSmallTensors(kernel) && hasSmallIndices(*function);
      // The host's launches need the function's type alone.
      kernel.getBody().getBlocks().clear();
      kernel.setPrivate();
    }
    setIndexWidth(gpuModule, isSmall);
  }
};

} // namespace

//===- FormKernels.cpp - Groups ops into kernels --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run of neighbouring elementwise ops of one result shape becomes one kernel
// with a result for every value that is read outside; every other op that
// computes becomes a kernel of its own:
//
//   %0 = echo.mul %a, %b                  %1 = echo.kernel(%a, %b) {
//   %1 = echo.tanh %0             =>        %0 = echo.mul, %1 = echo.tanh
//   return %1                               echo.yield %1 }
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Transforms/Kernels.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOFORMKERNELSPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

/// Longest run of elementwise ops in one kernel: keeps the code of a kernel
/// small enough for registers and compile time.
static constexpr size_t kMaxRun = 32;
/// Constants of up to this many elements, and splats, are part of the kernels
/// that read them.
static constexpr int64_t kSmallConstant = 16;

static bool isSmallConstant(Operation *op) {
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  if (!constant)
    return false;
  auto type = cast<ShapedType>(constant.getType());
  if (type.getNumElements() <= kSmallConstant)
    return true;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat();
}

/// True if every result of `op` is contiguous in operand 0's buffer.
static bool isView(Operation *op) {
  auto view = dyn_cast<BufferViewOpInterface>(op);
  if (!view)
    return false;
  for (unsigned i = 0, e = op->getNumResults(); i < e; ++i)
    if (failed(view.getViewOffset(i)))
      return false;
  return true;
}

/// True if the host program keeps `op` as it is.
static bool staysOnHost(Operation *op) {
  // Ops of other dialects take part if they tell their arithmetic.
  return !(isa_and_nonnull<EchoDialect>(op->getDialect()) ||
           isa<ElementwiseOpInterface, DecomposeOpInterface>(op)) ||
         op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() != 0 ||
         !isPure(op) || isa<LibraryCallOpInterface, LaunchOp>(op) || isView(op);
}

static LogicalResult verifyStatic(Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.hasStaticShape())
      return success();
    return op->emitOpError("expected static shapes to form kernels, found ")
           << type;
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  return success();
}

/// Replaces `ops`, neighbours but for constants, by one kernel at the place of
/// the last.
static void wrapInKernel(ArrayRef<Operation *> ops) {
  llvm::SmallPtrSet<Operation *, 8> members(ops.begin(), ops.end());
  llvm::SetVector<Value> inputs, outputs;
  llvm::SetVector<Operation *> constants;
  for (Operation *op : ops) {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (isSmallConstant(producer) && !members.contains(producer))
        constants.insert(producer);
      else if (!members.contains(producer))
        inputs.insert(operand);
    }
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !members.contains(user);
          }))
        outputs.insert(result);
  }
  // A kernel without readers would be dead at once; keep its results, so that
  // removing dead code stays another pass's business.
  if (outputs.empty())
    for (Value result : ops.back()->getResults())
      outputs.insert(result);

  OpBuilder builder(ops.back());
  Location loc = ops.front()->getLoc();
  SmallVector<Type> types;
  for (Value output : outputs)
    types.push_back(output.getType());
  auto kernel = KernelOp::create(builder, loc, types, inputs.getArrayRef());
  Block &body = kernel.getBody().emplaceBlock();
  IRMapping map;
  for (Value input : inputs)
    map.map(input, body.addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToStart(&body);
  for (Operation *constant : constants)
    builder.clone(*constant, map);
  for (Operation *op : ops)
    builder.clone(*op, map);
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(map.lookup(output));
  YieldOp::create(builder, loc, yielded);

  for (auto [index, output] : llvm::enumerate(outputs)) {
    Value inside = output;
    inside.replaceUsesWithIf(kernel.getOutputs()[index], [&](OpOperand &use) {
      return !members.contains(use.getOwner());
    });
  }
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

static LogicalResult formKernels(Block &block) {
  SmallVector<Operation *> run, constants;
  auto flush = [&] {
    if (!run.empty())
      wrapInKernel(run);
    run.clear();
  };
  auto shapeOf = [](Operation *op) {
    return cast<ShapedType>(op->getResult(0).getType()).getShape();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<ConstantOp>(op)) {
      constants.push_back(&op);
      continue;
    }
    if (staysOnHost(&op)) {
      flush();
      continue;
    }
    if (failed(verifyStatic(&op)))
      return failure();
    bool elementwise = isa<ElementwiseOpInterface>(op);
    if (!run.empty() &&
        (!elementwise || run.size() == kMaxRun ||
         !isa<ElementwiseOpInterface>(run.back()) ||
         shapeOf(&op) != shapeOf(run.back())))
      flush();
    run.push_back(&op);
  }
  flush();

  // What still reads a constant is the host program.
  for (Operation *constant : constants) {
    if (constant->use_empty())
      constant->erase();
    else
      wrapInKernel(constant);
  }
  return success();
}

LogicalResult mlir::echo::formKernels(func::FuncOp function) {
  if (function.isExternal() || function->hasAttr(kKernelAttr))
    return success();
  for (Block &block : function.getBody())
    if (failed(::formKernels(block)))
      return failure();
  return success();
}

namespace {

struct EchoFormKernelsPass
    : public echo::impl::EchoFormKernelsPassBase<EchoFormKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(echo::formKernels(function)))
        return signalPassFailure();
  }
};

} // namespace

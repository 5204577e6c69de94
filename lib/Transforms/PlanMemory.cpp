//===- PlanMemory.cpp - One arena for a host program ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Transforms/PlanMemory.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOPLANMEMORYPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

/// Calls `visit` for every op outside views that uses `buffer` or a view of
/// it, with the op of the function's block that holds it.
static LogicalResult
forEachUse(Value buffer, Block &block,
           llvm::function_ref<void(Operation *user, Operation *ancestor)> visit) {
  SmallVector<Value> worklist = {buffer};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *user : value.getUsers()) {
      Operation *ancestor = block.findAncestorOpInBlock(*user);
      if (!ancestor)
        return user->emitOpError("uses a buffer outside the function's block");
      auto view = dyn_cast<ViewLikeOpInterface>(user);
      if (view && view.getViewSource() == value) {
        worklist.push_back(view.getViewDest());
        continue;
      }
      if (llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
        return user->emitOpError("may return a buffer that it was given; "
                                 "expected a view, a launch or a library call");
      visit(user, ancestor);
    }
  }
  return success();
}

/// The bytes of a buffer's type, which must be one that the arena can hold.
static FailureOr<uint64_t> arenaBytes(Operation *op, MemRefType type) {
  FailureOr<uint64_t> bytes = mlir::echo::detail::typeBytes(type);
  if (failed(bytes) || !type.getLayout().isIdentity())
    return op->emitOpError("expects a buffer with a static shape, the identity "
                           "layout and a size that fits 63 bits, found ")
           << type;
  return *bytes;
}

FailureOr<ArenaBuffers>
mlir::echo::collectArenaBuffers(func::FuncOp function, uint64_t alignment) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expects a body of one block: a host program "
                                "has no control flow");
  Block &block = function.getBody().front();
  DenseMap<Operation *, int64_t> positions;
  int64_t end = 0;
  for (Operation &op : block)
    positions[&op] = end++;

  ArenaBuffers buffers;
  buffers.problem.alignment = alignment;
  // `begin` is the first position that writes; -1 for the start of the step.
  auto add = [&](Operation *op, Value value, bool fromStart) -> LogicalResult {
    FailureOr<uint64_t> bytes =
        arenaBytes(op, cast<MemRefType>(value.getType()));
    if (failed(bytes))
      return failure();
    planning::ArenaBuffer buffer;
    buffer.bytes = *bytes;
    buffer.begin = fromStart ? 0 : end;
    buffer.end = 0;
    auto use = [&](Operation *user, Operation *ancestor) {
      if (isa<memref::DeallocOp>(user))
        return;
      int64_t position = positions.at(ancestor);
      buffer.begin = std::min(buffer.begin, position);
      buffer.end = std::max(buffer.end, position + 1);
    };
    if (failed(forEachUse(value, block, use)))
      return failure();
    // The start of the step fills inputs that nobody reads, too.
    if (buffer.end <= buffer.begin) {
      buffer.begin = fromStart ? 0 : positions.at(op);
      buffer.end = buffer.begin + 1;
    }
    buffers.problem.buffers.push_back(buffer);
    buffers.values.push_back(value);
    return success();
  };

  for (BlockArgument argument : block.getArguments()) {
    if (!isa<MemRefType>(argument.getType()))
      return function.emitOpError("argument #")
             << argument.getArgNumber() << " isn't a buffer: "
             << argument.getType() << " (echo-bufferize comes first)";
    if (isPersistentArgument(function, argument.getArgNumber()))
      continue;
    if (failed(add(function, argument, /*fromStart=*/true)))
      return failure();
  }
  WalkResult result = function.walk([&](memref::AllocOp alloc) {
    if (alloc->getBlock() != &block) {
      alloc.emitOpError("lies in a nested region; expected every buffer in the "
                        "function's block");
      return WalkResult::interrupt();
    }
    if (alloc.getAlignment().value_or(1) > alignment) {
      alloc.emitOpError("asks for alignment ")
          << *alloc.getAlignment() << ", but the arena has " << alignment;
      return WalkResult::interrupt();
    }
    if (failed(add(alloc, alloc.getResult(), /*fromStart=*/false)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return buffers;
}

void mlir::echo::applyArenaPlan(func::FuncOp function,
                                const ArenaBuffers &buffers,
                                const planning::ArenaPlan &plan,
                                uint64_t logicalPeak) {
  Block &block = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  unsigned arenaIndex = function.getNumArguments();
  auto arenaType = MemRefType::get({static_cast<int64_t>(plan.bytes)},
                                   builder.getI8Type());
  auto arenaAttrs = builder.getDictionaryAttr(
      builder.getNamedAttr(kArenaAttr, builder.getUnitAttr()));
  (void)function.insertArgument(arenaIndex, arenaType, arenaAttrs,
                                function.getLoc());
  Value arena = block.getArgument(arenaIndex);
  function->setAttr(kArenaBytesAttr, builder.getI64IntegerAttr(plan.bytes));
  function->setAttr(kArenaAlignmentAttr,
                    builder.getI64IntegerAttr(buffers.problem.alignment));
  function->setAttr(kLogicalPeakAttr, builder.getI64IntegerAttr(logicalPeak));

  DenseMap<uint64_t, Value> constants;
  auto createView = [&](Location loc, Value buffer, uint64_t offset) -> Value {
    Value &constant = constants[offset];
    if (!constant) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&block);
      constant = arith::ConstantIndexOp::create(builder, function.getLoc(),
                                                offset);
    }
    return memref::ViewOp::create(builder, loc,
                                  cast<MemRefType>(buffer.getType()), arena,
                                  constant, ValueRange());
  };
  Operation *first = &block.front();
  for (auto [buffer, offset] : llvm::zip(buffers.values, plan.offsets)) {
    if (auto argument = dyn_cast<BlockArgument>(buffer)) {
      function.setArgAttr(argument.getArgNumber(), kArenaOffsetAttr,
                          builder.getI64IntegerAttr(offset));
      if (argument.use_empty())
        continue;
      builder.setInsertionPoint(first);
      argument.replaceAllUsesWith(
          createView(argument.getLoc(), argument, offset));
      continue;
    }
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    builder.setInsertionPoint(alloc);
    alloc.replaceAllUsesWith(createView(alloc.getLoc(), buffer, offset));
    alloc.erase();
  }
}

FailureOr<MemoryPlan> mlir::echo::computeMemoryPlan(func::FuncOp function,
                                                    int64_t alignment) {
  if (alignment <= 0 || !llvm::isPowerOf2_64(alignment))
    return function.emitOpError("expects an alignment that is a power of two, "
                                "found ")
           << alignment;
  FailureOr<ArenaBuffers> buffers = collectArenaBuffers(function, alignment);
  if (failed(buffers))
    return failure();
  MemoryPlan plan;
  plan.buffers = std::move(*buffers);
  const planning::ArenaProblem &problem = plan.buffers.problem;
  std::string error;
  if (!planning::planArena(problem, plan.arena, error) ||
      !planning::findLivePeak(problem, plan.logicalPeak, error))
    return function.emitOpError("can't be planned: ") << error;
  if (!planning::checkArena(problem, plan.arena, error))
    return function.emitOpError("got a wrong memory plan: ") << error;
  return plan;
}

LogicalResult mlir::echo::planMemory(func::FuncOp function,
                                     int64_t alignment) {
  FailureOr<MemoryPlan> plan = computeMemoryPlan(function, alignment);
  if (failed(plan))
    return failure();
  applyArenaPlan(function, plan->buffers, plan->arena, plan->logicalPeak);
  return success();
}

namespace {

struct EchoPlanMemoryPass
    : public mlir::echo::impl::EchoPlanMemoryPassBase<EchoPlanMemoryPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || function->hasAttr(kKernelAttr))
        continue;
      if (function->hasAttr(kArenaBytesAttr)) {
        function.emitOpError("has an arena already");
        return signalPassFailure();
      }
      if (failed(planMemory(function, alignment)))
        return signalPassFailure();
    }
  }
};

} // namespace

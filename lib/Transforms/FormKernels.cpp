//===- FormKernels.cpp - Groups ops into kernels --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Planning (`Echo/Planning/Fusion.h`) decides which ops share a kernel; here
// the plan is applied. What moves elements or is a small constant is cloned
// into the kernels that read it; values that something outside reads are
// results:
//
//   %0 = echo.mul %a, %b                  %1 = echo.kernel(%a, %b) {
//   %1 = echo.tanh %0             =>        %0 = echo.mul, %1 = echo.tanh
//   return %1                               echo.yield %1 }
//
// A kernel reads through barriers that wait for it; the others stay in the host
// program, as views behind what they wait for.
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/Fusion.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Transforms/Kernels.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOFORMKERNELSPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;
using mlir::echo::planning::FusionOptions;
using mlir::echo::planning::FusionPlan;

namespace {

/// Builds the kernel of some ops.
class KernelBuilder {
public:
  KernelBuilder(const FusionGraph &graph, ArrayRef<uint32_t> indices,
                Operation *before)
      : graph(graph), builder(before) {
    for (uint32_t index : indices) {
      ops.push_back(graph.getOps()[index]);
      members.insert(ops.back());
    }
  }

  /// Replaces what is read outside; the ops themselves are left, without
  /// readers.
  void build() {
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        collectInputs(operand);
    auto isMember = [&](Operation *op) { return members.contains(op); };
    SmallVector<Value> outputs;
    for (Operation *op : ops)
      for (Value result : op->getResults())
        if (graph.isReadOutside(result, isMember) &&
            !llvm::all_of(result.getUses(), isOrder))
          outputs.push_back(result);
    // A kernel without readers would be dead at once; keep its results, so
    // that removing dead code stays another pass's business.
    if (outputs.empty())
      llvm::append_range(outputs, ops.back()->getResults());

    Location loc = ops.front()->getLoc();
    auto kernel =
        KernelOp::create(builder, loc, ValueRange(ArrayRef(outputs)).getTypes(),
                         llvm::to_vector(llvm::make_second_range(inputs)));
    Block &body = kernel.getBody().emplaceBlock();
    for (auto [source, input] : inputs)
      map.map(source, body.addArgument(input.getType(), input.getLoc()));
    builder.setInsertionPointToStart(&body);
    for (Operation *op : ops) {
      for (Value operand : op->getOperands())
        cloneInlined(operand);
      builder.clone(*op, map);
    }
    SmallVector<Value> yielded;
    for (Value output : outputs)
      yielded.push_back(map.lookup(output));
    YieldOp::create(builder, loc, yielded);
    for (auto [output, result] : llvm::zip_equal(outputs, kernel.getOutputs()))
      output.replaceUsesWithIf(result, [&](OpOperand &use) {
        return !members.contains(use.getOwner());
      });
    // A barrier that waits for a value inside waits for the kernel.
    for (Operation *op : ops)
      for (Value result : op->getResults())
        result.replaceUsesWithIf(kernel.getResult(0), isOrder);
  }

private:
  static bool isOrder(OpOperand &use) {
    return isa<OptimizationBarrierOp>(use.getOwner()) &&
           use.getOperandNumber() != 0;
  }

  /// True if the kernel reads `value` from a buffer.
  bool isInput(Value value) const {
    Value root = graph.getRoot(value);
    return root && !members.contains(root.getDefiningOp()) &&
           graph.isOnHost(value) && !waitsForMember(value);
  }

  /// True if `value` is behind a barrier that waits for the kernel itself.
  bool waitsForMember(Value value) const {
    for (; graph.isInlined(value); value = value.getDefiningOp()->getOperand(0))
      if (auto barrier = value.getDefiningOp<OptimizationBarrierOp>())
        if (members.contains(barrier.getAfter().getDefiningOp()))
          return true;
    return false;
  }

  void collectInputs(Value value) {
    if (isInput(value)) {
      // Behind barriers it's the same buffer; one of them keeps the kernel
      // apart from an equal one that has run before.
      Value source = value;
      while (auto barrier = source.getDefiningOp<OptimizationBarrierOp>())
        source = barrier.getOperand();
      Value &input = inputs[source];
      if (!input || input == source)
        input = value;
    } else if (graph.isInlined(value) &&
               value.getDefiningOp()->getNumOperands() != 0) {
      collectInputs(value.getDefiningOp()->getOperand(0));
    }
  }

  void cloneInlined(Value value) {
    if (map.contains(value) || !graph.isInlined(value))
      return;
    Operation *op = value.getDefiningOp();
    if (op->getNumOperands() != 0)
      cloneInlined(op->getOperand(0));
    if (isa<OptimizationBarrierOp>(op))
      map.map(value, map.lookup(op->getOperand(0)));
    else
      builder.clone(*op, map);
  }

  const FusionGraph &graph;
  OpBuilder builder;
  SmallVector<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 16> members;
  /// By what is behind the barriers: what the kernel takes.
  llvm::MapVector<Value, Value> inputs;
  IRMapping map;
};

} // namespace

/// What barriers wait for becomes what a kernel or the host program computes.
static void followOrder(const FusionGraph &graph,
                        ArrayRef<Operation *> movements) {
  for (Operation *op : movements)
    if (auto barrier = dyn_cast<OptimizationBarrierOp>(op)) {
      Value root = graph.getRoot(barrier.getAfter());
      barrier.getAfterMutable().assign(root ? root : barrier.getOperand());
    }
}

/// Puts views right behind what they are views of, so that every kernel finds
/// them, and removes what is left without readers.
static void cleanUp(Block &block, ArrayRef<Operation *> movements,
                    ArrayRef<Operation *> fused) {
  llvm::SmallPtrSet<Operation *, 32> dead(fused.begin(), fused.end());
  SmallVector<Operation *> all(movements);
  llvm::append_range(all, fused);
  // Members of kernels are read by other members and by movements between
  // them, which are read by nothing else then.
  for (Operation *op : fused)
    op->dropAllReferences();
  for (Operation *op : llvm::reverse(movements))
    if (op->use_empty()) {
      op->dropAllReferences();
      dead.insert(op);
    }
  // Of kernels and host ops, and of what views are views of.
  llvm::DenseMap<Operation *, unsigned> positions;
  for (auto [index, op] : llvm::enumerate(block))
    positions[&op] = index + 1;
  auto positionOf = [&](Value value) {
    return positions.lookup(value.getDefiningOp());
  };
  for (Operation *op : movements) {
    if (dead.contains(op) || op->getNumOperands() == 0)
      continue;
    Value source = op->getOperand(0);
    if (auto barrier = dyn_cast<OptimizationBarrierOp>(op))
      if (positionOf(barrier.getAfter()) > positionOf(source))
        source = barrier.getAfter();
    positions[op] = positionOf(source);
    if (Operation *producer = source.getDefiningOp())
      op->moveAfter(producer);
    else if (source.getParentBlock() == &block)
      op->moveBefore(&block, block.begin());
  }
  for (Operation *op : all)
    if (dead.contains(op))
      op->erase();
}

/// Splits ops that do better as several.
static void splitOps(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<FusionOpInterface>())) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> values = op.splitForFusion(builder);
    if (failed(values))
      continue;
    op->replaceAllUsesWith(*values);
    op->erase();
  }
}

static LogicalResult formKernels(Block &block, ArrayRef<Value> updates,
                                 const FusionOptions &options) {
  FailureOr<FusionGraph> graph = FusionGraph::build(block, updates);
  if (failed(graph))
    return failure();
  SmallVector<Operation *> movements;
  for (Operation &op : block)
    if (!graph->getIndex(&op))
      movements.push_back(&op);
  FusionPlan plan = planFusion(graph->getProblem(), options);
  followOrder(*graph, movements);
  SmallVector<Operation *> fused;
  Operation *end = block.getTerminator();
  for (FusionPlan::Step step : plan.steps) {
    if (step.isHost) {
      Operation *op = graph->getOps()[step.index];
      if (op != end)
        op->moveBefore(end);
      continue;
    }
    const std::vector<uint32_t> &kernel = plan.kernels[step.index];
    KernelBuilder(*graph, kernel, end).build();
    for (uint32_t index : kernel)
      fused.push_back(graph->getOps()[index]);
  }
  cleanUp(block, movements, fused);
  return success();
}

LogicalResult mlir::echo::formKernels(func::FuncOp function,
                                      const FusionOptions &options) {
  if (function.isExternal() || function->hasAttr(kKernelAttr))
    return success();
  auto aliases = getAliasedArguments(function);
  if (failed(aliases))
    return failure();
  for (Block &block : function.getBody()) {
    if (options.maxWeight != 0)
      splitOps(block);
    SmallVector<Value> updates;
    if (auto exit = dyn_cast<func::ReturnOp>(block.getTerminator()))
      for (auto [value, argument] : llvm::zip_equal(exit.getOperands(), *aliases))
        if (argument)
          updates.push_back(value);
    if (failed(::formKernels(block, updates, options)))
      return failure();
  }
  return success();
}

namespace {

struct EchoFormKernelsPass
    : public echo::impl::EchoFormKernelsPassBase<EchoFormKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    FusionOptions options;
    if (!fuse)
      options.maxWeight = 0;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(echo::formKernels(function, options)))
        return signalPassFailure();
  }
};

} // namespace

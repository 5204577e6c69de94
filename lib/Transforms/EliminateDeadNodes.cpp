//===- EliminateDeadNodes.cpp - Removes what nothing needs ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream has functions for dead ops, block arguments, and results of ops with
// regions and of linalg.generic. What is left is the order in which they run,
// so that a chain of any length goes in one walk, values that loops carry
// around for themselves alone, and ops that can do without some of their
// results (DropResultsOpInterface).
//
//===----------------------------------------------------------------------===//

#include "Echo/Interfaces/EchoInterfaces.h"
#include "Echo/Transforms/CleanUp.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOELIMINATEDEADNODESPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

static bool isDead(Value value) { return value.use_empty(); }

/// Writes `op` without its dead results. Returns true if it was replaced.
static bool dropResults(DropResultsOpInterface op) {
  SmallVector<bool> dead = llvm::map_to_vector(op->getResults(), isDead);
  OpBuilder builder(op);
  FailureOr<SmallVector<Value>> values = op.dropResults(builder, dead);
  if (failed(values))
    return false;
  auto value = values->begin();
  for (OpResult result : op->getResults())
    if (!dead[result.getResultNumber()])
      result.replaceAllUsesWith(*value++);
  op->erase();
  return true;
}

/// From the end, so that what is read by dead ops alone is found to be dead
/// behind them. Returns true if anything changed.
static bool eliminateBackwards(Operation *root, IRRewriter &rewriter) {
  bool changed = false;
  root->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (op == root)
      return;
    if (isOpTriviallyDead(op)) {
      rewriter.eraseOp(op);
      changed = true;
      return;
    }
    bool hasDeadResult = llvm::any_of(op->getResults(), isDead) &&
                         !llvm::all_of(op->getResults(), isDead);
    if (auto drop = dyn_cast<DropResultsOpInterface>(op)) {
      if (hasDeadResult)
        changed |= dropResults(drop);
      return;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic &&
        (hasDeadResult || llvm::any_of(generic.getRegionInputArgs(), isDead))) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> other =
          linalg::deduplicateOperandsAndRemoveDeadResults(
              rewriter, generic, /*removeOutputs=*/true);
      changed |= succeeded(other) && *other != op;
    }
  });
  return changed;
}

namespace {

/// Which values something needs, if values that loops and branches hand on are
/// followed from where they come to where they go.
class Liveness {
public:
  explicit Liveness(Operation *root) : root(root) {
    root->walk([&](RegionBranchOpInterface op) {
      if (op == root)
        return;
      op.getSuccessorOperandInputMapping(targets);
      branches.push_back(op);
    });
    for (auto &[operand, inputs] : targets)
      for (Value input : inputs)
        sources[input].push_back(operand);
    root->walk([&](Operation *op) {
      bool isBranch = op != root && isa<RegionBranchOpInterface>(op);
      if (!isBranch && wouldOpBeTriviallyDead(op))
        return;
      for (OpOperand &operand : op->getOpOperands())
        if (!targets.contains(&operand))
          mark(operand.get());
    });
    while (!pending.empty())
      visit(pending.pop_back_val());
  }

  /// Lets what a loop carries around for itself alone be what it starts with.
  /// Returns true if anything changed.
  bool cutCycles() {
    bool changed = false;
    for (RegionBranchOpInterface op : branches)
      if (!op->hasTrait<OpTrait::IsIsolatedFromAbove>())
        for (OpOperand &operand : op->getOpOperands())
          for (Value input : targets.lookup(&operand))
            for (OpOperand *other : sources.lookup(input))
              if (isUnneeded(*other) && other->getOwner() != op &&
                  other->get() != operand.get() &&
                  other->get().getType() == operand.get().getType()) {
                other->set(operand.get());
                changed = true;
              }
    return changed;
  }

private:
  void mark(Value value) {
    if (live.insert(value).second)
      pending.push_back(value);
  }

  void visit(Value value) {
    auto it = sources.find(value);
    if (it != sources.end())
      for (OpOperand *operand : it->second)
        mark(operand->get());
    Operation *op = value.getDefiningOp();
    if (!op || !root->isProperAncestor(op) || isa<RegionBranchOpInterface>(op))
      return;
    for (Value operand : op->getOperands())
      mark(operand);
  }

  bool isUnneeded(OpOperand &operand) const {
    return llvm::none_of(targets.lookup(&operand),
                         [&](Value input) { return live.contains(input); });
  }

  Operation *root;
  SmallVector<RegionBranchOpInterface> branches;
  RegionBranchSuccessorMapping targets;
  RegionBranchInverseSuccessorMapping sources;
  llvm::DenseSet<Value> live;
  SmallVector<Value> pending;
};

} // namespace

/// Removes results of loops and branches that nothing needs, with what their
/// regions compute for them. Returns true if anything changed.
static bool eliminateRegionResults(Operation *root) {
  SmallVector<Operation *> ops;
  llvm::SmallSetVector<StringRef, 4> names;
  bool isAnyDead = false;
  root->walk([&](RegionBranchOpInterface op) {
    if (op == root || op->getNumResults() == 0)
      return;
    isAnyDead |= llvm::any_of(op->getResults(), isDead);
    ops.push_back(op);
    names.insert(op->getName().getStringRef());
  });
  if (!isAnyDead)
    return false;
  bool isCut = Liveness(root).cutCycles();
  llvm::erase_if(ops, [](Operation *op) {
    return llvm::none_of(op->getResults(), isDead);
  });
  RewritePatternSet patterns(root->getContext());
  for (StringRef name : names)
    populateRegionBranchOpInterfaceCanonicalizationPatterns(patterns, name);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps)
      .enableFolding(false)
      .enableConstantCSE(false);
  bool changed = false;
  // Not to converge is no fault: what is left is there the next time.
  (void)applyOpPatternsGreedily(ops, std::move(patterns), config, &changed);
  return changed || isCut;
}

void mlir::echo::eliminateDeadNodes(Operation *root) {
  IRRewriter rewriter(root->getContext());
  (void)eraseUnreachableBlocks(rewriter, root->getRegions());
  bool changed;
  do {
    changed = eliminateBackwards(root, rewriter);
    // Values that only depend on each other around a loop of blocks.
    changed |= succeeded(runRegionDCE(rewriter, root->getRegions()));
    changed |= eliminateRegionResults(root);
  } while (changed);
}

namespace {

struct EchoEliminateDeadNodesPass
    : public echo::impl::EchoEliminateDeadNodesPassBase<
          EchoEliminateDeadNodesPass> {
  using Base::Base;

  void runOnOperation() override { eliminateDeadNodes(getOperation()); }
};

} // namespace

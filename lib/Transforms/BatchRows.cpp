//===- BatchRows.cpp - One op for the rows of several ---------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %y0 = echo.linear %x0, %w, %b        %x = echo.concat %x0, %x1
//   %y1 = echo.linear %x1, %w, %b   =>   %y = echo.linear %x, %w, %b
//                                        %y0, %y1 = echo.split %y
//
// Which ops don't depend on each other is found by levels: an op's level is
// the largest number of the group's ops on a way to it. Ops of one level are
// independent; a recurrent product is alone on its level.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/TensorBuilder.h"
#include "Echo/Transforms/Passes.h"
#include "Echo/Transforms/Rewrites.h"
#include "RowBatches.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <tuple>

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOBATCHROWSPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

/// The operand of the rows if `op` may be part of a batch.
static std::optional<unsigned> getBatchedOperand(Operation &op,
                                                 int64_t mostRows) {
  auto parallel = dyn_cast<RowParallelOpInterface>(op);
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!parallel || !cost || !cost.isComputeHeavy() || !isPure(&op) ||
      op.getNumResults() != 1)
    return std::nullopt;
  FailureOr<unsigned> operand = parallel.getRowOperand();
  if (failed(operand))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op.getOperand(*operand).getType());
  auto result = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!type || !result || !type.hasStaticShape() || !result.hasStaticShape() ||
      type.getNumElements() == 0 || result.getNumElements() == 0)
    return std::nullopt;
  if (type.getNumElements() / type.getShape().back() > mostRows)
    return std::nullopt;
  return operand;
}

/// True if both compute the same from their rows.
static bool areAlike(Operation *a, Operation *b, unsigned rowOperand) {
  if (a->getName() != b->getName() ||
      a->getAttrDictionary() != b->getAttrDictionary() ||
      a->getNumOperands() != b->getNumOperands())
    return false;
  for (unsigned i = 0, e = a->getNumOperands(); i < e; ++i)
    if (i != rowOperand && a->getOperand(i) != b->getOperand(i))
      return false;
  auto typeA = cast<RankedTensorType>(a->getOperand(rowOperand).getType());
  auto typeB = cast<RankedTensorType>(b->getOperand(rowOperand).getType());
  return typeA.getElementType() == typeB.getElementType() &&
         typeA.getShape().back() == typeB.getShape().back();
}

/// The ops of a group by level. Ops between the first and the last are visited
/// once.
static std::map<unsigned, SmallVector<Operation *>>
divideIntoLevels(ArrayRef<Operation *> group) {
  llvm::SmallDenseSet<Operation *, 16> members(group.begin(), group.end());
  // Group ops on the longest way up to and including an op; not there: none.
  DenseMap<Operation *, unsigned> counts;
  std::map<unsigned, SmallVector<Operation *>> levels;
  Operation *first = *llvm::min_element(
      group, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  size_t left = group.size();
  for (Operation *op = first; left != 0; op = op->getNextNode()) {
    unsigned count = 0;
    auto visit = [&](Operation *reader) {
      for (Value operand : reader->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (auto it = counts.find(producer); it != counts.end())
            count = std::max(count, it->second);
    };
    if (op->getNumRegions() == 0)
      visit(op);
    else
      op->walk(visit);
    if (members.contains(op)) {
      levels[count].push_back(op);
      ++count;
      --left;
    }
    if (count != 0)
      counts[op] = count;
  }
  return levels;
}

/// Where rows lie nowhere together yet, the order of the ops is free. Products
/// of the same rows with others (weight gradients) will want them in the
/// others' order.
static void sortLikeFactors(SmallVectorImpl<Operation *> &ops,
                            unsigned rowOperand) {
  SmallVector<Value> factors;
  SmallVector<unsigned> owners; // by factor: the index of its op
  for (auto [index, op] : llvm::enumerate(ops)) {
    Value rows = op->getOperand(rowOperand);
    for (Operation *user : rows.getUsers()) {
      auto sum = dyn_cast<RowSumOpInterface>(user);
      FailureOr<SmallVector<unsigned>> summed = failure();
      if (sum)
        summed = sum.getSummedOperands();
      if (failed(summed) || summed->size() != 2)
        continue;
      Value first = user->getOperand(summed->front());
      factors.push_back(first == rows ? user->getOperand(summed->back())
                                      : first);
      owners.push_back(index);
    }
  }
  SmallVector<ByteRange> places(ops.size());
  for (auto [owner, place] : llvm::zip_equal(owners, findCommonPlaces(factors)))
    if (!places[owner].source)
      places[owner] = place;
  // Every op has a place, or there is no order to take over.
  if (!llvm::all_of(places, [](const ByteRange &p) { return bool(p.source); }))
    return;
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, ops.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::tie(places[a].offset, a) < std::tie(places[b].offset, b);
  });
  SmallVector<Operation *> sorted;
  for (unsigned i : order)
    sorted.push_back(ops[i]);
  llvm::copy(sorted, ops.begin());
}

/// Replaces the ops of a batch by one; they don't depend on each other. False
/// if no place in the block is right.
static bool replaceBatch(const RowBatch &batch, unsigned rowOperand) {
  SmallVector<Value> inputs(batch.ops.front()->getOperands());
  const ByteRange &existing = batch.existing.front();
  if (existing.source)
    inputs.push_back(existing.source);
  for (Operation *op : batch.ops)
    inputs.push_back(op->getOperand(rowOperand));
  Block *block = batch.ops.front()->getBlock();
  FailureOr<Operation *> place = makePlace(*block, inputs, batch.ops);
  if (failed(place))
    return false;

  OpBuilder builder(block->getParent()->getContext());
  if (*place)
    builder.setInsertionPointAfter(*place);
  else
    builder.setInsertionPointToStart(block);
  Operation *model = batch.ops.front();
  SmallVector<Location> locations;
  for (Operation *op : batch.ops)
    locations.push_back(op->getLoc());
  Location loc = builder.getFusedLoc(locations);
  TensorBuilder b(builder, loc);
  Value rows = buildRows(builder, loc, batch, rowOperand, existing,
                         /*flat=*/true);
  Operation *merged = builder.clone(*model);
  merged->setLoc(loc);
  merged->setOperand(rowOperand, rows);
  Value whole = merged->getResult(0);
  auto resultType = cast<RankedTensorType>(whole.getType());
  whole.setType(resultType.clone(
      {b.shapeOf(rows).front(), resultType.getShape().back()}));

  SmallVector<Value> parts;
  auto rowsOf = [](Operation *op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    return type.getNumElements() / type.getShape().back();
  };
  bool equal = llvm::all_of(batch.ops, [&](Operation *op) {
    return rowsOf(op) == rowsOf(model);
  });
  if (equal) {
    parts = b.split(whole, 0, batch.ops.size());
  } else {
    int64_t offset = 0;
    for (Operation *op : batch.ops) {
      parts.push_back(
          b.slice(whole, {offset, 0}, {rowsOf(op), b.shapeOf(whole).back()}));
      offset += rowsOf(op);
    }
  }
  for (auto [op, part] : llvm::zip_equal(batch.ops, parts)) {
    TensorBuilder atOp(builder, op->getLoc());
    op->getResult(0).replaceAllUsesWith(
        atOp.reshape(part, atOp.shapeOf(op->getResult(0))));
  }
  // The builder may stand at one of them.
  for (Operation *op : batch.ops)
    op->erase();
  return true;
}

static void batchRows(Block &block, int64_t mostRows) {
  struct Group {
    unsigned rowOperand;
    SmallVector<Operation *> ops;
  };
  // By the first operand that isn't the rows; few groups share one.
  llvm::MapVector<Value, SmallVector<Group>> groups;
  for (Operation &op : block) {
    std::optional<unsigned> operand = getBatchedOperand(op, mostRows);
    if (!operand || op.getNumOperands() < 2)
      continue;
    SmallVector<Group> &candidates = groups[op.getOperand(*operand == 0)];
    auto *group = llvm::find_if(candidates, [&](const Group &group) {
      return group.rowOperand == *operand &&
             areAlike(group.ops.front(), &op, *operand);
    });
    if (group == candidates.end())
      candidates.push_back({*operand, {&op}});
    else
      group->ops.push_back(&op);
  }
  for (auto &[shared, candidates] : groups)
    for (Group &group : candidates) {
      if (group.ops.size() < 2)
        continue;
      for (auto &[level, ops] : divideIntoLevels(group.ops)) {
        if (ops.size() < 2)
          continue;
        sortLikeFactors(ops, group.rowOperand);
        for (RowBatch &batch : divideIntoBatches(ops, group.rowOperand)) {
          if (batch.ops.size() < 2 || replaceBatch(batch, group.rowOperand))
            continue;
          // What holds the rows already may depend on the products.
          batch.existing.front() = ByteRange();
          replaceBatch(batch, group.rowOperand);
        }
      }
    }
}

void mlir::echo::batchRows(func::FuncOp function, int64_t mostRows) {
  for (Block &block : function.getBody())
    ::batchRows(block, mostRows);
}

namespace {

struct EchoBatchRowsPass
    : public mlir::echo::impl::EchoBatchRowsPassBase<EchoBatchRowsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (mostRows < 1) {
      getOperation().emitError("expects most-rows >= 1, found ")
          << mostRows.getValue();
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kKernelAttr))
        batchRows(function, mostRows);
  }
};

} // namespace

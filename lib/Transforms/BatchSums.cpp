//===- BatchSums.cpp - One op for the terms of a sum ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %p0 = echo.matmul %a0, %b0 {transpose_lhs}    %a = echo.concat %a0, %a1
//   %p1 = echo.matmul %a1, %b1 {transpose_lhs} => %b = echo.concat %b0, %b1
//   %s = echo.add %p0, %p1                        %s = echo.matmul %a, %b
//                                                      {transpose_lhs}
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/TensorBuilder.h"
#include "Echo/Transforms/Passes.h"
#include "Echo/Transforms/Rewrites.h"
#include "RowBatches.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOBATCHSUMSPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

namespace {

/// Terms of a sum that differ in their summed operands alone.
struct TermGroup {
  SmallVector<unsigned> operands;
  SmallVector<Operation *> ops;
};

} // namespace

/// True if `op` adds two tensors of its result's type.
static bool isPlainAdd(Operation *op) {
  return isa_and_nonnull<AddOp>(op) &&
         llvm::all_of(op->getOperandTypes(), [&](Type type) {
           return type == op->getResult(0).getType();
         });
}

/// True if the result of `op` is nothing but a term of a larger sum.
static bool isInnerAdd(Operation *op) {
  return isPlainAdd(op) && op->hasOneUse() &&
         isPlainAdd(*op->getUsers().begin()) &&
         op->getBlock() == (*op->getUsers().begin())->getBlock();
}

/// The terms of the sum that ends in `root`, in the order in which they stand.
static SmallVector<Value> findTerms(Operation *root) {
  SmallVector<Value> terms, worklist = {root->getOperand(1),
                                        root->getOperand(0)};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (op && isInnerAdd(op)) {
      worklist.push_back(op->getOperand(1));
      worklist.push_back(op->getOperand(0));
    } else {
      terms.push_back(value);
    }
  }
  return terms;
}

static bool areAlike(Operation *a, Operation *b, ArrayRef<unsigned> summed) {
  if (a->getName() != b->getName() ||
      a->getAttrDictionary() != b->getAttrDictionary() ||
      a->getNumOperands() != b->getNumOperands())
    return false;
  for (unsigned i = 0, e = a->getNumOperands(); i < e; ++i) {
    auto typeA = cast<RankedTensorType>(a->getOperand(i).getType());
    auto typeB = cast<RankedTensorType>(b->getOperand(i).getType());
    if (llvm::is_contained(summed, i)
            ? typeA.getElementType() != typeB.getElementType() ||
                  typeA.getShape().drop_front() != typeB.getShape().drop_front()
            : a->getOperand(i) != b->getOperand(i))
      return false;
  }
  return true;
}

static SmallVector<TermGroup> groupTerms(ArrayRef<Value> terms, Block *block) {
  SmallVector<TermGroup> groups;
  for (Value term : terms) {
    auto op = term.getDefiningOp<RowSumOpInterface>();
    if (!op || !term.hasOneUse() || op->getBlock() != block ||
        op->getNumResults() != 1)
      continue;
    FailureOr<SmallVector<unsigned>> operands = op.getSummedOperands();
    if (failed(operands))
      continue;
    if (!llvm::all_of(op->getOperandTypes(), [](Type type) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          return tensor && tensor.hasStaticShape() &&
                 tensor.getNumElements() != 0;
        }))
      continue;
    TermGroup *group = llvm::find_if(groups, [&](const TermGroup &group) {
      return group.operands == *operands &&
             areAlike(group.ops.front(), op, *operands);
    });
    if (group == groups.end())
      groups.push_back({*operands, {op}});
    else
      group->ops.push_back(op);
  }
  return groups;
}

static int64_t bytesOf(Value value) {
  return static_cast<int64_t>(*echo::detail::typeBytes(value.getType()));
}

/// Operands that aren't neighbours already have to be joined; a term may bring
/// as many bytes as adding its result would move.
static bool isWorthwhile(const RowBatch &batch, ArrayRef<unsigned> operands) {
  if (batch.ops.size() < 2)
    return false;
  int64_t joined = 0, results = 0;
  for (Operation *op : batch.ops) {
    results += bytesOf(op->getResult(0));
    for (auto [operand, existing] :
         llvm::zip_equal(operands, batch.existing))
      if (!existing.source)
        joined += bytesOf(op->getOperand(operand));
  }
  return joined <= results;
}

/// One op in place of a batch's.
static Value buildBatch(OpBuilder &builder, const RowBatch &batch,
                        ArrayRef<unsigned> operands) {
  Operation *model = batch.ops.front();
  SmallVector<Location> locations;
  for (Operation *op : batch.ops)
    locations.push_back(op->getLoc());
  Location loc = builder.getFusedLoc(locations);
  SmallVector<Value> joined;
  for (auto [operand, existing] : llvm::zip_equal(operands, batch.existing))
    joined.push_back(
        buildRows(builder, loc, batch, operand, existing, /*flat=*/false));
  Operation *merged = builder.clone(*model);
  merged->setLoc(loc);
  for (auto [operand, rows] : llvm::zip_equal(operands, joined))
    merged->setOperand(operand, rows);
  return merged->getResult(0);
}

/// Rewrites the sum that ends in `root`. False if no place in the block is
/// right.
static bool rewriteSum(Operation *root, bool reuse) {
  Block *block = root->getBlock();
  SmallVector<Value> terms = findTerms(root);
  SmallVector<std::pair<RowBatch, SmallVector<unsigned>>> batches;
  llvm::SmallDenseSet<Value> batched;
  SmallVector<Value> inputs;
  for (const TermGroup &group : groupTerms(terms, block))
    for (RowBatch &batch : divideIntoBatches(group.ops, group.operands)) {
      if (!reuse)
        llvm::fill(batch.existing, ByteRange());
      if (!isWorthwhile(batch, group.operands))
        continue;
      for (const ByteRange &existing : batch.existing)
        if (existing.source)
          inputs.push_back(existing.source);
      for (Operation *op : batch.ops) {
        batched.insert(op->getResult(0));
        llvm::append_range(inputs, op->getOperands());
      }
      batches.emplace_back(std::move(batch), group.operands);
    }
  if (batches.empty())
    return true;
  for (Value term : terms)
    if (!batched.contains(term))
      inputs.push_back(term);
  FailureOr<Operation *> place = makePlace(*block, inputs, root);
  if (failed(place))
    return false;

  OpBuilder builder(root->getContext());
  if (*place)
    builder.setInsertionPointAfter(*place);
  else
    builder.setInsertionPointToStart(block);
  Value sum;
  auto add = [&](Value term) {
    sum = sum ? TensorBuilder(builder, root->getLoc()).add(sum, term) : term;
  };
  for (Value term : terms)
    if (!batched.contains(term))
      add(term);
  for (auto &[batch, operands] : batches)
    add(buildBatch(builder, batch, operands));
  root->getResult(0).replaceAllUsesWith(sum);

  // The old sum and its terms, the root first.
  SmallVector<Operation *> dead = {root};
  for (size_t i = 0; i < dead.size(); ++i)
    for (Value operand : dead[i]->getOperands())
      if (Operation *op = operand.getDefiningOp())
        if (op->hasOneUse() && (isInnerAdd(op) || batched.contains(operand)))
          dead.push_back(op);
  for (Operation *op : dead)
    op->erase();
  return true;
}

void mlir::echo::batchSums(func::FuncOp function) {
  for (Block &block : function.getBody()) {
    SmallVector<Operation *> roots;
    for (Operation &op : block)
      if (isPlainAdd(&op) && !isInnerAdd(&op))
        roots.push_back(&op);
    for (Operation *root : roots)
      // What holds the operands already may depend on the sum.
      if (!rewriteSum(root, /*reuse=*/true))
        rewriteSum(root, /*reuse=*/false);
  }
}

namespace {

struct EchoBatchSumsPass
    : public mlir::echo::impl::EchoBatchSumsPassBase<EchoBatchSumsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kKernelAttr))
        batchSums(function);
  }
};

} // namespace

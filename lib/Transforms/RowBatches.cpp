//===- RowBatches.cpp - Rows of several tensors as one tensor -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowBatches.h"
#include "Echo/Dialect/TensorBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::echo;

/// Users of a value that are looked at for concatenations; keeps the search
/// linear where a value has very many.
static constexpr unsigned kMostUsers = 64;

/// True if the result of `op` is all of operand 0's bytes.
static bool isWholeView(Operation *op) {
  auto view = dyn_cast<BufferViewOpInterface>(op);
  return view && op->getNumResults() == 1 &&
         succeeded(view.getViewOffset(0)) &&
         *echo::detail::typeBytes(op->getResult(0).getType()) ==
             *echo::detail::typeBytes(op->getOperand(0).getType());
}

/// Where else a value's bytes are: in what it is a view of, and in
/// concatenations that it is part of.
static SmallVector<ByteRange> findPlaces(Value value) {
  SmallVector<ByteRange> places;
  FailureOr<ByteRange> root = followViews(value);
  if (failed(root))
    return places;
  // Every tensor that has all of the bytes; from the value to its source, then
  // down into joins.
  SmallVector<ByteRange> worklist = {{value, 0, root->bytes}};
  while (worklist.back().source != root->source) {
    ByteRange range = worklist.back();
    auto view = range.source.getDefiningOp<BufferViewOpInterface>();
    range.offset += *view.getViewOffset(
        cast<OpResult>(range.source).getResultNumber());
    range.source = view->getOperand(0);
    worklist.push_back(range);
  }
  places.push_back(*root);
  while (!worklist.empty()) {
    ByteRange range = worklist.pop_back_val();
    unsigned numUsers = 0;
    for (OpOperand &use : range.source.getUses()) {
      if (++numUsers > kMostUsers)
        break;
      Operation *user = use.getOwner();
      if (auto join = dyn_cast<BufferJoinOpInterface>(user)) {
        FailureOr<int64_t> offset = join.getPartOffset(use.getOperandNumber());
        if (failed(offset))
          continue;
        places.push_back(
            {user->getResult(0), range.offset + *offset, range.bytes});
      } else if (isWholeView(user) &&
                 llvm::none_of(worklist, [&](const ByteRange &other) {
                   return other.source == user->getResult(0);
                 })) {
        worklist.push_back({user->getResult(0), range.offset, range.bytes});
      }
    }
  }
  return places;
}

SmallVector<ByteRange> mlir::echo::findCommonPlaces(ArrayRef<Value> values) {
  SmallVector<SmallVector<ByteRange>> found;
  llvm::MapVector<Value, unsigned> counts;
  for (Value value : values) {
    found.push_back(findPlaces(value));
    llvm::SmallDenseSet<Value> counted;
    for (const ByteRange &place : found.back())
      if (counted.insert(place.source).second)
        ++counts[place.source];
  }
  Value best;
  unsigned most = 1;
  for (auto &[source, count] : counts)
    if (count > most) {
      best = source;
      most = count;
    }
  SmallVector<ByteRange> common(values.size());
  if (!best)
    return common;
  for (auto [place, places] : llvm::zip_equal(common, found)) {
    auto *it = llvm::find_if(places, [&](const ByteRange &candidate) {
      return candidate.source == best;
    });
    if (it != places.end())
      place = *it;
  }
  return common;
}

SmallVector<RowBatch>
mlir::echo::divideIntoBatches(ArrayRef<Operation *> ops,
                              ArrayRef<unsigned> operands) {
  struct Item {
    Operation *op;
    SmallVector<ByteRange> places; ///< by operand; no source: none
  };
  SmallVector<Item> items;
  for (Operation *op : ops)
    items.push_back({op, {}});
  for (unsigned operand : operands) {
    SmallVector<Value> values;
    for (Operation *op : ops)
      values.push_back(op->getOperand(operand));
    for (auto [item, place] : llvm::zip_equal(items, findCommonPlaces(values)))
      item.places.push_back(place);
  }
  // In the order of the rows that exist; the others keep their order.
  for (size_t k = operands.size(); k-- > 0;)
    llvm::stable_sort(items, [k](const Item &a, const Item &b) {
      bool hasA(a.places[k].source), hasB(b.places[k].source);
      if (!hasA || !hasB)
        return hasA && !hasB;
      return a.places[k].offset < b.places[k].offset;
    });

  SmallVector<RowBatch> batches;
  for (const Item &item : items) {
    auto continues = [&](const RowBatch &batch) {
      for (auto [last, next] : llvm::zip_equal(batch.existing, item.places))
        if (last.source ? !last.isFollowedBy(next) : bool(next.source))
          return false;
      return true;
    };
    if (batches.empty() || !continues(batches.back())) {
      batches.push_back({{item.op}, item.places});
      continue;
    }
    batches.back().ops.push_back(item.op);
    for (auto [range, next] :
         llvm::zip_equal(batches.back().existing, item.places))
      range.bytes += next.bytes;
  }
  return batches;
}

static SmallVector<int64_t> rowShape(RankedTensorType type, bool flat) {
  ArrayRef<int64_t> shape = type.getShape();
  SmallVector<int64_t> rows = {shape.front()};
  if (flat) {
    for (int64_t size : shape.drop_front().drop_back())
      rows.front() *= size;
    rows.push_back(shape.back());
  } else {
    llvm::append_range(rows, shape.drop_front());
  }
  return rows;
}

Value mlir::echo::buildRows(OpBuilder &builder, Location loc,
                            const RowBatch &batch, unsigned operand,
                            const ByteRange &existing, bool flat) {
  TensorBuilder b(builder, loc);
  SmallVector<int64_t> shape;
  SmallVector<Value> parts;
  for (Operation *op : batch.ops) {
    Value part = op->getOperand(operand);
    SmallVector<int64_t> rows = rowShape(b.typeOf(part), flat);
    if (shape.empty())
      shape = rows;
    else
      shape.front() += rows.front();
    parts.push_back(part);
  }
  if (existing.source) {
    FailureOr<Value> view =
        buildView(builder, loc, existing.source, existing.offset,
                  b.typeOf(parts.front()).clone(shape));
    if (succeeded(view))
      return *view;
  }
  for (Value &part : parts)
    part = b.reshape(part, rowShape(b.typeOf(part), flat));
  return b.concat(parts, 0);
}

FailureOr<Operation *> mlir::echo::makePlace(Block &block,
                                             ArrayRef<Value> inputs,
                                             ArrayRef<Operation *> replaced) {
  Operation *first = replaced.front(), *last = nullptr;
  for (Operation *op : replaced)
    if (op->isBeforeInBlock(first))
      first = op;
  for (Value input : inputs) {
    Operation *op = input.getDefiningOp();
    if (op && op->getBlock() == &block && (!last || last->isBeforeInBlock(op)))
      last = op;
  }
  if (!last || last->isBeforeInBlock(first))
    return first->getPrevNode();

  llvm::SmallPtrSet<Operation *, 16> dependent(replaced.begin(),
                                               replaced.end());
  SmallVector<Operation *> late;
  auto reads = [&](Operation *reader, Operation *op) {
    return llvm::any_of(reader->getOperands(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return producer && producer != op && dependent.contains(producer);
    });
  };
  for (Operation *op = first; op != last->getNextNode();
       op = op->getNextNode()) {
    if (dependent.contains(op))
      continue;
    bool isLate = false;
    op->walk([&](Operation *nested) { isLate |= reads(nested, op); });
    if (!isLate)
      continue;
    if (!isPure(op))
      return failure();
    dependent.insert(op);
    late.push_back(op);
  }
  for (Value input : inputs)
    if (Operation *op = input.getDefiningOp(); op && dependent.contains(op))
      return failure();
  Operation *place = last;
  for (Operation *op : late) {
    op->moveAfter(place);
    place = op;
  }
  return last;
}

//===- RematEncodings.cpp - Feature maps as bits --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask is stashed as bits, and so is what ReLU made if the backward part does
// nothing but compare it with zero:
//
//   %y = echo.relu %x
//   %p = echo.compare gt %y, %zero        // of the backward part
//   %g = echo.select %p, %dy, %zero
//   =>
//   %y = echo.relu %x
//   %w = echo.binarize %y
//   %p = echo.debinarize %w               // in no memory, at the same place
//   %g = echo.select %p, %dy, %zero
//
//===----------------------------------------------------------------------===//

#include "RematEncodings.h"
#include "Echo/Dialect/EchoDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;
using planning::kNoIndex;
using planning::RematOp;
using planning::RematPart;
using planning::RematProblem;
using planning::RematValue;

namespace {

/// A step's uses of its values, and the places of its ops.
class StepUses {
public:
  StepUses(const RematProblem &problem, ArrayRef<Operation *> ops,
           ArrayRef<Value> values)
      : problem(problem) {
    for (auto [index, op] : llvm::enumerate(ops))
      opIndices[op] = index;
    for (auto [index, value] : llvm::enumerate(values))
      valueIndices[value] = index;
  }

  /// The op of the step that has the use, itself or in a region; null if that
  /// isn't one (the end of the step, a clone).
  Operation *readerOf(OpOperand &use, Block *block) const {
    Operation *reader = block->findAncestorOpInBlock(*use.getOwner());
    return reader && opIndices.contains(reader) ? reader : nullptr;
  }
  bool isLate(Operation *op) const {
    return problem.ops[placeOf(op)].part == RematPart::Backward;
  }
  uint32_t placeOf(Operation *op) const { return opIndices.at(op); }
  /// True if `result` of an op is in the memory of `value`.
  bool isViewOf(Value result, Value value) const {
    uint32_t source = problem.values[valueIndices.at(result)].source;
    return source != kNoIndex && source == valueIndices.at(value);
  }

private:
  const RematProblem &problem;
  DenseMap<Operation *, uint32_t> opIndices;
  DenseMap<Value, uint32_t> valueIndices;
};

} // namespace

/// True if the op that has `use` only wants to know which elements are
/// positive.
static bool asksForPositivity(OpOperand &use) {
  auto reader = dyn_cast<RecomputeOpInterface>(use.getOwner());
  return reader && reader.isPositivityOf(use.getOperandNumber());
}

/// True if late ops only want to know which elements of `value` are positive;
/// of views of it they read nothing.
static bool isReadAsBits(const StepUses &uses, Value value) {
  Block *block = value.getParentBlock();
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    for (OpOperand &use : current.getUses()) {
      Operation *reader = uses.readerOf(use, block);
      if (!reader)
        continue;
      if (uses.isLate(reader)) {
        if (current != value || reader != use.getOwner() ||
            !asksForPositivity(use))
          return false;
        continue;
      }
      for (Value result : reader->getResults())
        if (uses.isViewOf(result, current))
          worklist.push_back(result);
    }
  }
  return true;
}

void mlir::echo::findEncodings(RematProblem &problem, ArrayRef<Operation *> ops,
                               ArrayRef<Value> values) {
  StepUses uses(problem, ops, values);
  std::vector<bool> isOutput(problem.values.size(), false);
  for (uint32_t value : problem.outputs) {
    while (problem.values[value].source != kNoIndex)
      value = problem.values[value].source;
    isOutput[value] = true;
  }
  for (const RematOp &op : problem.ops) {
    if (op.part == RematPart::Backward)
      continue;
    for (uint32_t index : op.results) {
      RematValue &entry = problem.values[index];
      auto result = cast<OpResult>(values[index]);
      auto type = dyn_cast<RankedTensorType>(result.getType());
      auto producer = dyn_cast<RecomputeOpInterface>(result.getOwner());
      if (!type || !producer || isOutput[index] || entry.isResident ||
          entry.source != kNoIndex ||
          !producer.allowsBitEncoding(result.getResultNumber()))
        continue;
      if (type.getElementType().isInteger(1) || isReadAsBits(uses, result))
        entry.encodedBytes =
            llvm::divideCeil(uint64_t(type.getNumElements()),
                             uint64_t(BinarizeOp::kWordBits)) *
            (BinarizeOp::kWordBits / 8);
    }
  }
}

namespace {

class EncodingWriter {
public:
  EncodingWriter(const RematGraph &graph)
      : uses(graph.getProblem(), graph.getOps(), graph.getValues()),
        builder(graph.getLoss().getContext()) {}

  void encode(Value value) {
    builder.setInsertionPointAfter(lastReaderNearby(value));
    words = BinarizeOp::create(builder, value.getLoc(), value);
    // The value and its views, which are any number deep.
    SmallVector<View> views = {{value, 0}};
    for (size_t i = 0; i < views.size(); ++i)
      redirect(i, views);
  }

  void eraseAnswered() {
    for (Operation *op : answered)
      op->erase();
  }

private:
  /// The value that is encoded, or a view of another entry.
  struct View {
    Value value;
    size_t source;
  };

  /// The op behind which `value` is packed: the last of those that make and
  /// read it next, in front of the backward part. What they share a kernel for
  /// goes before packing, and a kernel that makes the value isn't far.
  Operation *lastReaderNearby(Value value) const {
    constexpr uint32_t kNearby = 32;
    Operation *last = value.getDefiningOp();
    uint32_t end = uses.placeOf(last) + kNearby;
    SmallVector<Operation *> readers;
    SmallVector<Value> worklist = {value};
    while (!worklist.empty()) {
      Value current = worklist.pop_back_val();
      for (OpOperand &use : current.getUses()) {
        Operation *reader = uses.readerOf(use, value.getParentBlock());
        if (!reader)
          continue;
        if (uses.isLate(reader)) {
          end = std::min(end, uses.placeOf(reader));
          continue;
        }
        readers.push_back(reader);
        for (Value result : reader->getResults())
          if (uses.isViewOf(result, current))
            worklist.push_back(result);
      }
    }
    for (Operation *reader : readers)
      if (uses.placeOf(reader) < end &&
          uses.placeOf(reader) > uses.placeOf(last))
        last = reader;
    return last;
  }

  Value unpack(RankedTensorType type, Location loc) {
    return DebinarizeOp::create(builder, loc, type.clone(builder.getI1Type()),
                                words);
  }

  /// An entry of `views`, made of bits.
  Value decode(size_t index, ArrayRef<View> views) {
    SmallVector<Value> chain;
    for (; index != 0; index = views[index].source)
      chain.push_back(views[index].value);
    Value source = views.front().value;
    Value decoded =
        unpack(cast<RankedTensorType>(source.getType()), source.getLoc());
    for (Value view : llvm::reverse(chain)) {
      IRMapping map;
      map.map(source, decoded);
      auto result = cast<OpResult>(view);
      decoded = builder.clone(*result.getOwner(), map)
                    ->getResult(result.getResultNumber());
      source = view;
    }
    return decoded;
  }

  /// Gives late readers of an entry of `views` bits, and adds its early ones
  /// that are views.
  void redirect(size_t index, SmallVectorImpl<View> &views) {
    Value value = views[index].value;
    SmallVector<OpOperand *> readers;
    for (OpOperand &use : value.getUses())
      readers.push_back(&use);
    for (OpOperand *use : readers) {
      Operation *reader = uses.readerOf(*use, value.getParentBlock());
      if (!reader)
        continue;
      if (!uses.isLate(reader)) {
        for (OpResult view : reader->getResults())
          if (uses.isViewOf(view, value))
            views.push_back({view, index});
        continue;
      }
      builder.setInsertionPoint(reader);
      if (reader != use->getOwner() || !asksForPositivity(*use)) {
        use->set(decode(index, views));
        continue;
      }
      Value answer = reader->getResult(0);
      answer.replaceAllUsesWith(
          unpack(cast<RankedTensorType>(answer.getType()), reader->getLoc()));
      answered.push_back(reader);
    }
  }

  StepUses uses;
  OpBuilder builder;
  Value words;
  SmallVector<Operation *> answered;
};

} // namespace

void mlir::echo::applyEncodings(const RematGraph &graph,
                                const planning::RematPlan &plan) {
  if (plan.encoded.empty())
    return;
  EncodingWriter writer(graph);
  for (uint32_t value : plan.encoded)
    writer.encode(graph.getValues()[value]);
  writer.eraseAnswered();
}

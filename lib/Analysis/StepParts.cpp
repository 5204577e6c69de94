//===- StepParts.cpp - Forward, backward and side -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/StepParts.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::echo;

StringRef mlir::echo::nameOf(StepPart part) {
  switch (part) {
  case StepPart::Forward:
    return "forward";
  case StepPart::Backward:
    return "backward";
  case StepPart::Side:
    break;
  }
  return "side";
}

Value mlir::echo::findViewedBuffer(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>()) {
    if (view.getViewDest() != value)
      break;
    value = view.getViewSource();
  }
  return value;
}

bool BufferAccess::replacesAll() const {
  if (!writes || reads)
    return false;
  FailureOr<uint64_t> part = mlir::echo::detail::typeBytes(value.getType());
  FailureOr<uint64_t> all = mlir::echo::detail::typeBytes(buffer.getType());
  return succeeded(part) && succeeded(all) && *part == *all;
}

SmallVector<BufferAccess> mlir::echo::findAccesses(Operation *op) {
  SmallVector<BufferAccess> accesses;
  SmallVector<OpOperand *> operands;
  auto add = [&](OpOperand &operand, bool reads, bool writes) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      return;
    auto known = llvm::find(operands, &operand);
    if (known == operands.end()) {
      operands.push_back(&operand);
      accesses.push_back({operand.get(), findViewedBuffer(operand.get())});
      known = std::prev(operands.end());
    }
    BufferAccess &access = accesses[known - operands.begin()];
    access.reads |= reads;
    access.writes |= writes;
  };
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    for (OpOperand &operand : op->getOpOperands())
      add(operand, /*reads=*/true, /*writes=*/false);
    return accesses;
  }
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (MemoryEffects::EffectInstance &effect : effects)
    if (auto *operand = effect.getEffectValue<OpOperand *>())
      add(*operand, isa<MemoryEffects::Read>(effect.getEffect()),
          isa<MemoryEffects::Write>(effect.getEffect()));
  return accesses;
}

namespace {

/// What every op of a block depends on. Ops are named by their places.
class Dependencies {
public:
  explicit Dependencies(Block &block) : block(block) {
    size_t numOps = block.getOperations().size();
    places.reserve(numOps);
    ops.reserve(numOps);
    firstSource.reserve(numOps + 1);
    for (Operation &op : block) {
      firstSource.push_back(sources.size());
      add(&op);
      places.try_emplace(&op, ops.size());
      ops.push_back(&op);
    }
    firstSource.push_back(sources.size());
  }

  ArrayRef<Operation *> getOps() const { return ops; }
  DenseMap<Operation *, uint32_t> takePlaces() { return std::move(places); }

  /// Adds to `slice` all that `value`, as it is at the end of the block,
  /// depends on.
  void addSlice(Value value, llvm::BitVector &slice) const {
    SmallVector<uint32_t> worklist;
    addSources(value, /*content=*/true, worklist);
    while (!worklist.empty()) {
      uint32_t op = worklist.pop_back_val();
      if (slice.test(op))
        continue;
      slice.set(op);
      for (uint32_t i = firstSource[op]; i < firstSource[op + 1]; ++i)
        if (!slice.test(sources[i]))
          worklist.push_back(sources[i]);
    }
  }

private:
  void addSources(Value value, bool content,
                  SmallVectorImpl<uint32_t> &list) const {
    if (Operation *op = value.getDefiningOp())
      if (Operation *ancestor = block.findAncestorOpInBlock(*op))
        list.push_back(places.at(ancestor));
    if (!content || writers.empty())
      return;
    auto writer = writers.find(findViewedBuffer(value));
    if (writer != writers.end())
      list.push_back(writer->second);
  }

  void add(Operation *op) {
    for (Value operand : op->getOperands())
      addSources(operand, /*content=*/false, sources);
    if (op->getNumRegions() != 0 &&
        !op->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        addSources(value, /*content=*/true, sources);
    }
    SmallVector<BufferAccess> accesses = findAccesses(op);
    // Who writes a part hands on the rest: so a buffer has one writer at a
    // time.
    for (const BufferAccess &access : accesses)
      if (!access.replacesAll())
        addSources(access.value, /*content=*/true, sources);
    for (const BufferAccess &access : accesses)
      if (access.writes)
        writers[access.buffer] = ops.size();
  }

  Block &block;
  DenseMap<Operation *, uint32_t> places;
  SmallVector<Operation *> ops;
  /// What the ops depend on, one after the other, and where each one's begin.
  SmallVector<uint32_t> sources, firstSource;
  /// The op that the present content of a buffer comes from.
  DenseMap<Value, uint32_t> writers;
};

} // namespace

FailureOr<StepParts> mlir::echo::findStepParts(func::FuncOp function,
                                               unsigned loss) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expects a body of one block: a training step "
                                "has no control flow");
  Block &block = function.getBody().front();
  Operation *terminator = block.getTerminator();
  if (loss >= terminator->getNumOperands())
    return function.emitOpError("has no result #") << loss;
  FailureOr<SmallVector<std::optional<unsigned>>> aliases =
      getAliasedArguments(function);
  if (failed(aliases))
    return failure();
  Dependencies dependencies(block);

  size_t numOps = dependencies.getOps().size();
  llvm::BitVector forward(numOps), backward(numOps);
  dependencies.addSlice(terminator->getOperand(loss), forward);
  auto isTarget = [&](unsigned result) {
    std::optional<unsigned> replaced = (*aliases)[result];
    return getGradientArgument(function, result) ||
           (replaced &&
            getArgumentRole(function, *replaced) == ArgumentRole::Parameter);
  };
  unsigned numResults = terminator->getNumOperands();
  bool isMarked = llvm::any_of(llvm::seq(numResults), isTarget) ||
                  llvm::any_of(llvm::seq(function.getNumArguments()),
                               [&](unsigned argument) {
                                 return getArgumentRole(function, argument) ==
                                        ArgumentRole::Parameter;
                               });
  for (auto [index, value] : llvm::enumerate(terminator->getOperands()))
    // A step that marks nothing is for all of its results.
    if (isMarked ? isTarget(index) : index != loss)
      dependencies.addSlice(value, backward);
  // On buffers a parameter is updated in place.
  for (BlockArgument argument : block.getArguments())
    if (isa<BaseMemRefType>(argument.getType()) &&
        getArgumentRole(function, argument.getArgNumber()) ==
            ArgumentRole::Parameter)
      dependencies.addSlice(argument, backward);

  StepParts result;
  for (auto [place, op] : llvm::enumerate(dependencies.getOps())) {
    StepPart part = StepPart::Side;
    if (forward.test(place))
      part = StepPart::Forward;
    else if (backward.test(place))
      part = StepPart::Backward;
    result.parts.push_back(part);
    if (op != terminator && !op->hasTrait<OpTrait::ConstantLike>())
      ++result.counts[static_cast<size_t>(part)];
  }
  result.places = dependencies.takePlaces();
  return result;
}

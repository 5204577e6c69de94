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

/// What every op of a block depends on.
class Dependencies {
public:
  explicit Dependencies(Block &block) : block(block) {
    sources.reserve(block.getOperations().size());
    for (Operation &op : block)
      add(&op);
  }

  /// Ops that `value`, as it is at the end of the block, depends on.
  SmallVector<Operation *> sourcesOf(Value value) const {
    SmallVector<Operation *> sources;
    addSources(value, /*content=*/true, sources);
    return sources;
  }

  /// Adds to `slice` all that `roots` depend on, themselves too.
  void addSlice(ArrayRef<Operation *> roots,
                DenseSet<Operation *> &slice) const {
    SmallVector<Operation *> worklist(roots);
    while (!worklist.empty()) {
      Operation *op = worklist.pop_back_val();
      if (slice.insert(op).second)
        llvm::append_range(worklist, sources.at(op));
    }
  }

private:
  void addSources(Value value, bool content,
                  SmallVectorImpl<Operation *> &list) const {
    if (Operation *op = value.getDefiningOp())
      if (Operation *ancestor = block.findAncestorOpInBlock(*op))
        list.push_back(ancestor);
    if (!content)
      return;
    auto writer = writers.find(findViewedBuffer(value));
    if (writer != writers.end())
      list.push_back(writer->second);
  }

  void add(Operation *op) {
    SmallVector<Operation *> &list = sources[op];
    for (Value operand : op->getOperands())
      addSources(operand, /*content=*/false, list);
    if (op->getNumRegions() != 0 &&
        !op->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        addSources(value, /*content=*/true, list);
    }
    SmallVector<BufferAccess> accesses = findAccesses(op);
    // Who writes a part hands on the rest: so a buffer has one writer at a
    // time.
    for (const BufferAccess &access : accesses)
      if (!access.replacesAll())
        addSources(access.value, /*content=*/true, list);
    for (const BufferAccess &access : accesses)
      if (access.writes)
        writers[access.buffer] = op;
  }

  Block &block;
  DenseMap<Operation *, SmallVector<Operation *>> sources;
  /// The op that the present content of a buffer comes from.
  DenseMap<Value, Operation *> writers;
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

  DenseSet<Operation *> forward, backward;
  dependencies.addSlice(dependencies.sourcesOf(terminator->getOperand(loss)),
                        forward);
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
      dependencies.addSlice(dependencies.sourcesOf(value), backward);
  // On buffers a parameter is updated in place.
  for (BlockArgument argument : block.getArguments())
    if (isa<BaseMemRefType>(argument.getType()) &&
        getArgumentRole(function, argument.getArgNumber()) ==
            ArgumentRole::Parameter)
      dependencies.addSlice(dependencies.sourcesOf(argument), backward);

  StepParts result;
  for (Operation &op : block) {
    StepPart part = StepPart::Side;
    if (forward.contains(&op))
      part = StepPart::Forward;
    else if (backward.contains(&op))
      part = StepPart::Backward;
    result.parts[&op] = part;
    if (&op != terminator && !op.hasTrait<OpTrait::ConstantLike>())
      ++result.counts[static_cast<size_t>(part)];
  }
  return result;
}

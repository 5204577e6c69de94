//===- RematGraph.cpp - A training step as planning sees it ---------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/RematGraph.h"
#include "Echo/Analysis/CallCosts.h"
#include "Echo/Analysis/Fusion.h"
#include "Echo/Analysis/Layers.h"
#include "Echo/Analysis/StepParts.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Interfaces/Queries.h"
#include "RematEncodings.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::echo;
using planning::kNoIndex;
using planning::RematOp;
using planning::RematPart;
using planning::RematValue;

static RematPart partOf(StepPart part) {
  switch (part) {
  case StepPart::Forward:
    return RematPart::Forward;
  case StepPart::Backward:
    return RematPart::Backward;
  case StepPart::Side:
    break;
  }
  return RematPart::Side;
}

/// What `op` reads: its operands, and what its regions use from outside.
static SmallVector<Value> inputsOf(Operation *op) {
  SmallVector<Value> inputs(op->getOperands());
  if (op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    return inputs;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::append_range(inputs, captured);
  return inputs;
}

/// The bytes of a value: those of a tensor's elements or of a scalar; memory
/// that a value only points to isn't the value's.
static FailureOr<uint64_t> bytesOf(Type type) {
  if (isa<TensorType>(type))
    return mlir::echo::detail::typeBytes(type);
  if (type.isIntOrFloat())
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  return uint64_t(0);
}

namespace {

/// What ops tell of their work; asked once.
struct OpCost {
  uint64_t flops = 0, bytesRead = 0, bytesWritten = 0;
  bool isHeavy = false, isRepeatable = false;

  static FailureOr<OpCost> of(Operation *op) {
    FailureOr<uint64_t> flops = getFlops(op), read = getBytesRead(op),
                        written = getBytesWritten(op);
    if (failed(flops) || failed(read) || failed(written))
      return op->emitOpError(
          "can't be planned: expected static sizes whose sums fit 64 bits");
    return OpCost{*flops, *read, *written, isComputeHeavy(op),
                  isRecomputable(op)};
  }

  /// Seconds as a kernel or library call of its own.
  double seconds(Operation *op, const planning::Device &device) const {
    planning::CallCost cost;
    cost.flops = flops;
    cost.bytesRead = bytesRead;
    cost.bytesWritten = bytesWritten;
    cost.precision = precisionOf(op);
    if (isHeavy)
      return planning::secondsOf(device, planning::LibraryCallCost{cost});
    return planning::secondsOf(device, planning::KernelCost{cost});
  }
};

} // namespace

/// True if `result`, a value of `bytes`, takes no memory of its own: its op
/// writes none, since it names what operand 0 holds by another type, or leaves
/// it to its readers.
static bool isInPlace(OpResult result, uint64_t bytes, const OpCost &cost) {
  Operation *op = result.getOwner();
  if (cost.bytesWritten != 0 || !cost.isRepeatable || bytes == 0 ||
      !isa<TensorType>(result.getType()))
    return false;
  return op->getNumOperands() == 0 ||
         isa<TensorType>(op->getOperand(0).getType());
}

/// A step that calls itself would plan a part of its own memory.
static LogicalResult checkNoRecursion(func::FuncOp function) {
  llvm::SetVector<Operation *> reached;
  reached.insert(function);
  for (size_t i = 0; i < reached.size(); ++i) {
    WalkResult result = reached[i]->walk([&](CallOpInterface call) {
      Operation *callee = call.resolveCallable();
      if (callee == function) {
        call.emitOpError("can't be planned: expected a training step that "
                         "doesn't call itself, found a call of @")
            << function.getName() << " from @" << function.getName()
            << (i == 0 ? "" : " by way of other functions");
        return WalkResult::interrupt();
      }
      if (callee)
        reached.insert(callee);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

/// How `op` iterates, if it is part of a kernel; its reads look through moved
/// elements.
static std::optional<planning::FusionShape>
fusionShapeOf(Operation *op, const FusionGraph &fusion) {
  std::optional<uint32_t> index = fusion.getIndex(op);
  if (!index || fusion.getProblem().ops[*index].shape.kind ==
                    planning::FusionClass::Host)
    return std::nullopt;
  planning::FusionShape shape = fusion.getShape(*index);
  // Nothing to share a loop over.
  if (shape.elements == 0)
    return std::nullopt;
  for (planning::FusionAccess &access : shape.reads)
    if (access.columns == 0)
      access = planning::FusionAccess();
  return shape;
}

/// A name for reports: the layer and what it does there.
static std::string describeOp(Operation *op) {
  std::string name = describeLocation(op->getLoc());
  return (name += ' ') += op->getName().stripDialect();
}

/// Adds what modelKernels asks for. What an op leaves unread, it leaves unread
/// of the largest operand (a table whose rows it picks).
void RematGraph::addFusion(Operation *op, const FusionGraph &fusion,
                           uint64_t bytesRead, RematOp &entry) {
  entry.fusion = fusionShapeOf(op, fusion);
  if (!entry.fusion)
    return;
  SmallVector<uint64_t> readBytes;
  uint64_t sum = 0;
  for (Type type : op->getOperandTypes()) {
    readBytes.push_back(*bytesOf(type));
    sum += readBytes.back();
  }
  if (bytesRead < sum) {
    uint64_t &largest = *llvm::max_element(readBytes);
    largest -= std::min(largest, sum - bytesRead);
  }
  bool readsAll = true;
  for (auto [operand, bytes] : llvm::zip_equal(op->getOperands(), readBytes))
    if (Value root = fusion.getRoot(operand))
      readsAll &= bytes >= problem.values[indices.at(root)].bytes;
  if (!readsAll)
    entry.readBytes.assign(readBytes.begin(), readBytes.end());
}

LogicalResult RematGraph::addValue(Value value, Operation *user) {
  auto [it, inserted] = indices.try_emplace(value, values.size());
  if (!inserted)
    return success();
  FailureOr<uint64_t> bytes = bytesOf(value.getType());
  if (failed(bytes))
    return user->emitOpError(
               "can't be planned: expected every tensor to be a "
               "ranked tensor with a static shape whose size fits "
               "63 bits, found ")
           << value.getType();
  RematValue entry;
  entry.bytes = *bytes;
  problem.values.push_back(entry);
  values.push_back(value);
  return success();
}

void RematGraph::addNames() {
  problem.valueNames.clear();
  problem.opNames.clear();
  for (Operation *op : ops)
    problem.opNames.push_back(describeOp(op));
  for (Value value : values) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      problem.valueNames.push_back(getArgumentName(
          cast<func::FuncOp>(argument.getOwner()->getParentOp()),
          argument.getArgNumber()));
      continue;
    }
    auto result = cast<OpResult>(value);
    std::string name = describeOp(result.getOwner());
    if (unsigned number = result.getResultNumber())
      name += (" " + Twine(number)).str();
    problem.valueNames.push_back(std::move(name));
  }
}

FailureOr<RematGraph> RematGraph::build(func::FuncOp function, unsigned loss,
                                        const planning::CostModel &model) {
  RematGraph graph;
  if (failed(checkNoRecursion(function)))
    return failure();
  FailureOr<StepParts> parts = findStepParts(function, loss);
  auto aliases = getAliasedArguments(function);
  if (failed(parts) || failed(aliases))
    return failure();
  Block &block = function.getBody().front();
  Operation *terminator = block.getTerminator();
  graph.loss = terminator->getOperand(loss);
  graph.problem.memoryBandwidth =
      model.device.memoryBandwidth * model.device.memoryEfficiency;
  graph.problem.launchSeconds = model.device.launchSeconds;

  size_t numOps = block.getOperations().size();
  graph.problem.ops.reserve(numOps);
  graph.problem.values.reserve(numOps);
  graph.indices.reserve(numOps);
  for (BlockArgument argument : block.getArguments()) {
    if (failed(graph.addValue(argument, function)))
      return failure();
    unsigned number = argument.getArgNumber();
    graph.problem.values.back().isResident =
        isPersistentArgument(function, number);
  }
  for (Operation &op : block) {
    for (Value result : op.getResults()) {
      if (failed(graph.addValue(result, &op)))
        return failure();
      // Constants are part of the code.
      RematValue &entry = graph.problem.values.back();
      if (op.hasTrait<OpTrait::ConstantLike>())
        entry = {/*bytes=*/0, /*isResident=*/true};
    }
  }
  // Which values are moved elements of others, and in no memory of their own.
  FailureOr<FusionGraph> fusion = FusionGraph::build(block);
  if (failed(fusion))
    return failure();

  // Results are numbered behind the arguments, in the order of their ops.
  uint32_t nextResult = block.getNumArguments();
  for (Operation &op : block) {
    if (&op == terminator)
      continue;
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      nextResult += op.getNumResults();
      continue;
    }
    RematOp entry;
    SmallVector<Value> inputs = inputsOf(&op);
    entry.inputs.reserve(inputs.size());
    entry.results.reserve(op.getNumResults());
    for (Value input : inputs) {
      auto index = graph.indices.find(input);
      if (index == graph.indices.end())
        return op.emitOpError("can't be planned: it reads a value from outside "
                              "of the function's block");
      entry.inputs.push_back(index->second);
    }
    FailureOr<OpCost> cost = OpCost::of(&op);
    if (failed(cost))
      return failure();
    bool isInlined =
        op.getNumResults() != 0 && fusion->isInlined(op.getResult(0));
    for (OpResult result : op.getResults()) {
      uint32_t index = nextResult++;
      entry.results.push_back(index);
      RematValue &value = graph.problem.values[index];
      if (!isInlined && !isInPlace(result, value.bytes, *cost))
        continue;
      value.bytes = 0;
      if (op.getNumOperands() == 0)
        value.isResident = true;
      else
        value.source = entry.inputs.front();
    }
    entry.part = partOf(parts->get(&op));
    entry.isHeavy = cost->isHeavy;
    entry.isRepeatable = cost->isRepeatable;
    entry.isMirrored = isMirrored(&op);
    entry.overwritesInputs = isa<ElementwiseOpInterface>(op) ||
                             OpTrait::hasElementwiseMappableTraits(&op);
    graph.addFusion(&op, *fusion, cost->bytesRead, entry);
    if (entry.fusion)
      entry.flops = cost->flops;
    // What is computed where it is read takes no time of its own.
    if (!isInlined)
      entry.seconds = cost->seconds(&op, model.device);
    graph.problem.ops.push_back(std::move(entry));
    graph.ops.push_back(&op);
  }
  planning::settleRematParts(graph.problem);
  for (auto [value, replaced] :
       llvm::zip_equal(terminator->getOperands(), *aliases)) {
    // An updated parameter takes the old one's memory.
    uint32_t index = graph.indices.at(value);
    if (replaced && !isa<BlockArgument>(value))
      graph.problem.values[index].isResident = true;
    graph.problem.outputs.push_back(index);
  }
  findEncodings(graph.problem, graph.ops, graph.values);
  std::string error;
  if (!planning::checkRematProblem(graph.problem, error))
    return function.emitOpError("can't be planned: ") << error;
  return std::move(graph);
}

namespace {

/// Makes clones and hands them to their readers.
class PlanWriter {
public:
  PlanWriter(const RematGraph &graph, const planning::RematPlan &plan)
      : graph(graph), problem(graph.getProblem()), plan(plan),
        builder(graph.getLoss().getContext()),
        producer(problem.values.size(), kNoIndex),
        isMadeOfForward(problem.ops.size(), false) {
    for (auto [index, op] : llvm::enumerate(problem.ops)) {
      for (uint32_t value : op.results)
        producer[value] = index;
      isMadeOfForward[index] =
          op.part != RematPart::Backward ||
          llvm::any_of(op.inputs, [&](uint32_t value) {
            return producer[value] != kNoIndex &&
                   isMadeOfForward[producer[value]];
          });
    }
  }

  void run() {
    for (const planning::RematClone &clone : plan.clones)
      write(clone);
    for (const planning::RematRead &read : plan.reads)
      redirect(read);
  }

private:
  void write(const planning::RematClone &clone) {
    Operation *original = graph.getOps()[clone.op];
    if (before != clone.before) {
      before = clone.before;
      barriers.clear();
      after = findAfter(before);
    }
    builder.setInsertionPoint(graph.getOps()[before]);
    IRMapping map;
    bool isApart = false;
    for (auto [index, source] : llvm::enumerate(clone.inputs)) {
      Value value = graph.getValues()[problem.ops[clone.op].inputs[index]];
      if (source != kNoIndex)
        map.map(value, cloned(source, value));
      else
        map.map(value, isAlwaysThere(value) ? value : behindBarrier(value));
      isApart |= map.lookup(value) != value;
    }
    // Of constants alone: one of them keeps it apart from the original.
    if (!isApart && !clone.inputs.empty()) {
      Value value = graph.getValues()[problem.ops[clone.op].inputs.front()];
      map.map(value, behindBarrier(value));
    }
    clones.push_back(builder.clone(*original, map));
  }

  Value cloned(uint32_t clone, Value value) const {
    return clones[clone]->getResult(cast<OpResult>(value).getResultNumber());
  }

  /// True for an op of the backward part that can't run before the forward part
  /// does: the gradient of a sum is made of constants alone.
  bool isBehindForward(uint32_t op) const {
    return op != kNoIndex && problem.ops[op].part == RematPart::Backward &&
           isMadeOfForward[op];
  }

  /// A value of the backward part that is there in front of `op`: one of its
  /// operands if it can be, since that is alive anyway; the loss at worst.
  Value findAfter(uint32_t op) const {
    for (uint32_t input : problem.ops[op].inputs)
      if (isBehindForward(producer[input]))
        return graph.getValues()[input];
    for (uint32_t other = op; other-- > 0;) {
      const RematOp &earlier = problem.ops[other];
      bool isLoss = llvm::any_of(earlier.results, [&](uint32_t value) {
        return graph.getValues()[value] == graph.getLoss();
      });
      if (isLoss)
        return graph.getLoss();
      if (isBehindForward(other) && !earlier.results.empty())
        return graph.getValues()[earlier.results.front()];
    }
    return {};
  }

  /// True for constants, and for places that hold nothing yet.
  bool isAlwaysThere(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && (op->hasTrait<OpTrait::ConstantLike>() ||
                  (op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
                   isRecomputable(op)));
  }

  /// `value` as clones in front of `before` read it.
  Value behindBarrier(Value value) {
    Value &barrier = barriers[value];
    if (!barrier)
      barrier = OptimizationBarrierOp::create(builder, value.getLoc(), value,
                                              after ? after : value);
    return barrier;
  }

  void redirect(const planning::RematRead &read) {
    Operation *reader = graph.getOps()[read.op];
    uint32_t index = problem.ops[read.op].inputs[read.operand];
    Value value = graph.getValues()[index];
    Value replacement = cloned(read.clone, value);
    if (read.operand < reader->getNumOperands()) {
      reader->setOperand(read.operand, replacement);
      return;
    }
    value.replaceUsesWithIf(replacement, [&](OpOperand &use) {
      return reader->isProperAncestor(use.getOwner());
    });
  }

  const RematGraph &graph;
  const planning::RematProblem &problem;
  const planning::RematPlan &plan;
  OpBuilder builder;
  std::vector<uint32_t> producer; ///< by value
  /// By op: it is one of the forward part, or depends on one.
  std::vector<bool> isMadeOfForward;
  SmallVector<Operation *> clones;
  uint32_t before = kNoIndex;
  Value after;
  DenseMap<Value, Value> barriers; ///< in front of `before`
};

} // namespace

void mlir::echo::applyRematPlan(const RematGraph &graph,
                                const planning::RematPlan &plan) {
  PlanWriter(graph, plan).run();
  applyEncodings(graph, plan);
}

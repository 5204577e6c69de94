//===- StepMemory.cpp - What is in memory during a step -------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/StepMemory.h"
#include "Echo/Analysis/Layers.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::echo;

StringRef mlir::echo::nameOf(MemoryStructure structure) {
  switch (structure) {
  case MemoryStructure::Weights:
    return "weights";
  case MemoryStructure::OptimizerState:
    return "optimizer_state";
  case MemoryStructure::FeatureMaps:
    return "feature_maps";
  case MemoryStructure::Gradients:
    return "gradients";
  case MemoryStructure::Inputs:
    return "inputs";
  case MemoryStructure::Workspace:
    return "workspace";
  case MemoryStructure::Other:
    break;
  }
  return "other";
}

uint64_t StructureBytes::sum() const {
  uint64_t sum = 0;
  for (uint64_t part : bytes)
    sum += part;
  return sum;
}

namespace {

/// What is known of a tensor while the calls are walked.
struct Uses {
  int64_t first = -1, last = -1; ///< positions of calls
  bool readBackward = false;     ///< behind the forward part
  bool readBefore = false;       ///< by the forward part or a side op
  bool isReturned = false;
};

class MemoryAnalysis {
public:
  MemoryAnalysis(func::FuncOp function, const StepParts &parts,
                 const planning::ArenaProblem &problem, ArrayRef<Value> values)
      : function(function), block(function.getBody().front()), parts(parts),
        problem(problem), values(values) {}

  FailureOr<StepMemory> run();

private:
  LogicalResult addArguments();
  void walkCalls();
  void visit(Operation &op, int64_t position);
  void beginTensor(unsigned buffer, Operation *producer, Type type,
                   int64_t position);
  MemoryStructure classify(const TensorLifetime &tensor,
                           const Uses &uses) const;
  void findPeak();

  func::FuncOp function;
  Block &block;
  const StepParts &parts;
  const planning::ArenaProblem &problem;
  ArrayRef<Value> values;

  StepMemory memory;
  SmallVector<Uses> arenaUses, persistentUses;  ///< beside memory's tensors
  DenseMap<Value, unsigned> buffers;            ///< index into `values`
  SmallVector<std::optional<unsigned>> current; ///< tensor in each buffer
  DenseMap<Value, unsigned> persistent; ///< index into memory.persistent
  int64_t lastForward = -1;
};

} // namespace

/// An argument's name without its last component, the tensor's own.
static std::string layerOfArgument(func::FuncOp function, unsigned index) {
  std::string name = getArgumentName(function, index);
  size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

LogicalResult MemoryAnalysis::addArguments() {
  for (BlockArgument argument : block.getArguments()) {
    if (!isPersistentArgument(function, argument.getArgNumber()))
      continue;
    ArgumentRole role = getArgumentRole(function, argument.getArgNumber());
    TensorLifetime tensor;
    tensor.buffer = argument;
    tensor.type = argument.getType();
    tensor.structure = role == ArgumentRole::Parameter
                           ? MemoryStructure::Weights
                           : MemoryStructure::Other;
    tensor.layer = layerOfArgument(function, argument.getArgNumber());
    tensor.end = std::numeric_limits<int64_t>::max();
    FailureOr<uint64_t> bytes = mlir::echo::detail::typeBytes(tensor.type);
    std::optional<uint64_t> sum;
    if (succeeded(bytes))
      sum = llvm::checkedAddUnsigned(memory.persistentBytes, *bytes);
    if (!sum)
      return function.emitOpError("expects parameters and state whose sizes "
                                  "are known and add up in 64 bits");
    tensor.bytes = *bytes;
    memory.persistentBytes = *sum;
    persistent[argument] = memory.persistent.size();
    memory.persistent.push_back(std::move(tensor));
  }
  persistentUses.resize(memory.persistent.size());
  return success();
}

void MemoryAnalysis::beginTensor(unsigned buffer, Operation *producer,
                                 Type type, int64_t position) {
  TensorLifetime tensor;
  tensor.buffer = values[buffer];
  tensor.producer = producer;
  tensor.type = type;
  tensor.bytes = problem.buffers[buffer].bytes;
  tensor.begin = position;
  tensor.end = problem.buffers[buffer].end;
  if (producer)
    tensor.layer = layerName(producer->getLoc()).str();
  else
    tensor.layer = layerOfArgument(
        function, cast<BlockArgument>(tensor.buffer).getArgNumber());
  if (current[buffer])
    memory.arena[*current[buffer]].end = position;
  current[buffer] = memory.arena.size();
  memory.arena.push_back(std::move(tensor));
  arenaUses.emplace_back();
}

void MemoryAnalysis::visit(Operation &op, int64_t position) {
  bool isReturn = op.hasTrait<OpTrait::IsTerminator>();
  StepPart part = parts.get(&op);
  auto use = [&](Uses &uses, bool reads) {
    if (uses.first == -1)
      uses.first = position;
    uses.last = position;
    uses.isReturned |= isReturn;
    if (!reads || isReturn)
      return;
    if (part != StepPart::Backward)
      uses.readBefore = true;
    else if (position > lastForward)
      uses.readBackward = true;
  };
  SmallVector<BufferAccess> accesses = findAccesses(&op);
  // Reads first: a result may take an input's place.
  for (const BufferAccess &access : accesses) {
    if (!access.reads)
      continue;
    if (auto found = persistent.find(access.buffer); found != persistent.end())
      use(persistentUses[found->second], /*reads=*/true);
    auto found = buffers.find(access.buffer);
    if (found != buffers.end() && current[found->second])
      use(arenaUses[*current[found->second]], /*reads=*/true);
  }
  for (const BufferAccess &access : accesses) {
    auto found = buffers.find(access.buffer);
    if (!access.writes || found == buffers.end())
      continue;
    unsigned buffer = found->second;
    if (!current[buffer] || access.replacesAll())
      beginTensor(buffer, &op, access.value.getType(), position);
    use(arenaUses[*current[buffer]], /*reads=*/false);
  }
}

void MemoryAnalysis::walkCalls() {
  current.resize(values.size());
  for (auto [index, value] : llvm::enumerate(values)) {
    buffers[value] = index;
    if (isa<BlockArgument>(value))
      beginTensor(index, nullptr, value.getType(),
                  problem.buffers[index].begin);
  }
  int64_t position = 0;
  for (Operation &op : block) {
    if (parts.get(&op) == StepPart::Forward && !findAccesses(&op).empty())
      lastForward = position;
    ++position;
  }
  position = 0;
  for (Operation &op : block)
    visit(op, position++);
}

MemoryStructure MemoryAnalysis::classify(const TensorLifetime &tensor,
                                         const Uses &uses) const {
  if (!tensor.producer)
    return MemoryStructure::Inputs;
  if (uses.first == uses.last && !uses.isReturned)
    return MemoryStructure::Workspace;
  if (tensor.begin <= lastForward && uses.readBackward)
    return MemoryStructure::FeatureMaps;
  if (parts.get(tensor.producer) == StepPart::Backward)
    return MemoryStructure::Gradients;
  return MemoryStructure::Other;
}

/// Sums over time by differences; they wrap around, the sums don't.
void MemoryAnalysis::findPeak() {
  int64_t end = block.getOperations().size();
  std::vector<StructureBytes> changes(end + 1);
  for (const TensorLifetime &tensor : memory.arena) {
    changes[tensor.begin][tensor.structure] += tensor.bytes;
    changes[tensor.end][tensor.structure] -= tensor.bytes;
  }
  StructureBytes live;
  int64_t position = 0;
  for (Operation &op : block) {
    for (size_t i = 0; i < kNumMemoryStructures; ++i) {
      auto structure = static_cast<MemoryStructure>(i);
      live[structure] += changes[position][structure];
      memory.largest[structure] =
          std::max(memory.largest[structure], live[structure]);
    }
    if (live.sum() > memory.logicalPeakBytes) {
      memory.logicalPeakBytes = live.sum();
      memory.atPeak = live;
      memory.peak = &op;
      memory.peakPosition = position;
    }
    ++position;
  }
  for (const TensorLifetime &tensor : memory.persistent) {
    memory.atPeak[tensor.structure] += tensor.bytes;
    memory.largest[tensor.structure] += tensor.bytes;
  }
}

FailureOr<StepMemory> MemoryAnalysis::run() {
  uint64_t total = 0;
  std::string error;
  // Sums of live bytes are known to fit from here on.
  if (!planning::findLivePeak(problem, total, error))
    return function.emitOpError("can't be planned: ") << error;
  if (failed(addArguments()))
    return failure();
  if (!llvm::checkedAddUnsigned(total, memory.persistentBytes))
    return function.emitOpError("needs more than 64 bits of memory");
  walkCalls();
  for (auto [tensor, uses] : llvm::zip_equal(memory.arena, arenaUses)) {
    tensor.structure = classify(tensor, uses);
    if (tensor.structure == MemoryStructure::FeatureMaps)
      memory.featureMapBytes += tensor.bytes;
  }
  for (auto [tensor, uses] : llvm::zip_equal(memory.persistent, persistentUses))
    if (tensor.structure == MemoryStructure::Other && uses.readBackward &&
        !uses.readBefore)
      tensor.structure = MemoryStructure::OptimizerState;
  findPeak();
  return std::move(memory);
}

FailureOr<StepMemory>
mlir::echo::analyzeStepMemory(func::FuncOp function, const StepParts &parts,
                              const planning::ArenaProblem &problem,
                              ArrayRef<Value> values) {
  return MemoryAnalysis(function, parts, problem, values).run();
}

//===- Fusion.cpp - A block of ops as a fusion problem --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/Fusion.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FusionShapes.h"
#include "Echo/Dialect/Views.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::echo;
using mlir::echo::planning::FusionAccess;
using mlir::echo::planning::FusionClass;
using mlir::echo::planning::FusionOp;
using mlir::echo::planning::FusionShape;

/// Constants of up to this many elements are part of kernels.
static constexpr int64_t kSmallConstant = 16;

FusionShape mlir::echo::getFusionShape(Operation *op) {
  if (auto fusion = dyn_cast<FusionOpInterface>(op))
    return fusion.getFusionShape();
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
    return getElementwiseFusionShape(op, elementwise.getWeight());
  FusionShape shape;
  shape.kind = FusionClass::Alone;
  shape.reads.resize(op->getNumOperands());
  shape.writes.assign(op->getNumResults(), planning::FusionWrite::Other);
  return shape;
}

bool mlir::echo::isKernelConstant(Operation *op) {
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  if (!constant)
    return false;
  if (cast<ShapedType>(constant.getType()).getNumElements() <= kSmallConstant)
    return true;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat();
}

bool mlir::echo::isBufferView(Operation *op) {
  auto view = dyn_cast_or_null<BufferViewOpInterface>(op);
  if (!view)
    return false;
  for (unsigned i = 0, e = op->getNumResults(); i < e; ++i)
    if (failed(view.getViewOffset(i)))
      return false;
  return true;
}

static bool isMovement(Operation *op) {
  auto fusion = dyn_cast_or_null<FusionOpInterface>(op);
  return fusion && fusion.isMovement();
}

/// True if the host program keeps `op` as it is.
static bool staysOnHost(Operation *op) {
  // Ops of other dialects take part if they tell their arithmetic.
  return !(isa_and_nonnull<EchoDialect>(op->getDialect()) ||
           isa<ElementwiseOpInterface, DecomposeOpInterface>(op)) ||
         op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() != 0 ||
         !isPure(op) || isa<LibraryCallOpInterface, LaunchOp>(op) ||
         joinsInPlace(op);
}

static LogicalResult verifyStatic(Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.hasStaticShape() &&
        succeeded(echo::detail::typeBytes(type)))
      return success();
    if (tensor && tensor.hasStaticShape())
      return op->emitOpError("expected every type to be a ranked tensor with a "
                             "static shape whose size fits 63 bits, found ")
             << type;
    return op->emitOpError("expected static shapes to form kernels, found ")
           << type;
  };
  // What a barrier waits for may be anything.
  OperandRange operands = op->getOperands();
  if (isa<OptimizationBarrierOp>(op))
    operands = operands.take_front();
  for (Type type : operands.getTypes())
    if (failed(check(type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  return success();
}

std::optional<uint32_t> FusionGraph::getIndex(Operation *op) const {
  auto it = indices.find(op);
  if (it == indices.end())
    return std::nullopt;
  return it->second;
}

bool FusionGraph::isInlined(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && inlined.contains(op);
}

FusionShape FusionGraph::getShape(uint32_t index) const {
  const FusionOp &op = problem.ops[index];
  FusionShape shape = op.shape;
  shape.reads.reserve(ops[index]->getNumOperands());
  auto read = op.reads.begin();
  for (Value operand : ops[index]->getOperands()) {
    if (!getRoot(operand)) {
      shape.reads.emplace_back();
      continue;
    }
    while (read->access.kind == FusionAccess::Order)
      ++read;
    shape.reads.push_back((read++)->access);
  }
  return shape;
}

bool FusionGraph::isView(Operation *op) const {
  auto [it, inserted] = views.try_emplace(op, false);
  if (inserted)
    it->second = isBufferView(op);
  return it->second;
}

bool FusionGraph::isOnHost(Value value) const {
  while (isInlined(value)) {
    Operation *op = value.getDefiningOp();
    if (!isView(op))
      return false;
    value = op->getOperand(0);
  }
  return true;
}

Value FusionGraph::getRoot(Value value) const {
  while (isInlined(value)) {
    Operation *op = value.getDefiningOp();
    if (op->getNumOperands() == 0)
      return {};
    value = op->getOperand(0);
  }
  return value;
}

Value FusionGraph::getRoot(Value value, FusionAccess &access) const {
  while (isInlined(value)) {
    Operation *op = value.getDefiningOp();
    if (op->getNumOperands() == 0)
      return {};
    access = compose(access, accessOf(op));
    value = op->getOperand(0);
  }
  return value;
}

FusionAccess FusionGraph::accessOf(Operation *movement) const {
  auto [it, inserted] = accesses.try_emplace(movement);
  if (inserted)
    it->second = cast<FusionOpInterface>(movement).getFusionShape().reads[0];
  return it->second;
}

bool FusionGraph::isReadOutside(
    Value value, llvm::function_ref<bool(Operation *)> isMember) const {
  if (readers.empty()) {
    readers.resize(problem.bytes.size());
    for (auto [index, op] : llvm::enumerate(problem.ops))
      for (const planning::FusionRead &read : op.reads)
        if (read.access.kind != FusionAccess::Order)
          readers[read.value].push_back(index);
  }
  auto it = values.find(value);
  return it == values.end() || readers[it->second].empty() ||
         llvm::any_of(readers[it->second], [&](uint32_t reader) {
           return !isMember(ops[reader]);
         });
}

uint32_t FusionGraph::valueOf(Value value) {
  auto [it, inserted] = values.try_emplace(value, problem.bytes.size());
  if (inserted) {
    FailureOr<uint64_t> bytes = echo::detail::typeBytes(value.getType());
    problem.bytes.push_back(succeeded(bytes) ? *bytes : 0);
  }
  return it->second;
}

void FusionGraph::addOrder(FusionOp &op, Value value) {
  const FusionAccess order = {FusionAccess::Order, 1};
  // Movements have one operand, a barrier two.
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    value = reached[i];
    if (isInlined(value)) {
      reached.insert_range(value.getDefiningOp()->getOperands());
      continue;
    }
    uint32_t index = valueOf(value);
    if (llvm::none_of(op.reads, [&](const planning::FusionRead &read) {
          return read.value == index && read.access == order;
        }))
      op.reads.push_back({index, order, 0});
  }
}

void FusionGraph::addRead(FusionOp &op, Value value, FusionAccess access) {
  FailureOr<uint64_t> bytes = echo::detail::typeBytes(value.getType());
  for (Value moved = value; isInlined(moved);) {
    Operation *movement = moved.getDefiningOp();
    if (movement->getNumOperands() == 0)
      break;
    if (auto barrier = dyn_cast<OptimizationBarrierOp>(movement))
      addOrder(op, barrier.getAfter());
    moved = movement->getOperand(0);
  }
  value = getRoot(value, access);
  if (!value)
    return;
  // Not more than the part that is read, and not more than there is.
  op.reads.push_back({valueOf(value), access, succeeded(bytes) ? *bytes : 0});
}

void FusionGraph::addOp(Operation *op, bool isHost) {
  FusionOp fusionOp;
  fusionOp.reads.reserve(op->getNumOperands());
  fusionOp.results.reserve(op->getNumResults());
  uint32_t index = problem.ops.size();
  if (isHost) {
    fusionOp.shape.kind = FusionClass::Host;
    fusionOp.shape.writes.assign(op->getNumResults(),
                                 planning::FusionWrite::Other);
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    if (op->getNumRegions() != 0)
      getUsedValuesDefinedAbove(op->getRegions(), read);
    for (Value value : read)
      addRead(fusionOp, value, {});
  } else {
    fusionOp.shape = echo::getFusionShape(op);
    for (auto [operand, access] :
         llvm::zip_equal(op->getOperands(), fusionOp.shape.reads))
      addRead(fusionOp, operand, access);
    fusionOp.shape.reads.clear();
  }
  for (Value result : op->getResults())
    fusionOp.results.push_back(valueOf(result));
  // Effects keep their order: each reads what the one before wrote.
  if (isHost && !isPure(op)) {
    if (lastEffect)
      fusionOp.reads.push_back({*lastEffect, {}});
    lastEffect = problem.bytes.size();
    problem.bytes.push_back(0);
    fusionOp.results.push_back(*lastEffect);
    fusionOp.shape.writes.push_back(planning::FusionWrite::Other);
  }
  indices[op] = index;
  ops.push_back(op);
  problem.ops.push_back(std::move(fusionOp));
}

/// All movements and small constants but those whose results the host program,
/// or an op that nothing can be fused with, needs and hasn't got as views.
/// `isHost` has an entry for each op.
void FusionGraph::findInlined(Block &block, ArrayRef<bool> isHost) {
  llvm::DenseSet<Operation *> needed, host;
  size_t place = isHost.size();
  for (Operation &op : llvm::reverse(block)) {
    // Ops that tell nothing of fusion read what is there.
    if (isHost[--place] || !isa<FusionOpInterface, ElementwiseOpInterface,
                                DecomposeOpInterface, ConstantOp>(&op))
      host.insert(&op);
    bool isConstant = isKernelConstant(&op);
    if (!isConstant && !isMovement(&op))
      continue;
    bool isNeeded = llvm::any_of(op.getUses(), [&](OpOperand &use) {
      Operation *user = block.findAncestorOpInBlock(*use.getOwner());
      // The order needs no elements.
      if (user == use.getOwner() && isa<OptimizationBarrierOp>(user) &&
          use.getOperandNumber() != 0)
        return false;
      // Other blocks are host code, too.
      return !user || needed.contains(user) ||
             (host.contains(user) && !isMovement(user));
    });
    if (isNeeded && (isConstant || !isBufferView(&op)))
      continue;
    inlined.insert(&op);
    if (isNeeded)
      needed.insert(&op);
  }
}

LogicalResult FusionGraph::collect(Block &block) {
  // Asked once: whether parts join in place takes a look at all of them.
  SmallVector<bool> isHost;
  for (Operation &op : block) {
    isHost.push_back(staysOnHost(&op));
    if (!isHost.back() || isMovement(&op))
      if (failed(verifyStatic(&op)))
        return failure();
  }
  findInlined(block, isHost);
  problem.ops.reserve(isHost.size());
  ops.reserve(isHost.size());
  indices.reserve(isHost.size());
  values.reserve(isHost.size());
  for (auto [op, isOnHost] : llvm::zip_equal(block, isHost))
    if (!inlined.contains(&op))
      addOp(&op, isOnHost);
  return success();
}

FailureOr<FusionGraph> FusionGraph::build(Block &block,
                                          ArrayRef<Value> updates) {
  FusionGraph graph;
  if (failed(graph.collect(block)))
    return failure();
  std::vector<uint32_t> &indices = graph.problem.updates;
  for (Value update : updates)
    if (Value root = graph.getRoot(update))
      if (auto it = graph.values.find(root); it != graph.values.end())
        indices.push_back(it->second);
  llvm::sort(indices);
  indices.erase(llvm::unique(indices), indices.end());
  return graph;
}

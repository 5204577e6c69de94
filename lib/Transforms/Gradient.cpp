//===- Gradient.cpp - Builds gradients of graphs --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reverse mode: a forward sweep marks the values that depend on a target, a
// backward sweep marks the ops that the loss depends on, checks that they have
// gradients, and only then a second backward sweep builds these.
//
//===----------------------------------------------------------------------===//

#include "Echo/Transforms/Gradient.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Dialect/TensorBuilder.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOGRADIENTPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

/// Integers, flags and indices have no gradient.
static bool carriesGradient(Type type) {
  return !getElementTypeOrSelf(type).isIntOrIndex();
}

/// Every value that `op` reads: its operands, and what its regions capture.
static void forEachRead(Operation *op, function_ref<void(Value)> visit) {
  for (Value operand : op->getOperands())
    visit(operand);
  if (op->getNumRegions() == 0)
    return;
  op->walk([&](Operation *nested) {
    if (nested == op)
      return;
    for (Value operand : nested->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        visit(operand);
  });
}

namespace {

class GradientSweep {
public:
  GradientSweep(Block &block, Value loss, ArrayRef<GradientTarget> targets)
      : block(block), loss(loss), targets(targets),
        end(block.mightHaveTerminator() ? block.getTerminator() : nullptr),
        lastForward(lastBefore(end)) {}

  FailureOr<SmallVector<Value>> run(Value lossGradient);

private:
  void markDependent();
  LogicalResult markNeeded();
  LogicalResult checkOp(Operation *op);
  LogicalResult buildOp(Operation *op, OpBuilder &builder);
  void accumulate(Value value, Value part, Location loc, OpBuilder &builder);
  void eraseGradientOps(function_ref<bool(Operation *)> shouldErase);
  Operation *lastBefore(Operation *op) const {
    if (op)
      return op->getPrevNode();
    return block.empty() ? nullptr : &block.back();
  }

  bool isDependent(Value value) const { return dependsOn.contains(value); }

  Block &block;
  Value loss;
  ArrayRef<GradientTarget> targets;
  /// The block's terminator, or null.
  Operation *end;
  Operation *lastForward;
  /// For every value that depends on a target, the first such target.
  DenseMap<Value, unsigned> dependsOn;
  /// Ops between a target and the loss, last first.
  SmallVector<Operation *> path;
  DenseMap<Value, Value> gradients;
};

} // namespace

void GradientSweep::markDependent() {
  for (auto [i, target] : llvm::enumerate(targets))
    if (carriesGradient(target.value.getType()))
      dependsOn.try_emplace(target.value, i);
  for (Operation &op : block) {
    std::optional<unsigned> first;
    forEachRead(&op, [&](Value read) {
      auto it = dependsOn.find(read);
      if (it != dependsOn.end())
        first = std::min(first.value_or(it->second), it->second);
    });
    if (!first)
      continue;
    for (Value result : op.getResults())
      if (carriesGradient(result.getType()))
        dependsOn.try_emplace(result, *first);
  }
}

LogicalResult GradientSweep::checkOp(Operation *op) {
  unsigned target = 0;
  for (Value result : op->getResults())
    if (isDependent(result))
      target = dependsOn.lookup(result);
  StringRef name = targets[target].name;
  if (op->getNumRegions() != 0)
    return op->emitOpError("has regions: no gradient can be built through it, "
                           "but parameter '")
           << name << "' needs one";
  if (!isa<GradientOpInterface>(op))
    return op->emitOpError("has no gradient, but parameter '")
           << name << "' needs one";
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types)
    if (!isStatic(type))
      return op->emitOpError("expected ranked tensors of static shapes to "
                             "build the gradient for parameter '")
             << name << "', found " << type;
  return success();
}

LogicalResult GradientSweep::markNeeded() {
  DenseSet<Value> reached;
  if (isDependent(loss))
    reached.insert(loss);
  for (Operation &op : llvm::reverse(block)) {
    bool onPath = llvm::any_of(op.getResults(), [&](Value result) {
      return reached.contains(result);
    });
    if (!onPath)
      continue;
    if (failed(checkOp(&op)))
      return failure();
    path.push_back(&op);
    for (Value operand : op.getOperands())
      if (isDependent(operand))
        reached.insert(operand);
  }
  return success();
}

void GradientSweep::accumulate(Value value, Value part, Location loc,
                               OpBuilder &builder) {
  auto [it, inserted] = gradients.try_emplace(value, part);
  if (!inserted)
    it->second = TensorBuilder(builder, loc).add(it->second, part);
}

LogicalResult GradientSweep::buildOp(Operation *op, OpBuilder &builder) {
  SmallVector<Value> resultGradients;
  bool arrives = false;
  for (Value result : op->getResults()) {
    // The last reader has been visited: the entry isn't needed any longer.
    auto it = gradients.find(result);
    resultGradients.push_back(it == gradients.end() ? Value() : it->second);
    if (it == gradients.end())
      continue;
    arrives = true;
    gradients.erase(it);
  }
  if (!arrives)
    return success();

  SmallVector<bool> needed;
  for (Value operand : op->getOperands())
    needed.push_back(isDependent(operand));
  SmallVector<Value> operandGradients;
  if (failed(cast<GradientOpInterface>(op).buildGradient(
          builder, resultGradients, needed, operandGradients)))
    return failure();
  if (operandGradients.size() != needed.size())
    return op->emitOpError("expected its gradient to have one value for each "
                           "of ")
           << needed.size() << " operands, found " << operandGradients.size();
  for (auto [operand, gradient, wanted] :
       llvm::zip_equal(op->getOperands(), operandGradients, needed)) {
    if (!wanted || !gradient)
      continue;
    if (gradient.getType() != operand.getType())
      return op->emitOpError("expected the gradient of an operand of type ")
             << operand.getType() << " to have its type, found "
             << gradient.getType();
    accumulate(operand, gradient, op->getLoc(), builder);
  }
  return success();
}

/// Visits the ops behind the forward part from the last to the first.
void GradientSweep::eraseGradientOps(
    function_ref<bool(Operation *)> shouldErase) {
  Operation *op = lastBefore(end);
  while (op && op != lastForward) {
    Operation *previous = op->getPrevNode();
    if (shouldErase(op))
      op->erase();
    op = previous;
  }
}

FailureOr<SmallVector<Value>> GradientSweep::run(Value lossGradient) {
  markDependent();
  if (failed(markNeeded()))
    return failure();
  OpBuilder builder(block.getParentOp()->getContext());
  if (end)
    builder.setInsertionPoint(end);
  else
    builder.setInsertionPointToEnd(&block);
  if (isDependent(loss))
    gradients[loss] = lossGradient;
  for (Operation *op : path) {
    if (failed(buildOp(op, builder))) {
      eraseGradientOps([](Operation *) { return true; });
      return failure();
    }
  }
  SmallVector<Value> results;
  DenseSet<Operation *> returned;
  for (const GradientTarget &target : targets) {
    results.push_back(gradients.lookup(target.value));
    if (results.back())
      returned.insert(results.back().getDefiningOp());
  }
  // A gradient that is zero everywhere (of sign) stops here: what was built to
  // reach it has no reader.
  eraseGradientOps([&](Operation *op) {
    return !returned.contains(op) && isOpTriviallyDead(op);
  });
  return results;
}

FailureOr<SmallVector<Value>>
mlir::echo::buildGradients(Block &block, Value loss, Value lossGradient,
                           ArrayRef<GradientTarget> targets) {
  return GradientSweep(block, loss, targets).run(lossGradient);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult mlir::echo::checkNotUsed(func::FuncOp function) {
  Operation *table = function->getParentOp();
  std::optional<SymbolTable::UseRange> uses =
      table ? SymbolTable::getSymbolUses(function, table) : std::nullopt;
  if (!uses || uses->empty())
    return success();
  InFlightDiagnostic error =
      function.emitError("is used by other ops: its type can't be changed");
  error.attachNote(uses->begin()->getUser()->getLoc()) << "used here";
  return error;
}

/// The float arguments with role "parameter".
static LogicalResult findParameters(func::FuncOp function,
                                    SmallVectorImpl<unsigned> &parameters) {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (getArgumentRole(function, i) != ArgumentRole::Parameter ||
        !carriesGradient(type))
      continue;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        !isa<FloatType>(tensor.getElementType()))
      return function.emitError("expected parameter '")
             << getArgumentName(function, i)
             << "' to be a ranked tensor of static shape, found " << type;
    parameters.push_back(i);
  }
  if (parameters.empty())
    return function.emitError("has no float argument with ")
           << kRoleAttr << " = \"parameter\"";
  return success();
}

static LogicalResult checkFunction(func::FuncOp function) {
  if (function.isExternal())
    return function.emitError("expected a function with a body");
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a function of one block, found ")
           << function.getBody().getBlocks().size();
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    if (function.getResultAttr(i, kGradientOfAttr))
      return function.emitError("has gradients already: result #")
             << i << " has '" << kGradientOfAttr << "'";
  return checkNotUsed(function);
}

LogicalResult mlir::echo::addGradients(func::FuncOp function,
                                       std::optional<int64_t> lossIndex) {
  if (failed(checkFunction(function)))
    return failure();
  FailureOr<unsigned> lossResult = getLossIndex(function, lossIndex);
  SmallVector<unsigned> parameters;
  if (failed(lossResult) || failed(findParameters(function, parameters)))
    return failure();

  Block &block = function.front();
  Operation *terminator = block.getTerminator();
  Value loss = terminator->getOperand(*lossResult);
  SmallVector<GradientTarget> targets;
  for (unsigned i : parameters)
    targets.push_back({function.getArgument(i), getArgumentName(function, i)});

  OpBuilder builder(terminator);
  TensorBuilder tensors(builder, loss.getLoc());
  Value one = tensors.splat(cast<RankedTensorType>(loss.getType()), 1.0);
  FailureOr<SmallVector<Value>> gradients =
      buildGradients(block, loss, one, targets);
  if (failed(gradients)) {
    one.getDefiningOp()->erase();
    return failure();
  }

  for (auto [gradient, target] : llvm::zip_equal(*gradients, targets)) {
    if (gradient)
      continue;
    emitWarning(target.value.getLoc())
        << "the loss doesn't depend on parameter '" << target.name
        << "': its gradient is zero";
    gradient = TensorBuilder(builder, target.value.getLoc())
                   .zeros(target.value.getType());
  }

  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (auto [i, target] : llvm::zip_equal(parameters, targets)) {
    types.push_back(target.value.getType());
    attributes.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(kGradientOfAttr, builder.getI64IntegerAttr(i)),
         builder.getNamedAttr(kNameAttr,
                              builder.getStringAttr(target.name + ".grad"))}));
  }
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    if (function.getResultAttr(i, kLossAttr))
      function.removeResultAttr(i, builder.getStringAttr(kLossAttr));
  function.setResultAttr(*lossResult, kLossAttr, builder.getUnitAttr());
  SmallVector<unsigned> indices(types.size(), function.getNumResults());
  if (failed(function.insertResults(indices, types, attributes)))
    return failure();
  terminator->insertOperands(terminator->getNumOperands(), *gradients);
  if (one.use_empty())
    one.getDefiningOp()->erase();
  return success();
}

namespace {

struct EchoGradientPass
    : public echo::impl::EchoGradientPassBase<EchoGradientPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<func::FuncOp> target = findFunction(getOperation(), function);
    std::optional<int64_t> index;
    if (loss != -1)
      index = loss;
    if (failed(target) || failed(addGradients(*target, index)))
      signalPassFailure();
  }
};

} // namespace

//===- Interpreter.cpp - Evaluates blocks of ops --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Target/Interpreter.h"
#include "Convert.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::echo;

#include "Echo/Target/InterpreterInterface.cpp.inc"

/// A block ready for evaluation: values are numbered slots, and each op knows
/// which of them nobody reads after it.
struct Interpreter::BlockPlan {
  struct Step {
    Operation *op;
    InterpreterOpInterface interface;
    SmallVector<unsigned, 4> operands;
    unsigned firstResult;
    SmallVector<unsigned, 2> dying;
  };
  std::vector<Step> steps;
  SmallVector<unsigned> returned;
  unsigned numArguments = 0, numSlots = 0;
  /// Where diagnostics about the block's arguments go.
  Operation *owner = nullptr;
};

/// What a composite op decomposes to, in a block of its own that takes the
/// op's operands.
struct Interpreter::Decomposition {
  Block block;
  BlockPlan plan;
};

void mlir::echo::registerInterpreterExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, EchoDialect *) {
    interpreter::attachElementwiseModels(context);
    interpreter::attachShapeModels(context);
    interpreter::attachEncodingModels(context);
    interpreter::attachReductionModels(context);
    interpreter::attachContractionModels(context);
    interpreter::attachCompositeModels(context);
    interpreter::attachLookupModels(context);
    interpreter::attachStructureModels(context);
  });
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    interpreter::attachArithModels(context);
  });
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *) {
    interpreter::attachFuncModels(context);
  });
}

Interpreter::Interpreter(InterpreterOptions options) : options(options) {}
Interpreter::~Interpreter() = default;

Type Interpreter::getElementType(Type declared) const {
  if (!isExact() && isa<FloatType>(declared))
    return Float64Type::get(declared.getContext());
  return declared;
}

FailureOr<HostTensor> Interpreter::allocate(Operation *op,
                                            ArrayRef<int64_t> shape,
                                            Type elementType) {
  FailureOr<HostTensor> tensor = HostTensor::zeros(
      RankedTensorType::get(shape, getElementType(elementType)));
  if (failed(tensor))
    return op->emitOpError("cannot be interpreted: no memory for a result of ")
           << RankedTensorType::get(shape, elementType);
  return tensor;
}

func::FuncOp Interpreter::lookupFunction(Operation *op,
                                         FlatSymbolRefAttr symbol) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
  if (!function)
    op->emitOpError("names ") << symbol << ", which is no function";
  return function;
}

/// Fills a plan for the ops of `block` before `end`, whose operands are
/// `returned`.
static LogicalResult fillSteps(
    Block &block, Block::iterator end, ValueRange returned,
    llvm::function_ref<void(Operation *, InterpreterOpInterface,
                            ArrayRef<unsigned>, unsigned, ArrayRef<unsigned>)>
        addStep,
    SmallVectorImpl<unsigned> &returnedSlots, unsigned &numSlots) {
  llvm::DenseMap<Value, unsigned> slots;
  for (BlockArgument argument : block.getArguments())
    slots[argument] = numSlots++;
  llvm::DenseMap<Value, Operation *> lastUse;
  for (Operation &op : llvm::make_range(block.begin(), end)) {
    for (Value operand : op.getOperands())
      lastUse[operand] = &op;
    for (Value result : op.getResults())
      lastUse[result] = &op;
  }
  for (Value value : returned)
    lastUse.erase(value);
  for (Operation &op : llvm::make_range(block.begin(), end)) {
    auto interface = dyn_cast<InterpreterOpInterface>(op);
    if (!interface)
      return op.emitOpError(
          "cannot be interpreted: no model evaluates ops of this kind");
    SmallVector<unsigned> operands, dying;
    auto markDying = [&](Value value) {
      unsigned slot = slots.lookup(value);
      if (lastUse.lookup(value) == &op && !llvm::is_contained(dying, slot))
        dying.push_back(slot);
    };
    for (Value operand : op.getOperands()) {
      if (!slots.count(operand))
        return op.emitOpError(
            "cannot be interpreted: an operand is defined outside its block");
      operands.push_back(slots.lookup(operand));
    }
    unsigned firstResult = numSlots;
    for (Value result : op.getResults())
      slots[result] = numSlots++;
    for (Value operand : op.getOperands())
      markDying(operand);
    for (Value result : op.getResults())
      markDying(result);
    addStep(&op, interface, operands, firstResult, dying);
  }
  for (Value value : returned)
    returnedSlots.push_back(slots.lookup(value));
  return success();
}

Interpreter::BlockPlan *Interpreter::prepare(Block &block) {
  auto found = plans.find(&block);
  if (found != plans.end())
    return found->second.get();
  Operation *owner = block.getParentOp();
  Operation *terminator = block.mightHaveTerminator() ? &block.back() : nullptr;
  if (!terminator || !terminator->hasTrait<OpTrait::ReturnLike>() ||
      !block.hasNoSuccessors() || !llvm::hasSingleElement(*block.getParent())) {
    owner->emitOpError("cannot be interpreted: expected a body of one block "
                       "that ends with a return");
    return nullptr;
  }
  auto plan = std::make_unique<BlockPlan>();
  plan->owner = owner;
  plan->numArguments = block.getNumArguments();
  auto addStep = [&](Operation *op, InterpreterOpInterface interface,
                     ArrayRef<unsigned> operands, unsigned firstResult,
                     ArrayRef<unsigned> dying) {
    plan->steps.push_back({op, interface, SmallVector<unsigned, 4>(operands),
                           firstResult, SmallVector<unsigned, 2>(dying)});
  };
  if (failed(fillSteps(block, terminator->getIterator(),
                       terminator->getOperands(), addStep, plan->returned,
                       plan->numSlots)))
    return nullptr;
  return plans.try_emplace(&block, std::move(plan)).first->second.get();
}

LogicalResult Interpreter::execute(BlockPlan &plan,
                                   ArrayRef<HostTensor> arguments,
                                   SmallVectorImpl<HostTensor> &results) {
  // Calls nest as deeply as the graph does; without control flow, deeper
  // nesting than this doesn't end.
  constexpr unsigned maxDepth = 256;
  if (depth >= maxDepth)
    return plan.owner->emitOpError(
        "cannot be interpreted: calls are nested too deeply, or recursive");
  ++depth;
  llvm::scope_exit leave([&] { --depth; });

  std::vector<HostTensor> slots(plan.numSlots);
  std::copy(arguments.begin(), arguments.end(), slots.begin());
  SmallVector<HostTensor> operands, stepResults;
  for (BlockPlan::Step &step : plan.steps) {
    operands.clear();
    stepResults.clear();
    for (unsigned slot : step.operands)
      operands.push_back(slots[slot]);
    if (failed(step.interface.evaluate(*this, operands, stepResults)))
      return failure();
    if (stepResults.size() != step.op->getNumResults())
      return step.op->emitOpError("was interpreted with ")
             << stepResults.size() << " results, expected "
             << step.op->getNumResults();
    for (auto [index, result] : llvm::enumerate(stepResults)) {
      auto declared =
          dyn_cast<RankedTensorType>(step.op->getResult(index).getType());
      if (declared &&
          failed(verifyCompatibleShape(declared.getShape(), result.getShape())))
        return step.op->emitOpError("has result ")
               << index << " of shape " << result.getType()
               << " at run time, expected " << declared;
      slots[step.firstResult + index] = std::move(result);
    }
    for (unsigned slot : step.dying)
      slots[slot] = HostTensor();
  }
  for (unsigned slot : plan.returned)
    results.push_back(slots[slot]);
  return success();
}

LogicalResult Interpreter::run(Block &block, ArrayRef<HostTensor> arguments,
                               SmallVectorImpl<HostTensor> &results) {
  BlockPlan *plan = prepare(block);
  if (!plan)
    return failure();
  if (arguments.size() != plan->numArguments)
    return plan->owner->emitOpError("expected ")
           << plan->numArguments << " arguments, found " << arguments.size();
  return execute(*plan, arguments, results);
}

LogicalResult
Interpreter::runDecomposition(Operation *op, ArrayRef<HostTensor> operands,
                              SmallVectorImpl<HostTensor> &results) {
  std::unique_ptr<Decomposition> &entry = decompositions[op];
  if (!entry) {
    auto decomposition = std::make_unique<Decomposition>();
    Block &block = decomposition->block;
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, block.addArgument(operand.getType(), op->getLoc()));
    OpBuilder builder(op->getContext());
    builder.setInsertionPointToEnd(&block);
    Operation *clone = builder.clone(*op, mapping);
    builder.setInsertionPoint(clone);
    auto values = cast<DecomposeOpInterface>(clone).decompose(builder);
    if (failed(values))
      return op->emitOpError("cannot be interpreted: its decomposition failed");
    BlockPlan &plan = decomposition->plan;
    plan.owner = op;
    plan.numArguments = block.getNumArguments();
    auto addStep = [&](Operation *inner, InterpreterOpInterface interface,
                       ArrayRef<unsigned> slots, unsigned firstResult,
                       ArrayRef<unsigned> dying) {
      plan.steps.push_back({inner, interface, SmallVector<unsigned, 4>(slots),
                            firstResult, SmallVector<unsigned, 2>(dying)});
    };
    if (failed(fillSteps(block, clone->getIterator(), *values, addStep,
                         plan.returned, plan.numSlots)))
      return failure();
    clone->erase();
    entry = std::move(decomposition);
  }
  return execute(entry->plan, operands, results);
}

LogicalResult Interpreter::call(func::FuncOp function,
                                ArrayRef<HostTensor> arguments,
                                SmallVectorImpl<HostTensor> &results,
                                Operation *caller) {
  Operation *at = caller ? caller : function.getOperation();
  if (function.isExternal())
    return at->emitOpError("cannot be interpreted: function '")
           << function.getName() << "' has no body";
  if (arguments.size() != function.getNumArguments())
    return at->emitOpError("function '")
           << function.getName() << "' expects " << function.getNumArguments()
           << " arguments, found " << arguments.size();
  SmallVector<HostTensor> converted;
  for (unsigned index = 0, e = arguments.size(); index != e; ++index) {
    const HostTensor &argument = arguments[index];
    auto declared =
        dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
    Type element;
    if (declared && argument &&
        succeeded(
            verifyCompatibleShape(declared.getShape(), argument.getShape())))
      element = getElementType(declared.getElementType());
    if (!element || (argument.getElementType() != element &&
                     argument.getElementType() != declared.getElementType())) {
      InFlightDiagnostic diagnostic = at->emitOpError("argument ") << index;
      if (auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr))
        diagnostic << " (" << name << ")";
      diagnostic << " of function '" << function.getName() << "' expects "
                 << function.getArgumentTypes()[index] << ", found ";
      if (argument)
        return diagnostic << argument.getType();
      return diagnostic << "no value";
    }
    if (failed(interpreter::appendConverted(
            at, *this, argument, declared.getElementType(), converted)))
      return failure();
  }
  return run(function.getBody().front(), converted, results);
}

FailureOr<SmallVector<HostTensor>>
mlir::echo::interpret(func::FuncOp function, ArrayRef<HostTensor> arguments,
                      InterpreterOptions options) {
  Interpreter interpreter(options);
  SmallVector<HostTensor> results;
  if (failed(interpreter.call(function, arguments, results)))
    return failure();
  return results;
}

//===- Optimizer.cpp - Adds the weight update to a step -------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Transforms/Optimizer.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Dialect/TensorBuilder.h"
#include "Echo/Transforms/Gradient.h"
#include "Echo/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <tuple>

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOOPTIMIZERPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

std::optional<OptimizerKind>
mlir::echo::symbolizeOptimizerKind(StringRef name) {
  return llvm::StringSwitch<std::optional<OptimizerKind>>(name)
      .Case("sgd", OptimizerKind::SGD)
      .Case("momentum", OptimizerKind::Momentum)
      .Case("adam", OptimizerKind::Adam)
      .Default(std::nullopt);
}

static LogicalResult checkOptions(func::FuncOp function,
                                  const OptimizerOptions &options) {
  auto fail = [&](StringRef name, StringRef range, double value) {
    return LogicalResult(function.emitError("expected optimizer option ")
                         << name << range << ", found "
                         << std::to_string(value));
  };
  auto check = [&](StringRef name, double value, bool belowOne) {
    if (std::isfinite(value) && value >= 0.0 && (!belowOne || value < 1.0))
      return success();
    return fail(name, belowOne ? " in [0, 1)" : " >= 0", value);
  };
  // Above 1, what a gradient gave to the momentum would grow.
  if (!(options.momentum >= 0.0 && options.momentum <= 1.0))
    return fail("momentum", " in [0, 1]", options.momentum);
  if (failed(check("beta1", options.beta1, true)) ||
      failed(check("beta2", options.beta2, true)) ||
      failed(check("epsilon", options.epsilon, false)) ||
      failed(check("weight-decay", options.weightDecay, false)) ||
      failed(check("clip-norm", options.clipNorm, false)))
    return failure();
  if (options.accumulate < 1)
    return function.emitError("expected optimizer option accumulate >= 1, "
                              "found ")
           << options.accumulate;
  return success();
}

namespace {

/// A parameter, its gradient, and what its update works on.
struct Parameter {
  unsigned argument;
  unsigned result;
  std::string name;
  Value value;
  Value gradient;
  Type computeType;
  /// The last op that the update has to follow; null: none.
  Operation *after = nullptr;
  unsigned position = 0;
  /// States: momentum, or first and second moment; accumulated gradients.
  Value first, second, accumulated;
};

/// Factors of the updates in one element type; null where they aren't needed.
struct Factors {
  Value rate, decay, rootCorrection, clip;
};

class OptimizerBuilder {
public:
  OptimizerBuilder(func::FuncOp function, const OptimizerOptions &options)
      : function(function), options(options), builder(function.getContext()) {}

  LogicalResult run();

private:
  LogicalResult findParameters();
  LogicalResult checkNewNames();
  void findPositions();
  std::vector<std::pair<std::string, RankedTensorType>>
  stateTypes(const Parameter &parameter) const;
  void addArguments();
  void addResults();
  void buildFactors();
  void buildGradientMean(Parameter &parameter);
  void buildClipping();
  void buildUpdate(Parameter &parameter);

  bool accumulates() const { return options.accumulate > 1; }
  bool clips() const { return options.clipNorm > 0.0; }
  bool needsStep() const {
    return accumulates() || options.kind == OptimizerKind::Adam;
  }
  Location locationOf(StringRef name) const {
    return NameLoc::get(builder.getStringAttr(name));
  }

  func::FuncOp function;
  const OptimizerOptions &options;
  mutable OpBuilder builder;
  SmallVector<Parameter> parameters;
  Value learningRate, step, newStep;
  /// Whether this call ends an accumulation; null without accumulation.
  Value updates;
  /// By element type, f32 or f64.
  DenseMap<Type, Factors> factors;
  /// State arguments and their new values, in the order of the arguments.
  SmallVector<std::pair<Value, Value>> states;
};

} // namespace

LogicalResult OptimizerBuilder::findParameters() {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitError("expected a function of one block");
  Operation *terminator = function.front().getTerminator();
  DenseSet<unsigned> seen;
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i) {
    std::optional<unsigned> argument = getGradientArgument(function, i);
    if (!argument)
      continue;
    Parameter parameter;
    parameter.argument = *argument;
    parameter.result = i;
    parameter.name = getArgumentName(function, parameter.argument);
    parameter.value = function.getArgument(parameter.argument);
    parameter.gradient = terminator->getOperand(i);
    if (!seen.insert(parameter.argument).second)
      return function.emitError("expected one gradient for parameter '")
             << parameter.name << "', found more";
    auto type = dyn_cast<RankedTensorType>(parameter.value.getType());
    if (!type || !type.hasStaticShape() ||
        !isa<FloatType>(type.getElementType()) ||
        parameter.gradient.getType() != type)
      return function.emitError("expected parameter '")
             << parameter.name
             << "' and its gradient to be float tensors of one static shape, "
                "found "
             << parameter.value.getType() << " and "
             << parameter.gradient.getType();
    parameter.computeType = getAccumulatorType(type.getElementType());
    parameters.push_back(std::move(parameter));
  }
  if (parameters.empty())
    return function.emitError("has no gradients: no result has '")
           << kGradientOfAttr << "'";
  FailureOr<SmallVector<std::optional<unsigned>>> aliases =
      getAliasedArguments(function);
  if (failed(aliases))
    return failure();
  for (auto [i, argument] : llvm::enumerate(*aliases))
    if (argument && seen.contains(*argument))
      return function.emitError("parameter '")
             << getArgumentName(function, *argument)
             << "' is replaced already by result #" << i;
  return success();
}

std::vector<std::pair<std::string, RankedTensorType>>
OptimizerBuilder::stateTypes(const Parameter &parameter) const {
  auto type = RankedTensorType::get(TensorBuilder::shapeOf(parameter.value),
                                    parameter.computeType);
  std::vector<std::pair<std::string, RankedTensorType>> result;
  switch (options.kind) {
  case OptimizerKind::SGD:
    break;
  case OptimizerKind::Momentum:
    result.emplace_back(parameter.name + ".momentum", type);
    break;
  case OptimizerKind::Adam:
    result.emplace_back(parameter.name + ".m", type);
    result.emplace_back(parameter.name + ".v", type);
    break;
  }
  if (accumulates())
    result.emplace_back(parameter.name + ".accumulated", type);
  return result;
}

static constexpr StringLiteral kLearningRate = "learning_rate";
static constexpr StringLiteral kStep = "optimizer.step";

LogicalResult OptimizerBuilder::checkNewNames() {
  llvm::StringSet<> names;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    names.insert(getArgumentName(function, i));
  auto add = [&](StringRef name) -> LogicalResult {
    if (names.insert(name).second)
      return success();
    return function.emitError("the optimizer needs an argument named '")
           << name << "', but one exists already";
  };
  if (failed(add(kLearningRate)) || (needsStep() && failed(add(kStep))))
    return failure();
  for (const Parameter &parameter : parameters)
    for (const auto &[name, type] : stateTypes(parameter))
      if (failed(add(name)))
        return failure();
  return success();
}

/// Finds the op that each update has to follow: the gradient and every reader
/// of the parameter or of what may be a view of it.
void OptimizerBuilder::findPositions() {
  Block &block = function.front();
  DenseMap<Operation *, unsigned> positions;
  for (auto [i, op] : llvm::enumerate(block.without_terminator()))
    positions[&op] = i + 1;
  for (Parameter &parameter : parameters) {
    auto follow = [&](Operation *op) {
      unsigned position = positions.lookup(op);
      if (position <= parameter.position)
        return;
      parameter.position = position;
      parameter.after = op;
    };
    if (clips()) {
      // The norm needs every gradient.
      if (!block.without_terminator().empty())
        follow(block.getTerminator()->getPrevNode());
      continue;
    }
    if (Operation *op = parameter.gradient.getDefiningOp())
      follow(op);
    SmallVector<Value> worklist = {parameter.value};
    while (!worklist.empty()) {
      for (Operation *user : worklist.pop_back_val().getUsers()) {
        Operation *op = block.findAncestorOpInBlock(*user);
        follow(op);
        if (isa<BufferViewOpInterface>(user))
          llvm::append_range(worklist, user->getResults());
      }
    }
  }
}

void OptimizerBuilder::addArguments() {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
  auto add = [&](StringRef name, StringRef role, Type type, double init) {
    auto initAttr =
        InitAttr::get(function.getContext(), InitKind::Constant, init);
    types.push_back(type);
    attributes.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(kInitAttr, initAttr),
         builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
         builder.getNamedAttr(kRoleAttr, builder.getStringAttr(role))}));
    locations.push_back(locationOf(name));
  };
  add(kLearningRate, "input", RankedTensorType::get({}, builder.getF32Type()),
      0.001);
  if (needsStep())
    add(kStep, "state", RankedTensorType::get({}, builder.getI64Type()), 0.0);
  for (const Parameter &parameter : parameters)
    for (const auto &[name, type] : stateTypes(parameter))
      add(name, "state", type, 0.0);

  unsigned next = function.getNumArguments();
  SmallVector<unsigned> indices(types.size(), next);
  // The new type of a FuncOp is always valid.
  (void)function.insertArguments(indices, types, attributes, locations);
  auto take = [&]() { return function.getArgument(next++); };
  learningRate = take();
  if (needsStep())
    step = take();
  for (Parameter &parameter : parameters) {
    if (options.kind != OptimizerKind::SGD)
      parameter.first = take();
    if (options.kind == OptimizerKind::Adam)
      parameter.second = take();
    if (accumulates())
      parameter.accumulated = take();
  }
}

/// Factors that are the same for all elements. The bias corrections cancel
/// digits (1 - 0.999^t), so they are computed in f64.
void OptimizerBuilder::buildFactors() {
  TensorBuilder b(builder, locationOf("optimizer"));
  Type f64 = builder.getF64Type();
  Value rate = learningRate;
  Value decay, rootCorrection;
  if (options.decoupled && options.weightDecay != 0.0)
    decay = b.sub(1.0, b.mul(b.convert(rate, f64), options.weightDecay));
  Value count;
  if (needsStep()) {
    newStep = b.add(step, 1.0);
    states.emplace_back(step, newStep);
    count = newStep;
  }
  if (accumulates()) {
    Value period = b.scalar(builder.getI64Type(), options.accumulate);
    updates = b.compare(CompareDirection::EQ, b.rem(newStep, period), 0.0);
    count = b.div(newStep, period);
  }
  if (options.kind == OptimizerKind::Adam) {
    count = b.convert(count, f64);
    auto correction = [&](double beta) {
      return b.sub(1.0, b.pow(b.scalar(f64, beta), count));
    };
    Value first = correction(options.beta1);
    rate = b.div(b.convert(rate, f64), first);
    rootCorrection = b.sqrt(correction(options.beta2));
  }
  for (const Parameter &parameter : parameters) {
    Type type = parameter.computeType;
    auto [it, inserted] = factors.try_emplace(type);
    if (!inserted)
      continue;
    it->second.rate = b.convert(rate, type);
    if (decay)
      it->second.decay = b.convert(decay, type);
    if (rootCorrection)
      it->second.rootCorrection = b.convert(rootCorrection, type);
  }
}

/// Replaces a gradient by the mean of those of the accumulated steps.
void OptimizerBuilder::buildGradientMean(Parameter &parameter) {
  TensorBuilder b(builder, locationOf("optimizer/" + parameter.name));
  parameter.gradient = b.widen(parameter.gradient);
  if (!accumulates())
    return;
  Value total = b.add(parameter.accumulated, parameter.gradient);
  parameter.gradient = b.div(total, double(options.accumulate));
  states.emplace_back(parameter.accumulated, b.dropWhere(updates, total));
}

/// As torch.nn.utils.clip_grad_norm_.
void OptimizerBuilder::buildClipping() {
  TensorBuilder b(builder, locationOf("optimizer"));
  Type type = builder.getF32Type();
  for (const Parameter &parameter : parameters)
    if (parameter.computeType.isF64())
      type = parameter.computeType;
  Value sum;
  for (const Parameter &parameter : parameters) {
    Value g = b.convert(parameter.gradient, type);
    Value squares = b.sumAll(b.mul(g, g));
    sum = sum ? b.add(sum, squares) : squares;
  }
  Value limit = b.scalar(type, options.clipNorm);
  Value clip = b.min(b.div(limit, b.add(b.sqrt(sum), 1e-6)), 1.0);
  for (const Parameter &parameter : parameters) {
    Factors &entry = factors[parameter.computeType];
    if (!entry.clip)
      entry.clip = b.convert(clip, parameter.computeType);
  }
}

void OptimizerBuilder::buildUpdate(Parameter &parameter) {
  TensorBuilder b(builder, locationOf("optimizer/" + parameter.name));
  const Factors &factor = factors[parameter.computeType];
  Value p = b.widen(parameter.value);
  Value g = parameter.gradient;
  if (clips())
    g = b.mul(g, factor.clip);
  if (factor.decay)
    p = b.mul(p, factor.decay);
  else if (options.weightDecay != 0.0)
    g = b.add(g, b.mul(p, options.weightDecay));

  Value first, second;
  switch (options.kind) {
  case OptimizerKind::SGD:
    p = b.sub(p, b.mul(g, factor.rate));
    break;
  case OptimizerKind::Momentum:
    first = b.add(b.mul(parameter.first, options.momentum), g);
    p = b.sub(p, b.mul(first, factor.rate));
    break;
  case OptimizerKind::Adam: {
    Value change = b.mul(b.sub(g, parameter.first), 1.0 - options.beta1);
    first = b.add(parameter.first, change);
    Value squares = b.mul(b.mul(g, 1.0 - options.beta2), g);
    second = b.add(b.mul(parameter.second, options.beta2), squares);
    Value root = b.div(b.sqrt(second), factor.rootCorrection);
    Value denominator = b.add(root, options.epsilon);
    p = b.sub(p, b.div(b.mul(first, factor.rate), denominator));
    break;
  }
  }
  p = b.convert(p, b.typeOf(parameter.value).getElementType());

  auto whenUpdating = [&](Value newValue, Value old) {
    return updates ? b.select(updates, newValue, old) : newValue;
  };
  Operation *terminator = function.front().getTerminator();
  terminator->setOperand(parameter.result, whenUpdating(p, parameter.value));
  if (first)
    states.emplace_back(parameter.first, whenUpdating(first, parameter.first));
  if (second)
    states.emplace_back(parameter.second,
                        whenUpdating(second, parameter.second));
}

/// Updated parameters in place of their gradients, states behind.
void OptimizerBuilder::addResults() {
  SmallVector<Type> types(function.getResultTypes());
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0, e = types.size(); i < e; ++i) {
    DictionaryAttr old = function.getResultAttrDict(i);
    attributes.push_back(old ? old : builder.getDictionaryAttr({}));
  }
  auto attributesFor = [&](Value argument) {
    unsigned index = cast<BlockArgument>(argument).getArgNumber();
    return builder.getDictionaryAttr(
        {builder.getNamedAttr(kAliasesArgumentAttr,
                              builder.getI64IntegerAttr(index)),
         builder.getNamedAttr(kNameAttr, builder.getStringAttr(getArgumentName(
                                             function, index)))});
  };
  for (const Parameter &parameter : parameters)
    attributes[parameter.result] = attributesFor(parameter.value);

  llvm::sort(states, [](const auto &a, const auto &b) {
    return cast<BlockArgument>(a.first).getArgNumber() <
           cast<BlockArgument>(b.first).getArgNumber();
  });
  SmallVector<Value> values;
  for (auto [argument, value] : states) {
    types.push_back(value.getType());
    attributes.push_back(attributesFor(argument));
    values.push_back(value);
  }
  Operation *terminator = function.front().getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), values);
  function.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), types));
  function.setAllResultAttrs(attributes);
}

LogicalResult OptimizerBuilder::run() {
  if (failed(checkOptions(function, options)) ||
      failed(checkNotUsed(function)) || failed(findParameters()) ||
      failed(checkNewNames()))
    return failure();
  findPositions();
  addArguments();

  // In the order of the block, and of the results where two follow one op.
  SmallVector<Parameter *> order;
  for (Parameter &parameter : parameters)
    order.push_back(&parameter);
  llvm::sort(order, [](const Parameter *a, const Parameter *b) {
    return std::tie(a->position, a->result) < std::tie(b->position, b->result);
  });
  Block &block = function.front();
  auto insertAfter = [&](Operation *op) {
    if (op)
      builder.setInsertionPointAfter(op);
    else
      builder.setInsertionPointToStart(&block);
  };
  insertAfter(order.front()->after);
  buildFactors();
  if (clips()) {
    for (Parameter *parameter : order)
      buildGradientMean(*parameter);
    buildClipping();
  }
  Operation *after = order.front()->after;
  for (Parameter *parameter : order) {
    if (parameter->after != after)
      insertAfter(after = parameter->after);
    if (!clips())
      buildGradientMean(*parameter);
    buildUpdate(*parameter);
  }

  addResults();
  return success();
}

LogicalResult mlir::echo::addOptimizer(func::FuncOp function,
                                       const OptimizerOptions &options) {
  return OptimizerBuilder(function, options).run();
}

namespace {

struct EchoOptimizerPass
    : public echo::impl::EchoOptimizerPassBase<EchoOptimizerPass> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<OptimizerKind> symbol = symbolizeOptimizerKind(kind);
    if (!symbol) {
      getOperation().emitError("expected optimizer option kind to be sgd, "
                               "momentum or adam, found '")
          << kind << "'";
      return signalPassFailure();
    }
    if (failed(checkKind(*symbol)))
      return signalPassFailure();
    OptimizerOptions options;
    options.kind = *symbol;
    options.momentum = momentum;
    options.beta1 = beta1;
    options.beta2 = beta2;
    options.epsilon = epsilon;
    options.weightDecay = weightDecay;
    options.decoupled = decoupled;
    options.clipNorm = clipNorm;
    options.accumulate = accumulate;
    FailureOr<func::FuncOp> target = findFunction(getOperation(), function);
    if (failed(target) || failed(addOptimizer(*target, options)))
      signalPassFailure();
  }

private:
  /// Nothing may be given that the kind doesn't have. Options that come as a
  /// struct are all given: defaults don't count.
  LogicalResult checkKind(OptimizerKind symbol) {
    EchoOptimizerPassOptions defaults;
    auto check = [&](const auto &option, double other, OptimizerKind owner) {
      if (option == other || symbol == owner)
        return success();
      return LogicalResult(getOperation().emitError("optimizer option ")
                           << option.getArgStr()
                           << " isn't one of kind=" << kind);
    };
    return success(succeeded(check(momentum, defaults.momentum,
                                   OptimizerKind::Momentum)) &&
                   succeeded(check(beta1, defaults.beta1, OptimizerKind::Adam)) &&
                   succeeded(check(beta2, defaults.beta2, OptimizerKind::Adam)) &&
                   succeeded(check(epsilon, defaults.epsilon, OptimizerKind::Adam)));
  }
};

} // namespace

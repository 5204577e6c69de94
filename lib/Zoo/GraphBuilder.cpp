//===- GraphBuilder.cpp - Builds forward graphs ---------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Zoo/GraphBuilder.h"
#include "Echo/Dialect/Shapes.h"
#include "mlir/Dialect/Traits.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::zoo;

static FloatType parseFloatType(OpBuilder &builder, StringRef name) {
  return llvm::StringSwitch<FloatType>(name)
      .Case("f64", builder.getF64Type())
      .Case("f16", builder.getF16Type())
      .Case("bf16", builder.getBF16Type())
      .Default(builder.getF32Type());
}

GraphBuilder::GraphBuilder(ModuleOp module, StringRef name,
                           StringRef elementType)
    : builder(module.getContext()),
      elementType(parseFloatType(builder, elementType)) {
  builder.setInsertionPointToEnd(module.getBody());
  function =
      func::FuncOp::create(builder, NameLoc::get(builder.getStringAttr(name)),
                           name, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
}

GraphBuilder::Scope::Scope(GraphBuilder &graph, const Twine &name)
    : graph(graph), parentSize(graph.scope.size()) {
  graph.scope = graph.scoped(name.str());
}

GraphBuilder::Scope::~Scope() { graph.scope.resize(parentSize); }

GraphBuilder::TimeStep::TimeStep(GraphBuilder &graph, int64_t number)
    : graph(graph), parent(graph.timeStep) {
  graph.timeStep = number;
}

GraphBuilder::TimeStep::~TimeStep() { graph.timeStep = parent; }

std::string GraphBuilder::scoped(StringRef name) const {
  return scope.empty() ? name.str() : scope + "/" + name.str();
}

Location GraphBuilder::loc() {
  if (scope.empty())
    return function.getLoc();
  if (timeStep)
    return NameLoc::get(builder.getStringAttr(scope + "/t" + Twine(*timeStep)));
  return NameLoc::get(builder.getStringAttr(scope));
}

ArrayRef<int64_t> GraphBuilder::shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

RankedTensorType GraphBuilder::like(Value value,
                                    ArrayRef<int64_t> shape) const {
  return cast<RankedTensorType>(value.getType()).clone(shape);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Value GraphBuilder::addArgument(Argument argument, RankedTensorType type) {
  Location location = NameLoc::get(builder.getStringAttr(argument.name));
  arguments.push_back(std::move(argument));
  return function.getBody().front().addArgument(type, location);
}

Value GraphBuilder::input(StringRef name, ArrayRef<int64_t> shape,
                          Type elementType, InitAttr init, StringRef role) {
  return addArgument({name.str(), role, init},
                     RankedTensorType::get(shape, elementType));
}

Value GraphBuilder::parameter(StringRef name, ArrayRef<int64_t> shape,
                              InitAttr init) {
  std::string fullName = scoped(name);
  Value &value = parameters[fullName];
  if (!value)
    value = addArgument({fullName, "parameter", init},
                        RankedTensorType::get(shape, elementType));
  return value;
}

InitAttr GraphBuilder::constantInit(double value) const {
  return InitAttr::get(builder.getContext(), InitKind::Constant, value);
}
InitAttr GraphBuilder::uniformInit(double low, double high) const {
  return InitAttr::get(builder.getContext(), InitKind::Uniform, low, high);
}
InitAttr GraphBuilder::randintInit(int64_t low, int64_t high) const {
  return InitAttr::get(builder.getContext(), InitKind::RandInt, low, high);
}

func::FuncOp GraphBuilder::finish(Value result, StringRef resultName,
                                  bool isLoss) {
  SmallVector<Value> results{result};
  if (step) {
    Value one =
        ConstantOp::create(builder, function.getLoc(), step.getType(),
                           DenseIntElementsAttr::get(
                               cast<ShapedType>(step.getType()), int64_t(1)));
    results.push_back(add(step, one));
  }
  func::ReturnOp::create(builder, function.getLoc(), results);

  Block &body = function.getBody().front();
  function.setFunctionType(builder.getFunctionType(
      body.getArgumentTypes(), ValueRange(results).getTypes()));
  unsigned stepIndex = 0;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    function.setArgAttr(index, kRoleAttr, builder.getStringAttr(argument.role));
    function.setArgAttr(index, kNameAttr, builder.getStringAttr(argument.name));
    if (argument.init)
      function.setArgAttr(index, kInitAttr, argument.init);
    if (body.getArgument(index) == step)
      stepIndex = index;
  }
  function.setResultAttr(0, kNameAttr, builder.getStringAttr(resultName));
  if (isLoss)
    function.setResultAttr(0, kLossAttr, builder.getUnitAttr());
  if (step)
    function.setResultAttr(1, kAliasesArgumentAttr,
                           builder.getI64IntegerAttr(stepIndex));
  return function;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static RankedTensorType broadcastType(ArrayRef<Value> operands, Type element) {
  SmallVector<int64_t> shape;
  for (Value operand : operands) {
    SmallVector<int64_t> joined;
    OpTrait::util::getBroadcastedShape(shape, GraphBuilder::shapeOf(operand),
                                       joined);
    shape = joined;
  }
  return RankedTensorType::get(shape, element);
}

static RankedTensorType broadcastType(Value lhs, Value rhs) {
  return broadcastType({lhs, rhs}, getElementTypeOrSelf(lhs));
}

Value GraphBuilder::constant(ArrayRef<int64_t> shape, double value) {
  return constant(shape, value, elementType);
}

Value GraphBuilder::constant(ArrayRef<int64_t> shape, double value,
                             FloatType type) {
  auto tensor = RankedTensorType::get(shape, type);
  return ConstantOp::create(
      builder, loc(), tensor,
      DenseElementsAttr::get(tensor, builder.getFloatAttr(type, value)));
}

Value GraphBuilder::constantI32(ArrayRef<int64_t> shape, int32_t value) {
  auto type = RankedTensorType::get(shape, i32());
  return ConstantOp::create(builder, loc(), type,
                            DenseIntElementsAttr::get(type, value));
}

Value GraphBuilder::iota(ArrayRef<int64_t> shape, Type elementType,
                         int64_t dimension) {
  return IotaOp::create(builder, loc(),
                        RankedTensorType::get(shape, elementType), dimension);
}

Value GraphBuilder::add(Value lhs, Value rhs) {
  return AddOp::create(builder, loc(), broadcastType(lhs, rhs), lhs, rhs);
}
Value GraphBuilder::mul(Value lhs, Value rhs) {
  return MulOp::create(builder, loc(), broadcastType(lhs, rhs), lhs, rhs);
}
Value GraphBuilder::div(Value lhs, Value rhs) {
  return DivOp::create(builder, loc(), broadcastType(lhs, rhs), lhs, rhs);
}
Value GraphBuilder::max(Value lhs, Value rhs) {
  return MaxOp::create(builder, loc(), broadcastType(lhs, rhs), lhs, rhs);
}
Value GraphBuilder::tanh(Value operand) {
  return TanhOp::create(builder, loc(), operand.getType(), operand);
}

Value GraphBuilder::compare(CompareDirection direction, Value lhs, Value rhs) {
  return CompareOp::create(builder, loc(),
                           broadcastType({lhs, rhs}, builder.getI1Type()), lhs,
                           rhs, direction);
}

Value GraphBuilder::select(Value predicate, Value onTrue, Value onFalse) {
  return SelectOp::create(
      builder, loc(),
      broadcastType({predicate, onTrue, onFalse}, getElementTypeOrSelf(onTrue)),
      predicate, onTrue, onFalse);
}

Value GraphBuilder::convert(Value operand, Type elementType) {
  return ConvertOp::create(builder, loc(),
                           RankedTensorType::get(shapeOf(operand), elementType),
                           operand);
}

Value GraphBuilder::reshape(Value operand, ArrayRef<int64_t> shape) {
  return ReshapeOp::create(builder, loc(), like(operand, shape), operand);
}

Value GraphBuilder::transpose(Value operand, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  for (int64_t dimension : permutation)
    shape.push_back(shapeOf(operand)[dimension]);
  return TransposeOp::create(builder, loc(), like(operand, shape), operand,
                             permutation);
}

Value GraphBuilder::concat(ValueRange inputs, int64_t axis) {
  SmallVector<int64_t> shape(shapeOf(inputs.front()));
  for (Value input : inputs.drop_front())
    shape[axis] += shapeOf(input)[axis];
  return ConcatOp::create(builder, loc(), like(inputs.front(), shape), inputs,
                          axis);
}

SmallVector<Value> GraphBuilder::split(Value operand, int64_t axis,
                                       int64_t parts) {
  SmallVector<int64_t> shape(shapeOf(operand));
  shape[axis] /= parts;
  SmallVector<Type> types(parts, like(operand, shape));
  return llvm::to_vector_of<Value>(
      SplitOp::create(builder, loc(), types, operand, axis).getResults());
}

Value GraphBuilder::reduceSum(Value operand, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape;
  for (auto [dimension, size] : llvm::enumerate(shapeOf(operand)))
    if (!llvm::is_contained(dims, int64_t(dimension)))
      shape.push_back(size);
  return ReduceOp::create(builder, loc(), like(operand, shape), operand,
                          ReduceKind::Sum, dims);
}

Value GraphBuilder::argmax(Value operand, int64_t axis) {
  SmallVector<int64_t> shape(shapeOf(operand));
  shape.erase(shape.begin() + axis);
  return ArgmaxOp::create(builder, loc(), RankedTensorType::get(shape, i32()),
                          operand, axis);
}

Value GraphBuilder::linear(Value input, Value weight, Value bias) {
  SmallVector<int64_t> shape(shapeOf(input));
  shape.back() = shapeOf(weight)[0];
  return LinearOp::create(builder, loc(), like(input, shape), input, weight,
                          bias);
}

Value GraphBuilder::matmul(Value lhs, Value rhs) {
  SmallVector<int64_t> shape(shapeOf(lhs));
  shape.back() = shapeOf(rhs).back();
  return MatmulOp::create(builder, loc(), like(lhs, shape), lhs, rhs,
                          /*bias=*/Value());
}

Value GraphBuilder::softmax(Value operand, int64_t axis) {
  return SoftmaxOp::create(builder, loc(), operand.getType(), operand, axis);
}

Value GraphBuilder::layerNorm(Value operand, Value scale, Value offset) {
  SmallVector<int64_t> shape(shapeOf(operand));
  shape.back() = 1;
  Type statistics = RankedTensorType::get(
      shape, getAccumulatorType(getElementTypeOrSelf(operand)));
  return LayerNormOp::create(
             builder, loc(),
             TypeRange{operand.getType(), statistics, statistics},
             ValueRange{operand, scale, offset})
      .getResult();
}

Value GraphBuilder::embedding(Value table, Value indices) {
  SmallVector<int64_t> shape(shapeOf(indices));
  shape.push_back(shapeOf(table)[1]);
  return EmbeddingOp::create(builder, loc(), like(table, shape), table,
                             indices);
}

Value GraphBuilder::crossEntropy(Value logits, Value labels,
                                 int64_t ignoreLabel, double labelSmoothing) {
  Type type = RankedTensorType::get(
      shapeOf(labels), getAccumulatorType(getElementTypeOrSelf(logits)));
  return SoftmaxCrossEntropyOp::create(builder, loc(), type, type, logits,
                                       labels,
                                       builder.getI64IntegerAttr(ignoreLabel),
                                       builder.getF64FloatAttr(labelSmoothing))
      .getLoss();
}

std::pair<Value, Value> GraphBuilder::lstmCell(Value gates, Value cell) {
  auto op = LstmCellOp::create(
      builder, loc(),
      TypeRange{cell.getType(), cell.getType(), gates.getType()},
      ValueRange{gates, cell});
  return {op.getHidden(), op.getNewCell()};
}

Value GraphBuilder::dropout(Value operand, double rate) {
  if (rate == 0)
    return operand;
  Type i64 = builder.getI64Type();
  if (!step) {
    seed = input("seed", {}, i64, constantInit(0), "state");
    step = input("step", {}, i64, constantInit(0), "state");
  }
  auto scalar = RankedTensorType::get({}, i64);
  Value offset = ConstantOp::create(
      builder, loc(), scalar, DenseIntElementsAttr::get(scalar, dropouts++));
  Type mask = RankedTensorType::get(shapeOf(operand), builder.getI1Type());
  return DropoutOp::create(builder, loc(), operand.getType(), mask, operand,
                           seed, step, offset, builder.getF64FloatAttr(rate))
      .getResult();
}

//===- GraphBuilder.h - Builds forward graphs -------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds one func.func with Echo ops. Arguments join the function as they are
// declared; ops get the name of the current scope ("encoder/lstm0/t3") as their
// location.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ZOO_GRAPHBUILDER_H
#define ECHO_ZOO_GRAPHBUILDER_H

#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace mlir::echo::zoo {

class GraphBuilder {
public:
  /// Starts the function `name` at the end of `module`. Parameters and
  /// constants have the float type `elementType` ("f32", "bf16", ...).
  GraphBuilder(ModuleOp module, StringRef name, StringRef elementType);

  /// Ops that are built while a scope lives have its name in their location.
  class Scope {
  public:
    Scope(GraphBuilder &graph, const Twine &name);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    GraphBuilder &graph;
    size_t parentSize;
  };

  /// While it lives, locations end in "/t<number>"; parameters' names don't.
  class TimeStep {
  public:
    TimeStep(GraphBuilder &graph, int64_t number);
    ~TimeStep();
    TimeStep(const TimeStep &) = delete;
    TimeStep &operator=(const TimeStep &) = delete;

  private:
    GraphBuilder &graph;
    std::optional<int64_t> parent;
  };

  // Arguments. Names are as given; a parameter's name starts with the current
  // scope's.

  Value input(StringRef name, ArrayRef<int64_t> shape, Type elementType,
              InitAttr init, StringRef role = "input");
  /// The same name again gives the same value.
  Value parameter(StringRef name, ArrayRef<int64_t> shape, InitAttr init);

  InitAttr constantInit(double value) const;
  InitAttr uniformInit(double low, double high) const;
  InitAttr randintInit(int64_t low, int64_t high) const;

  // Ops; result types follow from the operands.

  Value constant(ArrayRef<int64_t> shape, double value);
  Value constant(ArrayRef<int64_t> shape, double value, FloatType type);
  Value constantI32(ArrayRef<int64_t> shape, int32_t value);
  Value iota(ArrayRef<int64_t> shape, Type elementType, int64_t dimension);
  Value add(Value lhs, Value rhs);
  Value mul(Value lhs, Value rhs);
  Value div(Value lhs, Value rhs);
  Value max(Value lhs, Value rhs);
  Value tanh(Value operand);
  Value compare(CompareDirection direction, Value lhs, Value rhs);
  Value select(Value predicate, Value onTrue, Value onFalse);
  Value convert(Value operand, Type elementType);
  Value reshape(Value operand, ArrayRef<int64_t> shape);
  Value transpose(Value operand, ArrayRef<int64_t> permutation);
  Value concat(ValueRange inputs, int64_t axis);
  SmallVector<Value> split(Value operand, int64_t axis, int64_t parts);
  Value reduceSum(Value operand, ArrayRef<int64_t> dims);
  Value argmax(Value operand, int64_t axis);
  Value linear(Value input, Value weight, Value bias = {});
  Value matmul(Value lhs, Value rhs);
  Value softmax(Value operand, int64_t axis);
  Value layerNorm(Value operand, Value scale, Value offset);
  Value embedding(Value table, Value indices);
  /// The loss per position, in f32 for f16 and bf16.
  Value crossEntropy(Value logits, Value labels, int64_t ignoreLabel,
                     double labelSmoothing);
  /// The new hidden and cell state.
  std::pair<Value, Value> lstmCell(Value gates, Value cell);
  /// The operand itself if rate is 0. The first dropout declares the states
  /// `seed` and `step`.
  Value dropout(Value operand, double rate);

  /// Ends the function. With dropout it also returns the next step.
  func::FuncOp finish(Value result, StringRef resultName, bool isLoss);

  static ArrayRef<int64_t> shapeOf(Value value);
  Type i32() { return builder.getI32Type(); }

private:
  struct Argument {
    std::string name;
    StringRef role;
    InitAttr init;
  };

  Location loc();
  std::string scoped(StringRef name) const;
  Value addArgument(Argument argument, RankedTensorType type);
  RankedTensorType like(Value value, ArrayRef<int64_t> shape) const;

  OpBuilder builder;
  FloatType elementType;
  func::FuncOp function;
  std::string scope;
  std::optional<int64_t> timeStep;
  SmallVector<Argument> arguments;
  llvm::StringMap<Value> parameters;
  Value seed, step;
  int64_t dropouts = 0;
};

} // namespace mlir::echo::zoo

#endif // ECHO_ZOO_GRAPHBUILDER_H

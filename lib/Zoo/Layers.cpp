//===- Layers.cpp - Layers that the models share --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Zoo/Layers.h"
#include <limits>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::zoo;

using Scope = GraphBuilder::Scope;

Value mlir::echo::zoo::linear(GraphBuilder &graph, StringRef name, Value x,
                              int64_t outputs, InitAttr init, bool bias) {
  Scope scope(graph, name);
  int64_t inputs = GraphBuilder::shapeOf(x).back();
  Value weight = graph.parameter("weight", {outputs, inputs}, init);
  Value offset = bias ? graph.parameter("bias", {outputs}, init) : Value();
  return graph.linear(x, weight, offset);
}

Value mlir::echo::zoo::embedding(GraphBuilder &graph, StringRef name,
                                 Value indices, int64_t rows, int64_t width,
                                 InitAttr init) {
  Scope scope(graph, name);
  return graph.embedding(graph.parameter("table", {rows, width}, init),
                         indices);
}

//===----------------------------------------------------------------------===//
// LSTM
//===----------------------------------------------------------------------===//

LstmState mlir::echo::zoo::zeroLstmState(GraphBuilder &graph, int64_t batch,
                                         int64_t width) {
  Value zero = graph.constant({batch, width}, 0);
  return {zero, zero};
}

/// The step after the input projection.
static LstmState recur(GraphBuilder &graph, Value projected, Value weight,
                       LstmState state) {
  Value gates = graph.add(projected, graph.linear(state.hidden, weight));
  auto [hidden, cell] = graph.lstmCell(gates, state.cell);
  return {hidden, cell};
}

static Value recurrentWeight(GraphBuilder &graph, const LstmOptions &options) {
  return graph.parameter("recurrent/weight", {4 * options.width, options.width},
                         options.init);
}

std::pair<Value, LstmState> mlir::echo::zoo::lstm(GraphBuilder &graph,
                                                  StringRef name, Value x,
                                                  LstmState state,
                                                  ArrayRef<Value> masks,
                                                  const LstmOptions &options) {
  Scope scope(graph, name);
  int64_t time = GraphBuilder::shapeOf(x)[0];
  int64_t batch = GraphBuilder::shapeOf(x)[1];
  Value projected = linear(graph, "input", x, 4 * options.width, options.init);
  SmallVector<Value> steps = graph.split(projected, 0, time);
  Value weight = recurrentWeight(graph, options);

  SmallVector<Value> hidden(time);
  for (int64_t i = 0; i < time; ++i) {
    int64_t t = options.backward ? time - 1 - i : i;
    GraphBuilder::TimeStep step(graph, t);
    LstmState next =
        recur(graph, graph.reshape(steps[t], {batch, 4 * options.width}),
              weight, state);
    if (!masks.empty()) {
      next.hidden = graph.select(masks[t], next.hidden, state.hidden);
      next.cell = graph.select(masks[t], next.cell, state.cell);
    }
    state = next;
    hidden[t] = graph.reshape(state.hidden, {1, batch, options.width});
  }
  return {graph.concat(hidden, 0), state};
}

LstmState mlir::echo::zoo::lstmStep(GraphBuilder &graph, StringRef name,
                                    Value x, LstmState state,
                                    const LstmOptions &options) {
  Scope scope(graph, name);
  Value projected = linear(graph, "input", x, 4 * options.width, options.init);
  return recur(graph, projected, recurrentWeight(graph, options), state);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

AdditiveAttention::AdditiveAttention(GraphBuilder &graph, StringRef name,
                                     Value source, Value mask, int64_t width,
                                     bool layerNorm, InitAttr init)
    : graph(graph), name(name), mask(mask), width(width), init(init) {
  Scope scope(graph, name);
  values = graph.transpose(source, {1, 0, 2});
  keys = linear(graph, "key", values, width, init, /*bias=*/false);
  score = graph.parameter("score", {width}, init);
  if (layerNorm) {
    normScale = graph.parameter("norm/scale", {width}, graph.constantInit(1));
    normOffset = graph.parameter("norm/offset", {width}, graph.constantInit(0));
  }
  minusInfinity = graph.constant({}, -std::numeric_limits<double>::infinity());
}

Value AdditiveAttention::projectQuery(Value query) {
  Scope scope(graph, name);
  return linear(graph, "query", query, width, init, /*bias=*/false);
}

Value AdditiveAttention::attend(Value projectedQuery) {
  Scope scope(graph, name);
  int64_t batch = GraphBuilder::shapeOf(values)[0];
  int64_t time = GraphBuilder::shapeOf(values)[1];
  int64_t features = GraphBuilder::shapeOf(values)[2];

  Value sum = graph.add(keys, graph.reshape(projectedQuery, {batch, 1, width}));
  if (normScale)
    sum = graph.layerNorm(sum, normScale, normOffset);
  Value scores = graph.reduceSum(graph.mul(graph.tanh(sum), score), {2});
  Value weights = graph.softmax(graph.select(mask, scores, minusInfinity), 1);
  Value context =
      graph.matmul(graph.reshape(weights, {batch, 1, time}), values);
  return graph.reshape(context, {batch, features});
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

Value mlir::echo::zoo::meanCrossEntropy(GraphBuilder &graph, StringRef name,
                                        Value logits, Value labels,
                                        int64_t ignoreLabel,
                                        double labelSmoothing) {
  Scope scope(graph, name);
  Value losses =
      graph.crossEntropy(logits, labels, ignoreLabel, labelSmoothing);
  SmallVector<int64_t> all = llvm::to_vector(
      llvm::seq<int64_t>(0, GraphBuilder::shapeOf(labels).size()));
  Value counted =
      graph.compare(CompareDirection::NE, labels,
                    graph.constantI32({}, static_cast<int32_t>(ignoreLabel)));
  auto type = cast<FloatType>(getElementTypeOrSelf(losses));
  Value count = graph.reduceSum(graph.convert(counted, type), all);
  return graph.div(graph.reduceSum(losses, all),
                   graph.max(count, graph.constant({}, 1, type)));
}

//===- LstmLm.cpp - Language model with LSTMs -----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Zoo/Layers.h"
#include "Echo/Zoo/Models.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::zoo;

using Scope = GraphBuilder::Scope;

namespace {

/// The label that doesn't count.
constexpr int64_t kPadding = 0;

class LstmLmModel : public Model {
public:
  LstmLmModel() {
    options.add("batch", batch, "sequences in a batch", 1, 1 << 20);
    options.add("length", length, "time steps", 1, 10000);
    options.add("layers", layers, "LSTM layers", 1, 64);
    options.add("hidden", hidden, "width of the LSTM layers", 1, 1 << 16);
    options.add("embed", embed, "width of the embeddings", 1, 1 << 16);
    options.add("vocab", vocab, "vocabulary", 2, 1 << 24);
    options.add("tie-embeddings", tieEmbeddings,
                "the embedding table is the output layer's weight");
    options.add("dropout", dropout,
                "rate on embeddings and LSTM outputs, each step", 0, 1);
    options.add("init-scale", initScale,
                "parameters are uniform in [-scale, scale)", 1e-6, 1e6);
    options.add("type", type, "element type of parameters and activations",
                {"f32", "bf16", "f16", "f64"});
  }

  StringRef getName() const override { return "lstm-lm"; }
  StringRef getSummary() const override { return "language model with LSTMs"; }
  StringRef getDescription() const override;
  llvm::Error checkOptions() const override;
  void build(ModuleOp module) const override;

private:
  /// One step of all layers; the last layer's output.
  Value advance(GraphBuilder &graph, Value x,
                MutableArrayRef<LstmState> states) const;
  /// The logits for all steps' outputs.
  Value project(GraphBuilder &graph, ArrayRef<Value> outputs) const;
  InitAttr init(GraphBuilder &graph) const {
    return graph.uniformInit(-initScale, initScale);
  }

  int64_t batch = 20, length = 35, layers = 2, hidden = 650, embed = 650;
  int64_t vocab = 10000;
  std::string type = "f32";
  bool tieEmbeddings = false;
  double dropout = 0, initScale = 0.05;
};

} // namespace

StringRef LstmLmModel::getDescription() const {
  return R"(Per time step an embedded token goes through the LSTM layers, which start from
zeros; a linear layer over all outputs gives the logits of the next tokens. The
graph is unrolled as a program would run it, step by step and layer by layer,
with one product per step for a layer's input. The defaults are the sizes of the
medium model of Zaremba et al., "Recurrent Neural Network Regularization".

Inputs, time-major: tokens and the label targets, both i32 [length, batch].
Target 0 is padding (no loss). Returns the mean loss over the other targets;
with dropout the states seed and step drive the random numbers.
)";
}

llvm::Error LstmLmModel::checkOptions() const {
  if (tieEmbeddings && hidden != embed)
    return llvm::createStringError(
        "--tie-embeddings=true needs layers as wide as the embeddings, found "
        "--hidden=" +
        Twine(hidden) + " and --embed=" + Twine(embed));
  return llvm::Error::success();
}

Value LstmLmModel::advance(GraphBuilder &graph, Value x,
                           MutableArrayRef<LstmState> states) const {
  for (auto [layer, state] : llvm::enumerate(states)) {
    std::string name = ("lstm" + Twine(layer)).str();
    LstmOptions lstmOptions;
    lstmOptions.width = hidden;
    lstmOptions.init = init(graph);
    state = lstmStep(graph, name, x, state, lstmOptions);
    Scope scope(graph, name);
    x = graph.dropout(state.hidden, dropout);
  }
  return x;
}

Value LstmLmModel::project(GraphBuilder &graph,
                           ArrayRef<Value> outputs) const {
  Value table;
  if (tieEmbeddings)
    table = graph.parameter("embedding/table", {vocab, embed}, init(graph));
  Scope scope(graph, "output");
  Value x = graph.concat(outputs, 0);
  if (!table)
    table = graph.parameter("weight", {vocab, hidden}, init(graph));
  return graph.linear(x, table, graph.parameter("bias", {vocab}, init(graph)));
}

void LstmLmModel::build(ModuleOp module) const {
  GraphBuilder graph(module, "lstm_lm", type);
  InitAttr words = graph.randintInit(0, vocab);
  Value tokens = graph.input("tokens", {length, batch}, graph.i32(), words);
  Value targets =
      graph.input("targets", {length, batch}, graph.i32(), words, "label");

  SmallVector<Value> steps;
  {
    Value embedded = echo::zoo::embedding(graph, "embedding", tokens, vocab,
                                          embed, init(graph));
    Scope scope(graph, "embedding");
    steps = graph.split(graph.dropout(embedded, dropout), 0, length);
  }
  SmallVector<LstmState> states;
  for (int64_t layer = 0; layer < layers; ++layer) {
    Scope scope(graph, "lstm" + Twine(layer));
    states.push_back(zeroLstmState(graph, batch, hidden));
  }
  SmallVector<Value> outputs;
  for (auto [t, step] : llvm::enumerate(steps)) {
    GraphBuilder::TimeStep timeStep(graph, t);
    Value x;
    {
      Scope scope(graph, "embedding");
      x = graph.reshape(step, {batch, embed});
    }
    Value output = advance(graph, x, states);
    Scope scope(graph, "output");
    outputs.push_back(graph.reshape(output, {1, batch, hidden}));
  }
  Value loss = meanCrossEntropy(graph, "loss", project(graph, outputs),
                                targets, kPadding, /*labelSmoothing=*/0);
  graph.finish(loss, "loss", /*isLoss=*/true);
}

std::unique_ptr<Model> mlir::echo::zoo::createLstmLmModel() {
  return std::make_unique<LstmLmModel>();
}

//===- Nmt.cpp - Translation with LSTMs and attention ---------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Zoo/Layers.h"
#include "Echo/Zoo/Models.h"
#include <optional>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::zoo;

using Scope = GraphBuilder::Scope;

namespace {

/// Token ids with a meaning.
constexpr int64_t kPadding = 0, kBeginning = 1;
/// Padding, beginning, end, unknown word.
constexpr int64_t kReservedTokens = 4;

class NmtModel : public Model {
public:
  NmtModel() {
    options.add("mode", mode, "training graph or greedy decoding",
                {"train", "decode"});
    options.add("batch", batch, "sentences in a batch", 1, 1 << 20);
    options.add("src-len", srcLen, "source time steps", 1, 10000);
    options.add("tgt-len", tgtLen, "target time steps", 1, 10000);
    options.add("hidden", hidden,
                "width of the LSTM layers and the attention, even", 2, 1 << 16);
    options.add("embed", embed, "width of the embeddings", 1, 1 << 16);
    options.add("layers", layers, "LSTM layers of encoder and decoder each", 1,
                64);
    options.add("src-vocab", srcVocab, "source vocabulary", kReservedTokens + 1,
                1 << 24);
    options.add("tgt-vocab", tgtVocab, "target vocabulary", kReservedTokens + 1,
                1 << 24);
    options.add("share-embeddings", shareEmbeddings,
                "one table for both vocabularies");
    options.add("attention", attention, "additive attention or none",
                {"mlp", "none"});
    options.add("layer-norm", layerNorm,
                "layer normalization inside the attention");
    options.add("dropout", dropout,
                "rate on embeddings, LSTM outputs and the output layer's input",
                0, 1);
    options.add("label-smoothing", labelSmoothing,
                "weight of the uniform distribution in the loss", 0, 1);
    options.add("init-scale", initScale,
                "parameters are uniform in [-scale, scale)", 1e-6, 1e6);
    options.add("type", type, "element type of parameters and activations",
                {"f32", "bf16", "f16", "f64"});
  }

  StringRef getName() const override { return "nmt"; }
  StringRef getSummary() const override {
    return "translation with LSTMs and additive attention";
  }
  StringRef getDescription() const override;
  llvm::Error checkOptions() const override;
  void build(ModuleOp module) const override;

private:
  struct Encoded {
    Value outputs; ///< [src-len, batch, hidden]
    SmallVector<LstmState> states;
  };

  Encoded encode(GraphBuilder &graph, Value src, Value lengths) const;
  Value embedTokens(GraphBuilder &graph, bool source, Value tokens) const;
  /// Built inside the decoder's scope.
  AdditiveAttention buildAttention(GraphBuilder &graph, Value source,
                                   Value lengths) const;
  Value attentionalOutput(GraphBuilder &graph, Value context,
                          Value hiddenState) const;
  Value decode(GraphBuilder &graph, Encoded encoded, Value lengths) const;
  Value loss(GraphBuilder &graph, Encoded encoded, Value lengths, Value tgtIn,
             Value tgtOut) const;

  InitAttr init(GraphBuilder &graph) const {
    return graph.uniformInit(-initScale, initScale);
  }
  /// Dropout is for training alone.
  double rate() const { return mode == "train" ? dropout : 0; }

  std::string mode = "train", attention = "mlp", type = "f32";
  int64_t batch = 32, srcLen = 25, tgtLen = 25, hidden = 512, embed = 512;
  int64_t layers = 2, srcVocab = 17191, tgtVocab = 7709;
  bool shareEmbeddings = false, layerNorm = false;
  double dropout = 0, labelSmoothing = 0, initScale = 0.1;
};

} // namespace

StringRef NmtModel::getDescription() const {
  return R"(The encoder embeds the source and runs LSTM layers over it, the first in both
directions (half the width each). The decoder's layers start from the encoder's
last states. Per target step the attention scores every source position by
v . tanh(W q + U s), with layer normalization before tanh if asked for; scores
past a sentence's length are masked, and the weighted sum of the encoder's
outputs joins the decoder's state in a tanh layer. Source positions past a
sentence's length don't change the encoder's state either. The graph takes the
source in the order it is given: to train on reversed sentences, reverse them.

Inputs, time-major: src [src-len, batch] and src_lengths [batch], and for
training tgt_in and the label tgt_out [tgt-len, batch], all i32. Token 0 is
padding (no loss), 1 begins a sentence, 2 ends it, 3 is the unknown word.
--mode=train returns the mean loss over real target tokens; with dropout the
states seed and step drive the random numbers. --mode=decode returns the tokens
[tgt-len, batch] of greedy decoding; its parameters have the training graph's
names and shapes.
)";
}

llvm::Error NmtModel::checkOptions() const {
  if (hidden % 2 != 0)
    return llvm::createStringError("--hidden takes an even number, found '" +
                                   Twine(hidden) + "'");
  if (layerNorm && attention == "none")
    return llvm::createStringError(
        "--layer-norm=true needs --attention=mlp, found --attention=none");
  if (shareEmbeddings && srcVocab != tgtVocab)
    return llvm::createStringError(
        "--share-embeddings=true needs vocabularies of one size, found "
        "--src-vocab=" +
        Twine(srcVocab) + " and --tgt-vocab=" + Twine(tgtVocab));
  return llvm::Error::success();
}

Value NmtModel::embedTokens(GraphBuilder &graph, bool source,
                            Value tokens) const {
  std::string name = shareEmbeddings ? "embedding"
                     : source        ? "encoder/embedding"
                                     : "decoder/embedding";
  Value embedded = echo::zoo::embedding(
      graph, name, tokens, source ? srcVocab : tgtVocab, embed, init(graph));
  Scope scope(graph, name);
  return graph.dropout(embedded, rate());
}

NmtModel::Encoded NmtModel::encode(GraphBuilder &graph, Value src,
                                   Value lengths) const {
  Encoded encoded;
  Value x = embedTokens(graph, /*source=*/true, src);
  Scope scope(graph, "encoder");

  Value times = graph.iota({srcLen, 1}, graph.i32(), 0);
  Value real = graph.reshape(
      graph.compare(CompareDirection::LT, times, lengths), {srcLen, batch, 1});
  SmallVector<Value> masks;
  for (Value mask : graph.split(real, 0, srcLen))
    masks.push_back(graph.reshape(mask, {batch, 1}));

  for (int64_t layer = 0; layer < layers; ++layer) {
    Scope layerScope(graph, "lstm" + Twine(layer));
    LstmOptions lstmOptions;
    lstmOptions.init = init(graph);
    if (layer == 0) {
      lstmOptions.width = hidden / 2;
      LstmState zero = zeroLstmState(graph, batch, hidden / 2);
      auto [fwOutputs, fwState] =
          lstm(graph, "fw", x, zero, masks, lstmOptions);
      lstmOptions.backward = true;
      auto [bwOutputs, bwState] =
          lstm(graph, "bw", x, zero, masks, lstmOptions);
      x = graph.concat({fwOutputs, bwOutputs}, 2);
      encoded.states.push_back(
          {graph.concat({fwState.hidden, bwState.hidden}, 1),
           graph.concat({fwState.cell, bwState.cell}, 1)});
    } else {
      lstmOptions.width = hidden;
      auto [outputs, state] =
          lstm(graph, "fw", x, zeroLstmState(graph, batch, hidden), masks,
               lstmOptions);
      x = outputs;
      encoded.states.push_back(state);
    }
    x = graph.dropout(x, rate());
  }
  encoded.outputs = x;
  return encoded;
}

AdditiveAttention NmtModel::buildAttention(GraphBuilder &graph, Value source,
                                           Value lengths) const {
  Value mask;
  {
    Scope scope(graph, "attention");
    Value times = graph.iota({1, srcLen}, graph.i32(), 1);
    mask = graph.compare(CompareDirection::LT, times,
                         graph.reshape(lengths, {batch, 1}));
  }
  return AdditiveAttention(graph, "attention", source, mask, hidden, layerNorm,
                           init(graph));
}

Value NmtModel::attentionalOutput(GraphBuilder &graph, Value context,
                                  Value hiddenState) const {
  int64_t axis = GraphBuilder::shapeOf(context).size() - 1;
  Scope scope(graph, "combine");
  Value both = graph.concat({context, hiddenState}, axis);
  return graph.tanh(linear(graph, "linear", both, hidden, init(graph)));
}

Value NmtModel::loss(GraphBuilder &graph, Encoded encoded, Value lengths,
                     Value tgtIn, Value tgtOut) const {
  Value x = embedTokens(graph, /*source=*/false, tgtIn);
  Scope scope(graph, "decoder");
  LstmOptions lstmOptions;
  lstmOptions.width = hidden;
  lstmOptions.init = init(graph);
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::string name = ("lstm" + Twine(layer)).str();
    x = lstm(graph, name, x, encoded.states[layer], /*masks=*/{}, lstmOptions)
            .first;
    Scope layerScope(graph, name);
    x = graph.dropout(x, rate());
  }

  if (attention == "mlp") {
    AdditiveAttention attention =
        buildAttention(graph, encoded.outputs, lengths);
    SmallVector<Value> queries =
        graph.split(attention.projectQuery(x), 0, tgtLen);
    SmallVector<Value> contexts;
    for (int64_t t = 0; t < tgtLen; ++t) {
      GraphBuilder::TimeStep step(graph, t);
      Value context =
          attention.attend(graph.reshape(queries[t], {batch, hidden}));
      contexts.push_back(graph.reshape(context, {1, batch, hidden}));
    }
    x = attentionalOutput(graph, graph.concat(contexts, 0), x);
  }

  x = graph.dropout(x, rate());
  Value logits = linear(graph, "output", x, tgtVocab, init(graph));
  return meanCrossEntropy(graph, "loss", logits, tgtOut, kPadding,
                          labelSmoothing);
}

Value NmtModel::decode(GraphBuilder &graph, Encoded encoded,
                       Value lengths) const {
  LstmOptions lstmOptions;
  lstmOptions.width = hidden;
  lstmOptions.init = init(graph);
  SmallVector<LstmState> states = encoded.states;
  std::optional<AdditiveAttention> additive;
  if (attention == "mlp") {
    Scope scope(graph, "decoder");
    additive.emplace(buildAttention(graph, encoded.outputs, lengths));
  }

  Value tokens = graph.constantI32({batch}, kBeginning);
  SmallVector<Value> chosen;
  for (int64_t t = 0; t < tgtLen; ++t) {
    GraphBuilder::TimeStep step(graph, t);
    Value x = embedTokens(graph, /*source=*/false, tokens);
    Scope scope(graph, "decoder");
    for (int64_t layer = 0; layer < layers; ++layer) {
      states[layer] = lstmStep(graph, ("lstm" + Twine(layer)).str(), x,
                               states[layer], lstmOptions);
      x = states[layer].hidden;
    }
    if (additive)
      x = attentionalOutput(graph, additive->attend(additive->projectQuery(x)),
                            x);
    tokens = graph.argmax(linear(graph, "output", x, tgtVocab, init(graph)), 1);
    chosen.push_back(graph.reshape(tokens, {1, batch}));
  }
  Scope scope(graph, "decoder");
  return graph.concat(chosen, 0);
}

void NmtModel::build(ModuleOp module) const {
  bool train = mode == "train";
  GraphBuilder graph(module, train ? "nmt" : "nmt_decode", type);
  Value src = graph.input("src", {srcLen, batch}, graph.i32(),
                          graph.randintInit(0, srcVocab));
  Value lengths = graph.input("src_lengths", {batch}, graph.i32(),
                              graph.randintInit(1, srcLen + 1));
  if (!train) {
    Value tokens = decode(graph, encode(graph, src, lengths), lengths);
    graph.finish(tokens, "tokens", /*isLoss=*/false);
    return;
  }
  InitAttr words = graph.randintInit(0, tgtVocab);
  Value tgtIn = graph.input("tgt_in", {tgtLen, batch}, graph.i32(), words);
  Value tgtOut =
      graph.input("tgt_out", {tgtLen, batch}, graph.i32(), words, "label");
  Value value =
      loss(graph, encode(graph, src, lengths), lengths, tgtIn, tgtOut);
  graph.finish(value, "loss", /*isLoss=*/true);
}

std::unique_ptr<Model> mlir::echo::zoo::createNmtModel() {
  return std::make_unique<NmtModel>();
}

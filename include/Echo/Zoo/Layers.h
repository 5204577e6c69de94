//===- Layers.h - Layers that the models share ------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each layer is a function that declares its parameters in a scope of its own.
// Sequences are time-major: [time, batch, features].
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ZOO_LAYERS_H
#define ECHO_ZOO_LAYERS_H

#include "Echo/Zoo/GraphBuilder.h"

namespace mlir::echo::zoo {

/// `x W^T + b` with parameters `name/weight` [outputs, inputs] and, if `bias`,
/// `name/bias` [outputs].
Value linear(GraphBuilder &graph, StringRef name, Value x, int64_t outputs,
             InitAttr init, bool bias = true);

/// Rows of the parameter `name/table` [rows, width].
Value embedding(GraphBuilder &graph, StringRef name, Value indices,
                int64_t rows, int64_t width, InitAttr init);

struct LstmState {
  Value hidden, cell;
};

/// Zeros, [batch, width].
LstmState zeroLstmState(GraphBuilder &graph, int64_t batch, int64_t width);

struct LstmOptions {
  int64_t width = 0;
  InitAttr init;
  /// From the last step to the first.
  bool backward = false;
};

/// An LSTM over [time, batch, features]: the input projections of all steps
/// are one product; parameters `name/input/weight`, `name/input/bias` and
/// `name/recurrent/weight`. `masks`, if any, holds an i1 [batch, 1] per step:
/// where it is false the state stays. Returns the hidden states
/// [time, batch, width] and the last state.
std::pair<Value, LstmState> lstm(GraphBuilder &graph, StringRef name, Value x,
                                 LstmState state, ArrayRef<Value> masks,
                                 const LstmOptions &options);

/// One step of the same LSTM, for x [batch, features].
LstmState lstmStep(GraphBuilder &graph, StringRef name, Value x,
                   LstmState state, const LstmOptions &options);

/// Additive attention: score = v . tanh(norm(keys + query)).
class AdditiveAttention {
public:
  /// `source` is [source time, batch, features], `mask` an i1
  /// [batch, source time]; parameters `name/key/weight`, `name/query/weight`,
  /// `name/score` and with layer norm `name/norm/scale`, `name/norm/offset`.
  AdditiveAttention(GraphBuilder &graph, StringRef name, Value source,
                    Value mask, int64_t width, bool layerNorm, InitAttr init);

  /// The queries' projection, for [batch, features] or all steps at once.
  Value projectQuery(Value query);
  /// The context [batch, features] for a projected query [batch, width].
  Value attend(Value projectedQuery);

private:
  GraphBuilder &graph;
  std::string name;
  Value values, keys, mask, score, normScale, normOffset, minusInfinity;
  int64_t width;
  InitAttr init;
};

/// Mean over the positions whose label isn't `ignoreLabel` of the softmax
/// cross-entropy; zero if there is no such position.
Value meanCrossEntropy(GraphBuilder &graph, StringRef name, Value logits,
                       Value labels, int64_t ignoreLabel,
                       double labelSmoothing);

} // namespace mlir::echo::zoo

#endif // ECHO_ZOO_LAYERS_H

//===- Optimizer.h - Adds the weight update to a step -----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_OPTIMIZER_H
#define ECHO_TRANSFORMS_OPTIMIZER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mlir::echo {

enum class OptimizerKind { SGD, Momentum, Adam };

/// "sgd", "momentum" or "adam".
std::optional<OptimizerKind> symbolizeOptimizerKind(StringRef name);

/// With gradient g, parameter p, learning rate r and the decay w of
/// weightDecay, in this order:
///
///   accumulate k   g is the mean of the last k steps' gradients; parameters
///                  and moments change in every k-th step only
///   clipNorm c     g *= min(1, c / (norm + 1e-6)), norm over all gradients
///   weightDecay    g += w p, or p *= 1 - r w if decoupled
///   sgd            p -= r g
///   momentum       b = momentum b + g; p -= r b
///   adam           m += (1 - beta1) (g - m)
///                  v = beta2 v + (1 - beta2) g^2
///                  p -= r / (1 - beta1^t) m
///                       / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
///
/// where t counts the updates from 1. f16 and bf16 parameters compute in f32,
/// which is their moments' type too; factors that no element depends on are
/// computed in f64.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::SGD;
  double momentum = 0.9;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weightDecay = 0.0;
  bool decoupled = false;
  /// 0: no clipping.
  double clipNorm = 0.0;
  int64_t accumulate = 1;
};

/// Turns a function with gradients (`echo.gradient_of` results, see
/// Gradient.h) into a training step: every gradient result becomes the updated
/// parameter, with `echo.aliases_argument`.
///
/// New arguments behind the old ones: the input `learning_rate`; the state
/// `optimizer.step` (tensor<i64>, calls so far) for adam and accumulation; and
/// for each parameter the states `<name>.momentum`, or `<name>.m` and
/// `<name>.v`, and `<name>.accumulated`. The states' new values are results
/// behind the old ones, in the arguments' order.
///
/// An update stands behind the last reader of the parameter's old value and
/// of everything that may be a view of it, so that it can be made in place.
/// Fails with a diagnostic at the function, which is then as it was.
LogicalResult addOptimizer(func::FuncOp function,
                           const OptimizerOptions &options);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_OPTIMIZER_H

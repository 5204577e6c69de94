//===- Models.h - The models of the zoo -------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ZOO_MODELS_H
#define ECHO_ZOO_MODELS_H

#include "Echo/Zoo/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <vector>

namespace mlir::echo::zoo {

/// A family of graphs with options.
class Model {
public:
  virtual ~Model();

  virtual llvm::StringRef getName() const = 0;
  /// One line.
  virtual llvm::StringRef getSummary() const = 0;
  /// What the graph computes, its inputs and its parameters.
  virtual llvm::StringRef getDescription() const = 0;

  OptionSet &getOptions() { return options; }
  /// Whether the values of the options go together.
  virtual llvm::Error checkOptions() const;
  /// Appends the model's function to `module`. The Echo and func dialects are
  /// loaded.
  virtual void build(ModuleOp module) const = 0;

protected:
  OptionSet options;
};

/// Language model: unrolled LSTM layers.
std::unique_ptr<Model> createLstmLmModel();
/// Translation: LSTM encoder and decoder with additive attention.
std::unique_ptr<Model> createNmtModel();

/// All models, in alphabetical order.
std::vector<std::unique_ptr<Model>> createModels();

/// Builds and verifies a model in a module of its own; null if the graph is
/// invalid, with a diagnostic.
OwningOpRef<ModuleOp> buildModel(const Model &model, MLIRContext &context);

} // namespace mlir::echo::zoo

#endif // ECHO_ZOO_MODELS_H

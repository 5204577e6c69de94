//===- GraphTesting.h - Evaluates graphs and checks gradients ---*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_TRANSFORMS_GRAPHTESTING_H
#define ECHO_UNITTESTS_TRANSFORMS_GRAPHTESTING_H

#include "Echo/Target/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <random>
#include <string>
#include <vector>

namespace mlir::echo::testing {

/// A tensor's elements, row-major, whatever its element type.
using Elements = std::vector<double>;

/// A context with the dialects of these tests.
MLIRContext &context();

/// Parses a module; reports a test failure and returns null if it is invalid.
OwningOpRef<ModuleOp> parse(const std::string &text);

/// The module's first function.
func::FuncOp firstFunction(ModuleOp module);

/// Runs a function in the interpreter, with f64 in place of every float type,
/// or with the types as they are if `exact`.
class Evaluator {
public:
  explicit Evaluator(func::FuncOp function, bool exact = false)
      : function(function),
        interpreter({exact ? InterpreterMode::Exact : InterpreterMode::F64}) {}

  llvm::Expected<std::vector<Elements>>
  operator()(const std::vector<Elements> &inputs);

private:
  func::FuncOp function;
  Interpreter interpreter;
};

/// Draws arguments: floats by `echo.init` <uniform, lo, hi>, by default from
/// [-1.5, 1.5), integers by <randint, lo, hi>, by default from [0, 4).
std::vector<Elements> drawInputs(func::FuncOp function, std::mt19937_64 &rng);

/// Makes a loss of all float results: their products with new arguments,
/// summed over all elements, so that every element of a result counts
/// differently. f16 and bf16 results become f32 first. The function returns
/// the loss alone.
void addWeightedLoss(func::FuncOp function);

/// The largest difference, relative to 1 + |expected|, between the gradients of
/// a function and central differences of its loss.
struct GradientError {
  double largest = 0.0;
  std::string where;
};

/// Compares the gradients of all parameters of a function whose loss is its
/// only result. `scale` falsifies the gradients, to test the test.
llvm::Expected<GradientError> compareGradients(func::FuncOp forward,
                                               std::mt19937_64 &rng,
                                               double scale = 1.0);

} // namespace mlir::echo::testing

#endif // ECHO_UNITTESTS_TRANSFORMS_GRAPHTESTING_H

//===- GraphTesting.cpp - Evaluates graphs and checks gradients -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphTesting.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Dialect/TensorBuilder.h"
#include "Echo/Transforms/Gradient.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

MLIRContext &mlir::echo::testing::context() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registry.insert<EchoDialect, func::FuncDialect>();
    registerInterpreterExternalModels(registry);
    auto *result = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    result->loadAllAvailableDialects();
    return result;
  }();
  return *context;
}

OwningOpRef<ModuleOp> mlir::echo::testing::parse(const std::string &text) {
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context(), [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
  });
  auto module = parseSourceString<ModuleOp>(text, &context());
  if (!module)
    ADD_FAILURE() << diagnostics << text;
  return module;
}

func::FuncOp mlir::echo::testing::firstFunction(ModuleOp module) {
  return *module.getOps<func::FuncOp>().begin();
}

static bool isFloat(Type type) {
  return isa<FloatType>(cast<RankedTensorType>(type).getElementType());
}

llvm::Expected<std::vector<Elements>>
Evaluator::operator()(const std::vector<Elements> &inputs) {
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context(), [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
  });
  SmallVector<HostTensor> arguments, results;
  for (auto [type, elements] :
       llvm::zip_equal(function.getArgumentTypes(), inputs)) {
    auto tensor = cast<RankedTensorType>(type);
    tensor = tensor.clone(interpreter.getElementType(tensor.getElementType()));
    FailureOr<HostTensor> argument = HostTensor::fromDoubles(tensor, elements);
    if (failed(argument))
      return llvm::createStringError("an argument of the wrong size");
    arguments.push_back(*argument);
  }
  if (failed(interpreter.call(function, arguments, results)))
    return llvm::createStringError(diagnostics);
  std::vector<Elements> values;
  for (const HostTensor &result : results) {
    SmallVector<double> elements = result.toDoubles();
    values.emplace_back(elements.begin(), elements.end());
  }
  return values;
}

std::vector<Elements> mlir::echo::testing::drawInputs(func::FuncOp function,
                                                      std::mt19937_64 &rng) {
  // 53 bits: the same numbers everywhere, unlike std's distributions.
  auto uniform = [&](double lo, double hi) {
    return lo + (hi - lo) * double(rng() >> 11) * 0x1p-53;
  };
  std::vector<Elements> inputs;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    double lo = isFloat(tensor) ? -1.5 : 0.0;
    double hi = isFloat(tensor) ? 1.5 : 4.0;
    if (auto init = function.getArgAttrOfType<InitAttr>(i, kInitAttr)) {
      lo = init.getA().getValueAsDouble();
      hi = init.getB().getValueAsDouble();
    }
    if (tensor.getElementType().isInteger(1))
      hi = 2.0;
    Elements elements(tensor.getNumElements());
    for (double &element : elements)
      element = isFloat(tensor) ? uniform(lo, hi) : std::floor(uniform(lo, hi));
    inputs.push_back(std::move(elements));
  }
  return inputs;
}

void mlir::echo::testing::addWeightedLoss(func::FuncOp function) {
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  TensorBuilder b(builder, function.getLoc());
  Value loss;
  for (Value result : SmallVector<Value>(terminator->getOperands())) {
    if (!isFloat(result.getType()))
      continue;
    Value wide = b.widen(result);
    unsigned index = function.getNumArguments();
    ASSERT_TRUE(succeeded(function.insertArgument(index, wide.getType(), {},
                                                  function.getLoc())));
    Value term = b.sumAll(b.mul(wide, function.getArgument(index)));
    loss = loss ? b.add(loss, term) : term;
  }
  terminator->setOperands(loss);
  function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(),
                                                   TypeRange(loss.getType())));
}

llvm::Expected<GradientError>
mlir::echo::testing::compareGradients(func::FuncOp forward,
                                      std::mt19937_64 &rng, double scale) {
  std::vector<Elements> inputs = drawInputs(forward, rng);
  func::FuncOp backward = forward.clone();
  OwningOpRef<func::FuncOp> owner(backward);
  if (failed(addGradients(backward)))
    return llvm::createStringError("no gradient");
  if (failed(backward.verify()))
    return llvm::createStringError("invalid gradient");
  llvm::Expected<std::vector<Elements>> results = Evaluator(backward)(inputs);
  if (!results)
    return results.takeError();

  Evaluator evaluate(forward);
  auto lossAt = [&]() -> llvm::Expected<double> {
    llvm::Expected<std::vector<Elements>> values = evaluate(inputs);
    if (!values)
      return values.takeError();
    return (*values)[0][0];
  };
  GradientError error;
  for (unsigned result = 1; result < results->size(); ++result) {
    unsigned argument =
        backward.getResultAttrOfType<IntegerAttr>(result, kGradientOfAttr)
            .getInt();
    const Elements &gradient = (*results)[result];
    if (gradient.size() != inputs[argument].size())
      return llvm::createStringError("gradient of another size");
    for (size_t i = 0; i < gradient.size(); ++i) {
      constexpr double step = 1e-5;
      double &element = inputs[argument][i];
      double original = element;
      element = original + step;
      llvm::Expected<double> above = lossAt();
      if (!above)
        return above.takeError();
      element = original - step;
      llvm::Expected<double> below = lossAt();
      if (!below)
        return below.takeError();
      element = original;
      double expected = (*above - *below) / (2 * step);
      double difference =
          std::abs(gradient[i] * scale - expected) / (1 + std::abs(expected));
      // NaN counts as the largest difference.
      if (!(difference <= error.largest)) {
        error.largest = std::isnan(difference)
                            ? std::numeric_limits<double>::infinity()
                            : difference;
        error.where = getArgumentName(backward, argument) + "[" +
                      std::to_string(i) + "]: gradient " +
                      std::to_string(gradient[i]) + ", differences " +
                      std::to_string(expected);
      }
    }
  }
  return error;
}

//===- tiny-compiler.cpp - A compiler that uses Echo's passes -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: tiny-compiler [--linalg] [PIPELINE]
//
// Builds the forward graph of a least-squares fit with an op of its own, lets
// Echo turn it into a training step, and prints that step. With --linalg it
// builds a training step of linalg and arith that knows nothing of Echo, and
// lets Echo decide what is computed again. PIPELINE (PASS,...) replaces the
// passes that do so.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/InitAll.h"
#include "Echo/Transforms/Passes.h"
#include "TinyDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// loss = sum over i of (w[i] - target[i])^2.
static OwningOpRef<ModuleOp> buildForwardGraph(MLIRContext &context) {
  OpBuilder builder(&context);
  Location loc = NameLoc::get(builder.getStringAttr("fit"));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());

  auto vector = RankedTensorType::get({16}, builder.getF32Type());
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto fit = func::FuncOp::create(builder, loc, "fit",
                                  builder.getFunctionType({vector, vector}, {scalar}));
  fit.setArgAttr(0, echo::kRoleAttr, builder.getStringAttr("parameter"));
  fit.setArgAttr(0, echo::kNameAttr, builder.getStringAttr("w"));
  fit.setArgAttr(1, echo::kRoleAttr, builder.getStringAttr("label"));
  fit.setArgAttr(1, echo::kNameAttr, builder.getStringAttr("target"));
  fit.setResultAttr(0, echo::kLossAttr, builder.getUnitAttr());

  Block *body = fit.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  Value error = echo::SubOp::create(builder, loc, body->getArgument(0), body->getArgument(1));
  Value squared = tiny::SquareOp::create(builder, loc, vector, error);
  Value loss = echo::ReduceOp::create(builder, loc, squared, echo::ReduceKind::Sum, {0});
  func::ReturnOp::create(builder, loc, loss);
  return module;
}

/// loss = sum(tanh(tanh(tanh(x w)))) and its gradient for w, as a frontend may
/// write them that differentiates by itself.
static OwningOpRef<ModuleOp> buildLinalgStep(MLIRContext &context) {
  OpBuilder builder(&context);
  Location loc = NameLoc::get(builder.getStringAttr("step"));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());

  auto matrix = RankedTensorType::get({64, 64}, builder.getF32Type());
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto step =
      func::FuncOp::create(builder, loc, "step",
                           builder.getFunctionType({matrix, matrix}, {scalar, matrix}));
  Block *body = step.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  Value x = body->getArgument(0), w = body->getArgument(1);
  auto constant = [&](RankedTensorType type, float value) -> Value {
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, value));
  };
  auto product = [&](Value lhs, Value rhs) -> Value {
    return linalg::MatmulOp::create(builder, loc, TypeRange(matrix), ValueRange{lhs, rhs},
                                    ValueRange(constant(matrix, 0)))
        .getResult(0);
  };

  SmallVector<Value> layers = {product(x, w)};
  for (int i = 0; i < 3; ++i)
    layers.push_back(math::TanhOp::create(builder, loc, layers.back()));
  Value loss = linalg::ReduceOp::create(
                   builder, loc, layers.back(), constant(scalar, 0), ArrayRef<int64_t>{0, 1},
                   [](OpBuilder &builder, Location loc, ValueRange arguments) {
                     Value sum =
                         arith::AddFOp::create(builder, loc, arguments[0], arguments[1]);
                     linalg::YieldOp::create(builder, loc, sum);
                   })
                   .getResult(0);

  // The derivative of tanh is 1 - tanh^2.
  Value one = constant(matrix, 1), gradient = one;
  while (layers.size() > 1) {
    Value tanh = layers.pop_back_val();
    Value square = arith::MulFOp::create(builder, loc, tanh, tanh);
    Value derivative = arith::SubFOp::create(builder, loc, one, square);
    gradient = arith::MulFOp::create(builder, loc, gradient, derivative);
  }
  Value empty = tensor::EmptyOp::create(builder, loc, matrix.getShape(), matrix.getElementType());
  Value transposed =
      linalg::TransposeOp::create(builder, loc, x, empty, ArrayRef<int64_t>{1, 0})->getResult(0);
  func::ReturnOp::create(builder, loc, ValueRange{loss, product(transposed, gradient)});
  return module;
}

/// From the forward graph to a training step of outlined kernels.
static void addTrainingStepPasses(PassManager &passes) {
  passes.addPass(echo::createEchoGradientPass());
  echo::EchoOptimizerPassOptions optimizer;
  optimizer.kind = "momentum";
  passes.addPass(echo::createEchoOptimizerPass(optimizer));
  passes.addPass(echo::createEchoFormKernelsPass());
  passes.addPass(echo::createEchoOutlineKernelsPass());
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, arith::ArithDialect, linalg::LinalgDialect,
                  math::MathDialect, tensor::TensorDialect, tiny::TinyDialect>();
  echo::registerAllDialects(registry);
  echo::registerAllPasses();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();

  bool isLinalg = argc > 1 && StringRef(argv[1]) == "--linalg";
  const char *pipeline = argv[isLinalg ? 2 : 1];
  OwningOpRef<ModuleOp> module =
      isLinalg ? buildLinalgStep(context) : buildForwardGraph(context);
  PassManager passes(&context);
  if (pipeline) {
    if (failed(parsePassPipeline(pipeline, passes)))
      return 1;
  } else if (isLinalg) {
    passes.addPass(echo::createEchoEliminateDeadNodesPass());
    passes.addPass(echo::createEchoRematPass());
  } else {
    addTrainingStepPasses(passes);
  }
  if (failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}

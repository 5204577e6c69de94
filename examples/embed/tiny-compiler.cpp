//===- tiny-compiler.cpp - A compiler that uses Echo's passes -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: tiny-compiler [PIPELINE]
//
// Builds the forward graph of a least-squares fit with an op of its own, lets
// Echo turn it into a training step, and prints that step. PIPELINE (PASS,...)
// replaces the passes that do so.
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/InitAll.h"
#include "Echo/Transforms/Passes.h"
#include "TinyDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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
  registry.insert<func::FuncDialect, arith::ArithDialect, tiny::TinyDialect>();
  echo::registerAllDialects(registry);
  echo::registerAllPasses();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();

  OwningOpRef<ModuleOp> module = buildForwardGraph(context);
  PassManager passes(&context);
  if (argc > 1) {
    if (failed(parsePassPipeline(argv[1], passes)))
      return 1;
  } else {
    addTrainingStepPasses(passes);
  }
  if (failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}

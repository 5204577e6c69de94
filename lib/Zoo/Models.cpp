//===- Models.cpp - The models of the zoo ---------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Zoo/Models.h"
#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::zoo;

Model::~Model() = default;

llvm::Error Model::checkOptions() const { return llvm::Error::success(); }

std::vector<std::unique_ptr<Model>> mlir::echo::zoo::createModels() {
  std::vector<std::unique_ptr<Model>> models;
  models.push_back(createLstmLmModel());
  models.push_back(createNmtModel());
  return models;
}

OwningOpRef<ModuleOp> mlir::echo::zoo::buildModel(const Model &model,
                                                  MLIRContext &context) {
  context.loadDialect<EchoDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  model.build(*module);
  if (failed(verify(*module)))
    return nullptr;
  return module;
}

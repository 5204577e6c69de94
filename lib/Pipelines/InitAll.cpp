//===- InitAll.cpp - Registers everything of Echo -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/InitAll.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Interfaces/ExternalModels.h"
#include "Echo/Pipelines/Pipelines.h"
#include "Echo/Target/Interpreter.h"
#include "Echo/Transforms/BufferizableOpInterfaceImpl.h"
#include "Echo/Transforms/Passes.h"

using namespace mlir;

void mlir::echo::registerAllDialects(DialectRegistry &registry) {
  registry.insert<EchoDialect>();
  registerInterpreterExternalModels(registry);
  registerBufferizableOpInterfaceExternalModels(registry);
  registerExternalModels(registry);
}

void mlir::echo::registerAllPasses() {
  registerEchoTransformsPasses();
  registerEchoConversionPasses();
  registerPipelines();
}

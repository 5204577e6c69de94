//===- AnalysisTesting.h - Modules from text for tests ----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_ANALYSIS_ANALYSISTESTING_H
#define ECHO_UNITTESTS_ANALYSIS_ANALYSISTESTING_H

#include "Echo/InitAll.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace mlir::echo {

class AnalysisTest : public ::testing::Test {
protected:
  AnalysisTest() : context(makeRegistry()) {
    context.loadAllAvailableDialects();
  }

  /// The function @f of a module.
  func::FuncOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return module ? module->lookupSymbol<func::FuncOp>("f") : func::FuncOp();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry.insert<func::FuncDialect, memref::MemRefDialect>();
    registerAllDialects(registry);
    return registry;
  }
};

} // namespace mlir::echo

#endif // ECHO_UNITTESTS_ANALYSIS_ANALYSISTESTING_H

//===- DialectTesting.h - Parses IR for unit tests --------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_DIALECT_DIALECTTESTING_H
#define ECHO_UNITTESTS_DIALECT_DIALECTTESTING_H

#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace mlir::echo {

/// A context with the dialects that the tests use, and the last diagnostic.
class DialectTest : public ::testing::Test {
protected:
  DialectTest() {
    context.loadDialect<EchoDialect, func::FuncDialect>();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
  }

  /// Parses a module and gives its first function.
  func::FuncOp parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << message;
    return module ? *module->getOps<func::FuncOp>().begin() : func::FuncOp();
  }

  /// Parses a function's body with the given arguments and gives the op before
  /// its end.
  Operation *parseOp(const std::string &arguments, const std::string &op) {
    func::FuncOp function =
        parse("func.func @f(" + arguments + ") {\n" + op + "\nreturn\n}");
    return function ? function.front().getTerminator()->getPrevNode() : nullptr;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string message;
};

} // namespace mlir::echo

#endif // ECHO_UNITTESTS_DIALECT_DIALECTTESTING_H

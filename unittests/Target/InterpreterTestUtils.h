//===- InterpreterTestUtils.h - Runs functions given as text -- -*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_TARGET_INTERPRETERTESTUTILS_H
#define ECHO_UNITTESTS_TARGET_INTERPRETERTESTUTILS_H

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Target/Interpreter.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

namespace mlir::echo::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry.insert<EchoDialect, func::FuncDialect, arith::ArithDialect>();
  registerInterpreterExternalModels(registry);
  return registry;
}

class InterpreterTest : public ::testing::Test {
protected:
  InterpreterTest() : context(makeRegistry()) {
    context.loadAllAvailableDialects();
  }

  /// The first function of a module.
  func::FuncOp parse(StringRef source) {
    module = parseSourceString<ModuleOp>(source, &context);
    EXPECT_TRUE(module) << source.str();
    if (!module)
      return {};
    return *module->getOps<func::FuncOp>().begin();
  }

  RankedTensorType typeOf(StringRef text) {
    return cast<RankedTensorType>(parseType(text, &context));
  }
  HostTensor tensor(StringRef type, ArrayRef<double> values) {
    FailureOr<HostTensor> result =
        HostTensor::fromDoubles(typeOf(type), values);
    EXPECT_TRUE(succeeded(result)) << type.str();
    return succeeded(result) ? *result : HostTensor();
  }

  /// The results of `source`'s first function; none after a failure.
  SmallVector<HostTensor> run(StringRef source, ArrayRef<HostTensor> arguments,
                              InterpreterMode mode) {
    func::FuncOp function = parse(source);
    if (!function)
      return {};
    FailureOr<SmallVector<HostTensor>> results =
        interpret(function, arguments, {mode});
    EXPECT_TRUE(succeeded(results)) << source.str();
    return succeeded(results) ? *results : SmallVector<HostTensor>();
  }

  /// The diagnostic that interpretation fails with.
  std::string failureOf(StringRef source, ArrayRef<HostTensor> arguments,
                        InterpreterMode mode = InterpreterMode::F64) {
    std::string message;
    func::FuncOp function = parse(source);
    if (!function)
      return message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(interpret(function, arguments, {mode})));
    return message;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// Equal numbers; NaN equals NaN.
inline void expectValues(const HostTensor &tensor, ArrayRef<double> want,
                         double tolerance = 0) {
  ASSERT_TRUE(tensor);
  SmallVector<double> got = tensor.toDoubles();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "element " << i);
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(got[i])) << got[i];
    else if (std::isinf(want[i]) || tolerance == 0)
      EXPECT_EQ(got[i], want[i]);
    else
      EXPECT_NEAR(got[i], want[i], tolerance);
  }
}

} // namespace mlir::echo::testing

#endif // ECHO_UNITTESTS_TARGET_INTERPRETERTESTUTILS_H

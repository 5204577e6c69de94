//===- Inference.h - Type inference and its diagnostics ---------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op's inference checks its constraints and gives its result types. The
// same function serves the verifier (diagnostics at the op) and builders
// (diagnostics at a location, or none).
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_DIALECT_INFERENCE_H
#define ECHO_LIB_DIALECT_INFERENCE_H

#include "Echo/Dialect/EchoDialect.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::echo {

/// Where a violated constraint is reported.
class Reporter {
public:
  explicit Reporter(Operation *op) : op(op) {}
  Reporter(StringRef opName, std::optional<Location> location)
      : opName(opName), location(location) {}

  /// Emits the message and returns failure.
  template <typename... Args>
  LogicalResult operator()(Args &&...args) const {
    if (op)
      return emit(op->emitOpError(), std::forward<Args>(args)...);
    if (location)
      return emit(emitError(*location) << "'" << opName << "' op ",
                  std::forward<Args>(args)...);
    return failure();
  }

private:
  template <typename... Args>
  static LogicalResult emit(InFlightDiagnostic diagnostic, Args &&...args) {
    (void)(diagnostic << ... << std::forward<Args>(args));
    return diagnostic;
  }

  Operation *op = nullptr;
  StringRef opName;
  std::optional<Location> location;
};

/// Checks that `axis` is in 0 .. rank - 1; `name` is the attribute's.
LogicalResult verifyAxis(const Reporter &report, StringRef name, int64_t axis,
                         int64_t rank);

/// Checks that a value called `name` has `expected` as its element type.
LogicalResult verifyElementType(const Reporter &report, StringRef name,
                                Type found, Type expected);

/// Checks that a value called `name` has a shape compatible with `expected`.
LogicalResult verifyShape(const Reporter &report, StringRef name,
                          ArrayRef<int64_t> found, ArrayRef<int64_t> expected);

/// Checks an op's results against the types that were inferred for them.
LogicalResult verifyInferredTypes(Operation *op, TypeRange inferred);

/// Builders create an op's results from these; the verifier compares them.
#define ECHO_DEFINE_INFERENCE(OP)                                              \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, OP::Adaptor adaptor,    \
      SmallVectorImpl<Type> &types) {                                          \
    return infer(Reporter(OP::getOperationName(), location), adaptor, types);  \
  }                                                                            \
  LogicalResult OP::verify() {                                                 \
    SmallVector<Type> types;                                                   \
    if (failed(infer(Reporter(getOperation()), OP::Adaptor(*this), types)))    \
      return failure();                                                        \
    return verifyInferredTypes(getOperation(), types);                         \
  }

} // namespace mlir::echo

#endif // ECHO_LIB_DIALECT_INFERENCE_H

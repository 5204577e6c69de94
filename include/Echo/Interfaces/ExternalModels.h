//===- ExternalModels.h - Knowledge about upstream ops ----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_INTERFACES_EXTERNALMODELS_H
#define ECHO_INTERFACES_EXTERNALMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::echo {

/// Models of RecomputeOpInterface and CostOpInterface for the ops of arith,
/// math, tensor, linalg and tosa, attached when these dialects are loaded.
void registerArithMathExternalModels(DialectRegistry &registry);
void registerTensorExternalModels(DialectRegistry &registry);
void registerLinalgExternalModels(DialectRegistry &registry);
void registerTosaExternalModels(DialectRegistry &registry);
/// All of them.
void registerExternalModels(DialectRegistry &registry);

} // namespace mlir::echo

#endif // ECHO_INTERFACES_EXTERNALMODELS_H

//===- Builders.h - Helpers that build Echo ops -----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_BUILDERS_H
#define ECHO_DIALECT_BUILDERS_H

#include "Echo/Dialect/EchoDialect.h"

namespace mlir::echo {

/// `value` in every element of `type` (static), converted to its element type
/// as `echo.convert` does.
DenseElementsAttr getSplatAttr(RankedTensorType type, double value);

/// An `echo.constant` with `value` in every element.
Value createSplatConstant(OpBuilder &builder, Location loc,
                          RankedTensorType type, double value);

/// An `echo.constant` of rank 0. It broadcasts with tensors of any shape.
Value createScalarConstant(OpBuilder &builder, Location loc, Type elementType,
                           double value);

} // namespace mlir::echo

#endif // ECHO_DIALECT_BUILDERS_H

//===- LinalgBuilders.h - Tensors for linalg ops ----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_CONVERSION_LINALGBUILDERS_H
#define ECHO_LIB_CONVERSION_LINALGBUILDERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::echo {

/// A tensor of `type` whose elements are all `value`: a linalg.fill.
Value filledTensor(OpBuilder &b, Location loc, RankedTensorType type,
                   TypedAttr value);

} // namespace mlir::echo

#endif // ECHO_LIB_CONVERSION_LINALGBUILDERS_H

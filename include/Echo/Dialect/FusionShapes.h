//===- FusionShapes.h - How ops iterate in a kernel -------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_FUSIONSHAPES_H
#define ECHO_DIALECT_FUSIONSHAPES_H

#include "Echo/Planning/Fusion.h"
#include "mlir/IR/Operation.h"

namespace mlir::echo {

/// How an op over `result`'s elements reads an operand of shape `operand` that
/// NumPy's rules broadcast to it. Static shapes.
planning::FusionAccess getBroadcastAccess(ArrayRef<int64_t> operand,
                                                  ArrayRef<int64_t> result);

/// The shape of an op with one result whose operands are broadcast to it.
/// Static types.
planning::FusionShape getElementwiseFusionShape(Operation *op,
                                                        uint32_t weight);

} // namespace mlir::echo

#endif // ECHO_DIALECT_FUSIONSHAPES_H

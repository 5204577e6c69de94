//===- Convert.h - Values in the interpreter's types ----------- -*- C++
//-*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_TARGET_INTERPRETER_CONVERT_H
#define ECHO_LIB_TARGET_INTERPRETER_CONVERT_H

#include "Echo/Target/Interpreter.h"

namespace mlir::echo::interpreter {

/// Appends `value` in the type that the interpreter has for what is declared as
/// `elementType`; a diagnostic at `op` if there is no memory.
inline LogicalResult appendConverted(Operation *op, Interpreter &interpreter,
                                     const HostTensor &value, Type elementType,
                                     SmallVectorImpl<HostTensor> &results) {
  HostTensor converted =
      value.convertTo(interpreter.getElementType(elementType));
  if (!converted)
    return op->emitOpError("cannot be interpreted: no memory for ")
           << RankedTensorType::get(value.getShape(), elementType);
  results.push_back(std::move(converted));
  return success();
}

} // namespace mlir::echo::interpreter

#endif // ECHO_LIB_TARGET_INTERPRETER_CONVERT_H

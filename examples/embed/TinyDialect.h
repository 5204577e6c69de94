//===- TinyDialect.h - A dialect that is not Echo's ------------*- C++ -*--===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TINYDIALECT_H
#define TINYDIALECT_H

#include "Echo/Interfaces/EchoInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "TinyDialect.h.inc"
#define GET_OP_CLASSES
#include "TinyOps.h.inc"

#endif // TINYDIALECT_H

//===- Passes.h - Conversion passes ------------------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_CONVERSION_PASSES_H
#define ECHO_CONVERSION_PASSES_H

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::echo {

#define GEN_PASS_DECL
#include "Echo/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Echo/Conversion/Passes.h.inc"

} // namespace mlir::echo

#endif // ECHO_CONVERSION_PASSES_H

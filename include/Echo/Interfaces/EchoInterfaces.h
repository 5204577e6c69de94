//===- EchoInterfaces.h - Knowledge about ops -------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_INTERFACES_ECHOINTERFACES_H
#define ECHO_INTERFACES_ECHOINTERFACES_H

#include "Echo/Planning/Fusion.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::echo::detail {

/// Bytes of a ranked tensor or memref type: elements times the element's
/// storage width in whole bytes (i1 takes one byte, index 8, complex numbers and
/// vectors what their parts do). Failure for dynamic shapes, other types, and
/// products beyond 63 bits.
llvm::FailureOr<uint64_t> typeBytes(Type type);
/// Sums of typeBytes over shaped operands or results.
llvm::FailureOr<uint64_t> operandBytes(Operation *op);
llvm::FailureOr<uint64_t> resultBytes(Operation *op);
/// `flops` times the number of elements of result 0.
llvm::FailureOr<uint64_t> flopsPerResultElement(Operation *op, uint64_t flops);
/// `flops` times the number of elements of operand 0.
llvm::FailureOr<uint64_t> flopsPerOperandElement(Operation *op, uint64_t flops);

} // namespace mlir::echo::detail

#include "Echo/Interfaces/EchoInterfaces.h.inc"

#endif // ECHO_INTERFACES_ECHOINTERFACES_H

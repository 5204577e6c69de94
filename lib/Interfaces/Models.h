//===- Models.h - Parts of models of upstream ops ---------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_INTERFACES_MODELS_H
#define ECHO_LIB_INTERFACES_MODELS_H

#include "Echo/Interfaces/EchoInterfaces.h"
#include "Echo/Interfaces/Queries.h"
#include "mlir/IR/MLIRContext.h"

namespace mlir::echo::models {

using Count = FailureOr<uint64_t>;

/// `factor` times the sizes; failure if one is dynamic or 63 bits don't do.
Count product(ArrayRef<int64_t> sizes, int64_t factor = 1);
/// `factor` for each element of a value of this type.
Count forEachElement(Type type, int64_t factor = 1);

/// An op that gives the same bits again.
template <bool mirrored>
struct Recomputable
    : RecomputeOpInterface::FallbackModel<Recomputable<mirrored>> {
  bool isRecomputable(Operation *op) const { return isFreeOfEffects(op); }
  bool allowsBitEncoding(Operation *, unsigned) const { return false; }
  bool isPositivityOf(Operation *, unsigned) const { return false; }
  bool isMirrored(Operation *) const { return mirrored; }
};

using Mirrored = Recomputable<true>;
using NotMirrored = Recomputable<false>;

/// Reads its operands and writes its results; the derived model has the flops.
template <typename Model>
struct Cheap : CostOpInterface::FallbackModel<Model> {
  Count getBytesRead(Operation *op) const {
    return echo::detail::operandBytes(op);
  }
  Count getBytesWritten(Operation *op) const {
    return echo::detail::resultBytes(op);
  }
  bool isComputeHeavy(Operation *) const { return false; }
};

template <typename Model>
struct Heavy : Cheap<Model> {
  bool isComputeHeavy(Operation *) const { return true; }
};

/// Constants and views.
struct Free : Cheap<Free> {
  Count getFlops(Operation *) const { return uint64_t(0); }
  Count getBytesRead(Operation *) const { return uint64_t(0); }
  Count getBytesWritten(Operation *) const { return uint64_t(0); }
};

/// Moves elements.
struct Copy : Cheap<Copy> {
  Count getFlops(Operation *) const { return uint64_t(0); }
};

/// Moves a part of the elements.
struct CopyPart : Cheap<CopyPart> {
  Count getFlops(Operation *) const { return uint64_t(0); }
  Count getBytesRead(Operation *op) const {
    return echo::detail::resultBytes(op);
  }
};

/// So many flops for each element of result 0.
template <int64_t flops>
struct PerResult : Cheap<PerResult<flops>> {
  Count getFlops(Operation *op) const {
    return forEachElement(op->getResult(0).getType(), flops);
  }
};

/// So many flops for each element of operand 0.
template <int64_t flops>
struct PerOperand : Cheap<PerOperand<flops>> {
  Count getFlops(Operation *op) const {
    return forEachElement(op->getOperand(0).getType(), flops);
  }
};

template <typename... Models>
struct AttachTo {
  template <typename... Ops>
  static void ops(MLIRContext *context) {
    (Ops::template attachInterface<Models...>(*context), ...);
  }
};

/// Attaches models to the ops of a dialect that `select` takes.
template <typename... Models>
void attachWhere(MLIRContext *context, StringRef dialect,
                 function_ref<bool(RegisteredOperationName)> select) {
  // MLIR's list for a dialect may lack some where several are loaded.
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == dialect && select(name))
      name.attachInterface<Models...>();
}

} // namespace mlir::echo::models

#endif // ECHO_LIB_INTERFACES_MODELS_H

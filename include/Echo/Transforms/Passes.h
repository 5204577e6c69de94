//===- Passes.h - Transforms passes ------------------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_PASSES_H
#define ECHO_TRANSFORMS_PASSES_H

#include "Echo/Transforms/Remat.h"
#include "Echo/Transforms/Rewrites.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::echo {

#define GEN_PASS_DECL
#include "Echo/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Echo/Transforms/Passes.h.inc"

/// `echo-remat` with a plan that was read already.
std::unique_ptr<Pass> createEchoRematPass(EchoRematPassOptions options,
                                          std::optional<SavedPlan> plan);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_PASSES_H

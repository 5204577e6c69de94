//===- RandomGraphs.h - Random forward graphs -------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_TRANSFORMS_RANDOMGRAPHS_H
#define ECHO_UNITTESTS_TRANSFORMS_RANDOMGRAPHS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace mlir::echo::testing {

/// A function of f64 tensors whose arguments are parameters and whose result is
/// a loss: shared readers, broadcasting, views, reductions, products, dropout,
/// dead ends. With `hasStates` it is what a training step is made of: running
/// statistics of one of its values and a counter that dropout reads, states that
/// results replace.
OwningOpRef<ModuleOp> buildRandomGraph(MLIRContext &context, uint64_t seed,
                                       bool hasStates = false);

/// A smaller graph that fails as `module` does: drops results but the first, and
/// ops, for which one of their operands or a constant stands in, while
/// `fails` holds. Asks at most `maxTries` times.
OwningOpRef<ModuleOp> shrinkGraph(ModuleOp module,
                                  llvm::function_ref<bool(ModuleOp)> fails,
                                  unsigned maxTries = 1000);

/// Ops that compute: without constants and the terminator.
unsigned countOps(ModuleOp module);

/// Runs `check`, which returns what is wrong or "", on graphs with states from
/// seeds 1 to `count`, or to ECHO_FUZZ_GRAPHS, or of ECHO_FUZZ_SEED alone. The
/// first one that fails is reported with its seed, as it is and shrunk. Returns
/// how many graphs there were.
uint64_t checkRandomGraphs(
    MLIRContext &context, uint64_t count,
    llvm::function_ref<std::string(ModuleOp, uint64_t seed)> check,
    unsigned maxTries = 1000);

} // namespace mlir::echo::testing

#endif // ECHO_UNITTESTS_TRANSFORMS_RANDOMGRAPHS_H

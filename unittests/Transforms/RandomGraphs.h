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

namespace mlir::echo::testing {

/// A function of f64 tensors whose arguments are parameters and whose result is
/// a loss: shared readers, broadcasting, views, reductions, products, dropout,
/// dead ends.
OwningOpRef<ModuleOp> buildRandomGraph(MLIRContext &context, uint64_t seed);

} // namespace mlir::echo::testing

#endif // ECHO_UNITTESTS_TRANSFORMS_RANDOMGRAPHS_H

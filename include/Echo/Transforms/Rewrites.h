//===- Rewrites.h - Fewer and larger ops in a training step -----*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an unrolled graph does once a time step and could do once. These change
// the order of additions, so they are part of every training step, whatever is
// recomputed later. They ask ops by interface and keep the graph's meaning but
// for rounding.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_REWRITES_H
#define ECHO_TRANSFORMS_REWRITES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::echo {

/// Products of more rows than this don't gain from more rows.
constexpr int64_t kMostRowsToBatch = 512;

/// Makes one op of compute-heavy ops that differ in the operand of their rows
/// alone (RowParallelOpInterface) and don't depend on each other: the input
/// projections of all time steps become one product. Ops of more than
/// `mostRows` rows stay as they are.
void batchRows(func::FuncOp function, int64_t mostRows = kMostRowsToBatch);

/// Makes one op of the terms of a sum that are sums over rows themselves
/// (RowSumOpInterface): the weight gradients of all time steps become one
/// product over the rows of all steps.
///
/// Operands that lie next to each other in a tensor that is there anyway are
/// read from it. Otherwise they are joined, if the operands of a term have at
/// most as many bytes as the result, which is what adding the term would move.
void batchSums(func::FuncOp function);

/// Makes one op of a product and its addition to a tensor that lies in memory
/// and that nothing else reads (AccumulateOpInterface).
void accumulateProducts(func::FuncOp function);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_REWRITES_H

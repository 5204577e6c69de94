//===- EmbeddingGradKernel.h - The scattering kernel ------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_CONVERSION_EMBEDDINGGRADKERNEL_H
#define ECHO_LIB_CONVERSION_EMBEDDINGGRADKERNEL_H

#include "Echo/Dialect/EchoDialect.h"
#include "KernelEmitter.h"

namespace mlir::echo {

/// Succeeds for a kernel that returns the echo.embedding_grad of two of its
/// arguments and does nothing else; otherwise fails with a diagnostic.
LogicalResult verifyEmbeddingGradKernel(func::FuncOp kernel);

/// Writes the loops of an echo.embedding_grad into a lowered kernel's entry
/// block and returns its number of chunks. A chunk owns a range of the table's
/// rows: it reads all indices and adds the gradients that fall into its rows,
/// in order.
int64_t lowerEmbeddingGrad(EmbeddingGradOp op, KernelEmitter &emitter,
                           Block *entry);

/// Writes the elements `first`, `first` + `step`, ... of the table's gradient,
/// each as the sum of what all indices add to it, in order. Needs no order
/// among elements, and reads all indices for each of them.
void lowerEmbeddingGradElements(EmbeddingGradOp op, KernelEmitter &emitter,
                                Block *entry, Value first, Value step);

} // namespace mlir::echo

#endif // ECHO_LIB_CONVERSION_EMBEDDINGGRADKERNEL_H

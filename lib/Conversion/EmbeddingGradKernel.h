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
#include "ThreadedGroup.h"

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

/// The same for a GPU: its blocks, and what they do.
ThreadMapping planEmbeddingGrad(EmbeddingGradOp op, int64_t multiprocessors);
void lowerThreadedEmbeddingGrad(EmbeddingGradOp op, KernelEmitter &emitter,
                                Block *entry, const ThreadPlace &place);

} // namespace mlir::echo

#endif // ECHO_LIB_CONVERSION_EMBEDDINGGRADKERNEL_H

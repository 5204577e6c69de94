//===- InitAll.h - Registers everything of Echo -----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_INITALL_H
#define ECHO_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::echo {

/// Adds the Echo dialect and its external models to a registry.
void registerAllDialects(DialectRegistry &registry);
/// Registers Echo's passes and named pipelines with MLIR's global registry.
void registerAllPasses();

} // namespace mlir::echo

#endif // ECHO_INITALL_H

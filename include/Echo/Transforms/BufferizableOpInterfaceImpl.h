//===- BufferizableOpInterfaceImpl.h - One-shot bufferization ---*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define ECHO_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::echo {

/// Lets upstream's one-shot bufferization take optimization barriers away: the
/// result is the operand's buffer.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::echo

#endif // ECHO_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

//===- Layers.h - Names of layers -------------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer's name is a location, loc("decoder/lstm0/t3"): components between
// slashes, one of the form t<number> for a time step.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ANALYSIS_LAYERS_H
#define ECHO_ANALYSIS_LAYERS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include <string>

namespace mlir::echo {

/// The layer of an op: its innermost location's first name, or "".
StringRef layerName(Location location);

/// The layer that reports add `name` to: without time steps, and of at most
/// `depth` components (0: all of them).
std::string layerGroup(StringRef name, unsigned depth);

/// A place for reports: the layer's name, or file:line:column, or "unknown".
std::string describeLocation(Location location);

} // namespace mlir::echo

#endif // ECHO_ANALYSIS_LAYERS_H

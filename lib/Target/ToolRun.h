//===- ToolRun.h - Running programs of a toolchain --------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_TARGET_TOOLRUN_H
#define ECHO_LIB_TARGET_TOOLRUN_H

#include "mlir/IR/Location.h"
#include <string>
#include <vector>

namespace mlir::echo {

/// Temporary files and a program that reads and writes them. They are removed
/// with this object, or by a signal that ends the process. Everything that
/// fails is told at the location.
class ToolRun {
public:
  explicit ToolRun(Location loc) : loc(loc) {}
  ToolRun(const ToolRun &) = delete;
  ~ToolRun();

  /// The name of a new file with this content.
  FailureOr<std::string> addFile(StringRef suffix, StringRef content = "");
  /// Runs a program until it ends; what it prints is part of the diagnostic if
  /// it fails. The first argument is the first one after its name.
  LogicalResult run(StringRef program, ArrayRef<StringRef> arguments);
  FailureOr<std::string> read(StringRef file) const;

private:
  Location loc;
  std::vector<std::string> files;
};

} // namespace mlir::echo

#endif // ECHO_LIB_TARGET_TOOLRUN_H

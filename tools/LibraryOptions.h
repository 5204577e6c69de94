//===- LibraryOptions.h - Options that libraries register -------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_LIBRARYOPTIONS_H
#define ECHO_TOOLS_LIBRARYOPTIONS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::echo {

/// LLVM's libraries register options too, "threads" among them: an option of
/// the same name would end the process. To be called before a tool's own
/// options are made.
inline void forgetLibraryOptions() {
  llvm::SmallVector<llvm::cl::Option *> foreign;
  for (auto [name, option] : llvm::cl::getRegisteredOptions())
    if (!name.starts_with("help") && name != "version")
      foreign.push_back(option);
  for (llvm::cl::Option *option : foreign)
    option->removeArgument();
}

} // namespace mlir::echo

#endif // ECHO_TOOLS_LIBRARYOPTIONS_H

//===- Artifact.h - A compiled step in a shared object ----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CPU_ARTIFACT_H
#define ECHO_RUNTIME_CPU_ARTIFACT_H

#include "Program.h"

#include <string>

namespace echo {

/// An opened artefact: its program, checked, and its kernels. It stays loaded
/// until the object is destroyed.
class Artifact {
public:
  /// Throws Error: ECHO_IO_ERROR for a file that can't be read,
  /// ECHO_INVALID_ARTIFACT for anything that isn't a whole artefact of this
  /// version for this CPU.
  explicit Artifact(const std::string &path);
  ~Artifact();
  Artifact(const Artifact &) = delete;
  Artifact &operator=(const Artifact &) = delete;

  const Program &program() const { return contents; }
  const KernelFunction *kernels() const { return functions; }

private:
  void load(const std::string &path);

  void *handle = nullptr;
  std::string key; ///< the path it is registered under
  Program contents;
  const KernelFunction *functions = nullptr;
};

} // namespace echo

#endif // ECHO_RUNTIME_CPU_ARTIFACT_H

//===- Artifact.h - A compiled step in a shared object ----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_ARTIFACT_H
#define ECHO_RUNTIME_COMMON_ARTIFACT_H

#include "Program.h"

#include <string>
#include <vector>

namespace echo {

/// An opened artefact: its program, checked, and its kernels: functions of a
/// CPU program, images of a GPU program. It stays loaded until the object is
/// destroyed.
class Artifact {
public:
  /// Throws Error: ECHO_IO_ERROR for a file that can't be read,
  /// ECHO_INVALID_ARTIFACT for anything that isn't a whole artefact of this
  /// version, or one for another CPU.
  explicit Artifact(const std::string &path);
  ~Artifact();
  Artifact(const Artifact &) = delete;
  Artifact &operator=(const Artifact &) = delete;

  const std::string &path() const { return file; }
  const Program &program() const { return contents; }
  const KernelFunction *kernels() const { return functions; }
  /// Checked as far as their form goes: what kind they are of, and that an ELF
  /// file or a text is there.
  const std::vector<Image> &images() const { return gpuImages; }
  /// "sm_75, sm_75 (PTX)", for messages.
  std::string chips() const;

private:
  void load();
  void loadKernels();
  void loadImages();

  std::string file; ///< as it was given
  void *handle = nullptr;
  std::string key; ///< the path it is registered under
  Program contents;
  const KernelFunction *functions = nullptr;
  std::vector<Image> gpuImages;
};

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_ARTIFACT_H

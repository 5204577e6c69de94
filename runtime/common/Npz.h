//===- Npz.h - Archives of NumPy arrays -------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_NPZ_H
#define ECHO_RUNTIME_COMMON_NPZ_H

#include "Program.h"

#include <memory>
#include <string>
#include <vector>

namespace echo {

struct NpzEntry {
  const Tensor *tensor;
  const void *data;
};

/// Writes an .npz with one array per entry, by the tensor's name: stored, not
/// compressed, readable by numpy.load, the same bytes for the same values. The
/// steps that made the values stand in the archive's comment. The file appears
/// whole or not at all. Throws Error (ECHO_IO_ERROR).
void writeNpz(const std::string &path, const std::vector<NpzEntry> &entries,
              uint64_t steps);

/// An .npz opened for reading, stored or deflated. Every function throws Error
/// (ECHO_IO_ERROR, or ECHO_INVALID_ARGUMENT for another type or shape) that
/// names file and array.
class NpzReader {
public:
  explicit NpzReader(const std::string &path);
  ~NpzReader();
  NpzReader(const NpzReader &) = delete;
  NpzReader &operator=(const NpzReader &) = delete;

  bool has(const std::string &name) const;
  /// The array of this name, with the tensor's type and shape: the bytes of
  /// its data.
  std::string read(const Tensor &tensor) const;
  /// The steps that made the values; 0 if the archive doesn't say.
  uint64_t steps() const;

private:
  struct Archive;
  std::unique_ptr<Archive> archive;
  std::string path;
};

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_NPZ_H

//===- AtomicFile.h - Files that appear whole or not at all -----*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_ATOMICFILE_H
#define ECHO_RUNTIME_COMMON_ATOMICFILE_H

#include <string>
#include <string_view>

namespace echo {

/// A file under a temporary name in the target's folder. commit() moves it to
/// the target; without commit() the temporary file is removed and the target
/// stays as it was.
class AtomicFile {
public:
  /// Creates the temporary file; throws Error (ECHO_IO_ERROR).
  explicit AtomicFile(const std::string &path);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  const std::string &temporaryName() const { return temporary; }

  /// Flushes the file to the disk and renames it; throws Error (ECHO_IO_ERROR).
  void commit();

private:
  std::string path, temporary;
  bool committed = false;
};

/// Writes a whole file through AtomicFile; throws Error (ECHO_IO_ERROR).
void writeFile(const std::string &path, std::string_view head,
               std::string_view body = {});

/// Reads a whole file; throws Error (ECHO_IO_ERROR).
std::string readFile(const std::string &path);

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_ATOMICFILE_H

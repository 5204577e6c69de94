//===- Files.h - Reading and writing whole files ----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_FILES_H
#define ECHO_RUNTIME_COMMON_FILES_H

#include <string>
#include <string_view>

namespace echo {

/// Writes a whole file through OutputFile; throws Error (ECHO_IO_ERROR).
void writeFile(const std::string &path, std::string_view head,
               std::string_view body = {});

/// Throws Error (ECHO_IO_ERROR) if a file can't be written; changes nothing.
void checkWritable(const std::string &path);

/// Reads a whole file; throws Error (ECHO_IO_ERROR).
std::string readFile(const std::string &path);

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_FILES_H

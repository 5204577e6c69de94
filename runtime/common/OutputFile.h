//===- OutputFile.h - Files that appear whole or not at all -----*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_OUTPUTFILE_H
#define ECHO_RUNTIME_COMMON_OUTPUTFILE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace echo {

/// How the tools and the runtime write a file. The content is collected aside;
/// commit() moves it to the path in one step, so that at any moment the path
/// has its earlier content or the new one. Without commit() the path stays as
/// it was. A symbolic link is followed. What exists and isn't a regular file (a
/// device, a FIFO, an open descriptor under /dev/fd) isn't replaced: commit()
/// writes to it.
///
/// Throws nothing: functions return false and error() says why.
class OutputFile {
public:
  /// Fails, as error() tells, if the path can't be written.
  explicit OutputFile(const std::string &path);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// "can't write 'path': reason" after a failure, else empty.
  const std::string &error() const { return message; }
  /// The errno of the failure.
  int errorCode() const { return code; }

  bool write(std::string_view data);
  /// Moves to a place in bytes from the beginning, as lseek does.
  bool seek(uint64_t place);
  /// The present place, or -1.
  int64_t tell();
  /// Flushes to the disk and moves the content to the path.
  bool commit();

private:
  bool fail(int error);
  bool resolve();
  bool openRegular();
  bool writeAll(int to, const char *data, uint64_t size);
  bool replaceTarget();
  bool copyToTarget();

  std::string path;      ///< as given
  std::string target;    ///< without symbolic links
  std::string temporary; ///< the content's name, if it has one
  std::string message;
  int code = 0;
  int file = -1;       ///< the content
  int descriptor = -1; ///< of this process, that the path stands for
  int mode = -1;       ///< permissions of the earlier file
  bool isRegular = true;
};

/// Writes a whole file, or the standard output if the path is "-". Returns what
/// went wrong, or nothing.
std::string writeOutput(const std::string &path, std::string_view content);

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_OUTPUTFILE_H

//===- Files.cpp - Reading and writing whole files ------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"

#include "Error.h"
#include "OutputFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace echo;

namespace {

[[noreturn]] void throwUnreadable(const std::string &path, int code) {
  throw Error(ECHO_IO_ERROR,
              "can't read '" + path + "': " + std::strerror(code));
}

/// Closes a file descriptor at the end of a scope.
class Descriptor {
public:
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  operator int() const { return fd; }

private:
  int fd;
};

} // namespace

void echo::writeFile(const std::string &path, std::string_view head,
                     std::string_view body) {
  OutputFile file(path);
  if (!file.write(head) || !file.write(body) || !file.commit())
    throw Error(ECHO_IO_ERROR, file.error());
}

void echo::checkWritable(const std::string &path) {
  OutputFile file(path);
  if (!file.error().empty())
    throw Error(ECHO_IO_ERROR, file.error());
}

std::string echo::readFile(const std::string &path) {
  Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0)
    throwUnreadable(path, errno);
  if (S_ISDIR(status.st_mode))
    throwUnreadable(path, EISDIR);
  std::string content;
  char buffer[1 << 16];
  while (true) {
    ssize_t count = read(fd, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      throwUnreadable(path, errno);
    if (count == 0)
      return content;
    content.append(buffer, count);
  }
}

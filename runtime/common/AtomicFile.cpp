//===- AtomicFile.cpp - Files that appear whole or not at all -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtomicFile.h"

#include "Error.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace echo;

namespace {

[[noreturn]] void throwSystem(const std::string &what, const std::string &path,
                              int code) {
  throw Error(ECHO_IO_ERROR, what + " '" + path + "': " + std::strerror(code));
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
  /// Closes now and returns close()'s result.
  int closeNow() {
    int result = close(fd);
    fd = -1;
    return result;
  }

private:
  int fd;
};

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void writeAll(int fd, std::string_view data, const std::string &path) {
  while (!data.empty()) {
    ssize_t written = write(fd, data.data(), data.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      throwSystem("can't write", path, errno);
    data.remove_prefix(written);
  }
}

} // namespace

AtomicFile::AtomicFile(const std::string &path) : path(path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    throwSystem("can't write", path, EISDIR);
  static std::atomic<unsigned> counter{0};
  int fd;
  do {
    temporary = path + ".tmp" + std::to_string(getpid()) + "-" +
                std::to_string(counter++);
    fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0)
    throwSystem("can't write", path, errno);
  close(fd);
}

AtomicFile::~AtomicFile() {
  if (!committed)
    unlink(temporary.c_str());
}

void AtomicFile::commit() {
  Descriptor file(open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
  if (file < 0 || fsync(file) != 0)
    throwSystem("can't write", path, errno);
  if (rename(temporary.c_str(), path.c_str()) != 0)
    throwSystem("can't write", path, errno);
  committed = true;
  // The rename is done; that the folder reaches the disk is best effort, some
  // file systems can't sync folders.
  Descriptor folder(
      open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder >= 0)
    fsync(folder);
}

void echo::writeFile(const std::string &path, std::string_view head,
                     std::string_view body) {
  AtomicFile file(path);
  Descriptor fd(
      open(file.temporaryName().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (fd < 0)
    throwSystem("can't write", path, errno);
  writeAll(fd, head, path);
  writeAll(fd, body, path);
  if (fd.closeNow() != 0)
    throwSystem("can't write", path, errno);
  file.commit();
}

std::string echo::readFile(const std::string &path) {
  Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0)
    throwSystem("can't read", path, errno);
  if (S_ISDIR(status.st_mode))
    throwSystem("can't read", path, EISDIR);
  std::string content;
  char buffer[1 << 16];
  while (true) {
    ssize_t count = read(fd, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      throwSystem("can't read", path, errno);
    if (count == 0)
      return content;
    content.append(buffer, count);
  }
}

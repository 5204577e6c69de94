//===- OutputFile.cpp - Files that appear whole or not at all -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputFile.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace echo;

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A name beside the path that no file has at this moment.
static std::string temporaryNameFor(const std::string &path) {
  static std::atomic<unsigned> counter{0};
  return path + ".tmp" + std::to_string(getpid()) + "-" +
         std::to_string(counter++);
}

static std::string linkToDescriptor(int file) {
  return "/proc/self/fd/" + std::to_string(file);
}

/// The descriptor of this process that a path such as /dev/stdout stands for,
/// or -1. Opening the path would begin such a file anew.
static int ownDescriptor(const std::string &path) {
  char folder[PATH_MAX];
  if (!realpath(folderOf(path).c_str(), folder) ||
      folder != "/proc/" + std::to_string(getpid()) + "/fd")
    return -1;
  return std::atoi(path.c_str() + path.rfind('/') + 1);
}

namespace {
/// Keeps signals from this thread for as long as a file has a temporary name.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &earlier);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &earlier, nullptr); }
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;

private:
  sigset_t earlier;
};
} // namespace

OutputFile::OutputFile(const std::string &path) : path(path), target(path) {
  if (!resolve())
    return;
  struct stat status;
  bool exists = descriptor >= 0 ? fstat(descriptor, &status) == 0
                                : stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    fail(EISDIR);
    return;
  }
  isRegular = descriptor < 0 && (!exists || S_ISREG(status.st_mode));
  if (exists && descriptor < 0 && access(target.c_str(), W_OK) != 0) {
    fail(errno);
    return;
  }
  if (isRegular) {
    if (exists)
      mode = status.st_mode & 07777;
    openRegular();
    return;
  }
  file = memfd_create("echo-output", MFD_CLOEXEC);
  if (file < 0)
    fail(errno);
}

OutputFile::~OutputFile() {
  if (file >= 0)
    close(file);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

bool OutputFile::fail(int error) {
  if (message.empty()) {
    code = error;
    message = "can't write '" + path + "': " + std::strerror(error);
  }
  return false;
}

/// Follows symbolic links, whether their targets exist or not.
bool OutputFile::resolve() {
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat status;
    if (lstat(target.c_str(), &status) != 0 || !S_ISLNK(status.st_mode))
      return true;
    descriptor = ownDescriptor(target);
    if (descriptor >= 0)
      return true;
    char link[PATH_MAX];
    ssize_t length = readlink(target.c_str(), link, sizeof(link));
    if (length < 0)
      return fail(errno);
    std::string next(link, length);
    target = next.front() == '/' ? next : folderOf(target) + "/" + next;
  }
  return fail(ELOOP);
}

/// Opens a file for the content in the target's folder: without a name, where
/// the file system has such files, so that nothing is left whenever the process
/// ends.
bool OutputFile::openRegular() {
  if (target.empty())
    return fail(ENOENT);
  if (target.back() == '/')
    return fail(EISDIR);
  if (access("/proc/self/fd", X_OK) == 0)
    file =
        open(folderOf(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file >= 0)
    return true;
  do {
    temporary = temporaryNameFor(target);
    file =
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EEXIST);
  if (file >= 0)
    return true;
  temporary.clear();
  return fail(errno);
}

bool OutputFile::writeAll(int to, const char *data, uint64_t size) {
  while (size != 0) {
    ssize_t written = ::write(to, data, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return fail(errno);
    data += written;
    size -= written;
  }
  return true;
}

bool OutputFile::write(std::string_view data) {
  return message.empty() && writeAll(file, data.data(), data.size());
}

bool OutputFile::seek(uint64_t place) {
  if (!message.empty())
    return false;
  return lseek(file, place, SEEK_SET) >= 0 || fail(errno);
}

int64_t OutputFile::tell() {
  if (!message.empty())
    return -1;
  int64_t place = lseek(file, 0, SEEK_CUR);
  if (place < 0)
    fail(errno);
  return place;
}

bool OutputFile::commit() {
  if (!message.empty())
    return false;
  return isRegular ? replaceTarget() : copyToTarget();
}

bool OutputFile::replaceTarget() {
  if ((mode >= 0 && fchmod(file, mode) != 0) || fsync(file) != 0)
    return fail(errno);
  SignalsBlocked blocked;
  if (temporary.empty()) {
    // A link can't replace a file, so it gets a name first.
    std::string name;
    do {
      name = temporaryNameFor(target);
      if (linkat(AT_FDCWD, linkToDescriptor(file).c_str(), AT_FDCWD,
                 name.c_str(), AT_SYMLINK_FOLLOW) == 0)
        temporary = name;
      else if (errno != EEXIST)
        return fail(errno);
    } while (temporary.empty());
  }
  int result = close(file);
  file = -1;
  if (result != 0 || rename(temporary.c_str(), target.c_str()) != 0)
    return fail(errno);
  temporary.clear();
  // The rename is done; that the folder reaches the disk is best effort, some
  // file systems can't sync folders.
  int folder =
      open(folderOf(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
  return true;
}

bool OutputFile::copyToTarget() {
  int64_t size = lseek(file, 0, SEEK_END);
  if (size < 0)
    return fail(errno);
  int to = descriptor >= 0 ? dup(descriptor)
                           : open(target.c_str(), O_WRONLY | O_CLOEXEC);
  if (to < 0)
    return fail(errno);
  char buffer[1 << 16];
  bool good = true;
  for (int64_t place = 0; good && place < size;) {
    ssize_t count = pread(file, buffer, sizeof(buffer), place);
    good = count > 0 ? writeAll(to, buffer, count) : fail(EIO);
    place += count;
  }
  // Terminals and pipes can't be synced.
  if (good && fsync(to) != 0 && errno != EINVAL && errno != EROFS)
    good = fail(errno);
  if (close(to) != 0 && good)
    good = fail(errno);
  return good;
}

std::string echo::writeOutput(const std::string &path,
                              std::string_view content) {
  if (path != "-") {
    OutputFile file(path);
    if (file.write(content))
      file.commit();
    return file.error();
  }
  while (!content.empty()) {
    ssize_t written = ::write(STDOUT_FILENO, content.data(), content.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return std::string("can't write to the standard output: ") +
             std::strerror(errno);
    content.remove_prefix(written);
  }
  return {};
}

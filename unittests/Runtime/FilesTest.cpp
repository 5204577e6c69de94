//===- FilesTest.cpp - Whole files and what isn't one ---------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common/Files.h"
#include "TestArtifact.h"
#include "common/Error.h"
#include "common/OutputFile.h"

#include "gtest/gtest.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace echo;
using test::Folder;
namespace fs = std::filesystem;

namespace {

std::string errorOf(const std::string &path, const std::string &content) {
  try {
    writeFile(path, content);
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ECHO_IO_ERROR);
    return error.what();
  }
  return "";
}

size_t filesIn(const Folder &folder) {
  fs::directory_iterator files(folder.path(""));
  return std::distance(fs::begin(files), fs::end(files));
}

TEST(Files, EarlierFileStays) {
  Folder folder;
  std::string path = folder.path("f");
  writeFile(path, "first");
  EXPECT_EQ(readFile(path), "first");
  {
    OutputFile file(path);
    EXPECT_TRUE(file.write("second"));
  }
  EXPECT_EQ(readFile(path), "first");
  {
    OutputFile file(path);
    EXPECT_TRUE(file.write("..ird"));
    EXPECT_TRUE(file.seek(0));
    EXPECT_TRUE(file.write("th"));
    EXPECT_EQ(file.tell(), 2);
    EXPECT_EQ(readFile(path), "first");
    EXPECT_TRUE(file.commit());
    EXPECT_EQ(file.error(), "");
  }
  EXPECT_EQ(readFile(path), "third");
  EXPECT_EQ(filesIn(folder), 1u) << "a temporary file was left";
}

TEST(Files, Errors) {
  Folder folder;
  EXPECT_EQ(errorOf(folder.path("no/f"), "x"),
            "can't write '" + folder.path("no/f") +
                "': No such file or directory");
  EXPECT_EQ(errorOf(folder.path(""), "x"),
            "can't write '" + folder.path("") + "': Is a directory");
  EXPECT_EQ(errorOf("", "x"), "can't write '': No such file or directory");
  EXPECT_THROW(checkWritable(folder.path("no/f")), Error);
  EXPECT_THROW(readFile(folder.path("g")), Error);
  EXPECT_THROW(readFile(folder.path("")), Error);
  EXPECT_EQ(filesIn(folder), 0u);
}

/// Lets files grow to so many bytes, as on a full disk.
class SmallFiles {
public:
  explicit SmallFiles(rlim_t bytes) {
    earlierHandler = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &earlier);
    rlimit limit = {bytes, earlier.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &earlier);
    signal(SIGXFSZ, earlierHandler);
  }

private:
  rlimit earlier;
  void (*earlierHandler)(int);
};

TEST(Files, NoSpace) {
  Folder folder;
  std::string path = folder.path("f");
  writeFile(path, "first");
  {
    SmallFiles limit(1000);
    EXPECT_EQ(errorOf(path, std::string(2000, 'x')),
              "can't write '" + path + "': File too large");
  }
  EXPECT_EQ(readFile(path), "first");
  EXPECT_EQ(filesIn(folder), 1u);
}

TEST(Files, KeepsPermissions) {
  Folder folder;
  std::string path = folder.path("f");
  writeFile(path, "first");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  writeFile(path, "second");
  EXPECT_EQ(readFile(path), "second");
  EXPECT_EQ(fs::status(path).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(Files, SymbolicLink) {
  Folder folder;
  fs::create_directory(folder.path("inner"));
  fs::create_symlink("inner/g", folder.path("link"));
  fs::create_symlink("link", folder.path("chain"));
  // The target isn't there yet.
  writeFile(folder.path("chain"), "first");
  EXPECT_EQ(readFile(folder.path("inner/g")), "first");
  writeFile(folder.path("link"), "second");
  EXPECT_EQ(readFile(folder.path("inner/g")), "second");
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
  EXPECT_TRUE(fs::is_symlink(folder.path("chain")));
  fs::create_symlink("loop", folder.path("loop"));
  EXPECT_EQ(errorOf(folder.path("loop"), "x"),
            "can't write '" + folder.path("loop") +
                "': Too many levels of symbolic links");
}

TEST(Files, Device) {
  Folder folder;
  // By way of a link: were a device replaced, it would only be the link.
  fs::create_symlink("/dev/full", folder.path("full"));
  EXPECT_EQ(errorOf(folder.path("full"), "x"),
            "can't write '" + folder.path("full") +
                "': No space left on device");
  EXPECT_TRUE(fs::is_character_file(folder.path("full")));
  fs::create_symlink("/dev/null", folder.path("null"));
  EXPECT_EQ(errorOf(folder.path("null"), "x"), "");
  EXPECT_TRUE(fs::is_character_file(folder.path("null")));
}

TEST(Files, Pipe) {
  Folder folder;
  std::string path = folder.path("fifo"), content(100000, 'x'), found;
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  // Looking whether it can be written doesn't wait for a reader.
  checkWritable(path);
  std::thread reader([&] { found = readFile(path); });
  writeFile(path, content);
  reader.join();
  EXPECT_TRUE(found == content);
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST(Files, OwnDescriptor) {
  // As with /dev/stdout, what is open isn't begun anew.
  Folder folder;
  std::string path = folder.path("log");
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(write(file, "a", 1), 1);
  writeFile("/dev/fd/" + std::to_string(file), "b");
  ASSERT_EQ(write(file, "c", 1), 1);
  close(file);
  EXPECT_EQ(readFile(path), "abc");
}

} // namespace

//===- ArtifactCacheTest.cpp - Artefacts kept by content ------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Target/ArtifactCache.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <thread>

using namespace mlir::echo;
namespace fs = llvm::sys::fs;

namespace {

// Hash, size and magic number behind an artefact.
constexpr size_t kTrailer = 32 + 8 + 8;

class ArtifactCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(fs::createUniqueDirectory("echo-cache-test", root));
  }
  void TearDown() override { fs::remove_directories(root); }

  ArtifactCache open(uint64_t maxBytes = 1 << 20) {
    llvm::Expected<ArtifactCache> cache =
        ArtifactCache::open(folder(), maxBytes);
    EXPECT_TRUE(bool(cache));
    return std::move(*cache);
  }
  std::string folder() { return (root + "/a/b").str(); }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(folder(), error), end; it != end && !error;
         it.increment(error))
      names.push_back(it->path());
    return names;
  }
  static std::string read(const std::string &path) {
    auto file = llvm::MemoryBuffer::getFile(path);
    return file ? (*file)->getBuffer().str() : "";
  }
  static void write(const std::string &path, llvm::StringRef content) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << content;
    EXPECT_FALSE(error);
  }
  static void store(const ArtifactCache &cache, llvm::StringRef key,
                    llvm::StringRef artifact) {
    llvm::Error error = cache.store(key, artifact);
    EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
  }
  static void setAge(const std::string &path, std::chrono::seconds age) {
    int file;
    ASSERT_FALSE(fs::openFileForWrite(path, file, fs::CD_OpenExisting,
                                      fs::OF_Append));
    EXPECT_FALSE(fs::setLastAccessAndModificationTime(
        file, std::chrono::system_clock::now() - age));
    fs::closeFile(file);
  }

  llvm::SmallString<128> root;
};

TEST_F(ArtifactCacheTest, KeepsWhatWasStored) {
  ArtifactCache cache = open();
  EXPECT_FALSE(cache.lookup("one"));
  std::string artifact("\x7f" "ELF\0 and more", 13);
  store(cache, "one", artifact);
  store(cache, "two", "other");
  EXPECT_EQ(cache.lookup("one"), artifact);
  EXPECT_EQ(cache.lookup("two"), "other");
  EXPECT_EQ(open().lookup("one"), artifact) << "another process";
  store(cache, "one", "replaced");
  EXPECT_EQ(cache.lookup("one"), "replaced");
  EXPECT_EQ(files().size(), 2u) << "no temporary file is left";
}

TEST_F(ArtifactCacheTest, DamagedEntriesAreRemoved) {
  ArtifactCache cache = open();
  store(cache, "key", "artefact");
  std::string path = files().front(), whole = read(path);
  ASSERT_EQ(whole.size(), 8 + kTrailer);
  for (size_t length = 0; length < whole.size(); ++length) {
    write(path, llvm::StringRef(whole).take_front(length));
    EXPECT_FALSE(cache.lookup("key")) << length;
    EXPECT_TRUE(files().empty()) << length;
  }
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] ^= 1 << (bit % 8);
    write(path, flipped);
    EXPECT_FALSE(cache.lookup("key")) << bit;
  }
  write(path, whole + "x");
  EXPECT_FALSE(cache.lookup("key"));
  write(path, whole);
  EXPECT_EQ(cache.lookup("key"), "artefact");
  // Whole, but another's.
  store(cache, "other", "thing");
  for (const std::string &file : files())
    if (file != path)
      ASSERT_FALSE(fs::rename(file, path));
  EXPECT_FALSE(cache.lookup("key"));
}

TEST_F(ArtifactCacheTest, RemovesTheOldest) {
  // Room for two entries of 100 bytes and their trailers.
  uint64_t entry = 100 + kTrailer;
  ArtifactCache cache = open(2 * entry);
  std::string artifact(100, 'a');
  store(cache, "one", artifact);
  std::string one = files().front();
  store(cache, "two", artifact);
  for (const std::string &file : files())
    setAge(file, std::chrono::seconds(file == one ? 50 : 20));
  EXPECT_TRUE(cache.lookup("one")) << "now it was used last";
  store(cache, "three", artifact);
  EXPECT_TRUE(cache.lookup("one"));
  EXPECT_FALSE(cache.lookup("two"));
  EXPECT_TRUE(cache.lookup("three"));
  // What alone is too large is never kept, and nothing goes for it.
  store(cache, "large", std::string(2 * entry, 'b'));
  EXPECT_FALSE(cache.lookup("large"));
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(ArtifactCacheTest, TouchesNothingElse) {
  ArtifactCache cache = open(100 + kTrailer);
  write(folder() + "/library.so", std::string(1000, 'x'));
  write(folder() + "/ended.tmp", "x");
  write(folder() + "/running.tmp", "x");
  setAge(folder() + "/ended.tmp", std::chrono::hours(2));
  store(cache, "key", std::string(100, 'a'));
  EXPECT_TRUE(cache.lookup("key"));
  EXPECT_TRUE(fs::exists(folder() + "/library.so"));
  EXPECT_TRUE(fs::exists(folder() + "/running.tmp"));
  EXPECT_FALSE(fs::exists(folder() + "/ended.tmp"));
}

TEST_F(ArtifactCacheTest, ManyAtOnce) {
  // Writers of one key with contents of their own, beside readers and damage:
  // what is read is always one of the whole contents.
  auto content = [](int i) { return std::string(1000 + i, char('a' + i)); };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      ArtifactCache cache = open(10000);
      for (int round = 0; round < 100; ++round) {
        store(cache, "key", content(i));
        if (std::optional<std::string> read = cache.lookup("key"))
          EXPECT_TRUE(*read == content(0) || *read == content(1) ||
                      *read == content(2));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(open().lookup("key"));
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(ArtifactCacheTest, KeysTellCompilationsApart) {
  ArtifactOptions options;
  std::vector<std::string> keys = {ArtifactCache::key("graph", options),
                                   ArtifactCache::key("graph ", options),
                                   ArtifactCache::key("", options)};
  auto add = [&](const std::function<void(ArtifactOptions &)> &edit) {
    ArtifactOptions edited;
    edit(edited);
    keys.push_back(ArtifactCache::key("graph", edited));
  };
  add([](ArtifactOptions &o) { o.target = "other"; });
  add([](ArtifactOptions &o) { o.entry = "f"; });
  add([](ArtifactOptions &o) { o.optimizer = "f"; });
  add([](ArtifactOptions &o) { o.optimizer = "adam"; });
  add([](ArtifactOptions &o) { o.cpu = "x86-64-v3"; });
  add([](ArtifactOptions &o) { o.features = "+avx2"; });
  add([](ArtifactOptions &o) { o.alignment = 128; });
  add([](ArtifactOptions &o) { o.optimizationLevel = 1; });
  std::set<std::string> different(keys.begin(), keys.end());
  EXPECT_EQ(different.size(), keys.size());
  for (const std::string &key : keys)
    EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
  options.threads = 7;
  EXPECT_EQ(ArtifactCache::key("graph", options), keys.front());
}

TEST_F(ArtifactCacheTest, UnwritableFolder) {
  write((root + "/file").str(), "x");
  llvm::Expected<ArtifactCache> cache =
      ArtifactCache::open((root + "/file/cache").str());
  ASSERT_FALSE(bool(cache));
  EXPECT_NE(llvm::toString(cache.takeError()).find("can't make the cache"),
            std::string::npos);
  ArtifactCache removed = open();
  fs::remove_directories(folder());
  EXPECT_FALSE(removed.lookup("key"));
  llvm::Error error = removed.store("key", "artefact");
  ASSERT_TRUE(bool(error));
  EXPECT_NE(llvm::toString(std::move(error)).find("can't write to the cache"),
            std::string::npos);
}

} // namespace

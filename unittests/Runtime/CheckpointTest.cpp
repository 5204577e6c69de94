//===- CheckpointTest.cpp - Saving and resuming ---------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestArtifact.h"
#include "echo_runtime.hpp"

#include "gtest/gtest.h"

#include <csignal>
#include <filesystem>
#include <sys/resource.h>
#include <zip.h>

using namespace echo;
using namespace echo::test;
using runtime::Session;

namespace {

class CheckpointTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    folder = new Folder;
    compileStep(folder->path("step.so"));
  }
  static void TearDownTestSuite() { delete folder; }
  static std::string step() { return folder->path("step.so"); }

  static Folder *folder;
};
Folder *CheckpointTest::folder = nullptr;

/// Everything persistent, as bytes.
std::string stateOf(const Session &session) {
  std::string state;
  for (const char *name : {"w", "b", "count"})
    for (char byte : session.get<char>(name))
      state.push_back(byte);
  return state;
}

std::string errorOfLoading(Session &session, const std::string &path,
                           echo_status status) {
  echo_status found = echo_session_load(session.handle(), path.c_str());
  EXPECT_EQ(found, status) << path << ": " << echo_last_error();
  return found == ECHO_OK ? "" : echo_last_error();
}

/// A session with inputs and two steps behind it.
Session trained(const std::string &path) {
  Session session(path);
  session.initialize(1);
  session.step();
  session.step();
  return session;
}

TEST_F(CheckpointTest, ResumedEqualsUninterrupted) {
  std::string path = folder->path("resume.npz");
  Session whole = trained(step());
  whole.save(path);
  for (int i = 0; i < 3; ++i)
    whole.step();
  Session resumed(step());
  resumed.initialize(1);
  resumed.load(path);
  for (int i = 0; i < 3; ++i)
    resumed.step();
  EXPECT_EQ(stateOf(resumed), stateOf(whole));
  EXPECT_EQ(resumed.get<float>("loss"), whole.get<float>("loss"));
  EXPECT_EQ(resumed.get<int64_t>("count")[0], 5);
  EXPECT_EQ(resumed.statistics().steps, 3u);
  EXPECT_EQ(resumed.statistics().training_steps, 5u);
  EXPECT_EQ(whole.statistics().training_steps, 5u);
  whole.save(path);
  resumed.save(folder->path("resumed.npz"));
  EXPECT_EQ(read(folder->path("resumed.npz")), read(path));
  resumed.initialize(1);
  EXPECT_EQ(resumed.statistics().training_steps, 0u);
}

TEST_F(CheckpointTest, LoadingGivesValues) {
  std::string path = folder->path("values.npz");
  trained(step()).save(path);
  Session session(step());
  session.load(path);
  session.set("x", std::vector<float>(12));
  session.set("t", std::vector<float>(8));
  session.setScalar("rate", 0.0f);
  session.step();
  EXPECT_EQ(session.get<int64_t>("count")[0], 3);
}

TEST_F(CheckpointTest, TruncatedAtEveryLength) {
  std::string path = folder->path("truncated.npz");
  Session session = trained(step());
  session.save(path);
  std::string whole = read(path);
  session.step();
  std::string before = stateOf(session);
  for (size_t length = 0; length < whole.size(); ++length) {
    write(path, whole.substr(0, length));
    EXPECT_NE(errorOfLoading(session, path, ECHO_IO_ERROR), "");
    ASSERT_EQ(stateOf(session), before) << length;
  }
  write(path, whole);
  session.load(path);
  EXPECT_EQ(session.get<int64_t>("count")[0], 2);
}

TEST_F(CheckpointTest, DamagedDataChangesNothing) {
  std::string path = folder->path("damaged.npz");
  Session session = trained(step());
  session.save(path);
  std::string whole = read(path);
  std::string before = stateOf(session);
  // Every byte of every array is under its entry's checksum; "count" is the
  // last of them.
  size_t data = whole.find(std::string("\2\0\0\0\0\0\0\0", 8));
  ASSERT_NE(data, std::string::npos);
  whole[data] = 3;
  write(path, whole);
  EXPECT_NE(errorOfLoading(session, path, ECHO_IO_ERROR).find("'count'"),
            std::string::npos);
  EXPECT_EQ(stateOf(session), before);
}

TEST_F(CheckpointTest, OtherShapesAndMissingArrays) {
  std::string path = folder->path("other.npz");
  trained(step()).save(path);

  Program program = makeStepProgram();
  program.tensors[3].shape = {kOut, kIn};
  compileStep(folder->path("other.so"), program);
  Session other(folder->path("other.so"));
  other.initialize(3);
  std::string before = stateOf(other);
  std::string error = errorOfLoading(other, path, ECHO_INVALID_ARGUMENT);
  EXPECT_NE(error.find("array 'w': expected f32[2x3], found shape [3x2]"),
            std::string::npos)
      << error;
  EXPECT_EQ(stateOf(other), before);

  program = makeStepProgram();
  program.tensors[5].name = "steps";
  compileStep(folder->path("renamed.so"), program);
  Session renamed(folder->path("renamed.so"));
  error = errorOfLoading(renamed, path, ECHO_INVALID_ARGUMENT);
  EXPECT_NE(error.find("array 'steps': is missing"), std::string::npos)
      << error;
}

TEST_F(CheckpointTest, DeflatedArchives) {
  // numpy.savez_compressed deflates.
  std::string path = folder->path("deflated.npz");
  Session session = trained(step());
  session.save(path);
  std::string before = stateOf(session);
  zip_t *zip = zip_open(path.c_str(), 0, nullptr);
  ASSERT_NE(zip, nullptr);
  for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); ++i)
    ASSERT_EQ(zip_set_file_compression(zip, i, ZIP_CM_DEFLATE, 9), 0);
  ASSERT_EQ(zip_close(zip), 0);
  session.step();
  EXPECT_NE(stateOf(session), before);
  session.load(path);
  EXPECT_EQ(stateOf(session), before);
}

TEST_F(CheckpointTest, FailedSavesLeaveTheEarlierFile) {
  Session session = trained(step());
  std::string path = folder->path("no-such-folder/x.npz");
  EXPECT_EQ(echo_session_save(session.handle(), path.c_str()), ECHO_IO_ERROR);
  EXPECT_NE(std::string(echo_last_error()).find(path), std::string::npos);

  // A folder in the target's place.
  std::filesystem::create_directory(folder->path("folder.npz"));
  EXPECT_EQ(
      echo_session_save(session.handle(), folder->path("folder.npz").c_str()),
      ECHO_IO_ERROR);
  EXPECT_TRUE(std::filesystem::is_directory(folder->path("folder.npz")));
}

TEST_F(CheckpointTest, FullDisk) {
  // A limit on the size of files stands for it.
  std::string path = folder->path("full.npz");
  Session session = trained(step());
  session.save(path);
  std::string whole = read(path);
  session.step();
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_EQ(echo_session_save(session.handle(), path.c_str()), ECHO_IO_ERROR);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(read(path), whole);
  for (const auto &entry :
       std::filesystem::directory_iterator(folder->path("")))
    EXPECT_EQ(entry.path().string().find("full.npz.tmp"), std::string::npos);
}

TEST_F(CheckpointTest, NotAnArchive) {
  Session session = trained(step());
  std::string before = stateOf(session);
  std::string path = folder->path("text.npz");
  write(path, "this is text");
  EXPECT_NE(errorOfLoading(session, path, ECHO_IO_ERROR).find(path),
            std::string::npos);
  EXPECT_NE(errorOfLoading(session, folder->path("absent.npz"), ECHO_IO_ERROR)
                .find("absent.npz"),
            std::string::npos);
  EXPECT_EQ(stateOf(session), before);
}

} // namespace

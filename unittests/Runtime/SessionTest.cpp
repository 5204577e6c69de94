//===- SessionTest.cpp - Sessions on a hand-written artefact --------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SessionTesting.h"
#include "TestArtifact.h"
#include "echo_runtime.hpp"

#include "gtest/gtest.h"

#include <cstring>
#include <filesystem>
#include <thread>

using namespace echo;
using namespace echo::test;
using runtime::Session;

namespace {

/// One compiled step for all tests of this file.
class SessionTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    folder = new Folder;
    compileStep(folder->path("step.so"));
  }
  static void TearDownTestSuite() { delete folder; }
  static std::string step() { return folder->path("step.so"); }

  static Folder *folder;
};
Folder *SessionTest::folder = nullptr;

/// The step of TestArtifact.h as plain loops.
struct Reference {
  std::vector<float> x, t, w, b, y = std::vector<float>(kRows * kOut);
  float rate, loss = 0;
  int64_t count = 0;

  void step() {
    loss = 0;
    std::vector<float> d(y.size());
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kOut; ++j) {
        float sum = 0;
        for (int k = 0; k < kIn; ++k)
          sum += x[i * kIn + k] * w[k * kOut + j];
        y[i * kOut + j] = d[i * kOut + j] = sum + b[j] - t[i * kOut + j];
        loss += d[i * kOut + j] * d[i * kOut + j];
      }
    for (int j = 0; j < kOut; ++j) {
      float sum = 0;
      for (int i = 0; i < kRows; ++i)
        sum += d[i * kOut + j];
      b[j] -= rate * sum;
      for (int k = 0; k < kIn; ++k) {
        float gradient = 0;
        for (int i = 0; i < kRows; ++i)
          gradient += x[i * kIn + k] * d[i * kOut + j];
        w[k * kOut + j] -= rate * gradient;
      }
    }
    ++count;
  }
};

Reference referenceOf(const Session &session) {
  Reference reference;
  reference.x = session.get<float>("x");
  reference.t = session.get<float>("t");
  reference.w = session.get<float>("w");
  reference.b = session.get<float>("b");
  reference.rate = session.get<float>("rate")[0];
  return reference;
}

TEST_F(SessionTest, Version) { EXPECT_STREQ(echo_runtime_version(), "0.1.0"); }

TEST_F(SessionTest, Tensors) {
  Session session(step());
  std::vector<echo_tensor_info> tensors = session.tensors();
  ASSERT_EQ(tensors.size(), 8u);
  EXPECT_STREQ(tensors[3].name, "w");
  EXPECT_EQ(tensors[3].role, ECHO_ROLE_PARAMETER);
  EXPECT_EQ(tensors[3].type, ECHO_F32);
  EXPECT_EQ(tensors[3].rank, 2);
  EXPECT_EQ(tensors[3].shape[0], kIn);
  EXPECT_EQ(tensors[3].shape[1], kOut);
  EXPECT_EQ(tensors[3].bytes, 24u);
  EXPECT_EQ(tensors[6].is_loss, 1);
  EXPECT_EQ(tensors[7].is_loss, 0);
  EXPECT_EQ(tensors[5].type, ECHO_I64);
  EXPECT_FALSE(session.has("v"));
  EXPECT_EQ(echo_session_find_tensor(session.handle(), "loss"), 6);
}

TEST_F(SessionTest, StepsAgreeWithLoops) {
  for (int threads : {1, 2, 5}) {
    Session session(step(), threads);
    session.initialize(7);
    Reference reference = referenceOf(session);
    for (int i = 1; i <= 4; ++i) {
      session.step();
      reference.step();
      EXPECT_NEAR(session.get<float>("loss")[0], reference.loss,
                  1e-5 * reference.loss);
      EXPECT_EQ(session.get<int64_t>("count")[0], i);
    }
    std::vector<float> w = session.get<float>("w"), b = session.get<float>("b"),
                       y = session.get<float>("y");
    for (size_t i = 0; i < w.size(); ++i)
      EXPECT_NEAR(w[i], reference.w[i], 1e-5);
    for (size_t i = 0; i < b.size(); ++i)
      EXPECT_NEAR(b[i], reference.b[i], 1e-5);
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_NEAR(y[i], reference.y[i], 1e-5);
  }
}

TEST_F(SessionTest, ThreadsGiveTheSameBits) {
  std::vector<float> expected;
  for (int threads : {1, 2, 3, 8}) {
    Session session(step(), threads);
    session.initialize(3);
    for (int i = 0; i < 5; ++i)
      session.step();
    if (expected.empty())
      expected = session.get<float>("w");
    EXPECT_EQ(session.get<float>("w"), expected);
  }
}

TEST_F(SessionTest, InputsKeepTheirValues) {
  // The arena's x is not what the next step reads, the caller's is.
  Session session(step());
  session.initialize(1);
  std::vector<float> x(kRows * kIn, 0.5f);
  session.set("x", x);
  session.step();
  session.step();
  EXPECT_EQ(session.get<float>("x"), x);
  session.initialize(2);
  EXPECT_EQ(session.get<float>("x"), x) << "given inputs are not drawn again";
}

TEST_F(SessionTest, InitialValues) {
  Session session(step());
  session.initialize(11);
  EXPECT_EQ(session.get<float>("b"), (std::vector<float>{0.25, 0.25}));
  EXPECT_EQ(session.get<float>("rate"), (std::vector<float>{0.0625}));
  EXPECT_EQ(session.get<int64_t>("count"), (std::vector<int64_t>{0}));
  std::vector<float> w = session.get<float>("w");
  for (float value : w) {
    EXPECT_GE(value, -0.5f);
    EXPECT_LT(value, 0.5f);
  }
  session.step();
  session.initialize(11);
  EXPECT_EQ(session.get<float>("w"), w);
  session.initialize(12);
  EXPECT_NE(session.get<float>("w"), w);
}

TEST_F(SessionTest, MissingValuesAreNamed) {
  Session session(step());
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "input 'x' f32[4x3] has no value",
               session.step());
  session.set("x", std::vector<float>(12));
  session.set("t", std::vector<float>(8));
  session.setScalar("rate", 0.5f);
  session.set("w", std::vector<float>(6));
  session.set("b", std::vector<float>(2));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "state 'count' i64[] has no value",
               session.step());
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "'count'",
               session.save(folder->path("no.npz")));
  EXPECT_FALSE(std::filesystem::exists(folder->path("no.npz")));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "no step was run",
               session.get<float>("loss"));
  session.setScalar("count", int64_t(41));
  session.step();
  EXPECT_EQ(session.get<int64_t>("count")[0], 42);
}

TEST_F(SessionTest, BadArguments) {
  Session session(step());
  float value = 0;
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "no tensor 'v'",
               session.set("v", &value, 4));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "expected 24 bytes, got 4",
               session.set("w", &value, 4));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "data is NULL",
               session.set("w", nullptr, 24));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "can't be set",
               session.set("loss", &value, 4));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "expected a parameter or state",
               session.data("x"));
  echo_session *handle = session.handle();
  echo_tensor_info info;
  EXPECT_EQ(echo_session_tensor_info(handle, 8, &info), ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(echo_session_tensor_info(handle, -1, &info), ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(echo_session_tensor_info(handle, 0, nullptr),
            ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(echo_session_set(handle, nullptr, &value, 4),
            ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(echo_session_step(nullptr), ECHO_INVALID_ARGUMENT);
  EXPECT_STREQ(echo_last_error(), "session is NULL");
  EXPECT_EQ(echo_session_share(handle, nullptr, nullptr),
            ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(echo_session_save(handle, nullptr), ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(echo_session_open(nullptr, nullptr, &handle),
            ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(echo_session_open("x", nullptr, nullptr), ECHO_INVALID_ARGUMENT);
  echo_session_options options{};
  options.struct_size = 3;
  EXPECT_EQ(echo_session_open(step().c_str(), &options, &handle),
            ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(echo_session_num_tensors(nullptr), 0);
  EXPECT_EQ(echo_session_find_tensor(nullptr, "w"), -1);
  EXPECT_EQ(echo_session_find_tensor(handle, nullptr), -1);
  echo_session_close(nullptr);
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "threads is -1", Session(step(), -1));
}

TEST_F(SessionTest, OptionsOfOtherVersions) {
  // The first version's struct: what follows isn't read.
  struct {
    size_t struct_size;
    int32_t threads;
    int32_t padding;
    const char *device;
  } old{16, 1, -1, reinterpret_cast<const char *>(1)};
  echo_session *handle = nullptr;
  auto open = [&](void *options) {
    echo_status status =
        echo_session_open(step().c_str(),
                          static_cast<echo_session_options *>(options),
                          &handle);
    echo_session_close(handle);
    return status;
  };
  EXPECT_EQ(open(&old), ECHO_OK) << echo_last_error();
  // One that knows more: an error if it says more.
  struct {
    echo_session_options options;
    uint64_t more;
  } later{};
  later.options.struct_size = sizeof(later);
  EXPECT_EQ(open(&later), ECHO_OK) << echo_last_error();
  later.more = 1;
  EXPECT_EQ(open(&later), ECHO_INVALID_ARGUMENT);
}

TEST_F(SessionTest, Devices) {
  EXPECT_STREQ(Session(step()).statistics().device, "cpu");
  EXPECT_STREQ(Session(step(), 1, "cpu").statistics().device, "cpu");
  EXPECT_EQ(Session(step()).statistics().device_total_bytes, 0u);
  for (const char *device : {"CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:1x",
                             "cuda:99999999999", "gpu", "sim:0"})
    EXPECT_ERROR(ECHO_INVALID_ARGUMENT,
                 std::string("unknown device '") + device,
                 Session(step(), 1, device));
  for (const char *device : {"sim", "cuda", "cuda:0"})
    EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "is compiled for 'cpu'",
                 Session(step(), 1, device));
}

TEST_F(SessionTest, LastErrorIsPerThread) {
  Session session(step());
  EXPECT_EQ(echo_session_step(nullptr), ECHO_INVALID_ARGUMENT);
  std::string other = "unset";
  std::thread([&] { other = echo_last_error(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_STREQ(echo_last_error(), "session is NULL");
}

TEST_F(SessionTest, DataAndBind) {
  Session session(step());
  session.initialize(5);
  auto *w = static_cast<float *>(session.data("w"));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(w) % 64, 0u);
  EXPECT_EQ(session.get<float>("w")[1], w[1]);
  w[1] = 9;
  EXPECT_EQ(session.get<float>("w")[1], 9);

  session.step();
  alignas(64) float memory[6] = {1, 2, 3, 4, 5, 6};
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "isn't aligned",
               session.bind("w", memory + 1, 24));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "data is NULL",
               session.bind("w", nullptr, 24));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "expected 24 bytes",
               session.bind("w", memory, 20));
  session.bind("w", memory, 24);
  EXPECT_EQ(session.data("w"), memory);
  Reference reference = referenceOf(session);
  EXPECT_EQ(reference.w[5], 6);
  session.step();
  reference.step();
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(memory[i], reference.w[i], 1e-5);
}

TEST_F(SessionTest, Share) {
  auto first = std::make_unique<Session>(step());
  Session second(step());
  first->initialize(1);
  second.initialize(2);
  first->step();
  EXPECT_EQ(second.share(*first), 3);
  EXPECT_EQ(second.data("w"), first->data("w"));
  EXPECT_EQ(second.get<int64_t>("count")[0], 1);
  second.step();
  EXPECT_EQ(first->get<int64_t>("count")[0], 2);
  EXPECT_EQ(first->get<float>("w"), second.get<float>("w"));
  // What is shared lives as long as one of them.
  std::vector<float> w = first->get<float>("w");
  first.reset();
  EXPECT_EQ(second.get<float>("w"), w);
  second.step();
  EXPECT_EQ(second.get<int64_t>("count")[0], 3);
  EXPECT_EQ(second.share(second), 3);
}

TEST_F(SessionTest, ShareRefusesOtherShapes) {
  Program other = makeStepProgram();
  // The same bytes in another shape.
  other.tensors[3].shape = {kOut, kIn};
  compileStep(folder->path("other.so"), other);
  Session first(step()), second(folder->path("other.so"));
  first.initialize(1);
  second.initialize(2);
  void *before = second.data("b");
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT,
               "can't share parameter 'w' f32[2x3] with parameter 'w' f32[3x2]",
               second.share(first));
  EXPECT_EQ(second.data("b"), before);
}

TEST_F(SessionTest, Statistics) {
  Session session(step());
  session.initialize(1);
  echo_statistics statistics = session.statistics();
  EXPECT_EQ(statistics.steps, 0u);
  EXPECT_EQ(statistics.arena_bytes, 384u);
  EXPECT_EQ(statistics.logical_peak_bytes, 144u);
  EXPECT_EQ(statistics.persistent_bytes, 24u + 8u + 8u);
  EXPECT_EQ(statistics.calls, 5u);
  session.step();
  // The first step fixes the addresses and allocates for that.
  EXPECT_GT(session.statistics().last_step_allocations, 0u);
  session.step();
  statistics = session.statistics();
  EXPECT_EQ(statistics.last_step_allocations, 0u);
  EXPECT_EQ(statistics.steps, 2u);
  EXPECT_GT(statistics.last_step_seconds, 0);
  EXPECT_GE(statistics.total_step_seconds, statistics.last_step_seconds);

  // A caller with a shorter struct gets what it has room for.
  struct {
    echo_statistics statistics;
  } narrow;
  std::memset(&narrow, 0xff, sizeof(narrow));
  narrow.statistics.struct_size = offsetof(echo_statistics, arena_bytes);
  EXPECT_EQ(echo_session_statistics(session.handle(), &narrow.statistics),
            ECHO_OK);
  EXPECT_EQ(narrow.statistics.steps, 2u);
  EXPECT_EQ(narrow.statistics.arena_bytes, UINT64_MAX);
  narrow.statistics.struct_size = 0;
  EXPECT_EQ(echo_session_statistics(session.handle(), &narrow.statistics),
            ECHO_INVALID_ARGUMENT);
}

TEST(Copies, OfAllSizes) {
  // Also over several chunks of 256 KiB with a rest, and none at all.
  Folder folder;
  for (int64_t count : {0, 1, 1000, 65536, 300001}) {
    uint64_t bytes = count * sizeof(float);
    uint64_t offset = (bytes + 63) / 64 * 64;
    Program program;
    program.function = "copy";
    program.target = "cpu";
    program.arenaBytes = 2 * offset;
    program.strings = {"", "copy"};
    program.tensors = {
        {"x", Role::Input, DataType::F32, {count}, bytes, {0, 0}, {}, false},
        {"y", Role::Result, DataType::F32, {count}, bytes, {0, offset}, {},
         false}};
    program.operands = {{0, 0}, {0, offset}};
    program.parameters = {static_cast<int64_t>(bytes)};
    program.calls = {{CallKind::Copy, 0, 0, 0, 2, 0, 1, 0, 1, 1, 0, 2 * bytes}};
    std::string path = folder.path(std::to_string(count) + ".so");
    compileArtifact(path, "", program.serialize());
    Session session(path, 2);
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(i);
    session.set("x", values);
    session.step();
    EXPECT_EQ(session.get<float>("y"), values) << count;
  }
}

TEST_F(SessionTest, Profile) {
  Session session(step(), 2);
  session.initialize(1);
  session.step();
  EXPECT_THROW(session.profile(), runtime::Error) << "it was never on";
  session.setProfiling(true);
  for (const echo_profile_entry &entry : session.profile())
    EXPECT_EQ(entry.runs, 0u);
  for (int i = 0; i < 3; ++i)
    session.step();
  session.setProfiling(false);
  session.step();
  std::vector<echo_profile_entry> entries = session.profile();
  ASSERT_EQ(entries.size(), 5u);
  double end = 0, seconds = 0;
  for (const echo_profile_entry &entry : entries) {
    EXPECT_STREQ(entry.layer, "regression");
    EXPECT_EQ(entry.runs, 3u);
    EXPECT_GE(entry.last_seconds, 0);
    EXPECT_GE(entry.seconds, entry.last_seconds);
    // A call begins where the one before it ended, but for rounding.
    EXPECT_NEAR(entry.last_begin, end, 1e-12);
    end = entry.last_begin + entry.last_seconds;
    seconds += entry.seconds;
  }
  EXPECT_LE(seconds, session.statistics().total_step_seconds);
  EXPECT_EQ(entries[0].kind, ECHO_CALL_GEMM);
  EXPECT_STREQ(entries[0].name, "gemm");
  EXPECT_EQ(entries[0].flops, 56u);
  EXPECT_EQ(entries[0].bytes, 112u);
  EXPECT_EQ(entries[1].kind, ECHO_CALL_KERNEL);
  EXPECT_STREQ(entries[1].name, "difference");
  EXPECT_STREQ(entries[1].op, "sub+mul+reduce");
  EXPECT_EQ(entries[4].bytes, 16u);

  // Switched on again, everything starts from zero.
  session.setProfiling(true);
  session.setProfiling(true);
  session.step();
  EXPECT_EQ(session.profile()[3].runs, 1u);

  echo_profile_entry entry{};
  entry.struct_size = sizeof(entry);
  EXPECT_EQ(echo_session_profile_entry(session.handle(), 5, &entry),
            ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(echo_session_profile_entry(session.handle(), 0, nullptr),
            ECHO_INVALID_ARGUMENT);
  entry.struct_size = 8;
  EXPECT_EQ(echo_session_profile_entry(session.handle(), 0, &entry),
            ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(echo_session_set_profiling(nullptr, 1), ECHO_INVALID_ARGUMENT);
}

TEST(MachineRates, AreMeasured) {
  echo_machine_rates rates = runtime::measureMachine(1);
  EXPECT_EQ(rates.threads, 1);
  EXPECT_GT(rates.memory_bytes_per_second, 0);
  EXPECT_GT(rates.cache_bytes_per_second, 0);
  EXPECT_GT(rates.gemm_flops_per_second, 0);
  EXPECT_EQ(echo_measure_machine(-1, &rates), ECHO_INVALID_ARGUMENT);
  EXPECT_EQ(echo_measure_machine(1, nullptr), ECHO_INVALID_ARGUMENT);
  rates.struct_size = 4;
  EXPECT_EQ(echo_measure_machine(1, &rates), ECHO_INVALID_ARGUMENT);
}

TEST_F(SessionTest, Move) {
  Session first(step());
  first.initialize(1);
  Session second(std::move(first));
  second.step();
  EXPECT_EQ(second.statistics().steps, 1u);
}

TEST_F(SessionTest, ConcurrentSessions) {
  // Sessions of one artefact on threads of their own.
  Session expected(step(), 1);
  expected.initialize(4);
  for (int i = 0; i < 50; ++i)
    expected.step();
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (auto &result : results)
    threads.emplace_back([&result] {
      Session session(step(), 2);
      session.initialize(4);
      for (int i = 0; i < 50; ++i)
        session.step();
      result = session.get<float>("w");
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &result : results)
    EXPECT_EQ(result, expected.get<float>("w"));
}

} // namespace

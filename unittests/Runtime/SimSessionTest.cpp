//===- SimSessionTest.cpp - Sessions on the simulated GPU -----------------===//
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

#include <cmath>
#include <cstdlib>
#include <fstream>

using namespace echo;
using namespace echo::test;
using runtime::Session;

namespace {

class SimSession : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    folder = new Folder;
    compileStep(folder->path("cpu.so"));
    compileGpuStep(*folder, folder->path("gpu.so"));
  }
  static void TearDownTestSuite() { delete folder; }

  static Folder *folder;
};
Folder *SimSession::folder = nullptr;

TEST_F(SimSession, GivesTheBitsOfTheCPU) {
  Session expected(folder->path("cpu.so"));
  expected.initialize(7);
  for (int i = 0; i < 3; ++i)
    expected.step();
  for (bool isReverse : {false, true}) {
    echo_session_options options{};
    options.reverse_order = isReverse;
    Session session(folder->path("gpu.so"), options);
    EXPECT_STREQ(session.statistics().device, "sim");
    session.initialize(7);
    for (int i = 0; i < 3; ++i)
      session.step();
    for (const char *name : {"w", "b", "loss", "y"})
      EXPECT_EQ(session.get<float>(name), expected.get<float>(name)) << name;
    EXPECT_EQ(session.get<int64_t>("count")[0], 3);
  }
}

TEST_F(SimSession, OrderOfTheEnvironment) {
  // A kernel that depends on the order: the last thread's value stays.
  Program program = makeGpuStepProgram();
  program.calls = {program.calls[3]};
  program.kernels.resize(2);
  const char *source = R"(
#include "sim/Device.h"
const struct echo_sim_functions *echo_sim_functions;
static void nothing(void **arguments) {}
static void update(void **arguments) {
  **(float **)arguments[1] = echo_sim_functions->block_id(0);
}
const struct echo_sim_kernel echo_sim_kernels[] = {
    {"difference", nothing, 0, 0}, {"update", update, 0, 0}};
const uint64_t echo_sim_num_kernels = 2;
)";
  std::string path = folder->path("order.so");
  compileGpuArtifact(
      path, program,
      {{"sim", ImageKind::HostObject, compileHostObject(*folder, source)}});
  auto run = [&](const echo_session_options &options) {
    Session session(path, options);
    session.initialize(1);
    session.step();
    return session.get<float>("b")[0];
  };
  echo_session_options options{};
  EXPECT_EQ(run(options), kOut - 1);
  setenv("ECHO_SIM_ORDER", "reverse", 1);
  EXPECT_EQ(run(options), 0);
  setenv("ECHO_SIM_ORDER", "backward", 1);
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT,
               "ECHO_SIM_ORDER: expected 'reverse', found 'backward'",
               run(options));
  unsetenv("ECHO_SIM_ORDER");
  options.reverse_order = 1;
  EXPECT_EQ(run(options), 0);
}

TEST_F(SimSession, FaultsAreErrorsOfTheStep) {
  const char *expected[] = {
      "block (0, 0, 0), thread (0, 0, 0): out of bounds: writes 4 bytes at",
      "race: ", "thread (0, 0, 0): write to read-only memory",
      "divergent barrier: 7 threads are at a barrier, 1 have exited"};
  for (int fault = 1; fault <= 4; ++fault) {
    std::string path = folder->path("fault" + std::to_string(fault) + ".so");
    compileGpuStep(*folder, path, fault);
    Session session(path);
    session.initialize(1);
    std::string error = errorOf([&] { session.step(); }, ECHO_DEVICE_ERROR);
    EXPECT_EQ(error.find("call 1 (difference at regression): kernel "
                         "'difference', block (0, 0, 0)"),
              0u)
        << error;
    EXPECT_NE(error.find(expected[fault - 1]), std::string::npos) << error;
    // Nothing half-way: no value, and the next step says so.
    EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "has no value",
                 session.get<float>("w"));
    EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "the last one failed",
                 session.get<float>("loss"));
    EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "'w' f32[3x2] has no value",
                 session.step());
    EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "has no value",
                 session.save(folder->path("no.npz")));
    session.initialize(1);
    EXPECT_EQ(session.get<float>("b")[0], 0.25f);
    EXPECT_ERROR(ECHO_DEVICE_ERROR, "difference", session.step());
    EXPECT_EQ(session.statistics().steps, 0u);
  }
}

TEST_F(SimSession, SeveralSteps) {
  // Each has its own kernels, however many are open.
  std::string path = folder->path("another.so");
  compileGpuStep(*folder, path, /*fault=*/4);
  Session first(folder->path("gpu.so")), second(path),
      third(folder->path("gpu.so"));
  Session expected(folder->path("cpu.so"));
  for (Session *session : {&expected, &first, &second, &third})
    session->initialize(7);
  expected.step();
  EXPECT_ERROR(ECHO_DEVICE_ERROR, "divergent barrier", second.step());
  for (Session *session : {&first, &third}) {
    session->step();
    EXPECT_EQ(session->get<float>("w"), expected.get<float>("w"));
  }
}

TEST_F(SimSession, RacesCanBeLeftOut) {
  std::string path = folder->path("race.so");
  compileGpuStep(*folder, path, 2);
  setenv("ECHO_SIM_RACES", "off", 1);
  Session session(path);
  unsetenv("ECHO_SIM_RACES");
  session.initialize(1);
  session.step();
  EXPECT_EQ(session.statistics().steps, 1u);
}

TEST_F(SimSession, Traffic) {
  std::string path = folder->path("traffic.tsv");
  setenv("ECHO_SIM_TRAFFIC", path.c_str(), 1);
  Session session(folder->path("gpu.so"));
  unsetenv("ECHO_SIM_TRAFFIC");
  session.initialize(1);
  session.step();
  session.step();
  // The last step's launches.
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "kernel\top\tlayer\tblocks\tthreads\tloads.accesses\t"
                  "loads.bytes\tloads.sectors\tloads.least\t"
                  "stores.accesses\tstores.bytes\tstores.sectors\t"
                  "stores.least");
  // 8 threads read y and t, and write d over y; one of them writes the loss.
  std::getline(file, line);
  EXPECT_EQ(line, "difference\tsub+mul+reduce\tregression\t1\t8\t16\t64\t2\t64"
                  "\t9\t36\t2\t36");
  std::vector<std::string> others;
  while (std::getline(file, line))
    others.push_back(line.substr(0, line.find('\t')));
  EXPECT_EQ(others, (std::vector<std::string>{"update", "count"}));
}

TEST_F(SimSession, TheArenaIsPoisoned) {
  // Without the product y is what the step before left, or what was poisoned.
  Program program = makeGpuStepProgram();
  program.calls.erase(program.calls.begin());
  std::string path = folder->path("poisoned.so");
  compileGpuStep(*folder, path, 0, program);
  Session session(path);
  session.initialize(1);
  for (int i = 0; i < 2; ++i) {
    session.step();
    EXPECT_TRUE(std::isnan(session.get<float>("loss")[0]));
    session.initialize(1);
  }
}

TEST_F(SimSession, HostMemory) {
  // All of the C ABI works as on the CPU, and sessions of both share a model.
  Session cpu(folder->path("cpu.so")), sim(folder->path("gpu.so"));
  cpu.initialize(3);
  EXPECT_EQ(sim.share(cpu), 3);
  EXPECT_EQ(sim.data("w"), cpu.data("w"));
  sim.initialize(3);
  sim.step();
  EXPECT_EQ(cpu.get<int64_t>("count")[0], 1);
  alignas(64) float memory[6] = {1, 2, 3, 4, 5, 6};
  sim.bind("w", memory, 24);
  sim.step();
  EXPECT_NE(memory[0], 1);
  sim.save(folder->path("model.npz"));
  Session again(folder->path("gpu.so"));
  again.load(folder->path("model.npz"));
  EXPECT_EQ(again.get<float>("w"), (std::vector<float>(memory, memory + 6)));
}

TEST_F(SimSession, Profile) {
  Session session(folder->path("gpu.so"));
  session.initialize(1);
  session.setProfiling(true);
  session.step();
  std::vector<echo_profile_entry> entries = session.profile();
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_STREQ(entries[1].name, "difference");
  EXPECT_EQ(entries[1].runs, 1u);
  EXPECT_GT(entries[1].seconds, 0);
}

TEST_F(SimSession, EmptyGridIsNotLaunched) {
  Program program = makeGpuStepProgram();
  program.kernels[2].grid[0] = 0;
  std::string path = folder->path("empty.so");
  compileGpuStep(*folder, path, 0, program);
  Session session(path);
  session.initialize(1);
  session.step();
  EXPECT_EQ(session.get<int64_t>("count")[0], 0);
}

TEST_F(SimSession, ImagesThatDontFit) {
  std::string path = folder->path("bad.so");
  std::string object = compileHostObject(
      *folder, std::string("#define FAULT 0\n") + gpuStepKernels());
  auto expectError = [&](const std::string &text, const Program &program,
                         const std::vector<TestImage> &images) {
    compileGpuArtifact(path, program, images);
    EXPECT_ERROR(ECHO_INVALID_ARTIFACT, text, Session(path, 1, "sim"));
  };
  Program program = makeGpuStepProgram();
  auto host = ImageKind::HostObject;
  std::string ptx("// PTX\0", 7), cubin("\177ELF and more");
  expectError(
      "compiled for sm_80, sm_90 (PTX); the simulator needs --chip=sim", program,
      {{"sm_80", ImageKind::Cubin, cubin}, {"sm_90", ImageKind::PTX, ptx}});
  expectError("image for 'sm_90': expected a text", program,
              {{"sm_90", ImageKind::PTX, "no zero"}});
  expectError("image for 'sm_80': not a cubin", program,
              {{"sm_80", ImageKind::Cubin, "\177EL"}});
  expectError("image for 'sm_80': unknown kind 3", program,
              {{"sm_80", ImageKind(3), "text"}});
  expectError("image for 'sim': truncated shared object", program,
              {{"sim", host, object.substr(0, object.size() / 2)}});
  expectError("image for 'sim': not a shared object", program,
              {{"sim", host, "text"}});
  expectError("it has no image of its kernels", program, {});
  expectError("image for 'sim': no symbol echo_sim_functions", program,
              {{"sim", host, compileHostObject(*folder, "int a;")}});
  Program other = program;
  other.kernels[1].name = "updates";
  expectError("image for 'sim': no kernel 'updates'", other,
              {{"sim", host, object}});
  other = program;
  other.kernels[1].sharedBytes = 64;
  expectError("kernel 'update' takes dynamic shared memory", other,
              {{"sim", host, object}});
  // A program without kernels needs no image.
  other = program;
  other.kernels.clear();
  other.calls.resize(1);
  compileGpuArtifact(path, other, {});
  Session session(path, 1, "sim");
  session.initialize(1);
  session.step();
}

TEST_F(SimSession, OtherDevices) {
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT,
               "is compiled for 'cuda', which isn't what the device 'cpu' runs",
               Session(folder->path("gpu.so"), 1, "cpu"));
}

} // namespace

//===- CudaSessionTest.cpp - Sessions on the fake CUDA device -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTesting.h"

#include <thread>

using namespace echo;
using namespace echo::test;

namespace {

TEST_F(CudaSession, GivesTheBitsOfTheCPU) {
  Session session = open();
  EXPECT_STREQ(session.statistics().device, "cuda:0 Fake");
  session.initialize(7);
  for (int i = 1; i <= 4; ++i) {
    session.step();
    EXPECT_EQ(valuesOf(session), expectedValues(folder->path("cpu.so"), i));
    EXPECT_EQ(session.get<int64_t>("count")[0], i);
    // The first step isn't a graph, all others are.
    EXPECT_EQ(session.statistics().graph_steps, uint64_t(i - 1));
    EXPECT_EQ(fake->get("graph_launches"), i - 1);
  }
  // Two products each, one of them with a bias; three kernels.
  EXPECT_EQ(fake->get("products"), 8);
  EXPECT_EQ(fake->get("epilogues"), 4);
  EXPECT_EQ(fake->get("launches"), 12);
}

TEST_F(CudaSession, WithoutGraph) {
  echo_session_options options{};
  options.device = "cuda:0";
  options.without_graph = 1;
  Session session(gpu(), options);
  session.initialize(7);
  for (int i = 0; i < 3; ++i)
    session.step();
  EXPECT_EQ(valuesOf(session), expectedValues(folder->path("cpu.so"), 3));
  EXPECT_EQ(session.statistics().graph_steps, 0u);
  EXPECT_EQ(fake->get("graph_launches"), 0);
}

TEST_F(CudaSession, BiasWithoutEpilogue) {
  // The bias is copied to all rows, and the product added to it.
  fake->set("has_epilogue", 0);
  Session session = open();
  session.initialize(7);
  for (int i = 0; i < 3; ++i)
    session.step();
  EXPECT_EQ(valuesOf(session), expectedValues(folder->path("cpu.so"), 3));
  EXPECT_EQ(fake->get("epilogues"), 0);
}

Program makeGemmProgram(const std::string &target) {
  Program p;
  p.function = "gemm";
  p.target = target;
  p.arenaAlignment = 256;
  p.strings = {"", "gemm"};
  return p;
}

/// Appends the product of inputs "a<n>" and "b<n>" into the result "c<n>", or
/// into a state when it accumulates, perhaps with a bias; n is the number of
/// the call.
void addGemm(Program &p, const GemmParameters &gemm, bool hasBias) {
  std::string number = std::to_string(p.calls.size());
  auto type = static_cast<DataType>(gemm.dataType);
  auto firstOperand = static_cast<uint32_t>(p.operands.size());
  auto firstParameter = static_cast<uint32_t>(p.parameters.size());
  auto add = [&](const char *name, Role role, int64_t elements) {
    uint64_t bytes = elements * bytesOf(type);
    Location location{0, p.arenaBytes};
    if (isPersistent(role))
      location = {static_cast<uint32_t>(p.tensors.size() + 1), 0};
    else
      p.arenaBytes += (bytes + 255) / 256 * 256;
    Init init = role == Role::Result ? Init() : Init{InitKind::Normal, 0, 1};
    p.tensors.push_back(
        {name + number, role, type, {elements}, bytes, location, init, false});
    p.operands.push_back(location);
  };
  int64_t last = gemm.batch - 1;
  add("a", Role::Input, gemm.m * gemm.k + last * gemm.strideA);
  add("b", Role::Input, gemm.k * gemm.n + last * gemm.strideB);
  add("c", gemm.accumulate ? Role::State : Role::Result,
      gemm.m * gemm.n + last * gemm.strideC);
  if (hasBias)
    add("bias", Role::Input, gemm.n);
  for (int64_t value : {gemm.dataType, gemm.batch, gemm.m, gemm.n, gemm.k,
                        gemm.transposeA, gemm.transposeB, gemm.strideA,
                        gemm.strideB, gemm.strideC, gemm.accumulate})
    p.parameters.push_back(value);
  p.calls.push_back({CallKind::Gemm, 0, 0, firstOperand, hasBias ? 4u : 3u,
                     firstParameter, 11, 0, 1, 1, 0, 0});
}

/// What products of every type, transposed or not, plain, accumulating or with
/// a bias, alone or in batches, give on the device, in two steps. Batches of c
/// lie 40 elements apart, and a matrix takes 30 of them.
struct AllProducts {
  AllProducts(Folder &folder);
  /// Compares c of all with the CPU's.
  void check(Session &session) const;

  std::vector<GemmParameters> gemms;
  std::string cpuPath, gpuPath;
};

AllProducts::AllProducts(Folder &folder)
    : cpuPath(folder.path("cpu-gemms.so")),
      gpuPath(folder.path("gpu-gemms.so")) {
  Program cpu = makeGemmProgram("cpu"), gpu = makeGemmProgram("cuda");
  for (DataType type :
       {DataType::F32, DataType::F64, DataType::F16, DataType::BF16})
    for (int transposes = 0; transposes < 4; ++transposes)
      for (int kind = 0; kind < 3; ++kind) // plain, accumulating, with a bias
        for (int64_t batch : {1, 3})
          for (int64_t k : {0, 7}) {
            GemmParameters gemm{static_cast<int64_t>(type),
                                batch,
                                5,
                                6,
                                k,
                                transposes & 1,
                                transposes >> 1,
                                5 * k,
                                0,
                                40,
                                kind == 1};
            gemms.push_back(gemm);
            addGemm(cpu, gemm, kind == 2);
            addGemm(gpu, gemm, kind == 2);
          }
  // The workspace, and a state that it is copied to at the end.
  constexpr uint64_t kWorkspaceBytes = 1024;
  gpu.workspaceOffset = gpu.arenaBytes;
  gpu.workspaceBytes = kWorkspaceBytes;
  gpu.arenaBytes += kWorkspaceBytes;
  auto firstOperand = static_cast<uint32_t>(gpu.operands.size());
  auto firstParameter = static_cast<uint32_t>(gpu.parameters.size());
  auto region = static_cast<uint32_t>(gpu.tensors.size() + 1);
  gpu.tensors.push_back({"workspace",
                         Role::State,
                         DataType::I8,
                         {int64_t(kWorkspaceBytes)},
                         kWorkspaceBytes,
                         {region, 0},
                         {InitKind::Constant, 0, 0},
                         false});
  gpu.operands.push_back({0, gpu.workspaceOffset});
  gpu.operands.push_back({region, 0});
  gpu.parameters.push_back(kWorkspaceBytes);
  gpu.calls.push_back({CallKind::Copy, 0, 0, firstOperand, 2, firstParameter, 1,
                       0, 1, 1, 0, 0});
  compileArtifact(cpuPath, "", cpu.serialize());
  compileGpuArtifact(gpuPath, gpu, {});
}

void AllProducts::check(Session &session) const {
  Session expected(cpuPath);
  for (Session *each : {&expected, &session}) {
    each->initialize(1);
    each->step();
    each->step();
  }
  EXPECT_EQ(session.statistics().graph_steps, 1u);
  // The library has all of the part that is set aside for it: the fake one
  // fills it.
  EXPECT_EQ(session.get<int8_t>("workspace"), std::vector<int8_t>(1024, -1));
  for (size_t i = 0; i < gemms.size(); ++i) {
    std::string name = "c" + std::to_string(i);
    auto elementBytes = bytesOf(static_cast<DataType>(gemms[i].dataType));
    std::vector<char> c(expected.tensor(name).bytes), found(c.size());
    expected.get(name, c.data(), c.size());
    session.get(name, found.data(), found.size());
    for (int64_t batch = 0; batch < gemms[i].batch; ++batch)
      for (uint64_t byte = 0; byte < 30 * elementBytes; ++byte)
        ASSERT_EQ(found[batch * 40 * elementBytes + byte],
                  c[batch * 40 * elementBytes + byte])
            << "product " << i;
  }
}

// Of the 4 * 4 * 3 * 2 * 2 products half have k = 7, the others no terms and so
// no call of the library. A fourth of the former are f32, as many of each other
// type, and a third have a bias. Two steps.
TEST_F(CudaSession, ProductsOfAllKinds) {
  AllProducts products(*folder);
  Session session = open(products.gpuPath);
  products.check(session);
  EXPECT_EQ(fake->get("products"), 2 * 96);
  // None for f64.
  EXPECT_EQ(fake->get("epilogues"), 2 * 24);
  EXPECT_EQ(fake->get("tf32_products"), 0);
  EXPECT_EQ(fake->get("rounded_sums"), 0);
}

TEST_F(CudaSession, ProductsOfAllKindsWithoutEpilogue) {
  AllProducts products(*folder);
  for (int how : {0, 2}) {
    fake->reset();
    fake->set("has_epilogue", how);
    Session session = open(products.gpuPath);
    products.check(session);
    EXPECT_EQ(fake->get("products"), 2 * 96);
    EXPECT_EQ(fake->get("epilogues"), 0);
    EXPECT_EQ(fake->get("rounded_sums"), 0);
  }
}

TEST_F(CudaSession, TF32IsAChoice) {
  // The fake library only counts what was asked for.
  AllProducts products(*folder);
  echo_session_options options{};
  options.device = "cuda";
  options.allow_tf32 = 1;
  Session session(products.gpuPath, options);
  products.check(session);
  EXPECT_EQ(fake->get("products"), 2 * 96);
  EXPECT_EQ(fake->get("tf32_products"), 2 * 24);
  EXPECT_EQ(fake->get("epilogues"), 2 * 24);
}

TEST_F(CudaSession, OperandsThatAreAlignedOtherwise) {
  // An algorithm for one alignment isn't taken for another: the fake library
  // refuses that.
  GemmParameters gemm{
      static_cast<int64_t>(DataType::F32), 1, 4, 4, 4, 0, 0, 16, 16, 16, 0};
  Program program = makeGemmProgram("cuda");
  addGemm(program, gemm, true);
  program.calls.push_back(program.calls[0]);
  for (int i = 0; i < 4; ++i)
    program.operands.push_back(program.operands[i]);
  program.calls[1].firstOperand = 4;
  for (int i : {4, 5, 6, 7})
    program.operands[i].offset += 64 + 4 * i;
  program.tensors[2].location = program.operands[6];
  program.arenaBytes += 256;
  std::string path = folder->path("aligned.so");
  compileGpuArtifact(path, program, {});
  Session session = open(path);
  session.initialize(1);
  for (int i = 0; i < 3; ++i)
    session.step();
  EXPECT_EQ(fake->get("epilogues"), 6);
}

TEST_F(CudaSession, Copies) {
  Program program;
  program.function = "copy";
  program.target = "cuda";
  program.arenaBytes = 2048;
  program.strings = {"", "copy"};
  program.tensors = {
      {"x", Role::Input, DataType::F32, {200}, 800, {0, 0}, {}, false},
      {"y", Role::Result, DataType::F32, {200}, 800, {0, 1024}, {}, false}};
  program.operands = {{0, 0}, {0, 1024}};
  program.parameters = {800};
  program.calls = {{CallKind::Copy, 0, 0, 0, 2, 0, 1, 0, 1, 1, 0, 1600}};
  std::string path = folder->path("copy.so");
  compileGpuArtifact(path, program, {});
  Session session = open(path);
  std::vector<float> x(200);
  for (int i = 0; i < 3; ++i) {
    x.assign(200, static_cast<float>(i));
    session.set("x", x);
    session.step();
    EXPECT_EQ(session.get<float>("y"), x);
  }
}

TEST_F(CudaSession, SetGetSaveLoad) {
  Session session = open();
  session.initialize(3);
  std::vector<float> w = {1, 2, 3, 4, 5, 6};
  session.set("w", w);
  EXPECT_EQ(session.get<float>("w"), w);
  session.step();
  session.step();
  EXPECT_NE(session.get<float>("w"), w);
  session.save(folder->path("model.npz"));
  Session again = open();
  again.load(folder->path("model.npz"));
  EXPECT_EQ(again.get<float>("w"), session.get<float>("w"));
  EXPECT_EQ(again.statistics().training_steps, 2u);
  // The CPU goes on where the device was.
  Session cpu(folder->path("cpu.so"));
  cpu.load(folder->path("model.npz"));
  EXPECT_EQ(cpu.get<float>("w"), session.get<float>("w"));
}

TEST_F(CudaSession, TheHostDoesntReachItsMemory) {
  Session session = open();
  session.initialize(1);
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT,
               "parameter 'w' f32[3x2]: its memory is that of cuda:0 Fake",
               session.data("w"));
  alignas(64) float memory[6] = {};
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "can't be bound on cuda:0 Fake",
               session.bind("w", memory, 24));
  Session cpu(folder->path("cpu.so"));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT,
               "can't share the memory of cpu with a session on cuda:0 Fake",
               session.share(cpu));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT,
               "can't share the memory of cuda:0 Fake with a session on cpu",
               cpu.share(session));
  session.step();
}

TEST_F(CudaSession, Share) {
  auto first = std::make_unique<Session>(gpu(), 1, "cuda");
  Session second = open();
  first->initialize(1);
  first->step();
  first->step();
  EXPECT_EQ(second.share(*first), 3);
  second.initialize(1);
  second.step();
  EXPECT_EQ(first->get<float>("w"), second.get<float>("w"));
  // What the graph of the first was captured on is still there.
  first->step();
  EXPECT_EQ(first->get<int64_t>("count")[0], 2);
  first.reset();
  second.step();
  second.step();
  EXPECT_EQ(second.get<int64_t>("count")[0], 4);
  // Tensors that move are captured anew.
  Session third = open();
  third.initialize(5);
  EXPECT_EQ(second.share(third), 3);
  second.step();
  EXPECT_EQ(third.get<int64_t>("count")[0], 1);
  EXPECT_EQ(second.statistics().graph_steps, 3u);
}

TEST_F(CudaSession, SeveralDevices) {
  fake->set("devices", 2);
  Session first(gpu(), 1, "cuda:0"), second(gpu(), 1, "cuda:1");
  EXPECT_STREQ(second.statistics().device, "cuda:1 Fake");
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "can't share", second.share(first));
  EXPECT_ERROR(ECHO_DEVICE_ERROR, "no device cuda:2: the driver sees 2 devices",
               Session(gpu(), 1, "cuda:2"));
  for (Session *session : {&first, &second}) {
    session->initialize(7);
    session->step();
    session->step();
    EXPECT_EQ(valuesOf(*session), expectedValues(folder->path("cpu.so"), 2));
  }
}

TEST_F(CudaSession, ConcurrentSessions) {
  std::vector<float> expected = expectedValues(folder->path("cpu.so"), 5);
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(3);
  for (auto &result : results)
    threads.emplace_back([&result] {
      Session session = open();
      session.initialize(7);
      for (int i = 0; i < 5; ++i)
        session.step();
      result = valuesOf(session);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &result : results)
    EXPECT_EQ(result, expected);
}

TEST_F(CudaSession, Profile) {
  Session session = open();
  session.initialize(7);
  session.step();
  session.step();
  session.setProfiling(true);
  for (int i = 0; i < 2; ++i)
    session.step();
  EXPECT_EQ(fake->get("events"), 6);
  EXPECT_EQ(session.statistics().last_step_allocations, 0u);
  session.setProfiling(false);
  EXPECT_EQ(fake->get("events"), 0);
  session.step();
  std::vector<echo_profile_entry> entries = session.profile();
  ASSERT_EQ(entries.size(), 5u);
  double end = 0;
  for (const echo_profile_entry &entry : entries) {
    EXPECT_EQ(entry.runs, 2u);
    EXPECT_GT(entry.last_seconds, 0);
    EXPECT_GE(entry.seconds, entry.last_seconds);
    EXPECT_NEAR(entry.last_begin, end, 1e-6);
    end = entry.last_begin + entry.last_seconds;
  }
  EXPECT_EQ(valuesOf(session), expectedValues(folder->path("cpu.so"), 5));
  // Profiled steps aren't replayed, the others are.
  EXPECT_EQ(session.statistics().graph_steps, 2u);
}

TEST_F(CudaSession, Statistics) {
  Session session = open();
  session.initialize(1);
  echo_statistics statistics = session.statistics();
  EXPECT_EQ(statistics.device_bytes, 768u + 24 + 8 + 8);
  EXPECT_EQ(statistics.device_total_bytes, uint64_t(1) << 30);
  EXPECT_EQ(statistics.device_free_bytes,
            statistics.device_total_bytes - fake->get("allocated_bytes"));
  EXPECT_EQ(statistics.power_watts, 100);
  EXPECT_EQ(statistics.energy_joules, 0);
  session.step();
  EXPECT_GT(session.statistics().last_issue_seconds, 0);
  EXPECT_LT(session.statistics().last_issue_seconds,
            session.statistics().last_step_seconds);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  // 100 watts over at least 20 ms.
  EXPECT_GE(session.statistics().energy_joules, 1.9);
  session.step();
  session.step();
  EXPECT_EQ(session.statistics().last_step_allocations, 0u);
}

TEST_F(CudaSession, WithoutEnergyOrNvml) {
  fake->set("has_energy", 0);
  {
    Session session = open();
    session.initialize(1);
    session.step();
    EXPECT_EQ(session.statistics().energy_joules, 0);
    EXPECT_EQ(session.statistics().power_watts, 100);
  }
  setenv("ECHO_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  Session session = open();
  session.initialize(1);
  session.step();
  EXPECT_EQ(session.statistics().power_watts, 0);
}

} // namespace

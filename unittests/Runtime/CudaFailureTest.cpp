//===- CudaFailureTest.cpp - Failures of the fake CUDA device -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTesting.h"
#include "cuda/DriverApi.h"

using namespace echo;
using namespace echo::test;

namespace {

//===----------------------------------------------------------------------===//
// Failures at opening
//===----------------------------------------------------------------------===//

TEST_F(CudaSession, NoDriver) {
  setenv("ECHO_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  std::string error = errorOf([] { open(); }, ECHO_LIBRARY_ERROR);
  EXPECT_NE(error.find("the CUDA driver isn't there: /nowhere/libcuda.so.1: "
                       "cannot open shared object file"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("ECHO_CUDA_DRIVER"), std::string::npos) << error;
}

TEST_F(CudaSession, DriverWithoutASymbol) {
  // What every driver has, for a new CUDA, and nothing else.
  std::string path = folder->path("driver.so");
  write(path + ".c",
        "int cuDriverGetVersion(int *v) { *v = 12040; return 0; }\n"
        "int cuGetErrorName(int r, const char **n) { return 1; }\n"
        "int cuGetErrorString(int r, const char **n) { return 1; }\n");
  std::string command = std::string(ECHO_TEST_CC) + " -shared -fPIC -o '" +
                        path + "' '" + path + ".c'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  setenv("ECHO_CUDA_DRIVER", path.c_str(), 1);
  EXPECT_ERROR(ECHO_LIBRARY_ERROR,
               "the CUDA driver, '" + path + "', has no cuInit", open());
}

TEST_F(CudaSession, OldDriver) {
  fake->set("version", 11080);
  EXPECT_ERROR(ECHO_LIBRARY_ERROR, "is for CUDA 11.8; 12.0 or newer is needed",
               open());
}

TEST_F(CudaSession, NoDevice) {
  fake->set("devices", 0);
  EXPECT_ERROR(ECHO_DEVICE_ERROR,
               "cuInit failed: CUDA_ERROR_NO_DEVICE (100): no CUDA-capable "
               "device is detected",
               open());
  fake->reset();
  EXPECT_ERROR(ECHO_DEVICE_ERROR, "no device cuda:1: the driver sees 1 device",
               Session(gpu(), 1, "cuda:1"));
  fake->set("cuInit", 1);
  EXPECT_ERROR(ECHO_DEVICE_ERROR, "cuInit failed: unknown error (999)", open());
}

TEST_F(CudaSession, WrongChip) {
  fake->set("capability", 90);
  EXPECT_ERROR(ECHO_INVALID_ARTIFACT,
               "compiled for sim; cuda:0 Fake is a sm_90: compile with "
               "--chip=sm_90",
               open());
  std::string path = folder->path("chips.so");
  std::string cubin("\177ELF and so on, as long as one"), ptx("// PTX\0", 7);
  compileGpuArtifact(
      path, makeGpuStepProgram(),
      {{"sm_80", ImageKind::Cubin, cubin}, {"sm_100", ImageKind::PTX, ptx}});
  EXPECT_ERROR(ECHO_INVALID_ARTIFACT, "compiled for sm_80, sm_100 (PTX); ",
               open(path));
  // Images for the chip that the driver refuses: all of them are told.
  compileGpuArtifact(
      path, makeGpuStepProgram(),
      {{"sm_90", ImageKind::Cubin, cubin}, {"sm_80", ImageKind::PTX, ptx}});
  std::string error = errorOf([&] { open(path); }, ECHO_INVALID_ARTIFACT);
  for (const char *text :
       {"takes none of its images\nimage for sm_90: cuModuleLoadDataEx failed: "
        "CUDA_ERROR_NO_BINARY_FOR_GPU (209)",
        "image for sm_80: cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_PTX "
        "(218)",
        "fake ptxas: there is no compiler here"})
    EXPECT_NE(error.find(text), std::string::npos) << error;
}

TEST_F(CudaSession, MissingKernel) {
  Program program = makeGpuStepProgram();
  program.kernels[1].name = "updates";
  std::string path = folder->path("missing.so");
  compileGpuStep(*folder, path, 0, program);
  EXPECT_ERROR(ECHO_INVALID_ARTIFACT,
               "no kernel 'updates' in its image: CUDA_ERROR_NOT_FOUND",
               open(path));
}

TEST_F(CudaSession, OutOfMemoryAtEveryAllocation) {
  // Arena, w, b and count on the device; x, t and rate on the host.
  for (int n = 1; n <= 4; ++n) {
    fake->set("cuMemAlloc", n);
    std::string error = errorOf([] { open(); }, ECHO_OUT_OF_MEMORY);
    EXPECT_NE(
        error.find(n == 1 ? "asked for 768 bytes for the arena" : "asked for "),
        std::string::npos)
        << error;
    EXPECT_NE(error.find("of 1073741824 bytes are free"), std::string::npos)
        << error;
    EXPECT_EQ(fake->get("allocations"), 0);
  }
  for (int n = 1; n <= 3; ++n) {
    fake->set("cuMemHostAlloc", n);
    EXPECT_ERROR(ECHO_OUT_OF_MEMORY, "bytes of pinned host memory for", open());
  }
  fake->set("cuMemAlloc", 5);
  Session session = open();
}

TEST_F(CudaSession, OutOfMemorySaysWhatWouldFit) {
  Program program = makeGpuStepProgram();
  program.arenaBytes = uint64_t(3) << 30;
  program.strategy = "none";
  std::string path = folder->path("large.so");
  compileGpuStep(*folder, path, 0, program);
  std::string error = errorOf([&] { open(path); }, ECHO_OUT_OF_MEMORY);
  EXPECT_NE(error.find("out of memory on cuda:0 Fake: asked for 3221225472 "
                       "bytes for the arena, 1073741824 of 1073741824 bytes "
                       "are free"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("--strategy=echo"), std::string::npos) << error;
  // Nine tenths of 1 GiB, of 3 GiB, less the workspace on both sides.
  EXPECT_NE(error.find("a batch of about 29% of this one would fit"),
            std::string::npos)
      << error;
  program.strategy = "echo";
  compileGpuStep(*folder, path, 0, program);
  EXPECT_ERROR(ECHO_OUT_OF_MEMORY, "with --strategy=echo", open(path));
  // The libraries' 0.75 of the 3 GiB stay: 0.9 - 0.75 of 2.25 GiB.
  program.workspaceOffset = uint64_t(9) << 28;
  program.workspaceBytes = uint64_t(3) << 28;
  compileGpuStep(*folder, path, 0, program);
  EXPECT_ERROR(ECHO_OUT_OF_MEMORY, "a batch of about 6% of this one would fit",
               open(path));
  fake->set("memory", 4 << 20);
  EXPECT_ERROR(ECHO_OUT_OF_MEMORY, "; no batch of it would fit", open(path));
  fake->reset();
  fake->set("cuMemAlloc", 1);
  EXPECT_ERROR(ECHO_OUT_OF_MEMORY,
               "; the driver refuses it though as much is free", open());
}

TEST_F(CudaSession, OutOfMemoryOfTheDriverAndLibraries) {
  auto expectAdvice = [](const std::string &error) {
    for (const char *text :
         {" of 1073741824 bytes are free.\nThe step holds 768 bytes in its "
          "arena",
          "a smaller batch holds less"})
      EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  fake->set("cuModuleLoadDataEx", 1);
  expectAdvice(errorOf([] { open(); }, ECHO_OUT_OF_MEMORY));
  Session session = open();
  session.initialize(7);
  fake->set("cublasCreate", 1);
  std::string error = errorOf([&] { session.step(); }, ECHO_OUT_OF_MEMORY);
  EXPECT_NE(error.find("cublasCreate failed"), std::string::npos) << error;
  expectAdvice(error);
  session.step();
  fake->set("cuGraphInstantiateWithFlags", 1);
  expectAdvice(errorOf([&] { session.step(); }, ECHO_OUT_OF_MEMORY));
  // Nothing has run when it failed.
  session.step();
  EXPECT_EQ(valuesOf(session), expectedValues(folder->path("cpu.so"), 2));
}

TEST_F(CudaSession, LargeAlignment) {
  Program program = makeGpuStepProgram();
  program.arenaAlignment = 1 << 20;
  std::string path = folder->path("aligned-arena.so");
  compileGpuStep(*folder, path, 0, program);
  Session session = open(path);
  EXPECT_GE(fake->get("allocated_bytes"), 1 << 20);
  session.initialize(7);
  session.step();
  EXPECT_EQ(valuesOf(session), expectedValues(folder->path("cpu.so"), 1));
}

TEST_F(CudaSession, NoCublas) {
  setenv("ECHO_CUBLAS", "/nowhere/libcublas.so", 1);
  Session session = open();
  session.initialize(1);
  std::vector<float> w = session.get<float>("w");
  EXPECT_ERROR(ECHO_LIBRARY_ERROR, "cuBLAS isn't there: /nowhere/libcublas.so",
               session.step());
  // Nothing has run.
  EXPECT_EQ(session.get<float>("w"), w);
  setenv("ECHO_CUBLAS", ECHO_FAKE_CUDA_LIBRARY, 1);
  session.step();
  EXPECT_EQ(session.get<int64_t>("count")[0], 1);
}

//===----------------------------------------------------------------------===//
// Failures of a step
//===----------------------------------------------------------------------===//

/// After a failed step nothing has a value, and everything works again.
void expectUsable(Session &session, const std::string &cpu) {
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "has no value", session.get<float>("w"));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "the last one failed",
               session.get<float>("loss"));
  EXPECT_ERROR(ECHO_INVALID_ARGUMENT, "has no value", session.step());
  session.initialize(7);
  for (int i = 0; i < 3; ++i)
    session.step();
  EXPECT_EQ(valuesOf(session), expectedValues(cpu, 3));
}

TEST_F(CudaSession, RefusedLaunch) {
  for (int n = 1; n <= 3; ++n) {
    Session session = open();
    session.initialize(7);
    fake->set("cuLaunchKernel", n);
    const char *kernels[] = {"call 1 (difference at regression)",
                             "call 3 (update at regression)",
                             "call 4 (count at regression)"};
    EXPECT_ERROR(ECHO_DEVICE_ERROR,
                 std::string(kernels[n - 1]) +
                     ": cuda:0 Fake: cuLaunchKernel failed: "
                     "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)",
                 session.step());
    expectUsable(session, folder->path("cpu.so"));
  }
}

TEST_F(CudaSession, ClosedAfterAFailure) {
  // Nothing stays of what was issued before, in any kind of step.
  for (int steps = 0; steps <= 2; ++steps)
    for (int n = 1; n <= 3; ++n) {
      Session session = open();
      session.initialize(7);
      for (int i = 0; i < steps; ++i)
        session.step();
      session.setProfiling(steps == 2);
      fake->set("cuLaunchKernel", n);
      errorOf([&] { session.step(); }, ECHO_DEVICE_ERROR);
    }
}

TEST_F(CudaSession, RefusedProduct) {
  for (int n = 1; n <= 2; ++n) {
    Session session = open();
    session.initialize(7);
    fake->set(n == 1 ? "cublasLtMatmul" : "cublasGemmStridedBatchedEx", 1);
    EXPECT_ERROR(ECHO_LIBRARY_ERROR,
                 n == 1 ? "call 0 (gemm at regression): cuda:0 Fake: "
                          "cublasLtMatmul failed: "
                          "CUBLAS_STATUS_EXECUTION_FAILED (13): the function "
                          "failed to launch on the GPU"
                        : "call 2 (gemm at regression): cuda:0 Fake: "
                          "cublasGemmStridedBatchedEx failed",
                 session.step());
    expectUsable(session, folder->path("cpu.so"));
  }
}

TEST_F(CudaSession, FailureWhileCapturingChangesNothing) {
  const std::pair<const char *, echo_status> failures[] = {
      {"cuLaunchKernel", ECHO_DEVICE_ERROR},
      {"cublasLtMatmul", ECHO_LIBRARY_ERROR},
      {"cuStreamEndCapture", ECHO_DEVICE_ERROR},
      {"cuGraphInstantiateWithFlags", ECHO_OUT_OF_MEMORY}};
  for (auto [function, status] : failures) {
    Session session = open();
    session.initialize(7);
    session.step();
    std::vector<float> values = valuesOf(session);
    fake->set(function, 1);
    std::string error = errorOf([&] { session.step(); }, status);
    EXPECT_NE(error.find("the step can't be captured as a graph: "),
              std::string::npos)
        << error;
    EXPECT_NE(error.find("without_graph"), std::string::npos) << error;
    EXPECT_EQ(fake->get("graphs"), 0);
    EXPECT_EQ(fake->get("graph_execs"), 0);
    // Everything is as it was, and the next one is captured.
    EXPECT_EQ(valuesOf(session), values);
    session.step();
    EXPECT_EQ(session.statistics().graph_steps, 1u);
    EXPECT_EQ(valuesOf(session), expectedValues(folder->path("cpu.so"), 2));
  }
}

TEST_F(CudaSession, FailureWhileAnotherThreadCaptures) {
  // That the device can't be waited for then doesn't mean that it is lost.
  cuda::Context context, popped;
  cuda::Stream stream;
  cuda::Graph graph;
  auto call = [&](const char *name, auto... arguments) {
    int (*function)(decltype(arguments)...);
    fake->find(function, dlopen(ECHO_FAKE_CUDA_LIBRARY, RTLD_NOW), name);
    ASSERT_EQ(function(arguments...), 0) << name;
  };
  {
    Session session = open();
    session.initialize(7);
    session.step();
    call("cuDevicePrimaryCtxRetain", &context, 0);
    call("cuCtxPushCurrent_v2", context);
    call("cuStreamCreate", &stream, 0u);
    call("cuStreamBeginCapture_v2", stream, 1);
    fake->set("cuGraphInstantiateWithFlags", 1);
    std::string error = errorOf([&] { session.step(); }, ECHO_OUT_OF_MEMORY);
    EXPECT_EQ(error.find("lost"), std::string::npos) << error;
    session.step();
    EXPECT_EQ(valuesOf(session), expectedValues(folder->path("cpu.so"), 2));
  }
  // It was told of the wait, and gives up.
  cuda::Result (*end)(cuda::Stream, cuda::Graph *);
  fake->find(end, dlopen(ECHO_FAKE_CUDA_LIBRARY, RTLD_NOW),
             "cuStreamEndCapture");
  EXPECT_NE(end(stream, &graph), 0);
  call("cuStreamDestroy_v2", stream);
  call("cuCtxPopCurrent_v2", &popped);
  call("cuDevicePrimaryCtxRelease_v2", 0);
}

TEST_F(CudaSession, FaultThatStays) {
  for (bool isReplayed : {false, true}) {
    Session other = open();
    {
      Session session = open();
      session.initialize(7);
      if (isReplayed)
        session.step();
      fake->set("fault_launch", 2);
      EXPECT_ERROR(ECHO_DEVICE_ERROR,
                   "cuStreamSynchronize failed: CUDA_ERROR_LAUNCH_FAILED (719)",
                   session.step());
      // Closed is what is left, for all sessions on the device.
      EXPECT_ERROR(ECHO_DEVICE_ERROR,
                   "the device is lost since an earlier error: cuda:0 Fake: "
                   "cuStreamSynchronize failed",
                   session.initialize(1));
      EXPECT_ERROR(ECHO_DEVICE_ERROR, "the device is lost",
                   session.statistics());
      EXPECT_ERROR(ECHO_DEVICE_ERROR, "the device is lost",
                   other.initialize(1));
      EXPECT_ERROR(ECHO_DEVICE_ERROR, "the device is lost", open());
    }
    // Then the device can be used again.
    {
      Session closed = std::move(other);
    }
    EXPECT_EQ(fake->get("contexts"), 0);
    Session session = open();
    session.initialize(7);
    session.step();
    EXPECT_EQ(valuesOf(session), expectedValues(folder->path("cpu.so"), 1));
  }
}

TEST_F(CudaSession, FaultOfAKernel) {
  std::string path = folder->path("diverges.so");
  compileGpuStep(*folder, path, /*fault=*/4);
  Session session = open(path);
  session.initialize(7);
  EXPECT_ERROR(ECHO_DEVICE_ERROR, "CUDA_ERROR_LAUNCH_FAILED", session.step());
  EXPECT_NE(std::string(fake->message()).find("divergent barrier"),
            std::string::npos)
      << fake->message();
}

} // namespace

//===- CudaWrappersTest.cpp - Functions that upstream's GPU code calls ----===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As code of `gpu-to-llvm` uses them, with no session, on the fake driver. A
// process of its own: the default device stays open.
//
//===----------------------------------------------------------------------===//

#include "TestArtifact.h"
#include "cuda/Device.h"
#include "cuda/Wrappers.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace echo::test;

namespace {

class CudaWrappers : public ::testing::Test {
protected:
  void SetUp() override {
    setenv("ECHO_CUDA_DRIVER", ECHO_FAKE_CUDA_LIBRARY, 1);
  }
};

TEST_F(CudaWrappers, LoadLaunchCopy) {
  Folder folder;
  std::string object = compileHostObject(
      folder, std::string("#define FAULT 0\n") + gpuStepKernels());
  auto module = mgpuModuleLoad(object.data(), object.size());
  ASSERT_NE(module, nullptr);
  auto function = mgpuModuleGetFunction(module, "count");
  ASSERT_NE(function, nullptr);
  auto stream = mgpuStreamCreate();
  auto *memory = static_cast<char *>(mgpuMemAlloc(64, stream, false));
  ASSERT_NE(memory, nullptr);
  mgpuMemset32(memory, 5, 2, stream);
  mgpuMemset16(memory + 8, 0x0102, 28, stream);
  // The 64-bit number at 0 is 5 * (2^32 + 1); two launches add 3 each.
  int64_t step = 3;
  void *parameters[] = {&memory, &step};
  for (int i = 0; i < 2; ++i)
    mgpuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr,
                     2);
  auto event = mgpuEventCreate();
  mgpuEventRecord(event, stream);
  auto other = mgpuStreamCreate();
  mgpuStreamWaitEvent(other, event);
  std::vector<uint16_t> host(32);
  mgpuMemcpy(host.data(), memory, 64, other);
  mgpuStreamSynchronize(other);
  EXPECT_EQ(host[0], 11);
  EXPECT_EQ(host[2], 5);
  EXPECT_EQ(host[4], 0x0102);
  EXPECT_EQ(host[31], 0x0102);
  mgpuEventSynchronize(event);
  mgpuEventDestroy(event);
  mgpuMemFree(memory, stream);
  mgpuStreamDestroy(stream);
  mgpuStreamDestroy(other);
  mgpuModuleUnload(module);
}

TEST_F(CudaWrappers, FailuresAreWritten) {
  auto errorOf = [](auto &&function) {
    ::testing::internal::CaptureStderr();
    function();
    return ::testing::internal::GetCapturedStderr();
  };
  std::string ptx("// PTX\0", 7);
  EXPECT_NE(
      errorOf([&] { EXPECT_EQ(mgpuModuleLoadJIT(ptx.data(), 2), nullptr); })
          .find("cuda:0 Fake: cuModuleLoadDataEx failed: "
                "CUDA_ERROR_INVALID_PTX (218)"),
      std::string::npos);
  EXPECT_NE(errorOf([&] { mgpuMemAlloc(8, nullptr, true); }).find("801"),
            std::string::npos);
  EXPECT_EQ(errorOf([] {
              EXPECT_EQ(mgpuMemAlloc(0, nullptr, false), nullptr);
              mgpuMemFree(nullptr, nullptr);
            }),
            "");
  mgpuSetDefaultDevice(4);
  EXPECT_NE(errorOf([] { mgpuStreamCreate(); }).find("no device cuda:4"),
            std::string::npos);
  mgpuSetDefaultDevice(0);
}

TEST_F(CudaWrappers, InsideAUseFailuresAreKept) {
  auto device = echo::cuda::Device::open(0);
  echo::cuda::Device::Use use(*device);
  ::testing::internal::CaptureStderr();
  mgpuStreamDestroy(nullptr);
  mgpuMemAlloc(8, nullptr, true);
  const char *what = nullptr;
  // The first one, and once.
  EXPECT_EQ(echo::cuda::takeWrapperError(what), 400);
  EXPECT_STREQ(what, "cuStreamDestroy");
  EXPECT_EQ(echo::cuda::takeWrapperError(what), 0);
  // Said by the fake driver, not by the wrapper.
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "fake CUDA: a stream is destroyed twice\n");
}

} // namespace

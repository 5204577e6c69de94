//===- CudaTesting.h - Sessions on the fake CUDA device ---------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No GPU has run any of this: the driver, cuBLAS and NVML are
// runtime/testing/FakeCuda.h.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_RUNTIME_CUDATESTING_H
#define ECHO_UNITTESTS_RUNTIME_CUDATESTING_H

#include "SessionTesting.h"
#include "TestArtifact.h"
#include "echo_runtime.hpp"
#include "testing/FakeCuda.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>

namespace echo::test {

using runtime::Session;

/// The functions that control the library which the runtime loads.
struct Fake {
  Fake() {
    void *handle = dlopen(ECHO_FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      throw std::runtime_error(dlerror());
    find(set, handle, "echo_fake_set");
    find(get, handle, "echo_fake_get");
    find(message, handle, "echo_fake_message");
    find(reset, handle, "echo_fake_reset");
  }
  template <typename Function>
  static void find(Function *&function, void *handle, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(handle, name));
    if (!function)
      throw std::runtime_error(name);
  }

  decltype(echo_fake_set) *set = nullptr;
  decltype(echo_fake_get) *get = nullptr;
  decltype(echo_fake_message) *message = nullptr;
  decltype(echo_fake_reset) *reset = nullptr;
};

class CudaSession : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    folder = new Folder;
    fake = new Fake;
    compileStep(folder->path("cpu.so"));
    compileGpuStep(*folder, folder->path("gpu.so"));
  }
  static void TearDownTestSuite() {
    delete folder;
    delete fake;
  }
  void SetUp() override {
    for (const char *name : {"ECHO_CUDA_DRIVER", "ECHO_CUBLAS", "ECHO_NVML"})
      setenv(name, ECHO_FAKE_CUDA_LIBRARY, 1);
    fake->reset();
  }
  /// Every session is closed: nothing is left, nothing was misused.
  void TearDown() override { expectNothingLeft(); }
  static void expectNothingLeft() {
    for (const char *counter :
         {"contexts", "allocations", "allocated_bytes", "host_allocations",
          "modules", "streams", "events", "graphs", "graph_execs",
          "blas_handles", "blas_descriptors", "nvml_users", "leaks", "misuse"})
      EXPECT_EQ(fake->get(counter), 0) << counter << ": " << fake->message();
  }

  static std::string gpu() { return folder->path("gpu.so"); }
  static Session open(const std::string &path = gpu()) {
    return Session(path, 1, "cuda");
  }

  inline static Folder *folder = nullptr;
  inline static Fake *fake = nullptr;
};

/// w, b, loss and y after some steps.
inline std::vector<float> valuesOf(const Session &session) {
  std::vector<float> values;
  for (const char *name : {"w", "b", "loss", "y"})
    for (float value : session.get<float>(name))
      values.push_back(value);
  return values;
}

inline std::vector<float> expectedValues(const std::string &path, int steps) {
  Session session(path);
  session.initialize(7);
  for (int i = 0; i < steps; ++i)
    session.step();
  return valuesOf(session);
}

} // namespace echo::test

#endif // ECHO_UNITTESTS_RUNTIME_CUDATESTING_H

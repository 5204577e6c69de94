//===- CudaCallsTest.cpp - Every call of NVIDIA's libraries fails ---------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever call of whatever function fails while a session lives: it is told,
// by the function's name, nothing leaks, and the session goes on or is lost as
// a whole.
//
//===----------------------------------------------------------------------===//

#include "CudaTesting.h"
#include "cuda/DriverApi.h"

#include <optional>
#include <set>

using namespace echo;
using namespace echo::test;

namespace {

std::vector<std::string> functionNames() {
  std::vector<std::string> names;
#define ECHO_TEST_ADD(member, symbol, parameters)                              \
  names.emplace_back(#symbol);                                                 \
  if (size_t suffix = names.back().rfind("_v2"); suffix != std::string::npos)  \
    names.back().resize(suffix);
  ECHO_CUDA_DRIVER_FUNCTIONS(ECHO_TEST_ADD)
  ECHO_CUBLAS_FUNCTIONS(ECHO_TEST_ADD)
  ECHO_NVML_FUNCTIONS(ECHO_TEST_ADD)
#undef ECHO_TEST_ADD
  return names;
}

/// What only gives something back, or isn't needed for a step: power and the
/// text of an error.
bool mayFailSilently(const std::string &function) {
  static const std::set<std::string> names = {"cuMemFree",
                                              "cuMemFreeHost",
                                              "cuModuleUnload",
                                              "cuStreamDestroy",
                                              "cuEventDestroy",
                                              "cuGraphDestroy",
                                              "cuGraphExecDestroy",
                                              "cuCtxPopCurrent",
                                              "cuDevicePrimaryCtxRelease",
                                              "cublasDestroy",
                                              "cublasLtMatmulDescDestroy",
                                              "cublasLtMatrixLayoutDestroy",
                                              "cublasLtMatmulPreferenceDestroy",
                                              "cuGetErrorName",
                                              "cuGetErrorString"};
  return names.count(function) != 0 || function.compare(0, 4, "nvml") == 0;
}

/// Runs something that may fail, and keeps what it says.
struct Attempt {
  template <typename Function>
  bool operator()(Function &&function) {
    try {
      function();
      return true;
    } catch (const runtime::Error &error) {
      errors.emplace_back(error.what());
      return false;
    }
  }
  std::vector<std::string> errors;
};

/// Trains with every kind of step. Returns the errors on the way.
std::vector<std::string> live(const std::string &gpu, const std::string &cpu) {
  Attempt attempt;
  std::optional<Session> session;
  while (!session)
    if (!attempt([&] { session.emplace(gpu, 1, "cuda"); }) &&
        attempt.errors.size() > 1)
      return attempt.errors;
  auto openAnew = [&] {
    session.reset();
    session.emplace(gpu, 1, "cuda");
  };
  // Step by step, as a graph, as a graph again, and with a profile.
  constexpr int kSteps = 4;
  auto train = [&] {
    session->setProfiling(false);
    session->initialize(7);
    for (int i = 0; i < kSteps; ++i) {
      session->setProfiling(i == kSteps - 1);
      session->step();
    }
    session->statistics();
    EXPECT_EQ(valuesOf(*session), expectedValues(cpu, kSteps));
  };
  if (!attempt(train)) {
    bool isLost = attempt.errors.back().find("is lost") != std::string::npos;
    if (isLost)
      attempt(openAnew);
    attempt(train);
  }
  return attempt.errors;
}

TEST_F(CudaSession, EveryCallFailsOnce) {
  std::string cpu = folder->path("cpu.so");
  int numFailures = 0;
  for (const std::string &function : functionNames())
    for (int n = 1;; ++n) {
      SCOPED_TRACE(function + ", call " + std::to_string(n));
      fake->reset();
      ASSERT_EQ(fake->set(function.c_str(), n), 0);
      std::vector<std::string> errors = live(gpu(), cpu);
      // Without a context nothing can be given back to it; it goes with it.
      bool isClosing = function == "cuCtxPushCurrent" && errors.empty();
      if (!isClosing)
        expectNothingLeft();
      if (fake->get(function.c_str()) != 0) {
        EXPECT_TRUE(errors.empty()) << errors.front();
        break;
      }
      ++numFailures;
      // One failure is one error, and after it everything works.
      if (mayFailSilently(function) || isClosing) {
        EXPECT_TRUE(errors.empty()) << errors.front();
        continue;
      }
      ASSERT_EQ(errors.size(), 1u);
      bool isTold = errors[0].find(function) != std::string::npos ||
                    errors[0].find("out of memory") != std::string::npos;
      EXPECT_TRUE(isTold) << errors[0];
    }
  fake->reset();
  // The fewest that a step of three kernels and two products can take.
  EXPECT_GT(numFailures, 60);
}

} // namespace

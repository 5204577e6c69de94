//===- SessionTesting.h - Errors of sessions --------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_RUNTIME_SESSIONTESTING_H
#define ECHO_UNITTESTS_RUNTIME_SESSIONTESTING_H

#include "echo_runtime.hpp"

#include "gtest/gtest.h"

#include <string>

namespace echo::test {

/// The error of a failing function; the status must be this one.
template <typename Function>
std::string errorOf(Function &&function, echo_status status) {
  try {
    function();
  } catch (const runtime::Error &error) {
    EXPECT_EQ(error.status(), status) << error.what();
    EXPECT_STREQ(error.what(), echo_last_error());
    return error.what();
  }
  ADD_FAILURE() << "expected an error";
  return "";
}

} // namespace echo::test

/// Expects an error that has this text in it.
#define EXPECT_ERROR(status, text, ...)                                        \
  do {                                                                         \
    std::string found =                                                        \
        ::echo::test::errorOf([&] { __VA_ARGS__; }, status);                   \
    EXPECT_NE(found.find(text), std::string::npos) << found;                   \
  } while (false)

#endif // ECHO_UNITTESTS_RUNTIME_SESSIONTESTING_H

//===- Error.h - Errors inside the runtime ----------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_ERROR_H
#define ECHO_RUNTIME_COMMON_ERROR_H

#include "echo_runtime.h"

#include <stdexcept>
#include <string>

namespace echo {

/// What an entry point of the C ABI turns into a status and a text.
class Error : public std::runtime_error {
public:
  Error(echo_status status, const std::string &message)
      : std::runtime_error(message), code(status) {}
  echo_status status() const { return code; }

private:
  echo_status code;
};

[[noreturn]] inline void throwInvalid(const std::string &message) {
  throw Error(ECHO_INVALID_ARGUMENT, message);
}

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_ERROR_H

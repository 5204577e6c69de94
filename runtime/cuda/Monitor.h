//===- Monitor.h - Power and energy of a device ------------------*- C++
//-*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CUDA_MONITOR_H
#define ECHO_RUNTIME_CUDA_MONITOR_H

#include "cuda/DriverApi.h"
#include "cuda/SharedLibrary.h"

#include <optional>
#include <string>

namespace echo::cuda {

/// What NVML ($ECHO_NVML, or libnvidia-ml.so.1) says of a device. Nothing fails
/// where it isn't there or doesn't answer: the answer is nothing then.
class Monitor {
public:
  explicit Monitor(const std::string &pciBusId);
  ~Monitor();
  Monitor(const Monitor &) = delete;
  Monitor &operator=(const Monitor &) = delete;

  std::optional<double> watts() const;
  /// Since the driver was loaded.
  std::optional<double> joules() const;

private:
#define ECHO_CUDA_MEMBER(member, symbol, parameters)                           \
  int(*member) parameters = nullptr;
  ECHO_NVML_FUNCTIONS(ECHO_CUDA_MEMBER)
#undef ECHO_CUDA_MEMBER

  std::optional<SharedLibrary> library;
  NvmlDevice device = nullptr;
  bool isOpen = false;
};

} // namespace echo::cuda

#endif // ECHO_RUNTIME_CUDA_MONITOR_H

//===- HostObject.h - Kernels compiled for the simulator --------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_SIM_HOSTOBJECT_H
#define ECHO_RUNTIME_SIM_HOSTOBJECT_H

#include "sim/Device.h"
#include "sim/Simulator.h"

#include <memory>
#include <string>
#include <string_view>

namespace echo::sim {

/// A loaded shared object that exports the symbols of Device.h. Every load of
/// the same bytes has shared variables of its own: two objects may run at the
/// same time, one only on one thread.
class HostObject {
public:
  HostObject();
  ~HostObject();
  HostObject(const HostObject &) = delete;
  HostObject &operator=(const HostObject &) = delete;

  /// Loads an ELF shared object out of memory. Returns what went wrong, or
  /// nothing; it isn't loaded then.
  std::string load(std::string_view bytes);

  /// Null if there is no kernel of this name.
  const echo_sim_kernel *find(std::string_view name) const;

private:
  class TemporaryFile;
  std::string readSymbols();

  std::unique_ptr<TemporaryFile> file;
  void *handle = nullptr;
  const echo_sim_kernel *kernels = nullptr;
  uint64_t numKernels = 0;
};

/// A kernel's shared variables, for Launch::shared.
std::vector<Buffer> sharedVariables(const echo_sim_kernel &kernel);

} // namespace echo::sim

#endif // ECHO_RUNTIME_SIM_HOSTOBJECT_H

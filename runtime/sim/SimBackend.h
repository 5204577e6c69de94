//===- SimBackend.h - A GPU that is simulated on the CPU --------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a GPU artefact's image of the chip "sim" in the simulator, on host
// memory, with the CPU's GEMM. The arena is filled with ones (NaN as floats)
// in front of every step. The first fault of a kernel ends the step: what would
// be undefined on a GPU is an error here.
//
// For tests, variables of the environment: ECHO_SIM_ORDER=reverse is the same as
// the option, ECHO_SIM_RACES=off doesn't look for races, which is faster, and
// ECHO_SIM_TRAFFIC names a file for what the last step's kernels moved
// (Traffic.h): a line of fields between tabs for each launch, below a line of
// their names.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_SIM_SIMBACKEND_H
#define ECHO_RUNTIME_SIM_SIMBACKEND_H

#include "cpu/HostBackend.h"
#include "sim/HostObject.h"

namespace echo {

class SimBackend final : public HostBackend {
public:
  /// Throws Error (ECHO_INVALID_ARTIFACT) if there is no image for the
  /// simulator or a kernel isn't in it.
  SimBackend(const Artifact &artifact, const SessionOptions &options);

  const std::string &name() const override {
    static const std::string name = "sim";
    return name;
  }
  void run() override;

private:
  void runKernel(const Call &call, void *const *args) override;
  void addTraffic(const Call &call, const sim::Traffic &traffic);
  [[noreturn]] void throwFaults(const Call &call,
                                const sim::LaunchResult &result) const;

  sim::HostObject object;
  std::vector<const echo_sim_kernel *> kernels; ///< by Call::function
  sim::LaunchOptions launchOptions;
  std::string trafficFile, traffic; ///< its path and content
};

} // namespace echo

#endif // ECHO_RUNTIME_SIM_SIMBACKEND_H

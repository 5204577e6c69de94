//===- SimBackend.cpp - A GPU that is simulated on the CPU ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sim/SimBackend.h"

#include "Artifact.h"
#include "Error.h"
#include "OutputFile.h"

#include <cstdlib>
#include <cstring>

using namespace echo;

/// Whether a variable has its one value; another one is an error.
static bool isSet(const char *variable, std::string_view value) {
  const char *found = std::getenv(variable);
  if (!found || !*found)
    return false;
  if (found != value)
    throwInvalid(std::string(variable) + ": expected '" + std::string(value) +
                 "', found '" + found + "'");
  return true;
}

SimBackend::SimBackend(const Artifact &artifact, const SessionOptions &options)
    : HostBackend(artifact.program(), options.threads) {
  launchOptions.isReverse =
      options.isReverse || isSet("ECHO_SIM_ORDER", "reverse");
  launchOptions.findsRaces = !isSet("ECHO_SIM_RACES", "off");
  if (const char *file = std::getenv("ECHO_SIM_TRAFFIC"))
    trafficFile = file;
  launchOptions.countsTraffic = !trafficFile.empty();
  if (program.kernels.empty())
    return;
  auto fail = [&](const std::string &message) {
    throw Error(ECHO_INVALID_ARTIFACT, "'" + artifact.path() + "': " + message);
  };
  const Image *image = nullptr;
  for (const Image &candidate : artifact.images())
    if (candidate.kind == static_cast<uint64_t>(ImageKind::HostObject))
      image = &candidate;
  if (!image)
    fail("compiled for " + artifact.chips() +
         "; the simulator needs --chip=sim");
  std::string error =
      object.load({static_cast<const char *>(image->data), image->bytes});
  if (!error.empty())
    fail("image for 'sim': " + error);
  for (const Kernel &kernel : program.kernels) {
    kernels.push_back(object.find(kernel.name));
    if (!kernels.back())
      fail("image for 'sim': no kernel '" + kernel.name + "'");
    if (kernel.sharedBytes != 0)
      fail("kernel '" + kernel.name +
           "' takes dynamic shared memory, which the simulator doesn't have");
  }
}

void SimBackend::run() {
  std::memset(arena, 0xff, program.arenaBytes);
  if (trafficFile.empty())
    return HostBackend::run();
  traffic = "kernel\top\tlayer\tblocks\tthreads";
  for (const char *access : {"loads", "stores"})
    for (const char *field : {"accesses", "bytes", "sectors", "least"})
      traffic += std::string("\t") + access + "." + field;
  traffic += '\n';
  HostBackend::run();
  std::string error = writeOutput(trafficFile, traffic);
  if (!error.empty())
    throw Error(ECHO_IO_ERROR, error);
}

void SimBackend::addTraffic(const Call &call, const sim::Traffic &counts) {
  const Kernel &kernel = program.kernels[call.function];
  traffic += kernel.name + '\t' + program.strings[call.op] + '\t' +
             program.strings[call.layer];
  auto add = [&](uint64_t value) { traffic += '\t' + std::to_string(value); };
  for (const uint32_t *sizes : {kernel.grid, kernel.block})
    add(uint64_t(sizes[0]) * sizes[1] * sizes[2]);
  for (const sim::Transfers &transfers : {counts.loads, counts.stores}) {
    add(transfers.accesses);
    add(transfers.bytes);
    add(transfers.sectors);
    add(transfers.least);
  }
  traffic += '\n';
}

void SimBackend::runKernel(const Call &call, void *const *args) {
  const Kernel &kernel = program.kernels[call.function];
  const echo_sim_kernel &compiled = *kernels[call.function];
  sim::Launch launch;
  launch.kernel = kernel.name;
  launch.function = compiled.function;
  launch.grid = {kernel.grid[0], kernel.grid[1], kernel.grid[2]};
  launch.block = {kernel.block[0], kernel.block[1], kernel.block[2]};
  if (launch.grid.count() == 0)
    return;
  std::vector<void *> addresses;
  for (size_t i = 0; i < kernel.arguments.size() + kernel.numParameters; ++i)
    addresses.push_back(const_cast<void **>(args + i));
  launch.arguments = addresses.data();
  for (size_t i = 0; i < kernel.arguments.size(); ++i)
    launch.buffers.push_back({args[i],
                              static_cast<size_t>(kernel.arguments[i].bytes),
                              !kernel.arguments[i].isWritten});
  launch.shared = sim::sharedVariables(compiled);
  sim::LaunchResult result = sim::launch(launch, launchOptions);
  if (!result.isOk())
    throwFaults(call, result);
  if (launchOptions.countsTraffic)
    addTraffic(call, result.traffic);
}

void SimBackend::throwFaults(const Call &call,
                             const sim::LaunchResult &result) const {
  std::string text = program.describeCall(call) + ": ";
  for (const sim::Fault &fault : result.faults)
    text += (&fault == result.faults.data() ? "" : "\n") + describe(fault);
  if (result.numMoreFaults != 0)
    text += "\nand " + std::to_string(result.numMoreFaults) + " more";
  throw Error(ECHO_DEVICE_ERROR, text);
}

//===- Backend.cpp - What a step runs on ----------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backend.h"

#include "Artifact.h"
#include "Error.h"
#include "cpu/CpuBackend.h"
#include "sim/SimBackend.h"

#include <algorithm>
#include <charconv>

using namespace echo;

namespace {

/// N of "cuda:N", 0 of "cuda", -1 of anything else.
int cudaDevice(const std::string &device) {
  if (device == "cuda")
    return 0;
  int number = -1;
  const char *first = device.data() + std::min<size_t>(5, device.size());
  const char *last = device.data() + device.size();
  auto [end, error] = std::from_chars(first, last, number);
  bool isNumber = error == std::errc() && end == last && *first != '-';
  return device.compare(0, 5, "cuda:") == 0 && isNumber ? number : -1;
}

/// The device of an artefact when nobody named one.
std::string ownDevice(const Artifact &artifact) {
  if (artifact.program().target == "cpu")
    return "cpu";
  const std::vector<Image> &images = artifact.images();
  bool isSimulated =
      !images.empty() &&
      std::all_of(images.begin(), images.end(), [](const Image &image) {
        return image.kind == static_cast<uint64_t>(ImageKind::HostObject);
      });
  return isSimulated ? "sim" : "cuda";
}

} // namespace

std::unique_ptr<Backend> echo::createBackend(const Artifact &artifact,
                                             const SessionOptions &options) {
  const Program &program = artifact.program();
  std::string device =
      options.device.empty() ? ownDevice(artifact) : options.device;
  int cuda = cudaDevice(device);
  if (device != "cpu" && device != "sim" && cuda < 0)
    throwInvalid("unknown device '" + device +
                 "'; expected cpu, sim, cuda or cuda:N");
  if ((device == "cpu") != (program.target == "cpu"))
    throwInvalid("'" + artifact.path() + "' is compiled for '" +
                 program.target + "', which isn't what the device '" + device +
                 "' runs");
  if (device == "cpu")
    return std::make_unique<CpuBackend>(program, artifact.kernels(),
                                        options.threads);
  if (device == "sim")
    return std::make_unique<SimBackend>(artifact, options);
  return createCudaBackend(artifact, options, cuda);
}

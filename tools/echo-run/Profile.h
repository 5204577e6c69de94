//===- Profile.h - Where a step's time goes ---------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_ECHORUN_PROFILE_H
#define ECHO_TOOLS_ECHORUN_PROFILE_H

#include "Program.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace echo::run {

/// One kernel or library call of a step, with its times.
struct ProfileEntry {
  CallKind kind = CallKind::Kernel;
  std::string name, op, layer;
  uint64_t flops = 0, bytes = 0; ///< of one run
  uint64_t runs = 0;
  double seconds = 0;                    ///< of all runs
  double lastBegin = 0, lastSeconds = 0; ///< in the last step
};

/// What the machine reaches.
struct Rates {
  double memoryBytesPerSecond = 0, cacheBytesPerSecond = 0,
         gemmFlopsPerSecond = 0;
};

/// The calls of a step in their order, over `steps` steps that took `seconds`.
struct Profile {
  std::vector<ProfileEntry> entries;
  std::string device;
  std::optional<Rates> rates; ///< where they can be measured
  int threads = 0;            ///< that measured
  uint64_t steps = 0;
  double seconds = 0;
};

/// A layer without its time steps: "decoder/lstm0/t3" is "decoder/lstm0".
std::string withoutTimeStep(const std::string &layer);

/// Tables by kind, by kernel or library call, and by layer.
void printProfile(const Profile &profile, std::FILE *out);

/// One object per kernel or library call and layer, longest first.
nlohmann::ordered_json profileReport(const Profile &profile);
nlohmann::ordered_json ratesReport(const Rates &rates);

/// The last step's calls as events of Chrome's trace format.
nlohmann::ordered_json chromeTrace(const Profile &profile);

} // namespace echo::run

#endif // ECHO_TOOLS_ECHORUN_PROFILE_H

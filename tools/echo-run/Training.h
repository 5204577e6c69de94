//===- Training.h - The loop of echo-run ------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_ECHORUN_TRAINING_H
#define ECHO_TOOLS_ECHORUN_TRAINING_H

#include "Step.h"

namespace echo::run {

/// "name" and "value" of an option name=value.
using Assignment = std::pair<std::string, std::string>;

struct TrainingOptions {
  uint64_t steps = 1;
  uint64_t seed = 0;
  std::vector<Assignment> inputs;  ///< name, .npy file
  std::vector<Assignment> scalars; ///< name, number
  std::string outputFolder, checkpoint, resume, report;
  uint64_t checkpointEvery = 0; ///< steps; 0: at the end alone
  bool quiet = false;
  bool profile = false;
  std::string trace; ///< file for a Chrome trace
  // For the report.
  std::string model, target;
  int threads = 0;
  std::string cache; ///< "hit", "miss", "off"; "" where nothing is compiled
  double compileSeconds = 0;
  std::vector<std::pair<std::string, double>> phases; ///< of compileSeconds
};

/// Splits name=value at the first '='; throws echo::Error naming `option`.
Assignment splitAssignment(const std::string &text, const char *option);

/// Throws echo::Error if a file of this name can't be written or the folder
/// can't be made: before the time for the steps is spent.
void checkOutputs(const TrainingOptions &options);

/// Sets the arguments, runs the steps, prints, and writes what was asked for.
void train(Step &step, const TrainingOptions &options);

} // namespace echo::run

#endif // ECHO_TOOLS_ECHORUN_TRAINING_H

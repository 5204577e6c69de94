//===- StrategyOption.h - --strategy of the tools ---------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_STRATEGYOPTION_H
#define ECHO_TOOLS_STRATEGYOPTION_H

#include "Echo/Planning/Remat.h"
#include "Echo/Transforms/Remat.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <optional>
#include <string>

namespace mlir::echo {

/// Which feature maps are computed again: what a strategy says (empty: the
/// pipelines' default), or a plan that was saved.
class StrategyOption {
public:
  explicit StrategyOption(llvm::cl::OptionCategory &category)
      : help(helpText()),
        value("strategy", llvm::cl::cat(category), llvm::cl::desc(help),
              llvm::cl::value_desc("name")),
        plan("plan", llvm::cl::cat(category),
             llvm::cl::desc("Recompute what a plan says that echo-plan "
                            "--save-plan wrote for the same step, instead of "
                            "planning"),
             llvm::cl::value_desc("file.json")) {}

  const std::string &get() const { return value.getValue(); }
  bool hasPlan() const { return plan.getNumOccurrences() != 0; }
  /// True if either is given.
  bool isGiven() const { return hasPlan() || !get().empty(); }
  /// What is wrong, or "".
  std::string check() const {
    if (value.empty())
      return "";
    if (hasPlan())
      return "--plan takes the place of a strategy, found --strategy=" + get();
    std::string names;
    for (const planning::RematStrategy &strategy :
         planning::rematStrategies()) {
      if (strategy.name == get())
        return "";
      names += (names.empty() ? "" : ", ") + std::string(strategy.name);
    }
    return "--strategy=" + get() + ": expected " + names;
  }

  /// Reads the plan if there is one. What is wrong, or "".
  std::string readPlan(std::optional<SavedPlan> &saved) const {
    if (!hasPlan())
      return "";
    std::string error;
    std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(plan, &error);
    if (!file)
      return "--plan=" + plan + ": " + error;
    saved = SavedPlan{plan, file->getBuffer().str()};
    return "";
  }

private:
  static std::string helpText() {
    std::string text = "What a training step computes again instead of keeping "
                       "it; a plan that needs no less memory isn't applied "
                       "(default: echo):";
    for (const planning::RematStrategy &strategy : planning::rematStrategies())
      text += "\n  " + std::string(strategy.name) + ": " +
              std::string(strategy.summary);
    return text;
  }

  std::string help;
  llvm::cl::opt<std::string> value, plan;
};

} // namespace mlir::echo

#endif // ECHO_TOOLS_STRATEGYOPTION_H

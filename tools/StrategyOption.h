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
#include "llvm/Support/CommandLine.h"
#include <string>

namespace mlir::echo {

/// Which feature maps are computed again. Empty: the pipelines' default.
class StrategyOption {
public:
  explicit StrategyOption(llvm::cl::OptionCategory &category)
      : help(helpText()),
        value("strategy", llvm::cl::cat(category), llvm::cl::desc(help),
              llvm::cl::value_desc("name")) {}

  const std::string &get() const { return value.getValue(); }
  /// What is wrong, or "".
  std::string check() const {
    if (value.empty())
      return "";
    std::string names;
    for (const planning::RematStrategy &strategy :
         planning::rematStrategies()) {
      if (strategy.name == get())
        return "";
      names += (names.empty() ? "" : ", ") + std::string(strategy.name);
    }
    return "--strategy=" + get() + ": expected " + names;
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
  llvm::cl::opt<std::string> value;
};

} // namespace mlir::echo

#endif // ECHO_TOOLS_STRATEGYOPTION_H

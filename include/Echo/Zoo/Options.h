//===- Options.h - Options of the models of the zoo -------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ZOO_OPTIONS_H
#define ECHO_ZOO_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::echo::zoo {

/// The options of one model, each bound to a variable that holds its default.
/// Values are given as `--name=value`.
class OptionSet {
public:
  /// An integer in [least, most].
  void add(llvm::StringRef name, int64_t &value, llvm::StringRef help,
           int64_t least, int64_t most);
  /// A real number in [least, below).
  void add(llvm::StringRef name, double &value, llvm::StringRef help,
           double least, double below);
  /// `true` or `false`.
  void add(llvm::StringRef name, bool &value, llvm::StringRef help);
  /// One of `choices`.
  void add(llvm::StringRef name, std::string &value, llvm::StringRef help,
           llvm::ArrayRef<llvm::StringRef> choices);

  /// Sets the variables. An option that doesn't exist, or a value that it
  /// doesn't take, is an error that says what was expected.
  llvm::Error parse(llvm::ArrayRef<llvm::StringRef> arguments) const;

  /// One line per option: its values, meaning and default.
  void printHelp(llvm::raw_ostream &os) const;

private:
  struct Option {
    std::string name;
    std::string values; ///< what it takes, for help and errors
    std::string help;
    std::string defaultValue;
    /// Returns false if the text isn't a value of this option.
    std::function<bool(llvm::StringRef)> set;
  };
  std::vector<Option> options;
};

} // namespace mlir::echo::zoo

#endif // ECHO_ZOO_OPTIONS_H

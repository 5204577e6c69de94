//===- Options.cpp - Options of the models of the zoo ---------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Zoo/Options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::echo::zoo;

static std::string toText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

void OptionSet::add(llvm::StringRef name, int64_t &value, llvm::StringRef help,
                    int64_t least, int64_t most) {
  options.push_back(
      {name.str(), llvm::formatv("an integer from {0} to {1}", least, most),
       help.str(), std::to_string(value),
       [&value, least, most](llvm::StringRef text) {
         int64_t number;
         if (text.getAsInteger(10, number) || number < least || number > most)
           return false;
         value = number;
         return true;
       }});
}

void OptionSet::add(llvm::StringRef name, double &value, llvm::StringRef help,
                    double least, double below) {
  options.push_back(
      {name.str(),
       "a number from " + toText(least) + " to below " + toText(below),
       help.str(), toText(value),
       [&value, least, below](llvm::StringRef text) {
         double number;
         // The negated comparison rejects NaN.
         if (text.getAsDouble(number) || !(number >= least && number < below))
           return false;
         value = number;
         return true;
       }});
}

void OptionSet::add(llvm::StringRef name, bool &value, llvm::StringRef help) {
  options.push_back({name.str(), "true or false", help.str(),
                     value ? "true" : "false", [&value](llvm::StringRef text) {
                       if (text != "true" && text != "false")
                         return false;
                       value = text == "true";
                       return true;
                     }});
}

void OptionSet::add(llvm::StringRef name, std::string &value,
                    llvm::StringRef help,
                    llvm::ArrayRef<llvm::StringRef> choices) {
  std::vector<std::string> allowed;
  for (llvm::StringRef choice : choices)
    allowed.push_back(choice.str());
  options.push_back({name.str(), llvm::join(allowed, " or "), help.str(), value,
                     [&value, allowed](llvm::StringRef text) {
                       if (!llvm::is_contained(allowed, text))
                         return false;
                       value = text.str();
                       return true;
                     }});
}

llvm::Error OptionSet::parse(llvm::ArrayRef<llvm::StringRef> arguments) const {
  for (llvm::StringRef argument : arguments) {
    llvm::StringRef text = argument;
    if (!text.consume_front("--"))
      return llvm::createStringError(
          llvm::formatv("expected --option=value, found '{0}'", argument));
    llvm::StringRef name = text.split('=').first;
    llvm::StringRef value = text.split('=').second;
    auto option = llvm::find_if(options, [&](const Option &candidate) {
      return candidate.name == name;
    });
    if (option == options.end())
      return llvm::createStringError(
          llvm::formatv("there is no option '--{0}'; --help lists them", name));
    if (!text.contains('=') || !option->set(value))
      return llvm::createStringError(llvm::formatv(
          "--{0} takes {1}, found '{2}'", name, option->values, value));
  }
  return llvm::Error::success();
}

void OptionSet::printHelp(llvm::raw_ostream &os) const {
  size_t width = 0;
  for (const Option &option : options)
    width = std::max(width, option.name.size());
  for (const Option &option : options)
    os << "  --" << llvm::left_justify(option.name + "=", width + 2)
       << option.help << ": " << option.values << " (default "
       << option.defaultValue << ")\n";
}

//===- echo-zoo.cpp - Prints the graphs of models -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../StandardStreams.h"
#include "Echo/Zoo/Models.h"
#include "OutputFile.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::echo;

static void printHelp(ArrayRef<std::unique_ptr<zoo::Model>> models,
                      llvm::raw_ostream &os) {
  os << "Prints the graph of a model as MLIR, with layer names as "
        "locations.\n\n"
        "usage: echo-zoo MODEL [--option=value ...] [-o FILE]\n"
        "       echo-zoo MODEL --help\n\n"
        "Models:\n";
  for (const std::unique_ptr<zoo::Model> &model : models) {
    os << "\n" << model->getName() << ": " << model->getSummary() << "\n";
    model->getOptions().printHelp(os);
  }
  os << "\nGeneral options:\n"
        "  -o FILE  write to FILE instead of the standard output\n"
        "  --help   print this; after a model, more about it\n";
}

static void printHelp(zoo::Model &model, llvm::raw_ostream &os) {
  os << model.getName() << ": " << model.getSummary() << "\n\nusage: echo-zoo "
     << model.getName() << " [--option=value ...] [-o FILE]\n\n"
     << model.getDescription() << "\nOptions:\n";
  model.getOptions().printHelp(os);
  os << "  -o FILE  write to FILE instead of the standard output\n";
}

static int fail(const Twine &message) {
  llvm::errs() << "echo-zoo: error: " << message << "\n";
  return 1;
}

static int write(const std::string &path, StringRef text) {
  std::string error = ::echo::writeOutput(path, text);
  return error.empty() ? 0 : fail(error);
}

int main(int argc, char **argv) {
  protectStandardStreams();
  reportFileSizeLimit();
  std::vector<std::unique_ptr<zoo::Model>> models = zoo::createModels();
  SmallVector<StringRef> arguments(argv + 1, argv + argc);
  bool help = llvm::is_contained(arguments, "--help") ||
              llvm::is_contained(arguments, "-h");
  auto names =
      llvm::map_range(models, [](const std::unique_ptr<zoo::Model> &model) {
        return model->getName();
      });
  std::string known = llvm::join(names, ", ");

  if (arguments.empty())
    return fail("expected a model (" + known + "); --help lists the options");
  if (arguments.front().starts_with("-")) {
    if (!help)
      return fail("expected a model (" + known + "), found '" +
                  arguments.front() + "'");
    std::string text;
    llvm::raw_string_ostream stream(text);
    printHelp(models, stream);
    return write("-", text);
  }
  auto found = llvm::find_if(models, [&](const auto &model) {
    return model->getName() == arguments.front();
  });
  if (found == models.end())
    return fail("expected a model (" + known + "), found '" +
                arguments.front() + "'");
  zoo::Model &model = **found;
  if (help) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printHelp(model, stream);
    return write("-", text);
  }

  std::string outputName = "-";
  SmallVector<StringRef> modelArguments;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] != "-o") {
      modelArguments.push_back(arguments[i]);
      continue;
    }
    if (++i == arguments.size())
      return fail("-o takes a file name");
    outputName = arguments[i].str();
  }
  if (llvm::Error error = model.getOptions().parse(modelArguments))
    return fail(llvm::toString(std::move(error)));
  if (llvm::Error error = model.checkOptions())
    return fail(llvm::toString(std::move(error)));

  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = zoo::buildModel(model, context);
  if (!module)
    return 1;
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo().assumeVerified();
  module->print(stream, flags);
  stream << "\n";
  return write(outputName, text);
}

//===- echo-zoo.cpp - Prints the graphs of models -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Zoo/Models.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::echo;

static void printHelp(ArrayRef<std::unique_ptr<zoo::Model>> models) {
  llvm::outs() << "Prints the graph of a model as MLIR, with layer names as "
                  "locations.\n\n"
                  "usage: echo-zoo MODEL [--option=value ...] [-o FILE]\n"
                  "       echo-zoo MODEL --help\n\n"
                  "Models:\n";
  for (const std::unique_ptr<zoo::Model> &model : models) {
    llvm::outs() << "\n"
                 << model->getName() << ": " << model->getSummary() << "\n";
    model->getOptions().printHelp(llvm::outs());
  }
  llvm::outs() << "\nGeneral options:\n"
                  "  -o FILE  write to FILE instead of the standard output\n"
                  "  --help   print this; after a model, more about it\n";
}

static void printHelp(zoo::Model &model) {
  llvm::outs() << model.getName() << ": " << model.getSummary()
               << "\n\nusage: echo-zoo " << model.getName()
               << " [--option=value ...] [-o FILE]\n\n"
               << model.getDescription() << "\nOptions:\n";
  model.getOptions().printHelp(llvm::outs());
  llvm::outs() << "  -o FILE  write to FILE instead of the standard output\n";
}

static int fail(const Twine &message) {
  llvm::errs() << "echo-zoo: error: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
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
    printHelp(models);
    return 0;
  }
  auto found = llvm::find_if(models, [&](const auto &model) {
    return model->getName() == arguments.front();
  });
  if (found == models.end())
    return fail("expected a model (" + known + "), found '" +
                arguments.front() + "'");
  zoo::Model &model = **found;
  if (help) {
    printHelp(model);
    return 0;
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
  // Writes a temporary file and renames it, so that a reader never sees half.
  llvm::Error error =
      llvm::writeToOutput(outputName, [&](llvm::raw_ostream &os) {
        OpPrintingFlags flags;
        flags.enableDebugInfo().assumeVerified();
        module->print(os, flags);
        os << "\n";
        os.flush();
        return llvm::Error::success();
      });
  if (error)
    return fail(llvm::toString(std::move(error)));
  return 0;
}

//===- Link.cpp - From objects to a shared object -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ToolRun.h"
#include "CPUTarget.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::cpu;

ArrayRef<StringRef> mlir::echo::libraryFunctionsOfKernels() {
  static const StringRef names[] = {
      "memcpy",     "memmove",    "memset", "memcmp",    "bcmp",      "floor",
      "ceil",       "trunc",      "rint",   "nearbyint", "roundeven", "round",
      "fma",        "floorf",     "ceilf",  "truncf",    "rintf",     "fmaf",
      "nearbyintf", "roundevenf", "roundf"};
  return names;
}

static bool isAllowedLibraryFunction(StringRef name) {
  return llvm::is_contained(libraryFunctionsOfKernels(), name) ||
         name == "_GLOBAL_OFFSET_TABLE_";
}

/// Every symbol that no object defines must be one of the above.
static LogicalResult checkSymbols(Location loc,
                                  ArrayRef<ObjectBuffer> objects) {
  llvm::StringSet<> defined;
  SmallVector<std::string> needed;
  for (const ObjectBuffer &object : objects) {
    auto file = llvm::object::ObjectFile::createObjectFile(
        llvm::MemoryBufferRef(object, "kernels"));
    if (!file)
      return emitError(loc) << "can't read generated object: "
                            << llvm::toString(file.takeError());
    for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
      auto name = symbol.getName();
      auto flags = symbol.getFlags();
      if (!name || !flags) {
        llvm::consumeError(name.takeError());
        llvm::consumeError(flags.takeError());
        continue;
      }
      if (name->empty())
        continue;
      if (*flags & llvm::object::SymbolRef::SF_Undefined)
        needed.push_back(name->str());
      else
        defined.insert(*name);
    }
  }
  for (const std::string &name : needed)
    if (!defined.contains(name) && !isAllowedLibraryFunction(name))
      return emitError(loc) << "the kernels need the function '" << name
                            << "', which an artefact can't call on this CPU";
  return success();
}

static std::optional<std::string> findLinker() {
  for (StringRef name : {"ld.lld-22", "ld.lld", "ld"})
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return std::nullopt;
}

LogicalResult cpu::linkSharedObject(Location loc,
                                    ArrayRef<ObjectBuffer> objects,
                                    std::string &content) {
  if (failed(checkSymbols(loc, objects)))
    return failure();
  std::optional<std::string> linker = findLinker();
  if (!linker)
    return emitError(loc) << "found no linker; expected ld.lld-22, ld.lld or "
                             "ld in PATH";

  ToolRun tool(loc);
  FailureOr<std::string> output = tool.addFile(".so");
  if (failed(output))
    return failure();
  SmallVector<std::string> inputs;
  for (const ObjectBuffer &object : objects) {
    FailureOr<std::string> input = tool.addFile(".o", object);
    if (failed(input))
      return failure();
    inputs.push_back(*input);
  }

  SmallVector<StringRef> arguments = {
      "-shared", "--build-id=none", "--hash-style=gnu",
      "-z",      "noexecstack",     "-o",
      *output};
  // In a mapped file, a full disk would be a signal.
  if (llvm::sys::path::filename(*linker).starts_with("ld.lld"))
    arguments.push_back("--no-mmap-output-file");
  llvm::append_range(arguments, inputs);
  if (failed(tool.run(*linker, arguments)))
    return failure();
  FailureOr<std::string> linked = tool.read(*output);
  if (failed(linked))
    return failure();
  content = std::move(*linked);
  return success();
}

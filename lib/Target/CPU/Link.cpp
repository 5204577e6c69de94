//===- Link.cpp - From objects to a shared object -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPUTarget.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include <deque>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::cpu;

/// What LLVM may call for a loop or an instruction that the CPU lacks, and
/// that gives the same bits everywhere. Everything else would be a function
/// that the kernels were not to need.
static bool isAllowedLibraryFunction(StringRef name) {
  static const llvm::StringSet<> names = {
      "memcpy",    "memmove", "memset", "memcmp",     "bcmp",
      "floor",     "ceil",    "trunc",  "rint",       "nearbyint",
      "roundeven", "round",   "fma",    "floorf",     "ceilf",
      "truncf",    "rintf",   "fmaf",   "nearbyintf", "roundevenf",
      "roundf"};
  return names.contains(name) || name == "_GLOBAL_OFFSET_TABLE_";
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

  // Everything under temporary names, removed on every way out. A remover that
  // moves removes its file, so they stay where they are.
  std::deque<llvm::FileRemover> removers;
  auto createTemporary = [&](const Twine &model, SmallString<128> &name,
                             int &file) -> std::error_code {
    if (std::error_code error =
            llvm::sys::fs::createUniqueFile(model, file, name))
      return error;
    removers.emplace_back(name);
    llvm::sys::RemoveFileOnSignal(name);
    return {};
  };
  int file;
  SmallString<128> output, log, directory;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, directory);
  for (auto [model, name] : {std::pair("/echo-%%%%%%%%.so", &output),
                             std::pair("/echo-%%%%%%%%.log", &log)}) {
    if (std::error_code error =
            createTemporary(Twine(directory) + model, *name, file))
      return emitError(loc)
             << "can't write to '" << directory << "': " << error.message();
    llvm::sys::fs::closeFile(file);
  }
  SmallVector<std::string> inputs;
  for (const ObjectBuffer &object : objects) {
    SmallString<128> name;
    if (std::error_code error =
            createTemporary(directory + "/echo-%%%%%%%%.o", name, file))
      return emitError(loc) << "can't write to '" << directory
                            << "': " << error.message();
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
    stream << object;
    stream.close();
    if (stream.has_error()) {
      std::string message = stream.error().message();
      stream.clear_error();
      return emitError(loc) << "can't write '" << name << "': " << message;
    }
    inputs.push_back(name.str().str());
  }

  SmallVector<StringRef> arguments = {
      *linker, "-shared",      "--build-id=none", "--hash-style=gnu",
      "-z",    "noexecstack", "-o",              output};
  // In a mapped file, a full disk would be a signal.
  if (llvm::sys::path::filename(*linker).starts_with("ld.lld"))
    arguments.push_back("--no-mmap-output-file");
  llvm::append_range(arguments, inputs);
  std::string error;
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log),
                                          StringRef(log)};
  int status = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &error);
  if (status != 0) {
    if (auto text = llvm::MemoryBuffer::getFile(log))
      error += (*text)->getBuffer().rtrim();
    return emitError(loc) << *linker << " failed: " << error;
  }
  auto linked = llvm::MemoryBuffer::getFile(output);
  if (!linked)
    return emitError(loc) << "can't read '" << output
                          << "': " << linked.getError().message();
  content = (*linked)->getBuffer().str();
  return success();
}

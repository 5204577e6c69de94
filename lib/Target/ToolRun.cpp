//===- ToolRun.cpp - Running programs of a toolchain ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToolRun.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::echo;

ToolRun::~ToolRun() {
  for (const std::string &file : files) {
    llvm::sys::fs::remove(file);
    llvm::sys::DontRemoveFileOnSignal(file);
  }
}

FailureOr<std::string> ToolRun::addFile(StringRef suffix, StringRef content) {
  SmallString<128> folder, name;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  int file;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(
          Twine(folder) + "/echo-%%%%%%%%" + suffix, file, name))
    return emitError(loc) << "can't write to '" << folder
                          << "': " << error.message();
  files.push_back(name.str().str());
  llvm::sys::RemoveFileOnSignal(name);
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream << content;
  stream.close();
  if (stream.has_error()) {
    std::string message = stream.error().message();
    stream.clear_error();
    return emitError(loc) << "can't write '" << name << "': " << message;
  }
  return files.back();
}

LogicalResult ToolRun::run(StringRef program, ArrayRef<StringRef> arguments) {
  FailureOr<std::string> log = addFile(".log");
  if (failed(log))
    return failure();
  SmallVector<StringRef> all = {program};
  llvm::append_range(all, arguments);
  std::string error;
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(*log),
                                          StringRef(*log)};
  int status =
      llvm::sys::ExecuteAndWait(program, all, std::nullopt, redirects,
                                /*SecondsToWait=*/0, /*MemoryLimit=*/0, &error);
  if (status == 0)
    return success();
  if (auto text = llvm::MemoryBuffer::getFile(*log))
    error += (*text)->getBuffer().rtrim();
  return emitError(loc) << program << " failed: " << error;
}

FailureOr<std::string> ToolRun::read(StringRef file) const {
  auto content = llvm::MemoryBuffer::getFile(file);
  if (!content)
    return emitError(loc) << "can't read '" << file
                          << "': " << content.getError().message();
  return (*content)->getBuffer().str();
}

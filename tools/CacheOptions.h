//===- CacheOptions.h - Options of the artefact cache -----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_CACHEOPTIONS_H
#define ECHO_TOOLS_CACHEOPTIONS_H

#include "Echo/Target/ArtifactCache.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Process.h"

namespace mlir::echo {

struct CacheOptions {
  explicit CacheOptions(llvm::cl::OptionCategory &category)
      : directory("cache-dir", llvm::cl::cat(category),
                  llvm::cl::value_desc("folder"),
                  llvm::cl::desc("Where compiled steps are kept (default: "
                                 "$ECHO_CACHE_DIR, or echo in the user's cache "
                                 "folder)")),
        megabytes("cache-size", llvm::cl::cat(category),
                  llvm::cl::value_desc("MiB"),
                  llvm::cl::init(ArtifactCache::kDefaultMaxBytes >> 20),
                  llvm::cl::desc("What the kept steps may take; the oldest "
                                 "are removed (default: 1024)")),
        off("no-cache", llvm::cl::cat(category), llvm::cl::init(false),
            llvm::cl::desc("Compile, and keep nothing")) {}

  /// The cache, or null where there is none. A folder that somebody named and
  /// that can't be made is an error.
  llvm::Expected<std::unique_ptr<ArtifactCache>> open() const {
    if (off)
      return nullptr;
    std::string path =
        directory.empty() ? defaultCacheDirectory() : directory.getValue();
    if (path.empty())
      return nullptr;
    constexpr uint64_t kMostMegabytes = UINT64_MAX >> 20;
    llvm::Expected<ArtifactCache> cache = ArtifactCache::open(
        path, std::min<uint64_t>(megabytes, kMostMegabytes) << 20);
    if (cache)
      return std::make_unique<ArtifactCache>(std::move(*cache));
    bool isNamed = !directory.empty() ||
                   llvm::sys::Process::GetEnv("ECHO_CACHE_DIR").has_value();
    if (isNamed)
      return cache.takeError();
    llvm::consumeError(cache.takeError());
    return nullptr;
  }

private:
  llvm::cl::opt<std::string> directory;
  llvm::cl::opt<uint64_t> megabytes;
  llvm::cl::opt<bool> off;
};

/// Counts what is said while it lives. What was compiled with a warning isn't
/// kept: the next compilation is to say it again.
class DiagnosticCounter : public ScopedDiagnosticHandler {
public:
  explicit DiagnosticCounter(MLIRContext *context)
      : ScopedDiagnosticHandler(context) {
    setHandler([this](Diagnostic &) {
      ++number;
      return failure(); // left to the handlers before
    });
  }
  unsigned count() const { return number; }

private:
  unsigned number = 0;
};

} // namespace mlir::echo

#endif // ECHO_TOOLS_CACHEOPTIONS_H

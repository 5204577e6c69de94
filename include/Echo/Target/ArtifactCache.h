//===- ArtifactCache.h - Artefacts kept by content --------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder of compiled artefacts, each under the hash of all that it depends
// on: the graph's text, the options, the CPU and the compiler itself. Several
// processes may use one folder: an entry appears whole by renaming and is
// checked against its own hash when it is read.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TARGET_ARTIFACTCACHE_H
#define ECHO_TARGET_ARTIFACTCACHE_H

#include "Echo/Target/Artifact.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>

namespace mlir::echo {

/// $ECHO_CACHE_DIR, or echo in the user's cache folder ($XDG_CACHE_HOME, or
/// ~/.cache); "" if there is none of these.
std::string defaultCacheDirectory();

class ArtifactCache {
public:
  static constexpr uint64_t kDefaultMaxBytes = uint64_t(1) << 30;

  /// Makes the folder where it is missing. Entries together take at most
  /// `maxBytes`: those that were used last stay.
  static llvm::Expected<ArtifactCache>
  open(StringRef directory, uint64_t maxBytes = kDefaultMaxBytes);

  /// The name for what compiling `graph` (the text or bytecode of a module)
  /// gives. `options.threads` has no part in it: the artefact doesn't depend on
  /// it.
  static std::string key(StringRef graph, const ArtifactOptions &options);

  /// The artefact's bytes, or none. An entry that isn't whole is removed.
  std::optional<std::string> lookup(StringRef key) const;

  /// Keeps an artefact and removes the oldest ones past the limit.
  llvm::Error store(StringRef key, StringRef artifact) const;

private:
  ArtifactCache(StringRef directory, uint64_t maxBytes)
      : directory(directory), maxBytes(maxBytes) {}
  llvm::SmallString<128> entryPath(StringRef key) const;
  void removeOldest() const;

  std::string directory;
  uint64_t maxBytes;
};

} // namespace mlir::echo

#endif // ECHO_TARGET_ARTIFACTCACHE_H

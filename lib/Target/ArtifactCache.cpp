//===- ArtifactCache.cpp - Artefacts kept by content ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry is the artefact with a trailer: a BLAKE3 hash of key and artefact,
// the artefact's size and a magic number.
//
//===----------------------------------------------------------------------===//

#include "Echo/Target/ArtifactCache.h"
#include "Program.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <chrono>
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::echo;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr StringLiteral kMagic = "ECHOKEPT";
static constexpr StringLiteral kExtension = ".artifact";
static constexpr size_t kHashBytes = 32;
static constexpr size_t kTrailerBytes = kHashBytes + 8 + kMagic.size();
/// A temporary file of this age is one that a process left when it was ended.
static constexpr std::chrono::hours kAbandoned(1);

namespace {

/// Hashes fields so that no two lists of fields give the same bytes.
class FieldHasher {
public:
  void add(StringRef field) {
    char size[8];
    llvm::support::endian::write64le(size, field.size());
    hasher.update(StringRef(size, sizeof(size)));
    hasher.update(field);
  }
  void add(int64_t value) { add(std::to_string(value)); }
  llvm::BLAKE3Result<kHashBytes> result() { return hasher.final<kHashBytes>(); }

private:
  llvm::BLAKE3 hasher;
};

} // namespace

static StringRef asString(const llvm::BLAKE3Result<kHashBytes> &hash) {
  return StringRef(reinterpret_cast<const char *>(hash.data()), hash.size());
}

/// The file that holds a function: a library or the executable.
static std::string fileOf(const void *function) {
  Dl_info info;
  if (!dladdr(function, &info) || !info.dli_fname)
    return "";
  // The dynamic loader knows the executable by its first argument.
  std::string name = info.dli_fname;
  return fs::exists(name) ? name : fs::getMainExecutable(nullptr, nullptr);
}

/// What tells this build from others: the bytes of the file with our code, and
/// which LLVM and MLIR it runs with.
static std::string identifyBuild() {
  FieldHasher hasher;
  hasher.add(LLVM_VERSION_STRING);
  hasher.add(::echo::kProgramVersion);
  std::string own = fileOf(reinterpret_cast<const void *>(&identifyBuild));
  if (auto file = llvm::MemoryBuffer::getFile(own, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false))
    hasher.add((*file)->getBuffer());
  using HostNameFunction = llvm::StringRef (*)();
  HostNameFunction fromLLVM = &llvm::sys::getHostCPUName;
  using DialectsFunction = std::vector<StringRef> (MLIRContext::*)();
  DialectsFunction fromMLIR = &MLIRContext::getAvailableDialects;
  const void *addresses[] = {reinterpret_cast<const void *>(fromLLVM), nullptr};
  // A pointer to a member that isn't virtual begins with its address.
  std::memcpy(&addresses[1], &fromMLIR, sizeof(void *));
  for (const void *address : addresses) {
    fs::file_status status;
    if (fs::status(fileOf(address), status))
      continue;
    hasher.add(status.getSize());
    hasher.add(
        status.getLastModificationTime().time_since_epoch().count());
  }
  return asString(hasher.result()).str();
}

static void addHost(FieldHasher &hasher) {
  hasher.add(llvm::sys::getHostCPUName());
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  SmallVector<StringRef> names(features.keys());
  llvm::sort(names);
  for (StringRef name : names) {
    hasher.add(name);
    hasher.add(features[name]);
  }
}

std::string mlir::echo::defaultCacheDirectory() {
  if (std::optional<std::string> own =
          llvm::sys::Process::GetEnv("ECHO_CACHE_DIR"))
    return *own;
  SmallString<128> directory;
  if (!path::cache_directory(directory))
    return "";
  path::append(directory, "echo");
  return directory.str().str();
}

llvm::Expected<ArtifactCache> ArtifactCache::open(StringRef directory,
                                                  uint64_t maxBytes) {
  if (std::error_code error = fs::create_directories(
          directory, /*IgnoreExisting=*/true, fs::perms::owner_all))
    return llvm::createStringError(error, "can't make the cache folder '" +
                                              directory +
                                              "': " + error.message());
  return ArtifactCache(directory, maxBytes);
}

std::string ArtifactCache::key(StringRef graph,
                               const ArtifactOptions &options) {
  static const std::string build = identifyBuild();
  FieldHasher hasher;
  hasher.add(build);
  hasher.add(graph);
  hasher.add(options.target);
  hasher.add(llvm::join(options.chips, ","));
  if (options.target == "cuda")
    hasher.add(findPtxas()); // without one there is no machine code
  hasher.add(options.entry);
  hasher.add(options.optimizer);
  hasher.add(options.strategy);
  hasher.add(options.plan ? options.plan->json : "");
  hasher.add(options.cpu);
  hasher.add(options.features);
  hasher.add(options.alignment);
  hasher.add(options.optimizationLevel);
  hasher.add(llvm::sys::getProcessTriple());
  if (options.cpu == "native")
    addHost(hasher);
  return llvm::toHex(asString(hasher.result()), /*LowerCase=*/true);
}

llvm::SmallString<128> ArtifactCache::entryPath(StringRef key) const {
  llvm::SmallString<128> name(directory);
  path::append(name, key + kExtension);
  return name;
}

/// The hash that an entry carries. The key is part of it: a file under another
/// entry's name is no entry.
static llvm::BLAKE3Result<kHashBytes> entryHash(StringRef key,
                                                StringRef artifact) {
  FieldHasher hasher;
  hasher.add(key);
  hasher.add(artifact);
  return hasher.result();
}

/// The artefact in an entry's bytes; "" if they aren't whole.
static StringRef checkEntry(StringRef key, StringRef entry) {
  if (entry.size() <= kTrailerBytes)
    return "";
  StringRef artifact = entry.drop_back(kTrailerBytes);
  StringRef trailer = entry.take_back(kTrailerBytes);
  uint64_t size =
      llvm::support::endian::read64le(trailer.drop_front(kHashBytes).data());
  if (!trailer.ends_with(kMagic) || size != artifact.size() ||
      trailer.take_front(kHashBytes) != asString(entryHash(key, artifact)))
    return "";
  return artifact;
}

std::optional<std::string> ArtifactCache::lookup(StringRef key) const {
  llvm::SmallString<128> name = entryPath(key);
  auto file = llvm::MemoryBuffer::getFile(name, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/true);
  if (!file)
    return std::nullopt;
  std::string artifact = checkEntry(key, (*file)->getBuffer()).str();
  if (artifact.empty()) {
    fs::remove(name);
    return std::nullopt;
  }
  // The time of the last use is what decides which entries stay.
  int descriptor;
  if (!fs::openFileForWrite(name, descriptor, fs::CD_OpenExisting,
                            fs::OF_Append)) {
    (void)fs::setLastAccessAndModificationTime(
        descriptor, std::chrono::system_clock::now());
    fs::closeFile(descriptor);
  }
  return artifact;
}

llvm::Error ArtifactCache::store(StringRef key, StringRef artifact) const {
  if (artifact.empty() || artifact.size() + kTrailerBytes > maxBytes)
    return llvm::Error::success();
  llvm::SmallString<128> name = entryPath(key), temporary;
  int descriptor;
  if (std::error_code error = fs::createUniqueFile(
          directory + "/%%%%%%%%%%%%.tmp", descriptor, temporary,
          fs::OF_None, fs::owner_read | fs::owner_write))
    return llvm::createStringError(error, "can't write to the cache folder '" +
                                              directory +
                                              "': " + error.message());
  llvm::scope_exit remove([&] { fs::remove(temporary); });
  std::error_code error;
  {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    char size[8];
    llvm::support::endian::write64le(size, artifact.size());
    stream << artifact << asString(entryHash(key, artifact))
           << StringRef(size, sizeof(size)) << kMagic;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (!error)
    error = fs::rename(temporary, name);
  if (error)
    return llvm::createStringError(error, "can't write '" + name.str() +
                                              "': " + error.message());
  remove.release();
  removeOldest();
  return llvm::Error::success();
}

/// Other processes may do the same: a file that is gone already is no error.
void ArtifactCache::removeOldest() const {
  struct Entry {
    std::string name;
    uint64_t bytes;
    llvm::sys::TimePoint<> used;
  };
  SmallVector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; it != end && !error;
       it.increment(error)) {
    StringRef extension = path::extension(it->path());
    fs::file_status status;
    if ((extension != kExtension && extension != ".tmp") ||
        fs::status(it->path(), status) || !fs::is_regular_file(status))
      continue;
    llvm::sys::TimePoint<> used = status.getLastModificationTime();
    if (extension == ".tmp") {
      if (std::chrono::system_clock::now() - used > kAbandoned)
        fs::remove(it->path());
      continue;
    }
    entries.push_back({it->path(), status.getSize(), used});
    total += status.getSize();
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.used, a.name) < std::tie(b.used, b.name);
  });
  for (const Entry &entry : entries) {
    if (total <= maxBytes)
      return;
    fs::remove(entry.name);
    total -= entry.bytes;
  }
}

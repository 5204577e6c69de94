//===- Artifact.cpp - A compiled step in a shared object ------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Artifact.h"

#include "Error.h"
#include "Files.h"
#include "cpu/CpuFeatures.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <map>
#include <mutex>
#include <sys/stat.h>

using namespace echo;

namespace {

[[noreturn]] void throwInvalidArtifact(const std::string &path,
                                       const std::string &message) {
  throw Error(ECHO_INVALID_ARTIFACT, "'" + path + "': " + message);
}

#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#else
#error "no machine known for this target"
#endif

/// Checks that an ELF shared object holds every byte its headers speak of: the
/// loader maps what it is told and a truncated file would end the process.
void checkElf(const std::string &path, std::string_view file,
              const std::string &what = "") {
  auto invalid = [&](const char *message) {
    throwInvalidArtifact(path, what + message);
  };
  Elf64_Ehdr header;
  if (file.size() < sizeof(header) ||
      std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    invalid("not a shared object");
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kMachine ||
      header.e_type != ET_DYN)
    invalid("not a shared object for this machine");
  auto inside = [&](uint64_t offset, uint64_t size) {
    return offset <= file.size() && size <= file.size() - offset;
  };
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !inside(header.e_phoff, uint64_t(header.e_phnum) * sizeof(Elf64_Phdr)) ||
      !inside(header.e_shoff, uint64_t(header.e_shnum) * header.e_shentsize))
    invalid("truncated shared object");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, file.data() + header.e_phoff + i * sizeof(segment),
                sizeof(segment));
    if (!inside(segment.p_offset, segment.p_filesz))
      invalid("truncated shared object");
  }
}

/// The loader goes by the name of a file: while an artefact is open, another
/// file under its name would give the old one again. Which file each open name
/// stands for is kept here.
class OpenFiles {
public:
  /// Registers a file under the name; false if the name stands for another.
  bool add(const std::string &name, const struct stat &status) {
    std::lock_guard<std::mutex> lock(mutex);
    Entry &entry = entries[name];
    if (entry.users != 0 &&
        (entry.device != status.st_dev || entry.inode != status.st_ino))
      return false;
    entry.device = status.st_dev;
    entry.inode = status.st_ino;
    ++entry.users;
    return true;
  }
  void remove(const std::string &name) {
    std::lock_guard<std::mutex> lock(mutex);
    auto entry = entries.find(name);
    if (entry != entries.end() && --entry->second.users == 0)
      entries.erase(entry);
  }

private:
  struct Entry {
    dev_t device = 0;
    ino_t inode = 0;
    int users = 0;
  };
  std::mutex mutex;
  std::map<std::string, Entry> entries;
};

OpenFiles &openFiles() {
  static OpenFiles files;
  return files;
}

/// The address and size of a symbol; the artefact must define it itself.
struct Symbol {
  const void *address = nullptr;
  uint64_t bytes = 0;
};

Symbol findSymbol(void *handle, const std::string &path, const char *name) {
  Symbol symbol;
  symbol.address = dlsym(handle, name);
  if (!symbol.address)
    throwInvalidArtifact(path, std::string("no symbol ") + name +
                                   ": not an artefact of echo-compile");
  Dl_info info;
  void *extra = nullptr;
  if (dladdr1(symbol.address, &info, &extra, RTLD_DL_SYMENT) && extra)
    symbol.bytes = static_cast<const ElfW(Sym) *>(extra)->st_size;
  return symbol;
}

/// What the loader has mapped of a shared object.
class MappedObject {
public:
  explicit MappedObject(void *handle) {
    dlinfo(handle, RTLD_DI_LINKMAP, &map);
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *object) {
          return static_cast<MappedObject *>(object)->addSegments(*info);
        },
        this);
  }

  bool holds(const void *data, uint64_t bytes) const {
    auto begin = reinterpret_cast<uintptr_t>(data);
    return std::any_of(
        segments.begin(), segments.end(), [&](const Segment &segment) {
          return begin >= segment.begin && begin <= segment.end &&
                 bytes <= segment.end - begin;
        });
  }
  /// Whether a text and the zero at its end are in the object.
  bool holdsText(const char *text) const {
    while (holds(text, 1))
      if (*text++ == 0)
        return true;
    return false;
  }

private:
  struct Segment {
    uintptr_t begin, end;
  };

  /// Returns whether it is this object, which ends the search.
  int addSegments(const dl_phdr_info &info) {
    if (!map || info.dlpi_addr != map->l_addr)
      return 0;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr) &header = info.dlpi_phdr[i];
      uintptr_t begin = info.dlpi_addr + header.p_vaddr;
      if (header.p_type == PT_LOAD)
        segments.push_back({begin, begin + header.p_memsz});
    }
    return 1;
  }

  link_map *map = nullptr;
  std::vector<Segment> segments;
};

uint64_t readNumber(void *handle, const std::string &path, const char *name) {
  Symbol symbol = findSymbol(handle, path, name);
  uint64_t number;
  if (symbol.bytes != 0 && symbol.bytes < sizeof(number))
    throwInvalidArtifact(path, std::string(name) + " isn't 64 bits wide");
  std::memcpy(&number, symbol.address, sizeof(number));
  return number;
}

} // namespace

Artifact::Artifact(const std::string &path) : file(path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    throw Error(ECHO_IO_ERROR,
                "can't read '" + path + "': " + std::strerror(errno));
  std::string bytes = readFile(path);
  checkElf(path, bytes);
  if (!hasItsChecksum(bytes))
    throwInvalidArtifact(path, "damaged file: its checksum doesn't match");
  // Without a slash the loader would search its own folders.
  std::string name = path.find('/') == std::string::npos ? "./" + path : path;
  if (!openFiles().add(name, status))
    throwInvalidArtifact(path, "the file was replaced while a session of the "
                               "earlier one is open; close that first");
  key = name;
  try {
    load();
  } catch (...) {
    if (handle)
      dlclose(handle);
    openFiles().remove(key);
    throw;
  }
}

Artifact::~Artifact() {
  dlclose(handle);
  openFiles().remove(key);
}

std::string Artifact::chips() const {
  std::string list;
  for (const Image &image : gpuImages)
    list +=
        (list.empty() ? "" : ", ") + std::string(image.chip) +
        (image.kind == static_cast<uint64_t>(ImageKind::PTX) ? " (PTX)" : "");
  return list;
}

void Artifact::load() {
  handle = dlopen(key.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throwInvalidArtifact(file, dlerror());
  Symbol bytes = findSymbol(handle, file, "echo_program");
  uint64_t programBytes = readNumber(handle, file, "echo_program_size");
  if (bytes.bytes != 0 && programBytes > bytes.bytes)
    throwInvalidArtifact(file, "echo_program has " +
                                   std::to_string(bytes.bytes) +
                                   " bytes, echo_program_size says " +
                                   std::to_string(programBytes));
  if (!MappedObject(handle).holds(bytes.address, programBytes))
    throwInvalidArtifact(file, "echo_program_size says " +
                                   std::to_string(programBytes) +
                                   " bytes, which the file doesn't have");
  std::string error;
  if (!Program::parse({static_cast<const char *>(bytes.address), programBytes},
                      contents, error))
    throwInvalidArtifact(file, error);
  if (contents.target == "cpu")
    loadKernels();
  else if (contents.target == "cuda")
    loadImages();
  else
    throwInvalidArtifact(file, "compiled for target '" + contents.target +
                                   "'; this runtime runs 'cpu' and 'cuda'");
}

void Artifact::loadKernels() {
  std::vector<std::string> missing = missingFeatures(contents.features);
  if (!missing.empty()) {
    std::string list;
    for (const std::string &feature : missing)
      list += (list.empty() ? "" : ", ") + feature;
    throwInvalidArtifact(file, "compiled for the CPU '" + contents.cpu +
                                   "', this one lacks: " + list);
  }
  if (contents.kernels.empty())
    return;
  Symbol kernels = findSymbol(handle, file, "echo_kernels");
  if (kernels.bytes != 0 &&
      kernels.bytes < contents.kernels.size() * sizeof(KernelFunction))
    throwInvalidArtifact(file, "echo_kernels is too small for " +
                                   std::to_string(contents.kernels.size()) +
                                   " kernels");
  functions = static_cast<const KernelFunction *>(kernels.address);
  for (size_t i = 0; i < contents.kernels.size(); ++i)
    if (!functions[i])
      throwInvalidArtifact(file, "kernel " + std::to_string(i) + " '" +
                                     contents.kernels[i].name + "' is missing");
}

void Artifact::loadImages() {
  uint64_t count = readNumber(handle, file, "echo_num_images");
  Symbol table = findSymbol(handle, file, "echo_images");
  if (table.bytes != 0 && count > table.bytes / sizeof(Image))
    throwInvalidArtifact(file, "echo_images is too small for " +
                                   std::to_string(count) + " images");
  MappedObject object(handle);
  uint64_t tableBytes;
  if (__builtin_mul_overflow(count, sizeof(Image), &tableBytes) ||
      !object.holds(table.address, tableBytes))
    throwInvalidArtifact(file, "it has no room for " + std::to_string(count) +
                                   " images");
  auto *images = static_cast<const Image *>(table.address);
  for (uint64_t i = 0; i < count; ++i) {
    const Image &image = images[i];
    std::string what = "image " + std::to_string(i) + ": ";
    if (!image.chip || !image.data)
      throwInvalidArtifact(file, what + "its chip or its bytes are missing");
    if (!object.holdsText(image.chip))
      throwInvalidArtifact(file, what + "its chip isn't a text of the file");
    what = "image for '" + std::string(image.chip) + "': ";
    if (!object.holds(image.data, image.bytes))
      throwInvalidArtifact(file, what + std::to_string(image.bytes) +
                                     " bytes, which the file doesn't have");
    std::string_view bytes(static_cast<const char *>(image.data), image.bytes);
    switch (static_cast<ImageKind>(image.kind)) {
    case ImageKind::Cubin:
      if (bytes.substr(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG))
        throwInvalidArtifact(file, what + "not a cubin");
      break;
    case ImageKind::PTX:
      if (bytes.empty() || bytes.find('\0') != bytes.size() - 1)
        throwInvalidArtifact(file, what + "expected a text that ends with its "
                                          "only zero byte");
      break;
    case ImageKind::HostObject:
      checkElf(file, bytes, what);
      break;
    default:
      throwInvalidArtifact(file,
                           what + "unknown kind " + std::to_string(image.kind));
    }
    gpuImages.push_back(image);
  }
  if (gpuImages.empty() && !contents.kernels.empty())
    throwInvalidArtifact(file, "it has no image of its kernels");
}

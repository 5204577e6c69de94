//===- HostObject.cpp - Kernels compiled for the simulator ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sim/HostObject.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <unistd.h>

using namespace echo::sim;

/// A file that is gone once it is closed, with a path that the loader can open.
/// The loader takes a path that it has for the object that it has: the path
/// stays this file's as long as the object is loaded.
class HostObject::TemporaryFile {
public:
  TemporaryFile() {
    descriptor = memfd_create("echo-kernels", MFD_CLOEXEC);
    if (descriptor >= 0) {
      path = "/proc/self/fd/" + std::to_string(descriptor);
      if (access(path.c_str(), R_OK) == 0)
        return;
      close(descriptor);
    }
    std::error_code ignored;
    path =
        std::filesystem::temp_directory_path(ignored) / "echo-kernels-XXXXXX";
    descriptor = mkostemp(path.data(), O_CLOEXEC);
    isNamed = descriptor >= 0;
  }
  ~TemporaryFile() {
    if (isNamed)
      unlink(path.c_str());
    if (descriptor >= 0)
      close(descriptor);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  /// Returns whether all was written; errno says why not.
  bool write(std::string_view bytes) {
    if (descriptor < 0)
      return false;
    while (!bytes.empty()) {
      ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return false;
      bytes.remove_prefix(count);
    }
    return true;
  }

  std::string path;

private:
  int descriptor = -1;
  bool isNamed = false;
};

HostObject::HostObject() = default;

HostObject::~HostObject() {
  if (handle)
    dlclose(handle);
}

std::string HostObject::load(std::string_view bytes) {
  file = std::make_unique<TemporaryFile>();
  if (!file->write(bytes))
    return std::string("can't write a temporary file: ") + std::strerror(errno);
  handle = dlopen(file->path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return dlerror();
  std::string error = readSymbols();
  if (!error.empty()) {
    dlclose(handle);
    handle = nullptr;
  }
  return error;
}

std::string HostObject::readSymbols() {
  auto **functions = static_cast<const echo_sim_functions **>(
      dlsym(handle, ECHO_SIM_FUNCTIONS_SYMBOL));
  auto *table = static_cast<const echo_sim_kernel *>(
      dlsym(handle, ECHO_SIM_KERNELS_SYMBOL));
  auto *count =
      static_cast<const uint64_t *>(dlsym(handle, ECHO_SIM_NUM_KERNELS_SYMBOL));
  if (!functions || !table || !count)
    return std::string("no symbol ") + (!functions ? ECHO_SIM_FUNCTIONS_SYMBOL
                                        : !table ? ECHO_SIM_KERNELS_SYMBOL
                                                 : ECHO_SIM_NUM_KERNELS_SYMBOL);
  for (uint64_t i = 0; i < *count; ++i)
    if (!table[i].name || !table[i].function)
      return "kernel " + std::to_string(i) + " is missing";
  *functions = echo_sim_get_functions();
  kernels = table;
  numKernels = *count;
  return "";
}

const echo_sim_kernel *HostObject::find(std::string_view name) const {
  for (uint64_t i = 0; i < numKernels; ++i)
    if (kernels[i].name == name)
      return &kernels[i];
  return nullptr;
}

std::vector<Buffer> echo::sim::sharedVariables(const echo_sim_kernel &kernel) {
  std::vector<Buffer> variables;
  for (uint64_t i = 0; i < kernel.num_shared; ++i)
    variables.push_back({kernel.shared[i].data,
                         static_cast<size_t>(kernel.shared[i].bytes), false});
  return variables;
}

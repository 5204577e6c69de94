//===- SharedLibrary.cpp - Libraries loaded at run time -------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/SharedLibrary.h"

#include "Error.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace echo;
using namespace echo::cuda;

SharedLibrary::SharedLibrary(const std::string &what, const char *variable,
                             std::vector<std::string> names)
    : what(what) {
  const char *chosen = std::getenv(variable);
  if (chosen && *chosen)
    names = {chosen};
  std::string tried;
  for (const std::string &name : names) {
    // These libraries keep threads and exit handlers: they stay loaded.
    handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle) {
      file = name;
      return;
    }
    tried += std::string(tried.empty() ? "" : "; ") + dlerror();
  }
  throw Error(ECHO_LIBRARY_ERROR, what + " isn't there: " + tried + " (" +
                                      variable + " can name its file)");
}

SharedLibrary::~SharedLibrary() {
  if (handle)
    dlclose(handle);
}

void *SharedLibrary::address(const char *symbol) const {
  void *found = dlsym(handle, symbol);
  if (!found)
    throw Error(ECHO_LIBRARY_ERROR, what + ", '" + file + "', has no " +
                                        symbol + ": it is too old");
  return found;
}

std::vector<std::string>
echo::cuda::withToolkitFolders(std::vector<std::string> names) {
  std::vector<std::string> folders = {"/usr/local/cuda/lib64"};
  if (const char *home = std::getenv("CUDA_HOME"))
    folders.insert(folders.begin(), std::string(home) + "/lib64");
  size_t count = names.size();
  for (const std::string &folder : folders)
    for (size_t i = 0; i < count; ++i)
      names.push_back(folder + "/" + names[i]);
  return names;
}

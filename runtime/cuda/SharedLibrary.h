//===- SharedLibrary.h - Libraries loaded at run time -----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CUDA_SHAREDLIBRARY_H
#define ECHO_RUNTIME_CUDA_SHAREDLIBRARY_H

#include <string>
#include <vector>

namespace echo::cuda {

/// A library of NVIDIA's: none is needed to build or to start, and where one is
/// missing an error says which, and what the loader said.
class SharedLibrary {
public:
  /// Loads the first of `names` that is there; `variable` of the environment
  /// names another file instead of them. `what` is for errors: "the CUDA
  /// driver". Throws Error (ECHO_LIBRARY_ERROR).
  SharedLibrary(const std::string &what, const char *variable,
                std::vector<std::string> names);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary &) = delete;
  SharedLibrary &operator=(const SharedLibrary &) = delete;

  /// The file that was loaded, as it was asked for.
  const std::string &path() const { return file; }

  /// Sets a pointer to a function; throws Error if the library or those that
  /// it loads have no such symbol.
  template <typename Function>
  void find(Function *&function, const char *symbol) const {
    function = reinterpret_cast<Function *>(address(symbol));
  }

private:
  void *address(const char *symbol) const;

  std::string what, file;
  void *handle = nullptr;
};

/// `names`, and the same below the folders of a CUDA Toolkit that the loader
/// doesn't search: $CUDA_HOME/lib64 and /usr/local/cuda/lib64.
std::vector<std::string> withToolkitFolders(std::vector<std::string> names);

} // namespace echo::cuda

#endif // ECHO_RUNTIME_CUDA_SHAREDLIBRARY_H

//===- Session.h - A compiled step with its memory --------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_SESSION_H
#define ECHO_RUNTIME_COMMON_SESSION_H

#include "Artifact.h"
#include "Backend.h"
#include "Memory.h"
#include "echo_runtime.h"

#include <memory>
#include <string_view>
#include <unordered_map>

namespace echo {

/// What echo_runtime.h says of a session. Every function throws Error before
/// it changes anything. When a device fails while it writes a tensor, the
/// tensor has no value afterwards.
class Session {
public:
  Session(const std::string &path, const SessionOptions &options);

  const Program &program() const { return artifact.program(); }
  /// The index of a tensor, or -1.
  int32_t find(std::string_view name) const;

  void initialize(uint64_t seed);
  void set(const char *name, const void *data, uint64_t bytes);
  void get(const char *name, void *data, uint64_t bytes) const;
  void *persistentData(const char *name, uint64_t &bytes);
  void bind(const char *name, void *data, uint64_t bytes);
  int32_t share(Session &source);
  void step();
  void save(const std::string &path) const;
  void load(const std::string &path);
  void setProfiling(bool enabled) { backend->setProfiling(enabled); }
  /// All fields but struct_size, as for the statistics.
  void fillProfileEntry(uint64_t call, echo_profile_entry &entry) const;
  /// All fields but struct_size.
  void fillStatistics(echo_statistics &statistics) const;

private:
  /// Memory of a persistent tensor, of its own or the caller's; shared by
  /// reference count.
  struct Persistent {
    std::unique_ptr<DeviceMemory> memory;
    bool hasValue = false;
  };
  enum class Source { None, Drawn, Given };
  /// Where a tensor's value is kept between steps.
  struct Slot {
    std::shared_ptr<Persistent> persistent; ///< parameters, states
    std::unique_ptr<DeviceMemory> staged;   ///< inputs, labels
    Source source = Source::None;           ///< of a staged value
  };

  int32_t require(const char *name) const;
  int32_t requirePersistent(const char *name) const;
  void checkBytes(const Tensor &tensor, uint64_t bytes) const;
  bool hasValue(int32_t index) const;
  void requireValue(int32_t index) const;
  /// Copies a tensor's value, which it has.
  void copyValue(int32_t index, void *data) const;
  /// Copies the tensor's bytes into a persistent tensor's memory.
  void assign(int32_t index, const void *data);
  void draw(int32_t index, uint64_t seed);
  void resolve();
  /// Nobody knows what a failed step has written.
  void dropValues();

  Artifact artifact;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<DeviceMemory> arena;
  Vector<Slot> slots; ///< one per tensor
  std::unordered_map<std::string_view, int32_t> indices;
  bool resolved = false, hasResults = false;
  // When resolved; the regions by number.
  Vector<char *> regions;
  Vector<StagedInput> inputs;
  uint64_t steps = 0;         ///< of this session
  uint64_t trainingSteps = 0; ///< that made the persistent values
  uint64_t lastAllocations = 0;
  double lastSeconds = 0, totalSeconds = 0;
};

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_SESSION_H

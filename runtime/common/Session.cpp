//===- Session.cpp - A compiled step with its memory ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "Error.h"
#include "Initialize.h"
#include "Npy.h"
#include "Npz.h"

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace echo;

namespace {

// Kernels and OpenBLAS use vectors of up to 64 bytes.
constexpr uint64_t kAlignment = 64;

std::string title(const Tensor &tensor) {
  return std::string(nameOf(tensor.role)) + " '" + tensor.name + "' " +
         describe(tensor.type, tensor.shape);
}

} // namespace

Session::Session(const std::string &path, int threads)
    : artifact(path),
      arena(program().arenaBytes,
            std::max(program().arenaAlignment, kAlignment), "the arena"),
      executor(program(), artifact.kernels(), threads) {
  uint64_t alignment = std::max(program().arenaAlignment, kAlignment);
  if (reinterpret_cast<uintptr_t>(arena.data()) % alignment != 0)
    throw Error(ECHO_OUT_OF_MEMORY, "the arena's address isn't a multiple of " +
                                        std::to_string(alignment));
  slots.resize(program().tensors.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor &tensor = program().tensors[i];
    indices.emplace(tensor.name, static_cast<int32_t>(i));
    if (tensor.role == Role::Result)
      continue;
    auto memory = std::make_unique<MappedMemory>(tensor.bytes, kAlignment,
                                                 title(tensor).c_str());
    if (!isPersistent(tensor.role)) {
      slots[i].staged = std::move(memory);
      continue;
    }
    slots[i].persistent = std::make_shared<Persistent>();
    slots[i].persistent->data = memory->data();
    slots[i].persistent->owned = std::move(memory);
  }
}

int32_t Session::find(std::string_view name) const {
  auto found = indices.find(name);
  return found == indices.end() ? -1 : found->second;
}

int32_t Session::require(const char *name) const {
  if (!name)
    throwInvalid("the tensor's name is NULL");
  int32_t index = find(name);
  if (index < 0)
    throwInvalid("'" + program().function + "' has no tensor '" + name + "'");
  return index;
}

int32_t Session::requirePersistent(const char *name) const {
  int32_t index = require(name);
  const Tensor &tensor = program().tensors[index];
  if (!isPersistent(tensor.role))
    throwInvalid(title(tensor) + ": expected a parameter or state");
  return index;
}

void Session::checkBytes(const Tensor &tensor, uint64_t bytes) const {
  if (bytes != tensor.bytes)
    throwInvalid(title(tensor) + ": expected " + std::to_string(tensor.bytes) +
                 " bytes, got " + std::to_string(bytes));
}

bool Session::hasValue(int32_t index) const {
  const Slot &slot = slots[index];
  if (slot.persistent)
    return slot.persistent->hasValue;
  if (slot.staged)
    return slot.source != Source::None;
  return steps != 0;
}

void Session::requireValue(int32_t index) const {
  if (hasValue(index))
    return;
  const Tensor &tensor = program().tensors[index];
  if (tensor.role == Role::Result)
    throwInvalid(title(tensor) + " has no value: no step was run");
  throwInvalid(title(tensor) +
               " has no value: set it, or initialize the session" +
               (isPersistent(tensor.role) ? ", or load a checkpoint" : ""));
}

const char *Session::valueOf(int32_t index) const {
  const Slot &slot = slots[index];
  if (slot.persistent)
    return slot.persistent->data;
  if (slot.staged)
    return slot.staged->data();
  return arena.data() + program().tensors[index].location.offset;
}

void Session::initialize(uint64_t seed) {
  trainingSteps = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot &slot = slots[i];
    const Tensor &tensor = program().tensors[i];
    if (slot.persistent) {
      drawValues(tensor, seed, slot.persistent->data);
      slot.persistent->hasValue = true;
    } else if (slot.staged && slot.source != Source::Given) {
      drawValues(tensor, seed, slot.staged->data());
      slot.source = Source::Drawn;
    }
  }
}

void Session::set(const char *name, const void *data, uint64_t bytes) {
  int32_t index = require(name);
  const Tensor &tensor = program().tensors[index];
  if (tensor.role == Role::Result)
    throwInvalid(title(tensor) + " can't be set");
  checkBytes(tensor, bytes);
  if (!data && bytes != 0)
    throwInvalid(title(tensor) + ": data is NULL");
  if (tensor.type == DataType::I1 &&
      !areFlags({static_cast<const char *>(data), bytes}))
    throwInvalid(title(tensor) + ": a flag is neither 0 nor 1");
  Slot &slot = slots[index];
  char *target = slot.persistent ? slot.persistent->data : slot.staged->data();
  if (bytes != 0)
    std::memmove(target, data, bytes);
  if (slot.persistent)
    slot.persistent->hasValue = true;
  else
    slot.source = Source::Given;
}

void Session::get(const char *name, void *data, uint64_t bytes) const {
  int32_t index = require(name);
  const Tensor &tensor = program().tensors[index];
  checkBytes(tensor, bytes);
  if (!data && bytes != 0)
    throwInvalid(title(tensor) + ": data is NULL");
  requireValue(index);
  if (bytes != 0)
    std::memmove(data, valueOf(index), bytes);
}

void *Session::persistentData(const char *name, uint64_t &bytes) {
  int32_t index = requirePersistent(name);
  bytes = program().tensors[index].bytes;
  Persistent &memory = *slots[index].persistent;
  memory.hasValue = true;
  return memory.data;
}

void Session::bind(const char *name, void *data, uint64_t bytes) {
  int32_t index = requirePersistent(name);
  const Tensor &tensor = program().tensors[index];
  checkBytes(tensor, bytes);
  if (!data)
    throwInvalid(title(tensor) + ": data is NULL");
  if (reinterpret_cast<uintptr_t>(data) % kAlignment != 0)
    throwInvalid(title(tensor) + ": its memory isn't aligned to " +
                 std::to_string(kAlignment) + " bytes");
  auto memory = std::make_shared<Persistent>();
  memory->data = static_cast<char *>(data);
  memory->hasValue = true;
  slots[index].persistent = std::move(memory);
  resolved = false;
}

int32_t Session::share(Session &source) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor &tensor = program().tensors[i];
    int32_t other = source.find(tensor.name);
    if (!slots[i].persistent || other < 0 || !source.slots[other].persistent)
      continue;
    const Tensor &given = source.program().tensors[other];
    if (given.type != tensor.type || given.shape != tensor.shape)
      throwInvalid("can't share " + title(tensor) + " with " + title(given) +
                   " of '" + source.program().function + "'");
    pairs.emplace_back(static_cast<int32_t>(i), other);
  }
  for (auto [index, other] : pairs)
    slots[index].persistent = source.slots[other].persistent;
  resolved = false;
  return static_cast<int32_t>(pairs.size());
}

void Session::resolve() {
  regions.clear();
  regions.reserve(slots.size() + 1);
  regions.push_back(arena.data());
  for (const Slot &slot : slots)
    regions.push_back(slot.persistent ? slot.persistent->data : nullptr);
  executor.resolve(regions);
  resolved = true;
}

void Session::step() {
  uint64_t allocationsBefore = allocationCount();
  for (size_t i = 0; i < slots.size(); ++i)
    if (program().tensors[i].role != Role::Result)
      requireValue(static_cast<int32_t>(i));
  if (!resolved)
    resolve();

  auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor &tensor = program().tensors[i];
    if (slots[i].staged && tensor.bytes != 0)
      std::memcpy(arena.data() + tensor.location.offset,
                  slots[i].staged->data(), tensor.bytes);
  }
  executor.run();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  lastSeconds = seconds.count();
  totalSeconds += lastSeconds;
  ++steps;
  ++trainingSteps;
  lastAllocations = allocationCount() - allocationsBefore;
}

void Session::save(const std::string &path) const {
  std::vector<NpzEntry> entries;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].persistent)
      continue;
    requireValue(static_cast<int32_t>(i));
    entries.push_back({&program().tensors[i], slots[i].persistent->data});
  }
  writeNpz(path, entries, trainingSteps);
}

void Session::load(const std::string &path) {
  NpzReader reader(path);
  std::vector<std::string> contents(slots.size());
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].persistent)
      contents[i] = reader.read(program().tensors[i]);
  trainingSteps = reader.steps();
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].persistent)
      continue;
    std::memcpy(slots[i].persistent->data, contents[i].data(),
                contents[i].size());
    slots[i].persistent->hasValue = true;
  }
}

void Session::fillProfileEntry(uint64_t index,
                               echo_profile_entry &entry) const {
  if (executor.times().empty() && !program().calls.empty())
    throwInvalid("nothing was profiled: switch profiling on first");
  if (index >= program().calls.size())
    throwInvalid("call " + std::to_string(index) + ", but there are " +
                 std::to_string(program().calls.size()));
  const Call &call = program().calls[index];
  const CallTime &time = executor.times()[index];
  entry.kind = static_cast<echo_call_kind>(call.kind);
  entry.name = program().strings[call.name].c_str();
  entry.op = program().strings[call.op].c_str();
  entry.layer = program().strings[call.layer].c_str();
  entry.flops = call.flops;
  entry.bytes = call.bytes;
  entry.runs = time.runs;
  entry.seconds = time.seconds;
  entry.last_begin = time.lastBegin;
  entry.last_seconds = time.lastSeconds;
}

void Session::fillStatistics(echo_statistics &statistics) const {
  statistics.steps = steps;
  statistics.last_step_seconds = lastSeconds;
  statistics.total_step_seconds = totalSeconds;
  statistics.arena_bytes = program().arenaBytes;
  statistics.logical_peak_bytes = program().logicalPeakBytes;
  statistics.persistent_bytes = 0;
  for (const Tensor &tensor : program().tensors)
    if (isPersistent(tensor.role))
      statistics.persistent_bytes += tensor.bytes;
  statistics.calls = program().calls.size();
  statistics.last_step_allocations = lastAllocations;
  statistics.training_steps = trainingSteps;
}

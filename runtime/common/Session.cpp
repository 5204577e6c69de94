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

Session::Session(const std::string &path, const SessionOptions &options)
    : artifact(path), backend(createBackend(artifact, options)),
      arena(backend->allocate(program().arenaBytes,
                              std::max(program().arenaAlignment, kAlignment),
                              "the arena")) {
  slots.resize(program().tensors.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor &tensor = program().tensors[i];
    indices.emplace(tensor.name, static_cast<int32_t>(i));
    if (tensor.role == Role::Result)
      continue;
    if (!isPersistent(tensor.role)) {
      slots[i].staged = backend->allocateStaging(tensor.bytes, title(tensor));
      continue;
    }
    slots[i].persistent = std::make_shared<Persistent>();
    slots[i].persistent->memory =
        backend->allocate(tensor.bytes, kAlignment, title(tensor));
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
  return hasResults;
}

void Session::requireValue(int32_t index) const {
  if (hasValue(index))
    return;
  const Tensor &tensor = program().tensors[index];
  if (tensor.role == Role::Result)
    throwInvalid(title(tensor) +
                 " has no value: no step was run, or the last one failed");
  throwInvalid(title(tensor) +
               " has no value: set it, or initialize the session" +
               (isPersistent(tensor.role) ? ", or load a checkpoint" : ""));
}

void Session::copyValue(int32_t index, void *data) const {
  const Slot &slot = slots[index];
  const Tensor &tensor = program().tensors[index];
  if (slot.staged)
    std::memmove(data, slot.staged->host(), tensor.bytes);
  else
    backend->copyOut(data,
                     slot.persistent
                         ? slot.persistent->memory->address()
                         : arena->address() + tensor.location.offset,
                     tensor.bytes);
}

void Session::assign(int32_t index, const void *data) {
  Persistent &persistent = *slots[index].persistent;
  persistent.hasValue = false;
  backend->copyIn(persistent.memory->address(), data,
                  program().tensors[index].bytes);
  persistent.hasValue = true;
}

void Session::draw(int32_t index, uint64_t seed) {
  const Tensor &tensor = program().tensors[index];
  Persistent &persistent = *slots[index].persistent;
  if (char *host = persistent.memory->host()) {
    drawValues(tensor, seed, host);
    persistent.hasValue = true;
    return;
  }
  std::vector<char> values(tensor.bytes);
  drawValues(tensor, seed, values.data());
  assign(index, values.data());
}

void Session::initialize(uint64_t seed) {
  trainingSteps = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot &slot = slots[i];
    if (slot.persistent) {
      draw(static_cast<int32_t>(i), seed);
    } else if (slot.staged && slot.source != Source::Given) {
      drawValues(program().tensors[i], seed, slot.staged->host());
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
  if (slot.persistent)
    return assign(index, data);
  if (bytes != 0)
    std::memmove(slot.staged->host(), data, bytes);
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
    copyValue(index, data);
}

void *Session::persistentData(const char *name, uint64_t &bytes) {
  int32_t index = requirePersistent(name);
  bytes = program().tensors[index].bytes;
  Persistent &persistent = *slots[index].persistent;
  if (!persistent.memory->host())
    throwInvalid(title(program().tensors[index]) + ": its memory is that of " +
                 backend->name() +
                 ", which the host can't reach; copy it with "
                 "echo_session_get and echo_session_set");
  persistent.hasValue = true;
  return persistent.memory->host();
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
  auto persistent = std::make_shared<Persistent>();
  persistent->memory = backend->wrap(data);
  persistent->hasValue = true;
  slots[index].persistent = std::move(persistent);
  resolved = false;
}

int32_t Session::share(Session &source) {
  if (!backend->sharesMemoryWith(*source.backend))
    throwInvalid("can't share the memory of " + source.backend->name() +
                 " with a session on " + backend->name());
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
  regions.push_back(arena->address());
  for (const Slot &slot : slots)
    regions.push_back(slot.persistent ? slot.persistent->memory->address()
                                      : nullptr);
  inputs.clear();
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor &tensor = program().tensors[i];
    if (slots[i].staged && tensor.bytes != 0)
      inputs.push_back(
          {slots[i].staged->host(), tensor.location.offset, tensor.bytes});
  }
  backend->resolve(regions, inputs);
  resolved = true;
}

void Session::dropValues() {
  hasResults = false;
  for (Slot &slot : slots)
    if (slot.persistent)
      slot.persistent->hasValue = false;
}

void Session::step() {
  uint64_t allocationsBefore = allocationCount();
  for (size_t i = 0; i < slots.size(); ++i)
    if (program().tensors[i].role != Role::Result)
      requireValue(static_cast<int32_t>(i));
  if (!resolved)
    resolve();

  auto start = std::chrono::steady_clock::now();
  backend->prepare();
  try {
    backend->run();
  } catch (...) {
    dropValues();
    throw;
  }
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  lastSeconds = seconds.count();
  totalSeconds += lastSeconds;
  ++steps;
  ++trainingSteps;
  hasResults = true;
  lastAllocations = allocationCount() - allocationsBefore;
}

void Session::save(const std::string &path) const {
  std::vector<NpzEntry> entries;
  // What the host can't reach is copied.
  std::vector<std::unique_ptr<char[]>> copies;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].persistent)
      continue;
    auto index = static_cast<int32_t>(i);
    requireValue(index);
    const Tensor &tensor = program().tensors[i];
    const char *data = slots[i].persistent->memory->host();
    if (!data) {
      copies.push_back(std::make_unique<char[]>(tensor.bytes));
      copyValue(index, copies.back().get());
      data = copies.back().get();
    }
    entries.push_back({&tensor, data});
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
    if (slots[i].persistent)
      assign(static_cast<int32_t>(i), contents[i].data());
  }
}

void Session::fillProfileEntry(uint64_t index,
                               echo_profile_entry &entry) const {
  if (backend->times().empty() && !program().calls.empty())
    throwInvalid("nothing was profiled: switch profiling on first");
  if (index >= program().calls.size())
    throwInvalid("call " + std::to_string(index) + ", but there are " +
                 std::to_string(program().calls.size()));
  const Call &call = program().calls[index];
  const CallTime &time = backend->times()[index];
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
  statistics.device = backend->name().c_str();
  backend->fillStatistics(statistics);
}

//===- ArtifactStep.cpp - Steps on the runtime ----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Step.h"
#include "common/Error.h"
#include "common/Npy.h"
#include "echo_runtime.hpp"

using namespace echo;
using namespace echo::run;

size_t Step::find(std::string_view name) const {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return i;
  std::string names;
  for (const Tensor &tensor : list)
    if (tensor.role != Role::Result)
      names += (names.empty() ? "" : ", ") + tensor.name;
  throwInvalid("there is no argument '" + std::string(name) +
               "'; there are: " + (names.empty() ? "none" : names));
}

std::optional<size_t> Step::loss() const {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].isLoss)
      return i;
  return std::nullopt;
}

std::string Step::readInput(size_t index, std::string_view file,
                            const std::string &place) const {
  return std::string(readNpy(file, place, list[index].type, list[index].shape));
}

void Step::startProfiling() {
  throwInvalid("--profile needs a compiled step");
}

namespace {

class ArtifactStep : public Step {
public:
  ArtifactStep(const std::string &path, const echo_session_options &options)
      : session(path, options) {
    for (const echo_tensor_info &info : session.tensors()) {
      Tensor tensor;
      tensor.name = info.name;
      tensor.role = static_cast<Role>(info.role);
      tensor.type = static_cast<DataType>(info.type);
      tensor.shape.assign(info.shape, info.shape + info.rank);
      tensor.bytes = info.bytes;
      tensor.isLoss = info.is_loss;
      list.push_back(std::move(tensor));
    }
  }

  void initialize(uint64_t seed) override { session.initialize(seed); }
  void set(size_t index, std::string_view bytes) override {
    session.set(list[index].name, bytes.data(), bytes.size());
  }
  std::string get(size_t index) const override {
    std::string bytes(list[index].bytes, '\0');
    session.get(list[index].name, bytes.data(), bytes.size());
    return bytes;
  }
  void step() override { session.step(); }
  uint64_t trainingSteps() const override {
    return session.statistics().training_steps;
  }
  void save(const std::string &path) const override { session.save(path); }
  void load(const std::string &path) override { session.load(path); }
  std::string entry() const override { return session.function(); }
  std::optional<Memory> memory() const override {
    echo_statistics statistics = session.statistics();
    return Memory{statistics.arena_bytes, statistics.logical_peak_bytes};
  }
  std::optional<Device> device() const override {
    echo_statistics statistics = session.statistics();
    return Device{statistics.device,
                  statistics.device_bytes,
                  statistics.device_free_bytes,
                  statistics.device_total_bytes,
                  statistics.graph_steps,
                  statistics.power_watts,
                  statistics.energy_joules};
  }
  std::optional<uint64_t> allocations() const override {
    return session.statistics().last_step_allocations;
  }
  std::optional<uint64_t> calls() const override {
    return session.statistics().calls;
  }
  void startProfiling() override { session.setProfiling(true); }
  std::vector<ProfileEntry> profile() const override {
    std::vector<ProfileEntry> entries;
    for (const echo_profile_entry &entry : session.profile())
      entries.push_back({static_cast<CallKind>(entry.kind), entry.name,
                         entry.op, entry.layer, entry.flops, entry.bytes,
                         entry.runs, entry.seconds, entry.last_begin,
                         entry.last_seconds});
    return entries;
  }

private:
  runtime::Session session;
};

} // namespace

std::unique_ptr<Step> run::openArtifact(const std::string &path,
                                        const echo_session_options &options) {
  return std::make_unique<ArtifactStep>(path, options);
}

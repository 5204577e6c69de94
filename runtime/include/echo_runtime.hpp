//===- echo_runtime.hpp - C++ wrapper of the C ABI --------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same as echo_runtime.h with owned sessions and exceptions. Header only:
// link libEchoRuntime. C++17.
//
//   echo::runtime::Session session("step.so");
//   session.initialize(1);
//   session.set("tokens", tokens);
//   session.step();
//   float loss = session.get<float>("loss")[0];
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_HPP
#define ECHO_RUNTIME_HPP

#include "echo_runtime.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace echo::runtime {

/// A failed call: the status, and echo_last_error() as the message.
class Error : public std::runtime_error {
public:
  explicit Error(echo_status status)
      : std::runtime_error(echo_last_error()), code(status) {}
  echo_status status() const { return code; }

private:
  echo_status code;
};

inline void check(echo_status status) {
  if (status != ECHO_OK)
    throw Error(status);
}

/// Measures this machine; see echo_measure_machine.
inline echo_machine_rates measureMachine(int threads = 0) {
  echo_machine_rates rates{};
  rates.struct_size = sizeof(rates);
  check(echo_measure_machine(threads, &rates));
  return rates;
}

/// A session that is closed at the end of its life. Movable, not copyable.
class Session {
public:
  /// `device` as in echo_session_options.
  explicit Session(const std::string &path, int threads = 0,
                   const std::string &device = "") {
    echo_session_options options{};
    options.threads = threads;
    options.device = device.c_str();
    open(path, options);
  }
  /// struct_size is filled in here.
  Session(const std::string &path, const echo_session_options &options) {
    open(path, options);
  }
  ~Session() { echo_session_close(session); }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;
  Session(Session &&other) noexcept
      : session(std::exchange(other.session, nullptr)) {}
  Session &operator=(Session &&other) noexcept {
    std::swap(session, other.session);
    return *this;
  }

  echo_session *handle() const { return session; }

  /// The name of the compiled function.
  std::string function() const { return echo_session_function(session); }

  /// Arguments and results of the step, in their order.
  std::vector<echo_tensor_info> tensors() const {
    std::vector<echo_tensor_info> infos(echo_session_num_tensors(session));
    for (size_t i = 0; i < infos.size(); ++i)
      check(echo_session_tensor_info(session, static_cast<int32_t>(i),
                                     &infos[i]));
    return infos;
  }
  bool has(const std::string &name) const {
    return echo_session_find_tensor(session, name.c_str()) >= 0;
  }
  /// Throws if there is no such tensor.
  echo_tensor_info tensor(const std::string &name) const {
    echo_tensor_info info;
    int32_t index = echo_session_find_tensor(session, name.c_str());
    if (index < 0)
      throw std::out_of_range("no tensor '" + name + "'");
    check(echo_session_tensor_info(session, index, &info));
    return info;
  }

  void initialize(uint64_t seed) {
    check(echo_session_initialize(session, seed));
  }

  void set(const std::string &name, const void *data, uint64_t bytes) {
    check(echo_session_set(session, name.c_str(), data, bytes));
  }
  template <typename T>
  void set(const std::string &name, const std::vector<T> &values) {
    set(name, values.data(), values.size() * sizeof(T));
  }
  /// For tensors of one element.
  template <typename T>
  void setScalar(const std::string &name, T value) {
    set(name, &value, sizeof(value));
  }

  void get(const std::string &name, void *data, uint64_t bytes) const {
    check(echo_session_get(session, name.c_str(), data, bytes));
  }
  /// The values as T, which must have the element type's size.
  template <typename T>
  std::vector<T> get(const std::string &name) const {
    std::vector<T> values(tensor(name).bytes / sizeof(T));
    get(name, values.data(), values.size() * sizeof(T));
    return values;
  }

  /// The memory of a persistent tensor.
  void *data(const std::string &name) {
    void *memory = nullptr;
    check(echo_session_data(session, name.c_str(), &memory, nullptr));
    return memory;
  }
  void bind(const std::string &name, void *memory, uint64_t bytes) {
    check(echo_session_bind(session, name.c_str(), memory, bytes));
  }
  /// Returns how many tensors are shared.
  int share(Session &source) {
    int32_t shared = 0;
    check(echo_session_share(session, source.session, &shared));
    return shared;
  }

  void step() { check(echo_session_step(session)); }

  void save(const std::string &path) const {
    check(echo_session_save(session, path.c_str()));
  }
  void load(const std::string &path) {
    check(echo_session_load(session, path.c_str()));
  }

  void setProfiling(bool enabled) {
    check(echo_session_set_profiling(session, enabled));
  }
  /// One entry per call of a step, in their order.
  std::vector<echo_profile_entry> profile() const {
    std::vector<echo_profile_entry> entries(statistics().calls);
    for (size_t i = 0; i < entries.size(); ++i) {
      entries[i].struct_size = sizeof(echo_profile_entry);
      check(echo_session_profile_entry(session, i, &entries[i]));
    }
    return entries;
  }

  echo_statistics statistics() const {
    echo_statistics statistics{};
    statistics.struct_size = sizeof(statistics);
    check(echo_session_statistics(session, &statistics));
    return statistics;
  }

private:
  void open(const std::string &path, echo_session_options options) {
    options.struct_size = sizeof(options);
    check(echo_session_open(path.c_str(), &options, &session));
  }

  echo_session *session = nullptr;
};

} // namespace echo::runtime

#endif // ECHO_RUNTIME_HPP

//===- Api.cpp - The C ABI ------------------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every entry point checks its arguments, lets no exception out and leaves the
// text of an error for the calling thread.
//
//===----------------------------------------------------------------------===//

#include "Error.h"
#include "Session.h"
#include "cpu/MachineRates.h"
#include "cpu/ThreadPool.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

using namespace echo;

struct echo_session : Session {
  using Session::Session;
};

static_assert(int(Role::Input) == ECHO_ROLE_INPUT &&
              int(Role::Label) == ECHO_ROLE_LABEL &&
              int(Role::Parameter) == ECHO_ROLE_PARAMETER &&
              int(Role::State) == ECHO_ROLE_STATE &&
              int(Role::Result) == ECHO_ROLE_RESULT);
static_assert(int(DataType::F32) == ECHO_F32 &&
              int(DataType::F64) == ECHO_F64 &&
              int(DataType::F16) == ECHO_F16 &&
              int(DataType::BF16) == ECHO_BF16 &&
              int(DataType::I8) == ECHO_I8 && int(DataType::I32) == ECHO_I32 &&
              int(DataType::I64) == ECHO_I64 && int(DataType::I1) == ECHO_I1);
static_assert(int(CallKind::Kernel) == ECHO_CALL_KERNEL &&
              int(CallKind::Gemm) == ECHO_CALL_GEMM &&
              int(CallKind::Copy) == ECHO_CALL_COPY);

namespace {

/// The last error of a thread. When there is no memory for its text, a fixed
/// one stands for it.
struct LastError {
  std::string text;
  const char *shown = "";

  void set(const char *message) noexcept {
    try {
      text = message;
      shown = text.c_str();
    } catch (...) {
      shown = "out of memory";
    }
  }
};

LastError &lastError() {
  thread_local LastError error;
  return error;
}

template <typename Function>
echo_status guarded(Function &&function) noexcept {
  try {
    function();
    return ECHO_OK;
  } catch (const Error &error) {
    lastError().set(error.what());
    return error.status();
  } catch (const std::bad_alloc &) {
    lastError().set("out of memory");
    return ECHO_OUT_OF_MEMORY;
  } catch (const std::exception &error) {
    lastError().set(error.what());
    return ECHO_LIBRARY_ERROR;
  } catch (...) {
    lastError().set("unknown error");
    return ECHO_LIBRARY_ERROR;
  }
}

template <typename T>
T &require(T *pointer, const char *what) {
  if (!pointer)
    throwInvalid(std::string(what) + " is NULL");
  return *pointer;
}

/// Copies a filled struct to the caller's, of which `known` bytes at least are
/// there: callers built against an earlier, shorter struct get what they know.
template <typename T>
void fillFor(T &target, const char *what, size_t known, const T &source) {
  size_t size = target.struct_size;
  if (size < known)
    throwInvalid(std::string(what) + ".struct_size is " + std::to_string(size) +
                 ", expected " + std::to_string(sizeof(T)));
  std::memcpy(&target, &source, std::min(size, sizeof(T)));
  target.struct_size = size;
}

/// What a caller says, who may have been built against an earlier, shorter
/// struct.
SessionOptions readOptions(const echo_session_options *given) {
  SessionOptions read;
  if (!given)
    return read;
  constexpr size_t kKnown =
      offsetof(echo_session_options, threads) + sizeof(given->threads);
  size_t size = given->struct_size;
  if (size < kKnown)
    throwInvalid("options.struct_size is " + std::to_string(size) +
                 ", expected " + std::to_string(sizeof(*given)));
  auto *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof(*given); i < size; ++i)
    if (bytes[i] != 0)
      throwInvalid("the options say what this runtime doesn't know: their "
                   "struct_size is " +
                   std::to_string(size) + ", it knows " +
                   std::to_string(sizeof(*given)) + " bytes");
  echo_session_options all{};
  // Padding of an earlier struct isn't taken for a field.
  if (size < sizeof(all))
    size = size < offsetof(echo_session_options, device) + sizeof(all.device)
               ? kKnown
               : size;
  std::memcpy(&all, given, std::min(size, sizeof(all)));
  read.threads = all.threads;
  read.device = all.device ? all.device : "";
  read.allowTF32 = all.allow_tf32 != 0;
  read.withoutGraph = all.without_graph != 0;
  read.isReverse = all.reverse_order != 0;
  return read;
}

} // namespace

const char *echo_last_error(void) { return lastError().shown; }

const char *echo_runtime_version(void) { return ECHO_VERSION; }

echo_status echo_session_open(const char *path,
                              const echo_session_options *options,
                              echo_session **session) {
  if (session)
    *session = nullptr;
  return guarded([&] {
    require(session, "session");
    require(path, "path");
    *session = new echo_session(path, readOptions(options));
  });
}

void echo_session_close(echo_session *session) { delete session; }

const char *echo_session_function(const echo_session *session) {
  return session ? session->program().function.c_str() : "";
}

int32_t echo_session_num_tensors(const echo_session *session) {
  return session ? static_cast<int32_t>(session->program().tensors.size()) : 0;
}

echo_status echo_session_tensor_info(const echo_session *session, int32_t index,
                                     echo_tensor_info *info) {
  return guarded([&] {
    const auto &tensors = require(session, "session").program().tensors;
    require(info, "info");
    if (index < 0 || static_cast<size_t>(index) >= tensors.size())
      throwInvalid("tensor index " + std::to_string(index) +
                   ", but there are " + std::to_string(tensors.size()));
    const Tensor &tensor = tensors[index];
    info->name = tensor.name.c_str();
    info->role = static_cast<echo_role>(tensor.role);
    info->type = static_cast<echo_data_type>(tensor.type);
    info->rank = static_cast<int32_t>(tensor.shape.size());
    info->shape = tensor.shape.data();
    info->bytes = tensor.bytes;
    info->is_loss = tensor.isLoss;
  });
}

int32_t echo_session_find_tensor(const echo_session *session,
                                 const char *name) {
  return session && name ? session->find(name) : -1;
}

echo_status echo_session_initialize(echo_session *session, uint64_t seed) {
  return guarded([&] { require(session, "session").initialize(seed); });
}

echo_status echo_session_set(echo_session *session, const char *name,
                             const void *data, uint64_t bytes) {
  return guarded([&] { require(session, "session").set(name, data, bytes); });
}

echo_status echo_session_get(const echo_session *session, const char *name,
                             void *data, uint64_t bytes) {
  return guarded([&] { require(session, "session").get(name, data, bytes); });
}

echo_status echo_session_data(echo_session *session, const char *name,
                              void **data, uint64_t *bytes) {
  return guarded([&] {
    require(session, "session");
    require(data, "data");
    uint64_t size;
    *data = session->persistentData(name, size);
    if (bytes)
      *bytes = size;
  });
}

echo_status echo_session_bind(echo_session *session, const char *name,
                              void *data, uint64_t bytes) {
  return guarded([&] { require(session, "session").bind(name, data, bytes); });
}

echo_status echo_session_share(echo_session *session, echo_session *source,
                               int32_t *shared) {
  return guarded([&] {
    int32_t count =
        require(session, "session").share(require(source, "source"));
    if (shared)
      *shared = count;
  });
}

echo_status echo_session_step(echo_session *session) {
  return guarded([&] { require(session, "session").step(); });
}

echo_status echo_session_save(const echo_session *session, const char *path) {
  return guarded(
      [&] { require(session, "session").save(&require(path, "path")); });
}

echo_status echo_session_load(echo_session *session, const char *path) {
  return guarded(
      [&] { require(session, "session").load(&require(path, "path")); });
}

echo_status echo_session_statistics(const echo_session *session,
                                    echo_statistics *statistics) {
  return guarded([&] {
    require(session, "session");
    require(statistics, "statistics");
    echo_statistics all{};
    session->fillStatistics(all);
    fillFor(*statistics, "statistics",
            offsetof(echo_statistics, last_step_seconds), all);
  });
}

echo_status echo_session_set_profiling(echo_session *session, int32_t enabled) {
  return guarded(
      [&] { require(session, "session").setProfiling(enabled != 0); });
}

echo_status echo_session_profile_entry(const echo_session *session,
                                       uint64_t index,
                                       echo_profile_entry *entry) {
  return guarded([&] {
    require(session, "session");
    require(entry, "entry");
    echo_profile_entry all{};
    session->fillProfileEntry(index, all);
    fillFor(*entry, "entry", sizeof(echo_profile_entry), all);
  });
}

echo_status echo_measure_machine(int32_t threads, echo_machine_rates *rates) {
  return guarded([&] {
    require(rates, "rates");
    echo_machine_rates all{};
    all.threads = checkThreads(threads);
    MachineRates measured = measureMachine(all.threads);
    all.memory_bytes_per_second = measured.memoryBytesPerSecond;
    all.cache_bytes_per_second = measured.cacheBytesPerSecond;
    all.gemm_flops_per_second = measured.gemmFlopsPerSecond;
    fillFor(*rates, "rates", sizeof(echo_machine_rates), all);
  });
}

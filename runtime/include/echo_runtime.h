/*===- echo_runtime.h - Running compiled training steps -----------*- C -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C ABI of Echo's runtime. A session runs one artefact (a step compiled by
// echo-compile). Persistent tensors (roles parameter and state) live in the
// session or are shared between sessions; inputs, labels and results live in
// the session's arena.
//
// Functions return ECHO_OK or an error code; echo_last_error() then says what
// was expected, what was found and where, for the calling thread. Sizes are in
// bytes, times in seconds. A session is used by one thread at a time. After an
// error the session is as it was before the call, unless the function says
// otherwise.
//
//===----------------------------------------------------------------------===*/

#ifndef ECHO_RUNTIME_H
#define ECHO_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ECHO_API __attribute__((visibility("default")))

typedef enum echo_status {
  ECHO_OK = 0,
  ECHO_INVALID_ARGUMENT = 1, /* a name, size, type or handle is wrong */
  ECHO_INVALID_ARTIFACT = 2, /* not an artefact, other version or device */
  ECHO_IO_ERROR = 3,         /* a file can't be read or written */
  ECHO_OUT_OF_MEMORY = 4,
  ECHO_LIBRARY_ERROR = 5,    /* a library is missing, or a call of it failed */
  ECHO_DEVICE_ERROR = 6      /* a kernel or the device failed */
} echo_status;

typedef enum echo_role {
  ECHO_ROLE_INPUT = 0,
  ECHO_ROLE_LABEL = 1,
  ECHO_ROLE_PARAMETER = 2,
  ECHO_ROLE_STATE = 3,
  ECHO_ROLE_RESULT = 4
} echo_role;

typedef enum echo_data_type {
  ECHO_F32 = 0,
  ECHO_F64 = 1,
  ECHO_F16 = 2,
  ECHO_BF16 = 3,
  ECHO_I8 = 4,
  ECHO_I32 = 5,
  ECHO_I64 = 6,
  ECHO_I1 = 7 /* one byte, 0 or 1 */
} echo_data_type;

typedef struct echo_session echo_session;

typedef struct echo_session_options {
  size_t struct_size; /* sizeof(echo_session_options) */
  int32_t threads;    /* 0: all cores that this process may use */
  /* "cpu", "sim" (a GPU simulated on the CPU, for tests), "cuda" (its device
     0), "cuda:N"; NULL or "": the artefact's own, which is "cpu", "sim" if it
     was compiled for nothing else, or "cuda". */
  const char *device;
  int32_t allow_tf32;    /* cuda: f32 products may round their operands */
  int32_t without_graph; /* cuda: issue every call of every step anew */
  int32_t reverse_order; /* sim: the last threads and blocks run first */
} echo_session_options;

typedef struct echo_tensor_info {
  const char *name; /* valid as long as the session */
  echo_role role;
  echo_data_type type;
  int32_t rank;
  const int64_t *shape; /* valid as long as the session */
  uint64_t bytes;
  int32_t is_loss;
} echo_tensor_info;

typedef struct echo_statistics {
  size_t struct_size; /* set by the caller */
  uint64_t steps;
  double last_step_seconds;
  double total_step_seconds;
  uint64_t arena_bytes;
  uint64_t logical_peak_bytes;
  uint64_t persistent_bytes; /* parameters and state */
  uint64_t calls;            /* kernel and library calls of one step */
  uint64_t last_step_allocations; /* heap allocations of our code */
  /* Steps since the session was initialized, with those before the checkpoint
     that was loaded; `steps` are those of this session. */
  uint64_t training_steps;
  const char *device; /* "cpu", "cuda:0 NVIDIA H200"; valid as long as the
                         session */
  /* Of a GPU; 0 elsewhere, and where the device doesn't say. */
  uint64_t device_bytes;       /* that this session allocated on it */
  uint64_t device_free_bytes;  /* now, for all of its users */
  uint64_t device_total_bytes;
  uint64_t graph_steps;        /* steps that were replayed as a CUDA graph */
  double power_watts;          /* now */
  double energy_joules;        /* that the device took since the first step */
  double last_issue_seconds;   /* of the last step: until the host had handed
                                  all of its work to the device */
} echo_statistics;

typedef enum echo_call_kind {
  ECHO_CALL_KERNEL = 0,
  ECHO_CALL_GEMM = 1,
  ECHO_CALL_COPY = 2
} echo_call_kind;

/* One kernel or library call of the step, with its times. */
typedef struct echo_profile_entry {
  size_t struct_size; /* set by the caller */
  echo_call_kind kind;
  /* Texts are valid as long as the session. */
  const char *name;  /* the kernel, or the library call with its shape */
  const char *op;    /* kinds of ops in it, "mul+add+tanh"; "gemm", "copy" */
  const char *layer; /* "encoder/lstm0/t3"; "" where there is none */
  uint64_t flops;    /* floating-point operations of one run; 0: unknown */
  uint64_t bytes;    /* bytes that one run reads and writes */
  uint64_t runs;     /* since profiling was switched on */
  double seconds;    /* of all runs */
  double last_begin; /* in the last step: since the first call's begin */
  double last_seconds;
} echo_profile_entry;

/* What this machine reaches, to hold a profile against. */
typedef struct echo_machine_rates {
  size_t struct_size;             /* set by the caller */
  int32_t threads;                /* that measured */
  double memory_bytes_per_second; /* copying what no cache holds */
  double cache_bytes_per_second;  /* copying 256 KiB per thread */
  double gemm_flops_per_second;   /* f32, matrices of 1024 x 1024 */
} echo_machine_rates;

/* The text of the last error in this thread; "" if there was none. */
ECHO_API const char *echo_last_error(void);
/* The runtime's version, "0.1.0". */
ECHO_API const char *echo_runtime_version(void);

/* Opens an artefact. `options` may be NULL. On failure *session is NULL. */
ECHO_API echo_status echo_session_open(const char *path,
                                       const echo_session_options *options,
                                       echo_session **session);
/* Closes a session; NULL is allowed. Persistent tensors that other sessions
   share stay alive with them. */
ECHO_API void echo_session_close(echo_session *session);

/* The name of the compiled function; valid as long as the session. */
ECHO_API const char *echo_session_function(const echo_session *session);

/* Tensors: arguments and results of the step, in their order. */
ECHO_API int32_t echo_session_num_tensors(const echo_session *session);
ECHO_API echo_status echo_session_tensor_info(const echo_session *session,
                                              int32_t index,
                                              echo_tensor_info *info);
/* The index of a tensor, or -1. */
ECHO_API int32_t echo_session_find_tensor(const echo_session *session,
                                          const char *name);

/* Fills every persistent tensor, and every input and label that was never
   set, from the seed and its init rule. What a tensor gets depends on the seed
   and its name alone. A state named "seed" of type i64 gets the seed. */
ECHO_API echo_status echo_session_initialize(echo_session *session,
                                             uint64_t seed);

/* Copies data into or out of a tensor. `bytes` must be the tensor's size.
   Inputs and labels keep their values over steps; the runtime copies them into
   the arena at the start of each step. Results hold the last step's values. */
ECHO_API echo_status echo_session_set(echo_session *session, const char *name,
                                      const void *data, uint64_t bytes);
ECHO_API echo_status echo_session_get(const echo_session *session,
                                      const char *name, void *data,
                                      uint64_t bytes);
/* The memory of a persistent tensor, for reading and writing between steps. An
   error on cuda, whose memory the host can't reach. */
ECHO_API echo_status echo_session_data(echo_session *session, const char *name,
                                       void **data, uint64_t *bytes);
/* Uses the caller's memory for a persistent tensor; it is aligned to 64 bytes
   and outlives the session. Its content is taken as it is. An error on cuda. */
ECHO_API echo_status echo_session_bind(echo_session *session, const char *name,
                                       void *data, uint64_t bytes);
/* Makes every persistent tensor of `session` that `source` has by the same
   name, type and shape the same memory: one model, several steps. A name with
   another type or shape, or a session on another device, is an error and
   nothing changes. Returns in *shared, if not NULL, how many tensors are
   shared. */
ECHO_API echo_status echo_session_share(echo_session *session,
                                        echo_session *source, int32_t *shared);

/* Runs one step. An input, label or persistent tensor without a value is an
   error that names it. When a kernel or the device fails (ECHO_DEVICE_ERROR),
   no persistent tensor and no result has a value afterwards: set, initialize or
   load them to go on. Where the device itself is lost the session can only be
   closed, and every call says so. */
ECHO_API echo_status echo_session_step(echo_session *session);

/* Checkpoints: an .npz with every persistent tensor by name, and the number of
   training steps, which goes on from there after loading. Saving writes a
   temporary file and renames it. Loading is strict: every persistent tensor
   must be there with its type and shape; a truncated file changes nothing. */
ECHO_API echo_status echo_session_save(const echo_session *session,
                                       const char *path);
ECHO_API echo_status echo_session_load(echo_session *session, const char *path);

/* Profiling: switched on (enabled != 0), every step takes the time of each of
   its calls, at the cost of one look at the clock per call (on cuda: of one
   event per call, and the step isn't replayed as a graph); a step still
   allocates nothing. Switching on sets all times to zero, also when it was on;
   after switching off the times can still be read. */
ECHO_API echo_status echo_session_set_profiling(echo_session *session,
                                                int32_t enabled);
/* The entry of call `index` of echo_statistics.calls, in the order in which a
   step runs them. An error while profiling was never switched on. */
ECHO_API echo_status echo_session_profile_entry(const echo_session *session,
                                                uint64_t index,
                                                echo_profile_entry *entry);
/* Measures this machine with as many threads (0: all cores that this process
   may use), in some tenths of a second and with 256 MiB of memory. */
ECHO_API echo_status echo_measure_machine(int32_t threads,
                                          echo_machine_rates *rates);

ECHO_API echo_status echo_session_statistics(const echo_session *session,
                                             echo_statistics *statistics);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ECHO_RUNTIME_H */

//===- FakeCuda.h - Stand-ins for NVIDIA's libraries ------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libEchoFakeCuda.so has what the runtime uses of the CUDA driver, cuBLAS and
// NVML, for tests on machines without a GPU: ECHO_CUDA_DRIVER, ECHO_CUBLAS and
// ECHO_NVML name it. Its device has compute capability 0.0, takes images of the
// chip "sim" and runs kernels in the simulator and products on the CPU.
//
// It is strict where CUDA leaves things undefined. Device memory is a range of
// addresses of its own that only the device's work can touch: the host's access
// to it ends the process, and a host pointer where one of the device is
// expected is an error and is counted as misuse. Work of a stream is put off
// until somebody waits for it. What a caller leaves behind in a context is
// counted when the last user releases it. A product overwrites cuBLAS's
// workspace.
//
// Settings and counters are numbers with names. Settings are taken from
// ECHO_FAKE_CUDA ("capability=90,cuMemAlloc=3") when the library is loaded, and
// set by echo_fake_set(); cuInit refuses to work with others in ECHO_FAKE_CUDA:
//   version            of CUDA, 13000
//   devices            1
//   capability         0; 90 for 9.0
//   memory             bytes of a device, 2^30
//   cuInit, ...        n: the n-th call of the function from now on fails: the
//                      names are those of DriverApi.h without "_v2". What ends
//                      something (cuMemFree, cuStreamEndCapture) ends it first
//   fault_launch       n: the n-th kernel faults when it runs, which stays
//   has_epilogue       0: cuBLASLt refuses to look for an algorithm, 2: it
//                      finds none
//   has_energy         0: NVML doesn't know the energy
// Counters are what is alive (contexts, allocations, allocated_bytes,
// host_allocations, modules, streams, events, graphs, graph_execs,
// blas_handles, blas_descriptors, nvml_users), what was left in released
// contexts (leaks), what was done (launches, graph_launches, products,
// epilogues, tf32_products: of f32 rounded to TF32, rounded_sums: of f16 or
// bf16 whose partial sums may be rounded), and misuse.
//
// A launch's array of parameters has to stay until the launch has run, and as
// long as its graph: nobody here knows how many they are.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_TESTING_FAKECUDA_H
#define ECHO_RUNTIME_TESTING_FAKECUDA_H

#include <stdint.h>

#define ECHO_FAKE_API extern "C" __attribute__((visibility("default")))

/// Returns 0 if there is such a setting.
ECHO_FAKE_API int echo_fake_set(const char *name, int64_t value);
/// A setting or a counter; -1 if there is none of this name.
ECHO_FAKE_API int64_t echo_fake_get(const char *name);
/// What the first misuse or the first fault of a kernel was; "" if there was
/// none.
ECHO_FAKE_API const char *echo_fake_message(void);
/// All settings as at first, all counters of what was done zero.
ECHO_FAKE_API void echo_fake_reset(void);

#endif // ECHO_RUNTIME_TESTING_FAKECUDA_H

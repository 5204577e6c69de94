//===- Wrappers.h - Functions that upstream's GPU code calls ----*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that `gpu-to-llvm` emits calls of, by their names and types
// there, on the driver that is loaded at run time: code of that pass can use
// this library in place of upstream's wrappers, and the CUDA back end loads and
// launches its kernels through them.
//
// Inside a Device::Use they act on its device, and a failure is kept for
// takeWrapperError(). Elsewhere they act on the device of
// mgpuSetDefaultDevice(), 0 at first, which stays open, and a failure is
// written to the standard error, as upstream does.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CUDA_WRAPPERS_H
#define ECHO_RUNTIME_CUDA_WRAPPERS_H

#include "cuda/DriverApi.h"
#include "echo_runtime.h"

namespace echo::cuda {

/// The first failure of a wrapper in this thread since the last call: its
/// result, kSuccess if there was none, and the driver's function in `what`.
Result takeWrapperError(const char *&what);
/// What the driver's compiler said when mgpuModuleLoadJIT failed in this
/// thread, or nothing.
const char *jitLog();

} // namespace echo::cuda

extern "C" {

/// `data` is a cubin, or an image that the device takes otherwise.
ECHO_API echo::cuda::Module mgpuModuleLoad(void *data, size_t bytes);
/// `data` is PTX and ends with a zero.
ECHO_API echo::cuda::Module mgpuModuleLoadJIT(void *data,
                                              int optimizationLevel);
ECHO_API void mgpuModuleUnload(echo::cuda::Module module);
ECHO_API echo::cuda::Function mgpuModuleGetFunction(echo::cuda::Module module,
                                                    const char *name);
ECHO_API void mgpuLaunchKernel(echo::cuda::Function function, intptr_t gridX,
                               intptr_t gridY, intptr_t gridZ, intptr_t blockX,
                               intptr_t blockY, intptr_t blockZ,
                               int32_t sharedBytes, echo::cuda::Stream stream,
                               void **parameters, void **extra,
                               size_t numParameters);
ECHO_API echo::cuda::Stream mgpuStreamCreate(void);
ECHO_API void mgpuStreamDestroy(echo::cuda::Stream stream);
ECHO_API void mgpuStreamSynchronize(echo::cuda::Stream stream);
ECHO_API void mgpuStreamWaitEvent(echo::cuda::Stream stream,
                                  echo::cuda::Event event);
ECHO_API echo::cuda::Event mgpuEventCreate(void);
ECHO_API void mgpuEventDestroy(echo::cuda::Event event);
ECHO_API void mgpuEventSynchronize(echo::cuda::Event event);
ECHO_API void mgpuEventRecord(echo::cuda::Event event,
                              echo::cuda::Stream stream);
/// Memory that the host shares is refused.
ECHO_API void *mgpuMemAlloc(uint64_t bytes, echo::cuda::Stream stream,
                            bool isHostShared);
ECHO_API void mgpuMemFree(void *memory, echo::cuda::Stream stream);
ECHO_API void mgpuMemcpy(void *target, void *source, size_t bytes,
                         echo::cuda::Stream stream);
ECHO_API void mgpuMemset32(void *target, unsigned value, size_t count,
                           echo::cuda::Stream stream);
ECHO_API void mgpuMemset16(void *target, unsigned short value, size_t count,
                           echo::cuda::Stream stream);
ECHO_API void mgpuSetDefaultDevice(int32_t device);

} // extern "C"

#endif // ECHO_RUNTIME_CUDA_WRAPPERS_H

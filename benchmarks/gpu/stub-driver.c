/*===- stub-driver.c - A CUDA driver and cuBLAS that do nothing ------------===*\
|*                                                                            *|
|* Part of Echo, under the Apache License v2.0 with LLVM Exceptions.          *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Every call succeeds at once, so that what is left is the host's own time:  *|
|* ECHO_CUDA_DRIVER and ECHO_CUBLAS name it. Its device is a sm_90 whose      *|
|* memory nobody may touch, and nothing is computed.                          *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A handle of any kind. */
static char object;

#define SUCCEED(name)                                                          \
  int name(void) { return 0; }
#define MAKE(name)                                                             \
  int name(void **made) {                                                      \
    *made = &object;                                                           \
    return 0;                                                                  \
  }

SUCCEED(cuInit)
SUCCEED(cuDevicePrimaryCtxRelease_v2)
SUCCEED(cuCtxPushCurrent_v2)
SUCCEED(cuCtxSynchronize)
SUCCEED(cuMemFree_v2)
SUCCEED(cuMemcpyAsync)
SUCCEED(cuMemcpyHtoDAsync_v2)
SUCCEED(cuMemcpyDtoHAsync_v2)
SUCCEED(cuMemcpyDtoDAsync_v2)
SUCCEED(cuMemsetD8Async)
SUCCEED(cuMemsetD16Async)
SUCCEED(cuMemsetD32Async)
SUCCEED(cuModuleUnload)
SUCCEED(cuFuncSetAttribute)
SUCCEED(cuLaunchKernel)
SUCCEED(cuStreamDestroy_v2)
SUCCEED(cuStreamSynchronize)
SUCCEED(cuStreamWaitEvent)
SUCCEED(cuEventDestroy_v2)
SUCCEED(cuEventRecord)
SUCCEED(cuEventSynchronize)
SUCCEED(cuStreamBeginCapture_v2)
SUCCEED(cuGraphDestroy)
SUCCEED(cuGraphLaunch)
SUCCEED(cuGraphExecDestroy)
MAKE(cuDevicePrimaryCtxRetain)
MAKE(cuCtxPopCurrent_v2)
MAKE(cuModuleLoadDataEx)
MAKE(cuModuleGetFunction)
MAKE(cuStreamCreate)
MAKE(cuEventCreate)
MAKE(cuGraphInstantiateWithFlags)

int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGet(int *device, int number) { return *device = number, 0; }
int cuDeviceGetName(char *name, int bytes, int device) {
  (void)device;
  strncpy(name, "Stub", bytes);
  return 0;
}
int cuDeviceGetPCIBusId(char *id, int bytes, int device) {
  (void)device;
  strncpy(id, "0000:00:00.0", bytes);
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  enum { kMajor = 75 };
  (void)device;
  *value = attribute == kMajor ? 9 : 0;
  return 0;
}
int cuGetErrorName(int error, const char **name) {
  (void)error;
  *name = "CUDA_ERROR";
  return 0;
}
int cuGetErrorString(int error, const char **text) {
  (void)error;
  *text = "an error";
  return 0;
}
int cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  *freeBytes = *totalBytes = (size_t)1 << 40;
  return 0;
}
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  static uint64_t next = (uint64_t)1 << 50;
  *address = next;
  next += (bytes + 511) / 512 * 512;
  return 0;
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  enum { kOutOfMemory = 2 };
  (void)flags;
  *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return *memory ? 0 : kOutOfMemory;
}
int cuMemFreeHost(void *memory) { return free(memory), 0; }
int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  (void)start;
  (void)end;
  *milliseconds = 0;
  return 0;
}
int cuStreamEndCapture(void *stream, void **graph) {
  (void)stream;
  *graph = &object;
  return 0;
}

MAKE(cublasCreate_v2)
MAKE(cublasLtMatmulDescCreate)
MAKE(cublasLtMatrixLayoutCreate)
MAKE(cublasLtMatmulPreferenceCreate)
SUCCEED(cublasDestroy_v2)
SUCCEED(cublasSetStream_v2)
SUCCEED(cublasSetWorkspace_v2)
SUCCEED(cublasSetMathMode)
SUCCEED(cublasGemmStridedBatchedEx)
SUCCEED(cublasLtMatmulDescDestroy)
SUCCEED(cublasLtMatmulDescSetAttribute)
SUCCEED(cublasLtMatrixLayoutDestroy)
SUCCEED(cublasLtMatrixLayoutSetAttribute)
SUCCEED(cublasLtMatmulPreferenceDestroy)
SUCCEED(cublasLtMatmulPreferenceSetAttribute)
SUCCEED(cublasLtMatmul)

/* One algorithm for all. */
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, void *a, void *b,
                                   void *c, void *d, void *preference,
                                   int requested, void *found, int *count) {
  enum { kResultBytes = 96 }; /* cublasLtMatmulHeuristicResult_t */
  (void)handle, (void)desc, (void)a, (void)b, (void)c, (void)d;
  (void)preference, (void)requested;
  memset(found, 0, kResultBytes);
  *count = 1;
  return 0;
}
const char *cublasGetStatusName(int status) {
  (void)status;
  return "CUBLAS_STATUS";
}
const char *cublasGetStatusString(int status) {
  (void)status;
  return "an error";
}

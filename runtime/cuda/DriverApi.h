//===- DriverApi.h - What is used of NVIDIA's libraries ---------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions and numbers of the CUDA driver, cuBLAS and NVML that the
// runtime uses, by the libraries' documented binary interfaces, so that none of
// their headers is needed. A test compares them with the headers where a CUDA
// Toolkit is installed.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CUDA_DRIVERAPI_H
#define ECHO_RUNTIME_CUDA_DRIVERAPI_H

#include <cstddef>
#include <cstdint>

namespace echo::cuda {

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

using Result = int; ///< CUresult
using DeviceNumber = int;
using DeviceAddress = unsigned long long;
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;

enum : int {
  kSuccess = 0,
  kOutOfMemory = 2,
  kNotFound = 500,
  kCaptureUnsupported = 900,
  kAttributeMajor = 75,       // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  kAttributeMinor = 76,       // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
  kFunctionDynamicShared = 8, // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  kJitErrorLog = 5,           // CU_JIT_ERROR_LOG_BUFFER
  kJitErrorLogBytes = 6,      // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
  kJitOptimizationLevel = 7,  // CU_JIT_OPTIMIZATION_LEVEL
  kStreamNonBlocking = 1,
  kEventDefault = 0,
  kEventDisableTiming = 2,
  kCaptureThreadLocal = 1,
};

/// X(member, symbol, parameters): every function returns a Result.
#define ECHO_CUDA_DRIVER_FUNCTIONS(X)                                          \
  X(init, cuInit, (unsigned))                                                  \
  X(driverGetVersion, cuDriverGetVersion, (int *))                             \
  X(getErrorName, cuGetErrorName, (Result, const char **))                     \
  X(getErrorString, cuGetErrorString, (Result, const char **))                 \
  X(deviceGetCount, cuDeviceGetCount, (int *))                                 \
  X(deviceGet, cuDeviceGet, (DeviceNumber *, int))                             \
  X(deviceGetName, cuDeviceGetName, (char *, int, DeviceNumber))               \
  X(deviceGetAttribute, cuDeviceGetAttribute, (int *, int, DeviceNumber))      \
  X(deviceGetPCIBusId, cuDeviceGetPCIBusId, (char *, int, DeviceNumber))       \
  X(primaryCtxRetain, cuDevicePrimaryCtxRetain, (Context *, DeviceNumber))     \
  X(primaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (DeviceNumber))           \
  X(ctxPushCurrent, cuCtxPushCurrent_v2, (Context))                            \
  X(ctxPopCurrent, cuCtxPopCurrent_v2, (Context *))                            \
  X(ctxSynchronize, cuCtxSynchronize, ())                                      \
  X(memGetInfo, cuMemGetInfo_v2, (size_t *, size_t *))                         \
  X(memAlloc, cuMemAlloc_v2, (DeviceAddress *, size_t))                        \
  X(memFree, cuMemFree_v2, (DeviceAddress))                                    \
  X(memHostAlloc, cuMemHostAlloc, (void **, size_t, unsigned))                 \
  X(memFreeHost, cuMemFreeHost, (void *))                                      \
  X(memcpyAsync, cuMemcpyAsync,                                                \
    (DeviceAddress, DeviceAddress, size_t, Stream))                            \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                     \
    (DeviceAddress, const void *, size_t, Stream))                             \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                     \
    (void *, DeviceAddress, size_t, Stream))                                   \
  X(memcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                     \
    (DeviceAddress, DeviceAddress, size_t, Stream))                            \
  X(memsetD8Async, cuMemsetD8Async,                                            \
    (DeviceAddress, unsigned char, size_t, Stream))                            \
  X(memsetD16Async, cuMemsetD16Async,                                          \
    (DeviceAddress, unsigned short, size_t, Stream))                           \
  X(memsetD32Async, cuMemsetD32Async,                                          \
    (DeviceAddress, unsigned, size_t, Stream))                                 \
  X(moduleLoadDataEx, cuModuleLoadDataEx,                                      \
    (Module *, const void *, unsigned, int *, void **))                        \
  X(moduleUnload, cuModuleUnload, (Module))                                    \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (Function *, Module, const char *))                                        \
  X(funcSetAttribute, cuFuncSetAttribute, (Function, int, int))                \
  X(launchKernel, cuLaunchKernel,                                              \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))                                      \
  X(streamCreate, cuStreamCreate, (Stream *, unsigned))                        \
  X(streamDestroy, cuStreamDestroy_v2, (Stream))                               \
  X(streamSynchronize, cuStreamSynchronize, (Stream))                          \
  X(streamWaitEvent, cuStreamWaitEvent, (Stream, Event, unsigned))             \
  X(eventCreate, cuEventCreate, (Event *, unsigned))                           \
  X(eventDestroy, cuEventDestroy_v2, (Event))                                  \
  X(eventRecord, cuEventRecord, (Event, Stream))                               \
  X(eventSynchronize, cuEventSynchronize, (Event))                             \
  X(eventElapsedTime, cuEventElapsedTime, (float *, Event, Event))             \
  X(streamBeginCapture, cuStreamBeginCapture_v2, (Stream, int))                \
  X(streamEndCapture, cuStreamEndCapture, (Stream, Graph *))                   \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (GraphExec *, Graph, unsigned long long))                                  \
  X(graphDestroy, cuGraphDestroy, (Graph))                                     \
  X(graphLaunch, cuGraphLaunch, (GraphExec, Stream))                           \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExec))

//===----------------------------------------------------------------------===//
// cuBLAS
//===----------------------------------------------------------------------===//

using BlasStatus = int;
using BlasHandle = struct BlasContextTag *;
using MatmulDesc = struct MatmulDescTag *;
using MatrixLayout = struct MatrixLayoutTag *;
using MatmulPreference = struct MatmulPreferenceTag *;

struct MatmulAlgorithm {
  uint64_t data[8];
};
struct MatmulHeuristic {
  MatmulAlgorithm algorithm;
  size_t workspaceBytes;
  BlasStatus state;
  float wavesCount;
  int reserved[4];
};

enum : int {
  kTypeF32 = 0,          // CUDA_R_32F
  kTypeF64 = 1,          // CUDA_R_64F
  kTypeF16 = 2,          // CUDA_R_16F
  kTypeBF16 = 14,        // CUDA_R_16BF
  kComputeF32 = 68,      // CUBLAS_COMPUTE_32F
  kComputeF64 = 70,      // CUBLAS_COMPUTE_64F
  kComputeFastTF32 = 77, // CUBLAS_COMPUTE_32F_FAST_TF32
  kOpN = 0,
  kOpT = 1,
  kGemmDefault = -1,         // CUBLAS_GEMM_DEFAULT
  kMathPartialSums = 16,     // CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
  kMatmulTransA = 3,         // CUBLASLT_MATMUL_DESC_TRANSA
  kMatmulTransB = 4,         // CUBLASLT_MATMUL_DESC_TRANSB
  kMatmulEpilogue = 7,       // CUBLASLT_MATMUL_DESC_EPILOGUE
  kMatmulBiasPointer = 8,    // CUBLASLT_MATMUL_DESC_BIAS_POINTER
  kEpilogueBias = 4,         // CUBLASLT_EPILOGUE_BIAS
  kLayoutBatchCount = 5,     // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT
  kLayoutBatchStride = 6,    // CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
  kPreferenceWorkspace = 1,  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
  kPreferenceReduction = 3,  // CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK
  kReductionCompute = 2,     // CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
  kPreferenceAlignmentA = 5, // CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES
  kPreferenceAlignmentB = 6,
  kPreferenceAlignmentC = 7,
  kPreferenceAlignmentD = 8,
};

/// X(member, symbol, parameters): every function returns a BlasStatus.
#define ECHO_CUBLAS_FUNCTIONS(X)                                               \
  X(create, cublasCreate_v2, (BlasHandle *))                                   \
  X(destroy, cublasDestroy_v2, (BlasHandle))                                   \
  X(setStream, cublasSetStream_v2, (BlasHandle, Stream))                       \
  X(setWorkspace, cublasSetWorkspace_v2, (BlasHandle, void *, size_t))         \
  X(setMathMode, cublasSetMathMode, (BlasHandle, int))                         \
  X(gemmStridedBatched, cublasGemmStridedBatchedEx,                            \
    (BlasHandle, int, int, int, int, int, const void *, const void *, int,     \
     int, long long, const void *, int, int, long long, const void *, void *,  \
     int, int, long long, int, int, int))                                      \
  X(matmulDescCreate, cublasLtMatmulDescCreate, (MatmulDesc *, int, int))      \
  X(matmulDescDestroy, cublasLtMatmulDescDestroy, (MatmulDesc))                \
  X(matmulDescSet, cublasLtMatmulDescSetAttribute,                             \
    (MatmulDesc, int, const void *, size_t))                                   \
  X(layoutCreate, cublasLtMatrixLayoutCreate,                                  \
    (MatrixLayout *, int, uint64_t, uint64_t, int64_t))                        \
  X(layoutDestroy, cublasLtMatrixLayoutDestroy, (MatrixLayout))                \
  X(layoutSet, cublasLtMatrixLayoutSetAttribute,                               \
    (MatrixLayout, int, const void *, size_t))                                 \
  X(preferenceCreate, cublasLtMatmulPreferenceCreate, (MatmulPreference *))    \
  X(preferenceDestroy, cublasLtMatmulPreferenceDestroy, (MatmulPreference))    \
  X(preferenceSet, cublasLtMatmulPreferenceSetAttribute,                       \
    (MatmulPreference, int, const void *, size_t))                             \
  X(matmulHeuristic, cublasLtMatmulAlgoGetHeuristic,                           \
    (BlasHandle, MatmulDesc, MatrixLayout, MatrixLayout, MatrixLayout,         \
     MatrixLayout, MatmulPreference, int, MatmulHeuristic *, int *))           \
  X(matmul, cublasLtMatmul,                                                    \
    (BlasHandle, MatmulDesc, const void *, const void *, MatrixLayout,         \
     const void *, MatrixLayout, const void *, const void *, MatrixLayout,     \
     void *, MatrixLayout, const MatmulAlgorithm *, void *, size_t, Stream))

//===----------------------------------------------------------------------===//
// NVML
//===----------------------------------------------------------------------===//

using NvmlDevice = struct NvmlDeviceTag *;

/// X(member, symbol, parameters): every function returns an int.
#define ECHO_NVML_FUNCTIONS(X)                                                 \
  X(init, nvmlInit_v2, ())                                                     \
  X(shutdown, nvmlShutdown, ())                                                \
  X(deviceByPciBusId, nvmlDeviceGetHandleByPciBusId_v2,                        \
    (const char *, NvmlDevice *))                                              \
  X(powerUsage, nvmlDeviceGetPowerUsage, (NvmlDevice, unsigned *))             \
  X(totalEnergy, nvmlDeviceGetTotalEnergyConsumption,                          \
    (NvmlDevice, unsigned long long *))

} // namespace echo::cuda

#endif // ECHO_RUNTIME_CUDA_DRIVERAPI_H

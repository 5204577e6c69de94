//===- CudaHeadersTest.cpp - Declarations against NVIDIA's ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built where a CUDA Toolkit has its headers: numbers, sizes and the types of
// functions in cuda/DriverApi.h are those of the libraries. Nothing is linked.
//
//===----------------------------------------------------------------------===//

#include "cuda/DriverApi.h"

#include "gtest/gtest.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <dlfcn.h>
#include <type_traits>

// The header has a second one for earlier types of sums.
using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t,
                                cublasOperation_t, int, int, int, const void *,
                                const void *, cudaDataType, int, long long,
                                const void *, cudaDataType, int, long long,
                                const void *, void *, cudaDataType, int,
                                long long, int, cublasComputeType_t,
                                cublasGemmAlgo_t);
static_assert(std::is_same_v<
              decltype(static_cast<Gemm>(&cublasGemmStridedBatchedEx)), Gemm>);
std::remove_pointer_t<Gemm> gemmOfHeader;
#define cublasGemmStridedBatchedEx gemmOfHeader

namespace {

namespace own = echo::cuda;

static_assert(
    own::kSuccess == CUDA_SUCCESS &&
    own::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY &&
    own::kNotFound == CUDA_ERROR_NOT_FOUND &&
    own::kCaptureUnsupported == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
    own::kAttributeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR &&
    own::kAttributeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR &&
    own::kFunctionDynamicShared ==
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
    own::kJitErrorLog == CU_JIT_ERROR_LOG_BUFFER &&
    own::kJitErrorLogBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES &&
    own::kJitOptimizationLevel == CU_JIT_OPTIMIZATION_LEVEL &&
    own::kStreamNonBlocking == CU_STREAM_NON_BLOCKING &&
    own::kEventDefault == CU_EVENT_DEFAULT &&
    own::kEventDisableTiming == CU_EVENT_DISABLE_TIMING &&
    own::kCaptureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(
    own::kTypeF32 == CUDA_R_32F && own::kTypeF64 == CUDA_R_64F &&
    own::kTypeF16 == CUDA_R_16F && own::kTypeBF16 == CUDA_R_16BF &&
    own::kComputeF32 == CUBLAS_COMPUTE_32F &&
    own::kComputeF64 == CUBLAS_COMPUTE_64F &&
    own::kComputeFastTF32 == CUBLAS_COMPUTE_32F_FAST_TF32 &&
    own::kOpN == CUBLAS_OP_N && own::kOpT == CUBLAS_OP_T &&
    own::kGemmDefault == CUBLAS_GEMM_DEFAULT &&
    own::kMathPartialSums == CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION &&
    own::kMatmulTransA == CUBLASLT_MATMUL_DESC_TRANSA &&
    own::kMatmulTransB == CUBLASLT_MATMUL_DESC_TRANSB &&
    own::kMatmulEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE &&
    own::kMatmulBiasPointer == CUBLASLT_MATMUL_DESC_BIAS_POINTER &&
    own::kEpilogueBias == CUBLASLT_EPILOGUE_BIAS &&
    own::kLayoutBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
    own::kLayoutBatchStride == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET &&
    own::kPreferenceWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES &&
    own::kPreferenceReduction == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK &&
    own::kReductionCompute == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE &&
    own::kPreferenceAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
    own::kPreferenceAlignmentB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES &&
    own::kPreferenceAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES &&
    own::kPreferenceAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(own::MatmulAlgorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(own::MatmulHeuristic) ==
                  sizeof(cublasLtMatmulHeuristicResult_t) &&
              offsetof(own::MatmulHeuristic, workspaceBytes) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) &&
              offsetof(own::MatmulHeuristic, state) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(CUBLAS_STATUS_ALLOC_FAILED == 3 &&
              CUBLAS_STATUS_NOT_SUPPORTED == 15 &&
              CUDA_ERROR_NOT_SUPPORTED == 801);

/// Whether two types are passed in the same way: pointers by their being such,
/// enumerations as the integers below them.
template <typename A, typename B>
constexpr bool isPassedAlike() {
  constexpr bool isInteger = (std::is_integral_v<A> || std::is_enum_v<A>) &&
                             (std::is_integral_v<B> || std::is_enum_v<B>);
  return sizeof(A) == sizeof(B) &&
         (isInteger || (std::is_pointer_v<A> && std::is_pointer_v<B>));
}

template <typename A, typename B>
struct IsCalledAlike;
template <typename A, typename... As, typename B, typename... Bs>
struct IsCalledAlike<A (*)(As...), B (*)(Bs...)> {
  static constexpr bool value() {
    if constexpr (sizeof...(As) != sizeof...(Bs))
      return false;
    else
      return isPassedAlike<A, B>() && (isPassedAlike<As, Bs>() && ...);
  }
};

// A header gives some functions the name of a newer version, whose type is the
// same.
using namespace echo::cuda;
#define ECHO_CHECK(member, symbol, parameters)                                 \
  static_assert(                                                               \
      IsCalledAlike<int(*) parameters, decltype(&::symbol)>::value(),          \
      #symbol);
ECHO_CUDA_DRIVER_FUNCTIONS(ECHO_CHECK)
ECHO_CUBLAS_FUNCTIONS(ECHO_CHECK)
#undef ECHO_CHECK

TEST(CudaHeaders, TheLibraryHasTheSymbols) {
  // The library may be missing where the headers are there.
  void *library = dlopen(ECHO_CUBLAS_OF_TOOLKIT, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    GTEST_SKIP() << dlerror();
  for (const char *symbol : {
#define ECHO_NAME(member, symbol, parameters) #symbol,
           ECHO_CUBLAS_FUNCTIONS(ECHO_NAME)
#undef ECHO_NAME
               "cublasGetStatusName",
           "cublasGetStatusString"})
    EXPECT_NE(dlsym(library, symbol), nullptr) << symbol;
}

} // namespace

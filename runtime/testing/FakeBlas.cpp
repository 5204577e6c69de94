//===- FakeBlas.cpp - A stand-in for cuBLAS -------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of column-major matrices by the CPU's row-major GEMM: it computes
// the transposed product, so that a caller that has row-major matrices gets the
// bits of the CPU.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "cpu/Gemm.h"
#include "cpu/ThreadPool.h"
#include "testing/FakeState.h"

#include <algorithm>
#include <cstring>

using namespace echo;
using namespace echo::cuda;

#define ECHO_CUDA_DECLARE(member, symbol, parameters)                          \
  extern "C" __attribute__((visibility(                                        \
      "default"))) BlasStatus member##Blas parameters __asm__(#symbol);
ECHO_CUBLAS_FUNCTIONS(ECHO_CUDA_DECLARE)
#undef ECHO_CUDA_DECLARE

ECHO_FAKE_API const char *cublasGetStatusName(BlasStatus status);
ECHO_FAKE_API const char *cublasGetStatusString(BlasStatus status);

namespace echo::cuda {

struct BlasContextTag {
  Context context;
  Stream stream = nullptr;
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
  int mathMode = 0; // CUBLAS_DEFAULT_MATH
};
struct MatmulDescTag {
  int computeType, scaleType;
  int32_t transA = kOpN, transB = kOpN;
  uint32_t epilogue = 1; // CUBLASLT_EPILOGUE_DEFAULT
  const void *bias = nullptr;
};
struct MatrixLayoutTag {
  int type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t count = 1;
  int64_t stride = 0;
};
struct MatmulPreferenceTag {
  uint64_t workspaceBytes = 0;
  uint32_t reductions = 7; // CUBLASLT_REDUCTION_SCHEME_MASK
  uint32_t alignments[4] = {256, 256, 256, 256};
};

} // namespace echo::cuda

namespace {

// What the numbers of an algorithm are, after four alignments.
enum { kAlgorithmWorkspace = 4, kAlgorithmCompute, kAlgorithmReductions };

struct BlasCall {
  FakeState &state = FakeState::get();
  std::lock_guard<std::recursive_mutex> lock{state.mutex};
};

/// A column-major matrix as it is stored.
struct Operand {
  const void *data;
  int64_t rows, columns, leading, stride;
};

/// How a product is computed.
struct Method {
  Stream stream;
  void *workspace;
  size_t workspaceBytes;
  int computeType;
  bool roundsParts; ///< partial sums may take the type of C
};

/// Whether the library sums products of this type so.
bool takes(int type, int computeType) {
  if (type == kTypeF64)
    return computeType == kComputeF64;
  return computeType == kComputeF32 ||
         (computeType == kComputeFastTF32 && type == kTypeF32);
}

/// As cuBLAS takes it: its place in device memory.
BlasStatus checkWorkspace(FakeState &state, void *workspace, size_t bytes) {
  constexpr uintptr_t kAlignment = 256;
  if (bytes == 0)
    return 0;
  if (reinterpret_cast<uintptr_t>(workspace) % kAlignment != 0 ||
      state.checkDevice(reinterpret_cast<DeviceAddress>(workspace), bytes,
                        "a workspace"))
    return kBlasInvalidValue;
  return 0;
}

/// Appends C = op(A) op(B) + beta C, or with the bias of C's rows, to a stream.
BlasStatus multiply(FakeState &state, const Method &method, int type,
                    int transA, int transB, Operand a, Operand b, Operand c,
                    int batch, bool accumulate, const void *bias) {
  if (!takes(type, method.computeType))
    return kBlasNotSupported;
  DataType dataType;
  switch (type) {
  case kTypeF32:
    dataType = DataType::F32;
    break;
  case kTypeF64:
    dataType = DataType::F64;
    break;
  case kTypeF16:
    dataType = DataType::F16;
    break;
  case kTypeBF16:
    dataType = DataType::BF16;
    break;
  default:
    return kBlasNotSupported;
  }
  for (const Operand &operand : {a, b, c})
    if (operand.leading != operand.rows) {
      state.misuse(kInvalidValue, "a product of matrices that aren't dense");
      return kBlasNotSupported;
    }
  int64_t k = transA ? a.rows : a.columns;
  if ((transB ? b.columns : b.rows) != k ||
      (transA ? a.columns : a.rows) != c.rows ||
      (transB ? b.rows : b.columns) != c.columns)
    return kBlasInvalidValue;
  uint64_t elementBytes = bytesOf(dataType);
  for (const Operand &operand : {a, b, c}) {
    uint64_t bytes =
        (operand.rows * operand.columns + (batch - 1) * operand.stride) *
        elementBytes;
    if (state.checkDevice(reinterpret_cast<DeviceAddress>(operand.data), bytes,
                          "a product"))
      return kBlasInvalidValue;
  }
  if (bias && state.checkDevice(reinterpret_cast<DeviceAddress>(bias),
                                c.rows * elementBytes, "a bias"))
    return kBlasInvalidValue;
  GemmParameters gemm{};
  gemm.dataType = static_cast<int64_t>(dataType);
  gemm.batch = batch;
  gemm.m = c.columns;
  gemm.n = c.rows;
  gemm.k = k;
  gemm.transposeA = transB == kOpT;
  gemm.transposeB = transA == kOpT;
  gemm.strideA = b.stride;
  gemm.strideB = a.stride;
  gemm.strideC = c.stride;
  gemm.accumulate = accumulate;
  GemmOperands operands{b.data, a.data, bias, const_cast<void *>(c.data)};
  bool isHalf = type == kTypeF16 || type == kTypeBF16;
  Result result = state.enqueue(method.stream, [=, &state] {
    static ThreadPool pool(1);
    std::fill_n(static_cast<char *>(method.workspace), method.workspaceBytes,
                char(0xff));
    runGemm(pool, gemm, operands);
    ++state.counters["products"];
    state.counters["epilogues"] += bias != nullptr;
    state.counters["tf32_products"] += method.computeType == kComputeFastTF32;
    state.counters["rounded_sums"] += isHalf && method.roundsParts;
    return Result(kSuccess);
  });
  return result == kSuccess ? 0 : kBlasExecutionFailed;
}

/// Reads an attribute of the type of `target`.
template <typename T>
BlasStatus readAttribute(T &target, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return kBlasInvalidValue;
  std::memcpy(&target, value, bytes);
  return 0;
}

template <typename T, typename... Arguments>
BlasStatus createDescriptor(T **created, Arguments... arguments) {
  BlasCall call;
  ++call.state.counters["blas_descriptors"];
  *created = new T{arguments...};
  return 0;
}

template <typename T>
void destroyDescriptor(T *descriptor) {
  BlasCall call;
  --call.state.counters["blas_descriptors"];
  delete descriptor;
}

} // namespace

const char *cublasGetStatusName(BlasStatus status) {
  switch (status) {
  case 0:
    return "CUBLAS_STATUS_SUCCESS";
  case kBlasNotInitialized:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case kBlasAllocFailed:
    return "CUBLAS_STATUS_ALLOC_FAILED";
  case kBlasInvalidValue:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case kBlasExecutionFailed:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case kBlasNotSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "CUBLAS_STATUS_INTERNAL_ERROR";
}

const char *cublasGetStatusString(BlasStatus status) {
  return status == kBlasExecutionFailed
             ? "the function failed to launch on the GPU"
             : "the function failed";
}

BlasStatus createBlas(BlasHandle *handle) {
  ECHO_FAKE_PLANNED();
  BlasCall call;
  if (!currentContext())
    return kBlasNotInitialized;
  ++call.state.counters["blas_handles"];
  *handle = new BlasContextTag{currentContext()};
  return 0;
}

BlasStatus destroyBlas(BlasHandle handle) {
  BlasCall call;
  --call.state.counters["blas_handles"];
  delete handle;
  ECHO_FAKE_PLANNED();
  return 0;
}

BlasStatus setStreamBlas(BlasHandle handle, Stream stream) {
  ECHO_FAKE_PLANNED();
  handle->stream = stream;
  // As cuBLAS does.
  handle->workspace = nullptr;
  handle->workspaceBytes = 0;
  return 0;
}

BlasStatus setWorkspaceBlas(BlasHandle handle, void *workspace, size_t bytes) {
  ECHO_FAKE_PLANNED();
  BlasCall call;
  if (BlasStatus status = checkWorkspace(call.state, workspace, bytes))
    return status;
  handle->workspace = workspace;
  handle->workspaceBytes = bytes;
  return 0;
}

BlasStatus setMathModeBlas(BlasHandle handle, int mode) {
  ECHO_FAKE_PLANNED();
  if (mode != 0 && mode != kMathPartialSums)
    return kBlasInvalidValue;
  handle->mathMode = mode;
  return 0;
}

BlasStatus gemmStridedBatchedBlas(BlasHandle handle, int transA, int transB,
                                  int m, int n, int k, const void *alpha,
                                  const void *a, int typeA, int leadingA,
                                  long long strideA, const void *b, int typeB,
                                  int leadingB, long long strideB,
                                  const void *beta, void *c, int typeC,
                                  int leadingC, long long strideC, int batch,
                                  int computeType, int algorithm) {
  ECHO_FAKE_PLANNED();
  BlasCall call;
  bool isDouble = computeType == kComputeF64;
  auto read = [&](const void *scale) {
    return isDouble ? *static_cast<const double *>(scale)
                    : *static_cast<const float *>(scale);
  };
  if (typeA != typeB || typeA != typeC || read(alpha) != 1 ||
      (read(beta) != 0 && read(beta) != 1) || algorithm != kGemmDefault)
    return kBlasNotSupported;
  return multiply(call.state,
                  {handle->stream, handle->workspace, handle->workspaceBytes,
                   computeType, handle->mathMode != kMathPartialSums},
                  typeA, transA, transB,
                  {a, transA ? k : m, transA ? m : k, leadingA, strideA},
                  {b, transB ? n : k, transB ? k : n, leadingB, strideB},
                  {c, m, n, leadingC, strideC}, batch, read(beta) == 1,
                  nullptr);
}

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

BlasStatus matmulDescCreateBlas(MatmulDesc *desc, int computeType,
                                int scaleType) {
  ECHO_FAKE_PLANNED();
  return createDescriptor(desc, computeType, scaleType);
}
BlasStatus matmulDescDestroyBlas(MatmulDesc desc) {
  destroyDescriptor(desc);
  ECHO_FAKE_PLANNED();
  return 0;
}
BlasStatus matmulDescSetBlas(MatmulDesc desc, int attribute, const void *value,
                             size_t bytes) {
  ECHO_FAKE_PLANNED();
  switch (attribute) {
  case kMatmulTransA:
    return readAttribute(desc->transA, value, bytes);
  case kMatmulTransB:
    return readAttribute(desc->transB, value, bytes);
  case kMatmulEpilogue:
    return readAttribute(desc->epilogue, value, bytes);
  case kMatmulBiasPointer:
    return readAttribute(desc->bias, value, bytes);
  }
  return kBlasInvalidValue;
}

BlasStatus layoutCreateBlas(MatrixLayout *layout, int type, uint64_t rows,
                            uint64_t columns, int64_t leading) {
  ECHO_FAKE_PLANNED();
  return createDescriptor(layout, type, rows, columns, leading);
}
BlasStatus layoutDestroyBlas(MatrixLayout layout) {
  destroyDescriptor(layout);
  ECHO_FAKE_PLANNED();
  return 0;
}
BlasStatus layoutSetBlas(MatrixLayout layout, int attribute, const void *value,
                         size_t bytes) {
  ECHO_FAKE_PLANNED();
  if (attribute == kLayoutBatchCount)
    return readAttribute(layout->count, value, bytes);
  if (attribute == kLayoutBatchStride)
    return readAttribute(layout->stride, value, bytes);
  return kBlasInvalidValue;
}

BlasStatus preferenceCreateBlas(MatmulPreference *preference) {
  ECHO_FAKE_PLANNED();
  return createDescriptor(preference);
}
BlasStatus preferenceDestroyBlas(MatmulPreference preference) {
  destroyDescriptor(preference);
  ECHO_FAKE_PLANNED();
  return 0;
}
BlasStatus preferenceSetBlas(MatmulPreference preference, int attribute,
                             const void *value, size_t bytes) {
  ECHO_FAKE_PLANNED();
  if (attribute == kPreferenceWorkspace)
    return readAttribute(preference->workspaceBytes, value, bytes);
  if (attribute == kPreferenceReduction)
    return readAttribute(preference->reductions, value, bytes);
  if (attribute >= kPreferenceAlignmentA && attribute <= kPreferenceAlignmentD)
    return readAttribute(
        preference->alignments[attribute - kPreferenceAlignmentA], value,
        bytes);
  return kBlasInvalidValue;
}

/// An algorithm remembers which alignments and how much workspace it was
/// promised, the type of its sums, and how parts of them may be added up.
BlasStatus matmulHeuristicBlas(BlasHandle, MatmulDesc desc, MatrixLayout a,
                               MatrixLayout, MatrixLayout, MatrixLayout,
                               MatmulPreference preference, int requested,
                               MatmulHeuristic *found, int *count) {
  ECHO_FAKE_PLANNED();
  BlasCall call;
  *count = 0;
  if (requested < 1 || desc->epilogue != kEpilogueBias)
    return kBlasInvalidValue;
  if (call.state.settings["has_epilogue"] == 0 || a->type == kTypeF64 ||
      !takes(a->type, desc->computeType))
    return kBlasNotSupported;
  // cuBLASLt says in either way that it has none.
  if (call.state.settings["has_epilogue"] == 2)
    return 0;
  *found = {};
  for (int i = 0; i < 4; ++i)
    found->algorithm.data[i] = preference->alignments[i];
  found->algorithm.data[kAlgorithmWorkspace] = preference->workspaceBytes;
  found->algorithm.data[kAlgorithmCompute] = desc->computeType;
  found->algorithm.data[kAlgorithmReductions] = preference->reductions;
  found->workspaceBytes = preference->workspaceBytes;
  *count = 1;
  return 0;
}

BlasStatus matmulBlas(BlasHandle, MatmulDesc desc, const void *alpha,
                      const void *a, MatrixLayout layoutA, const void *b,
                      MatrixLayout layoutB, const void *beta, const void *c,
                      MatrixLayout layoutC, void *d, MatrixLayout layoutD,
                      const MatmulAlgorithm *algorithm, void *workspace,
                      size_t workspaceBytes, Stream stream) {
  ECHO_FAKE_PLANNED();
  BlasCall call;
  if (*static_cast<const float *>(alpha) != 1 ||
      *static_cast<const float *>(beta) != 0 || c != d || !algorithm ||
      layoutC != layoutD || desc->scaleType != kTypeF32 ||
      desc->epilogue != kEpilogueBias)
    return kBlasNotSupported;
  if (BlasStatus status = checkWorkspace(call.state, workspace, workspaceBytes))
    return status;
  if (workspaceBytes < algorithm->data[kAlgorithmWorkspace] ||
      desc->computeType !=
          static_cast<int>(algorithm->data[kAlgorithmCompute])) {
    call.state.misuse(kInvalidValue,
                      "an algorithm has less workspace than it was promised, "
                      "or is for other sums");
    return kBlasInvalidValue;
  }
  const void *pointers[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (algorithm->data[i] == 0 ||
        reinterpret_cast<uintptr_t>(pointers[i]) % algorithm->data[i] != 0) {
      call.state.misuse(kInvalidValue,
                        "an operand isn't aligned as it was promised");
      return kBlasInvalidValue;
    }
  auto operand = [](const void *data, MatrixLayout layout) {
    return Operand{data, static_cast<int64_t>(layout->rows),
                   static_cast<int64_t>(layout->columns), layout->leading,
                   layout->stride};
  };
  return multiply(call.state,
                  {stream, workspace, workspaceBytes, desc->computeType,
                   algorithm->data[kAlgorithmReductions] != kReductionCompute},
                  layoutA->type, desc->transA, desc->transB,
                  operand(a, layoutA), operand(b, layoutB), operand(d, layoutD),
                  layoutD->count, false, desc->bias);
}

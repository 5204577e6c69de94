//===- Blas.cpp - Matrix products through cuBLAS --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/Blas.h"

#include "Error.h"

#include <algorithm>

using namespace echo;
using namespace echo::cuda;

BlasLibrary::BlasLibrary()
    : library("cuBLAS", "ECHO_CUBLAS",
              withToolkitFolders({"libcublas.so.13", "libcublas.so.12"})) {
#define ECHO_CUDA_FIND(member, symbol, parameters)                             \
  library.find(member, #symbol);
  ECHO_CUBLAS_FUNCTIONS(ECHO_CUDA_FIND)
#undef ECHO_CUDA_FIND
  library.find(statusName, "cublasGetStatusName");
  library.find(statusString, "cublasGetStatusString");
}

std::string BlasLibrary::describe(BlasStatus status) const {
  return std::string(statusName(status)) + " (" + std::to_string(status) +
         "): " + statusString(status);
}

namespace {

int typeOf(const GemmParameters &gemm) {
  switch (static_cast<DataType>(gemm.dataType)) {
  case DataType::F64:
    return kTypeF64;
  case DataType::F16:
    return kTypeF16;
  case DataType::BF16:
    return kTypeBF16;
  default:
    return kTypeF32;
  }
}

int computeTypeOf(int type, bool allowTF32) {
  if (type == kTypeF64)
    return kComputeF64;
  return type == kTypeF32 && allowTF32 ? kComputeFastTF32 : kComputeF32;
}

/// alpha or beta, in the type of the sums.
struct Scale {
  Scale(int type, double value)
      : type(type), single(static_cast<float>(value)), real(value) {}
  const void *address() const {
    return type == kTypeF64 ? static_cast<const void *>(&real) : &single;
  }

  int type;
  float single;
  double real;
};

/// The largest power of two up to 256 that divides an address.
int64_t alignmentOf(const void *pointer) {
  uintptr_t address = reinterpret_cast<uintptr_t>(pointer) | 256;
  return static_cast<int64_t>(address & (~address + 1));
}

} // namespace

/// A product with a bias, for cuBLASLt. Without an algorithm there is none.
struct Blas::BiasPlan {
  explicit BiasPlan(const BlasLibrary &library) : library(library) {}
  ~BiasPlan() {
    for (MatrixLayout layout : {a, b, c})
      if (layout)
        library.layoutDestroy(layout);
    if (desc)
      library.matmulDescDestroy(desc);
  }

  const BlasLibrary &library;
  MatmulDesc desc = nullptr;
  MatrixLayout a = nullptr, b = nullptr, c = nullptr;
  MatmulAlgorithm algorithm = {};
  bool hasAlgorithm = false;
};

Blas::Blas(Device &device, Stream stream, void *workspace,
           uint64_t workspaceBytes, bool allowTF32)
    : device(device), stream(stream), workspace(workspace),
      workspaceBytes(workspaceBytes), allowTF32(allowTF32) {
  check(library.create(&handle), "cublasCreate");
  try {
    check(library.setStream(handle, stream), "cublasSetStream");
    // Parts of a sum of f16 or bf16 stay f32 until they are added up.
    check(library.setMathMode(handle, kMathPartialSums), "cublasSetMathMode");
    // Only after the stream, which takes the workspace away.
    if (workspaceBytes != 0)
      check(library.setWorkspace(handle, workspace, workspaceBytes),
            "cublasSetWorkspace");
  } catch (...) {
    library.destroy(handle);
    throw;
  }
}

Blas::~Blas() {
  biasPlans.clear();
  library.destroy(handle);
}

void Blas::check(BlasStatus status, const char *what) const {
  constexpr BlasStatus kAllocFailed = 3; // CUBLAS_STATUS_ALLOC_FAILED
  if (status != kSuccess)
    throw Error(
        status == kAllocFailed ? ECHO_OUT_OF_MEMORY : ECHO_LIBRARY_ERROR,
        device.name() + ": " + what + " failed: " + library.describe(status));
}

void Blas::multiply(const GemmParameters &gemm, const GemmOperands &operands,
                    bool accumulate) {
  int type = typeOf(gemm);
  Scale alpha(type, 1), beta(type, accumulate ? 1 : 0);
  check(
      library.gemmStridedBatched(
          handle, gemm.transposeB ? kOpT : kOpN, gemm.transposeA ? kOpT : kOpN,
          static_cast<int>(gemm.n), static_cast<int>(gemm.m),
          static_cast<int>(gemm.k), alpha.address(), operands.b, type,
          static_cast<int>(gemm.transposeB ? gemm.k : gemm.n), gemm.strideB,
          operands.a, type, static_cast<int>(gemm.transposeA ? gemm.m : gemm.k),
          gemm.strideA, beta.address(), operands.c, type,
          static_cast<int>(gemm.n), gemm.strideC, static_cast<int>(gemm.batch),
          computeTypeOf(type, allowTF32), kGemmDefault),
      "cublasGemmStridedBatchedEx");
}

/// Fills all rows of C: every copy doubles what is there.
void Blas::copyBias(const GemmParameters &gemm, const GemmOperands &operands) {
  uint64_t elementBytes = bytesOf(static_cast<DataType>(gemm.dataType));
  uint64_t rowBytes = gemm.n * elementBytes;
  auto copy = [&](DeviceAddress target, DeviceAddress source, uint64_t bytes) {
    device.checkCapturing(
        device.driver().memcpyDtoDAsync(target, source, bytes, stream),
        "cuMemcpyDtoDAsync");
  };
  auto bias = reinterpret_cast<DeviceAddress>(operands.bias);
  auto fill = [&](DeviceAddress target, uint64_t bytes) {
    copy(target, bias, rowBytes);
    for (uint64_t done = rowBytes; done < bytes; done *= 2)
      copy(target + done, target, std::min(done, bytes - done));
  };
  auto c = reinterpret_cast<DeviceAddress>(operands.c);
  uint64_t matrixBytes = gemm.m * rowBytes;
  if (gemm.batch == 1 || gemm.strideC == gemm.m * gemm.n)
    return fill(c, gemm.batch * matrixBytes);
  for (int64_t batch = 0; batch < gemm.batch; ++batch)
    fill(c + batch * gemm.strideC * elementBytes, matrixBytes);
}

Blas::BiasPlan &Blas::planBias(const GemmParameters &gemm,
                               const GemmOperands &operands) {
  // cuBLASLt's operands a and b are our b and a.
  int64_t alignments[] = {alignmentOf(operands.b), alignmentOf(operands.a),
                          alignmentOf(operands.c), alignmentOf(operands.bias)};
  BiasKey key = {
      gemm.dataType, gemm.batch,    gemm.m,
      gemm.n,        gemm.k,        gemm.transposeA * 2 + gemm.transposeB,
      gemm.strideA,  gemm.strideB,  gemm.strideC,
      alignments[0], alignments[1], alignments[2],
      alignments[3]};
  std::unique_ptr<BiasPlan> &known = biasPlans[key];
  if (known)
    return *known;
  auto plan = std::make_unique<BiasPlan>(library);
  int type = typeOf(gemm);
  auto set = [&](int attribute, auto value) {
    check(library.matmulDescSet(plan->desc, attribute, &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  };
  check(library.matmulDescCreate(&plan->desc, computeTypeOf(type, allowTF32),
                                 type == kTypeF64 ? kTypeF64 : kTypeF32),
        "cublasLtMatmulDescCreate");
  set(kMatmulTransA, int32_t(gemm.transposeB ? kOpT : kOpN));
  set(kMatmulTransB, int32_t(gemm.transposeA ? kOpT : kOpN));
  set(kMatmulEpilogue, uint32_t(kEpilogueBias));
  set(kMatmulBiasPointer, operands.bias);
  auto makeLayout = [&](MatrixLayout &layout, int64_t rows, int64_t columns,
                        int64_t stride) {
    check(library.layoutCreate(&layout, type, rows, columns, rows),
          "cublasLtMatrixLayoutCreate");
    auto count = static_cast<int32_t>(gemm.batch);
    check(library.layoutSet(layout, kLayoutBatchCount, &count, sizeof(count)),
          "cublasLtMatrixLayoutSetAttribute");
    check(
        library.layoutSet(layout, kLayoutBatchStride, &stride, sizeof(stride)),
        "cublasLtMatrixLayoutSetAttribute");
  };
  auto [rowsB, columnsB] =
      gemm.transposeB ? std::pair(gemm.k, gemm.n) : std::pair(gemm.n, gemm.k);
  auto [rowsA, columnsA] =
      gemm.transposeA ? std::pair(gemm.m, gemm.k) : std::pair(gemm.k, gemm.m);
  makeLayout(plan->a, rowsB, columnsB, gemm.strideB);
  makeLayout(plan->b, rowsA, columnsA, gemm.strideA);
  makeLayout(plan->c, gemm.n, gemm.m, gemm.strideC);

  MatmulPreference preference = nullptr;
  check(library.preferenceCreate(&preference),
        "cublasLtMatmulPreferenceCreate");
  auto destroy = [&](MatmulPreference created) {
    library.preferenceDestroy(created);
  };
  std::unique_ptr<MatmulPreferenceTag, decltype(destroy)> owner(preference,
                                                                destroy);
  auto prefer = [&](int attribute, auto value) {
    check(library.preferenceSet(preference, attribute, &value, sizeof(value)),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(kPreferenceWorkspace, workspaceBytes);
  // As cublasSetMathMode: parts of a sum in its own type.
  prefer(kPreferenceReduction, uint32_t(kReductionCompute));
  const int attributes[] = {kPreferenceAlignmentA, kPreferenceAlignmentB,
                            kPreferenceAlignmentC, kPreferenceAlignmentD};
  for (int i = 0; i < 4; ++i)
    prefer(attributes[i], static_cast<uint32_t>(alignments[std::min(i, 2)]));
  MatmulHeuristic found{};
  int count = 0;
  BlasStatus status =
      library.matmulHeuristic(handle, plan->desc, plan->a, plan->b, plan->c,
                              plan->c, preference, 1, &found, &count);
  // No algorithm is no error: the bias is copied then.
  constexpr BlasStatus kNotSupported = 15; // CUBLAS_STATUS_NOT_SUPPORTED
  if (status == kNotSupported)
    status = count = 0;
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  plan->hasAlgorithm = count > 0 && found.state == kSuccess;
  plan->algorithm = found.algorithm;
  known = std::move(plan);
  return *known;
}

void Blas::run(const GemmParameters &gemm, const GemmOperands &operands) {
  if (gemm.batch == 0 || gemm.m == 0 || gemm.n == 0)
    return;
  if (gemm.k == 0) {
    // An empty sum; the library takes no leading dimension of 0.
    if (operands.bias)
      return copyBias(gemm, operands);
    if (gemm.accumulate)
      return;
    uint64_t elementBytes = bytesOf(static_cast<DataType>(gemm.dataType));
    for (int64_t batch = 0; batch < gemm.batch; ++batch)
      device.checkCapturing(device.driver().memsetD8Async(
                                reinterpret_cast<DeviceAddress>(operands.c) +
                                    batch * gemm.strideC * elementBytes,
                                0, gemm.m * gemm.n * elementBytes, stream),
                            "cuMemsetD8Async");
    return;
  }
  if (!operands.bias)
    return multiply(gemm, operands, gemm.accumulate != 0);
  BiasPlan &plan = planBias(gemm, operands);
  if (!plan.hasAlgorithm) {
    copyBias(gemm, operands);
    return multiply(gemm, operands, /*accumulate=*/true);
  }
  int type = typeOf(gemm);
  Scale alpha(type, 1), beta(type, 0);
  check(library.matmulDescSet(plan.desc, kMatmulBiasPointer, &operands.bias,
                              sizeof(operands.bias)),
        "cublasLtMatmulDescSetAttribute");
  check(library.matmul(handle, plan.desc, alpha.address(), operands.b, plan.a,
                       operands.a, plan.b, beta.address(), operands.c, plan.c,
                       operands.c, plan.c, &plan.algorithm, workspace,
                       workspaceBytes, stream),
        "cublasLtMatmul");
}

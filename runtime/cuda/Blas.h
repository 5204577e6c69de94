//===- Blas.h - Matrix products through cuBLAS -------------------*- C++
//-*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row-major C = A B is computed as the column-major C^T = B^T A^T, which lies
// in memory in the same way. f16 and bf16 are summed in f32; f32 isn't rounded
// to TF32 unless that is asked for.
//
// A bias is added to every row of the product, as on the CPU: once, to the sum
// in the type of the sum. cuBLASLt does so in its epilogue. Where it has no
// algorithm for that (f64), the bias is copied to all rows of C and the product
// is added to it.
//
// The library is $ECHO_CUBLAS, or libcublas.so.13 or .12; it loads cuBLASLt.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_CUDA_BLAS_H
#define ECHO_RUNTIME_CUDA_BLAS_H

#include "Program.h"
#include "cpu/Gemm.h"
#include "cuda/Device.h"

#include <array>
#include <map>

namespace echo::cuda {

/// The functions of the library. Throws Error if it can't be loaded.
class BlasLibrary {
public:
  BlasLibrary();

#define ECHO_CUDA_MEMBER(member, symbol, parameters)                           \
  BlasStatus(*member) parameters = nullptr;
  ECHO_CUBLAS_FUNCTIONS(ECHO_CUDA_MEMBER)
#undef ECHO_CUDA_MEMBER

  /// "CUBLAS_STATUS_EXECUTION_FAILED (13): the function failed to launch ..."
  std::string describe(BlasStatus status) const;

private:
  SharedLibrary library;
  const char *(*statusName)(BlasStatus) = nullptr;
  const char *(*statusString)(BlasStatus) = nullptr;
};

/// Products on one stream of a device. All functions need a Device::Use, and
/// throw Error.
class Blas {
public:
  /// `workspace` is memory that the products may use, or null: cuBLAS takes
  /// memory of its own then.
  Blas(Device &device, Stream stream, void *workspace, uint64_t workspaceBytes,
       bool allowTF32);
  ~Blas();
  Blas(const Blas &) = delete;
  Blas &operator=(const Blas &) = delete;

  /// Issues a checked GEMM (Program::verify). The first one of a
  /// shape with a bias asks cuBLASLt for an algorithm.
  void run(const GemmParameters &gemm, const GemmOperands &operands);

private:
  struct BiasPlan;
  /// Shape and alignments.
  using BiasKey = std::array<int64_t, 13>;

  void check(BlasStatus status, const char *what) const;
  void multiply(const GemmParameters &gemm, const GemmOperands &operands,
                bool accumulate);
  BiasPlan &planBias(const GemmParameters &gemm, const GemmOperands &operands);
  void copyBias(const GemmParameters &gemm, const GemmOperands &operands);

  BlasLibrary library;
  Device &device;
  Stream stream;
  void *workspace;
  uint64_t workspaceBytes;
  bool allowTF32;
  BlasHandle handle = nullptr;
  std::map<BiasKey, std::unique_ptr<BiasPlan>> biasPlans;
};

} // namespace echo::cuda

#endif // ECHO_RUNTIME_CUDA_BLAS_H

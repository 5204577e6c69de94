//===- GemmTest.cpp - Matrix products against plain loops -----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalfFloat.h"
#include "cpu/Gemm.h"
#include "cpu/ThreadPool.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace echo;

namespace {

/// Numbers of 16 bits, by conversions that the product doesn't use.
struct F16 {
  F16() = default;
  explicit F16(double value) : bits(toF16(value)) {}
  operator double() const { return fromF16(bits); }
  uint16_t bits;
};
struct BF16 {
  BF16() = default;
  explicit BF16(double value) : bits(toBF16(value)) {}
  operator double() const { return fromBF16(bits); }
  uint16_t bits;
};

template <typename T>
constexpr DataType typeOf() {
  return std::is_same_v<T, float>    ? DataType::F32
         : std::is_same_v<T, double> ? DataType::F64
         : std::is_same_v<T, F16>    ? DataType::F16
                                     : DataType::BF16;
}
/// The distance from 1 to the next number.
template <typename T>
double epsilonOf() {
  switch (typeOf<T>()) {
  case DataType::F16:
    return 0x1p-10;
  case DataType::BF16:
    return 0x1p-7;
  case DataType::F32:
    return 0x1p-23;
  default:
    return 0x1p-52;
  }
}

/// Reproducible values in [-1, 1].
template <typename T>
std::vector<T> values(int64_t count, uint32_t state) {
  std::vector<T> result(count);
  for (T &value : result) {
    state = state * 1664525 + 1013904223;
    value = static_cast<T>(static_cast<int32_t>(state) * 0x1p-31);
  }
  return result;
}

template <typename T>
struct Problem {
  GemmParameters gemm;
  std::vector<T> a, b, c, bias;

  Problem(int64_t batch, int64_t m, int64_t n, int64_t k, bool transposeA,
          bool transposeB, bool accumulate, bool hasBias, bool repeatA = false,
          bool repeatB = false)
      : gemm{int64_t(typeOf<T>()),
             batch,
             m,
             n,
             k,
             transposeA,
             transposeB,
             repeatA ? 0 : m * k,
             repeatB ? 0 : k * n,
             m * n,
             accumulate} {
    a = values<T>((repeatA ? 1 : batch) * m * k, 1);
    b = values<T>((repeatB ? 1 : batch) * k * n, 2);
    c = values<T>(batch * m * n, 3);
    if (hasBias)
      bias = values<T>(n, 4);
    // What isn't accumulated must not be read: NaN would show.
    if (!accumulate)
      std::fill(c.begin(), c.end(), static_cast<T>(std::nan("")));
  }

  std::vector<T> run(ThreadPool &pool) const {
    std::vector<T> result = c;
    runGemm(pool, gemm,
            {a.data(), b.data(), bias.empty() ? nullptr : bias.data(),
             result.data()});
    return result;
  }

  /// Element `at` of c in double, so that only the product under test rounds
  /// to T.
  double reference(int64_t at) const {
    int64_t s = at / gemm.strideC;
    int64_t i = at % gemm.strideC / gemm.n, j = at % gemm.n;
    const T *x = a.data() + s * gemm.strideA;
    const T *y = b.data() + s * gemm.strideB;
    double sum = 0;
    for (int64_t l = 0; l < gemm.k; ++l)
      sum += double(gemm.transposeA ? x[l * gemm.m + i] : x[i * gemm.k + l]) *
             double(gemm.transposeB ? y[j * gemm.k + l] : y[l * gemm.n + j]);
    if (!bias.empty())
      return sum + bias[j];
    return gemm.accumulate ? sum + c[at] : sum;
  }

  void check(ThreadPool &pool) const {
    std::vector<T> result = run(pool);
    // |error| <= (k + 1) u sum |a b| with |a|, |b| <= 1. Sums of 16-bit
    // numbers are f32, and rounded once.
    double terms = gemm.k + 2.0;
    bool isHalf = sizeof(T) == 2;
    double bound = isHalf ? terms * terms * 0x1p-23 + terms * epsilonOf<T>() / 2
                          : terms * terms * epsilonOf<T>();
    // Of large results every 17th element, which visits every tile.
    size_t step = result.size() > 10000 ? 17 : 1;
    for (size_t i = 0; i < result.size(); i += step)
      ASSERT_NEAR(result[i], reference(i), bound)
          << gemm.batch << " " << gemm.m << "x" << gemm.n << "x" << gemm.k
          << " at " << i;
  }
};

template <typename T>
void checkAllForms(int64_t batch, int64_t m, int64_t n, int64_t k) {
  claimOpenBLAS();
  ThreadPool pool(2);
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true})
      for (int epilogue : {0, 1, 2})
        Problem<T>(batch, m, n, k, transposeA, transposeB, epilogue == 1,
                   epilogue == 2)
            .check(pool);
}

TEST(Gemm, SmallShapes) {
  for (int64_t m : {1, 3, 8})
    for (int64_t n : {1, 2, 17})
      for (int64_t k : {1, 5, 16}) {
        checkAllForms<float>(1, m, n, k);
        checkAllForms<double>(1, m, n, k);
      }
}

TEST(Gemm, HalfPrecision) {
  for (int64_t m : {1, 65})
    for (int64_t n : {3, 130})
      for (int64_t k : {0, 7, 300}) {
        checkAllForms<F16>(1, m, n, k);
        checkAllForms<BF16>(1, m, n, k);
      }
  checkAllForms<F16>(5, 9, 2, 31);
  ThreadPool pool(3);
  Problem<BF16>(6, 5, 7, 4, false, true, false, true, true, false).check(pool);
  // 4096 ones are 4096: a sum in f16 would stay at 2048.
  GemmParameters gemm{int64_t(DataType::F16), 1, 1, 1, 4096, 0, 0, 0, 0, 0, 0};
  std::vector<F16> ones(4096, F16(1)), sum(1);
  runGemm(pool, gemm, {ones.data(), ones.data(), nullptr, sum.data()});
  EXPECT_EQ(double(sum[0]), 4096);
}

TEST(Gemm, FastConversionsOfHalves) {
  // All 16-bit numbers, and all f32 whose lower half is 0, a tie, or beside
  // one: against the conversions by arithmetic.
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    double f16 = fromF16(half), bf16 = fromBF16(half);
    if (!std::isnan(f16))
      ASSERT_EQ(f16ToFloat(half), f16) << bits;
    else
      ASSERT_TRUE(std::isnan(f16ToFloat(half))) << bits;
    if (!std::isnan(bf16))
      ASSERT_EQ(bf16ToFloat(half), bf16) << bits;
    else
      ASSERT_TRUE(std::isnan(bf16ToFloat(half))) << bits;
    for (uint32_t low : {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu,
                         0x8000u, 0x8001u, 0xffffu}) {
      float value = bitsToFloat(bits << 16 | low);
      ASSERT_EQ(floatToF16(value), toF16(value)) << value;
      ASSERT_EQ(floatToBF16(value), toBF16(value)) << value;
    }
  }
}

TEST(Gemm, EmptyShapes) {
  // k = 0: zeros, the old values, or the bias. m, n or batch = 0: nothing.
  for (int64_t batch : {0, 1, 2})
    for (int64_t m : {0, 2})
      for (int64_t n : {0, 3}) {
        checkAllForms<float>(batch, m, n, 0);
        checkAllForms<double>(batch, m, n, 0);
        checkAllForms<float>(batch, m, n, 4);
      }
}

TEST(Gemm, TiledShapes) {
  // Above the size of one tile: tall, wide, deep, with ragged last tiles.
  checkAllForms<float>(1, 300, 130, 200);
  checkAllForms<float>(1, 70, 515, 211);
  checkAllForms<double>(1, 257, 193, 120);
  checkAllForms<float>(2, 200, 180, 190);
}

TEST(Gemm, Batches) {
  checkAllForms<float>(37, 4, 6, 5);
  checkAllForms<double>(5, 9, 2, 31);
  ThreadPool pool(3);
  Problem<float>(6, 5, 7, 4, false, true, false, true, true, false).check(pool);
  Problem<float>(6, 5, 7, 4, true, false, true, false, false, true).check(pool);
}

TEST(Gemm, GapsBetweenBatchesStay) {
  claimOpenBLAS();
  ThreadPool pool(2);
  GemmParameters gemm{int64_t(DataType::F32), 3, 2, 2, 2, 0, 0, 4, 4, 10, 0};
  std::vector<float> a = values<float>(12, 1), b = values<float>(12, 2);
  std::vector<float> c(24, 77.0f);
  runGemm(pool, gemm, {a.data(), b.data(), nullptr, c.data()});
  for (int s = 0; s < 3; ++s)
    for (int i = 0; i < (s < 2 ? 10 : 4); ++i) {
      if (i >= 4)
        EXPECT_EQ(c[s * 10 + i], 77.0f);
      else
        EXPECT_NEAR(c[s * 10 + i],
                    a[s * 4 + i / 2 * 2] * b[s * 4 + i % 2] +
                        a[s * 4 + i / 2 * 2 + 1] * b[s * 4 + 2 + i % 2],
                    1e-6);
    }
}

TEST(Gemm, ThreadsGiveTheSameBits) {
  claimOpenBLAS();
  Problem<float> problems[] = {
      {1, 333, 257, 181, false, true, false, true},
      {1, 64, 1024, 300, true, false, true, false},
      {100, 7, 9, 33, false, false, false, false},
  };
  for (const Problem<float> &problem : problems) {
    ThreadPool one(1);
    std::vector<float> expected = problem.run(one);
    for (int threads : {2, 3, 7}) {
      ThreadPool pool(threads);
      for (int repeat = 0; repeat < 3; ++repeat) {
        std::vector<float> result = problem.run(pool);
        EXPECT_EQ(std::memcmp(result.data(), expected.data(),
                              result.size() * sizeof(float)),
                  0)
            << threads << " threads";
      }
    }
  }
}

} // namespace

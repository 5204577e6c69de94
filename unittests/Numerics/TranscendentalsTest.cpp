//===- TranscendentalsTest.cpp - Errors of functions in ulp ---------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Numerics/Transcendentals.h"
#include "Echo/Numerics/HostAlgebra.h"
#include "Echo/Numerics/Pow.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir::echo;
using numerics::HostAlgebra;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// The distance of `got` from `want` in units in the last place of `want` in
/// T; infinite if one is NaN, or infinite where the other doesn't round to it.
template <typename T, typename Wide>
double ulps(T got, Wide want) {
  if (std::isnan(got) || std::isnan(want))
    return std::isnan(got) == std::isnan(want) ? 0 : kInf;
  if (std::isinf(T(want)) || std::isinf(got)) {
    // Just below overflow, infinity is one unit away from the largest number.
    T largest = std::numeric_limits<T>::max();
    if (T(want) == got)
      return 0;
    return std::abs(want) >= Wide(largest) * Wide(0.9999999) &&
                   std::isinf(got) && std::signbit(got) == std::signbit(want)
               ? 1
               : kInf;
  }
  int exponent = want == 0 ? std::numeric_limits<int>::min() : std::ilogb(want);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent - 1);
  Wide unit =
      std::ldexp(Wide(1), exponent - (std::numeric_limits<T>::digits - 1));
  return double(std::abs(Wide(got) - want) / unit);
}

/// The largest error over every 499th bit pattern of f32, NaN included.
template <typename Function, typename Reference>
double worstF32(Function function, Reference reference) {
  HostAlgebra<float> a;
  double worst = 0;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 499) {
    float x = a.fromBits(int32_t(uint32_t(bits)));
    worst = std::max(worst, ulps(function(x), reference(double(x))));
  }
  return worst;
}

/// The largest error over random bit patterns of f64 and over random numbers
/// in [-range, range].
template <typename Function, typename Reference>
double worstF64(Function function, Reference reference, double range) {
  HostAlgebra<double> a;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-range, range);
  double worst = 0;
  for (int i = 0; i < 400000; ++i) {
    for (double x :
         {a.fromBits(int64_t(random())), uniform(random), uniform(random) / 16})
      worst = std::max(worst, ulps(function(x), reference((long double)(x))));
  }
  return worst;
}

#define F32(name)                                                              \
  [](float x) { return numerics::name(HostAlgebra<float>(), x); }
#define F64(name)                                                              \
  [](double x) { return numerics::name(HostAlgebra<double>(), x); }

TEST(Transcendentals, Exp) {
  EXPECT_LE(worstF32(F32(exp), [](double x) { return std::exp(x); }), 1);
  EXPECT_LE(worstF64(F64(exp), [](long double x) { return expl(x); }, 750), 1);
}

TEST(Transcendentals, Log) {
  EXPECT_LE(worstF32(F32(log), [](double x) { return std::log(x); }), 1);
  EXPECT_LE(worstF64(F64(log), [](long double x) { return logl(x); }, 4), 1);
}

TEST(Transcendentals, Tanh) {
  EXPECT_LE(worstF32(F32(tanh), [](double x) { return std::tanh(x); }), 3);
  EXPECT_LE(worstF64(F64(tanh), [](long double x) { return tanhl(x); }, 20), 3);
}

TEST(Transcendentals, Sigmoid) {
  auto reference = [](auto x) {
    return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
  };
  EXPECT_LE(worstF32(F32(sigmoid), reference), 3);
  EXPECT_LE(worstF64(F64(sigmoid), reference, 750), 3);
}

TEST(Transcendentals, Erf) {
  EXPECT_LE(worstF32(F32(erf), [](double x) { return std::erf(x); }), 2);
  EXPECT_LE(worstF64(F64(erf), [](long double x) { return erfl(x); }, 7), 2);
}

TEST(Transcendentals, Gelu) {
  HostAlgebra<float> a;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 499) {
    float x = a.fromBits(int32_t(uint32_t(bits)));
    if (!std::isfinite(x))
      continue;
    double want = 0.5 * double(x) * std::erfc(-double(x) * std::sqrt(0.5));
    // Two units of 2^-24 of x, and the rounding of denormals.
    double bound = 2 * 0x1p-24 * std::abs(double(x)) + 0x1p-149;
    ASSERT_LE(std::abs(double(numerics::gelu(a, x)) - want), bound) << x;
  }
  HostAlgebra<double> b;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-10, 10);
  for (int i = 0; i < 400000; ++i) {
    double x = uniform(random);
    long double want = 0.5L * x * erfcl(-(long double)(x)*sqrtl(0.5L));
    ASSERT_LE(std::abs(numerics::gelu(b, x) - want), 2 * 0x1p-53L * std::abs(x))
        << x;
  }
}

TEST(Transcendentals, PowF32) {
  HostAlgebra<float> a;
  std::mt19937_64 random(11);
  std::uniform_real_distribution<float> base(0, 20), power(-30, 30);
  double worst = 0;
  for (int i = 0; i < 400000; ++i) {
    float x = a.fromBits(int32_t(random())), y = a.fromBits(int32_t(random()));
    float u = base(random), v = power(random);
    float whole = std::nearbyint(v);
    for (auto [p, q] : {std::pair(x, y), std::pair(u, v), std::pair(-u, whole),
                        std::pair(std::abs(x), v / 30)})
      worst = std::max(
          worst, ulps(numerics::pow(a, p, q), std::pow(double(p), double(q))));
  }
  EXPECT_LE(worst, 1);
}

TEST(Transcendentals, PowF64) {
  HostAlgebra<double> a;
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> base(0, 20), power(-230, 230);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    double x = a.fromBits(int64_t(random())), y = a.fromBits(int64_t(random()));
    double u = base(random), v = power(random);
    double whole = std::nearbyint(v);
    for (auto [p, q] : {std::pair(x, y), std::pair(u, v), std::pair(-u, whole),
                        std::pair(1 + u * 0x1p-40, v * 0x1p38),
                        std::pair(std::abs(x), v / 240)})
      worst = std::max(worst, ulps(numerics::pow(a, p, q),
                                   powl((long double)(p), (long double)(q))));
  }
  EXPECT_LE(worst, 2);
}

template <typename T>
void expectSame(T got, T want) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << got;
    return;
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(std::signbit(got), std::signbit(want)) << got << " for " << want;
}

template <typename T>
void checkSpecialValues() {
  HostAlgebra<T> a;
  const T inf = kInf, nan = kNaN;
  expectSame<T>(numerics::exp(a, -inf), 0);
  expectSame<T>(numerics::exp(a, inf), inf);
  expectSame<T>(numerics::exp(a, nan), nan);
  expectSame<T>(numerics::exp(a, T(-0.0)), 1);
  expectSame<T>(numerics::exp(a, T(-1e30)), 0);
  expectSame<T>(numerics::exp(a, T(1e30)), inf);
  expectSame<T>(numerics::log(a, T(0)), -inf);
  expectSame<T>(numerics::log(a, T(-0.0)), -inf);
  expectSame<T>(numerics::log(a, T(-1)), nan);
  expectSame<T>(numerics::log(a, -inf), nan);
  expectSame<T>(numerics::log(a, inf), inf);
  expectSame<T>(numerics::log(a, nan), nan);
  expectSame<T>(numerics::log(a, T(1)), 0);
  expectSame<T>(numerics::tanh(a, T(0)), 0);
  expectSame<T>(numerics::tanh(a, T(-0.0)), T(-0.0));
  expectSame<T>(numerics::tanh(a, inf), 1);
  expectSame<T>(numerics::tanh(a, -inf), -1);
  expectSame<T>(numerics::tanh(a, nan), nan);
  expectSame<T>(numerics::sigmoid(a, T(0)), T(0.5));
  expectSame<T>(numerics::sigmoid(a, inf), 1);
  expectSame<T>(numerics::sigmoid(a, -inf), 0);
  expectSame<T>(numerics::sigmoid(a, nan), nan);
  expectSame<T>(numerics::erf(a, T(0)), 0);
  expectSame<T>(numerics::erf(a, T(-0.0)), T(-0.0));
  expectSame<T>(numerics::erf(a, inf), 1);
  expectSame<T>(numerics::erf(a, -inf), -1);
  expectSame<T>(numerics::erf(a, nan), nan);
  expectSame<T>(numerics::gelu(a, inf), inf);
  expectSame<T>(numerics::gelu(a, -inf), T(-0.0));
  expectSame<T>(numerics::gelu(a, nan), nan);
  expectSame<T>(numerics::gelu(a, T(0)), 0);
  expectSame<T>(numerics::gelu(a, T(-0.0)), T(-0.0));
}

TEST(Transcendentals, SpecialValues) {
  checkSpecialValues<float>();
  checkSpecialValues<double>();
}

template <typename T>
void checkPowSpecialValues() {
  HostAlgebra<T> a;
  const T inf = kInf, nan = kNaN;
  for (T x : {T(0), T(-0.0), T(1), T(-1), T(0.5), T(-0.5), T(2), T(-2), T(3),
              T(-3), inf, -inf, nan})
    for (T y : {T(0), T(-0.0), T(1), T(-1), T(0.5), T(-0.5), T(2), T(-2), T(3),
                T(-3), T(1e15), T(-1e30), inf, -inf, nan}) {
      SCOPED_TRACE(::testing::Message() << x << " to the power " << y);
      T got = numerics::pow(a, x, y), want = std::pow(x, y);
      EXPECT_LE(ulps(got, want), 2);
      EXPECT_TRUE(std::isnan(want) || std::signbit(got) == std::signbit(want));
    }
}

TEST(Transcendentals, PowSpecialValues) {
  checkPowSpecialValues<float>();
  checkPowSpecialValues<double>();
}

} // namespace

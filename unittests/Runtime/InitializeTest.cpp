//===- InitializeTest.cpp - Initial values and 16-bit floats --------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common/Initialize.h"
#include "common/HalfFloat.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace echo;

namespace {

Tensor makeTensor(DataType type, int64_t count, Init init,
                  const std::string &name = "w", Role role = Role::Parameter) {
  return {name, role, type, {count}, count * bytesOf(type), {}, init, false};
}

template <typename T>
std::vector<T> draw(const Tensor &tensor, uint64_t seed) {
  std::vector<T> values(tensor.bytes / sizeof(T));
  drawValues(tensor, seed, values.data());
  return values;
}

TEST(Initialize, WordsOfPhilox) {
  // Element i uses words 2 (i mod 2) and 2 (i mod 2) + 1 of block i / 2; a
  // range of 2^32 gives the second of them. The generator is written out here
  // once more, from the paper.
  Tensor tensor = makeTensor(DataType::I64, 4, {InitKind::RandInt, 0, 0x1p32});
  std::vector<int64_t> values = draw<int64_t>(tensor, 0);
  // FNV-1a of "w" is (0xcbf29ce484222325 ^ 0x77) * 0x100000001b3.
  uint64_t hash = (0xcbf29ce484222325u ^ 0x77) * 0x100000001b3u;
  for (uint64_t block = 0; block < 2; ++block) {
    uint32_t x[4] = {uint32_t(block), 0, uint32_t(hash), uint32_t(hash >> 32)};
    uint32_t k0 = 0, k1 = 0;
    for (int round = 0; round < 10; ++round) {
      uint64_t p0 = uint64_t(0xD2511F53u) * x[0];
      uint64_t p1 = uint64_t(0xCD9E8D57u) * x[2];
      uint32_t y0 = uint32_t(p1 >> 32) ^ x[1] ^ k0, y1 = uint32_t(p1);
      uint32_t y2 = uint32_t(p0 >> 32) ^ x[3] ^ k1, y3 = uint32_t(p0);
      x[0] = y0, x[1] = y1, x[2] = y2, x[3] = y3;
      k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    EXPECT_EQ(values[2 * block], int64_t(x[1]));
    EXPECT_EQ(values[2 * block + 1], int64_t(x[3]));
  }
}

TEST(Initialize, DependsOnSeedAndNameAlone) {
  Init init{InitKind::Uniform, -1, 1};
  auto values = [&](const std::string &name, uint64_t seed, int64_t count,
                    Role role) {
    return draw<float>(makeTensor(DataType::F32, count, init, name, role),
                       seed);
  };
  std::vector<float> w = values("w", 1, 100, Role::Parameter);
  EXPECT_EQ(values("w", 1, 100, Role::Input), w);
  EXPECT_NE(values("v", 1, 100, Role::Parameter), w);
  EXPECT_NE(values("w", 2, 100, Role::Parameter), w);
  // A longer tensor begins with the same values.
  std::vector<float> longer = values("w", 1, 101, Role::Parameter);
  longer.pop_back();
  EXPECT_EQ(longer, w);
}

TEST(Initialize, Uniform) {
  Tensor tensor = makeTensor(DataType::F64, 100000, {InitKind::Uniform, 2, 5});
  double sum = 0, squares = 0;
  for (double value : draw<double>(tensor, 9)) {
    ASSERT_GE(value, 2);
    ASSERT_LT(value, 5);
    sum += value;
    squares += (value - 3.5) * (value - 3.5);
  }
  // Mean 3.5, variance 9/12; five standard errors are 0.0137 and 0.0106.
  EXPECT_NEAR(sum / 100000, 3.5, 0.0137);
  EXPECT_NEAR(squares / 100000, 0.75, 0.0106);
}

TEST(Initialize, UniformStaysBelowTheBound) {
  // In bf16 one draw in 512 between 1 and 2 rounds up to 2.
  Tensor tensor = makeTensor(DataType::BF16, 20000, {InitKind::Uniform, 1, 2});
  for (uint16_t bits : draw<uint16_t>(tensor, 3)) {
    ASSERT_GE(fromBF16(bits), 1);
    ASSERT_LT(fromBF16(bits), 2);
  }
}

TEST(Initialize, Normal) {
  Tensor tensor = makeTensor(DataType::F64, 100000, {InitKind::Normal, 1, 2});
  double sum = 0, squares = 0;
  int beyond = 0;
  for (double value : draw<double>(tensor, 4)) {
    double z = (value - 1) / 2;
    sum += z;
    squares += z * z;
    beyond += std::abs(z) > 1.959964;
  }
  // Mean 0, variance 1, 5% beyond 1.96; five standard errors each.
  EXPECT_NEAR(sum / 100000, 0, 0.0159);
  EXPECT_NEAR(squares / 100000, 1, 0.0224);
  EXPECT_NEAR(beyond / 100000.0, 0.05, 0.0035);
}

TEST(Initialize, NormalAgreesWithTheMathLibrary) {
  // The same bits as uniforms and through libm: the draw's own logarithm and
  // cosine are within 1e-14 of it.
  int64_t count = 20000;
  std::vector<double> normals = draw<double>(
      makeTensor(DataType::F64, count, {InitKind::Normal, 0, 1}), 8);
  std::vector<int64_t> high = draw<int64_t>(
      makeTensor(DataType::I64, count, {InitKind::RandInt, 0, 0x1p32}), 8);
  std::vector<int64_t> all = draw<int64_t>(
      makeTensor(DataType::I64, count, {InitKind::RandInt, 0, 0x1p62}), 8);
  for (int64_t i = 0; i < count; ++i) {
    // `all` is bits >> 2: all but the last two bits of the low word.
    auto low = uint32_t((all[i] << 2) & 0xffffffff);
    double u2 = double(high[i]) * 0x1p-32;
    double cosine = std::cos(2 * M_PI * u2);
    double most = std::sqrt(-2 * std::log((low + 0.5) * 0x1p-32)) * cosine;
    double least = std::sqrt(-2 * std::log((low + 3.5) * 0x1p-32)) * cosine;
    if (cosine < 0)
      std::swap(most, least);
    ASSERT_GE(normals[i], least - 1e-13) << i;
    ASSERT_LE(normals[i], most + 1e-13) << i;
  }
}

TEST(Initialize, Integers) {
  std::vector<int> counts(5);
  for (int32_t value : draw<int32_t>(
           makeTensor(DataType::I32, 50000, {InitKind::RandInt, -2, 3}), 1)) {
    ASSERT_GE(value, -2);
    ASSERT_LT(value, 3);
    ++counts[value + 2];
  }
  for (int count : counts) // 10000 each; five standard errors are 447
    EXPECT_NEAR(count, 10000, 447);
  for (uint8_t flag : draw<uint8_t>(
           makeTensor(DataType::I1, 1000, {InitKind::RandInt, 0, 2}), 1))
    ASSERT_LE(flag, 1);
}

TEST(Initialize, ConstantsAndDefaults) {
  EXPECT_EQ(draw<float>(
                makeTensor(DataType::F32, 2, {InitKind::Constant, 1.5, 0}), 1),
            (std::vector<float>{1.5, 1.5}));
  EXPECT_EQ(
      draw<int8_t>(makeTensor(DataType::I8, 2, {InitKind::Constant, -7, 0}), 1),
      (std::vector<int8_t>{-7, -7}));
  EXPECT_EQ(draw<uint16_t>(
                makeTensor(DataType::F16, 1, {InitKind::Constant, 1, 0}), 1),
            (std::vector<uint16_t>{0x3c00}));
  Tensor state = makeTensor(DataType::F32, 3, {}, "m", Role::State);
  EXPECT_EQ(draw<float>(state, 1), (std::vector<float>{0, 0, 0}));
  Tensor input = makeTensor(DataType::I64, 2, {}, "tokens", Role::Input);
  EXPECT_EQ(draw<int64_t>(input, 1), (std::vector<int64_t>{0, 0}));
  for (float value : draw<float>(makeTensor(DataType::F32, 100, {}), 1)) {
    EXPECT_GE(value, -0.1f);
    EXPECT_LT(value, 0.1f);
  }
  Tensor seed = makeTensor(DataType::I64, 1, {}, "seed", Role::State);
  EXPECT_EQ(draw<int64_t>(seed, 77), (std::vector<int64_t>{77}));
}

TEST(HalfFloat, KnownValues) {
  EXPECT_EQ(toF16(0), 0x0000);
  EXPECT_EQ(toF16(-0.0), 0x8000);
  EXPECT_EQ(toF16(1), 0x3c00);
  EXPECT_EQ(toF16(-2), 0xc000);
  EXPECT_EQ(toF16(65504), 0x7bff);    // the largest
  EXPECT_EQ(toF16(65519.99), 0x7bff); // below the halfway point
  EXPECT_EQ(toF16(65520), 0x7c00);    // halfway, to even: infinity
  EXPECT_EQ(toF16(0x1p-14), 0x0400);  // the smallest normal
  EXPECT_EQ(toF16(0x1p-24), 0x0001);  // the smallest subnormal
  EXPECT_EQ(toF16(0x1p-25), 0x0000);  // halfway, to even: 0
  EXPECT_EQ(toF16(0x1.8p-25), 0x0001);
  EXPECT_EQ(toF16(1 + 0x1p-11), 0x3c00);   // halfway, to even
  EXPECT_EQ(toF16(1 + 0x1.8p-10), 0x3c02); // halfway, to even
  // Through f32 this would round twice, to 1 + 2^-10.
  EXPECT_EQ(toF16(1 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(toBF16(1), 0x3f80);
  EXPECT_EQ(toBF16(3.0e38), 0x7f62);
  EXPECT_EQ(toBF16(3.4e38), 0x7f80);
  EXPECT_EQ(toBF16(-HUGE_VAL), 0xff80);
  EXPECT_TRUE(std::isnan(fromBF16(toBF16(std::nan("")))));
  EXPECT_TRUE(std::isnan(fromF16(toF16(std::nan("")))));
}

TEST(HalfFloat, RoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    double f16 = fromF16(uint16_t(bits)), bf16 = fromBF16(uint16_t(bits));
    if (!std::isnan(f16)) {
      ASSERT_EQ(toF16(f16), bits);
    }
    if (!std::isnan(bf16)) {
      ASSERT_EQ(toBF16(bf16), bits);
    }
  }
}

} // namespace

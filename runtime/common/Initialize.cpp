//===- Initialize.cpp - Initial values from a seed ------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Initialize.h"

#include "Echo/Numerics/HostAlgebra.h"
#include "Echo/Numerics/Philox.h"
#include "HalfFloat.h"

#include <array>
#include <cmath>

using namespace echo;
namespace numerics = mlir::echo::numerics;

namespace {

uint64_t hashName(const std::string &name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char byte : name)
    hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

/// The random bits of a tensor's elements, in order.
class Stream {
public:
  Stream(uint64_t seed, const std::string &name)
      : seed(seed), name(hashName(name)) {}

  uint64_t next() {
    if (element % 2 == 0) {
      uint64_t block = element / 2;
      words =
          numerics::philox4x32(numerics::HostWords(),
                               {low(block), high(block), low(name), high(name)},
                               {low(seed), high(seed)});
    }
    uint64_t first = 2 * (element % 2);
    ++element;
    return words[first] | uint64_t(words[first + 1]) << 32;
  }

private:
  static uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
  static uint32_t high(uint64_t value) {
    return static_cast<uint32_t>(value >> 32);
  }

  uint64_t seed, name, element = 0;
  std::array<uint32_t, 4> words;
};

/// ln(x) for normal x > 0: x = m 2^e with m in [sqrt(1/2), sqrt(2)), and
/// ln(m) = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1) / (m + 1), |s| < 0.172;
/// the terms left out are below 2^-60.
double naturalLogarithm(double x) {
  int exponent;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  double s = (mantissa - 1) / (mantissa + 1);
  double square = s * s, sum = 0;
  for (int odd = 23; odd >= 1; odd -= 2)
    sum = sum * square + 1.0 / odd;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

/// cos(2 pi u) for u in [0, 1), by the octant and Taylor series up to x^18.
double cosineOfTurns(double u) {
  auto octant = static_cast<int>(u * 8);
  // The angle from the nearest axis, in [-pi/4, pi/4]; u * 8 and the
  // differences are exact.
  int axis = (octant + 1) / 2; // quarter turns, 0 to 4
  double x = (u - axis * 0.25) * 6.2831853071795865;
  double square = x * x;
  bool useSine = axis % 2 == 1;
  double sum = 0;
  for (int order = useSine ? 19 : 18; order >= 2; order -= 2)
    sum = (1 + sum) * (-square / (double(order) * (order - 1)));
  double value = useSine ? x * (1 + sum) : 1 + sum;
  // cos(x + axis pi/2): cos, -sin, -cos, sin, cos.
  return axis == 1 || axis == 2 ? -value : value;
}

double drawUniform(uint64_t bits, double low, double high) {
  double u = static_cast<double>(bits >> 11) * 0x1p-53;
  return low + (high - low) * u;
}

double drawNormal(uint64_t bits, double mean, double deviation) {
  // In (0, 1): the logarithm is finite.
  double u1 = (static_cast<double>(bits & 0xffffffff) + 0.5) * 0x1p-32;
  double u2 = static_cast<double>(bits >> 32) * 0x1p-32;
  double radius = std::sqrt(-2 * naturalLogarithm(u1));
  return mean + deviation * (radius * cosineOfTurns(u2));
}

int64_t drawInteger(uint64_t bits, double low, double high) {
  auto first = static_cast<int64_t>(low);
  uint64_t range = static_cast<uint64_t>(static_cast<int64_t>(high)) -
                   static_cast<uint64_t>(first);
  auto offset = static_cast<uint64_t>(
      (static_cast<unsigned __int128>(bits) * range) >> 64);
  return static_cast<int64_t>(static_cast<uint64_t>(first) + offset);
}

void store(DataType type, void *data, uint64_t index, double value) {
  switch (type) {
  case DataType::F32:
    static_cast<float *>(data)[index] = static_cast<float>(value);
    return;
  case DataType::F64:
    static_cast<double *>(data)[index] = value;
    return;
  case DataType::F16:
    static_cast<uint16_t *>(data)[index] = toF16(value);
    return;
  case DataType::BF16:
    static_cast<uint16_t *>(data)[index] = toBF16(value);
    return;
  default:
    return;
  }
}

double load(DataType type, const void *data, uint64_t index) {
  switch (type) {
  case DataType::F32:
    return static_cast<const float *>(data)[index];
  case DataType::F64:
    return static_cast<const double *>(data)[index];
  case DataType::F16:
    return fromF16(static_cast<const uint16_t *>(data)[index]);
  case DataType::BF16:
    return fromBF16(static_cast<const uint16_t *>(data)[index]);
  default:
    return 0;
  }
}

void store(DataType type, void *data, uint64_t index, int64_t value) {
  switch (type) {
  case DataType::I64:
    static_cast<int64_t *>(data)[index] = value;
    return;
  case DataType::I32:
    static_cast<int32_t *>(data)[index] = static_cast<int32_t>(value);
    return;
  case DataType::I8:
    static_cast<int8_t *>(data)[index] = static_cast<int8_t>(value);
    return;
  case DataType::I1:
    static_cast<uint8_t *>(data)[index] = value != 0;
    return;
  default:
    return;
  }
}

/// Rounding may reach the open end of [low, high): such an element becomes
/// low, which is in the interval whatever the type.
void storeUniform(DataType type, void *data, uint64_t index, double value,
                  double low, double high) {
  store(type, data, index, value);
  if (load(type, data, index) >= high && low < high)
    store(type, data, index, low);
}

} // namespace

void echo::drawValues(const Tensor &tensor, uint64_t seed, void *data) {
  DataType type = tensor.type;
  uint64_t count = tensor.bytes / bytesOf(type);
  if (tensor.role == Role::State && tensor.name == "seed" &&
      type == DataType::I64) {
    for (uint64_t i = 0; i < count; ++i)
      store(type, data, i, static_cast<int64_t>(seed));
    return;
  }
  bool isFloat = type == DataType::F32 || type == DataType::F64 ||
                 type == DataType::F16 || type == DataType::BF16;
  Init init = tensor.init;
  if (init.kind == InitKind::None) {
    init = {InitKind::Constant, 0, 0};
    if (isFloat && tensor.role != Role::State)
      init = {InitKind::Uniform, -0.1, 0.1};
  }
  Stream stream(seed, tensor.name);
  for (uint64_t i = 0; i < count; ++i) {
    switch (init.kind) {
    case InitKind::None:
      break;
    case InitKind::Constant:
      if (isFloat)
        store(type, data, i, init.a);
      else
        store(type, data, i, static_cast<int64_t>(init.a));
      break;
    case InitKind::Uniform:
      storeUniform(type, data, i, drawUniform(stream.next(), init.a, init.b),
                   init.a, init.b);
      break;
    case InitKind::Normal:
      store(type, data, i, drawNormal(stream.next(), init.a, init.b));
      break;
    case InitKind::RandInt:
      store(type, data, i, drawInteger(stream.next(), init.a, init.b));
      break;
    }
  }
}

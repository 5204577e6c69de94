//===- Pow.h - Powers -------------------------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_NUMERICS_POW_H
#define ECHO_NUMERICS_POW_H

#include "Echo/Numerics/Transcendentals.h"
#include <type_traits>

namespace mlir::echo::numerics {
namespace detail {

/// An unevaluated sum, high being the rounded value.
template <typename A>
struct Double {
  typename A::Float high, low;
};

/// a + b without error, for |a| >= |b|.
template <typename A>
Double<A> fastTwoSum(const A &a, typename A::Float x, typename A::Float y) {
  auto sum = a.add(x, y);
  return {sum, a.sub(y, a.sub(sum, x))};
}

/// x + y without error.
template <typename A>
Double<A> twoSum(const A &a, typename A::Float x, typename A::Float y) {
  auto sum = a.add(x, y);
  auto part = a.sub(sum, x);
  return {sum, a.add(a.sub(x, a.sub(sum, part)), a.sub(y, part))};
}

/// Halves of 26 bits of a double (Dekker).
template <typename A>
Double<A> splitInHalves(const A &a, typename A::Float x) {
  auto scaled = a.mul(x, a.constant(0x1p27 + 1));
  auto high = a.sub(scaled, a.sub(scaled, x));
  return {high, a.sub(x, high)};
}

/// x * y without error.
template <typename A>
Double<A> twoProduct(const A &a, typename A::Float x, typename A::Float y) {
  auto product = a.mul(x, y);
  auto [xh, xl] = splitInHalves(a, x);
  auto [yh, yl] = splitInHalves(a, y);
  auto error = a.sub(a.mul(xh, yh), product);
  error = a.add(error, a.mul(xh, yl));
  error = a.add(error, a.mul(xl, yh));
  return {product, a.add(error, a.mul(xl, yl))};
}

template <typename A>
Double<A> multiply(const A &a, const Double<A> &x, const Double<A> &y) {
  auto [product, error] = twoProduct(a, x.high, y.high);
  error = a.add(error, a.add(a.mul(x.high, y.low), a.mul(x.low, y.high)));
  return fastTwoSum(a, product, error);
}

/// log of a positive finite double to about 64 bits.
template <typename A>
Double<A> accurateLog(const A &a, typename A::Float x) {
  // (2 atanh(s) - 2 s - 2/3 s^3) / s^5 as a polynomial in s^2.
  static constexpr double tail[] = {0.4,
                                    0.28571428571426327,
                                    0.22222222222767413,
                                    0.18181818156181437,
                                    0.1538460979214517,
                                    0.1333414761202059,
                                    0.11721061346488768,
                                    0.11589399872895889};
  auto [exponent, f] = reduceLog(a, x);
  // s = f / (2 + f) with its rounding error; the sum in the denominator too.
  auto denominator = twoSum(a, a.constant(2), f);
  auto s = a.div(f, denominator.high);
  auto product = twoProduct(a, s, denominator.high);
  auto rest = a.sub(a.sub(a.sub(f, product.high), product.low),
                    a.mul(s, denominator.low));
  Double<A> sd = {s, a.div(rest, denominator.high)};
  Double<A> square = multiply(a, sd, sd);
  Double<A> cube = multiply(a, square, sd);
  Double<A> thirds = {a.constant(0x1.5555555555555p-1),
                      a.constant(0x1.5555555555555p-55)};
  Double<A> cubic = multiply(a, cube, thirds);
  auto small =
      a.mul(a.mul(cube.high, square.high), polynomial(a, square.high, tail));
  // exponent * log(2) + 2 s + cubic + small, largest first.
  auto ln2 = twoProduct(a, exponent, a.constant(0x1.62e42fefa39efp-1));
  auto ln2Low =
      a.add(ln2.low, a.mul(exponent, a.constant(2.319046813846299558e-17)));
  auto linear = twoSum(a, ln2.high, a.add(s, s));
  auto sum = twoSum(a, linear.high, cubic.high);
  auto low = a.add(
      a.add(ln2Low, linear.low),
      a.add(a.add(sum.low, a.add(sd.low, sd.low)), a.add(cubic.low, small)));
  return fastTwoSum(a, sum.high, low);
}

/// x^y for finite positive x and finite y, in double: `accurate` to about an
/// ulp, else to the 40 bits that f32 needs.
template <bool accurate, typename A>
typename A::Float positivePow(const A &a, typename A::Float x,
                              typename A::Float y) {
  using C = CoefficientsOf<A>;
  if constexpr (accurate) {
    // Past 2^64 every power but 1's is 0 or infinity, so y may be cut there;
    // this keeps twoProduct from overflowing.
    y = atMost(a, atLeast(a, y, -0x1p66), 0x1p66);
    auto logarithm = accurateLog(a, x);
    auto [high, low] = twoProduct(a, logarithm.high, y);
    low = a.add(low, a.mul(logarithm.low, y));
    auto product = fastTwoSum(a, high, low);
    auto clamped =
        atMost(a, atLeast(a, product.high, C::expLowest), C::expHighest);
    auto inside = a.equal(clamped, product.high);
    auto rest = a.select(inside, product.low, a.constant(0));
    return scaleExp(a, reduceExp(a, clamped, &rest));
  } else {
    return exp(a, a.mul(y, log(a, x)));
  }
}

/// C's pow in double.
template <bool accurate, typename A>
typename A::Float powDouble(const A &a, typename A::Float x,
                            typename A::Float y) {
  using Limits = std::numeric_limits<double>;
  auto zero = a.constant(0), one = a.constant(1);
  auto infinity = a.constant(Limits::infinity());
  auto nan = a.constant(Limits::quiet_NaN());
  auto base = absolute(a, x), power = absolute(a, y);
  auto xZero = a.equal(base, zero), xInfinite = a.equal(base, infinity);
  auto yInfinite = a.equal(power, infinity);
  auto yPositive = a.greater(y, zero);

  // Integers and odd integers among |y|.
  auto twoTo52 = a.constant(0x1p52);
  auto nearest = [&](typename A::Float value) {
    return a.select(a.less(value, twoTo52),
                    a.sub(a.add(value, twoTo52), twoTo52), value);
  };
  auto yInteger = a.equal(nearest(power), power);
  auto half = a.mul(power, a.constant(0.5));
  auto halfInteger = a.equal(nearest(half), half);
  auto yOdd = a.both(yInteger, a.differ(yInteger, halfInteger));

  auto magnitude =
      positivePow<accurate>(a, a.select(a.either(xZero, xInfinite), one, base),
                            a.select(yInfinite, one, y));
  // A base below 1 with a positive power, or above 1 with a negative one,
  // gives 0 in the limits; otherwise infinity.
  auto limit = a.select(a.differ(a.less(base, one), yPositive), infinity, zero);
  auto limiting = a.either(a.either(xZero, xInfinite), yInfinite);
  magnitude = a.select(limiting, limit, magnitude);
  magnitude = a.select(a.both(a.equal(base, one), yInfinite), one, magnitude);

  // The sign of x, zeros included.
  auto xNegative = a.less(withSignOf(a, one, x), zero);
  auto result = a.select(a.both(xNegative, yOdd), a.neg(magnitude), magnitude);
  auto finiteNegative = a.both(a.less(x, zero), a.less(base, infinity));
  auto noReal = a.differ(a.both(finiteNegative, yInteger), finiteNegative);
  result = a.select(noReal, nan, result);
  result = a.select(a.either(a.isNaN(x), a.isNaN(y)), nan, result);
  auto exactlyOne = a.either(a.equal(y, zero), a.equal(x, one));
  return a.select(exactlyOne, one, result);
}

} // namespace detail

/// C's pow. At most 1 unit in the last place in f32, 2 in f64. f32 computes
/// in f64.
template <typename A>
typename A::Float pow(const A &a, typename A::Float x, typename A::Float y) {
  if constexpr (std::is_same_v<typename A::Real, double>)
    return detail::powDouble</*accurate=*/true>(a, x, y);
  else
    return a.truncate(detail::powDouble</*accurate=*/false>(
        a.wide(), a.extend(x), a.extend(y)));
}

} // namespace mlir::echo::numerics

#endif // ECHO_NUMERICS_POW_H

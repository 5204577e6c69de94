//===- Transcendentals.h - exp, log, tanh, sigmoid, erf, gelu ---*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_NUMERICS_TRANSCENDENTALS_H
#define ECHO_NUMERICS_TRANSCENDENTALS_H

#include <cstddef>
#include <cstdint>
#include <limits>

/// One template per function, over an algebra (see HostAlgebra.h), for f32 and
/// f64. Branch-free; no fused operations. Bounds on the error, in units in
/// the last place of the result, held by unittests/Numerics:
///
///   function      f32    f64
///   exp             1      1
///   log             1      1
///   tanh            3      3
///   sigmoid         3      3
///   erf             2      2
///   gelu            see below
///
/// gelu is x * Phi(x) with Phi = (1 + erf(x / sqrt(2))) / 2, so its error is
/// that of Phi, absolute: at most 2 |x| units of 2^-24 (f32) or 2^-53 (f64).
///
/// Infinities, NaN, signed zeros, overflow and denormal arguments and results
/// are as in C's functions.
namespace mlir::echo::numerics {

/// Constants and polynomials for a float type. The polynomials are minimax
/// fits by Sollya's fpminimax (erfcLog: weighted with erfc), lowest degree
/// first; their own error is below a quarter of a unit in the last place.
template <typename Real>
struct Coefficients;

template <>
struct Coefficients<float> {
  static constexpr unsigned mantissaBits = 23;
  static constexpr int64_t exponentBias = 127;
  /// 1.5 * 2^23: adding it leaves a number's nearest integer in the low bits.
  static constexpr float roundingShift = 0x1.8p23f;
  static constexpr int64_t roundingShiftBits = 0x4B400000;
  static constexpr int64_t signBit = -0x80000000LL;
  static constexpr int64_t sqrtHalfBits = 0x3F3504F3;
  /// log(2) in two parts; products of the first with exponents are exact.
  static constexpr float ln2High = 0.693145751953125f;
  static constexpr float ln2Low = 1.42860677e-6f;
  /// exp is zero below and infinite above these.
  static constexpr float expLowest = -104.0f, expHighest = 89.0f;
  /// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2.
  static constexpr float exp[] = {0.5f, 0.166665763f, 0.0416667014f,
                                  0.00836329348f, 0.00139116158f};
  /// (2 atanh(s) - 2 s) / s^3 as a polynomial in s^2, |s| <= 0.1716.
  static constexpr float log[] = {0.666666865f, 0.399885386f, 0.295874625f};
  /// Denormals are scaled by 2^denormalScale before their log.
  static constexpr float denormalScale = 0x1p23f, denormalExponent = 23;
  /// tanh(x) rounds to 1 from here on.
  static constexpr float tanhHighest = 10.0f;
  /// erf(x) rounds to 1 from here on.
  static constexpr float erfHighest = 4.0f;
  /// erf(x) / x - 1 as a polynomial in x^2 for |x| <= 1.
  static constexpr float erf[] = {
      0.128379166f,   -0.376126289f,   0.11283619f,    -0.0268551745f,
      0.00519084465f, -0.00080318359f, 7.92413048e-05f};
  /// log(erfc(t + 1)) for 0 <= t <= erfHighest - 1.
  static constexpr float erfcLog[] = {
      -1.84960556f,  -2.63896751f,    -0.843107104f,   -0.0415634811f,
      0.0100464523f, -0.00201196643f, 0.000289527874f, -2.16867484e-05f};
};

template <>
struct Coefficients<double> {
  static constexpr unsigned mantissaBits = 52;
  static constexpr int64_t exponentBias = 1023;
  static constexpr double roundingShift = 0x1.8p52;
  static constexpr int64_t roundingShiftBits = 0x4338000000000000;
  static constexpr int64_t signBit = std::numeric_limits<int64_t>::min();
  static constexpr int64_t sqrtHalfBits = 0x3FE6A09E667F3BCD;
  static constexpr double ln2High = 0.693147180560117703862488269805908203125;
  static constexpr double ln2Low = -1.7239444525614835e-13;
  static constexpr double expLowest = -746.0, expHighest = 710.0;
  static constexpr double exp[] = {0.5,
                                   0.1666666666666667,
                                   0.04166666666666664,
                                   0.008333333333325858,
                                   0.001388888888890968,
                                   0.00019841269875606126,
                                   2.480158726170368e-05,
                                   2.755725452924686e-06,
                                   2.7557335947727123e-07,
                                   2.5105546935642018e-08,
                                   2.0893662252308676e-09};
  static constexpr double log[] = {0.666666666666667,   0.3999999999989904,
                                   0.2857142862636722,  0.22222211059380362,
                                   0.18182895037593616, 0.15331517180943316,
                                   0.14619036368849406};
  static constexpr double denormalScale = 0x1p54, denormalExponent = 54;
  static constexpr double tanhHighest = 20.0;
  static constexpr double erfHighest = 6.0;
  static constexpr double erf[] = {
      0.1283791670955126,      -0.37612638903183876,    0.11283791670958783,
      -0.02686617064563193,    0.005223977629246368,    -0.0008548327199419399,
      0.00012055338164247336,  -1.4925748260975493e-05, 1.6463248766607857e-06,
      -1.6372388792945085e-07, 1.4798478798208046e-08,  -1.1877050408904304e-09,
      6.763673045041452e-11};
  static constexpr double erfcLog[] = {
      -1.8496055099332482,    -2.638967514234788,      -0.8431072563586866,
      -0.04156109804159179,   0.010033825371928505,    -0.0019779025510959767,
      0.0002373224078962554,  2.6278094448532506e-05,  -2.715957480596495e-05,
      9.60960724352212e-06,   -2.0605669406249576e-06, 1.4353832208517946e-07,
      9.713692640519622e-08,  -5.185047792207241e-08,  1.4849384331745716e-08,
      -2.849581657658107e-09, 3.660080614374357e-10,   -2.8608882469579202e-11,
      1.0305267765735484e-12};
};

namespace detail {

template <typename A>
using CoefficientsOf = Coefficients<typename A::Real>;

/// c[0] + c[1] x + ... by Horner's rule.
template <typename A, size_t N>
typename A::Float polynomial(const A &a, typename A::Float x,
                             const typename A::Real (&c)[N]) {
  typename A::Float sum = a.constant(c[N - 1]);
  for (size_t i = N - 1; i-- > 0;)
    sum = a.add(a.mul(sum, x), a.constant(c[i]));
  return sum;
}

template <typename A>
typename A::Float absolute(const A &a, typename A::Float x) {
  return a.fromBits(
      a.andInt(a.toBits(x), a.integer(~CoefficientsOf<A>::signBit)));
}

/// `magnitude` with the sign bit of x; magnitude's own is clear.
template <typename A>
typename A::Float withSignOf(const A &a, typename A::Float magnitude,
                             typename A::Float x) {
  auto sign = a.andInt(a.toBits(x), a.integer(CoefficientsOf<A>::signBit));
  return a.fromBits(a.orInt(a.toBits(magnitude), sign));
}

/// min(x, bound), but NaN stays NaN.
template <typename A>
typename A::Float atMost(const A &a, typename A::Float x,
                         typename A::Real bound) {
  return a.select(a.greater(x, a.constant(bound)), a.constant(bound), x);
}

template <typename A>
typename A::Float atLeast(const A &a, typename A::Float x,
                          typename A::Real bound) {
  return a.select(a.less(x, a.constant(bound)), a.constant(bound), x);
}

/// 2^exponent, for exponents of normal numbers.
template <typename A>
typename A::Float powerOfTwo(const A &a, typename A::Int exponent) {
  using C = CoefficientsOf<A>;
  return a.fromBits(a.shiftLeft(a.addInt(exponent, a.integer(C::exponentBias)),
                                C::mantissaBits));
}

/// exp(x) = 2^exponent * (1 + fraction), |log(1 + fraction)| <= log(2) / 2.
template <typename A>
struct ReducedExp {
  typename A::Int exponent;
  typename A::Float fraction;
};

/// `low` (if given) is a small number to add to x.
template <typename A>
ReducedExp<A> reduceExp(const A &a, typename A::Float x,
                        const typename A::Float *low = nullptr) {
  using C = CoefficientsOf<A>;
  constexpr typename A::Real log2E =
      typename A::Real(1.4426950408889634073599L);
  auto shift = a.constant(C::roundingShift);
  auto shifted = a.add(a.mul(x, a.constant(log2E)), shift);
  auto exponent = a.subInt(a.toBits(shifted), a.integer(C::roundingShiftBits));
  auto n = a.sub(shifted, shift);
  auto r = a.sub(a.sub(x, a.mul(n, a.constant(C::ln2High))),
                 a.mul(n, a.constant(C::ln2Low)));
  if (low)
    r = a.add(r, *low);
  auto square = a.mul(r, r);
  return {exponent, a.add(r, a.mul(square, polynomial(a, r, C::exp)))};
}

/// 2^exponent * (1 + fraction), rounded once where it is denormal.
template <typename A>
typename A::Float scaleExp(const A &a, const ReducedExp<A> &reduced) {
  auto half = a.shiftRight(reduced.exponent, 1);
  auto rest = a.subInt(reduced.exponent, half);
  auto value = a.add(a.constant(1), reduced.fraction);
  return a.mul(a.mul(value, powerOfTwo(a, half)), powerOfTwo(a, rest));
}

/// x = 2^exponent * (1 + f), with 1 + f from sqrt(1/2) to sqrt(2).
template <typename A>
struct ReducedLog {
  typename A::Float exponent, f;
};

template <typename A>
ReducedLog<A> reduceLog(const A &a, typename A::Float x) {
  using C = CoefficientsOf<A>;
  auto denormal =
      a.less(x, a.constant(std::numeric_limits<typename A::Real>::min()));
  auto scaled = a.select(denormal, a.mul(x, a.constant(C::denormalScale)), x);
  auto bits = a.toBits(scaled);
  auto exponent =
      a.shiftRight(a.subInt(bits, a.integer(C::sqrtHalfBits)), C::mantissaBits);
  auto m = a.fromBits(a.subInt(bits, a.shiftLeft(exponent, C::mantissaBits)));
  // The integer becomes a float in the low bits of the rounding shift.
  auto e =
      a.sub(a.fromBits(a.addInt(exponent, a.integer(C::roundingShiftBits))),
            a.constant(C::roundingShift));
  e = a.select(denormal, a.sub(e, a.constant(C::denormalExponent)), e);
  return {e, a.sub(m, a.constant(1))};
}

} // namespace detail

template <typename A>
typename A::Float exp(const A &a, typename A::Float x) {
  using C = detail::CoefficientsOf<A>;
  x = detail::atMost(a, detail::atLeast(a, x, C::expLowest), C::expHighest);
  return detail::scaleExp(a, detail::reduceExp(a, x));
}

template <typename A>
typename A::Float log(const A &a, typename A::Float x) {
  using C = detail::CoefficientsOf<A>;
  using Limits = std::numeric_limits<typename A::Real>;
  auto [exponent, f] = detail::reduceLog(a, x);
  // With s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - s (f - R), and
  // s f = f^2 / 2 - s f^2 / 2 keeps the large part of that product exact.
  auto s = a.div(f, a.add(a.constant(2), f));
  auto z = a.mul(s, s);
  auto tail = a.mul(z, detail::polynomial(a, z, C::log));
  auto halfSquare = a.mul(a.mul(a.constant(typename A::Real(0.5)), f), f);
  auto correction = a.add(a.mul(s, a.add(halfSquare, tail)),
                          a.mul(exponent, a.constant(C::ln2Low)));
  auto result = a.sub(a.mul(exponent, a.constant(C::ln2High)),
                      a.sub(a.sub(halfSquare, correction), f));
  auto infinity = a.constant(Limits::infinity());
  result = a.select(a.equal(x, infinity), infinity, result);
  auto zero = a.constant(0);
  auto special = a.select(a.equal(x, zero), a.constant(-Limits::infinity()),
                          a.constant(Limits::quiet_NaN()));
  return a.select(a.greater(x, zero), result, special);
}

/// With E = exp(2 |x|) - 1: tanh |x| = E / (E + 2).
template <typename A>
typename A::Float tanh(const A &a, typename A::Float x) {
  using C = detail::CoefficientsOf<A>;
  auto magnitude = detail::atMost(a, detail::absolute(a, x), C::tanhHighest);
  auto reduced = detail::reduceExp(a, a.add(magnitude, magnitude));
  auto scale = detail::powerOfTwo(a, reduced.exponent);
  auto e = a.add(a.sub(scale, a.constant(1)), a.mul(scale, reduced.fraction));
  return detail::withSignOf(a, a.div(e, a.add(e, a.constant(2))), x);
}

/// With e = exp(-|x|): 1 / (1 + e), or e / (1 + e) for negative x.
template <typename A>
typename A::Float sigmoid(const A &a, typename A::Float x) {
  auto one = a.constant(1);
  auto e = exp(a, a.neg(detail::absolute(a, x)));
  auto numerator = a.select(a.less(x, a.constant(0)), e, one);
  return a.div(numerator, a.add(one, e));
}

/// A polynomial below 1, 1 - exp(log(erfc |x|)) above.
template <typename A>
typename A::Float erf(const A &a, typename A::Float x) {
  using C = detail::CoefficientsOf<A>;
  auto one = a.constant(1);
  auto magnitude = detail::atMost(a, detail::absolute(a, x), C::erfHighest);
  auto square = a.mul(magnitude, magnitude);
  auto low =
      a.add(magnitude, a.mul(magnitude, detail::polynomial(a, square, C::erf)));
  auto exponent = detail::polynomial(a, a.sub(magnitude, one), C::erfcLog);
  auto reduced = detail::reduceExp(a, exponent);
  auto complement = a.mul(a.add(one, reduced.fraction),
                          detail::powerOfTwo(a, reduced.exponent));
  auto high = a.sub(one, complement);
  return detail::withSignOf(a, a.select(a.less(magnitude, one), low, high), x);
}

template <typename A>
typename A::Float gelu(const A &a, typename A::Float x) {
  constexpr typename A::Real sqrtHalf =
      typename A::Real(0.70710678118654752440084L);
  auto phi =
      a.mul(a.constant(typename A::Real(0.5)),
            a.add(a.constant(1), erf(a, a.mul(x, a.constant(sqrtHalf)))));
  // Not x * phi there, for minus infinity.
  auto vanishes = a.equal(phi, a.constant(0));
  return a.select(vanishes, a.constant(typename A::Real(-0.0)), a.mul(x, phi));
}

} // namespace mlir::echo::numerics

#endif // ECHO_NUMERICS_TRANSCENDENTALS_H

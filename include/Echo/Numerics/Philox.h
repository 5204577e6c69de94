//===- Philox.h - Counter-based random numbers -----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_NUMERICS_PHILOX_H
#define ECHO_NUMERICS_PHILOX_H

#include <array>
#include <cstdint>

namespace mlir::echo::numerics {

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
/// easy as 1, 2, 3", SC 2011) over an algebra of 32-bit words: HostWords or
/// ArithWords.
template <typename W>
std::array<typename W::Word, 4>
philox4x32(const W &w, std::array<typename W::Word, 4> counter,
           std::array<typename W::Word, 2> key) {
  using Word = typename W::Word;
  Word multiplier0 = w.constant(0xD2511F53),
       multiplier1 = w.constant(0xCD9E8D57);
  Word weyl0 = w.constant(0x9E3779B9), weyl1 = w.constant(0xBB67AE85);
  for (int round = 0; round < 10; ++round) {
    if (round != 0)
      key = {w.add(key[0], weyl0), w.add(key[1], weyl1)};
    Word high0 = w.mulHigh(multiplier0, counter[0]);
    Word low0 = w.mulLow(multiplier0, counter[0]);
    Word high1 = w.mulHigh(multiplier1, counter[2]);
    Word low1 = w.mulLow(multiplier1, counter[2]);
    counter = {w.exclusiveOr(w.exclusiveOr(high1, counter[1]), key[0]), low1,
               w.exclusiveOr(w.exclusiveOr(high0, counter[3]), key[1]), low0};
  }
  return counter;
}

/// What an element's random number depends on: the low and high words of its
/// row-major index and of the seed, the low words of offset and step.
template <typename W>
struct RandomPosition {
  typename W::Word indexLow, indexHigh, offset, step, seedLow, seedHigh;
};

/// A number in [0, 1) with 24 random bits, in f32.
template <typename W>
typename W::Uniform uniform(const W &w, const RandomPosition<W> &at) {
  typename W::Word word =
      philox4x32(w, {at.indexLow, at.indexHigh, at.offset, at.step},
                 {at.seedLow, at.seedHigh})[0];
  return w.mulFloat(w.toFloat(w.shiftRight(word, 8)), 0x1p-24f);
}

/// An element is kept by dropout if its uniform number is >= this.
inline float dropoutThreshold(double rate) { return float(rate); }

/// What dropout multiplies kept elements with, before it is rounded to the
/// element type.
inline double dropoutScale(double rate) { return 1.0 / (1.0 - rate); }

} // namespace mlir::echo::numerics

#endif // ECHO_NUMERICS_PHILOX_H

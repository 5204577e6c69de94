//===- Initialize.h - Initial values from a seed ----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a tensor gets depends on the seed and its name alone. Element i takes
// 64 random bits: words 2 (i mod 2) and 2 (i mod 2) + 1 (low, high) of
// Philox4x32-10 with key = seed and counter = (i / 2, FNV-1a of the name). All
// arithmetic is IEEE +, -, *, / and sqrt on double, rounded once to the type,
// so that every machine draws the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_INITIALIZE_H
#define ECHO_RUNTIME_COMMON_INITIALIZE_H

#include "Program.h"

namespace echo {

/// Fills `data` (the tensor's bytes) from its init rule:
///   constant c          every element is c
///   uniform lo hi       lo + (hi - lo) u, u in [0, 1) with 53 bits; below hi
///   normal mean dev     mean + dev z, z by Box and Muller from two 32-bit
///                       uniforms
///   randint lo hi       lo + floor(bits (hi - lo) / 2^64)
/// Without a rule: a state and anything of integer type is 0, any other float
/// tensor uniform in [-0.1, 0.1). A state named "seed" of type i64 gets the
/// seed.
void drawValues(const Tensor &tensor, uint64_t seed, void *data);

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_INITIALIZE_H

//===- Npy.h - NumPy array files --------------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The .npy format, versions 1 to 3, little-endian, row-major. Element types:
//   f32 '<f4', f64 '<f8', f16 '<f2', i8 '|i1', i32 '<i4', i64 '<i8', i1 '|b1',
//   bf16 '|V2': two raw bytes, little-endian, as ml_dtypes writes it; '<u2'
//   holding the same bits is read too.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_NPY_H
#define ECHO_RUNTIME_COMMON_NPY_H

#include "Program.h"

#include <string>
#include <string_view>
#include <vector>

namespace echo {

/// "f32[2x3]", "i64[]": how errors show a type and shape.
std::string describe(DataType type, const std::vector<int64_t> &shape);

/// The bytes before the data of an .npy file; a multiple of 64.
std::string makeNpyHeader(DataType type, const std::vector<int64_t> &shape);

/// The largest header that readNpy takes.
inline constexpr size_t kMaxNpyHeader = 1 << 16;

/// Checks that `file` is a whole .npy file with this type and shape, and that
/// flags are 0 or 1; returns its data. Throws Error (ECHO_IO_ERROR for a
/// malformed file, ECHO_INVALID_ARGUMENT for another type or shape) starting
/// with `place`.
std::string_view readNpy(std::string_view file, const std::string &place,
                         DataType type, const std::vector<int64_t> &shape);

/// True if every byte of an i1 tensor is 0 or 1.
bool areFlags(std::string_view bytes);

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_NPY_H

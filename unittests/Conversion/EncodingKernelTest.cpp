//===- EncodingKernelTest.cpp - Flags in words by value -------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

using Shape = std::vector<int64_t>;

class EncodingKernels : public CompiledKernels {
protected:
  /// The type of the words for flags of `shape`: rows of words, or one row.
  static std::string words(const Shape &shape, bool isFlat) {
    if (!isFlat && !shape.empty() && shape.back() % 32 == 0) {
      Shape rows = shape;
      rows.back() /= 32;
      return type(rows, "i32");
    }
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return type({llvm::divideCeilSigned(count, 32)}, "i32");
  }

  void binarize(const Shape &shape, const std::string &element, bool isFlat) {
    std::string from = type(shape, element), to = words(shape, isFlat);
    check("func.func @f(%x: " + from + ") -> " + to +
          " {\n  %0 = echo.binarize %x : (" + from + ") -> " + to +
          "\n  return %0 : " + to + "\n}\n");
  }

  void debinarize(const Shape &shape, bool isFlat) {
    std::string from = words(shape, isFlat), to = type(shape, "i1");
    check("func.func @f(%x: " + from + ") -> " + to +
          " {\n  %0 = echo.debinarize %x : (" + from + ") -> " + to +
          "\n  return %0 : " + to + "\n}\n");
  }

  /// A map and its bits are returned, and what reads the flags.
  void roundTrip(const Shape &shape, const std::string &element) {
    std::string t = type(shape, element), w = words(shape, /*isFlat=*/false);
    std::string f = type(shape, "i1");
    check("func.func @f(%x: " + t + ", %g: " + t + ") -> (" + t + ", " + t +
          ", " + w + ") {\n  %0 = echo.relu %x : (" + t + ") -> " + t +
          "\n  %1 = echo.binarize %0 : (" + t + ") -> " + w +
          "\n  %b = echo.optimization_barrier(%1, %g) : (" + w + ", " + t +
          ") -> " + w + "\n  %2 = echo.debinarize %b : (" + w + ") -> " + f +
          "\n  %3 = echo.exp %g : (" + t + ") -> " + t +
          "\n  %4 = echo.select %2, %3, %g : (" + f + ", " + t + ", " + t +
          ") -> " + t + "\n  return %0, %4, %1 : " + t + ", " + t + ", " + w +
          "\n}\n");
  }
};

// Both sides of a word, empty and scalar ones, rows that are words, and rows
// that share some.
const Shape kShapes[] = {{},      {0},     {1},      {31},    {32},   {33},
                         {64},    {3, 0},  {0, 32},  {4, 64}, {3, 32}, {64, 50},
                         {3, 21}, {1, 96}, {96, 1},  {2, 3, 32}, {4, 2, 8}};

TEST_F(EncodingKernels, Binarize) {
  special = true;
  for (const char *element : {"f32", "f64", "f16", "bf16", "i1", "i8", "i64"})
    for (const Shape &shape : kShapes)
      for (bool isFlat : {false, true})
        binarize(shape, element, isFlat);
}

TEST_F(EncodingKernels, Debinarize) {
  low = std::numeric_limits<int32_t>::min();
  high = std::numeric_limits<int32_t>::max();
  for (const Shape &shape : kShapes)
    for (bool isFlat : {false, true})
      debinarize(shape, isFlat);
}

TEST_F(EncodingKernels, BesideTheMap) {
  special = true;
  for (const char *element : {"f32", "f64", "f16", "bf16"})
    for (const Shape &shape : kShapes)
      roundTrip(shape, element);
}

// The kernel that makes the map packs it, and may even unpack it for what reads
// the flags: a row is a word.
TEST_F(EncodingKernels, ShareTheirNeighboursKernels) {
  roundTrip({4, 64}, "f32");
  EXPECT_EQ(numKernels, 1u);
  roundTrip({64, 50}, "f32");
  EXPECT_EQ(numKernels, 1u);
}

// A kernel that writes in place over what the map is made from.
TEST_F(EncodingKernels, Dropout) {
  for (const Shape &shape : {Shape{4, 64}, Shape{64, 50}, Shape{3, 21}}) {
    std::string t = type(shape, "f32"), f = type(shape, "i1");
    std::string w = words(shape, /*isFlat=*/false), n = "tensor<i64>";
    check("func.func @f(%x: " + t + ", %s: " + n + ") -> (" + t + ", " + w +
          ") {\n  %0, %1 = echo.dropout %x, %s, %s, %s {rate = 0.3 : f64} : (" +
          t + ", " + n + ", " + n + ", " + n + ") -> (" + t + ", " + f +
          ")\n  %2 = echo.binarize %1 : (" + f + ") -> " + w +
          "\n  return %0, %2 : " + t + ", " + w + "\n}\n");
  }
}

TEST_F(EncodingKernels, LargeOnesHaveSeveralChunks) {
  roundTrip({100, 256}, "f32");
  EXPECT_GT(mostChunks, 1);
  binarize({100'000}, "i1", /*isFlat=*/false);
  EXPECT_GT(mostChunks, 1);
}

} // namespace

//===- Gemm.cpp - Matrix products through OpenBLAS ------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"

#include "HalfFloat.h"
#include "ThreadPool.h"

#include <algorithm>
#include <cblas.h>
#include <limits>

using namespace echo;

namespace {

// A tile is worth a thread's while from about here: some 100 microseconds.
constexpr double kFlopsPerTile = 4e6;
constexpr int64_t kMaxTiles = 64;
// OpenBLAS packs panels; narrower ones waste more than they gain.
constexpr int64_t kLeastExtent = 64;
constexpr int64_t kTileMultiple = 32;

/// How a result is cut; from the shape alone.
struct Tiling {
  int64_t rows, columns;         ///< extents of a tile
  int64_t rowTiles, columnTiles; ///< tiles of one matrix
  int64_t batchesPerChunk;       ///< small products that go together
};

int64_t divideUp(int64_t a, int64_t b) { return a / b + (a % b != 0); }

Tiling tile(const GemmParameters &gemm) {
  double flops = 2.0 * gemm.m * gemm.n * std::max<int64_t>(gemm.k, 1);
  Tiling tiling{gemm.m, gemm.n, 1, 1, 1};
  double target = std::min<double>(kMaxTiles, flops / kFlopsPerTile);
  while (tiling.rowTiles * tiling.columnTiles * 2 <= target) {
    bool cutRows = tiling.rows >= tiling.columns;
    int64_t &extent = cutRows ? tiling.rows : tiling.columns;
    int64_t half = divideUp(divideUp(extent, 2), kTileMultiple) * kTileMultiple;
    if (half < kLeastExtent || half >= extent)
      break;
    extent = half;
    tiling.rowTiles = divideUp(gemm.m, tiling.rows);
    tiling.columnTiles = divideUp(gemm.n, tiling.columns);
  }
  if (tiling.rowTiles * tiling.columnTiles == 1 && flops < kFlopsPerTile) {
    double together = kFlopsPerTile / std::max(flops, 1.0);
    tiling.batchesPerChunk = static_cast<int64_t>(
        std::min<double>(together + 1, static_cast<double>(gemm.batch)));
  }
  return tiling;
}

void multiply(CBLAS_TRANSPOSE transposeA, CBLAS_TRANSPOSE transposeB, int m,
              int n, int k, const float *a, int lda, const float *b, int ldb,
              float beta, float *c, int ldc) {
  cblas_sgemm(CblasRowMajor, transposeA, transposeB, m, n, k, 1.0f, a, lda, b,
              ldb, beta, c, ldc);
}

void multiply(CBLAS_TRANSPOSE transposeA, CBLAS_TRANSPOSE transposeB, int m,
              int n, int k, const double *a, int lda, const double *b, int ldb,
              double beta, double *c, int ldc) {
  cblas_dgemm(CblasRowMajor, transposeA, transposeB, m, n, k, 1.0, a, lda, b,
              ldb, beta, c, ldc);
}

/// One tile of one matrix of the batch.
template <typename T>
void runTile(const GemmParameters &gemm, const GemmOperands &operands,
             const Tiling &tiling, int64_t batch, int64_t rowTile,
             int64_t columnTile) {
  int64_t firstRow = rowTile * tiling.rows;
  int64_t firstColumn = columnTile * tiling.columns;
  int64_t rows = std::min(tiling.rows, gemm.m - firstRow);
  int64_t columns = std::min(tiling.columns, gemm.n - firstColumn);
  T *c = static_cast<T *>(operands.c) + batch * gemm.strideC +
         firstRow * gemm.n + firstColumn;
  T beta = gemm.accumulate ? 1 : 0;
  if (operands.bias) {
    const T *bias = static_cast<const T *>(operands.bias) + firstColumn;
    for (int64_t row = 0; row < rows; ++row)
      std::copy(bias, bias + columns, c + row * gemm.n);
    beta = 1;
  }
  if (gemm.k == 0) {
    if (beta == 0)
      for (int64_t row = 0; row < rows; ++row)
        std::fill(c + row * gemm.n, c + row * gemm.n + columns, T(0));
    return;
  }
  const T *a = static_cast<const T *>(operands.a) + batch * gemm.strideA +
               (gemm.transposeA ? firstRow : firstRow * gemm.k);
  const T *b = static_cast<const T *>(operands.b) + batch * gemm.strideB +
               (gemm.transposeB ? firstColumn * gemm.k : firstColumn);
  multiply(gemm.transposeA ? CblasTrans : CblasNoTrans,
           gemm.transposeB ? CblasTrans : CblasNoTrans, static_cast<int>(rows),
           static_cast<int>(columns), static_cast<int>(gemm.k), a,
           static_cast<int>(gemm.transposeA ? gemm.m : gemm.k), b,
           static_cast<int>(gemm.transposeB ? gemm.k : gemm.n), beta, c,
           static_cast<int>(gemm.n));
}

/// A number of 16 bits with its conversions.
template <float (*ToFloat)(uint16_t), uint16_t (*FromFloat)(float)>
struct Half {
  uint16_t bits;
  float value() const { return ToFloat(bits); }
  static Half of(float value) { return {FromFloat(value)}; }
};
using F16 = Half<f16ToFloat, floatToF16>;
using BF16 = Half<bf16ToFloat, floatToBF16>;

// A tile of 16-bit numbers and how deep its panels are: they are converted to
// f32 on the stack.
constexpr int64_t kHalfTile = 64, kHalfDepth = 128;

/// Copies rows x columns of a matrix to a dense f32 panel.
template <typename T>
void convertPanel(const T *source, int64_t leading, int64_t rows,
                  int64_t columns, float *panel) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      panel[row * columns + column] = source[row * leading + column].value();
}

/// One tile of one matrix of the batch: the sum in f32, block by block of k,
/// then the bias or the old value, rounded once.
template <typename T>
void runHalfTile(const GemmParameters &gemm, const GemmOperands &operands,
                 int64_t batch, int64_t firstRow, int64_t firstColumn) {
  float sums[kHalfTile * kHalfTile] = {};
  float panelA[kHalfTile * kHalfDepth], panelB[kHalfTile * kHalfDepth];
  int64_t rows = std::min(kHalfTile, gemm.m - firstRow);
  int64_t columns = std::min(kHalfTile, gemm.n - firstColumn);
  auto *a = static_cast<const T *>(operands.a) + batch * gemm.strideA;
  auto *b = static_cast<const T *>(operands.b) + batch * gemm.strideB;
  for (int64_t first = 0; first < gemm.k; first += kHalfDepth) {
    int64_t depth = std::min(kHalfDepth, gemm.k - first);
    if (gemm.transposeA)
      convertPanel(a + first * gemm.m + firstRow, gemm.m, depth, rows, panelA);
    else
      convertPanel(a + firstRow * gemm.k + first, gemm.k, rows, depth, panelA);
    if (gemm.transposeB)
      convertPanel(b + firstColumn * gemm.k + first, gemm.k, columns, depth,
                   panelB);
    else
      convertPanel(b + first * gemm.n + firstColumn, gemm.n, depth, columns,
                   panelB);
    multiply(gemm.transposeA ? CblasTrans : CblasNoTrans,
             gemm.transposeB ? CblasTrans : CblasNoTrans,
             static_cast<int>(rows), static_cast<int>(columns),
             static_cast<int>(depth), panelA,
             static_cast<int>(gemm.transposeA ? rows : depth), panelB,
             static_cast<int>(gemm.transposeB ? depth : columns), 1.0f, sums,
             static_cast<int>(columns));
  }
  T *c = static_cast<T *>(operands.c) + batch * gemm.strideC +
         firstRow * gemm.n + firstColumn;
  auto *bias = static_cast<const T *>(operands.bias);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      float sum = sums[row * columns + column];
      T &target = c[row * gemm.n + column];
      if (bias)
        sum += bias[firstColumn + column].value();
      else if (gemm.accumulate)
        sum += target.value();
      target = T::of(sum);
    }
}

template <typename T>
void runHalf(ThreadPool &pool, const GemmParameters &gemm,
             const GemmOperands &operands) {
  int64_t rowTiles = divideUp(gemm.m, kHalfTile);
  int64_t columnTiles = divideUp(gemm.n, kHalfTile);
  pool.run(gemm.batch * rowTiles * columnTiles, [&](int64_t begin,
                                                    int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk)
      runHalfTile<T>(gemm, operands, chunk / (rowTiles * columnTiles),
                     chunk / columnTiles % rowTiles * kHalfTile,
                     chunk % columnTiles * kHalfTile);
  });
}

template <typename T>
void runTyped(ThreadPool &pool, const GemmParameters &gemm,
              const GemmOperands &operands) {
  Tiling tiling = tile(gemm);
  int64_t tilesPerMatrix = tiling.rowTiles * tiling.columnTiles;
  int64_t chunks =
      divideUp(gemm.batch, tiling.batchesPerChunk) * tilesPerMatrix;
  pool.run(chunks, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      int64_t tileIndex = chunk % tilesPerMatrix;
      int64_t first = chunk / tilesPerMatrix * tiling.batchesPerChunk;
      int64_t last = std::min(gemm.batch, first + tiling.batchesPerChunk);
      for (int64_t batch = first; batch < last; ++batch)
        runTile<T>(gemm, operands, tiling, batch,
                   tileIndex / tiling.columnTiles,
                   tileIndex % tiling.columnTiles);
    }
  });
}

} // namespace

void echo::claimOpenBLAS() {
  if (openblas_get_num_threads() != 1)
    openblas_set_num_threads(1);
}

void echo::runGemm(ThreadPool &pool, const GemmParameters &gemm,
                   const GemmOperands &operands) {
  if (gemm.batch == 0 || gemm.m == 0 || gemm.n == 0)
    return;
  switch (static_cast<DataType>(gemm.dataType)) {
  case DataType::F64:
    return runTyped<double>(pool, gemm, operands);
  case DataType::F16:
    return runHalf<F16>(pool, gemm, operands);
  case DataType::BF16:
    return runHalf<BF16>(pool, gemm, operands);
  default:
    return runTyped<float>(pool, gemm, operands);
  }
}

//===- ThreadTemplateTest.cpp - The templates of GPU kernels --------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each template of the mapping to GPUs at shapes around its numbers of lanes,
// rows and elements, on the simulator: the interpreter's bits.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "Echo/Conversion/Kernels.h"
#include "SimulatedModule.h"
#include <limits>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

class ThreadTemplates : public CompiledKernels {
protected:
  ThreadTemplates() { onCPU = false; }

  /// Checks `source` with an element type in place of each T, and numbers in
  /// place of names.
  void checkAll(StringRef source, ArrayRef<const char *> elements,
                ArrayRef<std::pair<char, int64_t>> names = {}) {
    for (const char *element : elements) {
      check(instantiate(source, element, names));
      if (HasFatalFailure())
        return;
    }
  }
};

const char *kFloats[] = {"f32", "f64", "f16", "bf16"};

// Lengths around the lanes of a warp and of a block, and where the number of
// lanes changes.
TEST_F(ThreadTemplates, RowChains) {
  for (int64_t size : {1, 9, 31, 33, 1000, 1024, 1025})
    checkAll(R"(
func.func @f(%x: tensor<3xNxT>) -> (tensor<3xNxT>, tensor<3xNxT>, tensor<3x1xT>) {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<3xNxT>) -> tensor<3xNxT>
  %1 = echo.log_softmax %0 {axis = 1 : i64} : (tensor<3xNxT>) -> tensor<3xNxT>
  %2 = echo.reduce mean %1 {dims = array<i64: 1>, keepdims = true} : (tensor<3xNxT>) -> tensor<3x1xT>
  %3 = echo.sub %1, %2 : (tensor<3xNxT>, tensor<3x1xT>) -> tensor<3xNxT>
  %4 = echo.mul %3, %3 : (tensor<3xNxT>, tensor<3xNxT>) -> tensor<3xNxT>
  %5 = echo.reduce mean %4 {dims = array<i64: 1>, keepdims = true} : (tensor<3xNxT>) -> tensor<3x1xT>
  return %1, %3, %5 : tensor<3xNxT>, tensor<3xNxT>, tensor<3x1xT>
}
)",
             size == 33 || size == 1025 ? kFloats
                                        : ArrayRef<const char *>({"f32"}),
             {{'N', size}});
}

TEST_F(ThreadTemplates, RowSpecialValues) {
  special = true;
  for (int64_t size : {7, 40, 1030})
    checkAll(R"(
func.func @f(%x: tensor<9xNxT>) -> (tensor<9xT>, tensor<9xT>, tensor<9xT>) {
  %0 = echo.reduce max %x {dims = array<i64: 1>} : (tensor<9xNxT>) -> tensor<9xT>
  %1 = echo.reduce min %x {dims = array<i64: 1>} : (tensor<9xNxT>) -> tensor<9xT>
  %2 = echo.reduce sum %x {dims = array<i64: 1>} : (tensor<9xNxT>) -> tensor<9xT>
  return %0, %1, %2 : tensor<9xT>, tensor<9xT>, tensor<9xT>
}
)",
             kFloats, {{'N', size}});
}

// Rows that lanes keep: chains of reductions, other rows of the same length
// inside of them, what is added up along them, and results over the inputs.
TEST_F(ThreadTemplates, HeldRows) {
  for (int64_t size : {32, 96, 512})
    checkAll(R"(
func.func @f(%x: tensor<2x3xNxT>, %q: tensor<3xNxT>, %s: tensor<NxT>) -> (tensor<2x3xNxT>, tensor<2x3xT>, tensor<3xNxT>) {
  %0 = echo.add %x, %q : (tensor<2x3xNxT>, tensor<3xNxT>) -> tensor<2x3xNxT>
  %1 = echo.softmax %0 {axis = 2 : i64} : (tensor<2x3xNxT>) -> tensor<2x3xNxT>
  %2 = echo.mul %1, %s : (tensor<2x3xNxT>, tensor<NxT>) -> tensor<2x3xNxT>
  %3 = echo.reduce sum %2 {dims = array<i64: 2>, keepdims = true} : (tensor<2x3xNxT>) -> tensor<2x3x1xT>
  %4 = echo.sub %x, %3 : (tensor<2x3xNxT>, tensor<2x3x1xT>) -> tensor<2x3xNxT>
  %5 = echo.reduce max %4 {dims = array<i64: 2>} : (tensor<2x3xNxT>) -> tensor<2x3xT>
  %6 = echo.reduce sum %4 {dims = array<i64: 0>} : (tensor<2x3xNxT>) -> tensor<3xNxT>
  return %4, %5, %6 : tensor<2x3xNxT>, tensor<2x3xT>, tensor<3xNxT>
}
)",
             size == 96 ? kFloats : ArrayRef<const char *>({"f32"}),
             {{'N', size}});
}

// Short sums beside long ones: each warp of a block computes the short ones.
TEST_F(ThreadTemplates, RowsOfTwoLengths) {
  checkAll(R"(
func.func @f(%x: tensor<4x1200xT>, %y: tensor<4x50xT>) -> (tensor<4x1200xT>, tensor<4x1200xT>) {
  %0 = echo.reduce sum %y {dims = array<i64: 1>, keepdims = true} : (tensor<4x50xT>) -> tensor<4x1xT>
  %1 = echo.mul %x, %0 : (tensor<4x1200xT>, tensor<4x1xT>) -> tensor<4x1200xT>
  %2 = echo.softmax %1 {axis = 1 : i64} : (tensor<4x1200xT>) -> tensor<4x1200xT>
  return %1, %2 : tensor<4x1200xT>, tensor<4x1200xT>
}
)",
           kFloats);
}

// Sums of columns that grow while a team walks over the rows, beside sums of the
// rows themselves: by warps, one and several in a block, that hold their rows or
// don't, and by blocks. The sums of the last don't fit in shared memory.
TEST_F(ThreadTemplates, SumsOverTheRowsOfATeam) {
  for (auto [batch, size] :
       {std::pair(3, 64), std::pair(260, 40), std::pair(2, 1000),
        std::pair(2, 1030), std::pair(1, 3000)})
    checkAll(R"(
func.func @f(%x: tensor<BxSxNxT>, %d: tensor<BxSxNxT>, %s: tensor<NxT>) -> (tensor<BxNxT>, tensor<BxNxT>, tensor<BxSxNxT>) {
  %m = echo.reduce mean %x {dims = array<i64: 2>, keepdims = true} : (tensor<BxSxNxT>) -> tensor<BxSx1xT>
  %0 = echo.sub %x, %m : (tensor<BxSxNxT>, tensor<BxSx1xT>) -> tensor<BxSxNxT>
  %1 = echo.tanh %0 : (tensor<BxSxNxT>) -> tensor<BxSxNxT>
  %2 = echo.mul %1, %d : (tensor<BxSxNxT>, tensor<BxSxNxT>) -> tensor<BxSxNxT>
  %3 = echo.mul %2, %s : (tensor<BxSxNxT>, tensor<NxT>) -> tensor<BxSxNxT>
  %p = echo.reduce mean %3 {dims = array<i64: 2>, keepdims = true} : (tensor<BxSxNxT>) -> tensor<BxSx1xT>
  %4 = echo.sub %3, %p : (tensor<BxSxNxT>, tensor<BxSx1xT>) -> tensor<BxSxNxT>
  %5 = echo.reduce sum %2 {dims = array<i64: 1>} : (tensor<BxSxNxT>) -> tensor<BxNxT>
  %6 = echo.reduce sum %4 {dims = array<i64: 1>} : (tensor<BxSxNxT>) -> tensor<BxNxT>
  return %5, %6, %4 : tensor<BxNxT>, tensor<BxNxT>, tensor<BxSxNxT>
}
)",
             size == 64 ? ArrayRef(kFloats) : ArrayRef<const char *>({"f32"}),
             {{'B', batch}, {'S', 4}, {'N', size}});
}

// More rows than there are warps in the largest block, times the least number
// of blocks before blocks grow.
TEST_F(ThreadTemplates, ManyRows) {
  for (int64_t rows : {200, 1100})
    checkAll(R"(
func.func @f(%x: tensor<Nx40xT>) -> tensor<Nx40xT> {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<Nx40xT>) -> tensor<Nx40xT>
  return %0 : tensor<Nx40xT>
}
)",
             {"f32"}, {{'N', rows}});
}

// A thread adds up rows that are parts of a concatenation, which not all
// threads of a team come to: with and without loops, of both numbers of lanes.
TEST_F(ThreadTemplates, RowsOfOneThread) {
  for (int64_t size : {2, 7, 8, 9, 30, 33, 1024, 1030})
    checkAll(R"(
func.func @f(%x: tensor<5xNxT>, %y: tensor<5x3xT>) -> tensor<5x4xT> {
  %0 = echo.reduce sum %x {dims = array<i64: 1>, keepdims = true} : (tensor<5xNxT>) -> tensor<5x1xT>
  %1 = echo.concat %0, %y {axis = 1 : i64} : (tensor<5x1xT>, tensor<5x3xT>) -> tensor<5x4xT>
  %2 = echo.tanh %1 : (tensor<5x4xT>) -> tensor<5x4xT>
  return %2 : tensor<5x4xT>
}
)",
             size == 30 || size == 1030 ? kFloats
                                        : ArrayRef<const char *>({"f32"}),
             {{'N', size}});
}

// Rows that are cut: parts of 8,192 and of 1,009 elements, in one kernel and in
// two, and by one thread.
TEST_F(ThreadTemplates, CutRows) {
  for (int64_t size : {73728, 67603})
    checkAll(R"(
func.func @f(%x: tensor<NxT>) -> (tensor<T>, tensor<T>) {
  %0 = echo.mul %x, %x : (tensor<NxT>, tensor<NxT>) -> tensor<NxT>
  %1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<NxT>) -> tensor<T>
  %2 = echo.reduce max %x {dims = array<i64: 0>} : (tensor<NxT>) -> tensor<T>
  return %1, %2 : tensor<T>, tensor<T>
}
)",
             {size == 73728 ? "f32" : "f16"}, {{'N', size}});
  checkAll(R"(
func.func @f(%x: tensor<1x67603xT>) -> (tensor<1x67603xT>, tensor<1x2xT>) {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<1x67603xT>) -> tensor<1x67603xT>
  %1 = echo.reduce sum %x {dims = array<i64: 1>, keepdims = true} : (tensor<1x67603xT>) -> tensor<1x1xT>
  %2 = echo.concat %1, %1 {axis = 1 : i64} : (tensor<1x1xT>, tensor<1x1xT>) -> tensor<1x2xT>
  return %0, %2 : tensor<1x67603xT>, tensor<1x2xT>
}
)",
           {"f32"});
}

// The first of several maxima, and of NaN, by a thread, a warp and a block.
TEST_F(ThreadTemplates, Argmax) {
  const char *source = R"(
func.func @f(%x: tensor<4xNxT>) -> (tensor<4xi32>, tensor<4x1xT>) {
  %0 = echo.argmax %x {axis = 1 : i64} : (tensor<4xNxT>) -> tensor<4xi32>
  %1 = echo.reduce sum %x {dims = array<i64: 1>, keepdims = true} : (tensor<4xNxT>) -> tensor<4x1xT>
  return %0, %1 : tensor<4xi32>, tensor<4x1xT>
}
)";
  for (int64_t size : {1, 5, 9, 33, 200, 1025}) {
    special = size % 2 == 1;
    checkAll(source,
             size == 200 || size == 1025
                 ? ArrayRef<const char *>(
                       {"f32", "f64", "f16", "bf16", "i32", "i64", "i8"})
                 : ArrayRef<const char *>({"f32"}),
             {{'N', size}});
  }
}

// Elements that are equal but for some, at different lanes.
TEST_F(ThreadTemplates, ArgmaxOfEqualElements) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (int64_t size : {40, 1100}) {
    std::string rows = "tensor<12x" + std::to_string(size) + "xf32>";
    std::vector<double> values;
    for (double base : {-infinity, 1.0})
      for (double best : {base, 2.0, nan})
        for (int64_t place : {int64_t(33), size - 2})
          for (int64_t i = 0; i < size; ++i)
            values.push_back(i == place || i == size - 1 ? best : base);
    check("func.func @f(%x: " + rows + R"() -> tensor<12xi32> {
  %0 = echo.argmax %x {axis = 1 : i64} : ()" +
              rows + R"() -> tensor<12xi32>
  return %0 : tensor<12xi32>
}
)",
          {*HostTensor::fromDoubles(parseType(rows), values)});
  }
}

// Sums over rows that are made row by row.
TEST_F(ThreadTemplates, AccumulatedRows) {
  for (int64_t size : {40, 1030})
    checkAll(R"(
func.func @f(%x: tensor<6x4xNxT>, %q: tensor<4xNxT>) -> (tensor<6x4xNxT>, tensor<4xNxT>) {
  %0 = echo.add %x, %q : (tensor<6x4xNxT>, tensor<4xNxT>) -> tensor<6x4xNxT>
  %1 = echo.softmax %0 {axis = 2 : i64} : (tensor<6x4xNxT>) -> tensor<6x4xNxT>
  %2 = echo.reduce sum %1 {dims = array<i64: 0>} : (tensor<6x4xNxT>) -> tensor<4xNxT>
  return %1, %2 : tensor<6x4xNxT>, tensor<4xNxT>
}
)",
             {size == 40 ? "bf16" : "f32"}, {{'N', size}});
}

// Blocks of 128 rows, one and several for each thread, and columns that fill a
// block's or don't.
TEST_F(ThreadTemplates, Columns) {
  for (auto [rows, columns] :
       {std::pair(127, 40), std::pair(129, 40), std::pair(300, 2),
        std::pair(5000, 3), std::pair(640, 17), std::pair(1025, 33),
        std::pair(300, 600), std::pair(1400, 2100)})
    checkAll(R"(
func.func @f(%x: tensor<RxNxT>) -> tensor<NxT> {
  %0 = echo.reduce sum %x {dims = array<i64: 0>} : (tensor<RxNxT>) -> tensor<NxT>
  return %0 : tensor<NxT>
}
)",
             columns == 17 ? kFloats : ArrayRef<const char *>({"f32"}),
             {{'R', rows}, {'N', columns}});
  checkAll(R"(
func.func @f(%x: tensor<3x300x5xT>, %y: tensor<3x5xT>) -> (tensor<3x5xT>, tensor<3x5xT>) {
  %0 = echo.reduce sum %x {dims = array<i64: 1>} : (tensor<3x300x5xT>) -> tensor<3x5xT>
  %1 = echo.add %0, %y : (tensor<3x5xT>, tensor<3x5xT>) -> tensor<3x5xT>
  %2 = echo.reduce max %x {dims = array<i64: 1>} : (tensor<3x300x5xT>) -> tensor<3x5xT>
  return %1, %2 : tensor<3x5xT>, tensor<3x5xT>
}
)",
           kFloats);
}

// A chain of column sums, and the elements that need them.
TEST_F(ThreadTemplates, ColumnChains) {
  for (int64_t rows : {150, 700})
    checkAll(R"(
func.func @f(%x: tensor<Nx35xT>) -> (tensor<Nx35xT>, tensor<1x35xT>) {
  %0 = echo.reduce mean %x {dims = array<i64: 0>, keepdims = true} : (tensor<Nx35xT>) -> tensor<1x35xT>
  %1 = echo.sub %x, %0 : (tensor<Nx35xT>, tensor<1x35xT>) -> tensor<Nx35xT>
  %2 = echo.mul %1, %1 : (tensor<Nx35xT>, tensor<Nx35xT>) -> tensor<Nx35xT>
  %3 = echo.reduce mean %2 {dims = array<i64: 0>, keepdims = true} : (tensor<Nx35xT>) -> tensor<1x35xT>
  %4 = echo.mul %1, %3 : (tensor<Nx35xT>, tensor<1x35xT>) -> tensor<Nx35xT>
  return %4, %3 : tensor<Nx35xT>, tensor<1x35xT>
}
)",
             {"f32", "f16"}, {{'N', rows}});
}

TEST_F(ThreadTemplates, Elements) {
  for (int64_t size : {0, 1, 3, 4, 5, 8, 31, 1000, 1025, 70000})
    checkAll(R"(
func.func @f(%x: tensor<NxT>, %y: tensor<NxT>) -> (tensor<NxT>, tensor<Nxi1>) {
  %0 = echo.mul %x, %y : (tensor<NxT>, tensor<NxT>) -> tensor<NxT>
  %1 = echo.add %0, %x : (tensor<NxT>, tensor<NxT>) -> tensor<NxT>
  %2 = echo.compare gt %1, %y : (tensor<NxT>, tensor<NxT>) -> tensor<Nxi1>
  return %1, %2 : tensor<NxT>, tensor<Nxi1>
}
)",
             size < 70000 ? kFloats : ArrayRef<const char *>({"f32"}),
             {{'N', size}});
  // Rows of whole vectors, of halves, and of none; slices at any offset.
  for (int64_t size : {16, 12, 18, 7})
    checkAll(R"(
func.func @f(%x: tensor<6xNxT>, %y: tensor<NxT>) -> (tensor<6xNxT>, tensor<5xNxf32>) {
  %0 = echo.mul %x, %y : (tensor<6xNxT>, tensor<NxT>) -> tensor<6xNxT>
  %1 = echo.slice %0 {offsets = array<i64: 1, 0>, sizes = array<i64: 5, N>, strides = array<i64: 1, 1>} : (tensor<6xNxT>) -> tensor<5xNxT>
  %2 = echo.convert %1 : (tensor<5xNxT>) -> tensor<5xNxf32>
  return %0, %2 : tensor<6xNxT>, tensor<5xNxf32>
}
)",
             {"f64", "f16", "bf16"}, {{'N', size}});
}

// Elements of every size in accesses of 16 bytes, and some that don't fill one.
TEST_F(ThreadTemplates, AlignedElements) {
  for (const char *element : kFloats) {
    checkAll(R"(
func.func @f(%x: tensor<77xT>, %y: tensor<77xT>) -> (tensor<77xT>, tensor<77xT>) {
  %0 = echo.mul %x, %y : (tensor<77xT>, tensor<77xT>) -> tensor<77xT>
  %1 = echo.relu %0 : (tensor<77xT>) -> tensor<77xT>
  return %0, %1 : tensor<77xT>, tensor<77xT>
}
)",
             {element});
    // Loads of two values, and stores of two.
    EXPECT_EQ(numAlignedAccesses, 4);
  }
  for (const char *element : {"i8", "i32", "i64", "i1"}) {
    checkAll(R"(
func.func @f(%x: tensor<77xT>, %y: tensor<77xT>) -> tensor<77xT> {
  %0 = echo.max %x, %y : (tensor<77xT>, tensor<77xT>) -> tensor<77xT>
  return %0 : tensor<77xT>
}
)",
             {element});
    EXPECT_EQ(numAlignedAccesses, 3);
  }
}

// Buffers that aren't aligned as a kernel was told.
TEST_F(ThreadTemplates, AlignedAccessesElsewhereAreFaults) {
  OwningOpRef<ModuleOp> module = parse(R"(
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = echo.neg %x : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
)");
  ASSERT_TRUE(module);
  formKernels(*module, /*fuse=*/true);
  std::unique_ptr<SimulatedModule> simulated =
      compileForThreads(*module, /*alignment=*/16, /*actual=*/8);
  ASSERT_TRUE(simulated);
  StringRef kernel = kernelFunctions(*module).front().getName();
  RankedTensorType type = parseType("tensor<64xf32>");
  SmallVector<HostTensor> outputs = {*HostTensor::zeros(type)};
  std::vector<::echo::sim::Fault> faults =
      simulated->run(kernel, {*HostTensor::zeros(type)}, outputs,
                     /*overwriting=*/{-1}, /*parameters=*/{}, {});
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(faults.front().kind, ::echo::sim::FaultKind::Misaligned);
}

TEST_F(ThreadTemplates, Blocks) {
  check(R"(
func.func @f(%x: tensor<300x3xf32>) -> tensor<300x3xf32> {
  %c = echo.constant dense<[1.0, 2.5, -3.0]> : tensor<3xf32>
  %0 = echo.mul %x, %c : (tensor<300x3xf32>, tensor<3xf32>) -> tensor<300x3xf32>
  return %0 : tensor<300x3xf32>
}
)");
  EXPECT_EQ(mostThreads, 29 * 32); // 900 elements
}

// More rows than a grid has blocks on y or z.
TEST_F(ThreadTemplates, RowsBeyondOtherGridDimensions) {
  checkAll(R"(
func.func @f(%x: tensor<66000x3xT>) -> tensor<66000x3xT> {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<66000x3xT>) -> tensor<66000x3xT>
  return %0 : tensor<66000x3xT>
}
)",
           {"f32"});
}

TEST_F(ThreadTemplates, Tables) {
  low = -2;
  for (auto [rows, columns, positions] :
       {std::tuple(1, 1, 1), std::tuple(10, 31, 300), std::tuple(300, 33, 40),
        std::tuple(7, 256, 600), std::tuple(40, 300, 257),
        std::tuple(500, 5, 600), std::tuple(4, 6, 0)}) {
    high = rows + 2;
    checkAll(R"(
func.func @f(%i: tensor<Pxi32>, %g: tensor<PxCxT>) -> tensor<RxCxT> {
  %0 = echo.embedding_grad %i, %g {rows = R : i64} : (tensor<Pxi32>, tensor<PxCxT>) -> tensor<RxCxT>
  return %0 : tensor<RxCxT>
}
)",
             columns == 31 ? kFloats : ArrayRef<const char *>({"f32"}),
             {{'R', rows}, {'C', columns}, {'P', positions}});
  }
}

TEST_F(ThreadTemplates, Tiles) {
  for (auto [rows, columns] :
       {std::pair(8, 8), std::pair(31, 65), std::pair(32, 32),
        std::pair(33, 100), std::pair(1, 40), std::pair(300, 9)})
    checkAll(R"(
func.func @f(%x: tensor<RxCxT>, %y: tensor<CxRxT>) -> (tensor<CxRxT>, tensor<CxRxT>) {
  %0 = echo.transpose %x {permutation = array<i64: 1, 0>} : (tensor<RxCxT>) -> tensor<CxRxT>
  %1 = echo.add %0, %y : (tensor<CxRxT>, tensor<CxRxT>) -> tensor<CxRxT>
  return %0, %1 : tensor<CxRxT>, tensor<CxRxT>
}
)",
             rows == 31 ? kFloats : ArrayRef<const char *>({"f32"}),
             {{'R', rows}, {'C', columns}});
  for (const char *permutation : {"0, 2, 1", "2, 1, 0", "1, 2, 0", "1, 0, 2"}) {
    int64_t sizes[] = {10, 35, 40};
    std::string result;
    for (char c : StringRef(permutation))
      if (c >= '0' && c <= '2')
        result += std::to_string(sizes[c - '0']) + "x";
    checkAll("func.func @f(%x: tensor<10x35x40xT>) -> tensor<" + result +
                 "T> {\n  %0 = echo.transpose %x {permutation = array<i64: " +
                 permutation + ">} : (tensor<10x35x40xT>) -> tensor<" + result +
                 "T>\n  return %0 : tensor<" + result + "T>\n}\n",
             {"f32", "i1"});
  }
}

} // namespace

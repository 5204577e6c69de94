//===- NumericsKernelTest.cpp - Values and shapes that are hard -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where kernels of other systems went wrong: masked rows, infinite and very
// large numbers, narrow types, rows that don't fill their lanes, extents beyond
// a grid's limits, and none at all. What has to come out follows by arithmetic,
// on the CPU and on threads alike.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "Echo/Transforms/Gradient.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const char *const kFloats[] = {"f32", "f64", "f16", "bf16"};

/// Half a unit in the last place of 1, and what a few roundings come to.
double toleranceOf(StringRef element) {
  return element == "f64"   ? 1e-13
         : element == "f32" ? 1e-5
         : element == "f16" ? 4e-3
                            : 3e-2;
}

class NumericsKernels : public CompiledKernels {
protected:
  HostTensor tensor(const std::string &type, ArrayRef<double> values) {
    return *HostTensor::fromDoubles(parseType(type), values);
  }
  HostTensor filled(const std::string &type, double value) {
    RankedTensorType parsed = parseType(type);
    SmallVector<double> values(parsed.getNumElements(), value);
    return *HostTensor::fromDoubles(parsed, values);
  }

  /// `source` with the gradients of its parameters behind its results.
  std::string differentiate(const std::string &source) {
    OwningOpRef<ModuleOp> module = parse(source);
    EXPECT_TRUE(module && succeeded(addGradients(
                              module->lookupSymbol<func::FuncOp>("f"))));
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

  /// Elements of a result are near what `value` gives, or exactly that.
  void expect(unsigned result, llvm::function_ref<double(int64_t)> value,
              double tolerance = 0) {
    ASSERT_LT(result, results.size());
    for (int64_t i = 0; i < results[result].getNumElements(); ++i) {
      double wanted = value(i), found = results[result].getDouble(i);
      if (std::isnan(wanted) || std::isinf(wanted) || tolerance == 0)
        ASSERT_TRUE(wanted == found ||
                    (std::isnan(wanted) && std::isnan(found)))
            << "result " << result << ", element " << i << ": expected "
            << wanted << ", found " << found;
      else
        ASSERT_NEAR(found, wanted, tolerance * std::max(1.0, std::abs(wanted)))
            << "result " << result << ", element " << i;
    }
  }
  void expect(unsigned result, double value, double tolerance = 0) {
    expect(
        result, [&](int64_t) { return value; }, tolerance);
  }
};

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Rows of -inf, of zeros, and of -inf but for a 1 at the end. Rows of a
/// thread, of a warp and of a block.
class MaskedRows : public NumericsKernels {
protected:
  HostTensor masked(const std::string &type, int64_t size) {
    SmallVector<double> values(3 * size, -kInf);
    std::fill_n(values.begin() + size, size, 0.0);
    values.back() = 1;
    return tensor(type, values);
  }
  /// The weights of a loss, and their mean over a row.
  static double weight(int64_t column) { return column % 4; }
  static double meanWeight(int64_t size) {
    double sum = 0;
    for (int64_t column = 0; column < size; ++column)
      sum += weight(column);
    return sum / size;
  }
  HostTensor weights(const std::string &type, int64_t size) {
    SmallVector<double> values;
    for (int64_t i = 0; i < 3 * size; ++i)
      values.push_back(weight(i % size));
    return tensor(type, values);
  }
  void forAll(llvm::function_ref<void(StringRef element, int64_t size)> run) {
    for (auto [element, size] :
         {std::pair("f32", 2), std::pair("f32", 40), std::pair("f32", 1030),
          std::pair("f64", 40), std::pair("f16", 40), std::pair("bf16", 40)}) {
      run(element, size);
      if (HasFatalFailure())
        return;
    }
  }

  /// The weighted sum of an op's rows, what the op gives, and the gradient.
  void checkWeighted(StringRef op, StringRef element, int64_t size) {
    std::string type = this->type({3, size}, element.str());
    std::string source = R"(
func.func @f(%x: tensor<3xNxT> {echo.role = "parameter"}, %w: tensor<3xNxT>) -> (tensor<T> {echo.loss}, tensor<3xNxT>) {
  %0 = echo.)" +
                         op.str() + R"( %x {axis = 1 : i64} : (tensor<3xNxT>) -> tensor<3xNxT>
  %1 = echo.mul %0, %w : (tensor<3xNxT>, tensor<3xNxT>) -> tensor<3xNxT>
  %2 = echo.reduce sum %1 {dims = array<i64: 0, 1>} : (tensor<3xNxT>) -> tensor<T>
  return %2, %0 : tensor<T>, tensor<3xNxT>
}
)";
    check(differentiate(instantiate(source, element, {{'N', size}})),
          {masked(type, size), weights(type, size)});
  }
};

// Pitfall 34: a row of -inf gives zeros, and so does its gradient.
TEST_F(MaskedRows, Softmax) {
  forAll([&](StringRef element, int64_t size) {
    checkWeighted("softmax", element, size);
    double tolerance = toleranceOf(element), mean = meanWeight(size);
    // 0, w / n at all n, and the last w.
    expect(0, mean + weight(size - 1), tolerance);
    expect(
        1,
        [&](int64_t i) {
          return i / size == 0   ? 0.0
                 : i / size == 1 ? 1.0 / size
                                 : double(i == 3 * size - 1);
        },
        tolerance / size);
    // y (w - sum(w y))
    expect(
        2,
        [&](int64_t i) {
          return i / size == 1 ? (weight(i % size) - mean) / size : 0.0;
        },
        tolerance / size);
  });
}

TEST_F(MaskedRows, LogSoftmax) {
  forAll([&](StringRef element, int64_t size) {
    checkWeighted("log_softmax", element, size);
    double tolerance = toleranceOf(element), mean = meanWeight(size);
    expect(
        1,
        [&](int64_t i) {
          return i / size == 1       ? -std::log(double(size))
                 : i == 3 * size - 1 ? 0.0
                                     : -kInf;
        },
        tolerance);
    // w - y sum(w), with y = exp of the result
    expect(
        2,
        [&](int64_t i) {
          double w = weight(i % size), sum = mean * size;
          return i / size == 0   ? 0.0
                 : i / size == 1 ? w - mean
                                 : w - (i == 3 * size - 1 ? sum : 0.0);
        },
        tolerance * 8);
  });
}

// Pitfalls 34 and 36: the loss of a row of -inf is 0, and so are its gradient
// and that of the logarithm of its sum.
TEST_F(MaskedRows, CrossEntropy) {
  forAll([&](StringRef element, int64_t size) {
    std::string wide = element.ends_with("16") ? "f32" : element.str();
    std::string text = instantiate(R"(
func.func @f(%x: tensor<3xNxT> {echo.role = "parameter"}, %l: tensor<3xi32>) -> (tensor<W> {echo.loss}, tensor<3xW>, tensor<3xW>) {
  %0, %1 = echo.softmax_cross_entropy %x, %l : (tensor<3xNxT>, tensor<3xi32>) -> (tensor<3xW>, tensor<3xW>)
  %2 = echo.reduce sum %R {dims = array<i64: 0>} : (tensor<3xW>) -> tensor<W>
  return %2, %0, %1 : tensor<W>, tensor<3xW>, tensor<3xW>
}
)",
                                   element, {{'N', size}});
    for (size_t i; (i = text.find('W')) != std::string::npos;)
      text.replace(i, 1, wide);
    HostTensor x = masked(this->type({3, size}, element.str()), size);
    HostTensor labels =
        *HostTensor::fromInts(parseType("tensor<3xi32>"), {0, 1, size - 1});
    double tolerance = toleranceOf(wide), logSize = std::log(double(size));
    double rounding = toleranceOf(element);
    for (bool ofLoss : {true, false}) {
      std::string source = text;
      source.replace(source.find('R'), 1, ofLoss ? "0" : "1");
      check(differentiate(source), {x, labels});
      expect(0, ofLoss ? logSize : -kInf, tolerance);
      expect(
          1, [&](int64_t i) { return i == 1 ? logSize : 0.0; }, tolerance);
      expect(
          2, [&](int64_t i) { return i == 0   ? -kInf
                                     : i == 1 ? logSize
                                              : 1.0; },
          tolerance);
      // softmax, less 1 at the label for the loss
      expect(
          3,
          [&](int64_t i) {
            double label = ofLoss && (i == size + 1 || i == 3 * size - 1);
            return i / size == 0   ? 0.0
                   : i / size == 1 ? 1.0 / size - label
                                   : double(i == 3 * size - 1) - label;
          },
          rounding);
    }
  });
}

// Pitfall 35: 0 and 1, and no overflow on the way.
TEST_F(NumericsKernels, LargeNegativeLogits) {
  for (const char *element : {"f32", "f64", "bf16"}) {
    HostTensor x = tensor(type({3, 2}, element),
                          {-1e14, -2e14, -2e14, -1e14, -1e14, -1e14});
    HostTensor labels =
        *HostTensor::fromInts(parseType("tensor<3xi32>"), {0, 1, 0});
    check(instantiate(R"(
func.func @f(%x: tensor<3x2xT>, %l: tensor<3xi32>) -> (tensor<3x2xT>, tensor<3xf64>) {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<3x2xT>) -> tensor<3x2xT>
  %1 = echo.convert %x : (tensor<3x2xT>) -> tensor<3x2xf64>
  %2:2 = echo.softmax_cross_entropy %1, %l : (tensor<3x2xf64>, tensor<3xi32>) -> (tensor<3xf64>, tensor<3xf64>)
  return %0, %2#0 : tensor<3x2xT>, tensor<3xf64>
}
)",
                      element),
          {x, labels});
    const double softmax[] = {1, 0, 0, 1, 0.5, 0.5};
    expect(0, [&](int64_t i) { return softmax[i]; });
    // The logarithm of 2 is lost beside 1e14.
    expect(
        1, [](int64_t i) { return i == 2 ? std::log(2.0) : 0.0; }, 0.02);
  }
}

// Pitfall 37: each is 2^-12 exactly, and they sum to 1.
TEST_F(NumericsKernels, EqualHalfLogits) {
  check(R"(
func.func @f(%x: tensor<2x4096xf16>) -> (tensor<2x4096xf16>, tensor<2xf16>) {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<2x4096xf16>) -> tensor<2x4096xf16>
  %1 = echo.reduce sum %0 {dims = array<i64: 1>} : (tensor<2x4096xf16>) -> tensor<2xf16>
  return %0, %1 : tensor<2x4096xf16>, tensor<2xf16>
}
)",
        {filled("tensor<2x4096xf16>", 3.5)});
  expect(0, std::ldexp(1.0, -12));
  expect(1, 1.0);
}

// Pitfall 38: of 0 to 16 the mean is 8 and the variance (17^2 - 1) / 12 = 24;
// 32 lanes would make them 4.25 and 30.
TEST_F(NumericsKernels, LayerNormOfSeventeen) {
  for (const char *element : kFloats) {
    std::string wide = StringRef(element).ends_with("16") ? "f32" : element;
    SmallVector<double> row;
    for (int i = 0; i < 4 * 17; ++i)
      row.push_back(i % 17);
    std::string t = type({4, 17}, element), s = type({17}, element);
    std::string w = type({4, 1}, wide);
    check("func.func @f(%x: " + t + ", %s: " + s + ", %o: " + s + ") -> (" + t +
              ", " + w + ", " + w +
              ") {\n  %0:3 = echo.layer_norm %x, %s, %o : (" + t + ", " + s +
              ", " + s + ") -> (" + t + ", " + w + ", " + w +
              ")\n  return %0#0, %0#1, %0#2 : " + t + ", " + w + ", " + w +
              "\n}\n",
          {tensor(t, row), filled(s, 2), filled(s, 0.5)});
    double rstd = 1 / std::sqrt(24 + 1e-5);
    expect(
        0, [&](int64_t i) { return (i % 17 - 8) * rstd * 2 + 0.5; },
        toleranceOf(element));
    expect(1, 8.0);
    expect(2, rstd, toleranceOf(wide));
  }
}

// Pitfall 42: gradients of scale and offset, sums over all dimensions but the
// last of what is normalized to 1 and -1 by turns. Many rows, and the whole
// gradient.
TEST_F(NumericsKernels, LayerNormWeightGradient) {
  auto alternating = [&](const std::string &type) {
    HostTensor x = *HostTensor::zeros(parseType(type));
    for (int64_t i = 0; i < x.getNumElements(); ++i)
      x.setDouble(i, i % 2 ? -1 : 1);
    return x;
  };
  check(differentiate(R"(
func.func @f(%x: tensor<2x3x4x32xf32> {echo.role = "parameter"}, %s: tensor<32xf32> {echo.role = "parameter"}, %o: tensor<32xf32> {echo.role = "parameter"}) -> (tensor<f32> {echo.loss}) {
  %0:3 = echo.layer_norm %x, %s, %o : (tensor<2x3x4x32xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<2x3x4x32xf32>, tensor<2x3x4x1xf32>, tensor<2x3x4x1xf32>)
  %1 = echo.reduce sum %0#0 {dims = array<i64: 0, 1, 2, 3>} : (tensor<2x3x4x32xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
)"),
        {alternating("tensor<2x3x4x32xf32>"), filled("tensor<32xf32>", 1),
         filled("tensor<32xf32>", 0)});
  auto sign = [](int64_t i) { return i % 2 ? -1.0 : 1.0; };
  // A sum of normalized rows doesn't depend on what is normalized.
  expect(1, 0.0, 1e-5);
  expect(
      2, [&](int64_t i) { return sign(i) * 24 / std::sqrt(1 + 1e-5); }, 1e-6);
  expect(3, 24.0);

  isLarge = true;
  check(R"(
func.func @f(%h: tensor<10x32x42x32xf32>, %g: tensor<10x32x42x32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %0 = echo.mul %h, %g : (tensor<10x32x42x32xf32>, tensor<10x32x42x32xf32>) -> tensor<10x32x42x32xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0, 1, 2>} : (tensor<10x32x42x32xf32>) -> tensor<32xf32>
  %2 = echo.reduce sum %g {dims = array<i64: 0, 1, 2>} : (tensor<10x32x42x32xf32>) -> tensor<32xf32>
  return %1, %2 : tensor<32xf32>, tensor<32xf32>
}
)",
        {alternating("tensor<10x32x42x32xf32>"),
         filled("tensor<10x32x42x32xf32>", 0.5)});
  const double rows = 10 * 32 * 42;
  expect(0, [&](int64_t i) { return sign(i) * rows / 2; });
  expect(1, rows / 2);
}

// f16 stops counting at 2048 and bf16 at 256: sums are f32's, and rounded once.
TEST_F(NumericsKernels, NarrowSumsAreWide) {
  for (const char *element : {"f16", "bf16"})
    for (auto [rows, columns] : {std::pair(3072, 3), std::pair(3, 3072),
                                 std::pair(3, 768), std::pair(768, 3)}) {
      std::string t = type({rows, columns}, element);
      check(instantiate(R"(
func.func @f(%x: tensor<RxCxT>) -> (tensor<CxT>, tensor<RxT>, tensor<RxT>, tensor<T>) {
  %0 = echo.reduce sum %x {dims = array<i64: 0>} : (tensor<RxCxT>) -> tensor<CxT>
  %1 = echo.reduce sum %x {dims = array<i64: 1>} : (tensor<RxCxT>) -> tensor<RxT>
  %2 = echo.reduce mean %x {dims = array<i64: 1>} : (tensor<RxCxT>) -> tensor<RxT>
  %3 = echo.reduce sum %x {dims = array<i64: 0, 1>} : (tensor<RxCxT>) -> tensor<T>
  return %0, %1, %2, %3 : tensor<CxT>, tensor<RxT>, tensor<RxT>, tensor<T>
}
)",
                        element, {{'R', rows}, {'C', columns}}),
            {filled(t, 1)});
      expect(0, rows);
      expect(1, columns);
      expect(2, 1.0);
      expect(3, rows * columns);
    }
  // Gradients of one row of a table.
  for (const char *element : {"f16", "bf16"}) {
    check(instantiate(R"(
func.func @f(%i: tensor<3072xi32>, %g: tensor<3072x5xT>) -> tensor<3x5xT> {
  %0 = echo.embedding_grad %i, %g {rows = 3 : i64} : (tensor<3072xi32>, tensor<3072x5xT>) -> tensor<3x5xT>
  return %0 : tensor<3x5xT>
}
)",
                      element),
          {filled("tensor<3072xi32>", 1), filled(type({3072, 5}, element), 1)});
    expect(0, [](int64_t i) { return i / 5 == 1 ? 3072.0 : 0.0; });
  }
}

// NaN wins, wherever it is: in rows of a thread, a warp and a block, in columns
// of one block and of several.
TEST_F(NumericsKernels, ExtremaOfNaN) {
  for (auto [element, size, place] :
       {std::tuple("f32", 3, 2), std::tuple("f32", 40, 0),
        std::tuple("bf16", 40, 39), std::tuple("f32", 1030, 515),
        std::tuple("f32", 1030, 1029)}) {
    const int64_t length = size;
    // The second of two rows, or columns.
    SmallVector<double> rows(2 * size, 1.0), columns(2 * size, 1.0);
    rows[size + place] = columns[2 * place + 1] = kNaN;
    check(instantiate(R"(
func.func @f(%x: tensor<2xNxT>, %y: tensor<Nx2xT>) -> (tensor<2xT>, tensor<2xT>, tensor<2xT>, tensor<2xT>, tensor<2xNxT>) {
  %0 = echo.reduce max %x {dims = array<i64: 1>} : (tensor<2xNxT>) -> tensor<2xT>
  %1 = echo.reduce min %x {dims = array<i64: 1>} : (tensor<2xNxT>) -> tensor<2xT>
  %2 = echo.reduce max %y {dims = array<i64: 0>} : (tensor<Nx2xT>) -> tensor<2xT>
  %3 = echo.reduce min %y {dims = array<i64: 0>} : (tensor<Nx2xT>) -> tensor<2xT>
  %4 = echo.softmax %x {axis = 1 : i64} : (tensor<2xNxT>) -> tensor<2xNxT>
  return %0, %1, %2, %3, %4 : tensor<2xT>, tensor<2xT>, tensor<2xT>, tensor<2xT>, tensor<2xNxT>
}
)",
                      element, {{'N', size}}),
          {tensor(type({2, size}, element), rows),
           tensor(type({size, 2}, element), columns)});
    for (unsigned result = 0; result < 4; ++result)
      expect(result, [](int64_t i) { return i == 1 ? kNaN : 1.0; });
    expect(
        4, [&](int64_t i) { return i / length == 1 ? kNaN : 1.0 / length; },
        toleranceOf(element));
    if (HasFatalFailure())
      return;
  }
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

// Pitfall 45: rows of three elements a lane, and 96 threads in all. Were each
// lane to store the sum, the simulator would report a race. More rows, and
// longer ones, than what fills whole blocks and warps.
TEST_F(NumericsKernels, OneThreadStores) {
  for (auto [rows, size] : {std::pair(3, 96), std::pair(33, 96),
                            std::pair(130, 33), std::pair(3, 1100)}) {
    SmallVector<double> x;
    for (int64_t i = 0; i < rows * size; ++i)
      x.push_back(i % size + 1);
    check(instantiate(R"(
func.func @f(%x: tensor<RxNxT>) -> (tensor<RxT>, tensor<RxT>) {
  %0 = echo.reduce sum %x {dims = array<i64: 1>} : (tensor<RxNxT>) -> tensor<RxT>
  %1 = echo.reduce max %x {dims = array<i64: 1>} : (tensor<RxNxT>) -> tensor<RxT>
  return %0, %1 : tensor<RxT>, tensor<RxT>
}
)",
                      "f32", {{'R', rows}, {'N', size}}),
          {tensor(type({rows, size}, "f32"), x)});
    expect(0, size * (size + 1) / 2);
    expect(1, size);
    EXPECT_EQ(mostThreads % 32, 0);
  }
}

// Pitfall 43: more of any dimension than a grid has blocks on y and z.
TEST_F(NumericsKernels, LongDimensions) {
  isLarge = true;
  const int64_t count = 70000;
  for (int64_t dim : {0, 1, 2}) {
    std::vector<int64_t> shape = {1, 2, 3};
    shape[dim] = count;
    std::string t = type(shape, "f32"), line, rest, turned;
    std::vector<int64_t> ones = {1, 1, 1}, left = shape;
    ones[dim] = count;
    left.erase(left.begin() + dim);
    line = type(ones, "f32");
    rest = type(left, "f32");
    turned = type({shape[2], shape[0], shape[1]}, "f32");
    std::string d = std::to_string(dim);
    check("func.func @f(%x: " + t + ") -> (" + rest + ", " + rest + ", " +
              turned + ") {\n  %i = echo.iota {dimension = " + d +
              " : i64} : " + line + "\n  %0 = echo.add %x, %i : (" + t + ", " +
              line + ") -> " + t +
              "\n  %1 = echo.reduce max %0 {dims = array<i64: " + d + ">} : (" +
              t + ") -> " + rest +
              "\n  %2 = echo.reduce sum %x {dims = array<i64: " + d + ">} : (" +
              t + ") -> " + rest +
              "\n  %3 = echo.transpose %0 {permutation = array<i64: 2, 0, 1>} "
              ": (" +
              t + ") -> " + turned + "\n  return %1, %2, %3 : " + rest + ", " +
              rest + ", " + turned + "\n}\n",
          {filled(t, 1)});
    expect(0, count); // the last number, and 1
    expect(1, count);
    expect(2, [&](int64_t i) {
      const int64_t at[] = {i / shape[1] % shape[0], i % shape[1],
                            i / shape[1] / shape[0]};
      return 1.0 + at[dim];
    });
  }
  check(R"(
func.func @f(%x: tensor<70000x2xf32>) -> tensor<70000x2xf32> {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<70000x2xf32>) -> tensor<70000x2xf32>
  return %0 : tensor<70000x2xf32>
}
)",
        {filled("tensor<70000x2xf32>", -3)});
  expect(0, 0.5);
  // Rows of a table.
  check(
      R"(
func.func @f(%i: tensor<3xi32>, %g: tensor<3x2xf32>) -> tensor<70000x2xf32> {
  %0 = echo.embedding_grad %i, %g {rows = 70000 : i64} : (tensor<3xi32>, tensor<3x2xf32>) -> tensor<70000x2xf32>
  return %0 : tensor<70000x2xf32>
}
)",
      {*HostTensor::fromInts(parseType("tensor<3xi32>"), {69999, 65536, 69999}),
       filled("tensor<3x2xf32>", 1)});
  expect(0, [](int64_t i) {
    return i / 2 == 69999 ? 2.0 : i / 2 == 65536 ? 1.0 : 0.0;
  });
}

// Pitfall 44: nothing is launched for what has no elements, and what is summed
// over nothing is 0.
TEST_F(NumericsKernels, NoElements) {
  for (const char *element : {"f32", "bf16"}) {
    check(instantiate(R"(
func.func @f(%x: tensor<0x4xT>, %y: tensor<4x0xT>, %s: tensor<4xT>, %i: tensor<0xi32>) -> (tensor<0x4xT>, tensor<0x4xT>, tensor<4x0xT>, tensor<0xT>, tensor<0x4xi1>, tensor<0xi32>, tensor<0x4xT>) {
  %0 = echo.add %x, %s : (tensor<0x4xT>, tensor<4xT>) -> tensor<0x4xT>
  %1 = echo.softmax %0 {axis = 1 : i64} : (tensor<0x4xT>) -> tensor<0x4xT>
  %2 = echo.transpose %x {permutation = array<i64: 1, 0>} : (tensor<0x4xT>) -> tensor<4x0xT>
  %3 = echo.reduce sum %y {dims = array<i64: 0>} : (tensor<4x0xT>) -> tensor<0xT>
  %4 = echo.compare lt %x, %1 : (tensor<0x4xT>, tensor<0x4xT>) -> tensor<0x4xi1>
  %5 = echo.argmax %x {axis = 1 : i64} : (tensor<0x4xT>) -> tensor<0xi32>
  %6 = echo.embedding_grad %i, %x {rows = 0 : i64} : (tensor<0xi32>, tensor<0x4xT>) -> tensor<0x4xT>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<0x4xT>, tensor<0x4xT>, tensor<4x0xT>, tensor<0xT>, tensor<0x4xi1>, tensor<0xi32>, tensor<0x4xT>
}
)",
                      element));
    EXPECT_EQ(mostThreads, 0);
    EXPECT_EQ(mostChunks, 0);
    // What moves elements, beside ops that make kernels of it.
    check(instantiate(R"(
func.func @f(%x: tensor<0x8xT>, %c: tensor<0x2xT>, %v: tensor<T>) -> (tensor<0x2xT>, tensor<0x4xT>, tensor<0x8xT>, tensor<0x2xT>, tensor<2x9xT>) {
  %0 = echo.slice %x {offsets = array<i64: 0, 1>, sizes = array<i64: 0, 2>, strides = array<i64: 1, 2>} : (tensor<0x8xT>) -> tensor<0x2xT>
  %1 = echo.add %0, %c : (tensor<0x2xT>, tensor<0x2xT>) -> tensor<0x2xT>
  %2:2 = echo.split %x {axis = 1 : i64} : (tensor<0x8xT>) -> (tensor<0x4xT>, tensor<0x4xT>)
  %3 = echo.mul %2#0, %2#1 : (tensor<0x4xT>, tensor<0x4xT>) -> tensor<0x4xT>
  %4 = echo.reverse %x {axes = array<i64: 0, 1>} : (tensor<0x8xT>) -> tensor<0x8xT>
  %5 = echo.concat %3, %2#1 {axis = 1 : i64} : (tensor<0x4xT>, tensor<0x4xT>) -> tensor<0x8xT>
  %6 = echo.add %4, %5 : (tensor<0x8xT>, tensor<0x8xT>) -> tensor<0x8xT>
  %7:3 = echo.lstm_cell %6, %c : (tensor<0x8xT>, tensor<0x2xT>) -> (tensor<0x2xT>, tensor<0x2xT>, tensor<0x8xT>)
  %8 = echo.pad %6, %v {low = array<i64: 2, 0>, high = array<i64: 0, 1>} : (tensor<0x8xT>, tensor<T>) -> tensor<2x9xT>
  return %1, %3, %6, %7#0, %8 : tensor<0x2xT>, tensor<0x4xT>, tensor<0x8xT>, tensor<0x2xT>, tensor<2x9xT>
}
)",
                      element),
          {filled(type({0, 8}, element), 0), filled(type({0, 2}, element), 0),
           filled(type({}, element), 3)});
    expect(4, 3.0);
    check(instantiate(R"(
func.func @f(%x: tensor<0x4xT>, %y: tensor<4x0xT>, %i: tensor<0xi32>) -> (tensor<4xT>, tensor<4xT>, tensor<T>, tensor<4xT>, tensor<3x4xT>) {
  %0 = echo.reduce sum %x {dims = array<i64: 0>} : (tensor<0x4xT>) -> tensor<4xT>
  %1 = echo.reduce sum %y {dims = array<i64: 1>} : (tensor<4x0xT>) -> tensor<4xT>
  %2 = echo.reduce sum %y {dims = array<i64: 0, 1>} : (tensor<4x0xT>) -> tensor<T>
  %3 = echo.reduce max %y {dims = array<i64: 1>} : (tensor<4x0xT>) -> tensor<4xT>
  %4 = echo.embedding_grad %i, %x {rows = 3 : i64} : (tensor<0xi32>, tensor<0x4xT>) -> tensor<3x4xT>
  return %0, %1, %2, %3, %4 : tensor<4xT>, tensor<4xT>, tensor<T>, tensor<4xT>, tensor<3x4xT>
}
)",
                      element));
    for (unsigned result : {0, 1, 2, 4})
      expect(result, 0.0);
    expect(3, -kInf);
  }
}

} // namespace

//===- KernelTest.cpp - Kernels of all other ops by value -----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include <limits>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

using Shape = std::vector<int64_t>;

class Kernels : public CompiledKernels {
protected:
  /// A function of one op on arguments of these types.
  static std::string function(const std::string &op,
                              const std::string &attributes,
                              const std::vector<std::string> &operands,
                              const std::vector<std::string> &results) {
    std::string arguments, names, types, resultTypes, values;
    for (size_t i = 0; i < operands.size(); ++i) {
      std::string name = "%a" + std::to_string(i), comma = i ? ", " : "";
      arguments += comma + name + ": " + operands[i];
      names += comma + name;
      types += comma + operands[i];
    }
    for (size_t i = 0; i < results.size(); ++i) {
      std::string comma = i ? ", " : "";
      resultTypes += comma + results[i];
      values += comma + "%r#" + std::to_string(i);
    }
    return "func.func @f(" + arguments + ") -> (" + resultTypes + ") {\n  %r:" +
           std::to_string(results.size()) + " = echo." + op + " " + names +
           " " + attributes + " : (" + types + ") -> (" + resultTypes +
           ")\n  return " + values + " : " + resultTypes + "\n}\n";
  }
  static std::string list(const Shape &values) {
    std::string text = "array<i64";
    for (size_t i = 0; i < values.size(); ++i)
      text += (i ? ", " : ": ") + std::to_string(values[i]);
    return text + ">";
  }
};

const char *const kFloats[] = {"f32", "f64", "f16", "bf16"};

TEST_F(Kernels, Reductions) {
  struct Case {
    Shape shape, dims;
  };
  const Case cases[] = {
      {{17}, {0}},          {{1}, {0}},        {{0}, {0}},
      {{3, 0}, {1}},        {{0, 3}, {1}},     {{5, 33}, {1}},
      {{5, 33}, {0}},       {{300, 3}, {0}},   {{257, 45}, {0}},
      {{3, 1500}, {1}},     {{2, 5, 7}, {1}},  {{2, 5, 7}, {0, 2}},
      {{2, 5, 7}, {0, 1}},  {{2, 5, 7}, {1, 2}}, {{3, 140, 9}, {1}},
      {{4, 1, 6}, {0, 2}},  {{2, 3, 4, 5}, {0, 2}}, {{6}, {}},
      {{2, 3}, {0, 1}},
      {{3, 4, 1, 1}, {0, 1, 3}}, {{8, 9, 1, 17}, {1, 3}},
      {{1, 512}, {0, 1}},   {{2, 1, 256}, {0, 1, 2}}};
  for (const char *element : {"f32", "f64", "f16", "bf16", "i32", "i64", "i8"})
    for (const Case &c : cases)
      for (bool keep : {false, true}) {
        Shape shape;
        for (size_t dim = 0; dim < c.shape.size(); ++dim) {
          bool reduced = llvm::is_contained(c.dims, int64_t(dim));
          if (!reduced || keep)
            shape.push_back(reduced ? 1 : c.shape[dim]);
        }
        for (const char *kind : {"sum", "max", "min", "mean"}) {
          if (kind == std::string("mean") && element[0] == 'i')
            continue;
          // Compiling takes time: all kinds at once in one type alone.
          if (keep && std::string(element) != "f32")
            continue;
          check(function("reduce " + std::string(kind),
                         "{dims = " + list(c.dims) +
                             (keep ? ", keepdims = true}" : "}"),
                         {type(c.shape, element)}, {type(shape, element)}));
          if (HasFatalFailure())
            return;
        }
      }
}

TEST_F(Kernels, ReductionsOfSpecialValues) {
  special = true;
  for (const char *kind : {"sum", "max", "min", "mean"})
    for (int64_t dim : {0, 1})
      check(function("reduce " + std::string(kind),
                     "{dims = " + list({dim}) + "}", {type({40, 41}, "f32")},
                     {type({dim == 0 ? 41 : 40}, "f32")}));
}

// LLVM would take the maxima of bf16, for which CPUs have no instructions.
TEST_F(Kernels, MaximaOfWidenedElements) {
  for (const char *wide : {"f32", "f64"})
    check(instantiate(R"(
func.func @f(%x: tensor<5xbf16>, %y: tensor<5xbf16>) -> tensor<T> {
  %0 = echo.add %x, %y : (tensor<5xbf16>, tensor<5xbf16>) -> tensor<5xbf16>
  %1 = echo.convert %0 : (tensor<5xbf16>) -> tensor<5xT>
  %2 = echo.reduce max %1 {dims = array<i64: 0>} : (tensor<5xT>) -> tensor<T>
  return %2 : tensor<T>
}
)",
                      wide));
}

TEST_F(Kernels, LargeReductionsHaveSeveralChunks) {
  check(function("reduce sum", "{dims = array<i64: 0>}",
                 {type({500, 300}, "f32")}, {type({300}, "f32")}));
  EXPECT_GE(mostChunks, 2);
  check(function("reduce sum", "{dims = array<i64: 1>}",
                 {type({300, 500}, "f32")}, {type({300}, "f32")}));
  EXPECT_GE(mostChunks, 2);
}

// Rows that are cut into parts: by one kernel, or by one for the parts.
TEST_F(Kernels, CutRows) {
  for (const char *kind : {"mean", "max", "sum"})
    check(function("reduce " + std::string(kind), "{dims = array<i64: 0, 1>}",
                   {type({9, 8192}, "f32")}, {type({}, "f32")}));
  EXPECT_EQ(numKernels, 2u);
  EXPECT_GE(mostChunks, 2);
  for (const char *element : {"f64", "bf16", "i32"})
    check(function("reduce sum", "{dims = array<i64: 1>, keepdims = true}",
                   {type({3, 67603}, element)}, {type({3, 1}, element)}));
  // Not to be cut.
  check(function("reduce sum", "{dims = array<i64: 0>}",
                 {type({65537}, "f32")}, {type({}, "f32")}));
  EXPECT_EQ(numKernels, 1u);
}

TEST_F(Kernels, Argmax) {
  for (const char *element : {"f32", "f64", "f16", "bf16", "i32", "i8"})
    for (bool odd : {false, true}) {
      special = odd;
      check(function("argmax", "{axis = 1 : i64}", {type({7, 19}, element)},
                     {type({7}, "i32")}));
      check(function("argmax", "{axis = 0 : i64}", {type({7, 19}, element)},
                     {type({19}, "i32")}));
    }
}

TEST_F(Kernels, Softmax) {
  for (const char *element : kFloats)
    for (const char *op : {"softmax", "log_softmax"}) {
      std::string name = op;
      for (const Shape &shape :
           {Shape{17}, Shape{1, 1}, Shape{5, 3}, Shape{33, 47}, Shape{0, 4}})
        check(function(name,
                       "{axis = " + std::to_string(shape.size() - 1) +
                           " : i64}",
                       {type(shape, element)}, {type(shape, element)}));
      check(function(name, "{axis = 1 : i64}", {type({3, 5, 18}, element)},
                     {type({3, 5, 18}, element)}));
      check(function(name, "{axis = 0 : i64}", {type({6, 5}, element)},
                     {type({6, 5}, element)}));
    }
  check(function("softmax", "{axis = 1 : i64}", {type({2, 3000}, "f32")},
                 {type({2, 3000}, "f32")}));
}

// A row of -inf, and numbers near -1e14.
TEST_F(Kernels, SoftmaxOfMaskedRows) {
  const double inf = std::numeric_limits<double>::infinity();
  HostTensor x = *HostTensor::fromDoubles(
      parseType("tensor<3x2xf32>"), {-inf, -inf, -1e14, -2e14, -inf, 1});
  check(function("softmax", "{axis = 1 : i64}", {"tensor<3x2xf32>"},
                 {"tensor<3x2xf32>"}),
        {x});
  check(function("log_softmax", "{axis = 1 : i64}", {"tensor<3x2xf32>"},
                 {"tensor<3x2xf32>"}),
        {x});
}

TEST_F(Kernels, LayerNorm) {
  for (const char *element : kFloats)
    for (const Shape &shape :
         {Shape{17}, Shape{4, 17}, Shape{2, 3, 40}, Shape{3, 1}, Shape{0, 5}}) {
      Shape statistics = shape;
      statistics.back() = 1;
      std::string e = element, wide = e[0] == 'f' && e != "f16" ? e : "f32";
      std::string scale = type({shape.back()}, e);
      check(function("layer_norm", "", {type(shape, e), scale, scale},
                     {type(shape, e), type(statistics, wide),
                      type(statistics, wide)}));
    }
}

TEST_F(Kernels, CrossEntropy) {
  low = -1;
  high = 8;
  for (const char *element : kFloats)
    for (const char *labels : {"i32", "i64"})
      for (const char *attributes :
           {"", "{label_smoothing = 0.1 : f64}", "{ignore_label = 0 : i64}"})
        for (const Shape &shape : {Shape{7}, Shape{5, 7}, Shape{2, 3, 33}}) {
          Shape rows(shape.begin(), shape.end() - 1);
          std::string e = element;
          std::string wide = e[0] == 'f' && e != "f16" ? e : "f32";
          check(function("softmax_cross_entropy", attributes,
                         {type(shape, e), type(rows, labels)},
                         {type(rows, wide), type(rows, wide)}));
          check(function("softmax_cross_entropy_grad", attributes,
                         {type(shape, e), type(rows, labels), type(rows, wide),
                          type(rows, wide)},
                         {type(shape, e)}));
          if (HasFatalFailure())
            return;
        }
}

TEST_F(Kernels, LstmCell) {
  for (const char *element : kFloats)
    for (const Shape &shape : {Shape{5}, Shape{3, 17}, Shape{2, 2, 8}}) {
      Shape gates = shape;
      gates.back() *= 4;
      std::string c = type(shape, element), g = type(gates, element);
      check(function("lstm_cell", "", {g, c}, {c, c, g}));
      EXPECT_EQ(numKernels, 1u);
      check(function("lstm_cell_grad", "", {g, c, c, c, c}, {g, c}));
    }
}

TEST_F(Kernels, Embedding) {
  low = -2;
  high = 11; // the table has 10 rows
  for (const char *element : {"f32", "f64", "f16", "bf16", "i32"})
    for (const char *index : {"i32", "i64"})
      for (int64_t columns : {1, 7, 32}) {
        check(function("embedding", "",
                       {type({10, columns}, element), type({3, 5}, index)},
                       {type({3, 5, columns}, element)}));
        if (element[0] == 'i')
          continue;
        check(function("embedding_grad", "{rows = 10 : i64}",
                       {type({3, 5}, index), type({3, 5, columns}, element)},
                       {type({10, columns}, element)}));
        if (HasFatalFailure())
          return;
      }
  high = 3000;
  check(function("embedding_grad", "{rows = 3000 : i64}",
                 {type({200}, "i32"), type({200, 33}, "f32")},
                 {type({3000, 33}, "f32")}));
  EXPECT_GE(mostChunks, 4);
  for (Shape table : {Shape{0, 7}, Shape{10, 0}})
    check(function("embedding_grad",
                   "{rows = " + std::to_string(table[0]) + " : i64}",
                   {type({4}, "i64"), type({4, table[1]}, "f32")},
                   {type(table, "f32")}));
  check(function("embedding", "", {type({0, 4}, "f32"), type({3}, "i32")},
                 {type({3, 4}, "f32")}));
}

TEST_F(Kernels, Dropout) {
  for (const char *element : kFloats)
    for (const Shape &shape : {Shape{}, Shape{37}, Shape{3, 21}}) {
      std::string t = type(shape, element);
      check(function("dropout", "{rate = 0.3 : f64}",
                     {t, "tensor<i64>", "tensor<i64>", "tensor<i64>"},
                     {t, type(shape, "i1")}));
    }
}

TEST_F(Kernels, MovesElements) {
  for (const char *element : {"f32", "f64", "f16", "bf16", "i1", "i8", "i64"}) {
    std::string e = element;
    check(function("transpose", "{permutation = array<i64: 1, 0>}",
                   {type({19, 23}, e)}, {type({23, 19}, e)}));
    check(function("transpose", "{permutation = array<i64: 1, 0, 2>}",
                   {type({3, 5, 16}, e)}, {type({5, 3, 16}, e)}));
    check(function("transpose", "{permutation = array<i64: 2, 0, 1>}",
                   {type({3, 5, 9}, e)}, {type({9, 3, 5}, e)}));
    check(function("broadcast", "", {type({3, 1}, e)}, {type({2, 3, 17}, e)}));
    check(function("broadcast", "", {type({17}, e)}, {type({4, 17}, e)}));
    check(function("reverse", "{axes = array<i64: 0, 1>}", {type({3, 19}, e)},
                   {type({3, 19}, e)}));
    check(function("reverse", "{axes = array<i64: 0>}", {type({4, 17}, e)},
                   {type({4, 17}, e)}));
    check(function("slice",
                   "{offsets = array<i64: 1, 2>, sizes = array<i64: 3, 9>, "
                   "strides = array<i64: 1, 1>}",
                   {type({5, 20}, e)}, {type({3, 9}, e)}));
    check(function("slice",
                   "{offsets = array<i64: 0, 1>, sizes = array<i64: 2, 9>, "
                   "strides = array<i64: 3, 2>}",
                   {type({5, 20}, e)}, {type({2, 9}, e)}));
    check(function("pad",
                   "{low = array<i64: 1, 2>, high = array<i64: 0, 3>}",
                   {type({4, 17}, e), type({}, e)}, {type({5, 22}, e)}));
    // Borders of which none has all dimensions of the others.
    check(function("pad",
                   "{low = array<i64: 3, 1, 3, 3>, "
                   "high = array<i64: 1, 2, 3, 2>}",
                   {type({3, 4, 2, 7}, e), type({}, e)},
                   {type({7, 7, 8, 12}, e)}));
    check(function("concat", "{axis = 1 : i64}",
                   {type({3, 4}, e), type({3, 17}, e), type({3, 0}, e),
                    type({3, 1}, e)},
                   {type({3, 22}, e)}));
    check(function("concat", "{axis = 0 : i64}",
                   {type({2, 9}, e), type({1, 9}, e)}, {type({3, 9}, e)}));
    check(function("split", "{axis = 1 : i64}", {type({3, 34}, e)},
                   {type({3, 17}, e), type({3, 17}, e)}));
  }
}

TEST_F(Kernels, Iota) {
  for (const char *element : {"f32", "f64", "f16", "bf16", "i8", "i32", "i64"})
    for (int dimension : {0, 1}) {
      std::string t = type({5, 19}, element);
      check("func.func @f() -> " + t + " {\n  %0 = echo.iota {dimension = " +
            std::to_string(dimension) + " : i64} : " + t + "\n  return %0 : " +
            t + "\n}\n");
    }
}

TEST_F(Kernels, Constants) {
  check(R"mlir(
    func.func @f(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xi1>, tensor<4xi32>) {
      %c = echo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
      %d = echo.constant dense<[true, false]> : tensor<2xi1>
      %s = echo.constant dense<7> : tensor<4xi32>
      %0 = echo.add %a, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      return %0, %d, %s : tensor<3xf32>, tensor<2xi1>, tensor<4xi32>
    })mlir");
  EXPECT_EQ(numKernels, 3u);
}

} // namespace

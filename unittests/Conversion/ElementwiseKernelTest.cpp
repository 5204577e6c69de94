//===- ElementwiseKernelTest.cpp - Elementwise kernels by value -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

using Shape = std::vector<int64_t>;
using ElementwiseKernels = CompiledKernels;

std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// A function of elementwise ops; every op's result is returned.
struct Program {
  std::vector<std::string> arguments, types, body, results, resultTypes;

  std::string argument(const std::string &type) {
    arguments.push_back("%a" + std::to_string(arguments.size()) + ": " + type);
    types.push_back(type);
    return "%a" + std::to_string(arguments.size() - 1);
  }
  std::string add(const std::string &op, const std::string &operands,
                  const std::string &operandTypes, const std::string &type) {
    std::string name = "%r" + std::to_string(body.size());
    body.push_back(name + " = echo." + op + " " + operands + " : (" +
                   operandTypes + ") -> " + type);
    results.push_back(name);
    resultTypes.push_back(type);
    return name;
  }
  std::string text() const {
    std::string text = "func.func @f(" + join(arguments) + ") -> (" +
                       join(resultTypes) + ") {\n";
    for (const std::string &line : body)
      text += "  " + line + "\n";
    return text + "  return " + join(results) + " : " + join(resultTypes) +
           "\n}\n";
  }
};

const std::vector<std::string> kFloats = {"f32", "f64", "f16", "bf16"};
const std::vector<std::string> kInts = {"i8", "i32", "i64", "i1"};

TEST_F(ElementwiseKernels, UnaryFloats) {
  special = true;
  for (const std::string &element : kFloats)
    for (const Shape &shape : {Shape{}, Shape{1}, Shape{17}, Shape{3, 33}}) {
      Program p;
      std::string t = type(shape, element), a = p.argument(t);
      for (const char *op : {"neg", "abs", "sign", "exp", "log", "sqrt",
                             "rsqrt", "tanh", "sigmoid", "relu", "gelu", "erf"})
        p.add(op, a, t, t);
      check(p.text());
      EXPECT_EQ(numKernels, 1u);
    }
}

TEST_F(ElementwiseKernels, BinaryWithBroadcasting) {
  special = true;
  struct Case {
    Shape lhs, rhs, result;
  };
  for (const std::string &element : kFloats)
    for (const Case &shapes :
         {Case{{2, 3, 19}, {2, 3, 19}, {2, 3, 19}}, Case{{5, 17}, {17}, {5, 17}},
          Case{{5, 1}, {1, 24}, {5, 24}}, Case{{}, {9}, {9}},
          Case{{4, 1, 3}, {6, 1}, {4, 6, 3}}, Case{{0, 4}, {4}, {0, 4}},
          Case{{1}, {1, 1}, {1, 1}}}) {
      Program p;
      std::string l = type(shapes.lhs, element), r = type(shapes.rhs, element);
      std::string t = type(shapes.result, element);
      std::string a = p.argument(l), b = p.argument(r);
      for (const char *op : {"add", "sub", "mul", "div", "max", "min", "pow"})
        p.add(op, a + ", " + b, l + ", " + r, t);
      check(p.text());
    }
}

TEST_F(ElementwiseKernels, Integers) {
  for (const std::string &element : kInts)
    for (const Shape &shape : {Shape{}, Shape{29}, Shape{3, 5}}) {
      Program p;
      std::string t = type(shape, element);
      std::string a = p.argument(t), b = p.argument(t);
      for (const char *op : {"add", "sub", "mul", "div", "rem", "max", "min"})
        p.add(op, a + ", " + b, t + ", " + t, t);
      for (const char *op : {"neg", "abs", "sign", "relu"})
        p.add(op, a, t, t);
      check(p.text());
    }
}

TEST_F(ElementwiseKernels, ComparisonsAndChoices) {
  special = true;
  for (const char *element : {"f32", "f64", "f16", "bf16", "i8", "i32", "i64"}) {
    Program p;
    std::string t = type({3, 11}, element), b1 = type({3, 11}, "i1");
    std::string column = type({3, 1}, element);
    std::string a = p.argument(t), b = p.argument(column);
    std::string condition;
    for (const char *direction : {"eq", "ne", "lt", "le", "gt", "ge"})
      condition = p.add("compare " + std::string(direction), a + ", " + b,
                        t + ", " + column, b1);
    p.add("select", condition + ", " + a + ", " + b,
          b1 + ", " + t + ", " + column, t);
    check(p.text());
  }
}

TEST_F(ElementwiseKernels, Conversions) {
  special = true;
  for (const char *from : {"f32", "f64", "f16", "bf16", "i8", "i32", "i64", "i1"}) {
    Program p;
    std::string t = type({19}, from), a = p.argument(t);
    for (const char *to :
         {"f32", "f64", "f16", "bf16", "i8", "i32", "i64", "i1"})
      p.add("convert", a, t, type({19}, to));
    check(p.text());
  }
}

TEST_F(ElementwiseKernels, LargeOnesHaveSeveralChunks) {
  Program p;
  std::string t = type({70003}, "f32"), a = p.argument(t), b = p.argument(t);
  std::string sum = p.add("add", a + ", " + b, t + ", " + t, t);
  p.add("tanh", sum, t, t);
  check(p.text());
  EXPECT_GE(mostChunks, 4);

  Program q;
  std::string m = type({257, 129}, "f32"), row = type({129}, "f32");
  std::string x = q.argument(m), y = q.argument(row);
  q.add("mul", x + ", " + y, m + ", " + row, m);
  check(q.text());
  EXPECT_GE(mostChunks, 2);

  // One row cut into columns, and rows and columns.
  Program s;
  std::string wide = type({3, 40001}, "f32"), column = type({3, 1}, "f32");
  std::string u = s.argument(wide), v = s.argument(column);
  s.add("sub", u + ", " + v, wide + ", " + column, wide);
  check(s.text());
  EXPECT_GE(mostChunks, 4);
}

/// Random groups of ops, with the interpreter's bits fused and not.
TEST_F(ElementwiseKernels, Fuzz) {
  const char *unary[] = {"neg", "abs",     "exp",  "tanh",
                         "relu", "sigmoid", "sqrt", "sign"};
  const char *binary[] = {"add", "sub", "mul", "div", "max", "min"};
  forSeeds(40, [&] {
    const std::string &element = kFloats[generator() % kFloats.size()];
    Shape shape;
    for (unsigned rank = generator() % 4; shape.size() < rank;)
      shape.push_back(1 + generator() % 21);
    Program p;
    std::string t = type(shape, element);
    std::vector<std::pair<std::string, std::string>> values;
    for (unsigned i = 0; i < 3; ++i) {
      Shape part = shape;
      for (int64_t &size : part)
        size = generator() % 3 == 0 ? 1 : size;
      std::string partType = type(i == 0 ? shape : part, element);
      values.push_back({p.argument(partType), partType});
    }
    unsigned count = 2 + generator() % 12;
    for (unsigned i = 0; i < count; ++i) {
      auto [x, xType] = values[generator() % values.size()];
      auto [y, yType] = i % 2 ? values.back() : values.front();
      unsigned pick = generator();
      std::string result =
          pick % 3 == 0 && xType == t
              ? p.add(unary[pick / 3 % 8], x, t, t)
              : p.add(binary[pick / 3 % 6], x + ", " + y, xType + ", " + yType,
                      t);
      values.push_back({result, t});
    }
    check(p.text());
  });
}

} // namespace

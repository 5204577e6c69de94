//===- FusedKernelTest.cpp - Random groups of ops by value ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Graphs of ops of all iteration classes, of which some values leave. Fused
// kernels, kernels of one op and the interpreter have to give the same bits, in
// any order of chunks and threads and in place. ECHO_FUZZ_SEED=S runs the graph
// of one seed, ECHO_FUZZ_GRAPHS=N more of them.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "mlir/Dialect/Traits.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

using Shape = SmallVector<int64_t>;

class FusedKernels : public CompiledKernels {
protected:
  struct Tensor {
    std::string name;
    Shape shape;
  };

  unsigned pick(size_t count) { return generator() % count; }
  const Tensor &any() { return values[pick(values.size())]; }
  std::string typeOf(const Tensor &tensor) {
    return type(tensor.shape, element);
  }

  Tensor argument(Shape shape) {
    Tensor tensor = {"%a" + std::to_string(numArguments++), shape};
    header += (header.empty() ? "" : ", ") + tensor.name + ": " +
              typeOf(tensor);
    values.push_back(tensor);
    return tensor;
  }

  /// Adds `echo.op operands attributes`, with one result or the first of
  /// `results`.
  Tensor add(const std::string &op, ArrayRef<Tensor> operands,
             const std::string &attributes, ArrayRef<Shape> results) {
    std::string names, types, resultTypes;
    for (const Tensor &operand : operands) {
      names += (names.empty() ? "" : ", ") + operand.name;
      types += (types.empty() ? "" : ", ") + typeOf(operand);
    }
    for (const Shape &shape : results)
      resultTypes += (resultTypes.empty() ? "" : ", ") + type(shape, element);
    std::string name = "%r" + std::to_string(numOps++);
    body += "  " + name +
            (results.size() == 1 ? "" : ":" + std::to_string(results.size())) +
            " = echo." + op + " " + names + " " + attributes + " : (" + types +
            ") -> (" + resultTypes + ")\n";
    for (auto [index, shape] : llvm::enumerate(results))
      values.push_back(
          {results.size() == 1 ? name : name + "#" + std::to_string(index),
           shape});
    return values[values.size() - results.size()];
  }

  static std::string array(ArrayRef<int64_t> values) {
    std::string text = "array<i64";
    for (auto [index, value] : llvm::enumerate(values))
      text += (index == 0 ? ": " : ", ") + std::to_string(value);
    return text + ">";
  }

  void addUnary() {
    const char *ops[] = {"neg", "tanh", "exp", "relu", "sigmoid", "abs"};
    Tensor x = any();
    add(ops[pick(6)], {x}, "", {x.shape});
  }

  void addBinary() {
    const char *ops[] = {"add", "sub", "mul", "max"};
    Tensor x = any();
    SmallVector<Tensor> fitting;
    for (const Tensor &y : values) {
      Shape shape;
      if (y.shape.size() <= x.shape.size() &&
          OpTrait::util::getBroadcastedShape(x.shape, y.shape, shape) &&
          shape == x.shape)
        fitting.push_back(y);
    }
    // A value and what it was reduced to are likely.
    add(ops[pick(4)], {x, fitting[pick(fitting.size())]}, "", {x.shape});
  }

  void addReduce() {
    const char *kinds[] = {"sum", "max", "mean", "sum"};
    Tensor x = any();
    Shape dims, shape;
    bool keep = pick(2);
    for (auto [dim, size] : llvm::enumerate(x.shape)) {
      bool isReduced = dim + 1 == x.shape.size() ? pick(2) : pick(3) == 0;
      if (isReduced)
        dims.push_back(dim);
      if (!isReduced || keep)
        shape.push_back(isReduced ? 1 : size);
    }
    add(std::string("reduce ") + kinds[pick(4)], {x},
        "{dims = " + array(dims) + ", keepdims = " + (keep ? "true" : "false") +
            "}",
        {shape});
  }

  void addRowOp() {
    Tensor x = any();
    if (x.shape.empty())
      return;
    int64_t last = x.shape.back();
    // The statistics of f16 and bf16 are of another type.
    if (pick(2) || element.back() == '6') {
      add("softmax", {x},
          "{axis = " + std::to_string(x.shape.size() - 1) + " : i64}",
          {x.shape});
      return;
    }
    Shape mean = x.shape;
    mean.back() = 1;
    Tensor scale = argument({last}), offset = argument({last});
    add("layer_norm", {x, scale, offset}, "", {x.shape, mean, mean});
  }

  void addMovement() {
    Tensor x = any();
    int64_t rank = x.shape.size();
    switch (pick(5)) {
    case 0: { // leading dimensions become one, or one becomes two
      Shape shape = x.shape;
      if (rank >= 2) {
        shape[1] *= shape[0];
        shape.erase(shape.begin());
      } else if (rank == 1 && shape[0] % 2 == 0) {
        shape = {2, shape[0] / 2};
      }
      add("reshape", {x}, "", {shape});
      return;
    }
    case 1: {
      Shape offsets, sizes, strides;
      for (int64_t size : x.shape) {
        offsets.push_back(pick(3) ? 0 : pick(size));
        strides.push_back(pick(4) ? 1 : 2);
        sizes.push_back((size - offsets.back() + strides.back() - 1) /
                        strides.back());
      }
      add("slice", {x},
          "{offsets = " + array(offsets) + ", sizes = " + array(sizes) +
              ", strides = " + array(strides) + "}",
          {sizes});
      return;
    }
    case 2: {
      Shape order, shape;
      for (int64_t dim = 0; dim < rank; ++dim)
        order.push_back(dim);
      std::shuffle(order.begin(), order.end(), generator);
      for (int64_t dim : order)
        shape.push_back(x.shape[dim]);
      add("transpose", {x}, "{permutation = " + array(order) + "}", {shape});
      return;
    }
    case 3: {
      Shape shape = x.shape;
      for (int64_t &size : shape)
        size = size == 1 ? 1 + pick(5) : size;
      if (shape.size() < 3)
        shape.insert(shape.begin(), 1 + pick(4));
      add("broadcast", {x}, "", {shape});
      return;
    }
    default:
      if (rank == 0)
        return;
      int64_t axis = pick(rank);
      Shape shape = x.shape;
      shape[axis] *= 2;
      add("concat", {x, x}, "{axis = " + std::to_string(axis) + " : i64}",
          {shape});
    }
  }

  void addCell() {
    Tensor x = any();
    if (x.shape.empty() || x.shape.back() % 4 != 0)
      return;
    Shape cell = x.shape;
    cell.back() /= 4;
    add("lstm_cell", {x, argument(cell)}, "", {cell, cell, x.shape});
  }

  /// The function, of which the last value and some others leave.
  std::string text() {
    std::string names, types;
    for (auto [index, value] : llvm::enumerate(values)) {
      if (value.name[1] == 'a' || (index + 1 != values.size() && pick(4) != 0))
        continue;
      names += (names.empty() ? "" : ", ") + value.name;
      types += (types.empty() ? "" : ", ") + typeOf(value);
    }
    return "func.func @f(" + header + ") -> (" + types + ") {\n" + body +
           "  return " + names + " : " + types + "\n}\n";
  }

  void fuzz() {
    values.clear();
    header = body = "";
    numArguments = numOps = 0;
    const char *elements[] = {"f32", "f32", "f32", "f64", "f16", "bf16"};
    element = elements[pick(6)];
    Shape shape;
    for (unsigned rank = 1 + pick(3); shape.size() < rank;)
      shape.push_back(pick(3) ? 1 + pick(9) : 4 * (1 + pick(9)));
    argument(shape);
    argument(shape);
    for (unsigned count = 3 + pick(14); numOps < count;) {
      switch (pick(10)) {
      case 0:
      case 1:
        addUnary();
        break;
      case 2:
      case 3:
      case 4:
        addBinary();
        break;
      case 5:
      case 6:
        addReduce();
        break;
      case 7:
        addRowOp();
        break;
      case 8:
        addMovement();
        break;
      default:
        addCell();
        break;
      }
      // Not everything grows.
      if (cast<ShapedType>(parseType(typeOf(values.back()))).getNumElements() >
          20000)
        values.pop_back();
    }
    // The last value has to be an op's.
    addUnary();
    check(text());
  }

  /// Sums of softmax' rows, which are known row by row.
  void sumRows(ArrayRef<std::tuple<int, int, int>> sizes) {
    for (auto [outer, rows, columns] : sizes)
      for (const char *dims : {"1", "0, 1"}) {
        values.clear();
        header = body = "";
        numArguments = numOps = 0;
        element = "f32";
        Tensor x = argument({outer, rows, columns});
        Tensor y = add("softmax", {x}, "{axis = 2 : i64}", {x.shape});
        Tensor z = add("sub", {y, x}, "", {x.shape});
        Shape shape = {columns};
        if (dims[1] == 0)
          shape.insert(shape.begin(), outer);
        add("reduce sum", {y}, "{dims = array<i64: " + std::string(dims) + ">}",
            {shape});
        add("reduce max", {z}, "{dims = array<i64: " + std::string(dims) + ">}",
            {shape});
        // All of them leave.
        std::string names, types;
        for (const Tensor &value : ArrayRef(values).drop_front()) {
          names += (names.empty() ? "" : ", ") + value.name;
          types += (types.empty() ? "" : ", ") + typeOf(value);
        }
        check("func.func @f(" + header + ") -> (" + types + ") {\n" + body +
              "  return " + names + " : " + types + "\n}\n");
        if (HasFatalFailure())
          return;
        if (rows > 1 && rows <= 128 && dims[1] == 0) {
          EXPECT_EQ(numKernels, 1u);
        }
      }
  }

  std::vector<Tensor> values;
  std::string header, body, element;
  unsigned numArguments = 0, numOps = 0;
};

TEST_F(FusedKernels, SumsAccumulateBesideRows) {
  sumRows({{8, 5, 16},
           {4, 25, 9},
           {64, 25, 256},
           {5, 128, 3},
           {6, 129, 8},
           {4, 1, 24},
           {300, 2, 3}});
}

/// Sums beside what is written in place read the same elements: the sum of one
/// row, which is rounded behind it,
TEST_F(FusedKernels, InPlaceBesideOneRow) {
  check(R"(
func.func @f(%x: tensor<5x1x4xbf16>) -> (tensor<5x1x4xbf16>, tensor<5x4xbf16>) {
  %0 = echo.exp %x : (tensor<5x1x4xbf16>) -> tensor<5x1x4xbf16>
  %1 = echo.sub %0, %x : (tensor<5x1x4xbf16>, tensor<5x1x4xbf16>) -> tensor<5x1x4xbf16>
  %2 = echo.reduce sum %1 {dims = array<i64: 1>} : (tensor<5x1x4xbf16>) -> tensor<5x4xbf16>
  return %0, %2 : tensor<5x1x4xbf16>, tensor<5x4xbf16>
}
)");
  // Nor does it make the elements of a row the work of several threads.
  check(R"(
func.func @f(%x: tensor<1x3xf16>, %y: tensor<1x3xf16>) -> (tensor<1x3xf16>, tensor<1x3xf16>, tensor<3xf16>) {
  %0 = echo.add %x, %x : (tensor<1x3xf16>, tensor<1x3xf16>) -> tensor<1x3xf16>
  %1 = echo.softmax %0 {axis = 1 : i64} : (tensor<1x3xf16>) -> tensor<1x3xf16>
  %2 = echo.reduce max %y {dims = array<i64: 0>} : (tensor<1x3xf16>) -> tensor<3xf16>
  return %0, %1, %2 : tensor<1x3xf16>, tensor<1x3xf16>, tensor<3xf16>
}
)");
}

/// one of as many columns as there are rows,
TEST_F(FusedKernels, InPlaceBesideSquare) {
  check(R"(
func.func @f(%x: tensor<6x6xbf16>) -> (tensor<6x6xbf16>, tensor<6xbf16>) {
  %0 = echo.softmax %x {axis = 1 : i64} : (tensor<6x6xbf16>) -> tensor<6x6xbf16>
  %1 = echo.neg %x : (tensor<6x6xbf16>) -> tensor<6x6xbf16>
  %2 = echo.reduce sum %1 {dims = array<i64: 0>} : (tensor<6x6xbf16>) -> tensor<6xbf16>
  return %0, %2 : tensor<6x6xbf16>, tensor<6xbf16>
}
)");
}

/// and one of another shape.
TEST_F(FusedKernels, InPlaceBesideReshaped) {
  check(R"(
func.func @f(%x: tensor<1x4x5xf32>) -> (tensor<1x4x5xf32>, tensor<5xf32>) {
  %0 = echo.relu %x : (tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  %1 = echo.neg %x : (tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  %2 = echo.reshape %1 : (tensor<1x4x5xf32>) -> tensor<4x5xf32>
  %3 = echo.reduce sum %2 {dims = array<i64: 0>} : (tensor<4x5xf32>) -> tensor<5xf32>
  return %0, %3 : tensor<1x4x5xf32>, tensor<5xf32>
}
)");
}

TEST_F(FusedKernels, Fuzz) {
  forSeeds(150, [&] { fuzz(); });
}

// A normalized row, its loss and the gradients of both.
TEST_F(FusedKernels, Gradients) {
  low = -1; // no label
  high = 8;
  check(R"(
func.func @f(%x: tensor<5x9xf32>, %s: tensor<9xf32>, %o: tensor<9xf32>, %y: tensor<5xi32>, %g: tensor<5xf32>) -> (tensor<5xf32>, tensor<5x9xf32>, tensor<9xf32>, tensor<9xf32>) {
  %n, %m, %d = echo.layer_norm %x, %s, %o : (tensor<5x9xf32>, tensor<9xf32>, tensor<9xf32>) -> (tensor<5x9xf32>, tensor<5x1xf32>, tensor<5x1xf32>)
  %l, %z = echo.softmax_cross_entropy %n, %y {label_smoothing = 0.1 : f64} : (tensor<5x9xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xf32>)
  %e = echo.softmax_cross_entropy_grad %n, %y, %z, %g {label_smoothing = 0.1 : f64} : (tensor<5x9xf32>, tensor<5xi32>, tensor<5xf32>, tensor<5xf32>) -> tensor<5x9xf32>
  %c = echo.sub %x, %m : (tensor<5x9xf32>, tensor<5x1xf32>) -> tensor<5x9xf32>
  %h = echo.mul %c, %d : (tensor<5x9xf32>, tensor<5x1xf32>) -> tensor<5x9xf32>
  %t = echo.mul %e, %h : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %ds = echo.reduce sum %t {dims = array<i64: 0>} : (tensor<5x9xf32>) -> tensor<9xf32>
  %do = echo.reduce sum %e {dims = array<i64: 0>} : (tensor<5x9xf32>) -> tensor<9xf32>
  %w = echo.mul %e, %s : (tensor<5x9xf32>, tensor<9xf32>) -> tensor<5x9xf32>
  %p = echo.reduce mean %w {dims = array<i64: 1>, keepdims = true} : (tensor<5x9xf32>) -> tensor<5x1xf32>
  %u = echo.mul %w, %h : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %q = echo.reduce mean %u {dims = array<i64: 1>, keepdims = true} : (tensor<5x9xf32>) -> tensor<5x1xf32>
  %v = echo.sub %w, %p : (tensor<5x9xf32>, tensor<5x1xf32>) -> tensor<5x9xf32>
  %r = echo.mul %h, %q : (tensor<5x9xf32>, tensor<5x1xf32>) -> tensor<5x9xf32>
  %k = echo.sub %v, %r : (tensor<5x9xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %dx = echo.mul %d, %k : (tensor<5x1xf32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  return %l, %dx, %ds, %do : tensor<5xf32>, tensor<5x9xf32>, tensor<9xf32>, tensor<9xf32>
}
)");
}

// Equal kernels of two time steps are one, with the offset as a parameter.
TEST_F(FusedKernels, Parameters) {
  check(R"(
func.func @f(%x: tensor<4x6x5xf32>, %seed: tensor<i64>, %step: tensor<i64>) -> (tensor<1x6x5xf32>, tensor<1x6x5xf32>) {
  %o1 = echo.constant dense<1> : tensor<i64>
  %o2 = echo.constant dense<2> : tensor<i64>
  %a = echo.slice %x {offsets = array<i64: 1, 0, 0>, sizes = array<i64: 1, 6, 5>, strides = array<i64: 1, 1, 1>} : (tensor<4x6x5xf32>) -> tensor<1x6x5xf32>
  %b = echo.slice %x {offsets = array<i64: 3, 0, 0>, sizes = array<i64: 1, 6, 5>, strides = array<i64: 1, 1, 1>} : (tensor<4x6x5xf32>) -> tensor<1x6x5xf32>
  %c, %m = echo.dropout %a, %seed, %step, %o1 {rate = 0.5 : f64} : (tensor<1x6x5xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<1x6x5xf32>, tensor<1x6x5xi1>)
  %d, %n = echo.dropout %b, %seed, %step, %o2 {rate = 0.5 : f64} : (tensor<1x6x5xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<1x6x5xf32>, tensor<1x6x5xi1>)
  %e = echo.tanh %c : (tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
  %g = echo.tanh %d : (tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
  return %e, %g : tensor<1x6x5xf32>, tensor<1x6x5xf32>
}
)");
}

} // namespace

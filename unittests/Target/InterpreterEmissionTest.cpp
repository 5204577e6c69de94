//===- InterpreterEmissionTest.cpp - Emitted arithmetic, bit for bit ------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What `emitScalar` emits is evaluated by constant folding and compared with
// the interpreter's exact mode: the same bits for every elementwise op and
// element type, NaN payloads apart.
//
//===----------------------------------------------------------------------===//

#include "InterpreterTestUtils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

const char *const kFloats[] = {"f16", "bf16", "f32", "f64"};
const char *const kIntegers[] = {"i1", "i8", "i32", "i64"};

const double kFloatValues[] = {
    0.0,      -0.0,   1.0,     -1.0,    0.5,
    -0.5,     2.0,    -2.5,    0.1,     -0.9,
    3.7,      -3.7,   10.0,    -10.0,   87.5,
    -87.5,    89.0,   -103.5,  300.0,   -300.0,
    1e-5,     -1e-5,  1e-40,   -1e-310, 1e30,
    -1e30,    65504., 70000.0, 1e300,   127.9,
    -128.9,   0x1p31, -0x1p31, -0x1p63, 0x1p63,
    0x1.8p30, kInf,   -kInf,   kNaN,    1 + 0x1p-11 + 0x1p-40};

const int64_t kIntegerValues[] = {0,
                                  1,
                                  -1,
                                  2,
                                  -3,
                                  7,
                                  100,
                                  127,
                                  -128,
                                  std::numeric_limits<int32_t>::min(),
                                  std::numeric_limits<int32_t>::max(),
                                  0x1000001,
                                  std::numeric_limits<int64_t>::min(),
                                  std::numeric_limits<int64_t>::max()};

class EmissionTest : public InterpreterTest {
protected:
  EmissionTest() { context.loadDialect<math::MathDialect>(); }

  HostTensor values(StringRef element) {
    if (element.starts_with("i"))
      return *HostTensor::fromInts(
          typeOf(llvm::formatv("tensor<{0}x{1}>", std::size(kIntegerValues),
                               element)
                     .str()),
          kIntegerValues);
    return tensor(
        llvm::formatv("tensor<{0}x{1}>", std::size(kFloatValues), element)
            .str(),
        kFloatValues);
  }

  TypedAttr elementOf(const HostTensor &tensor, int64_t index) {
    Builder builder(&context);
    uint64_t bits = 0;
    int64_t size = tensor.getElementSize();
    std::memcpy(&bits, tensor.getData() + index * size, size);
    Type type = tensor.getElementType();
    unsigned width = type.getIntOrFloatBitWidth();
    APInt number(width, bits, false, /*implicitTrunc=*/true);
    if (auto floatType = dyn_cast<FloatType>(type))
      return builder.getFloatAttr(
          floatType, APFloat(floatType.getFloatSemantics(), number));
    return builder.getIntegerAttr(type, number);
  }

  /// Folds the ops of a block in order; what `value` becomes.
  Attribute foldBlock(Block &block, Value value) {
    llvm::DenseMap<Value, Attribute> known;
    for (Operation &op : block) {
      SmallVector<Attribute> operands;
      for (Value operand : op.getOperands())
        operands.push_back(known.lookup(operand));
      SmallVector<OpFoldResult> folded;
      if (succeeded(op.fold(operands, folded)) && !folded.empty()) {
        auto attribute = llvm::dyn_cast_if_present<Attribute>(folded[0]);
        if (!attribute)
          attribute = known.lookup(cast<Value>(folded[0]));
        known[op.getResult(0)] = attribute;
      } else if (auto truncate = dyn_cast<arith::TruncFOp>(op)) {
        // Its folder leaves inexact truncations alone.
        APFloat number = cast<FloatAttr>(operands[0]).getValue();
        auto type = cast<FloatType>(truncate.getType());
        bool lost;
        number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                       &lost);
        known[op.getResult(0)] = FloatAttr::get(type, number);
      } else if (isa<math::SqrtOp>(op)) {
        // Its folder leaves negative numbers alone.
        auto number = cast<FloatAttr>(operands[0]);
        EXPECT_TRUE(number.getValue().isNegative() ||
                    number.getValue().isNaN());
        known[op.getResult(0)] = FloatAttr::get(
            number.getType(), std::sqrt(number.getValueAsDouble()));
      }
      if (!known.lookup(op.getResult(0))) {
        ADD_FAILURE() << "not folded: " << op.getName().getStringRef().str();
        return {};
      }
    }
    return known.lookup(value);
  }

  /// Checks the sole op of `source`'s function on all elements of operands of
  /// one size.
  void check(StringRef source, ArrayRef<HostTensor> operands) {
    SCOPED_TRACE(source.str());
    auto results = run(source, operands, InterpreterMode::Exact);
    ASSERT_EQ(results.size(), 1u);
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    auto op = cast<ElementwiseOpInterface>(function.getBody().front().front());
    Location loc = op.getLoc();
    for (int64_t i = 0, e = results[0].getNumElements(); i < e; ++i) {
      Block block;
      OpBuilder builder(&context);
      builder.setInsertionPointToEnd(&block);
      SmallVector<Value> scalars;
      for (const HostTensor &operand : operands)
        scalars.push_back(
            arith::ConstantOp::create(builder, loc, elementOf(operand, i)));
      Value value = op.emitScalar(builder, loc, scalars);
      ASSERT_EQ(value.getType(), results[0].getElementType());
      Attribute got = foldBlock(block, value);
      Attribute want = elementOf(results[0], i);
      auto gotFloat = dyn_cast_or_null<FloatAttr>(got);
      if (gotFloat && gotFloat.getValue().isNaN() &&
          cast<FloatAttr>(want).getValue().isNaN())
        continue;
      EXPECT_EQ(got, want) << "element " << i;
    }
    checkVectors(op, operands);
  }

  /// The same code is valid on vectors.
  void checkVectors(ElementwiseOpInterface op, ArrayRef<HostTensor> operands) {
    Location loc = op.getLoc();
    OwningOpRef<ModuleOp> scratch = ModuleOp::create(loc);
    OpBuilder builder(&context);
    builder.setInsertionPointToEnd(scratch->getBody());
    SmallVector<Type> types;
    for (const HostTensor &operand : operands)
      types.push_back(VectorType::get({8}, operand.getElementType()));
    auto function = func::FuncOp::create(builder, loc, "f",
                                         builder.getFunctionType(types, {}));
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToEnd(body);
    Value value = op.emitScalar(builder, loc, body->getArguments());
    EXPECT_EQ(
        value.getType(),
        VectorType::get({8}, getElementTypeOrSelf(op->getResult(0).getType())));
    func::ReturnOp::create(builder, loc);
    EXPECT_TRUE(succeeded(verify(*scratch)));
  }

  void checkUnary(StringRef name, StringRef element) {
    HostTensor operand = values(element);
    std::string type =
        llvm::formatv("tensor<{0}x{1}>", operand.getNumElements(), element);
    check(llvm::formatv("func.func @f(%a: {0}) -> {0} {{ %0 = echo.{1} %a : "
                        "({0}) -> {0} return %0 : {0} }",
                        type, name)
              .str(),
          operand);
  }

  /// All pairs of every `step`th value.
  std::pair<HostTensor, HostTensor> pairs(StringRef element, int64_t step) {
    HostTensor single = values(element);
    int64_t n = (single.getNumElements() + step - 1) / step;
    std::string type = llvm::formatv("tensor<{0}x{1}>", n * n, element);
    HostTensor lhs = *HostTensor::zeros(typeOf(type));
    HostTensor rhs = lhs;
    int64_t size = single.getElementSize();
    char *left = lhs.getMutableData(), *right = rhs.getMutableData();
    for (int64_t i = 0; i < n * n; ++i) {
      std::memcpy(left + i * size, single.getData() + i / n * step * size,
                  size);
      std::memcpy(right + i * size, single.getData() + i % n * step * size,
                  size);
    }
    return {lhs, rhs};
  }

  void checkBinary(StringRef name, StringRef element, StringRef result = "",
                   int64_t step = 1) {
    auto [lhs, rhs] = pairs(element, step);
    std::string type =
        llvm::formatv("tensor<{0}x{1}>", lhs.getNumElements(), element);
    std::string resultType =
        llvm::formatv("tensor<{0}x{1}>", lhs.getNumElements(),
                      result.empty() ? element : result);
    check(llvm::formatv("func.func @f(%a: {0}, %b: {0}) -> {1} {{ %0 = "
                        "echo.{2} %a, %b : ({0}, {0}) -> {1} return %0 : {1} }",
                        type, resultType, name)
              .str(),
          {lhs, rhs});
  }
};

TEST_F(EmissionTest, UnaryFloats) {
  for (const char *element : kFloats)
    for (const char *name : {"neg", "abs", "sign", "relu", "exp", "log", "sqrt",
                             "rsqrt", "tanh", "sigmoid", "gelu", "erf"})
      checkUnary(name, element);
}

TEST_F(EmissionTest, UnaryIntegers) {
  for (const char *element : kIntegers)
    for (const char *name : {"neg", "abs", "sign", "relu"})
      checkUnary(name, element);
}

TEST_F(EmissionTest, BinaryFloats) {
  for (const char *element : kFloats)
    for (const char *name : {"add", "sub", "mul", "div", "max", "min"})
      checkBinary(name, element);
}

TEST_F(EmissionTest, Pow) {
  for (const char *element : kFloats)
    checkBinary("pow", element, "", /*step=*/3);
}

TEST_F(EmissionTest, BinaryIntegers) {
  for (const char *element : kIntegers)
    for (const char *name : {"add", "sub", "mul", "div", "rem", "max", "min"})
      checkBinary(name, element);
}

TEST_F(EmissionTest, Compare) {
  for (const char *direction : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    std::string name = std::string("compare ") + direction;
    for (const char *element : {"f16", "f32", "f64", "i1", "i8", "i64"})
      checkBinary(name, element, "i1");
  }
}

TEST_F(EmissionTest, Convert) {
  SmallVector<const char *> all(std::begin(kFloats), std::end(kFloats));
  all.append(std::begin(kIntegers), std::end(kIntegers));
  for (const char *from : all)
    for (const char *to : all) {
      HostTensor operand = values(from);
      int64_t n = operand.getNumElements();
      check(
          llvm::formatv("func.func @f(%a: tensor<{0}x{1}>) -> tensor<{0}x{2}> "
                        "{{ %0 = echo.convert %a : (tensor<{0}x{1}>) -> "
                        "tensor<{0}x{2}> return %0 : tensor<{0}x{2}> }",
                        n, from, to)
              .str(),
          operand);
    }
}

TEST_F(EmissionTest, Select) {
  HostTensor predicate = tensor("tensor<2xi1>", {1, 0});
  check("func.func @f(%p: tensor<2xi1>, %a: tensor<2xf32>, %b: tensor<2xf32>) "
        "-> tensor<2xf32> { %0 = echo.select %p, %a, %b : (tensor<2xi1>, "
        "tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> return %0 : "
        "tensor<2xf32> }",
        {predicate, tensor("tensor<2xf32>", {1, 2}),
         tensor("tensor<2xf32>", {3, 4})});
}

} // namespace

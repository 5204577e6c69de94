//===- RewriteTests.cpp - Rewritten graphs have the same values -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In f64 a rewritten graph differs by rounding alone. ECHO_FUZZ_SEED=S runs the
// random graph of one seed.
//
//===----------------------------------------------------------------------===//

#include "Echo/Transforms/Rewrites.h"
#include "Echo/Dialect/TensorBuilder.h"
#include "Echo/Transforms/Gradient.h"
#include "Echo/Zoo/Models.h"
#include "GraphTesting.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;

namespace {

constexpr double kTolerance = 1e-11;

unsigned countProducts(func::FuncOp function) {
  unsigned count = 0;
  function.walk([&](CostOpInterface op) { count += op.isComputeHeavy(); });
  return count;
}

/// Rewrites a copy and compares its results on the same inputs.
void compareRewritten(ModuleOp module, std::mt19937_64 &rng,
                      function_ref<void(func::FuncOp)> rewrite,
                      const std::string &what) {
  OwningOpRef<ModuleOp> copy = module.clone();
  func::FuncOp before = firstFunction(module), after = firstFunction(*copy);
  rewrite(after);
  ASSERT_TRUE(succeeded(verify(*copy))) << what;
  std::vector<Elements> inputs = drawInputs(before, rng);
  llvm::Expected<std::vector<Elements>> expected = Evaluator(before)(inputs);
  ASSERT_TRUE(bool(expected)) << what << toString(expected.takeError());
  llvm::Expected<std::vector<Elements>> found = Evaluator(after)(inputs);
  ASSERT_TRUE(bool(found)) << what << toString(found.takeError());
  ASSERT_EQ(expected->size(), found->size()) << what;
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(*expected, *found))) {
    auto &[x, y] = pair;
    ASSERT_EQ(x.size(), y.size()) << what;
    for (auto [a, b] : llvm::zip_equal(x, y))
      ASSERT_NEAR(a, b, kTolerance * (1 + std::abs(a)))
          << what << ", result " << i;
  }
}

void rewriteAll(func::FuncOp function) {
  batchRows(function);
  batchSums(function);
  accumulateProducts(function);
}

OwningOpRef<ModuleOp> buildStep(std::unique_ptr<zoo::Model> model,
                                ArrayRef<StringRef> options) {
  llvm::Error error = model->getOptions().parse(options);
  EXPECT_FALSE(bool(error));
  OwningOpRef<ModuleOp> module = zoo::buildModel(*model, context());
  EXPECT_TRUE(succeeded(addGradients(firstFunction(*module))));
  return module;
}

TEST(RewriteTest, LanguageModel) {
  std::mt19937_64 rng(1);
  OwningOpRef<ModuleOp> module = buildStep(
      zoo::createLstmLmModel(), {"--batch=2", "--length=3", "--layers=2",
                                 "--hidden=4", "--embed=3", "--vocab=5"});
  // Forward 2 * 3 input and recurrent products each, and the output's. Backward
  // 2 for the output; per layer 3 for the input, 2 for the state before (there
  // is none before the first step), 3 for each of two weights.
  EXPECT_EQ(countProducts(firstFunction(*module)), 13u + 2 + 2 * 11);
  compareRewritten(*module, rng, [](func::FuncOp f) { batchRows(f); }, "rows");
  compareRewritten(*module, rng, batchSums, "sums");
  compareRewritten(*module, rng, accumulateProducts, "products");
  compareRewritten(*module, rng, rewriteAll, "all");
  // One input product a layer. Backward one for a layer's input, 2 for its
  // states; of the weights' one and two: the first state is no neighbour.
  rewriteAll(firstFunction(*module));
  EXPECT_EQ(countProducts(firstFunction(*module)),
            2u + 6 + 1 + 2 + 2 * (1 + 2 + 1 + 2));
}

TEST(RewriteTest, Translation) {
  std::mt19937_64 rng(2);
  for (StringRef norm : {"--layer-norm=false", "--layer-norm=true"}) {
    OwningOpRef<ModuleOp> module = buildStep(
        zoo::createNmtModel(),
        {"--batch=2", "--src-len=4", "--tgt-len=3", "--layers=2", "--hidden=4",
         "--embed=3", "--src-vocab=6", "--tgt-vocab=5", "--dropout=0.25",
         norm});
    compareRewritten(*module, rng, [](func::FuncOp f) { batchRows(f); },
                     "rows");
    compareRewritten(*module, rng, batchSums, "sums");
    compareRewritten(*module, rng, accumulateProducts, "products");
    compareRewritten(*module, rng, rewriteAll, "all");
  }
}

// In f16 there is no 2049: a sum of 2048, 1 and 1 from the left is 2048 where
// each addition is rounded, and 2050 where the whole is, once. The graph rounds
// each; a product that is added in place, and one product in place of two
// terms, don't.
TEST(RewriteTest, HalfSumsAreRoundedOnce) {
  for (auto *rewrite : {&accumulateProducts, &batchSums}) {
    // 1 * 1 and 2048 * 1 + 1 * 1, 64 times.
    OwningOpRef<ModuleOp> module = parse(R"(
      func.func @f(%a: tensor<1x8xf16>, %b: tensor<2x8xf16>, %c: tensor<2x8xf16>) -> tensor<8x8xf16> {
        %0 = echo.matmul %a, %a {transpose_lhs = true} : (tensor<1x8xf16>, tensor<1x8xf16>) -> tensor<8x8xf16>
        %1 = echo.matmul %b, %c {transpose_lhs = true} : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<8x8xf16>
        %2 = echo.add %0, %1 : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
        return %2 : tensor<8x8xf16>
      })");
    ASSERT_TRUE(module);
    func::FuncOp function = firstFunction(*module);
    Elements b(8, 2048), ones(16, 1);
    b.resize(16, 1);
    std::vector<Elements> inputs = {Elements(8, 1), b, ones};
    for (double expected : {2048, 2050}) {
      llvm::Expected<std::vector<Elements>> found =
          Evaluator(function, /*exact=*/true)(inputs);
      ASSERT_TRUE(bool(found)) << toString(found.takeError());
      EXPECT_EQ((*found)[0], Elements(64, expected));
      rewrite(function);
    }
  }
}

/// Products of few weights with rows that depend on each other in all ways,
/// joined and cut, and sums of products over rows.
OwningOpRef<ModuleOp> buildRandomGraph(uint64_t seed) {
  std::mt19937_64 rng(seed);
  auto below = [&](unsigned limit) { return unsigned(rng() % limit); };
  OpBuilder builder(&context());
  Location loc = builder.getUnknownLoc();
  TensorBuilder b(builder, loc);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  constexpr int64_t kWidth = 3;
  auto type = [&](int64_t rows) {
    return RankedTensorType::get({rows, kWidth}, builder.getF64Type());
  };
  SmallVector<Type> types;
  for (int64_t rows : {1, 2, 2, 4, 3, 3, 3})
    types.push_back(type(rows));
  auto function = func::FuncOp::create(builder, loc, "f",
                                       builder.getFunctionType(types, {}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SmallVector<Value> values(block->getArguments().take_front(4));
  SmallVector<Value> weights(block->getArguments().drop_front(4)), sums;
  auto pick = [&] { return values[below(values.size())]; };
  for (unsigned i = 0; i < 40; ++i) {
    Value x = pick(), y = pick(), weight = weights[below(weights.size())];
    switch (below(8)) {
    case 0:
    case 1:
      values.push_back(LinearOp::create(builder, loc, x.getType(), x, weight,
                                        /*bias=*/Value()));
      break;
    case 2:
      values.push_back(b.matmul(x, weight, false, below(2)));
      break;
    case 3:
      values.push_back(TanhOp::create(builder, loc, x.getType(), x));
      break;
    case 4:
      if (x.getType() == y.getType())
        values.push_back(b.add(x, y));
      break;
    case 5: {
      int64_t rows = b.shapeOf(x).front() + b.shapeOf(y).front();
      if (rows > 8)
        break;
      Value reshaped =
          b.reshape(b.concat({x, y}, 0), {1, rows, kWidth});
      values.push_back(b.reshape(reshaped, {rows, kWidth}));
      break;
    }
    case 6: {
      int64_t rows = b.shapeOf(x).front();
      for (int64_t row = 0; rows < 5 && row < rows; ++row)
        values.push_back(b.slice(x, {row, 0}, {1, kWidth}));
      break;
    }
    case 7: {
      if (b.shapeOf(x).front() != b.shapeOf(y).front())
        break;
      Value product = b.matmul(x, y, true, false);
      if (sums.empty() || below(4) == 0)
        sums.push_back(product);
      else
        sums.back() = b.add(sums.back(), product);
      // A weight that is a sum, so that readers of sums have to move.
      if (below(4) == 0)
        weights.push_back(sums.back());
      break;
    }
    }
  }
  SmallVector<Value> results(values);
  llvm::append_range(results, sums);
  // Bounded, whatever was multiplied with what.
  for (Value &result : results)
    result = TanhOp::create(builder, loc, result.getType(), result);
  func::ReturnOp::create(builder, loc, results);
  function.setFunctionType(
      builder.getFunctionType(types, ValueRange(results).getTypes()));
  return module;
}

TEST(RewriteTest, RandomGraphs) {
  uint64_t first = 0, last = 300;
  if (const char *seed = std::getenv("ECHO_FUZZ_SEED")) {
    first = std::strtoull(seed, nullptr, 10);
    last = first + 1;
  }
  unsigned before = 0, after = 0;
  for (uint64_t seed = first; seed < last; ++seed) {
    OwningOpRef<ModuleOp> module = buildRandomGraph(seed);
    ASSERT_TRUE(succeeded(verify(*module)));
    before += countProducts(firstFunction(*module));
    std::mt19937_64 rng(seed);
    compareRewritten(*module, rng, rewriteAll,
                     "seed " + std::to_string(seed));
    if (HasFatalFailure())
      return;
    rewriteAll(firstFunction(*module));
    after += countProducts(firstFunction(*module));
  }
  EXPECT_LT(after, before);
}

} // namespace

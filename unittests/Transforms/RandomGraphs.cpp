//===- RandomGraphs.cpp - Random forward graphs ---------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomGraphs.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Dialect/TensorBuilder.h"
#include "GraphTesting.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Traits.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <random>

using namespace mlir;
using namespace mlir::echo;

namespace {

class RandomGraph {
public:
  RandomGraph(MLIRContext &context, uint64_t seed, bool hasStates)
      : rng(seed), builder(&context), b(builder, builder.getUnknownLoc()),
        hasStates(hasStates) {}

  OwningOpRef<ModuleOp> build();

private:
  unsigned below(unsigned limit) { return rng() % limit; }
  Value pick() { return values[below(values.size())]; }
  RankedTensorType f64(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF64Type());
  }
  Value unary(Value x);
  Value binary(Value x, Value y);
  Value shape(Value x);
  Value composite(Value x);
  Value matmul(Value x, Value y);
  Value dropout(Value x);
  Value next();
  void updateStates(func::FuncOp function);

  std::mt19937_64 rng;
  OpBuilder builder;
  TensorBuilder b;
  bool hasStates;
  SmallVector<Value> values;
  Value statistic, step; ///< if hasStates
};

} // namespace

template <typename Op>
static Value same(TensorBuilder &b, Value x) {
  return Op::create(b.getBuilder(), b.getLoc(), x.getType(), x);
}

Value RandomGraph::unary(Value x) {
  switch (below(10)) {
  case 0:
    return b.neg(x);
  case 1:
    return same<TanhOp>(b, x);
  case 2:
    return same<SigmoidOp>(b, x);
  case 3:
    return same<GeluOp>(b, x);
  case 4:
    return b.erf(x);
  case 5:
    return b.exp(same<TanhOp>(b, x));
  case 6: {
    // Positive and away from zero.
    Value square = b.mul(x, x);
    return same<RsqrtOp>(b, b.add(square, 0.5));
  }
  case 7: {
    Value square = b.mul(x, x);
    return b.log(b.sqrt(b.add(square, 0.5)));
  }
  case 8:
    return same<ReluOp>(b, x);
  default:
    return b.mul(same<SignOp>(b, x), x);
  }
}

Value RandomGraph::binary(Value x, Value y) {
  switch (below(7)) {
  case 0:
    return b.add(x, y);
  case 1:
    return b.sub(x, y);
  case 2:
    return b.mul(x, same<TanhOp>(b, y));
  case 3: {
    Value square = b.mul(y, y);
    return b.div(x, b.add(square, 1.0));
  }
  case 4:
    return b.min(x, y);
  case 5: {
    Value base = b.add(same<SigmoidOp>(b, x), 0.25);
    return b.pow(base, same<TanhOp>(b, y));
  }
  default: {
    Value predicate = b.compare(CompareDirection::LT, x, y);
    Value square = b.mul(x, x);
    return b.select(predicate, square, y);
  }
  }
}

Value RandomGraph::shape(Value x) {
  ArrayRef<int64_t> sizes = b.shapeOf(x);
  int64_t rank = sizes.size();
  if (rank == 0)
    return b.broadcast(x, {2, 3});
  int64_t axis = below(rank);
  switch (below(7)) {
  case 0: {
    SmallVector<int64_t> permutation =
        llvm::to_vector(llvm::seq<int64_t>(rank));
    std::swap(permutation.front(), permutation[axis]);
    return b.transpose(x, permutation);
  }
  case 1:
    return b.reshape(x, {b.typeOf(x).getNumElements()});
  case 2: {
    SmallVector<int64_t> offsets(rank, 0), lengths(sizes), strides(rank, 1);
    offsets[axis] = below(sizes[axis]);
    strides[axis] = 1 + below(2);
    lengths[axis] =
        (sizes[axis] - offsets[axis] + strides[axis] - 1) / strides[axis];
    return SliceOp::create(builder, b.getLoc(), f64(lengths), x, offsets,
                           lengths, strides);
  }
  case 3:
    return b.concat({x, x}, axis);
  case 4: {
    SmallVector<Value> parts = b.split(x, axis, sizes[axis]);
    return parts[below(parts.size())];
  }
  case 5:
    return ReverseOp::create(builder, b.getLoc(), x.getType(), x,
                             ArrayRef<int64_t>{axis});
  default: {
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    low[axis] = below(2);
    high[axis] = 1;
    return b.pad(x, b.sumAll(values.front()), low, high);
  }
  }
}

Value RandomGraph::composite(Value x) {
  int64_t rank = b.typeOf(x).getRank();
  if (rank == 0)
    return same<TanhOp>(b, x);
  int64_t axis = below(rank);
  switch (below(6)) {
  case 0:
    return SoftmaxOp::create(builder, b.getLoc(), x.getType(), x, axis);
  case 1:
    return LogSoftmaxOp::create(builder, b.getLoc(), x.getType(), x, axis);
  case 2:
    return b.reduce(ReduceKind::Max, x, axis, below(2));
  case 3:
    return b.reduce(ReduceKind::Mean, x, axis, below(2));
  case 4:
    return b.reduce(ReduceKind::Sum, x, axis, below(2));
  default: {
    int64_t size = b.shapeOf(x).back();
    SmallVector<int64_t> column(b.shapeOf(x));
    column.back() = 1;
    Value scale = b.add(b.zeros(f64({size})), 1.5);
    Value offset = b.sumTo(x, {size});
    return LayerNormOp::create(builder, b.getLoc(),
                               TypeRange{x.getType(), f64(column), f64(column)},
                               x, scale, offset, builder.getF64FloatAttr(0.5))
        .getResult();
  }
  }
}

/// Products that fit by construction: with a transposed copy of the other.
Value RandomGraph::matmul(Value x, Value y) {
  if (b.typeOf(x).getRank() < 2 || b.typeOf(y).getRank() < 2)
    return b.sumAll(x);
  int64_t columns = b.shapeOf(x).back();
  // Any y becomes [n, columns] by a sum and a broadcast.
  Value row = b.reshape(b.sumAll(y), {1, 1});
  Value weight = b.mul(b.broadcast(row, {2, columns}), 0.25);
  if (below(2))
    return LinearOp::create(
        builder, b.getLoc(),
        [&] {
          SmallVector<int64_t> sizes(b.shapeOf(x));
          sizes.back() = 2;
          return f64(sizes);
        }(),
        x, weight, Value());
  if (below(2))
    return b.matmul(x, x, false, true);
  return b.matmul(x, weight, false, true);
}

Value RandomGraph::dropout(Value x) {
  auto type = b.typeOf(x);
  auto scalar = RankedTensorType::get({}, builder.getI64Type());
  auto constant = [&](int64_t value) -> Value {
    return ConstantOp::create(builder, b.getLoc(),
                              DenseElementsAttr::get(scalar, value));
  };
  Value seed = constant(7), offset = constant(below(1000));
  Value count = hasStates ? step : constant(3);
  return DropoutOp::create(builder, b.getLoc(),
                           TypeRange{type, type.clone(builder.getI1Type())}, x,
                           seed, count, offset, builder.getF64FloatAttr(0.25))
      .getResult();
}

Value RandomGraph::next() {
  Value x = pick();
  Value y = pick();
  SmallVector<int64_t> shared;
  switch (below(11)) {
  case 0:
    return dropout(x);
  case 1:
  case 2:
    return unary(x);
  case 3:
  case 4:
  case 5:
  case 6:
    if (OpTrait::util::getBroadcastedShape(b.shapeOf(x), b.shapeOf(y), shared))
      return binary(x, y);
    return binary(x, b.sumAll(y));
  case 7:
  case 8:
    return shape(x);
  default:
    return below(2) ? composite(x) : matmul(x, y);
  }
}

OwningOpRef<ModuleOp> RandomGraph::build() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> types = {f64({2, 3}), f64({3}), f64({2, 1}), f64({})};
  auto function = func::FuncOp::create(builder, b.getLoc(), "f",
                                       builder.getFunctionType(types, types));
  for (unsigned i = 0; i < types.size(); ++i)
    function.setArgAttr(i, kRoleAttr, builder.getStringAttr("parameter"));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  values.append(block->args_begin(), block->args_end());
  if (hasStates) {
    auto addState = [&](StringRef name, Type type) {
      unsigned index = function.getNumArguments();
      (void)function.insertArgument(
          index, type,
          builder.getDictionaryAttr(
              {builder.getNamedAttr(kRoleAttr, builder.getStringAttr("state")),
               builder.getNamedAttr(kNameAttr, builder.getStringAttr(name))}),
          b.getLoc());
      return function.getArgument(index);
    };
    statistic = addState("statistic", f64({}));
    step = addState("step", RankedTensorType::get({}, builder.getI64Type()));
  }
  unsigned length = 4 + below(20);
  while (values.size() < types.size() + length) {
    Value value = next();
    // Sizes and values stay small.
    if (b.typeOf(value).getNumElements() > 60)
      value = b.sumAll(b.mul(value, 0.0625));
    if (below(3) == 0)
      value = same<TanhOp>(b, value);
    values.push_back(value);
  }
  SmallVector<Value> results = {values.back(), pick()};
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), TypeRange(ValueRange(results))));
  func::ReturnOp::create(builder, b.getLoc(), results);
  mlir::echo::testing::addWeightedLoss(function);
  if (hasStates)
    updateStates(function);
  return module;
}

/// statistic = 0.9 statistic + 0.1 mean(value), step = step + 1.
void RandomGraph::updateStates(func::FuncOp function) {
  Operation *terminator = function.front().getTerminator();
  builder.setInsertionPoint(terminator);
  Value value = pick();
  Value mean = b.div(b.sumAll(value), double(b.typeOf(value).getNumElements()));
  Value updated = b.add(b.mul(statistic, 0.9), b.mul(mean, 0.1));
  SmallVector<Value> results = {terminator->getOperand(0), updated,
                                b.add(step, 1.0)};
  terminator->setOperands(results);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), TypeRange(ValueRange(results))));
  function.setResultAttr(0, kLossAttr, builder.getUnitAttr());
  for (auto [result, state] : {std::pair(1u, statistic), std::pair(2u, step)})
    function.setResultAttr(
        result, kAliasesArgumentAttr,
        builder.getI64IntegerAttr(
            cast<BlockArgument>(state).getArgNumber()));
}

OwningOpRef<ModuleOp>
mlir::echo::testing::buildRandomGraph(MLIRContext &context, uint64_t seed,
                                      bool hasStates) {
  return RandomGraph(context, seed, hasStates).build();
}

static bool computes(Operation *op) {
  return !op->hasTrait<OpTrait::ConstantLike>() &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

unsigned mlir::echo::testing::countOps(ModuleOp module) {
  func::FuncOp function = mlir::echo::testing::firstFunction(module);
  return llvm::count_if(function.front(), [](Operation &op) {
    return computes(&op);
  });
}

namespace {

class Shrinker {
public:
  Shrinker(ModuleOp module, llvm::function_ref<bool(ModuleOp)> fails,
           unsigned maxTries)
      : best(module.clone()), fails(fails), tries(maxTries) {}

  OwningOpRef<ModuleOp> run() {
    bool changed = true;
    while (changed) {
      changed = dropResults();
      // From the end: what only a dropped op needs goes with it.
      for (unsigned index = countOps(); index-- > 0;)
        changed |= index < countOps() && dropOp(index);
    }
    return std::move(best);
  }

private:
  unsigned countOps() { return mlir::echo::testing::countOps(*best); }

  bool dropResults() {
    bool changed = false;
    unsigned numResults =
        mlir::echo::testing::firstFunction(*best).getNumResults();
    for (unsigned index = numResults; index-- > 1;)
      changed |= accept([&](func::FuncOp function) {
        function.front().getTerminator()->eraseOperand(index);
        return succeeded(function.eraseResult(index));
      });
    return changed;
  }

  /// Tries a constant in place of an op, and each of its operands.
  bool dropOp(unsigned index) {
    if (accept([&](func::FuncOp function) {
          Operation *op = findOp(function, index);
          OpBuilder builder(op);
          TensorBuilder b(builder, op->getLoc());
          for (Value result : op->getResults())
            result.replaceAllUsesWith(b.splat(b.typeOf(result), 0.5));
          op->erase();
          return true;
        }))
      return true;
    Operation *op = findOp(mlir::echo::testing::firstFunction(*best), index);
    for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
      if (op->getNumResults() == 1 &&
          op->getOperand(operand).getType() == op->getResult(0).getType() &&
          accept([&](func::FuncOp function) {
            Operation *dropped = findOp(function, index);
            dropped->replaceAllUsesWith(
                ValueRange(dropped->getOperand(operand)));
            dropped->erase();
            return true;
          }))
        return true;
    return false;
  }

  static Operation *findOp(func::FuncOp function, unsigned index) {
    for (Operation &op : function.front())
      if (computes(&op) && index-- == 0)
        return &op;
    return nullptr;
  }

  /// Dead ends go, unless they are what fails.
  bool accept(llvm::function_ref<bool(func::FuncOp)> change) {
    return tryChange(change, /*keepsDeadEnds=*/false) ||
           tryChange(change, /*keepsDeadEnds=*/true);
  }

  bool tryChange(llvm::function_ref<bool(func::FuncOp)> change,
                 bool keepsDeadEnds) {
    if (tries == 0)
      return false;
    OwningOpRef<ModuleOp> candidate = best->clone();
    func::FuncOp function = mlir::echo::testing::firstFunction(*candidate);
    llvm::DenseSet<Operation *> deadEnds;
    for (Operation &op : function.front())
      if (keepsDeadEnds && isOpTriviallyDead(&op))
        deadEnds.insert(&op);
    if (!change(function))
      return false;
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.front())))
      if (isOpTriviallyDead(&op) && !deadEnds.contains(&op))
        op.erase();
    ScopedDiagnosticHandler quiet(candidate->getContext(),
                                  [](Diagnostic &) { return success(); });
    if (failed(verify(*candidate)))
      return false;
    --tries;
    if (!fails(*candidate))
      return false;
    best = std::move(candidate);
    return true;
  }

  OwningOpRef<ModuleOp> best;
  llvm::function_ref<bool(ModuleOp)> fails;
  unsigned tries;
};

} // namespace

OwningOpRef<ModuleOp>
mlir::echo::testing::shrinkGraph(ModuleOp module,
                                 llvm::function_ref<bool(ModuleOp)> fails,
                                 unsigned maxTries) {
  return Shrinker(module, fails, maxTries).run();
}

uint64_t mlir::echo::testing::checkRandomGraphs(
    MLIRContext &context, uint64_t count,
    llvm::function_ref<std::string(ModuleOp, uint64_t seed)> check,
    unsigned maxTries) {
  uint64_t first = 1;
  if (const char *seed = std::getenv("ECHO_FUZZ_SEED"))
    first = count = std::strtoull(seed, nullptr, 10);
  else if (const char *graphs = std::getenv("ECHO_FUZZ_GRAPHS"))
    count = std::strtoull(graphs, nullptr, 10);
  for (uint64_t seed = first; seed <= count; ++seed) {
    OwningOpRef<ModuleOp> module =
        buildRandomGraph(context, seed, /*hasStates=*/true);
    std::string fault = check(*module, seed);
    if (fault.empty())
      continue;
    OwningOpRef<ModuleOp> small = shrinkGraph(
        *module,
        [&](ModuleOp candidate) { return !check(candidate, seed).empty(); },
        maxTries);
    std::string text;
    llvm::raw_string_ostream(text) << "ECHO_FUZZ_SEED=" << seed << ": " << fault
                                   << "\n" << *module << "\nshrunk: "
                                   << check(*small, seed) << "\n" << *small;
    ADD_FAILURE() << text;
    break;
  }
  return count - first + 1;
}

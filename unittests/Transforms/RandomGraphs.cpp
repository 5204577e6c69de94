//===- RandomGraphs.cpp - Random forward graphs ---------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomGraphs.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/TensorBuilder.h"
#include "GraphTesting.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Traits.h"
#include <random>

using namespace mlir;
using namespace mlir::echo;

namespace {

class RandomGraph {
public:
  RandomGraph(MLIRContext &context, uint64_t seed)
      : rng(seed), builder(&context), b(builder, builder.getUnknownLoc()) {}

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

  std::mt19937_64 rng;
  OpBuilder builder;
  TensorBuilder b;
  SmallVector<Value> values;
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
  Value seed = constant(7), step = constant(3), offset = constant(below(1000));
  return DropoutOp::create(builder, b.getLoc(),
                           TypeRange{type, type.clone(builder.getI1Type())}, x,
                           seed, step, offset, builder.getF64FloatAttr(0.25))
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
  function.setFunctionType(
      builder.getFunctionType(types, TypeRange(ValueRange(results))));
  func::ReturnOp::create(builder, b.getLoc(), results);
  testing::addWeightedLoss(function);
  return module;
}

OwningOpRef<ModuleOp>
mlir::echo::testing::buildRandomGraph(MLIRContext &context, uint64_t seed) {
  return RandomGraph(context, seed).build();
}

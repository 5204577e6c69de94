//===- ConvertGraphToLinalg.cpp - Graphs for other compilers --------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph as a compiler sees it that knows nothing of Echo: what its kernels
// would hold is in linalg on tensors already (ConvertEchoToLinalg.cpp). Here is
// the rest, what a host program calls a library for.
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/Kernels.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/Shapes.h"
#include "LinalgBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::echo {
#define GEN_PASS_DEF_CONVERTECHOGRAPHTOLINALGPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Value zeros(OpBuilder &b, Location loc, RankedTensorType type) {
  return filledTensor(b, loc, type, b.getZeroAttr(type.getElementType()));
}

/// `op` of Echo, made for the sake of its lowering.
static FailureOr<Value> lowered(OpBuilder &b, Operation *op) {
  b.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> values = lowerToLinalg(b, op);
  if (failed(values))
    return failure();
  b.setInsertionPointAfter(op);
  op->erase();
  return values->front();
}

static FailureOr<Value> convert(OpBuilder &b, Location loc, Value value,
                                Type element) {
  if (typeOf(value).getElementType() == element)
    return value;
  return lowered(b,
                 ConvertOp::create(b, loc, typeOf(value).clone(element), value));
}

/// `value` without its leading dimensions of size 1 that `batch` has another
/// size for, and the batch dimensions that are left.
static FailureOr<Value> dropBroadcast(OpBuilder &b, Location loc, Value value,
                                      ArrayRef<int64_t> batch,
                                      SmallVectorImpl<unsigned> &dims) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  size_t rank = shape.size() - 2, skipped = batch.size() - rank;
  SmallVector<int64_t> kept;
  for (size_t dim = 0; dim < rank; ++dim) {
    if (shape[dim] != batch[skipped + dim])
      continue;
    dims.push_back(skipped + dim);
    kept.push_back(shape[dim]);
  }
  if (kept.size() == rank)
    return value;
  llvm::append_range(kept, shape.take_back(2));
  return lowered(b,
                 ReshapeOp::create(b, loc, typeOf(value).clone(kept), value));
}

/// op(lhs) op(rhs), added up from zero, in the element type of `type`.
static FailureOr<Value> product(OpBuilder &b, Location loc,
                                RankedTensorType type, Value lhs, Value rhs,
                                bool transposeLhs, bool transposeRhs) {
  // Iterations: batch, rows, columns, contracted.
  unsigned rank = type.getRank(), depth = rank;
  Type element = getAccumulatorType(type.getElementType());
  SmallVector<unsigned> lhsDims, rhsDims;
  FailureOr<Value> left = dropBroadcast(
      b, loc, lhs, type.getShape().drop_back(2), lhsDims);
  FailureOr<Value> right = dropBroadcast(
      b, loc, rhs, type.getShape().drop_back(2), rhsDims);
  if (failed(left) || failed(right))
    return failure();
  lhsDims.push_back(transposeLhs ? depth : rank - 2);
  lhsDims.push_back(transposeLhs ? rank - 2 : depth);
  rhsDims.push_back(transposeRhs ? rank - 1 : depth);
  rhsDims.push_back(transposeRhs ? depth : rank - 1);
  auto map = [&](ArrayRef<unsigned> dims) {
    return AffineMap::getMultiDimMapWithTargets(rank + 1, dims, b.getContext());
  };
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  RankedTensorType wide = type.clone(element);
  Value init = zeros(b, loc, wide);
  auto widen = [&](OpBuilder &b, Location loc, Value value) -> Value {
    if (value.getType() == element)
      return value;
    return arith::ExtFOp::create(b, loc, element, value);
  };
  Value sum =
      linalg::GenericOp::create(
          b, loc, TypeRange(wide), ValueRange{*left, *right}, ValueRange(init),
          ArrayRef<AffineMap>{
              map(lhsDims), map(rhsDims),
              map(llvm::to_vector(llvm::seq<unsigned>(rank)))},
          iterators,
          [&](OpBuilder &b, Location loc, ValueRange args) {
            Value term = arith::MulFOp::create(b, loc, widen(b, loc, args[0]),
                                               widen(b, loc, args[1]));
            Value next = arith::AddFOp::create(b, loc, args[2], term);
            linalg::YieldOp::create(b, loc, next);
          })
          .getResult(0);
  return sum;
}

/// A sum in the accumulators' type, rounded at the end.
static FailureOr<Value> addTo(OpBuilder &b, Location loc, Value sum,
                              Value addend, Type element) {
  FailureOr<Value> wide =
      convert(b, loc, addend, typeOf(sum).getElementType());
  if (failed(wide))
    return failure();
  FailureOr<Value> result =
      lowered(b, AddOp::create(b, loc, sum.getType(), sum, *wide));
  if (failed(result))
    return failure();
  return convert(b, loc, *result, element);
}

/// The product of matmul or matmul_add, plus what it is added to.
template <typename Op>
static FailureOr<Value> lowerMatmul(OpBuilder &b, Op op,
                                    Value accumulator = {}) {
  RankedTensorType type = typeOf(op.getResult());
  FailureOr<Value> sum =
      product(b, op.getLoc(), type, op.getLhs(), op.getRhs(),
              op.getTransposeLhs(), op.getTransposeRhs());
  if (failed(sum))
    return failure();
  if (accumulator)
    return addTo(b, op.getLoc(), *sum, accumulator, type.getElementType());
  return convert(b, op.getLoc(), *sum, type.getElementType());
}

static FailureOr<Value> lowerLinear(OpBuilder &b, LinearOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getResult());
  RankedTensorType input = typeOf(op.getInput());
  int64_t columns = input.getShape().back();
  int64_t rows = 1;
  for (int64_t size : input.getShape().drop_back())
    rows *= size;
  FailureOr<Value> flat = lowered(
      b, ReshapeOp::create(b, loc, input.clone({rows, columns}), op.getInput()));
  if (failed(flat))
    return failure();
  FailureOr<Value> sum =
      product(b, loc, type.clone({rows, type.getShape().back()}), *flat,
              op.getWeight(), /*transposeLhs=*/false, /*transposeRhs=*/true);
  if (succeeded(sum))
    sum = op.getBias() ? addTo(b, loc, *sum, op.getBias(), type.getElementType())
                       : convert(b, loc, *sum, type.getElementType());
  if (failed(sum))
    return failure();
  return lowered(b, ReshapeOp::create(b, loc, type, *sum));
}

/// A loop over the positions, in order; each adds its row to the table's.
static FailureOr<Value> lowerEmbeddingGrad(OpBuilder &b, EmbeddingGradOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getResult());
  Type element = getAccumulatorType(type.getElementType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  RankedTensorType indexType = typeOf(op.getIndices());
  int64_t positions = indexType.getNumElements();
  FailureOr<Value> table = zeros(b, loc, type.clone(element));
  if (rows == 0 || positions == 0)
    return convert(b, loc, *table, type.getElementType());
  FailureOr<Value> indices = lowered(
      b, ReshapeOp::create(b, loc, indexType.clone({positions}),
                           op.getIndices()));
  FailureOr<Value> gradient = lowered(
      b, ReshapeOp::create(b, loc, type.clone({positions, columns}),
                           op.getGradient()));
  if (succeeded(gradient))
    gradient = convert(b, loc, *gradient, element);
  if (failed(indices) || failed(gradient))
    return failure();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value count = arith::ConstantIndexOp::create(b, loc, positions);
  Value size = arith::ConstantIndexOp::create(b, loc, rows);
  bool isLowered = true;
  auto loop = scf::ForOp::create(
      b, loc, zero, count, one, *table,
      [&](OpBuilder &b, Location loc, Value position, ValueRange carried) {
        Value index = tensor::ExtractOp::create(b, loc, *indices, position);
        index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
        // Negative indices are large unsigned ones.
        Value inside = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::ult, index, size);
        Value row = arith::SelectOp::create(b, loc, inside, index, zero);
        auto rowAt = [&](Value at) -> SmallVector<Range> {
          OpFoldResult one = b.getIndexAttr(1);
          return {{at, one, one},
                  {b.getIndexAttr(0), b.getIndexAttr(columns), one}};
        };
        Value old =
            tensor::ExtractSliceOp::create(b, loc, carried[0], rowAt(row));
        Value addend =
            tensor::ExtractSliceOp::create(b, loc, *gradient, rowAt(position));
        FailureOr<Value> sum =
            lowered(b, AddOp::create(b, loc, old.getType(), old, addend));
        isLowered = succeeded(sum);
        if (!isLowered)
          return;
        Value next = arith::SelectOp::create(b, loc, inside, *sum, old);
        next = tensor::InsertSliceOp::create(b, loc, next, carried[0],
                                             rowAt(row));
        scf::YieldOp::create(b, loc, next);
      });
  if (!isLowered)
    return failure();
  return convert(b, loc, loop.getResult(0), type.getElementType());
}

static FailureOr<SmallVector<Value>> lower(OpBuilder &b, Operation *op) {
  auto one = [](FailureOr<Value> value) -> FailureOr<SmallVector<Value>> {
    if (failed(value))
      return failure();
    return SmallVector<Value>{*value};
  };
  return TypeSwitch<Operation *, FailureOr<SmallVector<Value>>>(op)
      .Case([&](MatmulOp op) { return one(lowerMatmul(b, op)); })
      .Case([&](MatmulAddOp op) {
        return one(lowerMatmul(b, op, op.getAccumulator()));
      })
      .Case([&](LinearOp op) { return one(lowerLinear(b, op)); })
      .Case([&](EmbeddingGradOp op) { return one(lowerEmbeddingGrad(b, op)); })
      .Default([&](Operation *op) { return lowerToLinalg(b, op); });
}

LogicalResult mlir::echo::convertGraphToLinalg(func::FuncOp function) {
  SmallVector<Operation *> ops;
  auto collect = [&](auto select) {
    ops.clear();
    function.walk([&](Operation *op) {
      if (select(op))
        ops.push_back(op);
    });
  };
  auto replaceAll = [&](auto build) -> LogicalResult {
    for (Operation *op : ops) {
      OpBuilder builder(op);
      FailureOr<SmallVector<Value>> values = build(builder, op);
      if (failed(values))
        return failure();
      op->replaceAllUsesWith(*values);
      op->erase();
    }
    return success();
  };
  collect([](Operation *op) { return isa<DecomposeOpInterface>(op); });
  if (failed(replaceAll([](OpBuilder &b, Operation *op) {
        return cast<DecomposeOpInterface>(op).decompose(b);
      })))
    return failure();
  collect([](Operation *op) {
    return isa_and_nonnull<EchoDialect>(op->getDialect()) ||
           isa<ElementwiseOpInterface>(op);
  });
  return replaceAll(lower);
}

namespace {

struct ConvertEchoGraphToLinalgPass
    : public echo::impl::ConvertEchoGraphToLinalgPassBase<
          ConvertEchoGraphToLinalgPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(convertGraphToLinalg(getOperation())))
      signalPassFailure();
  }
};

} // namespace

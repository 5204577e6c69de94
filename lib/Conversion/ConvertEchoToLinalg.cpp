//===- ConvertEchoToLinalg.cpp - Kernels as linalg on tensors -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/Kernels.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/Shapes.h"
#include "Echo/Numerics/ArithAlgebra.h"
#include "Echo/Numerics/Philox.h"
#include "LinalgBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::echo {
#define GEN_PASS_DEF_CONVERTECHOTOLINALGPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

using Body = function_ref<void(OpBuilder &, Location, ValueRange)>;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Value emptyTensor(OpBuilder &b, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(b, loc, type.getShape(),
                                 type.getElementType());
}

/// A linalg.generic over the results' shape: `maps` lead from there to each
/// input.
static SmallVector<Value>
parallel(OpBuilder &b, Location loc, ArrayRef<RankedTensorType> results,
         ValueRange inputs, SmallVector<AffineMap> maps, Body body) {
  int64_t rank = results.front().getRank();
  SmallVector<Value> outputs;
  SmallVector<Type> types;
  for (RankedTensorType type : results) {
    outputs.push_back(emptyTensor(b, loc, type));
    types.push_back(type);
    maps.push_back(b.getMultiDimIdentityMap(rank));
  }
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(b, loc, types, inputs, outputs,
                                           maps, iterators, body);
  return llvm::to_vector_of<Value>(generic.getResults());
}

/// The map of NumPy's broadcasting from `type`'s index to an operand's.
static AffineMap broadcastMap(OpBuilder &b, RankedTensorType operand,
                              RankedTensorType type) {
  int64_t shift = type.getRank() - operand.getRank();
  SmallVector<AffineExpr> exprs;
  for (auto [dim, size] : llvm::enumerate(operand.getShape()))
    exprs.push_back(size == 1 ? b.getAffineConstantExpr(0)
                              : b.getAffineDimExpr(shift + dim));
  return AffineMap::get(type.getRank(), 0, exprs, b.getContext());
}

/// Moves elements: the result at an index is the operand at `map` of it.
static Value moveElements(OpBuilder &b, Location loc, RankedTensorType type,
                          Value operand, AffineMap map) {
  return parallel(b, loc, type, operand, {map},
                  [](OpBuilder &b, Location loc, ValueRange args) {
                    linalg::YieldOp::create(b, loc, args[0]);
                  })
      .front();
}

static SmallVector<Value> lowerElementwise(OpBuilder &b,
                                           ElementwiseOpInterface op) {
  RankedTensorType type = typeOf(op->getResult(0));
  SmallVector<AffineMap> maps;
  for (Value operand : op->getOperands())
    maps.push_back(broadcastMap(b, typeOf(operand), type));
  return parallel(b, op.getLoc(), type, op->getOperands(), maps,
                  [&](OpBuilder &b, Location loc, ValueRange args) {
                    Value result =
                        op.emitScalar(b, loc, args.drop_back());
                    linalg::YieldOp::create(b, loc, result);
                  });
}

/// Converts the element type as echo.convert does.
static Value convert(OpBuilder &b, Location loc, Value value, Type element) {
  if (typeOf(value).getElementType() == element)
    return value;
  auto op = ConvertOp::create(b, loc, typeOf(value).clone(element), value);
  b.setInsertionPoint(op);
  Value result = lowerElementwise(b, op).front();
  b.setInsertionPointAfter(op);
  op.erase();
  return result;
}

static Type accumulatorType(Type element) {
  return element.isF16() || element.isBF16()
             ? Type(Float32Type::get(element.getContext()))
             : element;
}

/// The value that a reduction of nothing has.
static TypedAttr identityOf(OpBuilder &b, ReduceKind kind, Type element) {
  bool least = kind == ReduceKind::Max, greatest = kind == ReduceKind::Min;
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    return FloatAttr::get(type, least || greatest
                                    ? APFloat::getInf(semantics, least)
                                    : APFloat::getZero(semantics));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  return b.getIntegerAttr(element,
                          least      ? APInt::getSignedMinValue(width)
                          : greatest ? APInt::getSignedMaxValue(width)
                                     : APInt::getZero(width));
}

static Value combine(OpBuilder &b, Location loc, ReduceKind kind, Value value,
                     Value accumulator) {
  bool isFloat = isa<FloatType>(value.getType());
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    if (isFloat)
      return arith::AddFOp::create(b, loc, accumulator, value);
    return arith::AddIOp::create(b, loc, accumulator, value);
  case ReduceKind::Max:
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, accumulator, value);
    return arith::MaxSIOp::create(b, loc, accumulator, value);
  case ReduceKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, accumulator, value);
    return arith::MinSIOp::create(b, loc, accumulator, value);
  }
  return {};
}

Value mlir::echo::filledTensor(OpBuilder &b, Location loc,
                               RankedTensorType type, TypedAttr value) {
  Value scalar = arith::ConstantOp::create(b, loc, value);
  return linalg::FillOp::create(b, loc, scalar, emptyTensor(b, loc, type))
      .getResult(0);
}

static Value reshape(OpBuilder &b, Location loc, Value value,
                     RankedTensorType type) {
  RankedTensorType from = typeOf(value);
  if (from == type)
    return value;
  if (from.getRank() != type.getRank())
    if (auto reassociation = getReassociationIndicesForReshape(from, type)) {
      if (from.getRank() > type.getRank())
        return tensor::CollapseShapeOp::create(b, loc, type, value,
                                               *reassociation);
      return tensor::ExpandShapeOp::create(b, loc, type, value,
                                           *reassociation);
    }
  // Through one dimension.
  auto flat = RankedTensorType::get({from.getNumElements()},
                                    from.getElementType());
  auto all = [](int64_t rank) {
    SmallVector<ReassociationIndices> reassociation;
    if (rank != 0)
      reassociation.emplace_back(llvm::to_vector<2>(llvm::seq<int64_t>(rank)));
    return reassociation;
  };
  if (from.getRank() > 1)
    value = tensor::CollapseShapeOp::create(b, loc, flat, value,
                                            all(from.getRank()));
  else if (from.getRank() == 0)
    value = tensor::ExpandShapeOp::create(b, loc, flat, value, all(0));
  if (type.getRank() > 1)
    return tensor::ExpandShapeOp::create(b, loc, type, value,
                                         all(type.getRank()));
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, loc, type, value, all(0));
  return value;
}

static Value flatten(OpBuilder &b, Location loc, Value value) {
  RankedTensorType type = typeOf(value);
  return reshape(b, loc, value,
                 RankedTensorType::get({type.getNumElements()},
                                       type.getElementType()));
}

/// Reduces dimensions [first, last] of `value`: one linalg.generic, whose
/// order of evaluation is that of ReductionTree.h.
static Value reduceGroup(OpBuilder &b, Location loc, Value value,
                         ReduceKind kind, int64_t first, int64_t last) {
  RankedTensorType type = typeOf(value);
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> kept;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool reduced = first <= dim && dim <= last;
    iterators.push_back(reduced ? utils::IteratorType::reduction
                                : utils::IteratorType::parallel);
    if (reduced)
      continue;
    shape.push_back(type.getDimSize(dim));
    kept.push_back(b.getAffineDimExpr(dim));
  }
  RankedTensorType result = type.clone(shape);
  Value init =
      filledTensor(b, loc, result, identityOf(b, kind, type.getElementType()));
  return linalg::GenericOp::create(
             b, loc, TypeRange(result), ValueRange(value), ValueRange(init),
             ArrayRef<AffineMap>{
                 b.getMultiDimIdentityMap(type.getRank()),
                 AffineMap::get(type.getRank(), 0, kept, b.getContext())},
             iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(
                   b, loc, combine(b, loc, kind, args[0], args[1]));
             })
      .getResult(0);
}

static SmallVector<Value> lowerReduce(OpBuilder &b, ReduceOp op) {
  Location loc = op.getLoc();
  Type element = typeOf(op.getOperand()).getElementType();
  Type accumulator = accumulatorType(element);
  Value value = convert(b, loc, op.getOperand(), accumulator);
  int64_t count = 1;
  ArrayRef<int64_t> dims = op.getDims();
  for (size_t end = dims.size(); end > 0;) {
    size_t begin = end - 1;
    // The last dimensions together, others one by one.
    bool isRow = llvm::all_of(
        typeOf(value).getShape().drop_front(dims[begin] + 1),
        [](int64_t size) { return size == 1; });
    while (isRow && begin > 0 && dims[begin - 1] + 1 == dims[begin])
      --begin;
    for (int64_t dim : dims.slice(begin, end - begin))
      count *= typeOf(value).getDimSize(dim);
    value = reduceGroup(b, loc, value, op.getKind(), dims[begin],
                        dims[end - 1]);
    end = begin;
  }
  if (op.getKind() == ReduceKind::Mean)
    value = parallel(b, loc, typeOf(value), value,
                     {b.getMultiDimIdentityMap(typeOf(value).getRank())},
                     [&](OpBuilder &b, Location loc, ValueRange args) {
                       Value divisor = arith::ConstantOp::create(
                           b, loc, b.getFloatAttr(accumulator, count));
                       Value mean =
                           arith::DivFOp::create(b, loc, args[0], divisor);
                       linalg::YieldOp::create(b, loc, mean);
                     })
                .front();
  value = convert(b, loc, value, element);
  return {reshape(b, loc, value, typeOf(op.getResult()))};
}

static SmallVector<Value> lowerArgmax(OpBuilder &b, ArgmaxOp op) {
  Location loc = op.getLoc();
  // In f32 the order of f16 and bf16 is the same.
  Value operand =
      convert(b, loc, op.getOperand(),
              accumulatorType(typeOf(op.getOperand()).getElementType()));
  RankedTensorType type = typeOf(operand);
  Type element = type.getElementType();
  int64_t axis = op.getAxis();
  RankedTensorType indices = typeOf(op.getResult());
  RankedTensorType values = indices.clone(element);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  SmallVector<AffineExpr> kept;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != axis)
      kept.push_back(b.getAffineDimExpr(dim));
  AffineMap map = AffineMap::get(type.getRank(), 0, kept, b.getContext());
  SmallVector<Value> inits = {
      filledTensor(b, loc, values, identityOf(b, ReduceKind::Max, element)),
      filledTensor(b, loc, indices, b.getI32IntegerAttr(0))};
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{values, indices}, ValueRange(operand), inits,
      ArrayRef<AffineMap>{b.getMultiDimIdentityMap(type.getRank()), map, map},
      iterators, [&](OpBuilder &b, Location loc, ValueRange args) {
        Value value = args[0], best = args[1], bestIndex = args[2];
        Value index = arith::IndexCastOp::create(
            b, loc, b.getI32Type(), linalg::IndexOp::create(b, loc, axis));
        Value better;
        if (isa<FloatType>(element)) {
          auto compare = [&](arith::CmpFPredicate predicate, Value lhs,
                             Value rhs) -> Value {
            return arith::CmpFOp::create(b, loc, predicate, lhs, rhs);
          };
          Value firstNaN = arith::AndIOp::create(
              b, loc, compare(arith::CmpFPredicate::UNO, value, value),
              compare(arith::CmpFPredicate::ORD, best, best));
          better = arith::OrIOp::create(
              b, loc, compare(arith::CmpFPredicate::OGT, value, best),
              firstNaN);
        } else {
          auto predicate = element.isInteger(1) ? arith::CmpIPredicate::ugt
                                                : arith::CmpIPredicate::sgt;
          better = arith::CmpIOp::create(b, loc, predicate, value, best);
        }
        value = arith::SelectOp::create(b, loc, better, value, best);
        index = arith::SelectOp::create(b, loc, better, index, bestIndex);
        linalg::YieldOp::create(b, loc, ValueRange{value, index});
      });
  return {generic.getResult(1)};
}

static SmallVector<Value> lowerIota(OpBuilder &b, IotaOp op) {
  RankedTensorType type = typeOf(op.getResult());
  Type element = type.getElementType();
  return parallel(
      b, op.getLoc(), type, ValueRange(), {},
      [&](OpBuilder &b, Location loc, ValueRange) {
        Value index = linalg::IndexOp::create(b, loc, op.getDimension());
        Value value;
        if (isa<FloatType>(element)) {
          value = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
          value = arith::SIToFPOp::create(b, loc, accumulatorType(element),
                                          value);
          if (value.getType() != element)
            value = arith::TruncFOp::create(b, loc, element, value);
        } else {
          value = arith::IndexCastOp::create(b, loc, element, index);
        }
        linalg::YieldOp::create(b, loc, value);
      });
}

static SmallVector<Value> lowerTranspose(OpBuilder &b, TransposeOp op) {
  RankedTensorType type = typeOf(op.getResult());
  SmallVector<AffineExpr> exprs(type.getRank());
  for (auto [dim, source] : llvm::enumerate(op.getPermutation()))
    exprs[source] = b.getAffineDimExpr(dim);
  return {moveElements(
      b, op.getLoc(), type, op.getOperand(),
      AffineMap::get(type.getRank(), 0, exprs, b.getContext()))};
}

static SmallVector<Value> lowerReverse(OpBuilder &b, ReverseOp op) {
  RankedTensorType type = typeOf(op.getResult());
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    AffineExpr expr = b.getAffineDimExpr(dim);
    bool reversed = llvm::is_contained(op.getAxes(), dim);
    exprs.push_back(reversed && type.getDimSize(dim) > 0
                        ? type.getDimSize(dim) - 1 - expr
                        : expr);
  }
  return {moveElements(
      b, op.getLoc(), type, op.getOperand(),
      AffineMap::get(type.getRank(), 0, exprs, b.getContext()))};
}

static Value slice(OpBuilder &b, Location loc, Value operand,
                   ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                   ArrayRef<int64_t> strides) {
  RankedTensorType type = typeOf(operand).clone(sizes);
  // No offset is inside a dimension of no elements.
  if (type.getNumElements() == 0)
    return filledTensor(b, loc, type, b.getZeroAttr(type.getElementType()));
  return tensor::ExtractSliceOp::create(
      b, loc, type, operand, ValueRange(),
      ValueRange(), ValueRange(), offsets, sizes, strides);
}

static SmallVector<Value> lowerSplit(OpBuilder &b, SplitOp op) {
  SmallVector<Value> parts;
  int64_t rank = typeOf(op.getOperand()).getRank();
  SmallVector<int64_t> offsets(rank, 0), strides(rank, 1);
  for (Value part : op.getParts()) {
    ArrayRef<int64_t> sizes = typeOf(part).getShape();
    parts.push_back(
        slice(b, op.getLoc(), op.getOperand(), offsets, sizes, strides));
    offsets[op.getAxis()] += sizes[op.getAxis()];
  }
  return parts;
}

static SmallVector<Value> lowerPad(OpBuilder &b, PadOp op) {
  Location loc = op.getLoc();
  Value value = tensor::ExtractOp::create(b, loc, op.getValue(), ValueRange());
  SmallVector<OpFoldResult> low, high;
  for (auto [before, after] : llvm::zip_equal(op.getLow(), op.getHigh())) {
    low.push_back(b.getIndexAttr(before));
    high.push_back(b.getIndexAttr(after));
  }
  return {tensor::PadOp::create(b, loc, op.getResult().getType(),
                                op.getOperand(), low, high, value)
              .getResult()};
}

static SmallVector<Value> lowerEmbedding(OpBuilder &b, EmbeddingOp op) {
  RankedTensorType type = typeOf(op.getResult());
  RankedTensorType table = typeOf(op.getTable());
  int64_t column = type.getRank() - 1, rows = table.getDimSize(0);
  TypedAttr zero = b.getZeroAttr(type.getElementType());
  if (rows == 0)
    return {filledTensor(b, op.getLoc(), type, zero)};
  AffineMap map = b.getMultiDimIdentityMap(type.getRank()).dropResult(column);
  return parallel(
      b, op.getLoc(), type, op.getIndices(), {map},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value index =
            arith::IndexCastOp::create(b, loc, b.getIndexType(), args[0]);
        // Negative indices are large unsigned ones.
        Value size = arith::ConstantIndexOp::create(b, loc, rows);
        Value inside = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::ult, index, size);
        Value row = arith::SelectOp::create(
            b, loc, inside, index, arith::ConstantIndexOp::create(b, loc, 0));
        Value element = tensor::ExtractOp::create(
            b, loc, op.getTable(),
            ValueRange{row, linalg::IndexOp::create(b, loc, column)});
        Value result = arith::SelectOp::create(
            b, loc, inside, element, arith::ConstantOp::create(b, loc, zero));
        linalg::YieldOp::create(b, loc, result);
      });
}

/// `value > 0`, or `value` itself if that is a flag.
static Value isPositive(OpBuilder &b, Location loc, Value value) {
  Type type = value.getType();
  if (type.isInteger(1))
    return value;
  if (Type wide = accumulatorType(type); wide != type) {
    value = arith::ExtFOp::create(b, loc, wide, value);
    type = wide;
  }
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  if (isa<FloatType>(type))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, value,
                                 zero);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, value, zero);
}

/// True if a row of `flags` is a row of whole words.
static bool hasRowsOfWords(RankedTensorType flags, RankedTensorType words) {
  ArrayRef<int64_t> shape = flags.getShape();
  return !shape.empty() && shape.back() % BinarizeOp::kWordBits == 0 &&
         words.getShape() ==
             ArrayRef(withLastDim(shape, shape.back() / BinarizeOp::kWordBits));
}

/// The row-major index of an element of `shape` in a linalg.generic over it.
static Value rowMajorIndex(OpBuilder &b, Location loc,
                           ArrayRef<int64_t> shape) {
  Value index = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [dim, size] : llvm::enumerate(shape)) {
    Value factor = arith::ConstantIndexOp::create(b, loc, size);
    index = arith::AddIOp::create(b, loc,
                                  arith::MulIOp::create(b, loc, index, factor),
                                  linalg::IndexOp::create(b, loc, dim));
  }
  return index;
}

static Value wordConstant(OpBuilder &b, Location loc, int32_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}

/// Each flag at its place in a word, and the sums of those that share one.
static SmallVector<Value> lowerBinarize(OpBuilder &b, BinarizeOp op) {
  constexpr int64_t bits = BinarizeOp::kWordBits;
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getWords());
  Value operand = op.getOperand();
  int64_t count = typeOf(operand).getNumElements();
  if (count == 0)
    return {filledTensor(b, loc, type, b.getI32IntegerAttr(0))};
  SmallVector<int64_t> shape(type.getShape());
  if (!hasRowsOfWords(typeOf(operand), type)) {
    operand = flatten(b, loc, operand);
    shape = {type.getNumElements()};
  }
  shape.push_back(bits);
  int64_t bitDim = shape.size() - 1, wordDim = bitDim - 1;
  auto place = [&](OpBuilder &b, Location loc, Value flag) {
    Value bit = arith::IndexCastOp::create(
        b, loc, b.getI32Type(), linalg::IndexOp::create(b, loc, bitDim));
    Value mask =
        arith::ShLIOp::create(b, loc, wordConstant(b, loc, 1), bit);
    Value word = arith::SelectOp::create(b, loc, flag, mask,
                                         wordConstant(b, loc, 0));
    linalg::YieldOp::create(b, loc, word);
  };
  Value placed;
  auto placedType = RankedTensorType::get(shape, b.getI32Type());
  if (count % bits == 0) {
    SmallVector<AffineExpr> exprs;
    for (int64_t dim = 0; dim < wordDim; ++dim)
      exprs.push_back(b.getAffineDimExpr(dim));
    exprs.push_back(b.getAffineDimExpr(wordDim) * bits +
                    b.getAffineDimExpr(bitDim));
    AffineMap map = AffineMap::get(shape.size(), 0, exprs, b.getContext());
    placed = parallel(b, loc, placedType, operand, {map},
                      [&](OpBuilder &b, Location loc, ValueRange args) {
                        place(b, loc, isPositive(b, loc, args[0]));
                      })
                 .front();
  } else {
    // The last word has bits without an element.
    placed = parallel(
                 b, loc, placedType, ValueRange(), {},
                 [&](OpBuilder &b, Location loc, ValueRange) {
                   Value index = rowMajorIndex(b, loc, shape);
                   Value inside = arith::CmpIOp::create(
                       b, loc, arith::CmpIPredicate::ult, index,
                       arith::ConstantIndexOp::create(b, loc, count));
                   index = arith::SelectOp::create(
                       b, loc, inside, index,
                       arith::ConstantIndexOp::create(b, loc, 0));
                   Value element =
                       tensor::ExtractOp::create(b, loc, operand, index);
                   place(b, loc,
                         arith::AndIOp::create(b, loc, inside,
                                               isPositive(b, loc, element)));
                 })
                 .front();
  }
  Value words = reduceGroup(b, loc, placed, ReduceKind::Sum, bitDim, bitDim);
  return {reshape(b, loc, words, type)};
}

static SmallVector<Value> lowerDebinarize(OpBuilder &b, DebinarizeOp op) {
  constexpr int64_t bits = BinarizeOp::kWordBits;
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getResult());
  ArrayRef<int64_t> shape = type.getShape();
  if (type.getNumElements() == 0)
    return {filledTensor(b, loc, type, b.getBoolAttr(false))};
  Value words = op.getWords();
  bool hasRows = hasRowsOfWords(type, typeOf(words));
  SmallVector<AffineExpr> exprs;
  if (hasRows) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      exprs.push_back(b.getAffineDimExpr(dim));
    // Where a row is a word, loops over rows know it.
    exprs.back() = shape.back() <= bits ? b.getAffineConstantExpr(0)
                                        : exprs.back().floorDiv(bits);
  } else {
    words = flatten(b, loc, words);
    AffineExpr index = b.getAffineConstantExpr(0);
    for (auto [dim, size] : llvm::enumerate(shape))
      index = index * size + b.getAffineDimExpr(dim);
    exprs.push_back(index.floorDiv(bits));
  }
  return parallel(
      b, loc, type, words,
      {AffineMap::get(type.getRank(), 0, exprs, b.getContext())},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value index = hasRows
                          ? Value(linalg::IndexOp::create(b, loc,
                                                          shape.size() - 1))
                          : rowMajorIndex(b, loc, shape);
        Value bit = arith::AndIOp::create(
            b, loc,
            arith::IndexCastOp::create(b, loc, b.getI32Type(), index),
            wordConstant(b, loc, bits - 1));
        Value shifted = arith::ShRUIOp::create(b, loc, args[0], bit);
        linalg::YieldOp::create(
            b, loc,
            Value(arith::TruncIOp::create(b, loc, b.getI1Type(), shifted)));
      });
}

static SmallVector<Value> lowerDropout(OpBuilder &b, DropoutOp op) {
  RankedTensorType type = typeOf(op.getResult());
  Type element = type.getElementType();
  double rate = op.getRate().convertToDouble();
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  AffineMap scalar = AffineMap::get(type.getRank(), 0, b.getContext());
  return parallel(
      b, op.getLoc(), {type, typeOf(op.getMask())},
      {op.getOperand(), op.getSeed(), op.getStep(), op.getOffset()},
      {identity, scalar, scalar, scalar},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value index = arith::IndexCastOp::create(
            b, loc, b.getI64Type(), rowMajorIndex(b, loc, type.getShape()));
        auto low = [&](Value word) -> Value {
          return arith::TruncIOp::create(b, loc, b.getI32Type(), word);
        };
        auto high = [&](Value word) -> Value {
          Value shift =
              arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
          return low(arith::ShRUIOp::create(b, loc, word, shift));
        };
        numerics::ArithWords words(b, loc, b.getI32Type());
        Value uniform = numerics::uniform(
            words, {low(index), high(index), low(args[3]), low(args[2]),
                    low(args[1]), high(args[1])});
        Value threshold = arith::ConstantOp::create(
            b, loc,
            b.getF32FloatAttr(numerics::dropoutThreshold(rate)));
        Value keep = arith::CmpFOp::create(
            b, loc, arith::CmpFPredicate::OGE, uniform, threshold);
        Value scale = arith::ConstantOp::create(
            b, loc, b.getFloatAttr(element, numerics::dropoutScale(rate)));
        Type wide = accumulatorType(element);
        auto widen = [&](Value value) -> Value {
          if (wide == element)
            return value;
          return arith::ExtFOp::create(b, loc, wide, value);
        };
        Value scaled =
            arith::MulFOp::create(b, loc, widen(args[0]), widen(scale));
        if (wide != element)
          scaled = arith::TruncFOp::create(b, loc, element, scaled);
        Value zero =
            arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
        Value result = arith::SelectOp::create(b, loc, keep, scaled, zero);
        linalg::YieldOp::create(b, loc, ValueRange{result, keep});
      });
}

/// The elements of a resource, with a byte for each flag.
static DenseElementsAttr resourceValue(DenseResourceElementsAttr resource) {
  auto type = cast<ShapedType>(resource.getType());
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return {};
  ArrayRef<char> data = blob->getData();
  int64_t count = type.getNumElements();
  int64_t width = type.getElementTypeBitWidth();
  if (int64_t(data.size()) != count * std::max<int64_t>(width / 8, 1))
    return {};
  if (width == 1) {
    SmallVector<bool> flags(
        llvm::map_range(data, [](char c) { return c != 0; }));
    return DenseElementsAttr::get(type, flags);
  }
  if (count == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  return DenseElementsAttr::getFromRawBuffer(type, data);
}

/// All elements of a constant; null if they aren't known.
static DenseElementsAttr denseValue(ElementsAttr value) {
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return resourceValue(resource);
  auto elements = value.tryGetValues<Attribute>();
  if (!elements)
    return {};
  return DenseElementsAttr::get(
      cast<ShapedType>(value.getType()),
      SmallVector<Attribute>(elements->begin(), elements->end()));
}

FailureOr<SmallVector<Value>> mlir::echo::lowerToLinalg(OpBuilder &b,
                                                        Operation *op) {
  using Values = SmallVector<Value>;
  Location loc = op->getLoc();
  if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
    return lowerElementwise(b, elementwise);
  return TypeSwitch<Operation *, FailureOr<Values>>(op)
      .Case([&](ConstantOp op) -> FailureOr<Values> {
        DenseElementsAttr value = denseValue(op.getValue());
        if (!value)
          return op.emitOpError("expected the value of every element, found ")
                 << op.getValue();
        return Values{arith::ConstantOp::create(b, loc, value)};
      })
      .Case([&](IotaOp op) { return lowerIota(b, op); })
      .Case([&](ReshapeOp op) {
        return Values{
            reshape(b, loc, op.getOperand(), typeOf(op.getResult()))};
      })
      .Case([&](TransposeOp op) { return lowerTranspose(b, op); })
      .Case([&](BroadcastOp op) {
        RankedTensorType type = typeOf(op.getResult());
        return Values{
            moveElements(b, loc, type, op.getOperand(),
                         broadcastMap(b, typeOf(op.getOperand()), type))};
      })
      .Case([&](SliceOp op) {
        return Values{slice(b, loc, op.getOperand(), op.getOffsets(),
                            op.getSizes(), op.getStrides())};
      })
      .Case([&](SplitOp op) { return lowerSplit(b, op); })
      .Case([&](PadOp op) { return lowerPad(b, op); })
      .Case([&](ConcatOp op) {
        return Values{
            tensor::ConcatOp::create(b, loc, op.getAxis(), op.getInputs())};
      })
      .Case([&](ReverseOp op) { return lowerReverse(b, op); })
      .Case([&](ReduceOp op) { return lowerReduce(b, op); })
      .Case([&](ArgmaxOp op) { return lowerArgmax(b, op); })
      .Case([&](EmbeddingOp op) { return lowerEmbedding(b, op); })
      .Case([&](DropoutOp op) { return lowerDropout(b, op); })
      .Case([&](BinarizeOp op) { return lowerBinarize(b, op); })
      .Case([&](DebinarizeOp op) { return lowerDebinarize(b, op); })
      .Default([](Operation *op) -> FailureOr<Values> {
        return op->emitOpError("has no lowering to linalg here");
      });
}

SmallVector<func::FuncOp> mlir::echo::kernelFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> kernels;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kKernelAttr) && !function.isExternal())
      kernels.push_back(function);
  return kernels;
}

LogicalResult mlir::echo::decomposeKernel(func::FuncOp kernel) {
  for (Operation &op :
       llvm::make_early_inc_range(kernel.getBody().front())) {
    auto composite = dyn_cast<DecomposeOpInterface>(op);
    if (!composite)
      continue;
    OpBuilder builder(&op);
    FailureOr<SmallVector<Value>> values = composite.decompose(builder);
    if (failed(values))
      return failure();
    op.replaceAllUsesWith(*values);
    op.erase();
  }
  return success();
}

LogicalResult mlir::echo::convertKernelToLinalg(func::FuncOp kernel) {
  if (failed(decomposeKernel(kernel)))
    return failure();
  for (Operation &op :
       llvm::make_early_inc_range(kernel.getBody().front())) {
    bool lowered = isa_and_nonnull<EchoDialect>(op.getDialect()) ||
                   isa<ElementwiseOpInterface>(op);
    if (!lowered || isa<EmbeddingGradOp>(op))
      continue;
    OpBuilder builder(&op);
    FailureOr<SmallVector<Value>> values = lowerToLinalg(builder, &op);
    if (failed(values))
      return failure();
    op.replaceAllUsesWith(*values);
    op.erase();
  }
  // Parts of a split that nothing reads, and the like.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(kernel.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

namespace {

struct ConvertEchoToLinalgPass
    : public echo::impl::ConvertEchoToLinalgPassBase<ConvertEchoToLinalgPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(failableParallelForEach(&getContext(),
                                       kernelFunctions(getOperation()),
                                       convertKernelToLinalg)))
      signalPassFailure();
  }
};

} // namespace

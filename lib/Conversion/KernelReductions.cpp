//===- KernelReductions.cpp - Indices and reductions of kernels -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Numerics/ReductionTree.h"
#include "KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::echo;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

std::optional<LinearForm> LinearForm::of(AffineExpr expr) {
  LinearForm form;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    form.constant = constant.getValue();
    return form;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    form.coefficients[dim.getPosition()] = 1;
    return form;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<LinearForm> lhs = of(binary.getLHS());
  std::optional<LinearForm> rhs = of(binary.getRHS());
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    for (auto [dim, coefficient] : rhs->coefficients)
      lhs->coefficients[dim] += coefficient;
    lhs->constant += rhs->constant;
    return lhs;
  }
  // Affine expressions have constants on the right.
  if (expr.getKind() != AffineExprKind::Mul || !rhs->coefficients.empty())
    return std::nullopt;
  for (auto &[dim, coefficient] : lhs->coefficients)
    coefficient *= rhs->constant;
  lhs->constant *= rhs->constant;
  return lhs;
}

AffineMap mlir::echo::indexMap(ArrayRef<AffineExpr> exprs,
                               MLIRContext *context) {
  return AffineMap::get(kMaxDims, 0, exprs, context);
}

AffineMap mlir::echo::composeIndex(AffineMap map, AffineMap index) {
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : map.getResults())
    exprs.push_back(expr.replaceDims(index.getResults()));
  return indexMap(exprs, map.getContext());
}

void mlir::echo::collectDims(AffineExpr expr,
                             llvm::SmallDenseSet<unsigned> &dims) {
  expr.walk([&](AffineExpr inner) {
    if (auto dim = dyn_cast<AffineDimExpr>(inner))
      dims.insert(dim.getPosition());
  });
}

void mlir::echo::collectDims(AffineMap index,
                             llvm::SmallDenseSet<unsigned> &dims) {
  for (AffineExpr expr : index.getResults())
    collectDims(expr, dims);
}

AffineExpr mlir::echo::linearize(AffineMap index, ArrayRef<int64_t> shape) {
  // Components x floordiv n, x mod n are x again.
  SmallVector<std::pair<AffineExpr, int64_t>> parts;
  for (auto [expr, size] : llvm::zip_equal(index.getResults(), shape)) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (binary && expr.getKind() == AffineExprKind::Mod && !parts.empty() &&
        binary.getRHS() == getAffineConstantExpr(size, index.getContext()) &&
        parts.back().first == binary.getLHS().floorDiv(size)) {
      parts.back().first = binary.getLHS();
      parts.back().second *= size;
      continue;
    }
    parts.push_back({expr, size});
  }
  AffineExpr sum = getAffineConstantExpr(0, index.getContext());
  for (auto [expr, size] : parts)
    sum = sum * size + expr;
  return sum;
}

/// The components of a row-major position in `shape`.
static SmallVector<AffineExpr> delinearize(AffineExpr position,
                                           ArrayRef<int64_t> shape) {
  SmallVector<AffineExpr> exprs(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (dim == 0) {
      exprs[dim] = position;
    } else if (shape[dim] <= 1) {
      exprs[dim] = getAffineConstantExpr(0, position.getContext());
    } else {
      exprs[dim] = position % shape[dim];
      position = position.floorDiv(shape[dim]);
    }
  }
  return exprs;
}

AffineMap
mlir::echo::sliceSource(tensor::ExtractSliceOp slice, AffineMap index,
                        function_ref<AffineExpr(Value)> dynamicOffset) {
  SmallVector<AffineExpr> exprs;
  for (auto [expr, offset, stride] :
       llvm::zip_equal(index.getResults(), slice.getMixedOffsets(),
                       slice.getStaticStrides())) {
    if (auto value = dyn_cast<Value>(offset))
      exprs.push_back(expr * stride + dynamicOffset(value));
    else
      exprs.push_back(expr * stride + *getConstantIntValue(offset));
  }
  return indexMap(exprs, index.getContext());
}

AffineMap mlir::echo::reshapeSource(Operation *reshape, AffineMap index) {
  MLIRContext *context = index.getContext();
  auto source = cast<RankedTensorType>(reshape->getOperand(0).getType());
  auto result = cast<RankedTensorType>(reshape->getResult(0).getType());
  bool collapses = isa<tensor::CollapseShapeOp>(reshape);
  SmallVector<ReassociationIndices> groups =
      collapses ? cast<tensor::CollapseShapeOp>(reshape).getReassociationIndices()
                : cast<tensor::ExpandShapeOp>(reshape).getReassociationIndices();
  AffineExpr zero = getAffineConstantExpr(0, context);
  // Without groups all dimensions of the larger shape have size 1.
  SmallVector<AffineExpr> exprs(source.getRank(), zero);
  for (auto [i, group] : llvm::enumerate(groups)) {
    if (collapses) {
      ArrayRef<int64_t> shape = source.getShape().slice(group[0], group.size());
      for (auto [dim, expr] :
           llvm::zip_equal(group, delinearize(index.getResult(i), shape)))
        exprs[dim] = expr;
    } else {
      ArrayRef<int64_t> shape = result.getShape().slice(group[0], group.size());
      exprs[i] = linearize(
          indexMap(index.getResults().slice(group[0], group.size()), context),
          shape);
    }
  }
  return indexMap(exprs, context);
}

/// True if an element or its place is taken where a condition says so, and the
/// earlier ones are kept elsewhere.
static bool selectsPlace(linalg::GenericOp generic) {
  Block *body = generic.getBody();
  if (generic.getNumReductionLoops() != 1 || generic.getNumResults() != 2 ||
      generic.getNumDpsInputs() != 1)
    return false;
  auto selected = [&](unsigned result) {
    return body->getTerminator()
        ->getOperand(result)
        .getDefiningOp<arith::SelectOp>();
  };
  arith::SelectOp value = selected(0), place = selected(1);
  if (!value || !place || value.getCondition() != place.getCondition() ||
      value.getTrueValue() != body->getArgument(0) ||
      value.getFalseValue() != body->getArgument(1) ||
      place.getFalseValue() != body->getArgument(2))
    return false;
  auto cast = place.getTrueValue().getDefiningOp<arith::IndexCastOp>();
  auto index = cast ? cast.getIn().getDefiningOp<linalg::IndexOp>()
                    : linalg::IndexOp();
  return index && generic.getIteratorTypesArray()[index.getDim()] ==
                      utils::IteratorType::reduction;
}

std::optional<Reduction> Reduction::match(linalg::GenericOp generic) {
  if (generic.getNumReductionLoops() == 0)
    return std::nullopt;
  Reduction reduction;
  reduction.generic = generic;
  reduction.isTree = generic.getNumResults() == 1;
  reduction.hasPlace = selectsPlace(generic);
  auto shape = cast<RankedTensorType>(generic.getInputs().front().getType())
                   .getShape();
  SmallVector<utils::IteratorType> iterators = generic.getIteratorTypesArray();
  bool found = false;
  for (auto [dim, iterator] : llvm::enumerate(iterators)) {
    if (iterator == utils::IteratorType::reduction) {
      reduction.first = found ? reduction.first : dim;
      reduction.last = dim;
      reduction.reduced *= shape[dim];
      found = true;
    } else if (found) {
      reduction.inner *= shape[dim];
    }
  }
  return reduction;
}

AffineMap mlir::echo::operandIndex(const Reduction &reduction, AffineMap index,
                                   AffineExpr reduced) {
  Reduction r = reduction;
  auto shape = cast<RankedTensorType>(r.generic.getInputs().front().getType())
                   .getShape();
  SmallVector<AffineExpr> exprs(index.getResults().take_front(r.first));
  llvm::append_range(exprs,
                     delinearize(reduced, shape.slice(r.first, r.last -
                                                                   r.first + 1)));
  llvm::append_range(exprs, index.getResults().drop_front(r.first));
  return indexMap(exprs, index.getContext());
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value KernelEmitter::emitOperand(const Reduction &reduction,
                                 AffineMap operand) {
  Reduction r = reduction;
  return emit(r.generic.getInputs().front(), operand);
}

SmallVector<Value> KernelEmitter::combine(const Reduction &reduction,
                                          AffineMap operand,
                                          ValueRange accumulators,
                                          Value element) {
  Reduction r = reduction;
  SmallVector<Value> arguments = {element};
  llvm::append_range(arguments, accumulators);
  return emitBody(r.generic.getBody(), arguments,
                  operand ? operand.getResults() : ArrayRef<AffineExpr>());
}

SmallVector<Value> KernelEmitter::emitReduction(const Reduction &reduction,
                                                AffineMap index) {
  Reduction r = reduction;
  // Lanes run along the row: several rows at once are one after another.
  if (r.isTree && r.isRow())
    for (AffineExpr expr : index.getResults())
      if (auto dim = vectorDimOf(expr))
        return {emitLanes(*dim, [&] { return emitReduction(r, index).front(); })};
  SmallVector<Value> inits;
  for (Value init : r.generic.getOutputs())
    inits.push_back(emit(init, index));
  if (isTeamRow(r))
    return emitTeamRow(r, index, inits);
  if (r.isTree && r.isRow())
    return {team ? emitThreadRow(r, index, inits.front())
                 : emitRowTree(r, index, inits.front())};
  if (isTeamColumn(r))
    return {emitTeamColumn(r, index, inits.front())};
  return emitFold(r, index, inits);
}

Value KernelEmitter::emitAccumulation(const Reduction &reduction,
                                      AffineExpr position, Value buffer,
                                      AffineExpr offset, Value value,
                                      int64_t width) {
  Reduction r = reduction;
  auto fill = r.generic.getOutputs().front().getDefiningOp<linalg::FillOp>();
  Value init = toVector(emitScalar(fill.getInputs().front()), width);
  Type element = getElementTypeOrSelf(value.getType());
  Value sum = toVector(load(buffer, offset, element), width);
  Value isFirst = arith::CmpIOp::create(
      current(), loc, arith::CmpIPredicate::eq, materialize(position),
      constantIndex(0));
  sum = arith::SelectOp::create(current(), loc, isFirst, init, sum);
  return combine(r, AffineMap(), sum, toVector(value, width)).front();
}

SmallVector<Value> KernelEmitter::foldElements(const Reduction &reduction,
                                               AffineMap index, Value first,
                                               Value size, int64_t step,
                                               ValueRange inits) {
  int64_t width = widthOf(index);
  return foldLoop(
      first, size, step, inits, [&](Value position, ValueRange accumulators) {
        AffineExpr dim =
            getAffineDimExpr(addDim(position), builder.getContext());
        AffineMap operand = operandIndex(reduction, index, dim);
        Value element = emitOperand(reduction, operand);
        SmallVector<Value> next =
            combine(reduction, operand, accumulators, element);
        for (Value &value : next)
          value = toVector(value, width);
        return next;
      });
}

SmallVector<Value> KernelEmitter::emitFold(const Reduction &reduction,
                                           AffineMap index, ValueRange inits) {
  int64_t width = widthOf(index);
  SmallVector<Value> initial;
  for (Value init : inits)
    initial.push_back(toVector(init, width));
  // Elements lower to upper in order, from the initial values on.
  auto inOrder = [&](Value lower, Value upper) {
    return foldElements(reduction, index, lower, upper, 1, initial);
  };
  int64_t size = reduction.reduced, block = numerics::kColumnBlock;
  Value zero = constantIndex(0);
  if (!reduction.isTree)
    return inOrder(zero, constantIndex(size));

  // Blocks from zero on, one after another.
  int64_t full = size / block * block;
  SmallVector<Value> totals = initial;
  if (full != 0)
    totals = foldLoop(zero, constantIndex(full), block, totals,
                      [&](Value lower, ValueRange accumulators) {
                        Value upper = arith::AddIOp::create(
                            current(), loc, lower, constantIndex(block));
                        SmallVector<Value> partials = inOrder(lower, upper);
                        return combine(reduction, AffineMap(), accumulators,
                                       partials.front());
                      });
  if (full != size) {
    SmallVector<Value> partials =
        inOrder(constantIndex(full), constantIndex(size));
    totals = combine(reduction, AffineMap(), totals, partials.front());
  }
  return totals;
}

namespace {

/// The lanes of a row's sum, in memory.
class StackLanes {
public:
  StackLanes(KernelEmitter &emitter, Type element, int64_t count)
      : emitter(emitter), loc(emitter.getLoc()), element(element), count(count),
        buffer(emitter.stackBuffer(element, count)) {}

  void fill(Value init) {
    emitter.forLoop(emitter.constantIndex(0), emitter.constantIndex(count),
                    kVectorWidth,
                    [&](Value lane) { store(init, lane, kVectorWidth); });
  }
  Value load(Value lane, int64_t width) {
    OpBuilder &b = emitter.current();
    if (width == 1)
      return memref::LoadOp::create(b, loc, buffer, lane);
    return vector::LoadOp::create(b, loc, VectorType::get({width}, element),
                                  buffer, lane);
  }
  void store(Value value, Value lane, int64_t width) {
    OpBuilder &b = emitter.current();
    if (width == 1)
      memref::StoreOp::create(b, loc, value, buffer, lane);
    else
      vector::StoreOp::create(b, loc, emitter.toVector(value, width), buffer,
                              lane);
  }
  /// Halves the lanes until one is left, in memory while they are many.
  Value combine(function_ref<Value(Value, Value)> combineTwo) {
    int64_t half = count / 2;
    for (; half >= numerics::kShortRowLanes; half /= 2)
      emitter.forLoop(
          emitter.constantIndex(0), emitter.constantIndex(half), kVectorWidth,
          [&](Value lane) {
            Value other = arith::AddIOp::create(emitter.current(), loc, lane,
                                                emitter.constantIndex(half));
            Value upper = load(other, kVectorWidth);
            store(combineTwo(load(lane, kVectorWidth), upper), lane,
                  kVectorWidth);
          });
    Value vector = load(emitter.constantIndex(0), 2 * half);
    for (; half >= 1; half /= 2) {
      auto part = [&](int64_t first) -> Value {
        SmallVector<int64_t> mask =
            llvm::to_vector(llvm::seq<int64_t>(first, first + half));
        return vector::ShuffleOp::create(emitter.current(), loc, vector,
                                         vector, mask);
      };
      Value lower = part(0), upper = part(half);
      vector = combineTwo(lower, upper);
    }
    return vector::ExtractOp::create(emitter.current(), loc, vector, 0);
  }

private:
  KernelEmitter &emitter;
  Location loc;
  Type element;
  int64_t count;
  Value buffer;
};

} // namespace

Value KernelEmitter::emitRowTree(const Reduction &reduction, AffineMap index,
                                 Value init) {
  const int64_t width = kVectorWidth;
  int64_t parts = numerics::rowParts(reduction.reduced);
  int64_t size = reduction.reduced / parts, count = numerics::rowLanes(size);
  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddIOp::create(current(), loc, lhs, rhs);
  };
  auto combineTwo = [&](Value lower, Value upper) {
    return this->combineTwo(reduction, lower, upper);
  };
  StackLanes lanes(*this, init.getType(), count);
  // Lanes lower to upper take the elements from `base` on.
  auto accumulate = [&](Value base, int64_t lower, int64_t upper,
                        int64_t width) {
    if (lower == upper)
      return;
    forLoop(constantIndex(lower), constantIndex(upper), width, [&](Value lane) {
      unsigned dim = addDim(add(base, lane), width);
      AffineMap operand = operandIndex(
          reduction, index, getAffineDimExpr(dim, builder.getContext()));
      Value value = toVector(emitOperand(reduction, operand), width);
      Value sum =
          combine(reduction, operand, lanes.load(lane, width), value).front();
      lanes.store(sum, lane, width);
    });
  };
  auto sumPart = [&](Value begin) {
    lanes.fill(init);
    int64_t full = size / count * count, rest = size - full;
    int64_t vectorRest = rest / width * width;
    Value behind = constantIndex(full);
    if (parts != 1)
      behind = add(begin, behind);
    if (full != 0)
      forLoop(begin, behind, count,
              [&](Value base) { accumulate(base, 0, count, width); });
    accumulate(behind, 0, vectorRest, width);
    accumulate(behind, vectorRest, rest, 1);
    return lanes.combine(combineTwo);
  };
  if (parts == 1)
    return sumPart(constantIndex(0));

  int64_t partLanes = numerics::rowLanes(parts);
  StackLanes sums(*this, init.getType(), partLanes);
  sums.fill(init);
  forLoop(constantIndex(0), constantIndex(parts), 1, [&](Value part) {
    Value sum = sumPart(
        arith::MulIOp::create(current(), loc, part, constantIndex(size)));
    Value lane = arith::RemUIOp::create(current(), loc, part,
                                        constantIndex(partLanes));
    sums.store(combineTwo(sums.load(lane, 1), sum), lane, 1);
  });
  return sums.combine(combineTwo);
}

//===- ShapeFolders.cpp - Folding of shape ops and reductions -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/Views.h"
#include "Folding.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::echo;

//===----------------------------------------------------------------------===//
// Small constants
//===----------------------------------------------------------------------===//

bool mlir::echo::isSmallTensor(RankedTensorType type) {
  std::optional<int64_t> count = countElements(type.getShape());
  return count && *count > 0 && *count <= kMaxFoldedElements;
}

int64_t mlir::echo::linearize(ArrayRef<int64_t> index,
                              ArrayRef<int64_t> shape) {
  int64_t position = 0;
  for (auto [component, size] : llvm::zip(index.take_back(shape.size()), shape))
    position = position * size + (size == 1 ? 0 : component);
  return position;
}

bool mlir::echo::visitIndices(
    ArrayRef<int64_t> shape,
    llvm::function_ref<bool(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0))
    return true;
  SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    if (!visit(index))
      return false;
    int64_t dim = static_cast<int64_t>(shape.size()) - 1;
    while (dim >= 0 && ++index[dim] == shape[dim])
      index[dim--] = 0;
    if (dim < 0)
      return true;
  }
}

DenseElementsAttr mlir::echo::gatherElements(
    Attribute operand, RankedTensorType type,
    llvm::function_ref<int64_t(ArrayRef<int64_t>)> sourceIndex) {
  auto constant = dyn_cast_if_present<DenseElementsAttr>(operand);
  if (!constant || !type.hasStaticShape())
    return {};
  if (constant.empty() || type.getNumElements() == 0)
    return {};
  bool grows = constant.getNumElements() < type.getNumElements();
  if ((grows || !constant.isSplat()) && !isSmallTensor(type))
    return {};
  if (constant.isSplat())
    return constant.resizeSplat(type);
  SmallVector<Attribute> values;
  auto elements = constant.value_begin<Attribute>();
  visitIndices(type.getShape(), [&](ArrayRef<int64_t> index) {
    values.push_back(*std::next(elements, sourceIndex(index)));
    return true;
  });
  return DenseElementsAttr::get(type, values);
}

//===----------------------------------------------------------------------===//
// Constant, reshape, transpose, broadcast
//===----------------------------------------------------------------------===//

/// The op of a kind that defines a value of static type. Through dynamic types
/// ops don't compose: they may contradict each other.
template <typename Op>
static Op getStaticDefinition(Value value) {
  if (!cast<RankedTensorType>(value.getType()).hasStaticShape())
    return {};
  return value.getDefiningOp<Op>();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getStaticDefinition<ReshapeOp>(getOperand())) {
    if (inner.getOperand().getType() == getType())
      return inner.getOperand();
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  auto constant = dyn_cast_if_present<DenseElementsAttr>(adaptor.getOperand());
  if (!constant || constant.empty() || !getType().hasStaticShape() ||
      !(constant.isSplat() || isSmallTensor(getType())))
    return {};
  return constant.reshape(getType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  if (getOperand().getType() == getType() && llvm::is_sorted(permutation))
    return getOperand();
  if (auto inner = getStaticDefinition<TransposeOp>(getOperand())) {
    SmallVector<int64_t> composed;
    for (int64_t dim : permutation)
      composed.push_back(inner.getPermutation()[dim]);
    getOperandMutable().assign(inner.getOperand());
    setPermutation(composed);
    return getResult();
  }
  auto shape = getOperand().getType().getShape();
  return gatherElements(adaptor.getOperand(), getType(),
                        [&](ArrayRef<int64_t> index) {
                          SmallVector<int64_t> source(index.size());
                          for (auto [i, dim] : llvm::enumerate(permutation))
                            source[dim] = index[i];
                          return linearize(source, shape);
                        });
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto inner = getStaticDefinition<BroadcastOp>(getOperand())) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  auto shape = getOperand().getType().getShape();
  return gatherElements(
      adaptor.getOperand(), getType(),
      [&](ArrayRef<int64_t> index) { return linearize(index, shape); });
}

//===----------------------------------------------------------------------===//
// Slice, pad, concat, reverse
//===----------------------------------------------------------------------===//

static bool areAll(ArrayRef<int64_t> values, int64_t expected) {
  return llvm::all_of(values, [&](int64_t v) { return v == expected; });
}

/// Makes `outer` read what `inner` reads. False if that takes more than 63
/// bits.
static bool composeSlices(SliceOp outer, SliceOp inner) {
  SmallVector<int64_t> offsets, strides;
  for (auto [offset, stride, innerOffset, innerStride] :
       llvm::zip(outer.getOffsets(), outer.getStrides(), inner.getOffsets(),
                 inner.getStrides())) {
    std::optional<int64_t> first =
        llvm::checkedMulAdd(offset, innerStride, innerOffset);
    std::optional<int64_t> step = llvm::checkedMul(stride, innerStride);
    if (!first || !step)
      return false;
    offsets.push_back(*first);
    strides.push_back(*step);
  }
  outer.getOperandMutable().assign(inner.getOperand());
  outer.setOffsets(offsets);
  outer.setStrides(strides);
  return true;
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> offsets = getOffsets();
  ArrayRef<int64_t> strides = getStrides();
  if (getOperand().getType() == getType() && areAll(offsets, 0) &&
      areAll(strides, 1))
    return getOperand();
  if (auto inner = getStaticDefinition<SliceOp>(getOperand());
      inner && composeSlices(*this, inner))
    return getResult();
  auto shape = getOperand().getType().getShape();
  return gatherElements(
      adaptor.getOperand(), getType(), [&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> source;
        for (auto [i, offset, stride] : llvm::zip(index, offsets, strides))
          source.push_back(offset + i * stride);
        return linearize(source, shape);
      });
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType() && areAll(getLow(), 0) &&
      areAll(getHigh(), 0))
    return getOperand();
  auto operand = dyn_cast_if_present<DenseElementsAttr>(adaptor.getOperand());
  auto value = dyn_cast_if_present<DenseElementsAttr>(adaptor.getValue());
  if (!operand || operand.empty() || !value || !isSmallTensor(getType()))
    return {};
  ArrayRef<int64_t> shape = operand.getType().getShape();
  auto elements = operand.value_begin<Attribute>();
  auto padding = value.getSplatValue<Attribute>();
  SmallVector<Attribute> results;
  visitIndices(getType().getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source;
    bool inside = true;
    for (auto [i, low, size] : llvm::zip(index, getLow(), shape)) {
      source.push_back(i - low);
      inside &= i >= low && i - low < size;
    }
    results.push_back(inside ? *std::next(elements, linearize(source, shape))
                             : padding);
    return true;
  });
  return DenseElementsAttr::get(getType(), results);
}

/// The value that the inputs are parts of, or null: concat undoes split.
static Value getSplitOperand(ConcatOp op) {
  auto split = op.getInputs().front().getDefiningOp<SplitOp>();
  if (!split || split.getAxis() != op.getAxis() ||
      !llvm::equal(split.getParts(), op.getInputs()) ||
      split.getOperand().getType() != op.getType())
    return {};
  return split.getOperand();
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  int64_t axis = getAxis();
  if (getInputs().size() == 1 && getInputs().front().getType() == getType())
    return getInputs().front();
  if (Value whole = getSplitOperand(*this))
    return whole;
  // Inputs without elements along the axis add nothing.
  SmallVector<Value> kept;
  for (Value input : getInputs())
    if (cast<RankedTensorType>(input.getType()).getDimSize(axis) != 0)
      kept.push_back(input);
  if (!kept.empty() && kept.size() < getInputs().size()) {
    getInputsMutable().assign(kept);
    return getResult();
  }
  if (!isSmallTensor(getType()))
    return {};
  SmallVector<DenseElementsAttr> constants;
  for (Attribute input : adaptor.getInputs()) {
    auto constant = dyn_cast_if_present<DenseElementsAttr>(input);
    if (!constant || constant.empty())
      return {};
    constants.push_back(constant);
  }
  SmallVector<Attribute> results;
  visitIndices(getType().getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source(index);
    auto constant = constants.begin();
    while (source[axis] >= constant->getType().getDimSize(axis))
      source[axis] -= (constant++)->getType().getDimSize(axis);
    results.push_back(
        *std::next(constant->value_begin<Attribute>(),
                   linearize(source, constant->getType().getShape())));
    return true;
  });
  return DenseElementsAttr::get(getType(), results);
}

/// Neighbouring parts of one tensor are a view of it.
LogicalResult ConcatOp::canonicalize(ConcatOp op, PatternRewriter &rewriter) {
  ByteRange whole;
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    FailureOr<ByteRange> part = followViews(input);
    if (failed(part) || failed(op.getPartOffset(index)))
      return rewriter.notifyMatchFailure(op, "parts aren't contiguous");
    if (index == 0)
      whole = *part;
    else if (whole.isFollowedBy(*part))
      whole.bytes += part->bytes;
    else
      return rewriter.notifyMatchFailure(op, "parts aren't neighbours");
  }
  FailureOr<Value> view = buildView(rewriter, op.getLoc(), whole.source,
                                    whole.offset, op.getType());
  if (failed(view))
    return rewriter.notifyMatchFailure(op, "parts aren't rows");
  rewriter.replaceOp(op, *view);
  return success();
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> shape = getOperand().getType().getShape();
  bool movesNothing =
      llvm::all_of(getAxes(), [&](int64_t axis) { return shape[axis] == 1; });
  if (movesNothing && getOperand().getType() == getType())
    return getOperand();
  auto isPermutationOfAxes = [&](ArrayRef<int64_t> other) {
    return llvm::SmallDenseSet<int64_t>(other.begin(), other.end()) ==
           llvm::SmallDenseSet<int64_t>(getAxes().begin(), getAxes().end());
  };
  if (auto inner = getOperand().getDefiningOp<ReverseOp>())
    if (isPermutationOfAxes(inner.getAxes()) &&
        inner.getOperand().getType() == getType())
      return inner.getOperand();
  return gatherElements(adaptor.getOperand(), getType(),
                        [&](ArrayRef<int64_t> index) {
                          SmallVector<int64_t> source(index);
                          for (int64_t axis : getAxes())
                            source[axis] = shape[axis] - 1 - index[axis];
                          return linearize(source, shape);
                        });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  // A sum over one element isn't that element: it starts at 0.0, and
  // 0.0 + -0.0 is 0.0.
  if (getDims().empty() && getOperand().getType() == getType())
    return getOperand();
  if (getKind() != ReduceKind::Max && getKind() != ReduceKind::Min)
    return {};
  bool selectsOne = llvm::all_of(getDims(), [&](int64_t dim) {
    return getOperand().getType().getDimSize(dim) == 1;
  });
  if (selectsOne && getOperand().getType() == getType())
    return getOperand();
  return {};
}

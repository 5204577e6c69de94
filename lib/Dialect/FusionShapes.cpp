//===- FusionShapes.cpp - How ops iterate in a kernel ---------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FusionShapes.h"
#include "Echo/Dialect/TensorBuilder.h"
#include "Echo/Numerics/ReductionTree.h"

using namespace mlir;
using namespace mlir::echo;
using mlir::echo::planning::FusionAccess;
using mlir::echo::planning::FusionClass;
using mlir::echo::planning::FusionShape;
using mlir::echo::planning::FusionWrite;

static constexpr FusionAccess kSame = {FusionAccess::Same, 1};
static constexpr FusionAccess kScalar = {FusionAccess::Scalar, 1};
static constexpr FusionAccess kPart = {FusionAccess::Part, 1};
static constexpr FusionAccess kAny = {FusionAccess::Any, 1};
static constexpr FusionAccess kOrder = {FusionAccess::Order, 1};

static uint64_t elementsOf(Value value) {
  return cast<ShapedType>(value.getType()).getNumElements();
}

static uint64_t lastDimOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape().back();
}

static uint64_t product(ArrayRef<int64_t> sizes) {
  uint64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

/// An element is read once in every row of `columns` iterations.
static FusionAccess row(uint64_t columns) {
  return columns == 1 ? kSame : FusionAccess{FusionAccess::Row, columns};
}

FusionAccess mlir::echo::getBroadcastAccess(ArrayRef<int64_t> operand,
                                            ArrayRef<int64_t> result) {
  if (product(operand) == 1)
    return product(result) == 1 ? kSame : kScalar;
  size_t shift = result.size() - operand.size();
  uint64_t columns = 1;
  bool isRepeated = false;
  for (auto [dim, size] : llvm::enumerate(result)) {
    if (size == 1)
      continue;
    if (dim < shift || operand[dim - shift] == 1) {
      isRepeated = true;
      columns *= size;
    } else if (isRepeated) {
      return kAny;
    }
  }
  return row(columns);
}

FusionShape mlir::echo::getElementwiseFusionShape(Operation *op,
                                                  uint32_t weight) {
  FusionShape shape;
  Value result = op->getResult(0);
  shape.kind = FusionClass::Pointwise;
  shape.elements = elementsOf(result);
  shape.weight = weight;
  for (Value operand : op->getOperands())
    shape.reads.push_back(
        getBroadcastAccess(cast<ShapedType>(operand.getType()).getShape(),
                           cast<ShapedType>(result.getType()).getShape()));
  shape.writes = {FusionWrite::Same};
  return shape;
}

/// Iterations are the elements of result 0.
static FusionShape pointwise(Operation *op, std::vector<FusionAccess> reads,
                             std::vector<FusionWrite> writes,
                             uint32_t weight = 1) {
  FusionShape shape;
  shape.kind = FusionClass::Pointwise;
  shape.elements = elementsOf(op->getResult(0));
  shape.weight = weight;
  shape.reads = std::move(reads);
  shape.writes = std::move(writes);
  return shape;
}

/// Iterations are the elements of operand 0.
static FusionShape rowReduction(Operation *op, uint64_t columns,
                                std::vector<FusionAccess> reads,
                                std::vector<FusionWrite> writes,
                                uint32_t weight) {
  FusionShape shape =
      pointwise(op, std::move(reads), std::move(writes), weight);
  shape.elements = elementsOf(op->getOperand(0));
  shape.kind = FusionClass::RowReduction;
  shape.columns = columns;
  // Nothing to iterate over.
  if (shape.elements == 0)
    shape.kind = FusionClass::Alone;
  return shape;
}

static FusionShape alone(Operation *op) {
  FusionShape shape;
  shape.kind = FusionClass::Alone;
  shape.elements = elementsOf(op->getResult(0));
  shape.reads.assign(op->getNumOperands(), kAny);
  shape.writes.assign(op->getNumResults(), FusionWrite::Other);
  return shape;
}

/// A reduction of operand 0 over `dims` to its only result.
static FusionShape reduction(Operation *op, ArrayRef<int64_t> dims,
                             uint32_t weight) {
  ArrayRef<int64_t> sizes =
      cast<ShapedType>(op->getOperand(0).getType()).getShape();
  // Sizes before, in and after the reduced dimensions; those of 1 don't count.
  uint64_t outer = 1, reduced = 1, inner = 1;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (size == 0)
      return alone(op);
    bool isReduced = llvm::is_contained(dims, int64_t(dim));
    if (size == 1)
      continue;
    if (isReduced && inner != 1)
      return alone(op);
    (isReduced ? reduced : reduced == 1 ? outer : inner) *= size;
  }
  if (reduced == 1)
    return pointwise(op, {kSame}, {FusionWrite::Same}, weight);
  if (inner == 1)
    return rowReduction(op, reduced, {kSame}, {FusionWrite::Row}, weight);
  FusionShape shape = pointwise(op, {kSame}, {FusionWrite::Column}, weight);
  shape.kind = FusionClass::ColumnReduction;
  shape.elements = outer * reduced * inner;
  shape.outer = outer;
  shape.reduced = reduced;
  return shape;
}

FusionShape ReduceOp::getFusionShape() {
  FusionShape shape = reduction(*this, getDims(), 1);
  // Sums of f16 and bf16 are rounded at the end, and means divided.
  Type element = getResult().getType().getElementType();
  shape.accumulates = shape.kind == FusionClass::ColumnReduction &&
                      getDims().size() == 1 && getKind() != ReduceKind::Mean &&
                      !element.isF16() && !element.isBF16() &&
                      shape.reduced <= numerics::kColumnBlock;
  return shape;
}

namespace {

/// Neighbouring dims that a reduction takes together.
struct ReducedDims {
  size_t begin, end; ///< of the op's dims
  int64_t outer;     ///< rows, where the last dimensions are reduced
  int64_t reduced;
  bool isRow;

  /// The parts of a row that are reduced on their own, or 1: many rows keep a
  /// device busy as they are.
  int64_t parts() const {
    return isRow && outer < kManyRows ? numerics::rowParts(reduced) : 1;
  }
  static constexpr int64_t kManyRows = 128;
};

} // namespace

/// In the order of `ReductionTree.h`.
static SmallVector<ReducedDims> groupDims(ReduceOp op) {
  SmallVector<int64_t> shape(op.getOperand().getType().getShape());
  ArrayRef<int64_t> dims = op.getDims();
  SmallVector<ReducedDims> groups;
  for (size_t end = dims.size(), begin; end > 0; end = begin) {
    begin = end - 1;
    bool isRow =
        product(ArrayRef(shape).drop_front(dims[begin] + 1)) == 1;
    while (isRow && begin > 0 && dims[begin - 1] + 1 == dims[begin])
      --begin;
    ArrayRef<int64_t> before = ArrayRef(shape).take_front(dims[begin]);
    int64_t reduced = 1;
    for (int64_t dim : dims.slice(begin, end - begin))
      reduced *= std::exchange(shape[dim], 1);
    groups.push_back({begin, end, int64_t(product(before)), reduced, isRow});
  }
  return groups;
}

/// Sums over several dimensions become one sum after another, so that the first
/// can be part of the kernel that computes what they read, and those of long
/// rows sums of sums of parts. All as `ReductionTree.h` defines them.
FailureOr<SmallVector<Value>> ReduceOp::splitForFusion(OpBuilder &builder) {
  RankedTensorType type = getOperand().getType();
  if (!type.hasStaticShape())
    return failure();
  SmallVector<ReducedDims> groups = groupDims(*this);
  TensorBuilder b(builder, getLoc());
  Type element = type.getElementType();
  // Others round, or divide, at the end.
  bool isPlain = getKind() != ReduceKind::Mean &&
                 getAccumulatorType(element) == element;
  bool isCut = llvm::any_of(
      groups, [](const ReducedDims &group) { return group.parts() != 1; });
  Operation *producer = getOperand().getDefiningOp();
  bool readsKernel = producer && !isa<LibraryCallOpInterface>(producer);
  if (!isCut && (!readsKernel || !isPlain || groups.size() < 2))
    return failure();
  ReduceKind kind =
      getKind() == ReduceKind::Mean ? ReduceKind::Sum : getKind();
  Value value = b.widen(getOperand());
  int64_t count = 1;
  for (const ReducedDims &group : groups) {
    ArrayRef<int64_t> dims =
        getDims().slice(group.begin, group.end - group.begin);
    count *= group.reduced;
    if (group.parts() == 1) {
      value = b.reduce(kind, value, dims, /*keepDims=*/false);
      continue;
    }
    SmallVector<int64_t> shape(b.shapeOf(value).take_front(dims.front()));
    llvm::append_values(shape, group.parts(), group.reduced / group.parts());
    value = b.reshape(value, shape);
    value = b.reduce(kind, value, dims.front() + 1, /*keepDims=*/false);
    value = b.reduce(kind, value, dims.front(), /*keepDims=*/false);
  }
  if (getKind() == ReduceKind::Mean)
    value = b.div(value, double(count));
  value = b.convert(value, element);
  return SmallVector<Value>{b.reshape(value, getResult().getType().getShape())};
}

FusionShape ArgmaxOp::getFusionShape() {
  return reduction(*this, int64_t(getAxis()), 3);
}

static FusionShape softmax(Operation *op, int64_t axis) {
  ArrayRef<int64_t> sizes =
      cast<ShapedType>(op->getOperand(0).getType()).getShape();
  if (product(sizes.drop_front(axis + 1)) != 1)
    return alone(op);
  return rowReduction(op, sizes[axis], {kSame}, {FusionWrite::Same}, 20);
}

FusionShape SoftmaxOp::getFusionShape() { return softmax(*this, getAxis()); }
FusionShape LogSoftmaxOp::getFusionShape() { return softmax(*this, getAxis()); }

FusionShape LayerNormOp::getFusionShape() {
  return rowReduction(
      *this, lastDimOf(getOperand()), {kSame, kAny, kAny},
      {FusionWrite::Same, FusionWrite::Row, FusionWrite::Row}, 8);
}

FusionShape SoftmaxCrossEntropyOp::getFusionShape() {
  uint64_t classes = lastDimOf(getLogits());
  return rowReduction(*this, classes, {kSame, row(classes)},
                      {FusionWrite::Row, FusionWrite::Row}, 20);
}

FusionShape SoftmaxCrossEntropyGradOp::getFusionShape() {
  FusionAccess ofRow = row(lastDimOf(getLogits()));
  return pointwise(*this, {kSame, ofRow, ofRow, ofRow}, {FusionWrite::Same},
                   20);
}

FusionShape DropoutOp::getFusionShape() {
  return pointwise(*this, {kSame, kScalar, kScalar, kScalar},
                   {FusionWrite::Same, FusionWrite::Same}, 16);
}

FusionShape EmbeddingOp::getFusionShape() {
  return pointwise(*this, {kAny, row(lastDimOf(getResult()))},
                   {FusionWrite::Same});
}

FusionShape LstmCellOp::getFusionShape() {
  return pointwise(*this, {kPart, kSame},
                   {FusionWrite::Same, FusionWrite::Same, FusionWrite::Other},
                   48);
}

FusionShape LstmCellGradOp::getFusionShape() {
  FusionShape shape =
      pointwise(*this, {kPart, kSame, kSame, kSame, kSame},
                {FusionWrite::Other, FusionWrite::Same}, 24);
  shape.elements = elementsOf(getCell());
  return shape;
}

FusionShape TransposeOp::getFusionShape() {
  // In order but for dimensions of 1, it's a reshape.
  SmallVector<int64_t> order;
  for (int64_t dim : getPermutation())
    if (getOperand().getType().getDimSize(dim) != 1)
      order.push_back(dim);
  return pointwise(*this, {llvm::is_sorted(order) ? kSame : kAny},
                   {FusionWrite::Same});
}

FusionShape ReverseOp::getFusionShape() {
  return pointwise(*this, {kAny}, {FusionWrite::Same});
}

FusionShape PadOp::getFusionShape() {
  return pointwise(*this, {kPart, kScalar}, {FusionWrite::Other});
}

FusionShape ConcatOp::getFusionShape() {
  return pointwise(*this,
                   std::vector<FusionAccess>(getInputs().size(), kPart),
                   {FusionWrite::Other});
}

FusionShape IotaOp::getFusionShape() {
  return pointwise(*this, {}, {FusionWrite::Same});
}
FusionShape ReshapeOp::getFusionShape() {
  return pointwise(*this, {kSame}, {FusionWrite::Same});
}
FusionShape OptimizationBarrierOp::getFusionShape() {
  return pointwise(*this, {kSame, kOrder}, {FusionWrite::Same});
}
FusionShape BroadcastOp::getFusionShape() {
  return pointwise(*this,
                   {getBroadcastAccess(getOperand().getType().getShape(),
                                       getResult().getType().getShape())},
                   {FusionWrite::Same});
}
FusionShape SliceOp::getFusionShape() {
  bool isWhole = getOperand().getType() == getResult().getType();
  return pointwise(*this, {isWhole ? kSame : kPart}, {FusionWrite::Same});
}
FusionShape SplitOp::getFusionShape() {
  return pointwise(*this, {kPart},
                   std::vector<FusionWrite>(getNumResults(),
                                            FusionWrite::Same));
}

bool IotaOp::isMovement() { return true; }
bool ReshapeOp::isMovement() { return true; }
bool OptimizationBarrierOp::isMovement() { return true; }
bool BroadcastOp::isMovement() { return true; }
bool SliceOp::isMovement() { return true; }
bool SplitOp::isMovement() { return true; }

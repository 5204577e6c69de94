//===- InferCompositeTypes.cpp - Types of contractions and composites -----===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inference.h"

using namespace mlir;
using namespace mlir::echo;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Checks that a value called `name` has at least `least` dimensions.
static LogicalResult verifyLeastRank(const Reporter &report, StringRef name,
                                     Value value, int64_t least) {
  int64_t rank = typeOf(value).getRank();
  if (rank >= least)
    return success();
  return report("expected ", name, " of rank at least ", least, ", found ",
                rank);
}

/// Checks that a value called `name` has `rank` dimensions.
static LogicalResult verifyRank(const Reporter &report, StringRef name,
                                Value value, int64_t rank) {
  int64_t found = typeOf(value).getRank();
  if (found == rank)
    return success();
  return report("expected ", name, " of rank ", rank, ", found ", found);
}

/// Checks element type and shape of a value called `name`.
static LogicalResult verifyTensor(const Reporter &report, StringRef name,
                                  Value value, ArrayRef<int64_t> shape,
                                  Type elementType) {
  RankedTensorType type = typeOf(value);
  return success(succeeded(verifyElementType(
                     report, name, type.getElementType(), elementType)) &&
                 succeeded(verifyShape(report, name, type.getShape(), shape)));
}

/// The known one of two compatible sizes.
static int64_t joinDims(int64_t lhs, int64_t rhs) {
  return ShapedType::isDynamic(lhs) ? rhs : lhs;
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The shape of a matrix product with batch dimensions.
template <typename Adaptor>
static LogicalResult inferProduct(const Reporter &report, Adaptor op,
                                  SmallVectorImpl<int64_t> &shape) {
  RankedTensorType lhs = typeOf(op.getLhs());
  RankedTensorType rhs = typeOf(op.getRhs());
  Type elementType = lhs.getElementType();
  if (failed(verifyLeastRank(report, "lhs", op.getLhs(), 2)) ||
      failed(verifyLeastRank(report, "rhs", op.getRhs(), 2)) ||
      failed(
          verifyElementType(report, "rhs", rhs.getElementType(), elementType)))
    return failure();

  ArrayRef<int64_t> lhsMatrix = lhs.getShape().take_back(2);
  ArrayRef<int64_t> rhsMatrix = rhs.getShape().take_back(2);
  bool transposeLhs = op.getTransposeLhs();
  bool transposeRhs = op.getTransposeRhs();
  int64_t rows = lhsMatrix[transposeLhs ? 1 : 0];
  int64_t lhsDepth = lhsMatrix[transposeLhs ? 0 : 1];
  int64_t rhsDepth = rhsMatrix[transposeRhs ? 1 : 0];
  int64_t columns = rhsMatrix[transposeRhs ? 0 : 1];
  if (!areCompatibleDims(lhsDepth, rhsDepth))
    return report("expected equal contracted sizes, found ", lhsDepth,
                  " in lhs and ", rhsDepth, " in rhs");

  ArrayRef<int64_t> lhsBatch = lhs.getShape().drop_back(2);
  ArrayRef<int64_t> rhsBatch = rhs.getShape().drop_back(2);
  std::optional<SmallVector<int64_t>> batch =
      broadcastShapes({lhsBatch, rhsBatch});
  if (!batch)
    return report("expected batch dimensions that broadcast, found ",
                  shapeToString(lhsBatch), " and ", shapeToString(rhsBatch));
  shape.append(*batch);
  shape.append({rows, columns});
  return success();
}

static LogicalResult infer(const Reporter &report, MatmulOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  if (failed(inferProduct(report, op, shape)))
    return failure();
  Type elementType = typeOf(op.getLhs()).getElementType();
  if (Value bias = op.getBias()) {
    if (failed(verifyTensor(report, "bias", bias, {shape.back()}, elementType)))
      return failure();
    shape.back() = joinDims(shape.back(), typeOf(bias).getDimSize(0));
  }
  types.push_back(RankedTensorType::get(shape, elementType));
  return success();
}
ECHO_DEFINE_INFERENCE(MatmulOp)

static LogicalResult infer(const Reporter &report, MatmulAddOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  if (failed(inferProduct(report, op, shape)))
    return failure();
  RankedTensorType accumulator = typeOf(op.getAccumulator());
  if (failed(verifyTensor(report, "accumulator", op.getAccumulator(), shape,
                          typeOf(op.getLhs()).getElementType())))
    return failure();
  for (auto [dim, known] : llvm::zip_equal(shape, accumulator.getShape()))
    dim = joinDims(dim, known);
  types.push_back(accumulator.clone(shape));
  return success();
}
ECHO_DEFINE_INFERENCE(MatmulAddOp)

static LogicalResult infer(const Reporter &report, LinearOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType input = typeOf(op.getInput());
  RankedTensorType weight = typeOf(op.getWeight());
  Type elementType = input.getElementType();
  if (failed(verifyLeastRank(report, "input", op.getInput(), 1)) ||
      failed(verifyRank(report, "weight", op.getWeight(), 2)) ||
      failed(verifyElementType(report, "weight", weight.getElementType(),
                               elementType)))
    return failure();
  if (!areCompatibleDims(input.getShape().back(), weight.getDimSize(1)))
    return report("expected input with size ", weight.getDimSize(1),
                  " in its last dimension, as in dimension 1 of weight, found ",
                  input.getShape().back());
  int64_t columns = weight.getDimSize(0);
  if (Value bias = op.getBias()) {
    if (failed(verifyTensor(report, "bias", bias, {columns}, elementType)))
      return failure();
    columns = joinDims(columns, typeOf(bias).getDimSize(0));
  }
  types.push_back(RankedTensorType::get(withLastDim(input.getShape(), columns),
                                        elementType));
  return success();
}
ECHO_DEFINE_INFERENCE(LinearOp)

//===----------------------------------------------------------------------===//
// Softmax, normalization and dropout
//===----------------------------------------------------------------------===//

static LogicalResult infer(const Reporter &report, SoftmaxOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  types.push_back(op.getOperand().getType());
  return verifyAxis(report, "axis", op.getAxis(),
                    typeOf(op.getOperand()).getRank());
}
ECHO_DEFINE_INFERENCE(SoftmaxOp)

static LogicalResult infer(const Reporter &report, LogSoftmaxOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  types.push_back(op.getOperand().getType());
  return verifyAxis(report, "axis", op.getAxis(),
                    typeOf(op.getOperand()).getRank());
}
ECHO_DEFINE_INFERENCE(LogSoftmaxOp)

static LogicalResult infer(const Reporter &report, LayerNormOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(op.getOperand());
  Type elementType = type.getElementType();
  if (failed(verifyLeastRank(report, "operand", op.getOperand(), 1)))
    return failure();
  int64_t last = type.getShape().back();
  if (failed(
          verifyTensor(report, "scale", op.getScale(), {last}, elementType)) ||
      failed(
          verifyTensor(report, "offset", op.getOffset(), {last}, elementType)))
    return failure();
  double epsilon = op.getEpsilon().convertToDouble();
  if (!(epsilon > 0))
    return report("expected epsilon greater than 0, found ", epsilon);
  last = joinDims(joinDims(last, typeOf(op.getScale()).getDimSize(0)),
                  typeOf(op.getOffset()).getDimSize(0));
  Type statistics = RankedTensorType::get(withLastDim(type.getShape(), 1),
                                          getAccumulatorType(elementType));
  types.push_back(
      RankedTensorType::get(withLastDim(type.getShape(), last), elementType));
  types.append(2, statistics);
  return success();
}
ECHO_DEFINE_INFERENCE(LayerNormOp)

static LogicalResult infer(const Reporter &report, DropoutOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(op.getOperand());
  double rate = op.getRate().convertToDouble();
  if (!(rate >= 0 && rate < 1))
    return report("expected rate in [0, 1), found ", rate);
  types.push_back(type);
  types.push_back(type.clone(IntegerType::get(type.getContext(), 1)));
  return success();
}
ECHO_DEFINE_INFERENCE(DropoutOp)

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

static LogicalResult infer(const Reporter &report, EmbeddingOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType table = typeOf(op.getTable());
  if (failed(verifyRank(report, "table", op.getTable(), 2)))
    return failure();
  SmallVector<int64_t> shape(typeOf(op.getIndices()).getShape());
  shape.push_back(table.getDimSize(1));
  types.push_back(RankedTensorType::get(shape, table.getElementType()));
  return success();
}
ECHO_DEFINE_INFERENCE(EmbeddingOp)

static LogicalResult infer(const Reporter &report, EmbeddingGradOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType gradient = typeOf(op.getGradient());
  SmallVector<int64_t> expected(typeOf(op.getIndices()).getShape());
  int64_t width = gradient.getRank() == 0 ? ShapedType::kDynamic
                                          : gradient.getShape().back();
  expected.push_back(width);
  int64_t rows = op.getRows();
  if (failed(verifyShape(report, "gradient", gradient.getShape(), expected)))
    return failure();
  if (rows < 0)
    return report("expected rows of at least 0, found ", rows);
  types.push_back(
      RankedTensorType::get({rows, width}, gradient.getElementType()));
  return success();
}
ECHO_DEFINE_INFERENCE(EmbeddingGradOp)

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

/// Checks what softmax_cross_entropy and its gradient share, and gives the
/// type of losses.
static FailureOr<RankedTensorType> inferLoss(const Reporter &report,
                                             Value logits, Value labels,
                                             APFloat labelSmoothing) {
  if (failed(verifyLeastRank(report, "logits", logits, 1)))
    return failure();
  RankedTensorType type = typeOf(logits);
  ArrayRef<int64_t> positions = type.getShape().drop_back();
  ArrayRef<int64_t> labelShape = typeOf(labels).getShape();
  if (failed(verifyShape(report, "labels", labelShape, positions)))
    return failure();
  double smoothing = labelSmoothing.convertToDouble();
  if (!(smoothing >= 0 && smoothing < 1))
    return report("expected label_smoothing in [0, 1), found ", smoothing);
  return RankedTensorType::get(*joinShapes(positions, labelShape),
                               getAccumulatorType(type.getElementType()));
}

static LogicalResult infer(const Reporter &report,
                           SoftmaxCrossEntropyOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> loss =
      inferLoss(report, op.getLogits(), op.getLabels(), op.getLabelSmoothing());
  if (failed(loss))
    return failure();
  types.append(2, *loss);
  return success();
}
ECHO_DEFINE_INFERENCE(SoftmaxCrossEntropyOp)

static LogicalResult infer(const Reporter &report,
                           SoftmaxCrossEntropyGradOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> loss =
      inferLoss(report, op.getLogits(), op.getLabels(), op.getLabelSmoothing());
  if (failed(loss) ||
      failed(verifyTensor(report, "log_sum_exp", op.getLogSumExp(),
                          loss->getShape(), loss->getElementType())) ||
      failed(verifyTensor(report, "gradient", op.getGradient(),
                          loss->getShape(), loss->getElementType())))
    return failure();
  types.push_back(op.getLogits().getType());
  return success();
}
ECHO_DEFINE_INFERENCE(SoftmaxCrossEntropyGradOp)

//===----------------------------------------------------------------------===//
// LSTM cell
//===----------------------------------------------------------------------===//

/// Checks that `gates`, called `name`, holds four times `cell` side by side,
/// and gives what is known of both types.
static FailureOr<std::pair<RankedTensorType, RankedTensorType>>
inferCell(const Reporter &report, StringRef name, Value gates, Value cell) {
  if (failed(verifyLeastRank(report, name, gates, 1)))
    return failure();
  RankedTensorType gatesType = typeOf(gates);
  int64_t width = gatesType.getShape().back();
  if (!ShapedType::isDynamic(width) && width % 4 != 0)
    return report("expected ", name,
                  " with a multiple of 4 as its last dimension, found ", width);
  int64_t hidden = ShapedType::isDynamic(width) ? width : width / 4;
  SmallVector<int64_t> expected = withLastDim(gatesType.getShape(), hidden);
  if (failed(verifyTensor(report, "cell", cell, expected,
                          gatesType.getElementType())))
    return failure();
  SmallVector<int64_t> cellShape =
      *joinShapes(expected, typeOf(cell).getShape());
  hidden = cellShape.back();
  SmallVector<int64_t> gatesShape = withLastDim(
      cellShape, ShapedType::isDynamic(hidden) ? hidden : 4 * hidden);
  return std::make_pair(
      RankedTensorType::get(gatesShape, gatesType.getElementType()),
      RankedTensorType::get(cellShape, gatesType.getElementType()));
}

static LogicalResult infer(const Reporter &report, LstmCellOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  auto cell = inferCell(report, "gates", op.getGates(), op.getCell());
  if (failed(cell))
    return failure();
  types.append({cell->second, cell->second, cell->first});
  return success();
}
ECHO_DEFINE_INFERENCE(LstmCellOp)

static LogicalResult infer(const Reporter &report, LstmCellGradOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  auto cell = inferCell(report, "activated", op.getActivated(), op.getCell());
  if (failed(cell))
    return failure();
  ArrayRef<int64_t> shape = cell->second.getShape();
  Type elementType = cell->second.getElementType();
  if (failed(verifyTensor(report, "new_cell", op.getNewCell(), shape,
                          elementType)) ||
      failed(verifyTensor(report, "hidden_gradient", op.getHiddenGradient(),
                          shape, elementType)) ||
      failed(verifyTensor(report, "cell_gradient", op.getCellGradient(), shape,
                          elementType)))
    return failure();
  types.append({cell->first, cell->second});
  return success();
}
ECHO_DEFINE_INFERENCE(LstmCellGradOp)

//===- Shape.cpp - Evaluates ops that move elements -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Broadcast.h"
#include "ElementTypes.h"
#include "Models.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::interpreter;

namespace {

using Results = SmallVectorImpl<HostTensor>;

LogicalResult evaluateIota(IotaOp op, Interpreter &interpreter,
                           ArrayRef<HostTensor>, Results &results) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  FailureOr<HostTensor> result =
      interpreter.allocate(op, type.getShape(), type.getElementType());
  if (failed(result))
    return failure();
  int64_t dimension = op.getDimension();
  int64_t extent = type.getDimSize(dimension);
  int64_t inner = rowMajorStrides(type.getShape())[dimension];
  dispatch(result->getElementType(), [&](auto stored) {
    using S = decltype(stored);
    S *out = result->mutableDataAs<S>();
    for (int64_t i = 0, e = result->getNumElements(); i < e; ++i)
      out[i] = convertElement<S>(I64{i / inner % extent});
  });
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateReshape(ReshapeOp op, Interpreter &,
                              ArrayRef<HostTensor> operands, Results &results) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t known = 1, *unknown = nullptr;
  for (int64_t &dim : shape) {
    if (!ShapedType::isDynamic(dim))
      known *= dim;
    else if (!unknown)
      unknown = &dim;
    else
      return op.emitOpError(
          "cannot be interpreted: two dimensions of the result are unknown");
  }
  int64_t count = operands[0].getNumElements();
  if (unknown)
    *unknown = known == 0 ? 0 : count / known;
  if (ShapedType::getNumElements(shape) != count)
    return op.emitOpError("cannot reshape ")
           << operands[0].getType() << " to " << type;
  results.push_back(operands[0].withShape(shape));
  return success();
}

LogicalResult evaluateTranspose(TransposeOp op, Interpreter &interpreter,
                                ArrayRef<HostTensor> operands,
                                Results &results) {
  const HostTensor &operand = operands[0];
  SmallVector<int64_t> own = rowMajorStrides(operand.getShape());
  SmallVector<int64_t> shape, strides;
  for (int64_t source : op.getPermutation()) {
    shape.push_back(operand.getShape()[source]);
    strides.push_back(own[source]);
  }
  FailureOr<HostTensor> result =
      interpreter.allocate(op, shape, operand.getElementType());
  if (failed(result))
    return failure();
  copyStrided(operand.getElementSize(), shape, operand.getData(), strides, 0,
              result->getMutableData(), rowMajorStrides(shape), 0);
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateBroadcast(BroadcastOp op, Interpreter &interpreter,
                                ArrayRef<HostTensor> operands,
                                Results &results) {
  const HostTensor &operand = operands[0];
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<int64_t> shape(type.getShape());
  size_t missing = shape.size() - operand.getRank();
  for (auto [d, dim] : llvm::enumerate(shape)) {
    int64_t own = d < missing ? 1 : operand.getShape()[d - missing];
    if (ShapedType::isDynamic(dim)) {
      if (d < missing)
        return op.emitOpError("cannot be interpreted: dimension ")
               << d << " of the result is unknown";
      dim = own;
    }
    if (own != 1 && own != dim)
      return op.emitOpError("cannot broadcast ")
             << operand.getType() << " to " << type;
  }
  FailureOr<HostTensor> result =
      interpreter.allocate(op, shape, operand.getElementType());
  if (failed(result))
    return failure();
  copyStrided(operand.getElementSize(), shape, operand.getData(),
              broadcastStrides(operand.getShape(), shape), 0,
              result->getMutableData(), rowMajorStrides(shape), 0);
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateSlice(SliceOp op, Interpreter &interpreter,
                            ArrayRef<HostTensor> operands, Results &results) {
  const HostTensor &operand = operands[0];
  SmallVector<int64_t> own = rowMajorStrides(operand.getShape());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  for (int64_t d = 0; d < operand.getRank(); ++d) {
    int64_t size = op.getSizes()[d], first = op.getOffsets()[d];
    int64_t last = first + (size - 1) * op.getStrides()[d];
    if (size > 0 && last >= operand.getShape()[d])
      return op.emitOpError("reads element ")
             << last << " of dimension " << d << " of " << operand.getType();
    offset += first * own[d];
    strides.push_back(op.getStrides()[d] * own[d]);
  }
  FailureOr<HostTensor> result =
      interpreter.allocate(op, op.getSizes(), operand.getElementType());
  if (failed(result))
    return failure();
  copyStrided(operand.getElementSize(), op.getSizes(), operand.getData(),
              strides, offset, result->getMutableData(),
              rowMajorStrides(op.getSizes()), 0);
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluatePad(PadOp op, Interpreter &interpreter,
                          ArrayRef<HostTensor> operands, Results &results) {
  const HostTensor &operand = operands[0], &value = operands[1];
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < operand.getRank(); ++d)
    shape.push_back(op.getLow()[d] + operand.getShape()[d] + op.getHigh()[d]);
  FailureOr<HostTensor> result =
      interpreter.allocate(op, shape, operand.getElementType());
  if (failed(result))
    return failure();
  int64_t size = operand.getElementSize();
  char *out = result->getMutableData();
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  copyStrided(size, shape, value.getData(),
              SmallVector<int64_t>(shape.size(), 0), 0, out, strides, 0);
  int64_t offset = 0;
  for (int64_t d = 0; d < operand.getRank(); ++d)
    offset += op.getLow()[d] * strides[d];
  copyStrided(size, operand.getShape(), operand.getData(),
              rowMajorStrides(operand.getShape()), 0, out, strides, offset);
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateConcat(ConcatOp op, Interpreter &interpreter,
                             ArrayRef<HostTensor> operands, Results &results) {
  int64_t axis = op.getAxis();
  SmallVector<int64_t> shape(operands[0].getShape());
  for (const HostTensor &operand : operands.drop_front()) {
    for (int64_t d = 0; d < operand.getRank(); ++d)
      if (d != axis && operand.getShape()[d] != shape[d])
        return op.emitOpError("cannot join ")
               << operands[0].getType() << " and " << operand.getType();
    shape[axis] += operand.getShape()[axis];
  }
  FailureOr<HostTensor> result =
      interpreter.allocate(op, shape, operands[0].getElementType());
  if (failed(result))
    return failure();
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  char *out = result->getMutableData();
  int64_t offset = 0;
  for (const HostTensor &operand : operands) {
    copyStrided(operand.getElementSize(), operand.getShape(), operand.getData(),
                rowMajorStrides(operand.getShape()), 0, out, strides, offset);
    offset += operand.getShape()[axis] * strides[axis];
  }
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateSplit(SplitOp op, Interpreter &interpreter,
                            ArrayRef<HostTensor> operands, Results &results) {
  const HostTensor &operand = operands[0];
  int64_t axis = op.getAxis(), parts = op->getNumResults();
  SmallVector<int64_t> shape(operand.getShape());
  if (shape[axis] % parts != 0)
    return op.emitOpError("cannot cut ")
           << operand.getType() << " into " << parts << " equal parts";
  shape[axis] /= parts;
  SmallVector<int64_t> strides = rowMajorStrides(operand.getShape());
  for (int64_t part = 0; part < parts; ++part) {
    FailureOr<HostTensor> result =
        interpreter.allocate(op, shape, operand.getElementType());
    if (failed(result))
      return failure();
    copyStrided(operand.getElementSize(), shape, operand.getData(), strides,
                part * shape[axis] * strides[axis], result->getMutableData(),
                rowMajorStrides(shape), 0);
    results.push_back(std::move(*result));
  }
  return success();
}

LogicalResult evaluateReverse(ReverseOp op, Interpreter &interpreter,
                              ArrayRef<HostTensor> operands, Results &results) {
  const HostTensor &operand = operands[0];
  SmallVector<int64_t> own = rowMajorStrides(operand.getShape());
  SmallVector<int64_t> strides = own;
  int64_t offset = 0;
  for (int64_t axis : op.getAxes()) {
    offset += (operand.getShape()[axis] - 1) * own[axis];
    strides[axis] = -own[axis];
  }
  FailureOr<HostTensor> result =
      interpreter.allocate(op, operand.getShape(), operand.getElementType());
  if (failed(result))
    return failure();
  copyStrided(operand.getElementSize(), operand.getShape(), operand.getData(),
              strides, offset, result->getMutableData(), own, 0);
  results.push_back(std::move(*result));
  return success();
}

} // namespace

void mlir::echo::interpreter::attachShapeModels(MLIRContext *context) {
  IotaOp::attachInterface<Model<IotaOp, evaluateIota>>(*context);
  ReshapeOp::attachInterface<Model<ReshapeOp, evaluateReshape>>(*context);
  TransposeOp::attachInterface<Model<TransposeOp, evaluateTranspose>>(*context);
  BroadcastOp::attachInterface<Model<BroadcastOp, evaluateBroadcast>>(*context);
  SliceOp::attachInterface<Model<SliceOp, evaluateSlice>>(*context);
  PadOp::attachInterface<Model<PadOp, evaluatePad>>(*context);
  ConcatOp::attachInterface<Model<ConcatOp, evaluateConcat>>(*context);
  SplitOp::attachInterface<Model<SplitOp, evaluateSplit>>(*context);
  ReverseOp::attachInterface<Model<ReverseOp, evaluateReverse>>(*context);
}

//===- Verifiers.cpp - Ops whose types aren't inferred --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers of ops whose result types hold information of their own, and of
// kernels. Ops with type inference are verified by it (Inference.h).
//
//===----------------------------------------------------------------------===//

#include "Inference.h"

using namespace mlir;
using namespace mlir::echo;

LogicalResult ConvertOp::verify() {
  return verifyShape(Reporter(getOperation()), "result", getType().getShape(),
                     getOperand().getType().getShape());
}

LogicalResult IotaOp::verify() {
  RankedTensorType type = getType();
  Reporter report(getOperation());
  if (failed(verifyAxis(report, "dimension", getDimension(), type.getRank())))
    return failure();
  if (!type.hasStaticShape())
    return report("expected a static shape, found ",
                  shapeToString(type.getShape()));
  if (type.getElementType().isInteger(1))
    return report("expected an element type other than i1, found i1");
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getOperand().getType();
  RankedTensorType to = getType();
  Reporter report(getOperation());
  if (failed(verifyElementType(report, "result", to.getElementType(),
                               from.getElementType())))
    return failure();
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return success();
  std::optional<int64_t> expected = countElements(from.getShape());
  std::optional<int64_t> found = countElements(to.getShape());
  if (!expected || !found)
    return report("expected at most 63 bits for the number of elements");
  if (*expected != *found)
    return report("expected a result of ", *expected, " elements, found ",
                  *found);
  return success();
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = getOperand().getType();
  RankedTensorType to = getType();
  Reporter report(getOperation());
  if (failed(verifyElementType(report, "result", to.getElementType(),
                               from.getElementType())))
    return failure();
  if (!isBroadcastableTo(from.getShape(), to.getShape()))
    return report("expected an operand shape that broadcasts to ",
                  shapeToString(to.getShape()), ", found ",
                  shapeToString(from.getShape()));
  return success();
}

LogicalResult SplitOp::verify() {
  RankedTensorType type = getOperand().getType();
  Reporter report(getOperation());
  int64_t axis = getAxis();
  int64_t count = getNumResults();
  if (failed(verifyAxis(report, "axis", axis, type.getRank())))
    return failure();
  if (count == 0)
    return report("expected at least one result, found none");
  int64_t size = type.getDimSize(axis);
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(size)) {
    if (size % count != 0)
      return report("expected a multiple of ", count, " in dimension ", axis,
                    ", found ", size);
    shape[axis] = size / count;
  }
  SmallVector<Type> expected(
      count, RankedTensorType::get(shape, type.getElementType()));
  return verifyInferredTypes(getOperation(), expected);
}

LogicalResult KernelOp::verify() {
  Reporter report(getOperation());
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return report("expected block arguments of the operands' types (",
                  getInputs().getTypes(), "), found (",
                  block.getArgumentTypes(), ")");
  auto yield = cast<YieldOp>(block.getTerminator());
  if (yield.getValues().getTypes() != getOutputs().getTypes())
    return report("expected yielded values of the results' types (",
                  getOutputs().getTypes(), "), found (",
                  yield.getValues().getTypes(), ")");
  return success();
}

//===- Encoding.cpp - Evaluates ops that pack flags -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"
#include "Models.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::interpreter;

namespace {

constexpr int64_t kWordBits = BinarizeOp::kWordBits;

LogicalResult evaluateBinarize(BinarizeOp op, Interpreter &interpreter,
                               ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  const HostTensor &operand = operands[0];
  int64_t count = operand.getNumElements();
  int64_t numWords = llvm::divideCeilSigned(count, kWordBits);
  SmallVector<int64_t> shape(op.getType().getShape());
  if (ShapedType::isDynamicShape(shape) && shape.size() == 1)
    shape = {numWords};
  if (ShapedType::isDynamicShape(shape) ||
      ShapedType::getNumElements(shape) != numWords)
    return op.emitOpError("cannot pack ")
           << operand.getType() << " into " << op.getType();
  FailureOr<HostTensor> result =
      interpreter.allocate(op, shape, op.getType().getElementType());
  if (failed(result))
    return failure();
  auto *words = reinterpret_cast<uint32_t *>(result->getMutableData());
  dispatch(operand.getElementType(), [&](auto stored) {
    using S = decltype(stored);
    using T = typename S::Compute;
    const S *elements = operand.dataAs<S>();
    for (int64_t i = 0; i < count; ++i)
      if (S::load(elements[i]) > T(0))
        words[i / kWordBits] |= uint32_t(1) << (i % kWordBits);
  });
  results.push_back(std::move(*result));
  return success();
}

LogicalResult evaluateDebinarize(DebinarizeOp op, Interpreter &interpreter,
                                 ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results) {
  RankedTensorType type = op.getType();
  if (!type.hasStaticShape())
    return op.emitOpError(
        "cannot be interpreted: the result's shape is unknown");
  int64_t count = type.getNumElements();
  if (operands[0].getNumElements() != llvm::divideCeilSigned(count, kWordBits))
    return op.emitOpError("cannot unpack ")
           << operands[0].getType() << " to " << type;
  FailureOr<HostTensor> result =
      interpreter.allocate(op, type.getShape(), type.getElementType());
  if (failed(result))
    return failure();
  auto *words = reinterpret_cast<const uint32_t *>(operands[0].getData());
  Flag *flags = result->mutableDataAs<Flag>();
  for (int64_t i = 0; i < count; ++i)
    flags[i] = Flag::store(words[i / kWordBits] >> (i % kWordBits) & 1);
  results.push_back(std::move(*result));
  return success();
}

} // namespace

void mlir::echo::interpreter::attachEncodingModels(MLIRContext *context) {
  BinarizeOp::attachInterface<Model<BinarizeOp, evaluateBinarize>>(*context);
  DebinarizeOp::attachInterface<Model<DebinarizeOp, evaluateDebinarize>>(
      *context);
}

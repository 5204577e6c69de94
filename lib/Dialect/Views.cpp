//===- Views.cpp - Tensors that are parts of others -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/Views.h"
#include "Echo/Dialect/TensorBuilder.h"

using namespace mlir;
using namespace mlir::echo;

FailureOr<ByteRange> mlir::echo::followViews(Value value) {
  FailureOr<uint64_t> bytes = echo::detail::typeBytes(value.getType());
  if (failed(bytes))
    return failure();
  ByteRange range{value, 0, static_cast<int64_t>(*bytes)};
  while (auto view = range.source.getDefiningOp<BufferViewOpInterface>()) {
    FailureOr<int64_t> offset =
        view.getViewOffset(cast<OpResult>(range.source).getResultNumber());
    if (failed(offset))
      break;
    range.source = view->getOperand(0);
    range.offset += *offset;
  }
  return range;
}

FailureOr<Value> mlir::echo::buildView(OpBuilder &builder, Location loc,
                                       Value source, int64_t offset,
                                       RankedTensorType type) {
  TensorBuilder b(builder, loc);
  auto sourceType = dyn_cast<RankedTensorType>(source.getType());
  if (!sourceType || sourceType.getElementType() != type.getElementType())
    return failure();
  FailureOr<uint64_t> sourceBytes = echo::detail::typeBytes(sourceType);
  FailureOr<uint64_t> bytes = echo::detail::typeBytes(type);
  if (failed(sourceBytes) || failed(bytes))
    return failure();
  if (offset == 0 && *sourceBytes == *bytes)
    return b.reshape(source, type.getShape());
  // Rows are what lies behind the first dimension that isn't 1.
  ArrayRef<int64_t> inner =
      type.getShape().drop_while([](int64_t size) { return size == 1; });
  int64_t rowBytes = *bytes, rows = 1;
  if (!inner.empty() && inner.front() != 0) {
    rows = inner.front();
    rowBytes /= rows;
  }
  if (rowBytes == 0 || offset % rowBytes != 0 ||
      static_cast<int64_t>(*sourceBytes) % rowBytes != 0 ||
      offset + static_cast<int64_t>(*bytes) >
          static_cast<int64_t>(*sourceBytes))
    return failure();
  int64_t rowSize = type.getNumElements() / rows;
  Value flat =
      b.reshape(source, {sourceType.getNumElements() / rowSize, rowSize});
  Value part = b.slice(flat, {offset / rowBytes, 0}, {rows, rowSize});
  return b.reshape(part, type.getShape());
}

bool mlir::echo::isBehindBarrier(Value value) {
  while (auto view = value.getDefiningOp<BufferViewOpInterface>()) {
    if (isa<OptimizationBarrierOp>(view))
      return true;
    value = view->getOperand(0);
  }
  return false;
}

bool mlir::echo::joinsInPlace(Operation *op) {
  auto join = dyn_cast<BufferJoinOpInterface>(op);
  if (!join || !join.hasPartOffsets())
    return false;
  int64_t inPlace = 0, all = 0;
  llvm::SmallDenseSet<Value> sources;
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<ByteRange> range = followViews(operand.get());
    if (failed(range))
      return false;
    all += range->bytes;
    Operation *producer = range->source.getDefiningOp();
    bool isWhole =
        range->bytes == static_cast<int64_t>(*echo::detail::typeBytes(
                            range->source.getType()));
    if (producer && isWhole && !producer->hasTrait<OpTrait::ConstantLike>() &&
        !isBehindBarrier(operand.get()) &&
        sources.insert(range->source).second)
      inPlace += range->bytes;
  }
  return inPlace > all - inPlace;
}

//===- EchoInterfaces.cpp - Knowledge about ops ---------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Interfaces/EchoInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#include "Echo/Interfaces/EchoInterfaces.cpp.inc"

/// The bytes of an element of another compiler's tensor, too; 0: not known.
static int64_t elementBytes(Type element) {
  if (element.isIntOrFloat())
    return (element.getIntOrFloatBitWidth() + 7) / 8;
  if (element.isIndex())
    return IndexType::kInternalStorageBitWidth / 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * elementBytes(complex.getElementType());
  if (auto vector = dyn_cast<VectorType>(element)) {
    int64_t bytes;
    if (!vector.isScalable() &&
        !llvm::MulOverflow(vector.getNumElements(),
                           elementBytes(vector.getElementType()), bytes))
      return bytes;
  }
  return 0;
}

FailureOr<uint64_t> mlir::echo::detail::typeBytes(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return failure();
  int64_t bytes = elementBytes(shaped.getElementType());
  if (bytes == 0)
    return failure();
  // A zero dimension makes the product zero even beside one that overflows.
  if (llvm::is_contained(shaped.getShape(), 0))
    return uint64_t(0);
  for (int64_t dim : shaped.getShape())
    if (llvm::MulOverflow(bytes, dim, bytes))
      return failure();
  return uint64_t(bytes);
}

template <typename Range>
static FailureOr<uint64_t> sumBytes(Range types) {
  uint64_t sum = 0;
  for (Type type : types) {
    if (!isa<ShapedType>(type))
      continue;
    FailureOr<uint64_t> bytes = echo::detail::typeBytes(type);
    if (failed(bytes) || sum + *bytes < sum)
      return failure();
    sum += *bytes;
  }
  return sum;
}

FailureOr<uint64_t> mlir::echo::detail::operandBytes(Operation *op) {
  return sumBytes(op->getOperandTypes());
}

FailureOr<uint64_t> mlir::echo::detail::resultBytes(Operation *op) {
  return sumBytes(op->getResultTypes());
}

static FailureOr<uint64_t> flopsPerElement(Type type, uint64_t flops) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return failure();
  int64_t product;
  if (llvm::MulOverflow<int64_t>(shaped.getNumElements(), flops, product))
    return failure();
  return uint64_t(product);
}

FailureOr<uint64_t>
mlir::echo::detail::flopsPerResultElement(Operation *op, uint64_t flops) {
  if (op->getNumResults() == 0)
    return uint64_t(0);
  return flopsPerElement(op->getResult(0).getType(), flops);
}

FailureOr<uint64_t>
mlir::echo::detail::flopsPerOperandElement(Operation *op, uint64_t flops) {
  if (op->getNumOperands() == 0)
    return uint64_t(0);
  return flopsPerElement(op->getOperand(0).getType(), flops);
}

//===- Shapes.cpp - Shape logic of Echo ops -------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/Shapes.h"
#include "mlir/Dialect/Traits.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

std::string mlir::echo::shapeToString(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(shape, os, [&](int64_t dim) {
    if (ShapedType::isDynamic(dim))
      os << "?";
    else
      os << dim;
  });
  os << "]";
  return text;
}

bool mlir::echo::areCompatibleDims(int64_t lhs, int64_t rhs) {
  return lhs == rhs || ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs);
}

bool mlir::echo::areCompatibleShapes(ArrayRef<int64_t> lhs,
                                     ArrayRef<int64_t> rhs) {
  return succeeded(verifyCompatibleShape(lhs, rhs));
}

bool mlir::echo::areCompatibleTypes(TypeRange lhs, TypeRange rhs) {
  if (lhs.size() != rhs.size())
    return false;
  return llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
    auto [l, r] = pair;
    if (l == r)
      return true;
    auto lhsTensor = dyn_cast<RankedTensorType>(l);
    auto rhsTensor = dyn_cast<RankedTensorType>(r);
    return lhsTensor && rhsTensor &&
           lhsTensor.getElementType() == rhsTensor.getElementType() &&
           areCompatibleShapes(lhsTensor.getShape(), rhsTensor.getShape());
  });
}

std::optional<SmallVector<int64_t>>
mlir::echo::joinShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  if (!areCompatibleShapes(lhs, rhs))
    return std::nullopt;
  SmallVector<int64_t> joined(lhs);
  for (auto [dim, other] : llvm::zip(joined, rhs))
    if (ShapedType::isDynamic(dim))
      dim = other;
  return joined;
}

std::optional<SmallVector<int64_t>>
mlir::echo::broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes) {
  SmallVector<int64_t> result;
  for (ArrayRef<int64_t> shape : shapes) {
    SmallVector<int64_t> wider;
    if (!OpTrait::util::getBroadcastedShape(result, shape, wider))
      return std::nullopt;
    result = std::move(wider);
  }
  return result;
}

bool mlir::echo::isBroadcastableTo(ArrayRef<int64_t> from,
                                   ArrayRef<int64_t> to) {
  if (from.size() > to.size())
    return false;
  return llvm::all_of(llvm::zip(from, to.take_back(from.size())),
                      [](auto pair) {
                        auto [dim, target] = pair;
                        return dim == 1 || areCompatibleDims(dim, target);
                      });
}

std::optional<int64_t> mlir::echo::countElements(ArrayRef<int64_t> shape) {
  if (ShapedType::isDynamicShape(shape))
    return std::nullopt;
  // A zero dimension makes the product zero even beside one that overflows.
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t dim : shape)
    if (llvm::MulOverflow(count, dim, count))
      return std::nullopt;
  return count;
}

SmallVector<int64_t> mlir::echo::withLastDim(ArrayRef<int64_t> shape,
                                             int64_t dim) {
  SmallVector<int64_t> result(shape);
  result.back() = dim;
  return result;
}

Type mlir::echo::getAccumulatorType(Type elementType) {
  if (isa<Float16Type, BFloat16Type>(elementType))
    return Float32Type::get(elementType.getContext());
  return elementType;
}

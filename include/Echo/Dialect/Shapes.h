//===- Shapes.h - Shape logic of Echo ops -----------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shape arithmetic that type inference, verifiers, folders and other passes
// share. A dimension is a size or ShapedType::kDynamic; what is dynamic agrees
// with everything.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_SHAPES_H
#define ECHO_DIALECT_SHAPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"
#include <optional>
#include <string>

namespace mlir::echo {

/// "[2, ?, 3]", as diagnostics print shapes.
std::string shapeToString(ArrayRef<int64_t> shape);

/// True if both sizes can be the same at run time.
bool areCompatibleDims(int64_t lhs, int64_t rhs);

/// True if the shapes have one rank and compatible dimensions.
bool areCompatibleShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs);

/// True if types are equal, or tensors of one element type with compatible
/// shapes, pair by pair.
bool areCompatibleTypes(TypeRange lhs, TypeRange rhs);

/// What is known of a shape when two compatible shapes describe it; nothing
/// if they aren't compatible.
std::optional<SmallVector<int64_t>> joinShapes(ArrayRef<int64_t> lhs,
                                               ArrayRef<int64_t> rhs);

/// The shape that all shapes broadcast to as in NumPy; nothing if they don't.
std::optional<SmallVector<int64_t>>
broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes);

/// True if `from` can be repeated to `to`: every dimension of `from`, aligned
/// at the last one, is 1 or that of `to`.
bool isBroadcastableTo(ArrayRef<int64_t> from, ArrayRef<int64_t> to);

/// The number of elements, or nothing if a dimension is dynamic or the product
/// does not fit into 63 bits.
std::optional<int64_t> countElements(ArrayRef<int64_t> shape);

/// The shape with `dim` in place of the last dimension (rank >= 1).
SmallVector<int64_t> withLastDim(ArrayRef<int64_t> shape, int64_t dim);

/// The element type in which sums of `elementType` are accumulated: f32 for
/// f16 and bf16, otherwise `elementType`.
Type getAccumulatorType(Type elementType);

} // namespace mlir::echo

#endif // ECHO_DIALECT_SHAPES_H

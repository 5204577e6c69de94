//===- HostTensor.h - Tensors in host memory ------------------ -*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TARGET_HOSTTENSOR_H
#define ECHO_TARGET_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <memory>

namespace mlir::echo {

/// A tensor of static shape in row-major order. Elements are f16, bf16, f32,
/// f64, i1 (a byte, 0 or 1), i8, i32 or i64. Copies share the elements until
/// one of them is written through `getMutableData` or a setter.
class HostTensor {
public:
  HostTensor() = default;

  /// Zeros. Fails (without a diagnostic) for other element types, and for
  /// shapes that are dynamic or whose bytes overflow.
  static FailureOr<HostTensor> zeros(RankedTensorType type);
  /// A copy of `bytes`, as many as `type` needs; fails otherwise.
  static FailureOr<HostTensor> fromBytes(RankedTensorType type,
                                         ArrayRef<char> bytes);
  /// The elements of a dense attribute or dense resource.
  static FailureOr<HostTensor> fromAttribute(ElementsAttr value);
  /// Elements given as numbers, converted to the element type.
  static FailureOr<HostTensor> fromDoubles(RankedTensorType type,
                                           ArrayRef<double> values);
  static FailureOr<HostTensor> fromInts(RankedTensorType type,
                                        ArrayRef<int64_t> values);

  explicit operator bool() const { return bool(type); }
  RankedTensorType getType() const { return type; }
  Type getElementType() const { return type.getElementType(); }
  ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getRank() const { return type.getRank(); }
  int64_t getNumElements() const { return numElements; }
  bool isFloat() const { return isa<FloatType>(getElementType()); }

  /// Bytes of an element in memory.
  int64_t getElementSize() const;
  ArrayRef<char> getBytes() const {
    return {data.get(), size_t(numElements * getElementSize())};
  }
  const char *getData() const { return data.get(); }
  /// Memory that no other tensor shares.
  char *getMutableData();

  template <typename T>
  const T *dataAs() const {
    return reinterpret_cast<const T *>(getData());
  }
  template <typename T>
  T *mutableDataAs() {
    return reinterpret_cast<T *>(getMutableData());
  }

  /// Element `index` (row-major) as a double or integer, whatever the type;
  /// floats become integers by truncation. Setters round as `convert` does.
  double getDouble(int64_t index) const;
  int64_t getInt(int64_t index) const;
  void setDouble(int64_t index, double value);
  void setInt(int64_t index, int64_t value);

  SmallVector<double> toDoubles() const;
  SmallVector<int64_t> toInts() const;

  /// The same elements in another shape of as many elements.
  HostTensor withShape(ArrayRef<int64_t> shape) const;
  /// The same numbers in another element type, converted as `echo.convert`
  /// does.
  HostTensor convertTo(Type elementType) const;

private:
  RankedTensorType type;
  int64_t numElements = 0;
  std::shared_ptr<char> data;
};

} // namespace mlir::echo

#endif // ECHO_TARGET_HOSTTENSOR_H

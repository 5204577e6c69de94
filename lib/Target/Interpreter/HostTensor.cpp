//===- HostTensor.cpp - Tensors in host memory ----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Target/HostTensor.h"
#include "ElementTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::interpreter;

FailureOr<HostTensor> HostTensor::zeros(RankedTensorType type) {
  int64_t size = elementSize(type.getElementType());
  if (!type.hasStaticShape() || size == 0)
    return failure();
  std::optional<int64_t> count = 1;
  if (llvm::is_contained(type.getShape(), 0))
    count = 0;
  else
    for (int64_t dim : type.getShape())
      if (count)
        count = llvm::checkedMul(*count, dim);
  std::optional<int64_t> bytes = count ? llvm::checkedMul(*count, size) : count;
  // Beyond the address space, an allocation wouldn't fail but end the process.
  if (!bytes || *bytes > (int64_t(1) << 46))
    return failure();
  HostTensor tensor;
  tensor.type = type;
  tensor.numElements = *count;
  // At least one byte: data is never null.
  // Unlike new, it fails without a handler that ends the process.
  void *memory = std::calloc(size_t(std::max<int64_t>(*bytes, 1)), 1);
  if (!memory)
    return failure();
  tensor.data = std::shared_ptr<char>(static_cast<char *>(memory), std::free);
  return tensor;
}

FailureOr<HostTensor> HostTensor::fromBytes(RankedTensorType type,
                                            ArrayRef<char> bytes) {
  FailureOr<HostTensor> tensor = zeros(type);
  if (failed(tensor) || tensor->getBytes().size() != bytes.size())
    return failure();
  std::copy(bytes.begin(), bytes.end(), tensor->data.get());
  return tensor;
}

FailureOr<HostTensor> HostTensor::fromAttribute(ElementsAttr value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return failure();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return failure();
    return fromBytes(type, blob->getData());
  }
  FailureOr<HostTensor> tensor = zeros(type);
  if (failed(tensor))
    return failure();
  bool known = false;
  Type element = type.getElementType();
  if (auto floats = value.tryGetValues<APFloat>()) {
    known = dispatchFloat(element, [&](auto stored) {
      using S = decltype(stored);
      auto *out = reinterpret_cast<S *>(tensor->data.get());
      for (APFloat number : *floats) {
        uint64_t bits = number.bitcastToAPInt().getZExtValue();
        std::memcpy(static_cast<void *>(out++), &bits, sizeof(S));
      }
    });
  } else if (auto integers = value.tryGetValues<APInt>()) {
    known = dispatchInteger(element, [&](auto stored) {
      using S = decltype(stored);
      using T = typename S::Compute;
      auto *out = reinterpret_cast<S *>(tensor->data.get());
      for (APInt number : *integers)
        *out++ = S::store(T(number.getSExtValue()));
    });
  }
  if (!known)
    return failure();
  return tensor;
}

FailureOr<HostTensor> HostTensor::fromDoubles(RankedTensorType type,
                                              ArrayRef<double> values) {
  FailureOr<HostTensor> tensor = zeros(type);
  if (failed(tensor) || tensor->getNumElements() != int64_t(values.size()))
    return failure();
  for (auto [index, value] : llvm::enumerate(values))
    tensor->setDouble(index, value);
  return tensor;
}

FailureOr<HostTensor> HostTensor::fromInts(RankedTensorType type,
                                           ArrayRef<int64_t> values) {
  FailureOr<HostTensor> tensor = zeros(type);
  if (failed(tensor) || tensor->getNumElements() != int64_t(values.size()))
    return failure();
  for (auto [index, value] : llvm::enumerate(values))
    tensor->setInt(index, value);
  return tensor;
}

int64_t HostTensor::getElementSize() const {
  return elementSize(getElementType());
}

char *HostTensor::getMutableData() {
  if (data.use_count() != 1) {
    size_t size = getBytes().size();
    char *memory = new char[std::max<size_t>(size, 1)];
    std::copy(data.get(), data.get() + size, memory);
    data = std::shared_ptr<char>(memory, std::default_delete<char[]>());
  }
  return data.get();
}

double HostTensor::getDouble(int64_t index) const {
  double value = 0;
  dispatch(getElementType(), [&](auto stored) {
    using S = decltype(stored);
    value = convertElement<F64>(dataAs<S>()[index]).value;
  });
  return value;
}

int64_t HostTensor::getInt(int64_t index) const {
  int64_t value = 0;
  dispatch(getElementType(), [&](auto stored) {
    using S = decltype(stored);
    value = convertElement<I64>(dataAs<S>()[index]).value;
  });
  return value;
}

void HostTensor::setDouble(int64_t index, double value) {
  dispatch(getElementType(), [&](auto stored) {
    using S = decltype(stored);
    mutableDataAs<S>()[index] = convertElement<S>(F64{value});
  });
}

void HostTensor::setInt(int64_t index, int64_t value) {
  dispatch(getElementType(), [&](auto stored) {
    using S = decltype(stored);
    mutableDataAs<S>()[index] = convertElement<S>(I64{value});
  });
}

SmallVector<double> HostTensor::toDoubles() const {
  SmallVector<double> values(getNumElements());
  for (auto [index, value] : llvm::enumerate(values))
    value = getDouble(index);
  return values;
}

SmallVector<int64_t> HostTensor::toInts() const {
  SmallVector<int64_t> values(getNumElements());
  for (auto [index, value] : llvm::enumerate(values))
    value = getInt(index);
  return values;
}

HostTensor HostTensor::withShape(ArrayRef<int64_t> shape) const {
  HostTensor tensor = *this;
  tensor.type = type.clone(shape);
  return tensor;
}

HostTensor HostTensor::convertTo(Type elementType) const {
  if (elementType == getElementType())
    return *this;
  FailureOr<HostTensor> tensor =
      zeros(RankedTensorType::get(getShape(), elementType));
  if (failed(tensor))
    return {};
  dispatch(getElementType(), [&](auto from) {
    using From = decltype(from);
    const From *in = dataAs<From>();
    dispatch(elementType, [&](auto to) {
      using To = decltype(to);
      To *out = tensor->mutableDataAs<To>();
      for (int64_t i = 0; i < numElements; ++i)
        out[i] = convertElement<To>(in[i]);
    });
  });
  return *tensor;
}

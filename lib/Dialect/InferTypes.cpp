//===- InferTypes.cpp - Result types ----------------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"

using namespace mlir;
using namespace mlir::echo;

LogicalResult AddOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult SubOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult MulOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult DivOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult RemOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult MaxOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult MinOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult PowOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult CompareOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult ArgmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult EmbeddingGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult SoftmaxCrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult SoftmaxCrossEntropyGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult DropoutOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult LstmCellOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}
LogicalResult LstmCellGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr, OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return failure();
}

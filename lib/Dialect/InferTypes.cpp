//===- InferTypes.cpp - Types of elementwise, shape and reduction ops -----===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inference.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::echo;

//===----------------------------------------------------------------------===//
// Shared checks
//===----------------------------------------------------------------------===//

LogicalResult mlir::echo::verifyAxis(const Reporter &report, StringRef name,
                                     int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return report("expected ", name, " in [0, ", rank, "), found ", axis);
}

LogicalResult mlir::echo::verifyElementType(const Reporter &report,
                                            StringRef name, Type found,
                                            Type expected) {
  if (found == expected)
    return success();
  return report("expected ", name, " with element type ", expected, ", found ",
                found);
}

LogicalResult mlir::echo::verifyShape(const Reporter &report, StringRef name,
                                      ArrayRef<int64_t> found,
                                      ArrayRef<int64_t> expected) {
  if (areCompatibleShapes(found, expected))
    return success();
  return report("expected ", name, " with shape ", shapeToString(expected),
                ", found ", shapeToString(found));
}

LogicalResult mlir::echo::verifyInferredTypes(Operation *op,
                                              TypeRange inferred) {
  for (auto [index, pair] :
       llvm::enumerate(llvm::zip_equal(op->getResultTypes(), inferred))) {
    auto [found, expected] = pair;
    if (!areCompatibleTypes(found, expected))
      return op->emitOpError("expected result ")
             << index << " of type " << expected << ", found " << found;
  }
  return success();
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Checks an attribute with one entry per dimension.
static LogicalResult verifyEntries(const Reporter &report, StringRef name,
                                   ArrayRef<int64_t> entries, int64_t rank,
                                   int64_t least) {
  if (static_cast<int64_t>(entries.size()) != rank)
    return report("expected ", name, " with one entry for each of ", rank,
                  " dimensions, found ", entries.size());
  for (int64_t entry : entries)
    if (entry < least)
      return report("expected entries of ", name, " to be at least ", least,
                    ", found ", entry);
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

static LogicalResult inferBroadcast(const Reporter &report, ValueRange operands,
                                    Type elementType,
                                    SmallVectorImpl<Type> &types) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value operand : operands)
    shapes.push_back(typeOf(operand).getShape());
  std::optional<SmallVector<int64_t>> shape = broadcastShapes(shapes);
  if (!shape) {
    std::string found;
    for (ArrayRef<int64_t> operandShape : shapes) {
      if (!found.empty())
        found += " and ";
      found += shapeToString(operandShape);
    }
    return report("expected operand shapes that broadcast, found ", found);
  }
  types.push_back(RankedTensorType::get(*shape, elementType));
  return success();
}

static LogicalResult inferBinary(const Reporter &report, Value lhs, Value rhs,
                                 SmallVectorImpl<Type> &types) {
  Type elementType = typeOf(lhs).getElementType();
  if (failed(verifyElementType(report, "rhs", typeOf(rhs).getElementType(),
                               elementType)))
    return failure();
  return inferBroadcast(report, {lhs, rhs}, elementType, types);
}

#define ECHO_DEFINE_BINARY_INFERENCE(OP)                                       \
  static LogicalResult infer(const Reporter &report, OP::Adaptor op,           \
                             SmallVectorImpl<Type> &types) {                   \
    return inferBinary(report, op.getLhs(), op.getRhs(), types);               \
  }                                                                            \
  ECHO_DEFINE_INFERENCE(OP)

ECHO_DEFINE_BINARY_INFERENCE(AddOp)
ECHO_DEFINE_BINARY_INFERENCE(SubOp)
ECHO_DEFINE_BINARY_INFERENCE(MulOp)
ECHO_DEFINE_BINARY_INFERENCE(DivOp)
ECHO_DEFINE_BINARY_INFERENCE(RemOp)
ECHO_DEFINE_BINARY_INFERENCE(MaxOp)
ECHO_DEFINE_BINARY_INFERENCE(MinOp)
ECHO_DEFINE_BINARY_INFERENCE(PowOp)

#define ECHO_DEFINE_UNARY_INFERENCE(OP)                                        \
  static LogicalResult infer(const Reporter &, OP::Adaptor op,                 \
                             SmallVectorImpl<Type> &types) {                   \
    types.push_back(op.getOperand().getType());                                \
    return success();                                                          \
  }                                                                            \
  ECHO_DEFINE_INFERENCE(OP)

ECHO_DEFINE_UNARY_INFERENCE(NegOp)
ECHO_DEFINE_UNARY_INFERENCE(AbsOp)
ECHO_DEFINE_UNARY_INFERENCE(SignOp)
ECHO_DEFINE_UNARY_INFERENCE(ExpOp)
ECHO_DEFINE_UNARY_INFERENCE(LogOp)
ECHO_DEFINE_UNARY_INFERENCE(SqrtOp)
ECHO_DEFINE_UNARY_INFERENCE(RsqrtOp)
ECHO_DEFINE_UNARY_INFERENCE(TanhOp)
ECHO_DEFINE_UNARY_INFERENCE(SigmoidOp)
ECHO_DEFINE_UNARY_INFERENCE(ReluOp)
ECHO_DEFINE_UNARY_INFERENCE(GeluOp)
ECHO_DEFINE_UNARY_INFERENCE(ErfOp)

static LogicalResult infer(const Reporter &report, CompareOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  if (failed(verifyElementType(report, "rhs",
                               typeOf(op.getRhs()).getElementType(),
                               typeOf(op.getLhs()).getElementType())))
    return failure();
  return inferBroadcast(report, {op.getLhs(), op.getRhs()},
                        IntegerType::get(op.getLhs().getContext(), 1), types);
}
ECHO_DEFINE_INFERENCE(CompareOp)

static LogicalResult infer(const Reporter &report, SelectOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  Type elementType = typeOf(op.getOnTrue()).getElementType();
  if (failed(verifyElementType(report, "on_false",
                               typeOf(op.getOnFalse()).getElementType(),
                               elementType)))
    return failure();
  return inferBroadcast(report, op.getOperands(), elementType, types);
}
ECHO_DEFINE_INFERENCE(SelectOp)

//===----------------------------------------------------------------------===//
// Shape ops
//===----------------------------------------------------------------------===//

static LogicalResult infer(const Reporter &, ConstantOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  types.push_back(op.getValue().getType());
  return success();
}
ECHO_DEFINE_INFERENCE(ConstantOp)

static LogicalResult infer(const Reporter &report, TransposeOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(op.getOperand());
  ArrayRef<int64_t> permutation = op.getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, type.getRank())))
    return report("expected a permutation of 0 .. ", type.getRank() - 1,
                  ", found ", shapeToString(permutation));
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}
ECHO_DEFINE_INFERENCE(TransposeOp)

static LogicalResult infer(const Reporter &report, SliceOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(op.getOperand());
  int64_t rank = type.getRank();
  if (failed(verifyEntries(report, "offsets", op.getOffsets(), rank, 0)) ||
      failed(verifyEntries(report, "sizes", op.getSizes(), rank, 0)) ||
      failed(verifyEntries(report, "strides", op.getStrides(), rank, 1)))
    return failure();
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = op.getSizes()[dim];
    if (size == 0)
      continue;
    std::optional<int64_t> last = llvm::checkedMulAdd<int64_t>(
        size - 1, op.getStrides()[dim], op.getOffsets()[dim]);
    if (!last)
      return report("expected the last element of dimension ", dim,
                    " to have an index of at most 63 bits");
    if (!type.isDynamicDim(dim) && *last >= type.getDimSize(dim))
      return report("expected the last element of dimension ", dim,
                    " to be in [0, ", type.getDimSize(dim), "), found ", *last);
  }
  types.push_back(RankedTensorType::get(op.getSizes(), type.getElementType()));
  return success();
}
ECHO_DEFINE_INFERENCE(SliceOp)

static LogicalResult infer(const Reporter &report, PadOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(op.getOperand());
  RankedTensorType valueType = typeOf(op.getValue());
  if (failed(verifyEntries(report, "low", op.getLow(), type.getRank(), 0)) ||
      failed(verifyEntries(report, "high", op.getHigh(), type.getRank(), 0)) ||
      failed(verifyShape(report, "value", valueType.getShape(), {})) ||
      failed(verifyElementType(report, "value", valueType.getElementType(),
                               type.getElementType())))
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (ShapedType::isDynamic(size))
      continue;
    std::optional<int64_t> padded = llvm::checkedAdd(size, op.getLow()[dim]);
    if (padded)
      padded = llvm::checkedAdd(*padded, op.getHigh()[dim]);
    if (!padded)
      return report("expected dimension ", dim,
                    " to have at most 63 bits after padding");
    size = *padded;
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}
ECHO_DEFINE_INFERENCE(PadOp)

static LogicalResult infer(const Reporter &report, ConcatOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  if (op.getInputs().empty())
    return report("expected at least one operand, found none");
  RankedTensorType first = typeOf(op.getInputs().front());
  int64_t rank = first.getRank();
  int64_t axis = op.getAxis();
  if (failed(verifyAxis(report, "axis", axis, rank)))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (auto [index, input] : llvm::enumerate(op.getInputs().drop_front())) {
    RankedTensorType type = typeOf(input);
    if (type.getRank() != rank)
      return report("expected operand ", index + 1, " of rank ", rank,
                    ", found ", type.getRank());
    if (type.getElementType() != first.getElementType())
      return report("expected operand ", index + 1, " with element type ",
                    first.getElementType(), ", found ", type.getElementType());
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t size = type.getDimSize(dim);
      if (dim == axis) {
        if (ShapedType::isDynamic(shape[dim]) || ShapedType::isDynamic(size)) {
          shape[dim] = ShapedType::kDynamic;
          continue;
        }
        std::optional<int64_t> sum = llvm::checkedAdd(shape[dim], size);
        if (!sum)
          return report("expected dimension ", axis,
                        " of the result to have at most 63 bits");
        shape[dim] = *sum;
        continue;
      }
      if (!areCompatibleDims(shape[dim], size))
        return report("expected operand ", index + 1, " with size ", shape[dim],
                      " in dimension ", dim, ", found ", size);
      if (ShapedType::isDynamic(shape[dim]))
        shape[dim] = size;
    }
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}
ECHO_DEFINE_INFERENCE(ConcatOp)

static LogicalResult infer(const Reporter &report, ReverseOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(op.getOperand());
  SmallVector<bool> seen(type.getRank());
  for (int64_t axis : op.getAxes()) {
    if (failed(verifyAxis(report, "axes", axis, type.getRank())))
      return failure();
    if (seen[axis])
      return report("expected distinct axes, found ", axis, " twice");
    seen[axis] = true;
  }
  types.push_back(type);
  return success();
}
ECHO_DEFINE_INFERENCE(ReverseOp)

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static LogicalResult infer(const Reporter &report, ReduceOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(op.getOperand());
  Type elementType = type.getElementType();
  ArrayRef<int64_t> dims = op.getDims();
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (failed(verifyAxis(report, "dims", dim, type.getRank())))
      return failure();
    if (index > 0 && dims[index - 1] >= dim)
      return report("expected increasing dims, found ", shapeToString(dims));
  }
  if (elementType.isInteger(1))
    return report("expected an element type other than i1, found ",
                  elementType);
  if (op.getKind() == ReduceKind::Mean && !isa<FloatType>(elementType))
    return report("expected a float element type for a mean, found ",
                  elementType);
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(size);
    else if (op.getKeepdims())
      shape.push_back(1);
  }
  types.push_back(RankedTensorType::get(shape, elementType));
  return success();
}
ECHO_DEFINE_INFERENCE(ReduceOp)

static LogicalResult infer(const Reporter &report, ArgmaxOp::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(op.getOperand());
  int64_t axis = op.getAxis();
  if (failed(verifyAxis(report, "axis", axis, type.getRank())))
    return failure();
  if (type.getDimSize(axis) == 0)
    return report("expected at least one element in dimension ", axis,
                  ", found none");
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  types.push_back(
      RankedTensorType::get(shape, IntegerType::get(type.getContext(), 32)));
  return success();
}
ECHO_DEFINE_INFERENCE(ArgmaxOp)

//===- Folders.cpp - Folding of elementwise ops ---------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Folding.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace mlir::echo;

//===----------------------------------------------------------------------===//
// Elementwise evaluation of constants
//===----------------------------------------------------------------------===//

using Elements = ArrayRef<Attribute>;
/// Computes one element; null where the compiled code's bits aren't known.
using Evaluate = llvm::function_ref<Attribute(Elements, Type)>;

/// Evaluates an elementwise op on constant operands, which broadcast to
/// `type`. Splats stay splats, so that no constant gets larger than one of its
/// operands, or than kMaxFoldedElements.
static OpFoldResult foldElementwise(RankedTensorType type,
                                    ArrayRef<Attribute> operands,
                                    Evaluate evaluate) {
  SmallVector<DenseElementsAttr> constants;
  for (Attribute operand : operands) {
    auto constant = dyn_cast_if_present<DenseElementsAttr>(operand);
    if (!constant || constant.empty())
      return {};
    constants.push_back(constant);
  }
  if (!type.hasStaticShape())
    return {};
  Type elementType = type.getElementType();
  if (llvm::all_of(constants, [](auto c) { return c.isSplat(); })) {
    bool grows = llvm::none_of(constants, [&](DenseElementsAttr constant) {
      return constant.getType().getShape() == type.getShape();
    });
    if (grows && !isSmallTensor(type))
      return {};
    SmallVector<Attribute> values;
    for (DenseElementsAttr constant : constants)
      values.push_back(constant.getSplatValue<Attribute>());
    Attribute value = evaluate(values, elementType);
    if (!value)
      return {};
    return DenseElementsAttr::get(type, value);
  }
  if (!isSmallTensor(type))
    return {};
  SmallVector<Attribute> results;
  bool known = visitIndices(type.getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<Attribute> values;
    for (DenseElementsAttr constant : constants)
      values.push_back(
          *std::next(constant.value_begin<Attribute>(),
                     linearize(index, constant.getType().getShape())));
    results.push_back(evaluate(values, elementType));
    return results.back() != nullptr;
  });
  if (!known)
    return {};
  return DenseElementsAttr::get(type, results);
}

static bool isBool(Attribute value) {
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getType().isInteger(1);
}

/// Evaluates a binary op by `onFloats` or `onIntegers`. Both return nothing
/// where they don't know the bits; NaN results have bits that aren't known.
/// Signed arithmetic isn't meant for i1.
static Attribute evaluateBinary(
    Elements values, Type type,
    llvm::function_ref<std::optional<APFloat>(APFloat, APFloat)> onFloats,
    llvm::function_ref<std::optional<APInt>(APInt, APInt)> onIntegers,
    bool allowsBool = false) {
  if (auto lhs = dyn_cast<FloatAttr>(values[0])) {
    std::optional<APFloat> result =
        onFloats(lhs.getValue(), cast<FloatAttr>(values[1]).getValue());
    if (!result || result->isNaN())
      return {};
    return FloatAttr::get(type, *result);
  }
  if (isBool(values[0]) && !allowsBool)
    return {};
  std::optional<APInt> result =
      onIntegers(cast<IntegerAttr>(values[0]).getValue(),
                 cast<IntegerAttr>(values[1]).getValue());
  if (!result)
    return {};
  return IntegerAttr::get(type, *result);
}

static Attribute
evaluateUnary(Elements values, Type type,
              llvm::function_ref<std::optional<APFloat>(APFloat)> onFloat,
              llvm::function_ref<std::optional<APInt>(APInt)> onInteger) {
  if (auto operand = dyn_cast<FloatAttr>(values[0])) {
    std::optional<APFloat> result = onFloat(operand.getValue());
    if (!result || result->isNaN())
      return {};
    return FloatAttr::get(type, *result);
  }
  if (isBool(values[0]))
    return {};
  std::optional<APInt> result =
      onInteger(cast<IntegerAttr>(values[0]).getValue());
  if (!result)
    return {};
  return IntegerAttr::get(type, *result);
}

//===----------------------------------------------------------------------===//
// Neutral operands
//===----------------------------------------------------------------------===//

/// The value that all elements of a constant have, or null.
static Attribute getSplatElement(Attribute constant) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(constant);
  if (!elements || !elements.isSplat())
    return {};
  return elements.getSplatValue<Attribute>();
}

static bool isIntegerSplat(Attribute constant, int64_t value) {
  auto integer = dyn_cast_if_present<IntegerAttr>(getSplatElement(constant));
  return integer && !isBool(integer) && integer.getInt() == value;
}

static bool isBoolSplat(Attribute constant, bool value) {
  Attribute element = getSplatElement(constant);
  return element && isBool(element) &&
         cast<IntegerAttr>(element).getValue().getBoolValue() == value;
}

/// Compares bits, so that the zeros differ.
static bool isFloatSplat(Attribute constant, double value) {
  auto real = dyn_cast_if_present<FloatAttr>(getSplatElement(constant));
  return real && real.getValue().bitwiseIsEqual(
                     FloatAttr::get(real.getType(), value).getValue());
}

/// `value` itself if it has the op's type: broadcasting changes nothing.
static OpFoldResult ifSameType(Value value, Type type) {
  return value.getType() == type ? OpFoldResult(value) : OpFoldResult();
}

/// A small constant of zeros, or null.
static OpFoldResult getZeros(RankedTensorType type) {
  if (!isSmallTensor(type))
    return {};
  return DenseElementsAttr::get(
      type, Attribute(IntegerAttr::get(type.getElementType(), 0)));
}

//===----------------------------------------------------------------------===//
// Binary ops
//===----------------------------------------------------------------------===//

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // -0.0 + 0.0 is 0.0: only -0.0 is neutral for floats.
  Attribute rhs = adaptor.getRhs();
  if (isIntegerSplat(rhs, 0) || isBoolSplat(rhs, false) ||
      isFloatSplat(rhs, -0.0))
    if (OpFoldResult operand = ifSameType(getLhs(), getType()))
      return operand;
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateBinary(
            values, type,
            [](APFloat lhs, APFloat rhs) { return std::optional(lhs + rhs); },
            [](APInt lhs, APInt rhs) {
              return std::optional(lhs.getBitWidth() == 1 ? lhs | rhs
                                                          : lhs + rhs);
            },
            /*allowsBool=*/true);
      });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  Attribute rhs = adaptor.getRhs();
  if (isIntegerSplat(rhs, 0) || isFloatSplat(rhs, 0.0))
    if (OpFoldResult operand = ifSameType(getLhs(), getType()))
      return operand;
  if (getLhs() == getRhs() && getType().getElementType().isInteger())
    if (OpFoldResult zeros = getZeros(getType()))
      return zeros;
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateBinary(
            values, type,
            [](APFloat lhs, APFloat rhs) { return std::optional(lhs - rhs); },
            [](APInt lhs, APInt rhs) { return std::optional(lhs - rhs); });
      });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  Attribute rhs = adaptor.getRhs();
  if (isIntegerSplat(rhs, 1) || isBoolSplat(rhs, true) ||
      isFloatSplat(rhs, 1.0))
    if (OpFoldResult operand = ifSameType(getLhs(), getType()))
      return operand;
  if (isIntegerSplat(rhs, 0) || isBoolSplat(rhs, false))
    if (OpFoldResult zeros = getZeros(getType()))
      return zeros;
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateBinary(
            values, type,
            [](APFloat lhs, APFloat rhs) { return std::optional(lhs * rhs); },
            [](APInt lhs, APInt rhs) { return std::optional(lhs * rhs); },
            /*allowsBool=*/true);
      });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  Attribute rhs = adaptor.getRhs();
  if (isIntegerSplat(rhs, 1) || isFloatSplat(rhs, 1.0))
    if (OpFoldResult operand = ifSameType(getLhs(), getType()))
      return operand;
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateBinary(
            values, type,
            [](APFloat lhs, APFloat rhs) { return std::optional(lhs / rhs); },
            [](APInt lhs, APInt rhs) {
              return std::optional(rhs.isZero() ? rhs : lhs.sdiv(rhs));
            });
      });
}

OpFoldResult RemOp::fold(FoldAdaptor adaptor) {
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateBinary(
            values, type, [](APFloat, APFloat) { return std::nullopt; },
            [](APInt lhs, APInt rhs) {
              return std::optional(rhs.isZero() ? rhs : lhs.srem(rhs));
            });
      });
}

/// The larger operand (or the smaller one); unknown for NaN and for zeros of
/// different sign.
static std::optional<APFloat> selectExtreme(const APFloat &lhs,
                                            const APFloat &rhs, bool larger) {
  switch (lhs.compare(rhs)) {
  case APFloat::cmpGreaterThan:
    return larger ? lhs : rhs;
  case APFloat::cmpLessThan:
    return larger ? rhs : lhs;
  case APFloat::cmpEqual:
    if (lhs.bitwiseIsEqual(rhs))
      return lhs;
    return std::nullopt;
  case APFloat::cmpUnordered:
    return std::nullopt;
  }
  return std::nullopt;
}

OpFoldResult MaxOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return ifSameType(getLhs(), getType());
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateBinary(
            values, type,
            [](APFloat lhs, APFloat rhs) {
              return selectExtreme(lhs, rhs, /*larger=*/true);
            },
            [](APInt lhs, APInt rhs) {
              return std::optional(lhs.sge(rhs) ? lhs : rhs);
            });
      });
}

OpFoldResult MinOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return ifSameType(getLhs(), getType());
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateBinary(
            values, type,
            [](APFloat lhs, APFloat rhs) {
              return selectExtreme(lhs, rhs, /*larger=*/false);
            },
            [](APInt lhs, APInt rhs) {
              return std::optional(lhs.sle(rhs) ? lhs : rhs);
            });
      });
}

//===----------------------------------------------------------------------===//
// Unary ops
//===----------------------------------------------------------------------===//

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    if (OpFoldResult operand = ifSameType(inner.getOperand(), getType()))
      return operand;
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateUnary(
            values, type,
            [](APFloat operand) { return std::optional(neg(operand)); },
            [](APInt operand) { return std::optional(-operand); });
      });
}

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getDefiningOp<AbsOp>())
    if (OpFoldResult operand = ifSameType(getOperand(), getType()))
      return operand;
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateUnary(
            values, type,
            [](APFloat operand) { return std::optional(abs(operand)); },
            [](APInt operand) { return std::optional(operand.abs()); });
      });
}

OpFoldResult SignOp::fold(FoldAdaptor adaptor) {
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateUnary(
            values, type,
            [](APFloat operand) -> std::optional<APFloat> {
              if (operand.isNaN())
                return std::nullopt;
              const llvm::fltSemantics &semantics = operand.getSemantics();
              if (operand.isZero())
                return APFloat::getZero(semantics);
              return APFloat::getOne(semantics, operand.isNegative());
            },
            [](APInt operand) {
              int64_t sign = operand.isNegative() ? -1 : !operand.isZero();
              return std::optional(
                  APInt(operand.getBitWidth(), sign, /*isSigned=*/true));
            });
      });
}

OpFoldResult ReluOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getDefiningOp<ReluOp>())
    if (OpFoldResult operand = ifSameType(getOperand(), getType()))
      return operand;
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type type) {
        return evaluateUnary(
            values, type,
            [](APFloat operand) {
              APFloat zero = APFloat::getZero(operand.getSemantics());
              return selectExtreme(operand, zero, /*larger=*/true);
            },
            [](APInt operand) {
              return std::optional(operand.isNegative()
                                       ? APInt(operand.getBitWidth(), 0)
                                       : operand);
            });
      });
}

//===----------------------------------------------------------------------===//
// Comparison, choice and conversion
//===----------------------------------------------------------------------===//

static bool holds(CompareDirection direction, bool less, bool equal,
                  bool unordered) {
  switch (direction) {
  case CompareDirection::EQ:
    return equal;
  case CompareDirection::NE:
    return !equal;
  case CompareDirection::LT:
    return less;
  case CompareDirection::LE:
    return less || equal;
  case CompareDirection::GT:
    return !unordered && !less && !equal;
  case CompareDirection::GE:
    return !unordered && !less;
  }
  return false;
}

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  CompareDirection direction = getDirection();
  return foldElementwise(
      getType(), adaptor.getOperands(),
      [&](Elements values, Type type) -> Attribute {
        if (auto lhs = dyn_cast<FloatAttr>(values[0])) {
          APFloat::cmpResult order =
              lhs.getValue().compare(cast<FloatAttr>(values[1]).getValue());
          return IntegerAttr::get(type, holds(direction,
                                              order == APFloat::cmpLessThan,
                                              order == APFloat::cmpEqual,
                                              order == APFloat::cmpUnordered));
        }
        bool ordered = direction != CompareDirection::EQ &&
                       direction != CompareDirection::NE;
        if (isBool(values[0]) && ordered)
          return {};
        APInt lhs = cast<IntegerAttr>(values[0]).getValue();
        APInt rhs = cast<IntegerAttr>(values[1]).getValue();
        return IntegerAttr::get(type, holds(direction, lhs.slt(rhs), lhs == rhs,
                                            /*unordered=*/false));
      });
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse() || isBoolSplat(adaptor.getPredicate(), true))
    if (OpFoldResult operand = ifSameType(getOnTrue(), getType()))
      return operand;
  if (isBoolSplat(adaptor.getPredicate(), false))
    if (OpFoldResult operand = ifSameType(getOnFalse(), getType()))
      return operand;
  return foldElementwise(
      getType(), adaptor.getOperands(), [](Elements values, Type) {
        bool chosen = cast<IntegerAttr>(values[0]).getValue().getBoolValue();
        return values[chosen ? 1 : 2];
      });
}

/// True if every value of type `from` is one of type `to`.
static bool isLossless(Type from, Type to) {
  auto fromFloat = dyn_cast<FloatType>(from);
  auto toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat)
    return APFloat::isRepresentableBy(fromFloat.getFloatSemantics(),
                                      toFloat.getFloatSemantics());
  if (fromFloat || toFloat)
    return false;
  return from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
}

/// Code for narrow floats may round twice, through f32: only exact conversions
/// have known bits there.
static Attribute toFloat(APFloat value, FloatType type, bool exactOnly) {
  bool losesInfo = false;
  value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  if (value.isNaN() || (exactOnly && losesInfo))
    return {};
  return FloatAttr::get(type, value);
}

static Attribute evaluateConvert(Attribute value, Type type) {
  bool isNarrow = type.getIntOrFloatBitWidth() < 32;
  if (auto real = dyn_cast<FloatAttr>(value)) {
    APFloat operand = real.getValue();
    if (type.isInteger(1))
      return IntegerAttr::get(type, !operand.isZero());
    if (auto floatType = dyn_cast<FloatType>(type))
      return toFloat(operand, floatType, isNarrow && !real.getType().isF32());
    APSInt integer(type.getIntOrFloatBitWidth(), /*isUnsigned=*/false);
    bool exact;
    operand.convertToInteger(integer, APFloat::rmTowardZero, &exact);
    return IntegerAttr::get(type, APInt(integer));
  }
  APInt operand = cast<IntegerAttr>(value).getValue();
  if (type.isInteger(1))
    return IntegerAttr::get(type, !operand.isZero());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat real(floatType.getFloatSemantics());
    APFloat::opStatus status = real.convertFromAPInt(
        operand, /*IsSigned=*/!isBool(value), APFloat::rmNearestTiesToEven);
    if (isNarrow && status != APFloat::opOK)
      return {};
    return FloatAttr::get(type, real);
  }
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, isBool(value) ? operand.zextOrTrunc(width)
                                              : operand.sextOrTrunc(width));
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  // Widening and back gives the value itself.
  if (auto inner = getOperand().getDefiningOp<ConvertOp>())
    if (inner.getOperand().getType() == getType() &&
        isLossless(getType().getElementType(),
                   inner.getType().getElementType()))
      return inner.getOperand();
  return foldElementwise(getType(), adaptor.getOperands(),
                         [](Elements values, Type type) {
                           return evaluateConvert(values[0], type);
                         });
}

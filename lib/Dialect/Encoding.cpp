//===- Encoding.cpp - Flags packed into words -----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/FusionShapes.h"
#include "Folding.h"
#include "Inference.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;
using mlir::echo::planning::FusionAccess;
using mlir::echo::planning::FusionClass;
using mlir::echo::planning::FusionShape;
using mlir::echo::planning::FusionWrite;

static constexpr int64_t kWordBits = BinarizeOp::kWordBits;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void BinarizeOp::build(OpBuilder &builder, OperationState &state,
                       Value operand) {
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(operand.getType()).getShape();
  SmallVector<int64_t> shape;
  if (!sizes.empty() && !ShapedType::isDynamic(sizes.back()) &&
      sizes.back() % kWordBits == 0) {
    shape = withLastDim(sizes, sizes.back() / kWordBits);
  } else {
    std::optional<int64_t> count = countElements(sizes);
    shape = {count ? llvm::divideCeilSigned(*count, kWordBits)
                   : ShapedType::kDynamic};
  }
  build(builder, state, RankedTensorType::get(shape, builder.getI32Type()),
        operand);
}

/// Checks that `words` holds the flags of a tensor of shape `flags`; `name` is
/// what is checked.
static LogicalResult verifyWords(Operation *op, StringRef name,
                                 RankedTensorType words,
                                 RankedTensorType flags) {
  Reporter report(op);
  if (!words.hasStaticShape() || !flags.hasStaticShape())
    return success();
  std::optional<int64_t> count = countElements(flags.getShape());
  std::optional<int64_t> found = countElements(words.getShape());
  if (!count || !found)
    return report("expected at most 63 bits for the number of elements");
  int64_t expected = llvm::divideCeilSigned(*count, kWordBits);
  if (*found != expected)
    return report("expected ", name, " of ", expected, " words for ", *count,
                  " elements, found ", *found);
  return success();
}

LogicalResult BinarizeOp::verify() {
  return verifyWords(*this, "a result", getType(), getOperand().getType());
}

LogicalResult DebinarizeOp::verify() {
  return verifyWords(*this, "an operand", getWords().getType(), getType());
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

static bool isPositive(Attribute element) {
  if (auto number = dyn_cast<FloatAttr>(element)) {
    APFloat value = number.getValue();
    return !value.isNaN() && !value.isZero() && !value.isNegative();
  }
  APInt value = cast<IntegerAttr>(element).getValue();
  return value.getBitWidth() == 1 ? value.isOne() : value.isStrictlyPositive();
}

OpFoldResult BinarizeOp::fold(FoldAdaptor adaptor) {
  // Whole words: no bit is without an element.
  if (auto inner = getOperand().getDefiningOp<DebinarizeOp>())
    if (inner.getWords().getType() == getType() && getType().hasStaticShape() &&
        inner.getType().hasStaticShape() &&
        inner.getType().getNumElements() % kWordBits == 0)
      return inner.getWords();
  auto constant = dyn_cast_if_present<DenseElementsAttr>(adaptor.getOperand());
  if (!constant || !getType().hasStaticShape() ||
      !isSmallTensor(getOperand().getType()))
    return {};
  SmallVector<int32_t> words(getType().getNumElements(), 0);
  for (auto [index, element] :
       llvm::enumerate(constant.getValues<Attribute>()))
    if (isPositive(element))
      words[index / kWordBits] |= int32_t(1u << (index % kWordBits));
  return DenseElementsAttr::get(getType(), ArrayRef<int32_t>(words));
}

OpFoldResult DebinarizeOp::fold(FoldAdaptor adaptor) {
  auto constant = dyn_cast_if_present<DenseElementsAttr>(adaptor.getWords());
  if (!constant || !isSmallTensor(getType()))
    return {};
  auto words = constant.getValues<int32_t>();
  SmallVector<bool> flags;
  for (int64_t i = 0, e = getType().getNumElements(); i < e; ++i)
    flags.push_back(uint32_t(words[i / kWordBits]) >> (i % kWordBits) & 1);
  return DenseElementsAttr::get(getType(), flags);
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

FusionShape BinarizeOp::getFusionShape() {
  FusionShape shape;
  shape.elements = getOperand().getType().getNumElements();
  shape.weight = 3;
  // A row is what shares a word.
  bool isWhole = shape.elements != 0 && shape.elements % kWordBits == 0;
  if (isWhole) {
    shape.kind = FusionClass::RowReduction;
    shape.columns = kWordBits;
  }
  shape.reads = {
      {isWhole ? FusionAccess::Same : FusionAccess::Any, 1}};
  shape.writes = {isWhole ? FusionWrite::Row : FusionWrite::Other};
  return shape;
}

FusionShape DebinarizeOp::getFusionShape() {
  FusionShape shape;
  shape.kind = FusionClass::Pointwise;
  shape.elements = getType().getNumElements();
  shape.weight = 3;
  bool isWhole = shape.elements % kWordBits == 0;
  shape.reads = {isWhole ? FusionAccess{FusionAccess::Row, kWordBits}
                         : FusionAccess{FusionAccess::Any, 1}};
  shape.writes = {FusionWrite::Same};
  return shape;
}

bool DebinarizeOp::isMovement() { return true; }

//===----------------------------------------------------------------------===//
// What bits can say
//===----------------------------------------------------------------------===//

static bool isZero(Value value) {
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
    return false;
  auto element = constant.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().isZero();
  return cast<IntegerAttr>(element).getValue().isZero();
}

bool CompareOp::isPositivityOf(unsigned index) {
  CompareDirection wanted =
      index == 0 ? CompareDirection::GT : CompareDirection::LT;
  return getDirection() == wanted && isZero(getOperand(1 - index)) &&
         cast<RankedTensorType>(getOperand(index).getType()).getShape() ==
             getType().getShape();
}

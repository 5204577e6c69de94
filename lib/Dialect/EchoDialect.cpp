//===- EchoDialect.cpp - The Echo dialect ---------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::echo;

#include "Echo/Dialect/EchoDialect.cpp.inc"
#include "Echo/Dialect/EchoEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Echo/Dialect/EchoAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "Echo/Dialect/EchoOps.cpp.inc"

namespace {

/// Functions of Echo ops can be inlined; a kernel takes straight-line code.
struct EchoInliner : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *source, bool,
                       IRMapping &) const final {
    return source->hasOneBlock();
  }
};

} // namespace

void EchoDialect::initialize() {
  addInterfaces<EchoInliner>();
  addOperations<
#define GET_OP_LIST
#include "Echo/Dialect/EchoOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Echo/Dialect/EchoAttributes.cpp.inc"
      >();
}

Attribute InitAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  double a = 0, b = 0;
  SMLoc loc;
  if (parser.parseLess() || failed(parser.getCurrentLocation(&loc)) ||
      parser.parseKeyword(&keyword))
    return {};
  std::optional<InitKind> kind = symbolizeInitKind(keyword);
  if (!kind) {
    parser.emitError(loc,
                     "expected constant, uniform, normal or randint, found ")
        << keyword;
    return {};
  }
  auto parseNumber = [&](double &value) -> ParseResult {
    SMLoc numberLoc;
    Attribute number;
    if (parser.parseComma() || failed(parser.getCurrentLocation(&numberLoc)) ||
        parser.parseAttribute(number))
      return failure();
    if (auto real = dyn_cast<FloatAttr>(number))
      value = real.getValueAsDouble();
    else if (auto integer = dyn_cast<IntegerAttr>(number);
             integer && integer.getType().isSignlessInteger(64))
      value = static_cast<double>(integer.getInt());
    else
      return parser.emitError(numberLoc, "expected a number, found ") << number;
    return success();
  };
  if (parseNumber(a) || (*kind != InitKind::Constant && parseNumber(b)) ||
      parser.parseGreater())
    return {};
  Builder builder(parser.getContext());
  return parser.getChecked<InitAttr>(loc, parser.getContext(), *kind,
                                     builder.getF64FloatAttr(a),
                                     builder.getF64FloatAttr(b));
}

void InitAttr::print(AsmPrinter &printer) const {
  auto printNumber = [&](FloatAttr number) {
    printer << ", ";
    if (getKind() == InitKind::RandInt)
      printer << static_cast<int64_t>(number.getValueAsDouble());
    else
      printer.printFloat(number.getValue());
  };
  printer << "<" << stringifyInitKind(getKind());
  printNumber(getA());
  if (getKind() != InitKind::Constant)
    printNumber(getB());
  printer << ">";
}

LogicalResult InitAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               InitKind kind, FloatAttr a, FloatAttr b) {
  APFloat low = a.getValue();
  APFloat high = b.getValue();
  if (!low.isFinite() || !high.isFinite())
    return emitError() << "expected finite numbers in #echo.init";
  switch (kind) {
  case InitKind::Constant:
    return success();
  case InitKind::Normal:
    if (high.isNegative() && !high.isZero())
      return emitError() << "expected a deviation of at least 0, found "
                         << b.getValueAsDouble();
    return success();
  case InitKind::RandInt:
    // Beyond 2^53 not every integer is a double.
    for (const APFloat &bound : {low, high})
      if (!bound.isInteger() || abs(bound) > APFloat(9007199254740992.0))
        return emitError() << "expected integer bounds of at most 53 bits, "
                              "found "
                           << bound.convertToDouble();
    [[fallthrough]];
  case InitKind::Uniform:
    if (!(low < high))
      return emitError() << "expected a lower bound below the upper one, found "
                         << a.getValueAsDouble() << " and "
                         << b.getValueAsDouble();
    return success();
  }
  return emitError() << "unknown kind of #echo.init";
}

Operation *EchoDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

LogicalResult EchoDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  return verifyOpAttribute(op, attribute);
}

LogicalResult EchoDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argIndex,
                                                    NamedAttribute attribute) {
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    return verifyArgumentAttribute(function, argIndex, attribute);
  return op->emitOpError("expected '")
         << attribute.getName().getValue() << "' on a function's argument";
}

LogicalResult EchoDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned resultIndex, NamedAttribute attribute) {
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    return verifyResultAttribute(function, resultIndex, attribute);
  return op->emitOpError("expected '")
         << attribute.getName().getValue() << "' on a function's result";
}

//===- EchoDialect.cpp - The Echo dialect ---------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::echo;

#include "Echo/Dialect/EchoDialect.cpp.inc"
#include "Echo/Dialect/EchoEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "Echo/Dialect/EchoAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "Echo/Dialect/EchoOps.cpp.inc"

void EchoDialect::initialize() {
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
    parser.emitError(loc, "expected constant, uniform, normal or randint, found ")
        << keyword;
    return {};
  }
  auto parseNumber = [&](double &value) -> ParseResult {
    if (parser.parseComma())
      return failure();
    return parser.parseFloat(value);
  };
  if (parseNumber(a) || (*kind != InitKind::Constant && parseNumber(b)) ||
      parser.parseGreater())
    return {};
  return InitAttr::get(parser.getContext(), *kind, a, b);
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyInitKind(getKind()) << ", ";
  printer.printFloat(getA().getValue());
  if (getKind() != InitKind::Constant) {
    printer << ", ";
    printer.printFloat(getB().getValue());
  }
  printer << ">";
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
  return success();
}

LogicalResult
EchoDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex,
                                      unsigned argIndex,
                                      NamedAttribute attribute) {
  return success();
}

LogicalResult
EchoDialect::verifyRegionResultAttribute(Operation *op, unsigned regionIndex,
                                         unsigned resultIndex,
                                         NamedAttribute attribute) {
  return success();
}

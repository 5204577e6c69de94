//===- FunctionAttributes.cpp - What a function says of its tensors -------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/FunctionAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::echo;

/// On an argument, the index of the result that replaces it, as JAX writes it.
static constexpr llvm::StringLiteral kAliasingOutputAttr = "tf.aliasing_output";

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

ArgumentRole mlir::echo::getArgumentRole(FunctionOpInterface function,
                                         unsigned index) {
  auto role = function.getArgAttrOfType<StringAttr>(index, kRoleAttr);
  if (!role)
    return ArgumentRole::Input;
  return symbolizeArgumentRole(role.getValue()).value_or(ArgumentRole::Input);
}

std::string mlir::echo::getArgumentName(FunctionOpInterface function,
                                        unsigned index) {
  if (auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr))
    return name.str();
  return "arg" + std::to_string(index);
}

std::string mlir::echo::getResultName(FunctionOpInterface function,
                                      unsigned index) {
  if (auto name = function.getResultAttrOfType<StringAttr>(index, kNameAttr))
    return name.str();
  return "result" + std::to_string(index);
}

InitAttr mlir::echo::getArgumentInit(FunctionOpInterface function,
                                     unsigned index) {
  return function.getArgAttrOfType<InitAttr>(index, kInitAttr);
}

std::optional<unsigned>
mlir::echo::getAliasedArgument(FunctionOpInterface function, unsigned result) {
  if (auto argument = function.getResultAttrOfType<IntegerAttr>(
          result, kAliasesArgumentAttr))
    return argument.getInt();
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    auto output =
        function.getArgAttrOfType<IntegerAttr>(i, kAliasingOutputAttr);
    if (output && output.getInt() == static_cast<int64_t>(result))
      return i;
  }
  return std::nullopt;
}

std::optional<unsigned>
mlir::echo::getGradientArgument(FunctionOpInterface function, unsigned result) {
  if (auto argument =
          function.getResultAttrOfType<IntegerAttr>(result, kGradientOfAttr))
    return argument.getInt();
  return std::nullopt;
}

bool mlir::echo::isFloatScalar(Type type) {
  // A bufferized function has memrefs in their places.
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() && shaped.getRank() == 0 &&
         isa<FloatType>(shaped.getElementType());
}

FailureOr<unsigned> mlir::echo::getLossIndex(FunctionOpInterface function,
                                             std::optional<int64_t> option) {
  ArrayRef<Type> types = function.getResultTypes();
  if (option) {
    if (*option < 0 || *option >= static_cast<int64_t>(types.size()))
      return function.emitError("expected loss= to name one of ")
             << types.size() << " results, found " << *option;
    if (!isFloatScalar(types[*option]))
      return function.emitError("expected the loss, result #")
             << *option << ", to be a float tensor of rank 0, found "
             << types[*option];
    return static_cast<unsigned>(*option);
  }
  SmallVector<unsigned> scalars;
  for (auto [i, type] : llvm::enumerate(types)) {
    if (function.getResultAttr(i, kLossAttr))
      return static_cast<unsigned>(i);
    if (isFloatScalar(type))
      scalars.push_back(i);
  }
  if (scalars.size() == 1)
    return scalars.front();
  return function.emitError("expected a result with '")
         << kLossAttr << "' or one float scalar result, found "
         << scalars.size() << " float scalars";
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Checks, once for all arguments or results, that names differ from each
/// other and from the default names of the rest.
static LogicalResult
verifyDistinctNames(FunctionOpInterface function, StringRef kind,
                    unsigned count,
                    llvm::function_ref<std::string(unsigned)> nameOf) {
  llvm::StringMap<unsigned> indices;
  for (unsigned i = 0; i < count; ++i) {
    std::string name = nameOf(i);
    auto [entry, inserted] = indices.try_emplace(name, i);
    if (!inserted)
      return function.emitOpError("expected distinct names of ")
             << kind << "s, found '" << name << "' for " << kind << "s "
             << entry->second << " and " << i;
  }
  return success();
}

static LogicalResult verifyName(FunctionOpInterface function, StringRef kind,
                                unsigned index, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (name && !name.empty())
    return success();
  return function.emitOpError("expected '")
         << kNameAttr << "' of " << kind << " " << index
         << " to be a non-empty string, found " << value;
}

static LogicalResult verifyInit(FunctionOpInterface function, unsigned index,
                                Attribute value) {
  auto init = dyn_cast<InitAttr>(value);
  if (!init)
    return function.emitOpError("expected '")
           << kInitAttr << "' of argument " << index
           << " to be #echo.init, found " << value;
  Type type = function.getArgumentTypes()[index];
  Type elementType = getElementTypeOrSelf(type);
  bool needsInteger = init.getKind() == InitKind::RandInt;
  bool needsFloat =
      init.getKind() == InitKind::Uniform || init.getKind() == InitKind::Normal;
  if ((needsInteger && !isa<IntegerType>(elementType)) ||
      (needsFloat && !isa<FloatType>(elementType)))
    return function.emitOpError("expected argument ")
           << index << " with '" << kInitAttr << "' "
           << stringifyInitKind(init.getKind()) << " to have "
           << (needsInteger ? "integer" : "float") << " elements, found "
           << type;
  return success();
}

LogicalResult mlir::echo::verifyArgumentAttribute(FunctionOpInterface function,
                                                  unsigned index,
                                                  NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == kRoleAttr) {
    auto role = dyn_cast<StringAttr>(value);
    if (role && symbolizeArgumentRole(role.getValue()))
      return success();
    return function.emitOpError("expected '")
           << kRoleAttr << "' of argument " << index
           << " to be \"parameter\", \"state\", \"input\" or \"label\", found "
           << value;
  }
  if (name == kNameAttr) {
    if (failed(verifyName(function, "argument", index, value)))
      return failure();
    // The first named argument checks for all.
    for (unsigned i = 0; i < index; ++i)
      if (function.getArgAttr(i, kNameAttr))
        return success();
    return verifyDistinctNames(
        function, "argument", function.getNumArguments(),
        [&](unsigned i) { return getArgumentName(function, i); });
  }
  if (name == kInitAttr)
    return verifyInit(function, index, value);
  if (name == kLossAttr || name == kGradientOfAttr ||
      name == kAliasesArgumentAttr)
    return function.emitOpError("expected '")
           << name << "' on a result, found it on argument " << index;
  return success();
}

/// Checks that an attribute on a result is the index of an argument with the
/// result's type.
static LogicalResult verifyArgumentIndex(FunctionOpInterface function,
                                         unsigned result,
                                         NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto value = dyn_cast<IntegerAttr>(attribute.getValue());
  int64_t count = function.getNumArguments();
  if (!value || !value.getType().isSignlessInteger(64))
    return function.emitOpError("expected '")
           << name << "' of result " << result
           << " to be an i64, the index of an argument, found "
           << attribute.getValue();
  int64_t index = value.getInt();
  if (index < 0 || index >= count)
    return function.emitOpError("expected '")
           << name << "' of result " << result << " to be in [0, " << count
           << "), found " << index;
  Type expected = function.getArgumentTypes()[index];
  Type found = function.getResultTypes()[result];
  if (expected != found)
    return function.emitOpError("expected result ")
           << result << " with '" << name << "' " << index
           << " to have the argument's type " << expected << ", found "
           << found;
  return success();
}

static LogicalResult verifyAliases(FunctionOpInterface function,
                                   unsigned result, NamedAttribute attribute) {
  if (failed(verifyArgumentIndex(function, result, attribute)))
    return failure();
  int64_t argument = cast<IntegerAttr>(attribute.getValue()).getInt();
  for (unsigned i = 0; i < result; ++i)
    if (function.getResultAttr(i, kAliasesArgumentAttr) == attribute.getValue())
      return function.emitOpError("expected argument ")
             << argument << " to be replaced by one result, found results " << i
             << " and " << result;
  auto output =
      function.getArgAttrOfType<IntegerAttr>(argument, kAliasingOutputAttr);
  if (output && output.getInt() != static_cast<int64_t>(result))
    return function.emitOpError("expected argument ")
           << argument << " to be replaced by one result, found result "
           << result << " and, by '" << kAliasingOutputAttr << "', result "
           << output.getInt();
  return success();
}

static LogicalResult verifyLoss(FunctionOpInterface function, unsigned result,
                                Attribute value) {
  if (!isa<UnitAttr>(value))
    return function.emitOpError("expected '")
           << kLossAttr << "' of result " << result
           << " to be a unit attribute, found " << value;
  Type type = function.getResultTypes()[result];
  if (!isFloatScalar(type))
    return function.emitOpError("expected result ")
           << result << " with '" << kLossAttr
           << "' to be a float tensor of rank 0, found " << type;
  for (unsigned i = 0; i < result; ++i)
    if (function.getResultAttr(i, kLossAttr))
      return function.emitOpError("expected one result with '")
             << kLossAttr << "', found results " << i << " and " << result;
  return success();
}

LogicalResult mlir::echo::verifyResultAttribute(FunctionOpInterface function,
                                                unsigned index,
                                                NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kNameAttr) {
    if (failed(verifyName(function, "result", index, attribute.getValue())))
      return failure();
    // The first named result checks for all.
    for (unsigned i = 0; i < index; ++i)
      if (function.getResultAttr(i, kNameAttr))
        return success();
    return verifyDistinctNames(
        function, "result", function.getNumResults(),
        [&](unsigned i) { return getResultName(function, i); });
  }
  if (name == kLossAttr)
    return verifyLoss(function, index, attribute.getValue());
  if (name == kGradientOfAttr)
    return verifyArgumentIndex(function, index, attribute);
  if (name == kAliasesArgumentAttr)
    return verifyAliases(function, index, attribute);
  if (name == kRoleAttr || name == kInitAttr)
    return function.emitOpError("expected '")
           << name << "' on an argument, found it on result " << index;
  return success();
}

//===- FunctionAttributes.cpp - What a function says of its tensors -------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/FunctionAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mlir;
using namespace mlir::echo;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static FailureOr<func::FuncOp> checkOneBlock(func::FuncOp function) {
  size_t blocks = function.getBody().getBlocks().size();
  if (blocks == 1)
    return function;
  return function.emitError("expected a function of one block, found ")
         << blocks;
}

FailureOr<func::FuncOp> mlir::echo::findFunction(ModuleOp module,
                                                 StringRef name) {
  if (!name.empty()) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function)
      return module.emitError("expected a function @") << name
                                                       << "; there is none";
    if (function.isExternal())
      return function.emitError("expected a function with a body");
    if (function->hasAttr(kKernelAttr))
      return function.emitError("expected a function that isn't a kernel");
    return checkOneBlock(function);
  }
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal() &&
        !function->hasAttr(kKernelAttr))
      candidates.push_back(function);
  if (candidates.size() == 1)
    return checkOneBlock(candidates.front());
  InFlightDiagnostic error =
      module.emitError("expected one public function with a body, or the name "
                       "of a function, found ")
      << candidates.size() << " public functions";
  for (func::FuncOp function : candidates)
    error.attachNote(function.getLoc()) << "@" << function.getName();
  if (candidates.empty())
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(kKernelAttr))
        error.attachNote(function.getLoc())
            << "@" << function.getName() << " is a kernel, as '" << kKernelAttr
            << "' says";
  return error;
}

ArgumentRole mlir::echo::getArgumentRole(FunctionOpInterface function,
                                         unsigned index) {
  auto role = function.getArgAttrOfType<StringAttr>(index, kRoleAttr);
  if (!role)
    return ArgumentRole::Input;
  return symbolizeArgumentRole(role.getValue()).value_or(ArgumentRole::Input);
}

bool mlir::echo::isPersistentArgument(FunctionOpInterface function,
                                      unsigned index) {
  ArgumentRole role = getArgumentRole(function, index);
  return role == ArgumentRole::Parameter || role == ArgumentRole::State;
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

/// The result that replaces an argument by `tf.aliasing_output`, if any.
static FailureOr<std::optional<unsigned>>
getAliasingOutput(FunctionOpInterface function, unsigned argument) {
  Attribute attribute = function.getArgAttr(argument, kAliasingOutputAttr);
  if (!attribute)
    return std::optional<unsigned>();
  auto value = dyn_cast<IntegerAttr>(attribute);
  int64_t count = function.getNumResults();
  if (!value || !isa<IntegerType>(value.getType()) ||
      value.getValue().getSignificantBits() > 64 ||
      value.getValue().getSExtValue() < 0 ||
      value.getValue().getSExtValue() >= count)
    return function.emitOpError("expected '")
           << kAliasingOutputAttr << "' of argument " << argument
           << " to be the index of one of " << count << " results, found "
           << attribute;
  return std::optional<unsigned>(value.getValue().getSExtValue());
}

/// A result that replaces an argument is none any more: nobody would see its
/// loss.
static LogicalResult failAliasedLoss(FunctionOpInterface function,
                                     unsigned result, int64_t argument) {
  return function.emitOpError("expected result ")
         << result << " with '" << kLossAttr
         << "' to replace no argument, found that it replaces argument "
         << argument << "; return the value twice";
}

FailureOr<SmallVector<std::optional<unsigned>>>
mlir::echo::getAliasedArguments(FunctionOpInterface function) {
  SmallVector<std::optional<unsigned>> aliases(function.getNumResults());
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    if (auto argument = function.getResultAttrOfType<IntegerAttr>(
            i, kAliasesArgumentAttr))
      aliases[i] = argument.getInt();
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    FailureOr<std::optional<unsigned>> found = getAliasingOutput(function, i);
    if (failed(found))
      return failure();
    if (!*found)
      continue;
    unsigned result = **found;
    if (aliases[result] && *aliases[result] != i)
      return function.emitOpError("expected result ")
             << result << " to replace one argument, found arguments "
             << *aliases[result] << " and, by '" << kAliasingOutputAttr
             << "', " << i;
    Type expected = function.getArgumentTypes()[i];
    if (function.getResultTypes()[result] != expected)
      return function.emitOpError("expected result ")
             << result << ", which '" << kAliasingOutputAttr
             << "' of argument " << i << " names, to have the argument's type "
             << expected << ", found " << function.getResultTypes()[result];
    if (function.getResultAttr(result, kLossAttr))
      return failAliasedLoss(function, result, i);
    aliases[result] = i;
  }
  return aliases;
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

std::optional<unsigned> mlir::echo::findLoss(FunctionOpInterface function) {
  std::optional<unsigned> scalar;
  unsigned numScalars = 0;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    if (function.getResultAttr(i, kLossAttr))
      return static_cast<unsigned>(i);
    if (isFloatScalar(type)) {
      scalar = i;
      ++numScalars;
    }
  }
  return numScalars == 1 ? scalar : std::nullopt;
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
  if (std::optional<unsigned> found = findLoss(function))
    return *found;
  return function.emitError("expected a result with '")
         << kLossAttr << "' or one float scalar result, found "
         << llvm::count_if(types, isFloatScalar) << " float scalars";
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// Where an attribute may stand; bits.
enum Place : unsigned { OnArgument = 1, OnResult = 2, OnFunction = 4 };

struct KnownAttribute {
  llvm::StringLiteral name;
  unsigned places;
};
} // namespace

/// Every discardable attribute of the dialect.
static constexpr KnownAttribute kKnownAttributes[] = {
    {kRoleAttr, OnArgument},
    {kNameAttr, OnArgument | OnResult},
    {kInitAttr, OnArgument},
    {kLossAttr, OnResult},
    {kGradientOfAttr, OnResult},
    {kAliasesArgumentAttr, OnResult},
    {kKernelAttr, OnFunction},
    {kOverwritableAttr, OnArgument},
    {kCostAttr, OnFunction},
    {kChunksAttr, OnFunction},
    {kConstantsAttr, OnFunction},
    {kArenaAttr, OnArgument},
    {kArenaOffsetAttr, OnArgument},
    {kArenaBytesAttr, OnFunction},
    {kArenaAlignmentAttr, OnFunction},
    {kLogicalPeakAttr, OnFunction},
};

/// Checks that the dialect has an attribute of this name for this place, which
/// `where` describes. A place of 0 has none.
static LogicalResult verifyPlace(Operation *op, StringRef name, unsigned place,
                                 const Twine &where) {
  const KnownAttribute *known =
      llvm::find_if(kKnownAttributes, [&](const KnownAttribute &attribute) {
        return attribute.name == name;
      });
  if (known != std::end(kKnownAttributes)) {
    if (known->places & place)
      return success();
    SmallVector<StringRef> places;
    if (known->places & OnArgument)
      places.push_back("an argument");
    if (known->places & OnResult)
      places.push_back("a result");
    if (known->places & OnFunction)
      places.push_back("a function");
    return op->emitOpError("expected '")
           << name << "' on " << llvm::join(places, " or ")
           << ", found it on " << where;
  }
  InFlightDiagnostic error = op->emitOpError("unknown attribute '")
                             << name << "' on " << where << "; expected ";
  SmallVector<StringRef> names;
  for (const KnownAttribute &attribute : kKnownAttributes)
    if (attribute.places & place)
      names.push_back(attribute.name);
  if (names.empty())
    return error << "none there";
  return error << "one of '" << llvm::join(names, "', '") << "'";
}

static bool hasTensors(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  return function && (llvm::any_of(function.getArgumentTypes(), isTensor) ||
                      llvm::any_of(function.getResultTypes(), isTensor));
}

/// Checks attributes whose values need no more than a type.
static LogicalResult verifyValue(Operation *op, NamedAttribute attribute,
                                 const Twine &where) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  StringRef expected;
  if (name == kKernelAttr || name == kArenaAttr) {
    if (!isa<UnitAttr>(value))
      expected = "a unit attribute";
  } else if (name == kCostAttr) {
    auto cost = dyn_cast<DictionaryAttr>(value);
    auto isNumber = [&](StringRef key) {
      auto number = cost.getAs<IntegerAttr>(key);
      return number && number.getType().isSignlessInteger(64);
    };
    if (!cost || cost.size() != 3 || !isNumber("bytes") || !isNumber("flops") ||
        !cost.getAs<StringAttr>("ops"))
      expected = "{bytes, flops : i64, ops : string}";
  } else if (name == kConstantsAttr) {
    if (!isa<ArrayAttr>(value))
      expected = "an array";
  } else if (name == kChunksAttr || name == kArenaOffsetAttr ||
             name == kArenaBytesAttr || name == kArenaAlignmentAttr ||
             name == kLogicalPeakAttr) {
    auto number = dyn_cast<IntegerAttr>(value);
    if (!number || !number.getType().isSignlessInteger(64) ||
        number.getInt() < 0)
      expected = "an i64 of at least 0";
    else if (name == kChunksAttr && hasTensors(op))
      return op->emitOpError("expected '")
             << name << "' on a kernel that was lowered to buffers, found "
             << "tensors";
  } else if (name == kOverwritableAttr) {
    auto results = dyn_cast<DenseI64ArrayAttr>(value);
    int64_t count = cast<FunctionOpInterface>(op).getNumResults();
    if (!results || !llvm::all_of(results.asArrayRef(), [&](int64_t result) {
          return result >= 0 && result < count;
        }))
      expected = "an array<i64> of indices of results";
  }
  if (expected.empty())
    return success();
  return op->emitOpError("expected '")
         << name << "' on " << where << " to be " << expected << ", found "
         << value;
}

LogicalResult mlir::echo::verifyOpAttribute(Operation *op,
                                            NamedAttribute attribute) {
  bool isFunction = isa<FunctionOpInterface>(op);
  StringRef where = isFunction ? "a function" : "an op";
  unsigned place = isFunction ? OnFunction : 0u;
  if (failed(verifyPlace(op, attribute.getName(), place, where)))
    return failure();
  return verifyValue(op, attribute, where);
}

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
  if (name && name.getValue().contains('\0'))
    return function.emitOpError("expected '")
           << kNameAttr << "' of " << kind << " " << index
           << " to be without zero bytes, found " << value;
  if (name && !name.empty())
    return success();
  return function.emitOpError("expected '")
         << kNameAttr << "' of " << kind << " " << index
         << " to be a non-empty string, found " << value;
}

/// Checks (C4) of #echo.init: what it draws are integers that `type` holds.
static bool fitsInteger(InitAttr init, IntegerType type) {
  if (init.getKind() != InitKind::Constant &&
      init.getKind() != InitKind::RandInt)
    return false;
  double low = init.getA().getValueAsDouble();
  // randint ends before its upper bound.
  double high = init.getKind() == InitKind::Constant
                    ? low
                    : init.getB().getValueAsDouble() - 1;
  bool isFlag = type.getWidth() == 1;
  double limit = std::ldexp(1.0, type.getWidth() - 1);
  return std::trunc(low) == low && low >= (isFlag ? 0 : -limit) &&
         high <= (isFlag ? 1 : limit - 1) && high < 0x1p63;
}

/// Checks (C5) of #echo.init: no number that it draws from is infinite in
/// `type`.
static bool fitsFloat(InitAttr init, FloatType type) {
  if (init.getKind() == InitKind::RandInt)
    return false;
  for (FloatAttr number : {init.getA(), init.getB()}) {
    APFloat value = number.getValue();
    bool losesInfo;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    if (value.isInfinity())
      return false;
  }
  return true;
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
  if (auto integer = dyn_cast<IntegerType>(elementType);
      integer ? fitsInteger(init, integer)
              : isa<FloatType>(elementType) &&
                    fitsFloat(init, cast<FloatType>(elementType)))
    return success();
  return function.emitOpError("expected '")
         << kInitAttr << "' of argument " << index
         << " to draw values that elements of " << type << " hold, found "
         << value;
}

LogicalResult mlir::echo::verifyArgumentAttribute(FunctionOpInterface function,
                                                  unsigned index,
                                                  NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  std::string where = "argument " + std::to_string(index);
  if (failed(verifyPlace(function, name, OnArgument, where)))
    return failure();
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
  return verifyValue(function, attribute, where);
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
  if (function.getResultAttr(result, kLossAttr))
    return failAliasedLoss(function, result, argument);
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
  std::string where = "result " + std::to_string(index);
  if (failed(verifyPlace(function, name, OnResult, where)))
    return failure();
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
  return verifyValue(function, attribute, where);
}

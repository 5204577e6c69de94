//===- StepInterpreter.cpp - Evaluates a function step by step ------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Target/Interpreter.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::echo;

StepInterpreter::StepInterpreter(func::FuncOp function,
                                 InterpreterOptions options)
    : function(function), interpreter(std::make_unique<Interpreter>(options)) {}

FailureOr<StepInterpreter> StepInterpreter::create(func::FuncOp function,
                                                   InterpreterOptions options) {
  StepInterpreter step(function, options);
  llvm::StringSet<> seen;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
    step.argumentNames.push_back(name ? name.str() : "arg" + std::to_string(i));
    if (!seen.insert(step.argumentNames.back()).second)
      return function.emitOpError("has two arguments named '")
             << step.argumentNames.back() << "'";
  }
  seen.clear();
  unsigned numArguments = function.getNumArguments();
  for (unsigned i = 0, e = function.getNumResults(); i != e; ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(i, kNameAttr);
    step.resultNames.push_back(name ? name.str()
                                    : "result" + std::to_string(i));
    if (!seen.insert(step.resultNames.back()).second)
      return function.emitOpError("has two results named '")
             << step.resultNames.back() << "'";
    std::optional<unsigned> alias;
    if (Attribute attribute = function.getResultAttr(i, kAliasesArgumentAttr)) {
      auto index = dyn_cast<IntegerAttr>(attribute);
      if (!index || index.getValue().getSExtValue() < 0 ||
          index.getValue().getSExtValue() >= int64_t(numArguments))
        return function.emitOpError("result ")
               << i << " has " << kAliasesArgumentAttr << " = " << attribute
               << ", expected the index of one of " << numArguments
               << " arguments";
      alias = unsigned(index.getInt());
    }
    step.aliases.push_back(alias);
  }
  for (unsigned i = 0; i != numArguments; ++i) {
    Attribute attribute = function.getArgAttr(i, "tf.aliasing_output");
    if (!attribute)
      continue;
    auto index = dyn_cast<IntegerAttr>(attribute);
    if (!index || index.getValue().getSExtValue() < 0 ||
        index.getValue().getSExtValue() >= int64_t(step.aliases.size()))
      return function.emitOpError("argument ")
             << i << " has tf.aliasing_output = " << attribute
             << ", expected the index of one of " << step.aliases.size()
             << " results";
    step.aliases[index.getInt()] = i;
  }
  llvm::SmallDenseSet<unsigned> replaced;
  for (auto [result, alias] : llvm::enumerate(step.aliases)) {
    if (!alias)
      continue;
    if (!replaced.insert(*alias).second)
      return function.emitOpError("argument ")
             << *alias << " is replaced by two results";
    if (function.getResultTypes()[result] !=
        function.getArgumentTypes()[*alias])
      return function.emitOpError("result ")
             << result << " of type " << function.getResultTypes()[result]
             << " cannot replace argument " << *alias << " of type "
             << function.getArgumentTypes()[*alias];
  }
  step.arguments.resize(numArguments);
  return step;
}

LogicalResult StepInterpreter::set(StringRef name, HostTensor value) {
  auto found = llvm::find(argumentNames, name);
  if (found == argumentNames.end())
    return function.emitOpError("has no argument named '") << name << "'";
  unsigned index = found - argumentNames.begin();
  auto declared =
      dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
  if (!declared || !value ||
      failed(verifyCompatibleShape(declared.getShape(), value.getShape())) ||
      (value.getElementType() != declared.getElementType() &&
       value.getElementType() !=
           interpreter->getElementType(declared.getElementType()))) {
    InFlightDiagnostic diagnostic = function.emitOpError("argument '")
                                    << name << "' expects "
                                    << function.getArgumentTypes()[index]
                                    << ", found ";
    if (value)
      return diagnostic << value.getType();
    return diagnostic << "no value";
  }
  arguments[index] = std::move(value);
  return success();
}

LogicalResult StepInterpreter::step() {
  for (auto [index, argument] : llvm::enumerate(arguments))
    if (!argument)
      return function.emitOpError("argument '")
             << argumentNames[index] << "' has no value";
  SmallVector<HostTensor> next;
  if (failed(interpreter->call(function, arguments, next)))
    return failure();
  results = std::move(next);
  for (auto [result, alias] : llvm::zip(results, aliases))
    if (alias)
      arguments[*alias] = result;
  return success();
}

const HostTensor *StepInterpreter::get(StringRef name) const {
  auto found = llvm::find(resultNames, name);
  if (found != resultNames.end() && !results.empty())
    return &results[found - resultNames.begin()];
  found = llvm::find(argumentNames, name);
  if (found == argumentNames.end())
    return nullptr;
  const HostTensor &argument = arguments[found - argumentNames.begin()];
  return argument ? &argument : nullptr;
}

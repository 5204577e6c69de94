//===- StepInterpreter.cpp - Evaluates a function step by step ------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Target/Interpreter.h"

using namespace mlir;
using namespace mlir::echo;

StepInterpreter::StepInterpreter(func::FuncOp function,
                                 InterpreterOptions options)
    : function(function), interpreter(std::make_unique<Interpreter>(options)) {}

FailureOr<StepInterpreter> StepInterpreter::create(func::FuncOp function,
                                                   InterpreterOptions options) {
  StepInterpreter step(function, options);
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
    step.argumentNames.push_back(getArgumentName(function, i));
  for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
    step.resultNames.push_back(getResultName(function, i));
  FailureOr<SmallVector<std::optional<unsigned>>> aliases =
      getAliasedArguments(function);
  if (failed(aliases))
    return failure();
  step.aliases = std::move(*aliases);
  step.arguments.resize(function.getNumArguments());
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

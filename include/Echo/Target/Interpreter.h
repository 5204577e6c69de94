//===- Interpreter.h - The reference interpreter -------------- -*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Evaluates functions of Echo ops on host tensors, op by op: the oracle of
// tests.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TARGET_INTERPRETER_H
#define ECHO_TARGET_INTERPRETER_H

#include "Echo/Target/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace mlir::echo {

class Interpreter;

enum class InterpreterMode {
  /// Every float is a double, computed with libm, whatever the declared type.
  /// Composite ops are evaluated from their definitions, apart from the
  /// decompositions that kernels are made of. The oracle of finite
  /// differences.
  F64,
  /// The declared types, with the polynomials and reduction trees of compiled
  /// code, so that both give the same bits (NaN payloads apart) wherever the
  /// op defines the order. Composite ops are evaluated as their `decompose`
  /// writes them. Matrix products add up in order over k, in f32 for f16 and
  /// bf16; libraries have another order.
  Exact
};

struct InterpreterOptions {
  InterpreterMode mode = InterpreterMode::F64;
};

/// Adds the models that evaluate Echo's ops, func.call, and arith.constant.
void registerInterpreterExternalModels(DialectRegistry &registry);

/// Evaluates `function` on one tensor per argument. In f64 mode floats may be
/// given in the declared type or f64 and come back as f64. Failures are
/// diagnostics at the function (arguments that don't fit) or at an op.
FailureOr<SmallVector<HostTensor>> interpret(func::FuncOp function,
                                             ArrayRef<HostTensor> arguments,
                                             InterpreterOptions options = {});

/// Evaluates blocks; keeps what it prepared for them (order, last uses,
/// decompositions) for the next evaluation. The IR must not change meanwhile.
class Interpreter {
public:
  explicit Interpreter(InterpreterOptions options);
  ~Interpreter();
  Interpreter(const Interpreter &) = delete;
  Interpreter &operator=(const Interpreter &) = delete;

  bool isExact() const { return options.mode == InterpreterMode::Exact; }
  /// The element type that values declared with `declared` have here.
  Type getElementType(Type declared) const;

  /// Evaluates the body of `function`; diagnostics about arguments are emitted
  /// at `caller`, or the function where that is null.
  LogicalResult call(func::FuncOp function, ArrayRef<HostTensor> arguments,
                     SmallVectorImpl<HostTensor> &results,
                     Operation *caller = nullptr);
  /// Evaluates the ops of a block whose terminator returns its operands.
  LogicalResult run(Block &block, ArrayRef<HostTensor> arguments,
                    SmallVectorImpl<HostTensor> &results);
  /// Evaluates what the op decomposes to.
  LogicalResult runDecomposition(Operation *op, ArrayRef<HostTensor> operands,
                                 SmallVectorImpl<HostTensor> &results);

  /// The function that a symbol at `op` names, or null after a diagnostic.
  func::FuncOp lookupFunction(Operation *op, FlatSymbolRefAttr symbol);

  /// A zeroed tensor of this mode for a result declared as `elementType` with
  /// a shape known by now; a diagnostic at `op` if it is too large.
  FailureOr<HostTensor> allocate(Operation *op, ArrayRef<int64_t> shape,
                                 Type elementType);

private:
  struct BlockPlan;
  struct Decomposition;
  BlockPlan *prepare(Block &block);
  LogicalResult execute(BlockPlan &plan, ArrayRef<HostTensor> arguments,
                        SmallVectorImpl<HostTensor> &results);

  InterpreterOptions options;
  llvm::DenseMap<Block *, std::unique_ptr<BlockPlan>> plans;
  llvm::DenseMap<Operation *, std::unique_ptr<Decomposition>> decompositions;
  SymbolTableCollection symbols;
  unsigned depth = 0;
};

/// A function evaluated step after step: arguments are kept, and results that
/// replace an argument (`echo.aliases_argument`, `tf.aliasing_output`) do so
/// after each step.
class StepInterpreter {
public:
  /// Fails with a diagnostic if an aliasing attribute is malformed. The function
  /// was verified.
  static FailureOr<StepInterpreter> create(func::FuncOp function,
                                           InterpreterOptions options = {});

  func::FuncOp getFunction() const { return function; }
  /// `echo.name`, or "arg0", "arg1", ...
  ArrayRef<std::string> getArgumentNames() const { return argumentNames; }
  /// `echo.name`, or "result0", "result1", ...
  ArrayRef<std::string> getResultNames() const { return resultNames; }
  /// The argument that a result replaces, if any.
  std::optional<unsigned> getAliasedArgument(unsigned result) const {
    return aliases[result];
  }

  /// Sets an argument; a diagnostic at the function if there is none of that
  /// name or its type doesn't fit.
  LogicalResult set(StringRef name, HostTensor value);
  /// One step. Fails with a diagnostic if an argument was never set.
  LogicalResult step();
  /// An argument's present value or a result of the last step; null if there
  /// is none.
  const HostTensor *get(StringRef name) const;

private:
  StepInterpreter(func::FuncOp function, InterpreterOptions options);

  func::FuncOp function;
  std::unique_ptr<Interpreter> interpreter;
  SmallVector<std::string> argumentNames, resultNames;
  SmallVector<std::optional<unsigned>> aliases;
  SmallVector<HostTensor> arguments, results;
};

} // namespace mlir::echo

#include "Echo/Target/InterpreterInterface.h.inc"

#endif // ECHO_TARGET_INTERPRETER_H

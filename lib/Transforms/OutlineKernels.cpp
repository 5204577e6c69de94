//===- OutlineKernels.cpp - Kernels become functions ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %0 = echo.kernel(%a) : ... { body }       %0 = echo.launch @kernel_0(%a)
//                                       =>    func.func private @kernel_0(...)
//                                                 attributes {echo.kernel}
//
// Kernels with the same ops, attributes, types and wiring share a function.
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/Fusion.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Transforms/Kernels.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOOUTLINEKERNELSPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

namespace {

/// Hashes and compares kernels by structure, locations ignored.
struct KernelStructure : public llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    auto kernel = cast<KernelOp>(const_cast<Operation *>(op));
    llvm::DenseMap<Value, unsigned> numbers;
    auto number = [&](Value value) {
      return llvm::hash_value(numbers.try_emplace(value, numbers.size())
                                  .first->second);
    };
    Block &body = kernel.getBody().front();
    llvm::hash_code hash = llvm::hash_value(body.getNumArguments());
    for (BlockArgument argument : body.getArguments())
      hash = llvm::hash_combine(hash, number(argument), argument.getType());
    for (Operation &inner : body)
      hash = llvm::hash_combine(
          hash, OperationEquivalence::computeHash(
                    &inner, number, number,
                    OperationEquivalence::IgnoreLocations));
    return hash;
  }

  static bool isEqual(const Operation *lhs, const Operation *rhs) {
    if (lhs == rhs)
      return true;
    if (lhs == getEmptyKey() || rhs == getEmptyKey() ||
        lhs == getTombstoneKey() || rhs == getTombstoneKey())
      return false;
    auto left = cast<KernelOp>(const_cast<Operation *>(lhs));
    auto right = cast<KernelOp>(const_cast<Operation *>(rhs));
    return OperationEquivalence::isRegionEquivalentTo(
        &left.getBody(), &right.getBody(),
        OperationEquivalence::IgnoreLocations);
  }
};

} // namespace

/// The sizes of a shape that aren't 1.
static SmallVector<int64_t> sizesOf(Value value) {
  SmallVector<int64_t> sizes(cast<ShapedType>(value.getType()).getShape());
  llvm::erase(sizes, 1);
  return sizes;
}

/// True if one loop nest over rows, if `columns` isn't 1, and elements of
/// `value`'s shape writes all results of the kernel: an element of a result is
/// written when its row (or itself) was read for the last time.
static bool isOneNest(KernelOp kernel, Value value, uint64_t columns) {
  SmallVector<int64_t> full = sizesOf(value);
  uint64_t elements = cast<ShapedType>(value.getType()).getNumElements();
  return llvm::all_of(
      kernel.getBody().front().getTerminator()->getOperands(),
      [&](Value output) {
        SmallVector<int64_t> sizes = sizesOf(output);
        // What accumulates over the rows reads them when they are written.
        Operation *op = output.getDefiningOp();
        if (op && sizes != full && getFusionShape(op).accumulates &&
            sizesOf(op->getOperand(0)) == full)
          return true;
        uint64_t own = cast<ShapedType>(output.getType()).getNumElements();
        return sizes == full ||
               (columns != 1 && own * columns == elements &&
                sizes.size() <= full.size() &&
                ArrayRef(full).take_front(sizes.size()) == ArrayRef(sizes));
      });
}

/// The results of `kernel` that may overwrite argument `argument`: iteration i
/// reads element i of it and no other iteration does, but for the rest of its
/// row before any of the row is written.
static SmallVector<int64_t> overwritableResults(KernelOp kernel,
                                                BlockArgument argument) {
  SmallVector<int64_t> results;
  uint64_t elements = cast<ShapedType>(argument.getType()).getNumElements();
  uint64_t columns = 1;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto fusion = dyn_cast<FusionOpInterface>(op);
    if (op.hasTrait<OpTrait::ConstantLike>() ||
        (fusion && fusion.isMovement()))
      continue;
    planning::FusionShape shape = getFusionShape(&op);
    if (shape.kind == planning::FusionClass::RowReduction)
      columns = shape.columns;
    else if (shape.kind == planning::FusionClass::Alone)
      return results;
    for (auto [operand, access] :
         llvm::zip_equal(op.getOperands(), shape.reads)) {
      Value value = operand;
      while (auto movement = value.getDefiningOp<FusionOpInterface>()) {
        if (!movement.isMovement() || movement->getNumOperands() == 0)
          break;
        access = compose(access, movement.getFusionShape().reads[0]);
        value = movement->getOperand(0);
      }
      if (value == argument &&
          (access.kind != planning::FusionAccess::Same ||
           shape.elements != elements ||
           shape.kind == planning::FusionClass::ColumnReduction))
        return results;
    }
  }
  if (!isOneNest(kernel, argument, columns))
    return results;
  for (auto [index, output] : llvm::enumerate(kernel.getOutputs()))
    if (output.getType() == argument.getType())
      results.push_back(index);
  return results;
}

static func::FuncOp outline(KernelOp kernel, StringRef name) {
  OpBuilder builder(kernel.getContext());
  auto function = func::FuncOp::create(
      builder, kernel.getLoc(), name,
      builder.getFunctionType(kernel.getInputs().getTypes(),
                              kernel.getOutputs().getTypes()));
  function.setPrivate();
  function->setAttr(kKernelAttr, builder.getUnitAttr());
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    SmallVector<int64_t> results = overwritableResults(kernel, argument);
    if (!results.empty())
      function.setArgAttr(argument.getArgNumber(), kOverwritableAttr,
                          builder.getDenseI64ArrayAttr(results));
  }
  IRMapping map;
  kernel.getBody().cloneInto(&function.getBody(), map);
  Operation *yield = function.getBody().front().getTerminator();
  builder.setInsertionPoint(yield);
  func::ReturnOp::create(builder, yield->getLoc(), yield->getOperands());
  yield->erase();
  annotateKernelCost(function);
  return function;
}

LogicalResult mlir::echo::outlineKernels(ModuleOp module) {
  SmallVector<KernelOp> kernels;
  module.walk([&](KernelOp kernel) { kernels.push_back(kernel); });
  if (kernels.empty())
    return success();

  SymbolTable symbols(module);
  // Representatives stay in the IR until all kernels are looked up.
  llvm::DenseMap<Operation *, func::FuncOp, KernelStructure> functions;
  SmallVector<func::FuncOp> launched;
  unsigned next = 0;
  for (KernelOp kernel : kernels) {
    func::FuncOp &function = functions[kernel];
    if (!function) {
      std::string name;
      do
        name = "kernel_" + std::to_string(next++);
      while (symbols.lookup(name));
      function = outline(kernel, name);
      symbols.insert(function);
    }
    launched.push_back(function);
  }
  for (auto [kernel, function] : llvm::zip_equal(kernels, launched)) {
    OpBuilder builder(kernel);
    auto launch = LaunchOp::create(
        builder, kernel.getLoc(), kernel.getOutputs().getTypes(),
        FlatSymbolRefAttr::get(function), kernel.getInputs(), ValueRange(),
        /*parameters=*/nullptr);
    kernel.replaceAllUsesWith(launch.getResults());
  }
  functions.clear();
  for (KernelOp kernel : kernels)
    kernel.erase();
  return success();
}

namespace {

struct EchoOutlineKernelsPass
    : public echo::impl::EchoOutlineKernelsPassBase<EchoOutlineKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(outlineKernels(getOperation())))
      signalPassFailure();
  }
};

} // namespace

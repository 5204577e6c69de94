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

#include "Echo/Analysis/CallCosts.h"
#include "Echo/Analysis/Fusion.h"
#include "Echo/Analysis/RegionStructure.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
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

/// The sizes of a shape that aren't 1.
static SmallVector<int64_t> sizesOf(Value value) {
  SmallVector<int64_t> sizes(cast<ShapedType>(value.getType()).getShape());
  llvm::erase(sizes, 1);
  return sizes;
}

static bool isColumnSum(Operation &op) {
  return !op.hasTrait<OpTrait::ConstantLike>() &&
         getFusionShape(&op).kind == planning::FusionClass::ColumnReduction;
}

/// The values in a kernel that sums of columns are part of: loops of their own
/// write what is made of them, unless it adds up beside the rows.
static llvm::DenseSet<Value> valuesOfColumnSums(Block &body) {
  llvm::DenseSet<Value> values;
  for (Operation &op : body.without_terminator())
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return values.contains(operand); }) ||
        isColumnSum(op))
      values.insert(op.result_begin(), op.result_end());
  return values;
}

/// True if loops over `full` go through a tensor of `sizes`, one element for
/// each row, in its order: outer dimensions of it, the last of them a part.
static bool isOfRows(ArrayRef<int64_t> sizes, ArrayRef<int64_t> full) {
  if (sizes.size() > full.size())
    return false;
  if (sizes.empty())
    return true;
  return full.take_front(sizes.size() - 1) == sizes.drop_back() &&
         full[sizes.size() - 1] % sizes.back() == 0;
}

/// True if one loop nest over rows, if `columns` isn't 1, and elements of
/// `value`'s shape writes all results of the kernel: an element of a result is
/// written when its row (or itself) was read for the last time.
static bool isOneNest(KernelOp kernel, Value value, uint64_t columns) {
  SmallVector<int64_t> full = sizesOf(value);
  uint64_t elements = cast<ShapedType>(value.getType()).getNumElements();
  Block &body = kernel.getBody().front();
  OperandRange outputs = body.getTerminator()->getOperands();
  llvm::DenseSet<Value> sums = valuesOfColumnSums(body);
  // One nest over the columns: what is read once a column isn't summed.
  if (llvm::all_of(outputs,
                   [&](Value output) {
                     return sums.contains(output) && sizesOf(output) == full;
                   }) &&
      llvm::none_of(body.without_terminator(), [&](Operation &op) {
        return isColumnSum(op) && getFusionShape(&op).elements == elements;
      }))
    return true;
  return llvm::all_of(outputs, [&](Value output) {
    // What accumulates over the rows reads them when they are written.
    if (sums.contains(output)) {
      Operation *op = output.getDefiningOp();
      return getFusionShape(op).accumulates &&
             !sums.contains(op->getOperand(0)) &&
             sizesOf(op->getOperand(0)) == full;
    }
    SmallVector<int64_t> sizes = sizesOf(output);
    uint64_t own = cast<ShapedType>(output.getType()).getNumElements();
    return sizes == full || (columns != 1 && own * columns == elements &&
                             isOfRows(sizes, full));
  });
}

/// True if what a movement reads once a row has the row's dimensions as its last
/// ones: loops over rows know it then. Bits of a word needn't.
static bool hasWholeRows(Operation *movement, uint64_t columns) {
  SmallVector<int64_t> rows = sizesOf(movement->getOperand(0)),
                       full = sizesOf(movement->getResult(0));
  if (rows.size() > full.size() ||
      ArrayRef(full).take_front(rows.size()) != ArrayRef(rows))
    return false;
  return uint64_t(ShapedType::getNumElements(
             ArrayRef(full).drop_front(rows.size()))) == columns;
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
      bool splitsRows = false;
      while (auto movement = value.getDefiningOp<FusionOpInterface>()) {
        if (!movement.isMovement() || movement->getNumOperands() == 0)
          break;
        planning::FusionAccess own = movement.getFusionShape().reads[0];
        splitsRows |= own.kind == planning::FusionAccess::Row &&
                      !hasWholeRows(movement, own.columns);
        access = compose(access, own);
        value = movement->getOperand(0);
      }
      // Each element of such a row computes again what it needs of the row,
      // when others may be written.
      if (splitsRows && value.getDefiningOp())
        return results;
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
  return function;
}

/// Writes what a launch costs into `echo.cost`, if the sizes are known.
static LogicalResult annotateCost(func::FuncOp function) {
  auto isStatic = [](Type type) {
    return cast<ShapedType>(type).hasStaticShape();
  };
  bool isKnown = llvm::all_of(function.getArgumentTypes(), isStatic);
  for (Operation &op : function.getBody().front())
    isKnown &= llvm::all_of(op.getResultTypes(), isStatic);
  if (!isKnown)
    return success();
  FailureOr<CallDescription> call = describeKernel(function);
  if (failed(call))
    return failure();
  Builder b(function.getContext());
  function->setAttr(
      kCostAttr,
      b.getDictionaryAttr({
          b.getNamedAttr("bytes", b.getI64IntegerAttr(call->bytes())),
          b.getNamedAttr("flops", b.getI64IntegerAttr(call->cost.flops)),
          b.getNamedAttr("ops", b.getStringAttr(call->work)),
      }));
  return success();
}

LogicalResult mlir::echo::outlineKernels(ModuleOp module) {
  SmallVector<KernelOp> kernels;
  module.walk([&](KernelOp kernel) { kernels.push_back(kernel); });
  if (kernels.empty())
    return success();

  SymbolTable symbols(module);
  // Representatives stay in the IR until all kernels are looked up.
  llvm::DenseMap<Region *, func::FuncOp, RegionStructure> functions;
  SmallVector<func::FuncOp> launched;
  unsigned next = 0;
  for (KernelOp kernel : kernels) {
    func::FuncOp &function = functions[&kernel.getBody()];
    if (!function) {
      std::string name;
      do
        name = "kernel_" + std::to_string(next++);
      while (symbols.lookup(name));
      function = outline(kernel, name);
      symbols.insert(function);
      if (failed(annotateCost(function)))
        return failure();
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

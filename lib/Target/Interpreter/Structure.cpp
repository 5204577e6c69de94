//===- Structure.cpp - Evaluates constants, kernels, calls ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convert.h"
#include "ElementTypes.h"
#include "Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::interpreter;

namespace {

using Results = SmallVectorImpl<HostTensor>;

LogicalResult evaluateConstantValue(Operation *op, Attribute value,
                                    Interpreter &interpreter,
                                    Results &results) {
  auto elements = dyn_cast<ElementsAttr>(value);
  FailureOr<HostTensor> tensor = failure();
  if (elements) {
    // Whether there is memory for it, before it is taken.
    auto type = dyn_cast<RankedTensorType>(elements.getType());
    if (type && type.hasStaticShape() &&
        elementSize(type.getElementType()) != 0 &&
        failed(
            interpreter.allocate(op, type.getShape(), type.getElementType())))
      return failure();
  }
  if (elements)
    tensor = HostTensor::fromAttribute(elements);
  if (failed(tensor))
    return op->emitOpError("cannot be interpreted: expected a tensor of dense "
                           "elements, found ")
           << value;
  return appendConverted(op, interpreter, *tensor, tensor->getElementType(),
                         results);
}

LogicalResult evaluateConstant(ConstantOp op, Interpreter &interpreter,
                               ArrayRef<HostTensor>, Results &results) {
  return evaluateConstantValue(op, op.getValue(), interpreter, results);
}

LogicalResult evaluateArithConstant(arith::ConstantOp op,
                                    Interpreter &interpreter,
                                    ArrayRef<HostTensor>, Results &results) {
  return evaluateConstantValue(op, op.getValue(), interpreter, results);
}

LogicalResult evaluateKernel(KernelOp op, Interpreter &interpreter,
                             ArrayRef<HostTensor> operands, Results &results) {
  return interpreter.run(op.getBody().front(), operands, results);
}

LogicalResult evaluateLaunch(LaunchOp op, Interpreter &interpreter,
                             ArrayRef<HostTensor> operands, Results &results) {
  if (!op.getOutputs().empty())
    return op.emitOpError("cannot be interpreted on buffers, only on tensors");
  func::FuncOp function = interpreter.lookupFunction(op, op.getKernelAttr());
  if (!function)
    return failure();
  return interpreter.call(function, operands, results, op);
}

/// The operand: ops are evaluated in their order.
LogicalResult evaluateBarrier(OptimizationBarrierOp, Interpreter &,
                              ArrayRef<HostTensor> operands, Results &results) {
  results.push_back(operands[0]);
  return success();
}

LogicalResult evaluateCall(func::CallOp op, Interpreter &interpreter,
                           ArrayRef<HostTensor> operands, Results &results) {
  func::FuncOp function = interpreter.lookupFunction(op, op.getCalleeAttr());
  if (!function)
    return failure();
  return interpreter.call(function, operands, results, op);
}

} // namespace

void mlir::echo::interpreter::attachStructureModels(MLIRContext *context) {
  ConstantOp::attachInterface<Model<ConstantOp, evaluateConstant>>(*context);
  KernelOp::attachInterface<Model<KernelOp, evaluateKernel>>(*context);
  LaunchOp::attachInterface<Model<LaunchOp, evaluateLaunch>>(*context);
  OptimizationBarrierOp::attachInterface<
      Model<OptimizationBarrierOp, evaluateBarrier>>(*context);
}

void mlir::echo::interpreter::attachArithModels(MLIRContext *context) {
  arith::ConstantOp::attachInterface<
      Model<arith::ConstantOp, evaluateArithConstant>>(*context);
}

void mlir::echo::interpreter::attachFuncModels(MLIRContext *context) {
  func::CallOp::attachInterface<Model<func::CallOp, evaluateCall>>(*context);
}

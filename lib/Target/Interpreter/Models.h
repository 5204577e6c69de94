//===- Models.h - Models that evaluate ops -------------------- -*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_TARGET_INTERPRETER_MODELS_H
#define ECHO_LIB_TARGET_INTERPRETER_MODELS_H

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Target/Interpreter.h"

namespace mlir::echo::interpreter {

/// The model of Op that hands it over to
/// `LogicalResult function(Op, Interpreter &, ArrayRef<HostTensor> operands,
/// SmallVectorImpl<HostTensor> &results)`.
template <typename Op, auto function>
struct Model : InterpreterOpInterface::ExternalModel<Model<Op, function>, Op> {
  LogicalResult evaluate(Operation *op, Interpreter &interpreter,
                         ArrayRef<HostTensor> operands,
                         SmallVectorImpl<HostTensor> &results) const {
    return function(cast<Op>(op), interpreter, operands, results);
  }
};

void attachElementwiseModels(MLIRContext *context);
void attachShapeModels(MLIRContext *context);
void attachEncodingModels(MLIRContext *context);
void attachReductionModels(MLIRContext *context);
void attachContractionModels(MLIRContext *context);
void attachCompositeModels(MLIRContext *context);
void attachLookupModels(MLIRContext *context);
void attachStructureModels(MLIRContext *context);
void attachArithModels(MLIRContext *context);
void attachFuncModels(MLIRContext *context);

} // namespace mlir::echo::interpreter

#endif // ECHO_LIB_TARGET_INTERPRETER_MODELS_H

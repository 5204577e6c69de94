//===- InterpreterInterface.td - Ops that can be interpreted - -*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TARGET_INTERPRETERINTERFACE_TD
#define ECHO_TARGET_INTERPRETERINTERFACE_TD

include "mlir/IR/OpBase.td"

def InterpreterOpInterface : OpInterface<"InterpreterOpInterface"> {
  let description = [{
    An op that the reference interpreter can evaluate. Attached to Echo's ops by
    `registerInterpreterExternalModels`; other dialects' ops join by models of
    their own.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        Evaluates the op on `operands` and appends one tensor per result. Floats
        have the declared element types in exact mode, and f64 in f64 mode. On
        failure a diagnostic was emitted at the op.
      }],
      "::llvm::LogicalResult", "evaluate",
      (ins "::mlir::echo::Interpreter &":$interpreter,
           "::llvm::ArrayRef<::mlir::echo::HostTensor>":$operands,
           "::llvm::SmallVectorImpl<::mlir::echo::HostTensor> &":$results)>
  ];
}

#endif // ECHO_TARGET_INTERPRETERINTERFACE_TD

//===- SimObject.h - What an object of kernels exports ----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_CONVERSION_SIMOBJECT_H
#define ECHO_LIB_CONVERSION_SIMOBJECT_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::echo {

/// Makes kernels functions of an array of arguments, and adds the table of them
/// that runtime/sim/Device.h describes. `shared` are the names of the module's
/// shared variables.
void exportKernels(ModuleOp module, ArrayRef<LLVM::LLVMFuncOp> kernels,
                   const llvm::DenseSet<StringAttr> &shared);

} // namespace mlir::echo

#endif // ECHO_LIB_CONVERSION_SIMOBJECT_H

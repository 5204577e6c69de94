//===- Echo.cpp - Echo for users of MLIR's C API --------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/CAPI/Echo.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/InitAll.h"
#include "mlir/CAPI/Registration.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Echo, echo, mlir::echo::EchoDialect)

void mlirEchoRegisterAllDialects(MlirDialectRegistry registry) {
  mlir::echo::registerAllDialects(*unwrap(registry));
}

void mlirRegisterEchoPasses(void) { mlir::echo::registerAllPasses(); }

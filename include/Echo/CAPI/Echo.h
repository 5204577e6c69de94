//===- Echo.h - Echo for users of MLIR's C API -------------------*- C -*--===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect's handle (mlirGetDialectHandle__echo__), everything Echo adds to a
// registry, and its passes. A C program links libEcho.so and the MLIRCAPI*
// archives that it uses of upstream.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_CAPI_ECHO_H
#define ECHO_CAPI_ECHO_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Echo, echo);

/// Adds the Echo dialect and its external models for other dialects.
MLIR_CAPI_EXPORTED void mlirEchoRegisterAllDialects(MlirDialectRegistry registry);

/// Registers Echo's passes and named pipelines, for mlirParsePassPipeline.
MLIR_CAPI_EXPORTED void mlirRegisterEchoPasses(void);

#ifdef __cplusplus
}
#endif

#endif // ECHO_CAPI_ECHO_H

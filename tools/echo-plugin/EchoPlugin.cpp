//===- EchoPlugin.cpp - Echo as a plugin of mlir-opt ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads into any tool that links libMLIR.so:
//   mlir-opt --load-dialect-plugin=EchoPlugin.so --load-pass-plugin=EchoPlugin.so
//     --pass-pipeline='builtin.module(echo-gradient)'
//
//===----------------------------------------------------------------------===//

#include "Echo/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Echo", ECHO_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            mlir::echo::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Echo", ECHO_VERSION_STRING,
          []() { mlir::echo::registerAllPasses(); }};
}

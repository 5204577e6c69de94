//===- EmitProgram.cpp - EchoEmitProgramPass ---------------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOEMITPROGRAMPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

namespace {

struct EchoEmitProgramPass : public echo::impl::EchoEmitProgramPassBase<EchoEmitProgramPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().emitError("not written yet");
    signalPassFailure();
  }
};

} // namespace

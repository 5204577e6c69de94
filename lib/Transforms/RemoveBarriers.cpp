//===- RemoveBarriers.cpp - Takes optimization barriers away --------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Transforms/CleanUp.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOREMOVEBARRIERSPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

void mlir::echo::removeBarriers(Operation *root) {
  root->walk([](OptimizationBarrierOp barrier) {
    // Code that never runs may read itself.
    if (barrier.getOperand() == barrier.getResult())
      return;
    barrier.getResult().replaceAllUsesWith(barrier.getOperand());
    barrier.erase();
  });
}

namespace {

struct EchoRemoveBarriersPass
    : public echo::impl::EchoRemoveBarriersPassBase<EchoRemoveBarriersPass> {
  using Base::Base;

  void runOnOperation() override { removeBarriers(getOperation()); }
};

} // namespace

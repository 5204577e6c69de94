//===- Passes.td - Passes on training graphs ----------------*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_PASSES_TD
#define ECHO_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def EchoGradientPass : Pass<"echo-gradient", "::mlir::ModuleOp"> {
  let summary = "Builds the gradient of a forward function's loss";
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "Function to differentiate; default: the only public function">,
    Option<"loss", "loss", "int64_t", "-1",
           "Index of the result that is the loss; default: echo.loss, or the "
           "only float scalar">,
  ];
  let dependentDialects = ["::mlir::echo::EchoDialect"];
}

def EchoOptimizerPass : Pass<"echo-optimizer", "::mlir::ModuleOp"> {
  let summary = "Adds the weight update to a function with gradients";
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "Function to extend; default: the only public function">,
    Option<"kind", "kind", "std::string", "\"sgd\"", "sgd, momentum or adam">,
    Option<"momentum", "momentum", "double", "0.9", "Momentum of kind=momentum">,
    Option<"beta1", "beta1", "double", "0.9", "Adam: decay of the first moment">,
    Option<"beta2", "beta2", "double", "0.999", "Adam: decay of the second moment">,
    Option<"epsilon", "epsilon", "double", "1e-8", "Adam: added to the root">,
    Option<"weightDecay", "weight-decay", "double", "0.0", "Weight decay">,
    Option<"decoupled", "decoupled", "bool", "false",
           "Decoupled weight decay (AdamW) instead of L2">,
    Option<"clipNorm", "clip-norm", "double", "0.0",
           "Largest global norm of the gradients; 0: no clipping">,
    Option<"accumulate", "accumulate", "int64_t", "1",
           "Steps whose gradients are averaged before one update">,
  ];
  let dependentDialects = ["::mlir::echo::EchoDialect"];
}

def EchoFormKernelsPass : Pass<"echo-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Groups the ops of a training step into kernels";
  let dependentDialects = ["::mlir::echo::EchoDialect"];
}

def EchoOutlineKernelsPass : Pass<"echo-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Moves kernels into functions and merges equal ones";
  let dependentDialects = ["::mlir::echo::EchoDialect", "::mlir::func::FuncDialect"];
}

def EchoBufferizePass : Pass<"echo-bufferize", "::mlir::ModuleOp"> {
  let summary = "Turns the host program from tensors to buffers";
  let dependentDialects = ["::mlir::echo::EchoDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def EchoPlanMemoryPass : Pass<"echo-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Places every buffer of the host program in one arena";
  let options = [
    Option<"alignment", "alignment", "int64_t", "64", "Alignment of buffers in bytes">,
  ];
  let dependentDialects = ["::mlir::echo::EchoDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // ECHO_TRANSFORMS_PASSES_TD

//===- Passes.td - Lowering passes --------------------------*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_CONVERSION_PASSES_TD
#define ECHO_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertEchoToLinalgPass : Pass<"convert-echo-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lowers Echo ops in kernel functions to linalg on tensors";
}

def EchoLowerKernelsPass : Pass<"echo-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Turns kernel functions into range functions on buffers";
}

def ConvertEchoKernelsToLLVMPass : Pass<"convert-echo-kernels-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lowers kernel functions on buffers to the LLVM dialect";
}

def EchoEmitProgramPass : Pass<"echo-emit-program", "::mlir::ModuleOp"> {
  let summary = "Turns the host function into the program table of an artefact";
  let options = [
    Option<"entry", "entry", "std::string", "\"\"", "Host function; default: the only public one">,
  ];
}

#endif // ECHO_CONVERSION_PASSES_TD

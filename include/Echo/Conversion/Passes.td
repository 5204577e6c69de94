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
  let description = [{
    Takes a host function whose memory is planned and whose kernels are LLVM
    functions, and replaces it by the bytes of an `echo::Program`: tensors with
    their roles and places, and a table of calls on (region, offset). A runtime
    walks the table; no code is generated for the host program.

    | global | holds |
    |---|---|
    | `echo_program` | the serialized program |
    | `echo_program_size` | its size |
    | `echo_kernels` | the addresses of its kernels |

    The layer of a call is the first name in the op's location.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "\"\"", "Host function; default: the only public one">,
    Option<"target", "target", "std::string", "\"cpu\"", "Target that the program is for">,
    Option<"cpu", "cpu", "std::string", "\"\"", "CPU that the program says it needs">,
    Option<"features", "features", "std::string", "\"\"", "Features that the program says it needs">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // ECHO_CONVERSION_PASSES_TD

//===- TinyOps.td - A dialect that is not Echo's ------------*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TINY_OPS_TD
#define TINY_OPS_TD

include "Echo/Interfaces/EchoInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tiny_Dialect : Dialect {
  let name = "tiny";
  let cppNamespace = "::tiny";
  let summary = "Ops of a small compiler that uses Echo";
}

def Tiny_SquareOp : Op<Tiny_Dialect, "square", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<GradientOpInterface>,
    DeclareOpInterfaceMethods<ElementwiseOpInterface>]> {
  let summary = "elementwise square";
  let description = [{
    Echo differentiates it and puts it into kernels, because it says how
    through Echo's interfaces.
  }];
  let arguments = (ins RankedTensorOf<[F32, F64]>:$operand);
  let results = (outs RankedTensorOf<[F32, F64]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

#endif // TINY_OPS_TD

//===- EchoOpBase.td - Base classes of Echo ops -*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_ECHOOPBASE_TD
#define ECHO_DIALECT_ECHOOPBASE_TD

include "Echo/Dialect/EchoBase.td"
include "Echo/Interfaces/EchoInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Echo_Op<string mnemonic, list<Trait> traits = []>
    : Op<Echo_Dialect, mnemonic, traits>;

// A pure op on tensors: differentiable, with a cost, recomputable.
class Echo_GraphOp<string mnemonic, list<Trait> traits = []>
    : Echo_Op<mnemonic, !listconcat(traits, [Pure,
        DeclareOpInterfaceMethods<CostOpInterface>,
        DeclareOpInterfaceMethods<RecomputeOpInterface>])> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class Echo_NotMirrored {
  code declaration = [{
    bool isMirrored() { return false; }
  }];
}

// Marks ops whose result types follow from operands and attributes. A written
// result type may be more or less static than the inferred one.
def Echo_Infer : InferTypeOpAdaptorBase<[{
  static bool isCompatibleReturnTypes(::mlir::TypeRange lhs,
                                      ::mlir::TypeRange rhs) {
    return ::mlir::echo::areCompatibleTypes(lhs, rhs);
  }
}]>;
def Echo_Gradient : DeclareOpInterfaceMethods<GradientOpInterface>;
def Echo_Decompose : DeclareOpInterfaceMethods<DecomposeOpInterface>;
def Echo_View : DeclareOpInterfaceMethods<BufferViewOpInterface>;
def Echo_Fusion : DeclareOpInterfaceMethods<FusionOpInterface>;
def Echo_SplitFusion : DeclareOpInterfaceMethods<FusionOpInterface, ["splitForFusion"]>;
def Echo_Movement : DeclareOpInterfaceMethods<FusionOpInterface, ["isMovement"]>;
def Echo_Join : DeclareOpInterfaceMethods<BufferJoinOpInterface, ["hasPartOffsets"]>;
def Echo_RowParallel : DeclareOpInterfaceMethods<RowParallelOpInterface>;
def Echo_RowSum : DeclareOpInterfaceMethods<RowSumOpInterface>;
def Echo_Accumulate : DeclareOpInterfaceMethods<AccumulateOpInterface>;
def Echo_DropResults : DeclareOpInterfaceMethods<DropResultsOpInterface>;
def Echo_Library : DeclareOpInterfaceMethods<LibraryCallOpInterface>;

#endif // ECHO_DIALECT_ECHOOPBASE_TD

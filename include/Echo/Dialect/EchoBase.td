//===- EchoBase.td - The Echo dialect -----------------------*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_ECHOBASE_TD
#define ECHO_DIALECT_ECHOBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Echo_Dialect : Dialect {
  let name = "echo";
  let cppNamespace = "::mlir::echo";
  let summary = "Training graphs on ranked tensors";
  let description = [{
    Ops of training graphs: what a forward graph is written in, what its
    gradient and optimizer are built from, and what Echo's kernels are formed
    of. Values are ranked tensors; names follow StableHLO, TOSA and ONNX where
    the meaning is the same.

    Attributes on function arguments and results:

    | attribute | on | meaning |
    |---|---|---|
    | `echo.role` | argument | `"parameter"`, `"state"`, `"input"` or `"label"`; none means input |
    | `echo.name` | argument, result | the tensor's name in tools, checkpoints and artefacts |
    | `echo.init` | argument | `#echo.init<...>`: how a missing value is drawn |
    | `echo.loss` | result | unit attribute: this result is the loss |
    | `echo.gradient_of` | result | the index of the argument whose gradient it is |
    | `echo.aliases_argument` | result | the index of the argument that it replaces (`tf.aliasing_output` on the argument is read too) |
    | `echo.kernel` | function | unit attribute: an outlined kernel |
    | `echo.overwritable` | argument of a kernel | results that may be written into the argument's buffer |
    | `echo.cost` | kernel | what a launch costs, for reports: {bytes, flops, ops} |
    | `echo.chunks` | lowered kernel | chunks of its iteration space |
    | `echo.arena` | argument | the arena, set by memory planning |
    | `echo.arena_offset` | argument | byte offset of an input in the arena |
    | `echo.constants` | kernel | the elements of its constants, until they become globals |
    | `echo.arena_bytes`, `echo.arena_alignment`, `echo.logical_peak_bytes` | function | what memory planning found |

    Any other attribute of the dialect, or one in another place, is an error.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

class Echo_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::echo";
  let genSpecializedAttr = 0;
}
class Echo_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Echo_Dialect, info, mnemonic>;

def Echo_CompareDirection : Echo_I32Enum<"CompareDirection", "comparison", [
    I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">,
    I32EnumAttrCase<"LT", 2, "lt">, I32EnumAttrCase<"LE", 3, "le">,
    I32EnumAttrCase<"GT", 4, "gt">, I32EnumAttrCase<"GE", 5, "ge">]>;
def Echo_CompareDirectionAttr : Echo_EnumAttr<Echo_CompareDirection, "direction"> {
  let assemblyFormat = "$value";
}

def Echo_ReduceKind : Echo_I32Enum<"ReduceKind", "reduction", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Mean", 2, "mean">, I32EnumAttrCase<"Min", 3, "min">]>;
def Echo_ReduceKindAttr : Echo_EnumAttr<Echo_ReduceKind, "kind"> {
  let assemblyFormat = "$value";
}

// The words of echo.role.
def Echo_ArgumentRole : Echo_I32Enum<"ArgumentRole", "role of a function's argument", [
    I32EnumAttrCase<"Parameter", 0, "parameter">,
    I32EnumAttrCase<"State", 1, "state">,
    I32EnumAttrCase<"Input", 2, "input">,
    I32EnumAttrCase<"Label", 3, "label">]>;

def Echo_InitKind : Echo_I32Enum<"InitKind", "initial value", [
    I32EnumAttrCase<"Constant", 0, "constant">,
    I32EnumAttrCase<"Uniform", 1, "uniform">,
    I32EnumAttrCase<"Normal", 2, "normal">,
    I32EnumAttrCase<"RandInt", 3, "randint">]>;

def Echo_InitAttr : AttrDef<Echo_Dialect, "Init"> {
  let mnemonic = "init";
  let summary = "how a tensor that nobody gave is filled";
  let description = [{
    `#echo.init<constant, c>`, `#echo.init<uniform, lo, hi>` (real, in
    [lo, hi)), `#echo.init<normal, mean, deviation>`,
    `#echo.init<randint, lo, hi>` (integer, in [lo, hi)).

    Constraints:
    - (C1) numbers are finite.
    - (C2) lo < hi; deviation >= 0.
    - (C3) bounds of randint are integers of at most 53 bits.
    - (C4) on an argument of integers, the kind is constant or randint, and what
      is drawn is an integer that the element type holds (0 or 1 for i1).
    - (C5) on an argument of floats, the kind isn't randint, and no number
      rounds to infinity in the element type.
  }];
  let parameters = (ins EnumParameter<Echo_InitKind>:$kind,
                        "::mlir::FloatAttr":$a, "::mlir::FloatAttr":$b);
  let builders = [
    AttrBuilder<(ins "::mlir::echo::InitKind":$kind, "double":$a,
                     CArg<"double", "0.0">:$b), [{
      ::mlir::Builder builder($_ctxt);
      return $_get($_ctxt, kind, builder.getF64FloatAttr(a),
                   builder.getF64FloatAttr(b));
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// Element types of the dialect.
def Echo_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
def Echo_Int : AnyTypeOf<[I1, I8, I32, I64]>;
def Echo_Index : AnyTypeOf<[I32, I64]>;
def Echo_Tensor : RankedTensorOf<[F16, BF16, F32, F64, I1, I8, I32, I64]>;
def Echo_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;
def Echo_IntTensor : RankedTensorOf<[I1, I8, I32, I64]>;
def Echo_IndexTensor : RankedTensorOf<[I32, I64]>;
def Echo_BoolTensor : RankedTensorOf<[I1]>;
def Echo_ScalarI64 : 0DTensorOf<[I64]>;
def Echo_Buffer : MemRefOf<[F16, BF16, F32, F64, I1, I8, I32, I64]>;

#endif // ECHO_DIALECT_ECHOBASE_TD

//===- EchoInterfaces.td - Knowledge about ops --------------*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_INTERFACES_ECHOINTERFACES_TD
#define ECHO_INTERFACES_ECHOINTERFACES_TD

include "mlir/IR/OpBase.td"

def GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let description = [{
    An op that knows its own gradient. What a gradient reads is found by
    building it, never by a table of names.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        Builds the ops that compute the gradient of every operand from the
        gradients of the results. `resultGradients` has one entry per result,
        null where no gradient arrives (at least one is not null).
        `operandGradients` is filled with one entry per operand, null where
        the operand has no gradient (integers, seeds, indices) or where none
        is needed (`needed[i]` is false). A gradient has its operand's type:
        broadcasting is already summed away. Reads results rather than
        operands where both work.
        On failure a diagnostic was emitted at the op.
      }],
      "::llvm::LogicalResult", "buildGradient",
      (ins "::mlir::OpBuilder &":$builder,
           "::mlir::ValueRange":$resultGradients,
           "::llvm::ArrayRef<bool>":$needed,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients)>
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let description = [{
    What an op costs, in flops and bytes, for the cost model in Planning.
    Sizes of dynamic types are not known: methods return failure then.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<"Floating-point operations of one evaluation.",
      "::llvm::FailureOr<uint64_t>", "getFlops", (ins), [{}],
      [{ return ::mlir::echo::detail::flopsPerResultElement($_op, 1); }]>,
    InterfaceMethod<"Bytes read from memory when the op is a kernel of its own.",
      "::llvm::FailureOr<uint64_t>", "getBytesRead", (ins), [{}],
      [{ return ::mlir::echo::detail::operandBytes($_op); }]>,
    InterfaceMethod<"Bytes written to memory when the op is a kernel of its own.",
      "::llvm::FailureOr<uint64_t>", "getBytesWritten", (ins), [{}],
      [{ return ::mlir::echo::detail::resultBytes($_op); }]>,
    InterfaceMethod<[{
        True for contractions and convolutions: the ops whose time is worth
        more than the memory of their result, where partitions end.
      }],
      "bool", "isComputeHeavy", (ins), [{}], [{ return false; }]>
  ];
}

def RecomputeOpInterface : OpInterface<"RecomputeOpInterface"> {
  let description = [{
    Whether an op may be evaluated a second time in the backward part, and in
    which encodings its results may be stashed.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        True if a second evaluation with the same operands gives the same
        bits and has no effect (deterministic, no state).
      }],
      "bool", "isRecomputable", (ins), [{}], [{ return true; }]>,
    InterfaceMethod<[{
        True if result `index`, when stashed for the backward part alone, may
        be kept as one bit per element (dropout masks, signs of ReLU).
      }],
      "bool", "allowsBitEncoding", (ins "unsigned":$index), [{}],
      [{ return false; }]>,
    InterfaceMethod<[{
        True if all that the op needs of operand `index` is whether each element
        is positive, and its only result says that: flags of the operand's
        shape.
      }],
      "bool", "isPositivityOf", (ins "unsigned":$index), [{}],
      [{ return false; }]>,
    InterfaceMethod<[{
        True if recomputation without a cost model evaluates the op again: the
        rule of MXNet's `mirror` option, which spares dropout, concatenation
        and softmax.
      }],
      "bool", "isMirrored", (ins), [{}], [{ return true; }]>
  ];
}

def DropResultsOpInterface : OpInterface<"DropResultsOpInterface"> {
  let description = [{
    An op that can do without some of its results: what computes only these
    goes as well.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        Builds the op without the results that `isDead` names, of which there
        is at least one and not all, and returns a value for each of the
        others, in order. Fails, with nothing built, if that saves nothing.
      }],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "dropResults",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<bool>":$isDead)>
  ];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let description = [{
    An op with one result whose element at an index depends on the operands'
    elements at the same index, after NumPy broadcasting. The interface gives
    the arithmetic of one element; the same code serves scalars and vectors,
    so that a value doesn't depend on the vector width (the bit rule).
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        Emits arith (and math for sqrt) ops for one element. `operands` are
        scalars, or vectors of one shape, of the operands' element types.
        Returns a value of the result's element type.
      }],
      "::mlir::Value", "emitScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$operands)>,
    InterfaceMethod<[{
        Instructions for one element, about: 1, or what a transcendental
        function's polynomial takes.
      }],
      "uint32_t", "getWeight", (ins), [{}], [{ return 1; }]>
  ];
}

def FusionOpInterface : OpInterface<"FusionOpInterface"> {
  let description = [{
    How an op iterates in a kernel, for the fusion model in Planning
    (`Echo/Planning/Fusion.h`). Elementwise ops need no answer of their own:
    `getFusionShape` in `Echo/Analysis/Fusion.h` finds it from their shapes.
    Types are static.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<"The op's iterations, reads and writes.",
      "::mlir::echo::planning::FusionShape", "getFusionShape", (ins)>,
    InterfaceMethod<[{
        True for ops that only say where an element lies (or count indices):
        they cost nothing where they are read, so every kernel has its own.
      }],
      "bool", "isMovement", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Writes the op as several of which the first can be part of a kernel
        that the op itself couldn't join, with the same bits, and returns one
        value per result. Fails, with nothing built, if that is of no use.
      }],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "splitForFusion",
      (ins "::mlir::OpBuilder &":$builder), [{}], [{ return ::llvm::failure(); }]>
  ];
}

def DecomposeOpInterface : OpInterface<"DecomposeOpInterface"> {
  let description = [{
    A composite op that can be written with simpler Echo ops. Lowering inside
    a kernel uses it; the graph keeps the composite op.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        Builds the equivalent ops and returns one value per result. The
        decomposition defines the op's rounding: every step rounds to its type.
      }],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def LibraryCallOpInterface : OpInterface<"LibraryCallOpInterface"> {
  let description = [{
    An op that a library executes (GEMM) instead of a generated kernel. It
    stays an op of the host program.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        Builds the buffer form of the call: `inputs` are the operands'
        memrefs, `outputs` one memref per result. Fails with a diagnostic at
        the op where the library has no such routine (element type).
      }],
      "::llvm::LogicalResult", "buildLibraryCall",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$inputs,
           "::mlir::ValueRange":$outputs)>,
    InterfaceMethod<[{
        The operand that the call adds to, if there is one: `outputs[0]`
        holds its values already when the call is made, in the operand's own
        buffer where nothing reads it afterwards.
      }],
      "::std::optional<unsigned>", "getAccumulatorOperand", (ins), [{}],
      [{ return std::nullopt; }]>
  ];
}

def AccumulateOpInterface : OpInterface<"AccumulateOpInterface"> {
  let description = [{
    An op with one result that can add it to a given tensor at no cost: a
    matrix product.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        Builds an op whose result is this op's plus `accumulator`, which has
        its type, and returns it; fails, without a diagnostic, where that
        isn't one call.
      }],
      "::llvm::FailureOr<::mlir::Value>", "buildAccumulated",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$accumulator)>
  ];
}

def RowParallelOpInterface : OpInterface<"RowParallelOpInterface"> {
  let description = [{
    An op with one result each of whose rows (all dimensions but the last
    taken together) depends on the same row of one operand, on the other
    operands as a whole, and on nothing else. So ops that differ in that
    operand alone are one op on all of their rows.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        The operand whose rows are the result's, or failure if this op isn't
        of that kind.
      }],
      "::llvm::FailureOr<unsigned>", "getRowOperand", (ins)>
  ];
}

def RowSumOpInterface : OpInterface<"RowSumOpInterface"> {
  let description = [{
    An op with one result that is a sum over dimension 0, or the dimensions
    before a common rest, of some operands: the sum of the results of two such
    ops that differ in these operands alone is the result of one op on the
    operands joined along dimension 0, but for the order of additions.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        The operands over whose dimension 0 the op sums, or failure if this op
        isn't of that kind.
      }],
      "::llvm::FailureOr<::llvm::SmallVector<unsigned>>", "getSummedOperands",
      (ins)>
  ];
}

def BufferViewOpInterface : OpInterface<"BufferViewOpInterface"> {
  let description = [{
    An op whose results can be views of operand 0's row-major buffer: reshape
    always, slice and split where each result is contiguous there. Views move
    no bytes and need no kernel.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        The byte offset of result `index` in operand 0's buffer, or failure
        if that result isn't contiguous in it (or a size is dynamic).
      }],
      "::llvm::FailureOr<int64_t>", "getViewOffset", (ins "unsigned":$index)>
  ];
}

def BufferJoinOpInterface : OpInterface<"BufferJoinOpInterface"> {
  let description = [{
    An op with one result whose row-major buffer may hold the operands: a
    concatenation whose parts are contiguous there. The ops that compute the
    parts then write them in place, and joining them moves no bytes.
  }];
  let cppNamespace = "::mlir::echo";
  let methods = [
    InterfaceMethod<[{
        The byte offset of operand `index` in the result's buffer, or failure
        if that operand isn't contiguous in it (or a size is dynamic).
      }],
      "::llvm::FailureOr<int64_t>", "getPartOffset", (ins "unsigned":$index)>,
    InterfaceMethod<[{
        True if every operand has such an offset. There may be thousands, of
        which each offset follows from those in front.
      }],
      "bool", "hasPartOffsets", (ins), [{}], [{
        for (unsigned i = 0, e = $_op->getNumOperands(); i < e; ++i)
          if (::llvm::failed($_op.getPartOffset(i)))
            return false;
        return true;
      }]>
  ];
}

#endif // ECHO_INTERFACES_ECHOINTERFACES_TD

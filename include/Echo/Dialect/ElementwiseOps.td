//===- ElementwiseOps.td - Elementwise ops -*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_ELEMENTWISEOPS_TD
#define ECHO_DIALECT_ELEMENTWISEOPS_TD

include "Echo/Dialect/EchoOpBase.td"

class Echo_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Echo_GraphOp<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<ElementwiseOpInterface>])> {
  let hasVerifier = 1;
}

class Echo_BinaryOp<string mnemonic, Type type = Echo_Tensor, list<Trait> traits = []>
    : Echo_ElementwiseOp<mnemonic, !listconcat(traits, [
        Echo_Infer, Echo_Gradient])> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let hasFolder = 1;
  string elementType = "f32";
  string constraints = "\n\nShapes broadcast as in NumPy.\n\nConstraints:\n"
    # "- (C1) lhs, rhs and result have one element type.\n"
    # "- (C2) the shapes of lhs and rhs broadcast to the result's shape.\n\n"
    # "Example:\n```mlir\n%2 = echo." # mnemonic # " %0, %1 : (tensor<2x3x"
    # elementType # ">, tensor<3x" # elementType # ">) -> tensor<2x3x"
    # elementType # ">\n```";
}

class Echo_UnaryOp<string mnemonic, Type type = Echo_FloatTensor, list<Trait> traits = []>
    : Echo_ElementwiseOp<mnemonic, !listconcat(traits, [
        Echo_Infer, Echo_Gradient])> {
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  string constraints = "\n\nConstraints:\n"
    # "- (C1) operand and result have one type.\n\n"
    # "Example:\n```mlir\n%1 = echo." # mnemonic
    # " %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>\n```";
}

// What the polynomial of a transcendental function takes, about.
class Echo_Transcendental {
  code declaration = [{ uint32_t getWeight() { return 8; } }];
}

def Echo_AddOp : Echo_BinaryOp<"add", Echo_Tensor, [Commutative]> {
  let summary = "elementwise sum";
  let description = "`lhs + rhs`; integers wrap; `or` for i1." # constraints;
}
def Echo_SubOp : Echo_BinaryOp<"sub"> {
  let summary = "elementwise difference";
  let description = "`lhs - rhs`; integers wrap." # constraints;
}
def Echo_MulOp : Echo_BinaryOp<"mul", Echo_Tensor, [Commutative]> {
  let summary = "elementwise product";
  let description = "`lhs * rhs`; integers wrap; `and` for i1." # constraints;
}
def Echo_DivOp : Echo_BinaryOp<"div"> {
  let summary = "elementwise quotient";
  let description = [{`lhs / rhs`. Integers round toward zero; division by zero
    gives zero, the least value by -1 gives itself.}] # constraints;
}
def Echo_RemOp : Echo_BinaryOp<"rem", Echo_IntTensor> {
  let summary = "elementwise remainder of integers";
  let description = [{The remainder of `div`, with the sign of lhs; zero where
    rhs is zero. Integers have no gradient.}] # constraints;
  let elementType = "i32";
}
def Echo_MaxOp : Echo_BinaryOp<"max", Echo_Tensor, [Commutative]> {
  let summary = "elementwise maximum";
  let description = [{NaN if either is NaN; signed integers. The gradient goes
    to lhs where lhs >= rhs, else to rhs.}] # constraints;
}
def Echo_MinOp : Echo_BinaryOp<"min", Echo_Tensor, [Commutative]> {
  let summary = "elementwise minimum";
  let description = [{NaN if either is NaN; signed integers. The gradient goes
    to lhs where lhs <= rhs, else to rhs.}] # constraints;
}
def Echo_PowOp : Echo_BinaryOp<"pow", Echo_FloatTensor> {
  let summary = "elementwise power";
  let description = "`lhs` to the power `rhs`, as C's pow." # constraints;
  let hasFolder = 0;
  let extraClassDeclaration = Echo_Transcendental<>.declaration;
}

def Echo_NegOp : Echo_UnaryOp<"neg", Echo_Tensor> {
  let summary = "elementwise negation";
  let description = "`-operand`." # constraints;
  let hasFolder = 1;
}
def Echo_AbsOp : Echo_UnaryOp<"abs", Echo_Tensor> {
  let summary = "elementwise absolute value";
  let description = "`|operand|`; the gradient at 0 is 0." # constraints;
  let hasFolder = 1;
}
def Echo_SignOp : Echo_UnaryOp<"sign", Echo_Tensor> {
  let summary = "elementwise sign";
  let description = "-1, 0 or 1; NaN stays NaN; -0 and 0 give 0. The gradient is zero." # constraints;
  let hasFolder = 1;
}
def Echo_ExpOp : Echo_UnaryOp<"exp"> {
  let summary = "elementwise exponential";
  let description = "e to the power operand. The gradient reads the result." # constraints;
  let extraClassDeclaration = Echo_Transcendental<>.declaration;
}
def Echo_LogOp : Echo_UnaryOp<"log"> {
  let summary = "elementwise natural logarithm";
  let description = "NaN below zero, -inf at zero." # constraints;
  let extraClassDeclaration = Echo_Transcendental<>.declaration;
}
def Echo_SqrtOp : Echo_UnaryOp<"sqrt"> {
  let summary = "elementwise square root";
  let description = "Correctly rounded. The gradient reads the result." # constraints;
}
def Echo_RsqrtOp : Echo_UnaryOp<"rsqrt"> {
  let summary = "elementwise reciprocal square root";
  let description = "`1 / sqrt(operand)`, both steps rounded. The gradient reads the result." # constraints;
}
def Echo_TanhOp : Echo_UnaryOp<"tanh"> {
  let summary = "elementwise hyperbolic tangent";
  let description = "The gradient reads the result." # constraints;
  let extraClassDeclaration = Echo_Transcendental<>.declaration;
}
def Echo_SigmoidOp : Echo_UnaryOp<"sigmoid"> {
  let summary = "elementwise logistic function";
  let description = "`1 / (1 + exp(-operand))`. The gradient reads the result." # constraints;
  let extraClassDeclaration = Echo_Transcendental<>.declaration;
}
def Echo_ReluOp : Echo_UnaryOp<"relu", Echo_Tensor> {
  let summary = "elementwise max(operand, 0)";
  let description = [{NaN stays NaN. The gradient reads the result's sign, which
    may be stashed as one bit.}] # constraints;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    bool allowsBitEncoding(unsigned) { return true; }
  }];
}
def Echo_GeluOp : Echo_UnaryOp<"gelu"> {
  let summary = "elementwise Gaussian error linear unit";
  let description = "`0.5 x (1 + erf(x / sqrt(2)))`." # constraints;
  let extraClassDeclaration = Echo_Transcendental<>.declaration;
}
def Echo_ErfOp : Echo_UnaryOp<"erf"> {
  let summary = "elementwise error function";
  let description = "`2 / sqrt(pi)` times the integral of `exp(-t^2)` from 0 to operand." # constraints;
  let extraClassDeclaration = Echo_Transcendental<>.declaration;
}

def Echo_CompareOp : Echo_ElementwiseOp<"compare", [Echo_Infer]> {
  let summary = "elementwise comparison";
  let description = [{
    Compares with NumPy broadcasting; NaN is unequal to everything (every
    direction but `ne` is false). Signed integers.

    Constraints:
    - (C1) lhs and rhs have one element type.
    - (C2) the shapes of lhs and rhs broadcast to the result's shape.
    - (C3) the result's element type is i1.

    Example:
    ```mlir
    %2 = echo.compare lt %0, %1 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
    ```
  }];
  let hasFolder = 1;
  let arguments = (ins Echo_Tensor:$lhs, Echo_Tensor:$rhs,
                       Echo_CompareDirectionAttr:$direction);
  let results = (outs Echo_BoolTensor:$result);
  let assemblyFormat = [{`` $direction operands attr-dict
                         `:` functional-type(operands, results)}];
  let extraClassDeclaration = [{
    bool allowsBitEncoding(unsigned) { return true; }
    bool isPositivityOf(unsigned index);
  }];
}

def Echo_SelectOp : Echo_ElementwiseOp<"select", [
    Echo_Infer, Echo_Gradient]> {
  let summary = "elementwise choice";
  let description = [{
    `predicate ? on_true : on_false`, with NumPy broadcasting of all three.

    Constraints:
    - (C1) on_true, on_false and result have one element type.
    - (C2) the shapes broadcast to the result's shape.

    Example:
    ```mlir
    %3 = echo.select %0, %1, %2 : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
  }];
  let hasFolder = 1;
  let arguments = (ins Echo_BoolTensor:$predicate, Echo_Tensor:$on_true,
                       Echo_Tensor:$on_false);
  let results = (outs Echo_Tensor:$result);
}

def Echo_ConvertOp : Echo_ElementwiseOp<"convert", [Echo_Gradient]> {
  let summary = "elementwise conversion of the element type";
  let description = [{
    Float to float rounds to nearest even; integer to float rounds; float to
    integer truncates toward zero (saturating, NaN gives 0); to i1 is
    `!= 0`; from i1 is 0 or 1.

    Constraints:
    - (C1) operand and result have one shape.

    Example:
    ```mlir
    %1 = echo.convert %0 : (tensor<2x3xf16>) -> tensor<2x3xf32>
    ```
  }];
  let hasFolder = 1;
  let arguments = (ins Echo_Tensor:$operand);
  let results = (outs Echo_Tensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Type":$elementType)>
  ];
}

#endif // ECHO_DIALECT_ELEMENTWISEOPS_TD

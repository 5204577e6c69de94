//===- ScalarEmission.cpp - Arithmetic of elementwise ops ----------------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"

using namespace mlir;
using namespace mlir::echo;

Value AddOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value SubOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value MulOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value DivOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value RemOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value MaxOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value MinOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value PowOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value NegOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value AbsOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value SignOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value ExpOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value LogOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value SqrtOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value RsqrtOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value TanhOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value SigmoidOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value ReluOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value GeluOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value ErfOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value CompareOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value SelectOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
Value ConvertOp::emitScalar(OpBuilder &, Location, ValueRange) { return {}; }
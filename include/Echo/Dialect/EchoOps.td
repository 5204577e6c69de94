//===- EchoOps.td - All ops of the Echo dialect -*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_DIALECT_ECHOOPS_TD
#define ECHO_DIALECT_ECHOOPS_TD

include "Echo/Dialect/ElementwiseOps.td"
include "Echo/Dialect/ShapeOps.td"
include "Echo/Dialect/ReductionOps.td"
include "Echo/Dialect/ContractionOps.td"
include "Echo/Dialect/CompositeOps.td"
include "Echo/Dialect/EncodingOps.td"
include "Echo/Dialect/StructureOps.td"

#endif // ECHO_DIALECT_ECHOOPS_TD

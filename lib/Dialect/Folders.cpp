//===- Folders.cpp - Constant folding ----------------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"

using namespace mlir;
using namespace mlir::echo;

OpFoldResult AddOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SubOp::fold(FoldAdaptor) { return {}; }
OpFoldResult MulOp::fold(FoldAdaptor) { return {}; }
OpFoldResult DivOp::fold(FoldAdaptor) { return {}; }
OpFoldResult RemOp::fold(FoldAdaptor) { return {}; }
OpFoldResult MaxOp::fold(FoldAdaptor) { return {}; }
OpFoldResult MinOp::fold(FoldAdaptor) { return {}; }
OpFoldResult PowOp::fold(FoldAdaptor) { return {}; }
OpFoldResult NegOp::fold(FoldAdaptor) { return {}; }
OpFoldResult AbsOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SignOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ExpOp::fold(FoldAdaptor) { return {}; }
OpFoldResult LogOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SqrtOp::fold(FoldAdaptor) { return {}; }
OpFoldResult RsqrtOp::fold(FoldAdaptor) { return {}; }
OpFoldResult TanhOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SigmoidOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ReluOp::fold(FoldAdaptor) { return {}; }
OpFoldResult GeluOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ErfOp::fold(FoldAdaptor) { return {}; }
OpFoldResult CompareOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SelectOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ConvertOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ReshapeOp::fold(FoldAdaptor) { return {}; }
OpFoldResult TransposeOp::fold(FoldAdaptor) { return {}; }
OpFoldResult BroadcastOp::fold(FoldAdaptor) { return {}; }
OpFoldResult SliceOp::fold(FoldAdaptor) { return {}; }
OpFoldResult PadOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ConcatOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ReverseOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ReduceOp::fold(FoldAdaptor) { return {}; }
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

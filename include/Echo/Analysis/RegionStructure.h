//===- RegionStructure.h - Regions as keys by what they compute -*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ANALYSIS_REGIONSTRUCTURE_H
#define ECHO_ANALYSIS_REGIONSTRUCTURE_H

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMapInfo.h"

namespace mlir::echo {

/// Keys of a DenseMap: regions with the same ops, attributes, types and wiring
/// are one key; locations don't count. The regions have to stay as they are
/// while they are keys.
struct RegionStructure : public llvm::DenseMapInfo<Region *> {
  static unsigned getHashValue(const Region *region);
  static bool isEqual(const Region *lhs, const Region *rhs);
};

} // namespace mlir::echo

#endif // ECHO_ANALYSIS_REGIONSTRUCTURE_H

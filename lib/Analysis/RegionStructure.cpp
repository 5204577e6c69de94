//===- RegionStructure.cpp - Regions as keys by what they compute ---------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/RegionStructure.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"

using namespace mlir;
using namespace mlir::echo;

unsigned RegionStructure::getHashValue(const Region *region) {
  auto *body = const_cast<Region *>(region);
  llvm::DenseMap<Value, unsigned> numbers;
  auto number = [&](Value value) {
    return llvm::hash_value(
        numbers.try_emplace(value, numbers.size()).first->second);
  };
  llvm::hash_code hash = llvm::hash_value(body->getNumArguments());
  for (BlockArgument argument : body->getArguments())
    hash = llvm::hash_combine(hash, number(argument), argument.getType());
  body->walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(
        hash,
        OperationEquivalence::computeHash(
            op, number, number, OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

bool RegionStructure::isEqual(const Region *lhs, const Region *rhs) {
  if (lhs == rhs)
    return true;
  if (lhs == getEmptyKey() || rhs == getEmptyKey() ||
      lhs == getTombstoneKey() || rhs == getTombstoneKey())
    return false;
  return OperationEquivalence::isRegionEquivalentTo(
      const_cast<Region *>(lhs), const_cast<Region *>(rhs),
      OperationEquivalence::IgnoreLocations);
}

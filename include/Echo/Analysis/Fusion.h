//===- Fusion.h - A block of ops as a fusion problem ------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ANALYSIS_FUSION_H
#define ECHO_ANALYSIS_FUSION_H

#include "Echo/Planning/Fusion.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::echo {

/// What an op is to fusion: its own answer (FusionOpInterface), what follows
/// from its shapes if it is elementwise, or a kernel of its own. Static types.
planning::FusionShape getFusionShape(Operation *op);

/// True for constants that are part of the kernels that read them: splats, and
/// those of a few elements.
bool isKernelConstant(Operation *op);

/// True if every result of `op` is contiguous in operand 0's buffer, so that
/// the host program has it for nothing.
bool isBufferView(Operation *op);

/// The ops of a block as fusion sees them. Ops that only move elements aren't
/// part of the problem: what they read is read through them. What is behind an
/// optimization barrier is read in order (FusionAccess::Order).
class FusionGraph {
public:
  /// `updates` are values that replace arguments. Fails with a diagnostic at an
  /// op whose types aren't static.
  static FailureOr<FusionGraph> build(Block &block,
                                      ArrayRef<Value> updates = {});

  const planning::FusionProblem &getProblem() const { return problem; }
  /// The ops of the problem, in its order.
  ArrayRef<Operation *> getOps() const { return ops; }
  /// The problem's index of an op of it.
  std::optional<uint32_t> getIndex(Operation *op) const;
  /// How an op of the problem iterates; its reads are of the operands' roots.
  planning::FusionShape getShape(uint32_t index) const;

  /// True if `value` is computed where it is read: moved elements or a small
  /// constant.
  bool isInlined(Value value) const;
  /// True if `value` is a buffer of the host program or a view of one.
  bool isOnHost(Value value) const;
  /// The value whose elements `value` has: itself, or what moved elements come
  /// from. Null for constants and indices.
  Value getRoot(Value value) const;
  /// The same, and how an iteration reads that value which reads `value` by
  /// `access`.
  Value getRoot(Value value, planning::FusionAccess &access) const;
  /// True if something outside the ops that `isMember` names reads `value`, a
  /// result of an op of the problem, or nothing reads it.
  bool isReadOutside(Value value,
                     llvm::function_ref<bool(Operation *)> isMember) const;

private:
  LogicalResult collect(Block &block);
  bool isView(Operation *op) const;
  /// How a movement's iteration reads its operand.
  planning::FusionAccess accessOf(Operation *movement) const;
  void findInlined(Block &block, ArrayRef<bool> isHost);
  void addOp(Operation *op, bool isHost);
  void addRead(planning::FusionOp &op, Value value,
               planning::FusionAccess access);
  /// `op` isn't computed before `value`.
  void addOrder(planning::FusionOp &op, Value value);
  uint32_t valueOf(Value value);

  planning::FusionProblem problem;
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, uint32_t> indices;
  llvm::DenseMap<Value, uint32_t> values;
  /// Movements and constants whose results are computed where they are read;
  /// others become kernels, since the host program needs their results.
  llvm::DenseSet<Operation *> inlined;
  std::optional<uint32_t> lastEffect;
  /// The ops that read each value of the problem; made when it is asked for.
  mutable std::vector<SmallVector<uint32_t, 2>> readers;
  /// What isBufferView and accessOf said: a split of many results has many
  /// readers, each of which asks.
  mutable llvm::DenseMap<Operation *, bool> views;
  mutable llvm::DenseMap<Operation *, planning::FusionAccess> accesses;
};

} // namespace mlir::echo

#endif // ECHO_ANALYSIS_FUSION_H

//===- GroupLowering.h - What the targets' kernels share --------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_CONVERSION_GROUPLOWERING_H
#define ECHO_LIB_CONVERSION_GROUPLOWERING_H

#include "KernelPlan.h"

namespace mlir::echo {

/// Succeeds for a kernel function of linalg on tensors (form 1 of Kernels.h);
/// otherwise fails with a diagnostic.
LogicalResult verifyKernel(func::FuncOp kernel);

/// The arguments of a kernel on buffers: inputs, then outputs, then the bits
/// of its parameters.
SmallVector<Type> bufferSignature(func::FuncOp kernel);
/// The types of what a kernel on tensors returns.
SmallVector<RankedTensorType> outputTypes(func::FuncOp kernel);

/// What constants are aligned to, in bytes: any vector of their elements.
inline constexpr int64_t kConstantAlignment = 64;

/// Makes globals, named `<kernel>_constant_<i>`, of a kernel's constants.
void createGlobals(OpBuilder &b, Location loc, StringRef kernel,
                   ArrayRef<Attribute> constants);

/// Writes conversions of bf16 with integer ops, and what moves bf16 values
/// around as the same of integers. LLVM's back ends would call a library
/// function, or have no instructions for it.
void expandBFloat16(Operation *kernel);

/// Writes the loops of one group.
class GroupLowering {
public:
  GroupLowering(KernelEmitter &emitter, const BoxGroup &group,
                ArrayRef<RankedTensorType> outputTypes, ValueRange outputs)
      : emitter(emitter), group(group), outputTypes(outputTypes),
        outputs(outputs) {}
  virtual ~GroupLowering() = default;

  /// Chunks lower to upper, which lie in 0 .. group.chunks().
  void runChunks(Value lower, Value upper);

protected:
  Value index(int64_t value) { return emitter.constantIndex(value); }
  Value next(Value value);
  Value scaled(Value value, int64_t factor);
  Value limited(Value value, int64_t factor, int64_t limit);
  void setLoop(const Loop &loop, Value position, int64_t width);
  /// Sets these loops, which are counted together, innermost fastest.
  void setLoops(ArrayRef<Loop> loops, Value position, int64_t width);
  /// Columns lower to upper of a row, or all of them.
  void row(Value position, Value lower, Value upper);
  /// The same of all rows from `first` to `last`.
  void rows(Value first, Value last, Value lower, Value upper);
  /// The loops from `level` on. `width` is that of the vector loop around.
  void inner(unsigned level, Value lower, Value upper, int64_t width);
  using BoxValues = SmallVector<std::pair<const Box *, Value>>;
  /// A dimension of the group, and one of the emitter that stands for it.
  using OtherDim = std::optional<std::pair<unsigned, unsigned>>;
  /// `expr` with the other dimension in place of the group's.
  static AffineExpr withOther(AffineExpr expr, OtherDim other);
  /// Writes the boxes of a level: all values are known before the first is
  /// stored, since an output may be the buffer of an input.
  void write(unsigned level, int64_t width);
  BoxValues valuesOf(function_ref<bool(const Box &)> isIncluded,
                     OtherDim other = std::nullopt);
  virtual void store(const BoxValues &values, int64_t width,
                     OtherDim other = std::nullopt);

  KernelEmitter &emitter;
  const BoxGroup &group;
  ArrayRef<RankedTensorType> outputTypes;
  ValueRange outputs;
};

} // namespace mlir::echo

#endif // ECHO_LIB_CONVERSION_GROUPLOWERING_H

//===- StepMemory.h - What is in memory during a step -----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tensors of a host program are alive when, and what they are for.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ANALYSIS_STEPMEMORY_H
#define ECHO_ANALYSIS_STEPMEMORY_H

#include "Echo/Analysis/StepParts.h"
#include "Echo/Planning/Arena.h"

namespace mlir::echo {

/// What memory is for. A tensor is the first of these that fits:
///
///   weights          arguments of role parameter
///   optimizer_state  states that the backward part alone reads
///   inputs           other arguments of the step, labels too
///   workspace        buffers that a single call uses
///   feature_maps     made up to the end of the forward part and read in the
///                    backward part behind it
///   gradients        made in the backward part
///   other            other states; temporaries of the forward part; results
enum class MemoryStructure : uint8_t {
  Weights,
  OptimizerState,
  FeatureMaps,
  Gradients,
  Inputs,
  Workspace,
  Other
};
inline constexpr size_t kNumMemoryStructures = 7;

/// "weights", "optimizer_state", ...
StringRef nameOf(MemoryStructure structure);

/// Bytes for each structure.
class StructureBytes {
public:
  uint64_t &operator[](MemoryStructure structure) {
    return bytes[static_cast<size_t>(structure)];
  }
  uint64_t operator[](MemoryStructure structure) const {
    return bytes[static_cast<size_t>(structure)];
  }
  uint64_t sum() const;

private:
  std::array<uint64_t, kNumMemoryStructures> bytes = {};
};

/// A tensor in memory. A buffer that is overwritten in place holds one after
/// the other.
struct TensorLifetime {
  Value buffer;
  Operation *producer = nullptr; ///< null for arguments
  Type type;
  uint64_t bytes = 0; ///< of the buffer
  /// Positions in the function's block, half-open; persistent tensors live
  /// from the start to the end.
  int64_t begin = 0, end = 0;
  MemoryStructure structure = MemoryStructure::Other;
  std::string layer;
};

struct StepMemory {
  SmallVector<TensorLifetime> persistent, arena;
  uint64_t persistentBytes = 0;
  uint64_t logicalPeakBytes = 0;
  /// Bytes of the feature maps, which are all alive across the end of the
  /// forward part.
  uint64_t featureMapBytes = 0;
  /// The first moment of the peak; null if nothing is ever alive.
  Operation *peak = nullptr;
  int64_t peakPosition = 0;
  /// At that moment, and the most at any moment; persistent tensors too.
  StructureBytes atPeak, largest;

  bool isAliveAtPeak(const TensorLifetime &tensor) const {
    return tensor.begin <= peakPosition && peakPosition < tensor.end;
  }
};

/// Follows the tensors of a host program on buffers whose arena isn't applied
/// yet: `values[i]` is what `problem.buffers[i]` stands for. Fails with a
/// diagnostic if sizes don't add up in 64 bits.
FailureOr<StepMemory> analyzeStepMemory(func::FuncOp function,
                                        const StepParts &parts,
                                        const planning::ArenaProblem &problem,
                                        ArrayRef<Value> values);

} // namespace mlir::echo

#endif // ECHO_ANALYSIS_STEPMEMORY_H

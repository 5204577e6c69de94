//===- Remat.h - What is stashed and what is computed again -----*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rematerialization: a step of a training graph keeps the values of its
// forward part that its backward part reads (feature maps, the stash), or
// evaluates their ops again just before they are read. The algorithm is the one
// of "Echo: Compiler-based GPU Memory Footprint Reduction for LSTM RNN
// Training" (Zheng, Vijaykumar, Pekhimenko; ISCA 2020), section V;
// docs/remat.md says where and why it goes further.
//
// Nothing here knows a compiler: problems and plans are plain data and have a
// JSON form, so that a graph from anywhere can be planned.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_PLANNING_REMAT_H
#define ECHO_PLANNING_REMAT_H

#include "Echo/Planning/Fusion.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::echo::planning {

/// "no value", "no op", "no clone"
inline constexpr uint32_t kNoIndex = ~uint32_t(0);

/// Forward: the loss depends on it. Backward: a gradient or an updated
/// parameter depends on it and the loss doesn't; among the forward ops it counts
/// as one of them. Side: the rest (metrics, running statistics, next states),
/// which runs with the forward part.
enum class RematPart : uint8_t { Forward, Backward, Side };

/// A tensor.
struct RematValue {
  uint64_t bytes = 0; ///< that it takes in memory of its own
  /// In memory all through the step whatever the plan: parameters and state.
  /// Reading it costs nothing. One that an op makes takes the memory of one
  /// that is there from the start: an updated parameter.
  bool isResident = false;
  /// The value whose memory this is a view of, or whose elements readers get at
  /// without a copy; kNoIndex: it has memory of its own.
  uint32_t source = kNoIndex;
  /// Bytes of the bits that all of its late readers could work with instead
  /// (dropout masks, signs of ReLU), kNoBits if they couldn't. Bits are packed
  /// where the value is made and unpacked by the ops that read them.
  uint64_t encodedBytes = kNoBits;

  static constexpr uint64_t kNoBits = ~uint64_t(0);
};

struct RematOp {
  /// Values in the order of the operands (one may occur twice), and the
  /// results; every value is the result of at most one op.
  std::vector<uint32_t> inputs, results;
  RematPart part = RematPart::Forward;
  double seconds = 0; ///< of one evaluation as a kernel or library call
  /// A product or convolution: worth more time than its result's memory.
  bool isHeavy = false;
  /// A second evaluation gives the same bits and has no effect.
  bool isRepeatable = true;
  /// Recomputed by the strategy `mirror`, if it is neither heavy nor
  /// unrepeatable: not dropout, concatenation and softmax.
  bool isMirrored = true;
  /// Results may take the memory of an input of the same size that nothing
  /// reads afterwards.
  bool overwritesInputs = false;
  /// Of one evaluation; counts where the op is fused.
  uint64_t flops = 0;
  /// How it iterates, if others may share a kernel with it; `reads`, one for
  /// each input, look through views. Nothing: a kernel or library call of its
  /// own, which takes `seconds`.
  std::optional<FusionShape> fusion;
  /// Bytes of each input that it reads, of a view those of its source; nothing:
  /// all. Counts where the op is fused.
  std::vector<uint64_t> readBytes;
};

/// A step. The order of `ops` is the order that they run in; every value is
/// written before it is read. Values that no op writes are there from the
/// start.
struct RematProblem {
  std::vector<RematValue> values;
  std::vector<RematOp> ops;
  /// Values that are there at the end of the step: the loss, gradients.
  std::vector<uint32_t> outputs;
  /// For reports: nothing, or one for each value and op.
  std::vector<std::string> valueNames, opNames;
  /// Bytes per second that the device moves which the ops' seconds are for; 0:
  /// nobody knows.
  double memoryBandwidth = 0;
  /// Seconds of each op that are a launch; a clone in the kernel of its reader
  /// has none.
  double launchSeconds = 0;
};

/// Checks that a problem is what the structs say, and that all bytes add up in
/// 64 bits. Returns false and says what is wrong.
bool checkRematProblem(const RematProblem &problem, std::string &error);

/// Sets the part of every op from the loss and the values that a step is for
/// (gradients, updated parameters), both in values, and settles them.
void findRematParts(RematProblem &problem, uint32_t loss,
                    const std::vector<uint32_t> &targets);

/// Makes forward ops of backward ones that run among the forward ops: a mask
/// for a gradient, computed where its input is. What only they read is stashed
/// no longer than that, and nothing is computed again so early.
void settleRematParts(RematProblem &problem);

/// The ops that read each tensor, views looked through: the EdgeUseRef pass of
/// the paper (Figure 10). Ascending, each op once.
struct EdgeUseRefs {
  /// By value; empty for views, whose readers read what they are views of.
  std::vector<std::vector<uint32_t>> forward; ///< forward and side ops
  std::vector<std::vector<uint32_t>> backward;
};
EdgeUseRefs findEdgeUseRefs(const RematProblem &problem);

/// An evaluation of a forward op in the backward part.
struct RematClone {
  uint32_t op = 0;
  /// The op of the problem in front of which it runs: its first late reader, or
  /// that of a clone that reads it or (EchoOptions::joinProducers) that it
  /// reads.
  uint32_t before = 0;
  /// For each input the clone that computes it, kNoIndex: the original.
  std::vector<uint32_t> inputs;
  bool operator==(const RematClone &other) const {
    return op == other.op && before == other.before && inputs == other.inputs;
  }
};

/// A backward op's operand that reads a clone's result instead of the original.
struct RematRead {
  uint32_t op = 0, operand = 0, clone = 0;
  bool operator==(const RematRead &other) const {
    return op == other.op && operand == other.operand && clone == other.clone;
  }
};

/// Why a feature map is stashed or not.
enum class RematReason : uint8_t {
  Recomputed,   ///< its op is evaluated again
  Encoded,      ///< stashed as bits
  Heavy,        ///< stashed: its op is compute-heavy
  Unrepeatable, ///< stashed: its op can't be evaluated twice
  Input,        ///< stashed: it is an input of the step
  NoGain,       ///< stashed: what recomputing needs is no smaller
  Peak,         ///< stashed: recomputing would need more memory at the peak
  Excluded,     ///< stashed: the strategy doesn't recompute its op
  Strategy      ///< stashed: so the strategy says (none)
};
/// "recomputed", "encoded as bits", "compute-heavy", ...
std::string_view describe(RematReason reason);

/// What became of a value that the backward part reads, or that a clone reads.
struct RematDecision {
  uint32_t value = 0;
  RematReason reason = RematReason::Strategy;
  /// No backward op reads it: it is stashed for clones alone.
  bool isForClones = false;
};

struct RematPlan {
  std::vector<RematClone> clones; ///< in the order that they run in
  std::vector<RematRead> reads;   ///< ascending
  /// Values that are stashed as bits, ascending: results of forward ops that
  /// no clone reads and that aren't there at the end. Every backward op that
  /// reads one of them reads its bits.
  std::vector<uint32_t> encoded;
  /// By value, ascending: every forward value of memory of its own that the
  /// backward part or a clone reads.
  std::vector<RematDecision> decisions;
};

/// What a step needs under a plan.
struct RematFigures {
  /// The stash: bytes of forward values that backward ops or clones read.
  uint64_t featureMapBytes = 0;
  /// Largest sum of bytes alive at once, residents not counted, views and
  /// results that overwrite inputs taken into account; every result of an op
  /// counts as a tensor in memory.
  uint64_t peakBytes = 0;
  uint32_t peakOp = 0;        ///< that runs then, or whose clones do
  uint64_t recomputedOps = 0; ///< clones, views not counted
  double addedSeconds = 0;    ///< of clones as kernels of their own
};
RematFigures measureRemat(const RematProblem &problem, const RematPlan &plan);
/// What it needs without a plan, and with `plan`.
struct RematComparison {
  RematFigures before, after;
};
RematComparison compareRemat(const RematProblem &problem,
                             const RematPlan &plan);

/// Independent check: clones are repeatable forward ops that run where the plan
/// says with inputs that are computed by then; reads are of backward ops behind
/// the clones.
bool checkRematPlan(const RematProblem &problem, const RematPlan &plan,
                    std::string &error);

/// What strategy `echo` does beyond Algorithm 1 of the paper; with all of it
/// off it is the letter of it (strategy `echo-paper`).
struct EchoOptions {
  /// A subgraph is everything that non-heavy ops and their shared inputs
  /// connect, not what is reached from one seed: the T branches of attention
  /// share a tensor without sharing a reader.
  bool closeOverSharedInputs = true;
  /// Ops that share an input, transitively, stand or fall together; the paper
  /// looks at the readers of one op's inputs.
  /// A second round takes chains of single readers for one op.
  bool trimGroups = true;
  /// Ops that are recomputed for no gain are dropped behind the trimming, which
  /// looks at one level at a time and can stick: each with what is recomputed for
  /// it alone, or with all that is recomputed for it.
  bool dropUseless = true;
  /// Ops are recomputed if what that saves is at least this share of the bytes
  /// that the device could move in the time that it takes, launches not
  /// counted. The paper doesn't weigh time: it would read the logits of a whole
  /// batch again for the sums over them, a few kilobytes.
  double minSavedShare = 1.0 / 32;
  /// A value whose bits suffice is encoded only if it stays stashed; the paper
  /// always encodes.
  bool encodeStashedOnly = true;
  /// Chains of values that are each needed in another part of the backward part
  /// (the cell of an LSTM, a residual stream) may be this long; longer ones are
  /// stashed in between. 0: without end; the default tries several bounds and
  /// keeps the lowest peak.
  static constexpr uint32_t kTryChains = ~uint32_t(0);
  uint32_t maxChain = kTryChains;
  /// Clones run right behind the clone that makes what they read, rather than
  /// in front of their first reader, if what they release is no smaller than
  /// what they make: they can share its kernel.
  bool joinProducers = true;
  /// Parts of the plan are given up if the peak is above that without a plan.
  bool keepPeak = true;

  /// The letter of the paper.
  static EchoOptions paper();
};

struct RematStrategy {
  std::string_view name, summary;
};
/// none, mirror, echo-paper, echo
const std::vector<RematStrategy> &rematStrategies();

/// Plans with strategy `name`. `problem` must be one that checkRematProblem
/// accepts. Deterministic; near-linear in the ops. Returns false if there is no
/// such strategy.
bool planRemat(const RematProblem &problem, std::string_view name,
               RematPlan &plan);

/// Algorithm 1 with the given deviations.
RematPlan planEcho(const RematProblem &problem,
                   const EchoOptions &options = {});

/// The subgraphs between compute-heavy ops in which `echo` looks for what to
/// recompute, each a list of forward ops, ascending (the paper's partition).
std::vector<std::vector<uint32_t>>
partitionForRemat(const RematProblem &problem);

/// JSON forms; docs/remat.md has the fields. Readers return false and say what
/// is wrong and where.
std::string writeRematProblem(const RematProblem &problem);
bool readRematProblem(std::string_view json, RematProblem &problem,
                      std::string &error);
std::string writeRematPlan(const RematProblem &problem, const RematPlan &plan);
/// Refuses a plan that was made for another problem.
bool readRematPlan(std::string_view json, const RematProblem &problem,
                   RematPlan &plan, std::string &error);

} // namespace mlir::echo::planning

#endif // ECHO_PLANNING_REMAT_H

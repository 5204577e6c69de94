//===- Fusion.h - Which ops share a kernel ----------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernel forming and rematerialization share this model of what a kernel is,
// so that both agree on which values move through memory.
//
// A kernel runs over `elements` iterations, numbered in row-major order. With
// row reductions they are rows of `columns` iterations, and a value of a row
// (one element for each) is known inside it. The class of an op says how its
// iterations relate to the elements that it reads and writes; it is given with
// flat numbers, so that reshaping changes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_PLANNING_FUSION_H
#define ECHO_PLANNING_FUSION_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::echo::planning {

/// How an op iterates.
enum class FusionClass {
  /// Not in a kernel: a library call, the end of the program.
  Host,
  /// Every iteration writes its own elements.
  Pointwise,
  /// Iterations are rows of `columns`, and values of a row depend on all of
  /// its iterations: softmax, a sum over the last dimensions.
  RowReduction,
  /// Sums over the middle of [outer, reduced, inner]; iterations are the
  /// elements that are summed.
  ColumnReduction,
  /// A kernel of its own.
  Alone
};

/// Which element of a value an iteration reads.
struct FusionAccess {
  enum Kind {
    Same,   ///< iteration i reads element i
    Row,    ///< iteration i reads element i / columns
    Scalar, ///< the only element
    Part,   ///< several elements, no element in two iterations
    Any,    ///< anything else: the value has to be in memory
    /// No element: the op isn't computed before the value is. In one kernel it
    /// may be anywhere. Such a read moves no bytes and keeps no value alive.
    Order
  };
  Kind kind = Any;
  uint64_t columns = 1; ///< of Row
  bool operator==(const FusionAccess &other) const {
    return kind == other.kind && (kind != Row || columns == other.columns);
  }
};

/// Access through two steps: an iteration reads an element of a value by
/// `outer`, and the element of that value is one of another value by `inner`.
FusionAccess compose(FusionAccess outer, FusionAccess inner);

/// How an op writes a result.
enum class FusionWrite {
  Same,  ///< iteration i writes element i
  Row,   ///< one element a row
  Column, ///< the sums of a column reduction
  Other  ///< nothing in the same kernel may read it
};

/// What an op is to fusion; `reads` has an entry for each operand, `writes` for
/// each result.
struct FusionShape {
  FusionClass kind = FusionClass::Alone;
  uint64_t elements = 1; ///< iterations
  uint64_t columns = 1;  ///< iterations in a row, of a row reduction
  uint64_t outer = 1, reduced = 1; ///< of a column reduction
  /// A column reduction that may be summed up row by row while the kernel
  /// walks over all rows, `outer` times `reduced` of them.
  bool accumulates = false;
  /// Scalar operations in an iteration, about: limits the size of kernels.
  uint32_t weight = 1;
  std::vector<FusionAccess> reads;
  std::vector<FusionWrite> writes;
};

struct FusionRead {
  uint32_t value;
  FusionAccess access;
  uint64_t bytes = ~uint64_t(0); ///< of the value that are read, if not all
};

struct FusionOp {
  FusionShape shape; ///< without `reads`: they are below, by value
  std::vector<FusionRead> reads;
  std::vector<uint32_t> results; ///< values, parallel to shape.writes
};

/// Ops in an order in which every value is written before it is read. Values
/// that no op writes are inputs.
struct FusionProblem {
  std::vector<FusionOp> ops;
  std::vector<uint64_t> bytes; ///< of every value
  /// Values that replace an input in its own memory, ascending: their kernels
  /// write nothing of another size, so that they can.
  std::vector<uint32_t> updates;
};

struct FusionOptions {
  /// Scalar operations in a kernel: more cost compile time and registers.
  uint32_t maxWeight = 160;
  /// Values that a kernel reads and writes.
  uint32_t maxValues = 64;
  /// Positions of the order that a merge may reach over: a few time steps of a
  /// model, so that its kernels don't depend on its length.
  uint32_t window = 64;
  /// Groups that others may move over even if that keeps more bytes alive.
  uint32_t freeMoves = 4;
  /// The window for groups that only share an input.
  uint32_t siblingWindow = 32;
};

/// The kernels, each a list of ops in their order; host ops are in none. The
/// steps are an order of kernels and host ops that respects all reads.
struct FusionPlan {
  std::vector<std::vector<uint32_t>> kernels;
  struct Step {
    bool isHost;
    uint32_t index; ///< of an op, or of a kernel
  };
  std::vector<Step> steps;
};

/// Puts ops that pass values to each other through memory into common kernels,
/// the most bytes first, where the iterations fit: no value is computed twice
/// but for cheap ones that a column reduction reads, which doesn't accumulate. Near-linear in the ops;
/// deterministic.
FusionPlan planFusion(const FusionProblem &problem,
                      const FusionOptions &options = {});

/// Bytes that each kernel of a plan reads and writes: each value once for every
/// kernel that reads it, and once where it is written and something outside
/// its kernel reads it (or nothing at all does).
std::vector<uint64_t> trafficOfKernels(const FusionProblem &problem,
                                       const FusionPlan &plan);
/// Their sum.
uint64_t kernelTraffic(const FusionProblem &problem, const FusionPlan &plan);

/// Independent check: every op is in one kernel or a host step, and the order
/// respects all reads.
bool checkFusion(const FusionProblem &problem, const FusionPlan &plan,
                 std::string &error);

} // namespace mlir::echo::planning

#endif // ECHO_PLANNING_FUSION_H

//===- RematIndex.h - A problem of rematerialization, indexed ---*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_PLANNING_REMATINDEX_H
#define ECHO_LIB_PLANNING_REMATINDEX_H

#include "Echo/Planning/Remat.h"
#include <functional>

namespace mlir::echo::planning {

/// A part of an array.
struct IndexRange {
  const uint32_t *first = nullptr, *last = nullptr;
  const uint32_t *begin() const { return first; }
  const uint32_t *end() const { return last; }
  uint32_t operator[](size_t i) const { return first[i]; }
  size_t size() const { return last - first; }
  bool empty() const { return first == last; }
};

/// Lists of indices, one after the other in one array.
class IndexLists {
public:
  /// Adds to the last list, and begins the next one.
  void add(uint32_t index) { entries.push_back(index); }
  void finishList() { starts.push_back(entries.size()); }
  void reserve(size_t lists, size_t numEntries) {
    starts.reserve(lists + 1);
    entries.reserve(numEntries);
  }

  /// `visit(add)` calls `add(list, index)` for every entry, the same way each
  /// time; the entries of a list keep their order.
  template <typename Visit>
  void build(size_t lists, Visit visit) {
    starts.assign(lists + 1, 0);
    visit([&](uint32_t list, uint32_t) { ++starts[list + 1]; });
    for (size_t i = 0; i < lists; ++i)
      starts[i + 1] += starts[i];
    entries.resize(starts[lists]);
    std::vector<uint32_t> next(starts.begin(), starts.end() - 1);
    visit(
        [&](uint32_t list, uint32_t index) { entries[next[list]++] = index; });
  }
  IndexRange operator[](uint32_t list) const {
    return {entries.data() + starts[list], entries.data() + starts[list + 1]};
  }

private:
  std::vector<uint32_t> starts = {0}, entries;
};

/// Who computes and reads what. Views are looked through: "roots" are values
/// with memory of their own, and an op reads the roots of its inputs.
class RematIndex {
public:
  explicit RematIndex(const RematProblem &problem);

  const RematProblem &problem;
  std::vector<uint32_t> root;     ///< by value
  std::vector<uint32_t> producer; ///< by value, kNoIndex for inputs
  std::vector<uint32_t> place; ///< by value, among the results of its op
  std::vector<bool> isView;       ///< by op: all results are views
  std::vector<bool> isOutput;     ///< by root: there at the end of the step
  std::vector<bool> overwritesInputs; ///< by op

  /// What the problem says of an op, close together: inputs and results.
  IndexRange operands(uint32_t op) const { return operandLists[op]; }
  IndexRange results(uint32_t op) const { return resultLists[op]; }
  /// Roots that an op reads but residents, each once; ops that are views
  /// themselves too.
  IndexRange inputs(uint32_t op) const { return inputLists[op]; }
  /// Forward and side ops that read a root, ascending, but views.
  IndexRange earlyReaders(uint32_t root) const { return earlyLists[root]; }
  /// Backward ops that read a root, ascending, but views.
  IndexRange lateReaders(uint32_t root) const { return lateLists[root]; }

  /// True if `value` is neither a view nor in memory anyway.
  bool takesMemory(uint32_t value) const {
    return problem.values[value].source == kNoIndex &&
           !problem.values[value].isResident;
  }
  bool isLate(uint32_t op) const { return late[op]; }
  /// True if no strategy but one that recomputes heavy ops clones it.
  bool isCandidate(uint32_t op) const { return candidates[op]; }
  /// The op that computes a root, if that isn't part of the backward part.
  uint32_t earlyProducer(uint32_t root) const {
    uint32_t op = producer[root];
    return op == kNoIndex || isLate(op) ? kNoIndex : op;
  }
  /// True for values that the forward part hands on: neither resident nor made
  /// in the backward part.
  bool isFeature(uint32_t root) const {
    return !problem.values[root].isResident &&
           (producer[root] == kNoIndex || !isLate(producer[root]));
  }

private:
  IndexLists operandLists, resultLists, inputLists, earlyLists, lateLists;
  std::vector<bool> late, candidates; ///< by op
};

/// Decides what a plan is made of: which ops are recomputed, and which late
/// readers of theirs read the originals all the same.
struct RematChoice {
  std::vector<bool> recomputed; ///< by op
  /// Why ops that aren't recomputed aren't.
  std::vector<RematReason> reasons; ///< by op
  std::vector<bool> encoded;        ///< by root
  /// Null: none.
  std::function<bool(uint32_t op)> readsOriginals;
  /// EchoOptions::joinProducers
  bool joinsProducers = false;
};

/// Clones on demand: what late readers read, just in front of the first of
/// them, and what the clones read. Without decisions.
RematPlan makeRematPlan(const RematIndex &index, const RematChoice &choice);
/// Adds the decisions to a plan that was made from `choice`.
void explainRemat(const RematIndex &index, const RematChoice &choice,
                  RematPlan &plan);

RematFigures measureRemat(const RematIndex &index, const RematPlan &plan);

/// Lines 1 to 10 of Algorithm 1: subgraphs from the ends of the forward part
/// backward, and from every heavy op on again. An op belongs to the first that
/// reaches it.
std::vector<std::vector<uint32_t>> growFromSeeds(const RematIndex &index);
/// All candidates that are connected by values that one of them makes and
/// another reads, or that both read.
std::vector<std::vector<uint32_t>> connectCandidates(const RematIndex &index);

RematPlan planEcho(const RematIndex &index, const EchoOptions &options);

} // namespace mlir::echo::planning

#endif // ECHO_LIB_PLANNING_REMATINDEX_H

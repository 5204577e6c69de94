//===- RematEcho.cpp - Algorithm 1 of the Echo paper
//-----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lines are those of Algorithm 1. A subgraph (lines 5 to 10) starts as
// recomputed as a whole (line 11) and is trimmed from its inputs on (lines 12
// to 28): ops are taken off where what they read is no smaller than what they
// make. Clones are made on demand later, so a heavy op never gets one, and its
// gradient reads recomputed inputs (lines 13 to 17).
//
//===----------------------------------------------------------------------===//

#include "RematIndex.h"
#include <algorithm>

using namespace mlir::echo::planning;

EchoOptions EchoOptions::paper() {
  EchoOptions options;
  options.closeOverSharedInputs = false;
  options.trimGroups = false;
  options.dropUseless = false;
  options.minSavedShare = 0;
  options.encodeStashedOnly = false;
  options.maxChain = 0;
  options.joinProducers = false;
  options.keepPeak = false;
  return options;
}

//===----------------------------------------------------------------------===//
// Trimming
//===----------------------------------------------------------------------===//

namespace {

class EchoPlanner {
public:
  EchoPlanner(const RematIndex &index, const EchoOptions &options)
      : index(index), problem(index.problem), options(options) {
    size_t numOps = problem.ops.size(), numValues = problem.values.size();
    base.recomputed.assign(numOps, false);
    base.reasons.assign(numOps, RematReason::NoGain);
    base.encoded.assign(numValues, false);
    base.joinsProducers = options.joinProducers;
    isMarkedOp.assign(numOps, false);
    isMarkedValue.assign(numValues, false);
    isKept.assign(numOps, false);
    staysForKept.assign(numValues, false);
    numRecomputedReaders.assign(numValues, 0);
    numSetReaders.assign(numValues, 0);
    numPending.assign(numOps, 0);
    unitOf.assign(numOps, kNoIndex);
    firstMember.assign(numOps, kNoIndex);
    nextMember.assign(numOps, kNoIndex);
    firstFrontierReader.assign(numValues, kNoIndex);
  }

  RematPlan run();

private:
  void findDemanded(const std::vector<uint32_t> &subgraph);
  void makeUnits(const std::vector<uint32_t> &subgraph, bool joinChains);
  void trimUnits(const std::vector<uint32_t> &subgraph);
  void trimAsPaper(const std::vector<uint32_t> &subgraph);
  void addToFrontier(uint32_t unit);
  std::vector<uint32_t> collectGroup(uint32_t unit);
  bool isWorthless(const std::vector<uint32_t> &set);
  bool isWorthlessToPaper(uint32_t op);
  /// True if only ops of the set of which numSetReaders tells need what `op`
  /// makes.
  bool isForSet(uint32_t op) const {
    for (uint32_t value : index.results(op))
      if (hasLateReaders(value) ||
          numSetReaders[value] != numRecomputedReaders[value])
        return false;
    return true;
  }
  void dropUseless();
  void dropSlow();
  void dropUnneeded();
  void dropWhatDoesntPay() {
    dropUnneeded();
    if (options.dropUseless)
      dropUseless();
    if (options.minSavedShare > 0 && problem.memoryBandwidth > 0)
      dropSlow();
  }
  void encode();
  bool boundChains(uint32_t bound);
  RematPlan chooseChains(RematFigures &figures);
  void keepPeak(RematPlan &plan, RematFigures figures);

  bool isRecomputed(uint32_t op) const {
    return op != kNoIndex && base.recomputed[op];
  }
  void setRecomputed(uint32_t op, bool recomputed) {
    if (base.recomputed[op] == recomputed)
      return;
    base.recomputed[op] = recomputed;
    for (uint32_t value : index.inputs(op))
      numRecomputedReaders[value] += recomputed ? 1 : -1;
  }
  bool hasLateReaders(uint32_t value) const {
    return !index.lateReaders(value).empty();
  }
  /// What a value takes that is stashed for late readers alone.
  uint64_t bytesForLateReaders(uint32_t value) const {
    const RematValue &entry = problem.values[value];
    return isEncoding && index.earlyProducer(value) != kNoIndex &&
                   !index.isOutput[value]
               ? std::min(entry.bytes, entry.encodedBytes)
               : entry.bytes;
  }

  const RematIndex &index;
  const RematProblem &problem;
  const EchoOptions &options;
  RematChoice base;
  RematChoice chosen;                         ///< what the plan was made from
  bool isEncoding = true; ///< values may be stashed as bits
  std::vector<uint32_t> numRecomputedReaders; ///< by value
  /// Scratch; all false or 0 between uses.
  std::vector<bool> isMarkedOp, isMarkedValue;
  std::vector<uint32_t> numSetReaders; ///< by value

  // Units are what trimming takes off at once: ops, or chains of them; each is
  // named by its last op. The frontier: units that are recomputed from stashed
  // values alone.
  std::vector<uint32_t> unitOf;               ///< by op
  /// The ops of a unit, ascending: by unit, and by op the one behind it.
  std::vector<uint32_t> firstMember, nextMember;
  std::vector<uint32_t> numPending; ///< by unit, inputs that are recomputed
  /// A unit that reads a value, and who else does.
  struct FrontierReader {
    uint32_t unit, next;
  };
  std::vector<uint32_t> firstFrontierReader; ///< by value
  std::vector<FrontierReader> frontierReaders;
  /// Units that trimming looked at and left, and what they read.
  std::vector<bool> isKept, staysForKept;
};

} // namespace

/// Line 11, less the ops whose results no late reader and no such op needs.
void EchoPlanner::findDemanded(const std::vector<uint32_t> &subgraph) {
  for (auto it = subgraph.rbegin(); it != subgraph.rend(); ++it)
    for (uint32_t value : index.results(*it))
      if (hasLateReaders(value) || numRecomputedReaders[value] != 0)
        setRecomputed(*it, true);
}

/// Units of single ops; or an op whose results go to one unit alone is part of
/// that one. Taking such an op off by itself may release nothing, since its
/// inputs stay for others, and keeps back what follows it.
void EchoPlanner::makeUnits(const std::vector<uint32_t> &subgraph,
                            bool joinChains) {
  for (auto it = subgraph.rbegin(); it != subgraph.rend(); ++it) {
    uint32_t op = *it, unit = kNoIndex;
    bool isForUnit = joinChains;
    for (uint32_t value : index.results(op)) {
      isForUnit &= !hasLateReaders(value);
      if (!isForUnit)
        break;
      for (uint32_t reader : index.earlyReaders(value)) {
        if (!base.recomputed[reader])
          continue;
        isForUnit &= unit == kNoIndex || unit == unitOf[reader];
        unit = unitOf[reader];
      }
    }
    unitOf[op] = isForUnit && unit != kNoIndex ? unit : op;
  }
  frontierReaders.clear();
  for (uint32_t op : subgraph) {
    firstMember[op] = kNoIndex;
    numPending[op] = 0;
    isKept[op] = false;
    for (uint32_t value : index.inputs(op)) {
      firstFrontierReader[value] = kNoIndex;
      staysForKept[value] = false;
    }
  }
  for (auto it = subgraph.rbegin(); it != subgraph.rend(); ++it)
    if (base.recomputed[*it]) {
      nextMember[*it] = firstMember[unitOf[*it]];
      firstMember[unitOf[*it]] = *it;
    }
}

void EchoPlanner::addToFrontier(uint32_t unit) {
  for (uint32_t op = firstMember[unit]; op != kNoIndex; op = nextMember[op])
    for (uint32_t value : index.inputs(op)) {
      uint32_t reader = frontierReaders.size();
      frontierReaders.push_back({unit, firstFrontierReader[value]});
      firstFrontierReader[value] = reader;
    }
}

/// The ops of the frontier's units that share inputs with `unit`, transitively:
/// an input is stashed until none of its readers is recomputed.
std::vector<uint32_t> EchoPlanner::collectGroup(uint32_t unit) {
  std::vector<uint32_t> units = {unit}, ops, values;
  isMarkedOp[unit] = true;
  for (size_t i = 0; i < units.size(); ++i)
    for (uint32_t op = firstMember[units[i]]; op != kNoIndex;
         op = nextMember[op]) {
      ops.push_back(op);
      for (uint32_t value : index.inputs(op)) {
        // A value that stays anyway ties nobody.
        if (isMarkedValue[value] || hasLateReaders(value) ||
            staysForKept[value])
          continue;
        isMarkedValue[value] = true;
        values.push_back(value);
        // What was taken off is looked at once.
        uint32_t *link = &firstFrontierReader[value];
        while (*link != kNoIndex) {
          FrontierReader &reader = frontierReaders[*link];
          if (!base.recomputed[reader.unit]) {
            *link = reader.next;
            continue;
          }
          link = &reader.next;
          if (isMarkedOp[reader.unit])
            continue;
          isMarkedOp[reader.unit] = true;
          units.push_back(reader.unit);
        }
      }
    }
  for (uint32_t member : units)
    isMarkedOp[member] = false;
  for (uint32_t value : values)
    isMarkedValue[value] = false;
  std::sort(ops.begin(), ops.end());
  return ops;
}

/// Lines 19 to 28 for a set of ops of which each reads stashed values and other
/// members alone: true if stashing what others need of their outputs takes no
/// more than their inputs do. An input that a late op reads would be on both
/// sides.
bool EchoPlanner::isWorthless(const std::vector<uint32_t> &set) {
  for (uint32_t op : set)
    for (uint32_t value : index.inputs(op))
      ++numSetReaders[value];
  uint64_t released = 0, allocated = 0;
  for (uint32_t op : set)
    for (uint32_t value : index.results(op)) {
      if (numRecomputedReaders[value] != numSetReaders[value])
        allocated += problem.values[value].bytes;
      else if (hasLateReaders(value))
        allocated += bytesForLateReaders(value);
    }
  for (uint32_t op : set)
    for (uint32_t value : index.inputs(op)) {
      // Each value once.
      if (numSetReaders[value] == 0)
        continue;
      // What is computed again isn't stashed, inside or not.
      if (!isRecomputed(index.earlyProducer(value)) &&
          numRecomputedReaders[value] == numSetReaders[value])
        released +=
            problem.values[value].bytes -
            (hasLateReaders(value) ? bytesForLateReaders(value) : 0);
      numSetReaders[value] = 0;
    }
  return released >= allocated;
}

/// Lines 12 to 28. Groups that stay are looked at once; taking one off makes
/// new ones of what it alone kept back.
void EchoPlanner::trimUnits(const std::vector<uint32_t> &subgraph) {
  std::vector<uint32_t> worklist;
  for (uint32_t op : subgraph)
    if (base.recomputed[op])
      for (uint32_t value : index.inputs(op)) {
        uint32_t producer = index.earlyProducer(value);
        numPending[unitOf[op]] +=
            isRecomputed(producer) && unitOf[producer] != unitOf[op];
      }
  for (auto it = subgraph.rbegin(); it != subgraph.rend(); ++it)
    if (firstMember[*it] != kNoIndex && numPending[*it] == 0) {
      worklist.push_back(*it);
      addToFrontier(*it);
    }
  while (!worklist.empty()) {
    uint32_t unit = worklist.back();
    worklist.pop_back();
    if (!base.recomputed[unit] || isKept[unit])
      continue;
    std::vector<uint32_t> group = collectGroup(unit);
    bool isOff = isWorthless(group);
    for (uint32_t member : group) {
      if (isOff) {
        setRecomputed(member, false);
        continue;
      }
      isKept[member] = true;
      for (uint32_t value : index.inputs(member))
        staysForKept[value] = true;
    }
    if (!isOff)
      continue;
    for (uint32_t member : group)
      for (uint32_t value : index.results(member))
        for (uint32_t reader : index.earlyReaders(value))
          if (base.recomputed[reader] && --numPending[unitOf[reader]] == 0) {
            worklist.push_back(unitOf[reader]);
            addToFrontier(unitOf[reader]);
          }
  }
}

/// Lines 19 to 28 to the letter: the edges of the ops that read an input of
/// `op`, in its subgraph or in the gradient's part of the graph.
bool EchoPlanner::isWorthlessToPaper(uint32_t op) {
  std::vector<uint32_t> released, allocated;
  for (uint32_t value : index.inputs(op)) {
    for (uint32_t reader : index.earlyReaders(value)) {
      if (!isMarkedOp[reader])
        continue;
      for (uint32_t result : index.results(reader))
        if (index.takesMemory(result))
          allocated.push_back(result);
      for (uint32_t input : index.inputs(reader))
        released.push_back(input);
    }
    if (hasLateReaders(value))
      allocated.push_back(value);
  }
  auto sum = [&](std::vector<uint32_t> &edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    uint64_t bytes = 0;
    for (uint32_t value : edges)
      bytes += problem.values[value].bytes;
    return bytes;
  };
  return sum(released) >= sum(allocated);
}

/// Lines 12 to 28 to the letter. The trimming starts at the subgraph's inputs
/// and stops where it fails (Figure 13).
void EchoPlanner::trimAsPaper(const std::vector<uint32_t> &subgraph) {
  for (uint32_t op : subgraph)
    isMarkedOp[op] = true;
  // Ops with the same inputs have the same answer.
  IndexRange lastInputs;
  bool lastAnswer = false;
  for (uint32_t op : subgraph) {
    if (!base.recomputed[op])
      continue;
    bool isSkipped = false;
    for (uint32_t value : index.results(op)) // line 18
      isSkipped |= problem.values[value].encodedBytes != RematValue::kNoBits &&
                   hasLateReaders(value);
    IndexRange inputs = index.inputs(op);
    for (uint32_t value : inputs)
      isSkipped |= isRecomputed(index.earlyProducer(value));
    if (isSkipped)
      continue;
    if (lastInputs.empty() ||
        !std::equal(inputs.begin(), inputs.end(), lastInputs.begin(),
                    lastInputs.end())) {
      lastInputs = inputs;
      lastAnswer = isWorthlessToPaper(op);
    }
    if (lastAnswer)
      setRecomputed(op, false);
  }
  for (uint32_t op : subgraph)
    isMarkedOp[op] = false;
}

/// Takes off ops that nothing needs any more.
void EchoPlanner::dropUnneeded() {
  for (uint32_t op = problem.ops.size(); op-- > 0;) {
    if (!base.recomputed[op])
      continue;
    bool isNeeded = false;
    for (uint32_t value : index.results(op))
      isNeeded |= hasLateReaders(value) || numRecomputedReaders[value] != 0;
    if (!isNeeded)
      setRecomputed(op, false);
  }
}

/// Takes off ops if that doesn't add to the stash: together with what is
/// recomputed for them alone, then with everything that is recomputed for them.
void EchoPlanner::dropUseless() {
  constexpr size_t kMaxSet = 24;
  std::vector<uint32_t> set;
  for (bool isAlone : {true, false})
    for (uint32_t op = 0; op < problem.ops.size(); ++op) {
      if (!base.recomputed[op])
        continue;
      set = {op};
      isMarkedOp[op] = true;
      for (size_t i = 0; i < set.size() && set.size() <= kMaxSet; ++i)
        for (uint32_t value : index.inputs(set[i])) {
          ++numSetReaders[value];
          uint32_t producer = index.earlyProducer(value);
          if (!isRecomputed(producer) || isMarkedOp[producer] ||
              (isAlone && !isForSet(producer)))
            continue;
          isMarkedOp[producer] = true;
          set.push_back(producer);
        }
      for (uint32_t member : set) {
        isMarkedOp[member] = false;
        for (uint32_t value : index.inputs(member))
          numSetReaders[value] = 0;
      }
      if (set.size() <= kMaxSet && isWorthless(set))
        for (uint32_t member : set)
          setRecomputed(member, false);
    }
}

/// Takes off ops together with everything that is recomputed for them alone if
/// that saves little for its time.
void EchoPlanner::dropSlow() {
  constexpr size_t kMaxSet = 64;
  std::vector<uint32_t> set;
  for (uint32_t op = problem.ops.size(); op-- > 0;) {
    if (!base.recomputed[op])
      continue;
    set = {op};
    double seconds = 0;
    uint64_t saved = 0, released = 0;
    for (size_t i = 0; i < set.size(); ++i) {
      seconds +=
          std::max(0.0, problem.ops[set[i]].seconds - problem.launchSeconds);
      for (uint32_t value : index.inputs(set[i])) {
        ++numSetReaders[value];
        uint32_t producer = index.earlyProducer(value);
        if (numSetReaders[value] != numRecomputedReaders[value] ||
            hasLateReaders(value))
          continue;
        if (!isRecomputed(producer)) {
          released += problem.values[value].bytes;
          continue;
        }
        if (isForSet(producer) && set.size() < kMaxSet)
          set.push_back(producer);
      }
    }
    for (uint32_t value : index.results(op))
      if (hasLateReaders(value) || numRecomputedReaders[value] != 0)
        saved += problem.values[value].bytes;
    for (uint32_t member : set)
      for (uint32_t value : index.inputs(member))
        numSetReaders[value] = 0;
    double least = options.minSavedShare * problem.memoryBandwidth * seconds;
    if (saved > released && double(saved - released) >= least)
      continue;
    for (uint32_t member : set)
      setRecomputed(member, false);
  }
}

/// Line 18.
void EchoPlanner::encode() {
  for (uint32_t value = 0; value < problem.values.size(); ++value) {
    uint32_t op = index.earlyProducer(value);
    base.encoded[value] = false;
    if (!isEncoding || op == kNoIndex || index.isOutput[value] ||
        index.lateReaders(value).empty() ||
        problem.values[value].encodedBytes >= problem.values[value].bytes)
      continue;
    // Clones need the value itself: another clone, or the original.
    if (base.recomputed[op])
      base.encoded[value] = !options.encodeStashedOnly;
    else
      base.encoded[value] = numRecomputedReaders[value] == 0;
  }
}

//===----------------------------------------------------------------------===//
// The peak
//===----------------------------------------------------------------------===//

/// Stashes values so that no more than `bound` recomputed values follow each
/// other that are needed in different parts of the backward part: parts lie
/// between heavy ops, and are short. Returns false if there is no such chain.
bool EchoPlanner::boundChains(uint32_t bound) {
  constexpr uint32_t kMaxPart = 32;
  size_t numOps = problem.ops.size();
  std::vector<uint32_t> partAt(numOps, 0);
  uint32_t part = 0, length = 0;
  for (uint32_t op = 0; op < numOps; ++op) {
    if (index.isLate(op) && (problem.ops[op].isHeavy || ++length == kMaxPart)) {
      ++part;
      length = 0;
    }
    partAt[op] = part;
  }
  // The part where a recomputed op's results are needed for themselves, and how
  // many parts the recomputation of it passes through.
  bool isCut = false;
  std::vector<uint32_t> home(numOps, kNoIndex), passed(numOps, 0);
  for (uint32_t op = numOps; op-- > 0;) {
    if (!base.recomputed[op])
      continue;
    for (uint32_t value : index.results(op)) {
      for (uint32_t reader : index.lateReaders(value))
        home[op] = std::min(home[op], partAt[reader]);
    }
    if (home[op] != kNoIndex)
      continue;
    // Nobody reads it but clones: it lives where they do.
    for (uint32_t value : index.results(op))
      for (uint32_t reader : index.earlyReaders(value))
        if (base.recomputed[reader] && home[reader] != kNoIndex)
          home[op] = home[op] == kNoIndex ? home[reader]
                                          : std::max(home[op], home[reader]);
  }
  for (uint32_t op = 0; op < numOps; ++op) {
    if (!base.recomputed[op])
      continue;
    for (uint32_t value : index.inputs(op)) {
      uint32_t producer = index.earlyProducer(value);
      if (producer == kNoIndex || !base.recomputed[producer])
        continue;
      bool crosses = home[producer] != home[op];
      if (crosses && passed[producer] + 1 > bound) {
        setRecomputed(producer, false);
        isCut = true;
        base.reasons[producer] = RematReason::Peak;
        continue;
      }
      passed[op] = std::max(passed[op], passed[producer] + crosses);
    }
  }
  return isCut;
}

/// The plan of the lowest peak, of those with several bounds on chains.
RematPlan EchoPlanner::chooseChains(RematFigures &figures) {
  bool tries = options.maxChain == EchoOptions::kTryChains;
  std::vector<uint32_t> bounds = {tries ? 0 : options.maxChain};
  if (tries)
    bounds.insert(bounds.end(), {16, 4});
  RematPlan best;
  RematChoice whole = base;
  std::vector<uint32_t> wholeReaders = numRecomputedReaders;
  for (uint32_t bound : bounds) {
    bool isCut = bound != 0 && boundChains(bound);
    bool isFirst = bound == bounds.front();
    if (isCut || isFirst) {
      if (isCut)
        dropWhatDoesntPay();
      encode();
      RematPlan plan = makeRematPlan(index, base);
      RematFigures planFigures = measureRemat(index, plan);
      if (isFirst ||
          std::make_pair(planFigures.peakBytes, planFigures.featureMapBytes) <
              std::make_pair(figures.peakBytes, figures.featureMapBytes)) {
        best = std::move(plan);
        figures = planFigures;
        chosen = base;
      }
    }
    base = whole;
    numRecomputedReaders = wholeReaders;
  }
  return best;
}

/// Gives up what is recomputed for the op at the peak until neither the peak
/// nor the stash is above the step's without a plan; all of it in the end, and
/// then the bits.
void EchoPlanner::keepPeak(RematPlan &plan, RematFigures figures) {
  constexpr unsigned kRounds = 8;
  RematFigures limit = measureRemat(index, RematPlan());
  auto giveUp = [&](uint32_t clone) {
    uint32_t op = plan.clones[clone].op;
    setRecomputed(op, false);
    base.reasons[op] = RematReason::Peak;
  };
  for (unsigned round = 0; !plan.clones.empty() &&
                           (figures.peakBytes > limit.peakBytes ||
                            figures.featureMapBytes > limit.featureMapBytes);
       ++round) {
    // What the op reads goes; what is recomputed for that alone follows, and
    // what others need as well moves to them.
    bool isGivenUp = false;
    for (const RematRead &read : plan.reads)
      if (read.op == figures.peakOp) {
        giveUp(read.clone);
        isGivenUp = true;
      }
    if (!isGivenUp || round >= kRounds)
      for (uint32_t clone = 0; clone < plan.clones.size(); ++clone)
        giveUp(clone);
    dropWhatDoesntPay();
    plan = chooseChains(figures);
  }
  if (figures.peakBytes > limit.peakBytes) {
    isEncoding = false;
    plan = chooseChains(figures);
  }
}

RematPlan EchoPlanner::run() {
  std::vector<std::vector<uint32_t>> subgraphs = options.closeOverSharedInputs
                                                     ? connectCandidates(index)
                                                     : growFromSeeds(index);
  auto trim = [&](const std::vector<uint32_t> &subgraph, bool joinChains) {
    makeUnits(subgraph, joinChains);
    trimUnits(subgraph);
  };
  for (const std::vector<uint32_t> &subgraph : subgraphs) {
    findDemanded(subgraph);
    if (options.trimGroups)
      trim(subgraph, /*joinChains=*/false);
    else
      trimAsPaper(subgraph);
  }
  // A chain of which a part is better off stashed isn't all or nothing.
  if (options.trimGroups && options.dropUseless) {
    dropUnneeded();
    dropUseless();
  }
  if (options.trimGroups)
    for (const std::vector<uint32_t> &subgraph : subgraphs)
      trim(subgraph, /*joinChains=*/true);
  dropWhatDoesntPay();
  RematFigures figures;
  RematPlan plan = chooseChains(figures);
  if (options.keepPeak)
    keepPeak(plan, figures);
  explainRemat(index, chosen, plan);
  return plan;
}

RematPlan mlir::echo::planning::planEcho(const RematIndex &index,
                                         const EchoOptions &options) {
  return EchoPlanner(index, options).run();
}

RematPlan mlir::echo::planning::planEcho(const RematProblem &problem,
                                         const EchoOptions &options) {
  return planEcho(RematIndex(problem), options);
}

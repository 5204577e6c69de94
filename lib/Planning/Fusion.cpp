//===- Fusion.cpp - Which ops share a kernel ------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Groups start as single ops and are merged pairwise: first every op with the
// groups of its producers, most bytes first, then groups of which a value that
// both read is a large part. A merge has to fit (Levels) and must not close a
// cycle, which is looked for between the two groups' places in a topological
// order that every merge keeps up to date.
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Fusion.h"
#include "FusionTraffic.h"
#include <algorithm>
#include <numeric>
#include <optional>

using namespace mlir::echo::planning;

FusionAccess mlir::echo::planning::compose(FusionAccess outer,
                                           FusionAccess inner) {
  if (outer.kind == FusionAccess::Order || inner.kind == FusionAccess::Order)
    return {FusionAccess::Order, 1};
  if (outer.kind == FusionAccess::Same)
    return inner;
  if (inner.kind == FusionAccess::Scalar)
    return inner;
  if (inner.kind == FusionAccess::Same)
    return outer;
  if (outer.kind == FusionAccess::Row && inner.kind == FusionAccess::Row)
    return {FusionAccess::Row, outer.columns * inner.columns};
  return {FusionAccess::Any, 1};
}

/// True if the read is of elements, not of the order alone.
static bool readsElements(const FusionRead &read) {
  return read.access.kind != FusionAccess::Order;
}

namespace {

/// Cheap work that a column reduction may repeat rather than read from memory.
constexpr uint32_t kCheapWeight = 16;
/// Row reductions of fewer rows than this are sequential work; what they read
/// is computed elsewhere if it is written to memory anyway. Nor do fewer sums
/// accumulate beside each other.
constexpr uint64_t kFewRows = 4;
/// Fewer sums than this, over rows of so many elements in all, are sequential
/// work too.
constexpr uint64_t kManySums = 32;
constexpr uint64_t kManyInSum = 65536;
constexpr uint64_t kManyElements = 16384;
/// The part of a group's traffic that a producer's values have to be, and the
/// part that a value has to be which two groups read.
constexpr uint64_t kSmallShare = 8;
constexpr uint64_t kLargeShare = 2;

/// How often an op of a group runs, or what a value has an element for.
enum class Level : uint8_t {
  Full,   ///< every iteration
  Row,    ///< every row
  Scalar, ///< once
  Column, ///< every sum of a column reduction
  Inlined ///< where an iteration of another op reads it
};

struct Group {
  std::vector<uint32_t> ops; ///< ascending; empty: merged into another group
  uint64_t elements = 1;
  uint64_t columns = 0; ///< 0: iterations aren't in rows
  uint32_t weight = 0;
  uint32_t position = 0;
  uint32_t moves = 0; ///< groups that any of its ops was moved over
  bool isClosed = false;
  /// Only pointwise ops, all on the full level.
  bool isUniform = false;
  bool hasColumnReduction = false;
  bool hasRowReduction = false;
};

constexpr uint32_t kNone = ~0u;

class Planner {
public:
  Planner(const FusionProblem &problem, const FusionOptions &options)
      : problem(problem), options(options) {
    size_t numOps = problem.ops.size();
    producer.assign(problem.bytes.size(), kNone);
    writeOf.assign(problem.bytes.size(), FusionWrite::Other);
    readers.resize(problem.bytes.size());
    groupOf.resize(numOps);
    std::iota(groupOf.begin(), groupOf.end(), 0u);
    groupAt = groupOf;
    levels.assign(numOps, Level::Full);
    groups.resize(numOps);
    for (uint32_t i = 0; i < numOps; ++i) {
      const FusionOp &op = problem.ops[i];
      Group &group = groups[i];
      group.ops = {i};
      group.elements = op.shape.elements;
      group.weight = op.shape.weight;
      group.position = i;
      group.isClosed = op.shape.kind == FusionClass::Host ||
                       op.shape.kind == FusionClass::Alone;
      group.isUniform = op.shape.kind == FusionClass::Pointwise;
      group.hasColumnReduction = op.shape.kind == FusionClass::ColumnReduction;
      if (op.shape.kind == FusionClass::RowReduction) {
        group.columns = op.shape.columns;
        group.hasRowReduction = true;
      }
      for (size_t r = 0; r < op.results.size(); ++r) {
        producer[op.results[r]] = i;
        writeOf[op.results[r]] = op.shape.writes[r];
      }
      for (const FusionRead &read : op.reads)
        if (readsElements(read))
          readers[read.value].push_back(i);
    }
    isUpdate.assign(problem.bytes.size(), false);
    for (uint32_t value : problem.updates)
      isUpdate[value] = true;
    marks.assign(numOps, 0);
    cones.resize(numOps);
  }

  FusionPlan run() {
    for (uint32_t op = 0; op < problem.ops.size(); ++op)
      mergeWithProducers(op);
    mergeSiblings();
    return makePlan();
  }

private:
  /// A merge that fits: the levels of the earlier and the later group's ops
  /// (nothing: as they are), and the rows.
  struct Fit {
    std::optional<Level> earlier, later;
    uint64_t elements, columns;
  };

  uint32_t producerGroup(uint32_t value) const {
    return producer[value] == kNone ? kNone : groupOf[producer[value]];
  }

  void mergeWithProducers(uint32_t op) {
    if (groups[groupOf[op]].isClosed)
      return;
    std::vector<std::pair<uint64_t, uint32_t>> candidates;
    for (const FusionRead &read : problem.ops[op].reads) {
      uint32_t group = producerGroup(read.value);
      if (group == kNone || groups[group].isClosed || !readsElements(read))
        continue;
      // A value of a row counts as often as it is read.
      uint64_t bytes = readBytes(read);
      if (read.access.kind == FusionAccess::Row)
        bytes *= read.access.columns;
      auto it = std::find_if(candidates.begin(), candidates.end(),
                             [&](auto &c) { return c.second == group; });
      if (it == candidates.end())
        candidates.push_back({bytes, group});
      else
        it->first += bytes;
    }
    // The nearest of equal ones.
    std::sort(candidates.begin(), candidates.end(), [&](auto &a, auto &b) {
      if (a.first != b.first)
        return a.first > b.first;
      return groups[a.second].position > groups[b.second].position;
    });
    for (auto &candidate : candidates) {
      uint32_t group = candidate.second;
      // Merged in the meantime.
      if (groups[group].ops.empty() || group == groupOf[op])
        continue;
      // A mask or a mean alone doesn't tie large kernels together.
      if (kSmallShare * candidate.first >=
          std::min(traffic(group), traffic(groupOf[op])))
        tryMerge(group, groupOf[op], options.window);
    }
  }

  void mergeSiblings() {
    for (uint32_t value = 0; value < problem.bytes.size(); ++value) {
      std::vector<uint32_t> candidates;
      for (uint32_t op : readers[value]) {
        uint32_t group = groupOf[op];
        bool reads = false;
        for (const FusionRead &read : problem.ops[op].reads)
          reads |=
              read.value == value && read.access.kind == FusionAccess::Same;
        if (reads && levels[op] == Level::Full && !groups[group].isClosed &&
            (candidates.empty() || candidates.back() != group))
          candidates.push_back(group);
      }
      std::sort(candidates.begin(), candidates.end(),
                [&](uint32_t a, uint32_t b) {
                  return groups[a].position < groups[b].position;
                });
      candidates.erase(std::unique(candidates.begin(), candidates.end()),
                       candidates.end());
      for (size_t i = 1; i < candidates.size(); ++i) {
        // A merged group stays at the later one's place.
        uint32_t a = candidates[i - 1], b = candidates[i];
        if (kLargeShare * problem.bytes[value] >=
            std::min(traffic(a), traffic(b)))
          tryMerge(a, b, options.siblingWindow);
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Fitting
  //===--------------------------------------------------------------------===//

  bool isEscaping(uint32_t value, uint32_t a, uint32_t b) const {
    for (uint32_t reader : readers[value])
      if (groupOf[reader] != a && groupOf[reader] != b)
        return true;
    return false;
  }

  template <typename Visit>
  bool allResults(const Group &group, Visit visit) const {
    for (uint32_t op : group.ops)
      for (uint32_t value : problem.ops[op].results)
        if (!visit(op, value))
          return false;
    return true;
  }

  static Level levelOf(Level op, FusionWrite write) {
    if (write == FusionWrite::Row && op == Level::Full)
      return Level::Row;
    return write == FusionWrite::Column ? Level::Column : op;
  }

  /// True if an op may read a value of its group.
  bool mayRead(uint32_t reader, Level level, FusionAccess access,
               FusionWrite write, Level value, const Fit &fit) const {
    if (write == FusionWrite::Other)
      return false;
    auto is = [&](FusionAccess::Kind kind) { return access.kind == kind; };
    switch (value) {
    case Level::Full:
      return level == Level::Full && is(FusionAccess::Same);
    case Level::Row:
      return (level == Level::Row && is(FusionAccess::Same)) ||
             (level == Level::Full && is(FusionAccess::Row) &&
              access.columns == fit.columns &&
              problem.ops[reader].shape.kind != FusionClass::ColumnReduction);
    case Level::Scalar:
      return is(FusionAccess::Scalar) ||
             (level == Level::Scalar && is(FusionAccess::Same));
    case Level::Column:
      return level == Level::Column && is(FusionAccess::Same);
    case Level::Inlined:
      return is(FusionAccess::Part) && level == Level::Full;
    }
    return false;
  }

  bool edgesFit(const Group &earlier, uint32_t earlierIndex, const Group &later,
                const Fit &fit) const {
    for (uint32_t reader : later.ops)
      for (const FusionRead &read : problem.ops[reader].reads) {
        uint32_t op = producer[read.value];
        if (op == kNone || groupOf[op] != earlierIndex || !readsElements(read))
          continue;
        Level readerLevel = fit.later.value_or(levels[reader]);
        FusionWrite write = writeOf[read.value];
        Level value = levelOf(fit.earlier.value_or(levels[op]), write);
        if (!mayRead(reader, readerLevel, read.access, write, value, fit))
          return false;
      }
    return true;
  }

  /// Values that a merge would keep inside must not be needed outside.
  bool staysInside(const Group &group, uint32_t a, uint32_t b) const {
    return allResults(group, [&](uint32_t, uint32_t value) {
      return !isEscaping(value, a, b) && !readers[value].empty();
    });
  }

  /// Ways in which the two groups' iterations can be those of one kernel.
  std::optional<Fit> findFit(uint32_t a, uint32_t b) const {
    const Group &earlier = groups[a], &later = groups[b];
    auto check = [&](const Fit &fit) {
      return edgesFit(earlier, a, later, fit);
    };
    if (earlier.elements == later.elements) {
      if (earlier.columns != 0 && later.columns != 0 &&
          earlier.columns != later.columns)
        return std::nullopt;
      Fit fit = {
          {}, {}, earlier.elements, std::max(earlier.columns, later.columns)};
      if (check(fit))
        return fit;
    }
    for (bool swap : {false, true}) {
      const Group &small = swap ? later : earlier;
      const Group &large = swap ? earlier : later;
      if (!small.isUniform || large.elements == 0)
        continue;
      auto fitAs = [&](Level level, uint64_t columns) -> std::optional<Fit> {
        Fit fit = {{}, {}, large.elements, columns};
        (swap ? fit.later : fit.earlier) = level;
        if (check(fit))
          return fit;
        return std::nullopt;
      };
      if (small.elements == 1 && large.elements > 1 && staysInside(small, a, b))
        if (auto fit = fitAs(Level::Scalar, large.columns))
          return fit;
      if (small.elements > 1 && small.elements < large.elements &&
          large.elements % small.elements == 0) {
        uint64_t columns = large.elements / small.elements;
        if (large.columns == 0 || large.columns == columns)
          if (auto fit = fitAs(Level::Row, columns))
            return fit;
      }
      if (swap && large.hasColumnReduction)
        if (auto fit = fitAs(Level::Column, large.columns))
          return fit;
      if (!swap && staysInside(small, a, b))
        if (auto fit = fitAs(Level::Inlined, large.columns))
          return fit;
    }
    return std::nullopt;
  }

  /// Column reductions run over loops of their own: what they read of the
  /// kernel is computed again there. Otherwise they have to accumulate over the
  /// kernel's rows, all alike, and their sums are known only behind them.
  bool conesFit(const std::vector<uint32_t> &ops, Fit &fit, uint32_t a,
                uint32_t b) {
    uint64_t reduced = 0;
    for (uint32_t op : ops) {
      const FusionShape &shape = problem.ops[op].shape;
      Cone &cone = cones[op];
      cone = {shape.weight, shape.kind == FusionClass::RowReduction};
      uint32_t own = cone.weight;
      for (const FusionRead &read : problem.ops[op].reads) {
        uint32_t other = producer[read.value];
        if (other == kNone || (groupOf[other] != a && groupOf[other] != b) ||
            !readsElements(read))
          continue;
        cone.weight += cones[other].weight;
        cone.hasRowReduction |= cones[other].hasRowReduction;
      }
      if (shape.kind != FusionClass::ColumnReduction ||
          (!cone.hasRowReduction && cone.weight - own <= kCheapWeight))
        continue;
      uint64_t columns = shape.elements / (shape.outer * shape.reduced);
      if (!shape.accumulates || shape.outer < kFewRows ||
          (shape.outer < kManySums &&
           shape.elements / shape.outer >= kManyInSum) ||
          (fit.columns != 0 && fit.columns != columns) ||
          (reduced != 0 && reduced != shape.reduced))
        return false;
      fit.columns = columns;
      reduced = shape.reduced;
      for (uint32_t value : problem.ops[op].results)
        for (uint32_t reader : readers[value])
          if (groupOf[reader] == a || groupOf[reader] == b)
            return false;
    }
    return true;
  }

  /// Few rows have few chunks: nothing else is put into them.
  bool rowsFit(const std::vector<uint32_t> &ops, const Fit &fit, uint32_t a,
               uint32_t b) const {
    if (fit.columns == 0 || fit.elements / fit.columns >= kFewRows ||
        fit.elements < kManyElements)
      return true;
    for (uint32_t op : ops)
      for (uint32_t value : problem.ops[op].results)
        if (writeOf[value] == FusionWrite::Same && isEscaping(value, a, b))
          return false;
    return true;
  }

  /// What updates an input has the kernel's loops for itself.
  bool updatesFit(const std::vector<uint32_t> &ops, uint32_t a,
                  uint32_t b) const {
    bool hasUpdate = false, isMixed = false;
    uint64_t bytes = 0;
    for (uint32_t op : ops)
      for (uint32_t value : problem.ops[op].results) {
        if (!isEscaping(value, a, b))
          continue;
        hasUpdate |= isUpdate[value];
        isMixed |= bytes != 0 && problem.bytes[value] != bytes;
        bytes = problem.bytes[value];
      }
    return !hasUpdate || !isMixed;
  }

  /// What a kernel of `ops`, those of groups `a` and `b`, reads and writes.
  std::vector<uint32_t> memoryValues(const std::vector<uint32_t> &ops,
                                     uint32_t a, uint32_t b) const {
    std::vector<uint32_t> values;
    for (uint32_t op : ops) {
      for (const FusionRead &read : problem.ops[op].reads) {
        uint32_t group = producerGroup(read.value);
        if (readsElements(read) &&
            (group == kNone || (group != a && group != b)))
          values.push_back(read.value);
      }
      for (uint32_t value : problem.ops[op].results)
        if (isEscaping(value, a, b))
          values.push_back(value);
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  uint64_t readBytes(const FusionRead &read) const {
    return std::min(read.bytes, problem.bytes[read.value]);
  }

  uint64_t traffic(uint32_t group) const {
    // Reads of one value are next to each other, then.
    std::vector<std::pair<uint32_t, uint64_t>> reads;
    uint64_t bytes = writtenBytes(group, group);
    for (uint32_t op : groups[group].ops)
      for (const FusionRead &read : problem.ops[op].reads)
        if (readsElements(read) && producerGroup(read.value) != group)
          reads.push_back({read.value, readBytes(read)});
    std::sort(reads.begin(), reads.end());
    for (size_t i = 0, end; i < reads.size(); i = end) {
      uint64_t sum = 0;
      for (end = i; end < reads.size() && reads[end].first == reads[i].first;
           ++end)
        sum += reads[end].second;
      bytes += std::min(sum, problem.bytes[reads[i].first]);
    }
    return bytes;
  }

  //===--------------------------------------------------------------------===//
  // Order
  //===--------------------------------------------------------------------===//

  bool readsMarked(const Group &group) const {
    for (uint32_t op : group.ops)
      for (const FusionRead &read : problem.ops[op].reads) {
        uint32_t other = producerGroup(read.value);
        if (other != kNone && marks[other] == mark)
          return true;
      }
    return false;
  }

  /// Bytes, but for inputs of the program, that a group reads and nothing else
  /// behind `position`.
  uint64_t dyingBytes(uint32_t index, uint32_t position) const {
    std::vector<uint32_t> dying;
    auto dies = [&](uint32_t value) {
      // Later ops are mostly in later groups.
      for (size_t i = readers[value].size(); i-- > 0;) {
        uint32_t group = groupOf[readers[value][i]];
        if (group != index && groups[group].position > position)
          return false;
      }
      return true;
    };
    for (uint32_t op : groups[index].ops)
      for (const FusionRead &read : problem.ops[op].reads)
        if (readsElements(read) && producer[read.value] != kNone &&
            producerGroup(read.value) != index && dies(read.value))
          dying.push_back(read.value);
    std::sort(dying.begin(), dying.end());
    dying.erase(std::unique(dying.begin(), dying.end()), dying.end());
    uint64_t bytes = 0;
    for (uint32_t value : dying)
      bytes += problem.bytes[value];
    return bytes;
  }

  /// Bytes that a group leaves for others, but for `other`.
  uint64_t writtenBytes(uint32_t index, uint32_t other) const {
    uint64_t bytes = 0;
    for (uint32_t op : groups[index].ops)
      for (uint32_t value : problem.ops[op].results)
        if (isEscaping(value, index, other))
          bytes += problem.bytes[value];
    return bytes;
  }

  /// Whether running `a` after the groups in `before`, and `b` before those in
  /// `after`, keeps no more bytes alive in between. A few groups don't count.
  bool keepsMemory(uint32_t a, uint32_t b, size_t before, size_t after) const {
    uint32_t position = groups[a].position;
    if (before != 0 && groups[a].moves + before > options.freeMoves &&
        dyingBytes(a, position) > writtenBytes(a, a))
      return false;
    return after == 0 || groups[b].moves + after <= options.freeMoves ||
           writtenBytes(b, a) <= dyingBytes(b, position);
  }

  /// Moves what depends on group `a` and lies before `b` behind `b`, whose
  /// place the merged group takes. False, with nothing changed, if `b` depends
  /// on any of it, or if the moves cost memory.
  bool reorder(uint32_t a, uint32_t b) {
    uint32_t begin = groups[a].position, end = groups[b].position;
    ++mark;
    marks[a] = mark;
    std::vector<uint32_t> before, after;
    for (uint32_t position = begin + 1; position < end; ++position) {
      uint32_t group = groupAt[position];
      if (group == kNone)
        continue;
      if (readsMarked(groups[group])) {
        marks[group] = mark;
        after.push_back(group);
      } else {
        before.push_back(group);
      }
    }
    if (!after.empty()) {
      marks[a] = 0; // reading `a` itself is no cycle
      if (readsMarked(groups[b]))
        return false;
    }
    if (!keepsMemory(a, b, before.size(), after.size()))
      return false;
    groups[b].moves = std::max<uint32_t>(groups[a].moves + before.size(),
                                         groups[b].moves + after.size());
    // Close to the end, so that the places of groups stay as far from each
    // other as their ops are, however many merges came before.
    for (uint32_t position = begin; position <= end; ++position)
      groupAt[position] = kNone;
    uint32_t position = end - before.size() - after.size();
    auto place = [&](uint32_t group) {
      groupAt[position] = group;
      groups[group].position = position++;
    };
    for (uint32_t group : before)
      place(group);
    place(b);
    for (uint32_t group : after)
      place(group);
    return true;
  }

  bool tryMerge(uint32_t a, uint32_t b, uint32_t window) {
    if (a == b)
      return false;
    if (groups[a].position > groups[b].position)
      std::swap(a, b);
    Group &earlier = groups[a], &later = groups[b];
    if (earlier.isClosed || later.isClosed ||
        later.position - earlier.position > window ||
        earlier.weight + later.weight > options.maxWeight)
      return false;
    std::optional<Fit> fit = findFit(a, b);
    if (!fit)
      return false;
    std::vector<uint32_t> ops(earlier.ops.size() + later.ops.size());
    std::merge(earlier.ops.begin(), earlier.ops.end(), later.ops.begin(),
               later.ops.end(), ops.begin());
    bool hasColumnReduction =
        earlier.hasColumnReduction || later.hasColumnReduction;
    if ((hasColumnReduction && !conesFit(ops, *fit, a, b)) ||
        !rowsFit(ops, *fit, a, b) || !updatesFit(ops, a, b) ||
        memoryValues(ops, a, b).size() > options.maxValues || !reorder(a, b))
      return false;

    for (auto [group, level] :
         {std::pair(&earlier, fit->earlier), std::pair(&later, fit->later)})
      if (level)
        for (uint32_t op : group->ops)
          levels[op] = *level;
    for (uint32_t op : earlier.ops)
      groupOf[op] = b;
    later.ops = std::move(ops);
    later.isUniform =
        earlier.isUniform && later.isUniform && !fit->earlier && !fit->later;
    later.hasColumnReduction = hasColumnReduction;
    later.hasRowReduction |= earlier.hasRowReduction;
    later.weight += earlier.weight;
    later.elements = fit->elements;
    later.columns = fit->columns;
    earlier.ops.clear();
    return true;
  }

  FusionPlan makePlan() const {
    FusionPlan plan;
    for (uint32_t index : groupAt) {
      if (index == kNone)
        continue;
      const Group &group = groups[index];
      if (problem.ops[group.ops.front()].shape.kind == FusionClass::Host) {
        plan.steps.push_back({true, group.ops.front()});
        continue;
      }
      plan.steps.push_back({false, uint32_t(plan.kernels.size())});
      plan.kernels.push_back(group.ops);
    }
    return plan;
  }

  struct Cone {
    uint32_t weight = 0;
    bool hasRowReduction = false;
  };

  const FusionProblem &problem;
  const FusionOptions &options;
  std::vector<uint32_t> producer; ///< op of a value
  std::vector<FusionWrite> writeOf;
  std::vector<bool> isUpdate; ///< of a value
  std::vector<std::vector<uint32_t>> readers;
  std::vector<uint32_t> groupOf; ///< of an op
  std::vector<uint32_t> groupAt; ///< by position
  std::vector<Level> levels;     ///< of ops in their groups
  std::vector<Group> groups;
  std::vector<uint32_t> marks; ///< of groups
  uint32_t mark = 0;
  std::vector<Cone> cones;
};

} // namespace

FusionPlan mlir::echo::planning::planFusion(const FusionProblem &problem,
                                            const FusionOptions &options) {
  return Planner(problem, options).run();
}

/// The kernel of every op; host ops have none.
static std::vector<uint32_t> kernelOfOps(const FusionProblem &problem,
                                         const FusionPlan &plan) {
  std::vector<uint32_t> kernels(problem.ops.size(), kNone);
  for (uint32_t kernel = 0; kernel < plan.kernels.size(); ++kernel)
    for (uint32_t op : plan.kernels[kernel])
      kernels[op] = kernel;
  return kernels;
}

/// By value: the kernel that computes it, or kNone.
static std::vector<uint32_t> kernelOfValues(const FusionProblem &problem,
                                            const FusionPlan &plan) {
  std::vector<uint32_t> ofOps = kernelOfOps(problem, plan);
  std::vector<uint32_t> kernels(problem.bytes.size(), kNone);
  for (uint32_t op = 0; op < problem.ops.size(); ++op)
    for (uint32_t value : problem.ops[op].results)
      kernels[value] = ofOps[op];
  return kernels;
}

std::vector<bool>
mlir::echo::planning::valuesWrittenByKernels(const FusionProblem &problem,
                                             const FusionPlan &plan) {
  std::vector<uint32_t> ofOps = kernelOfOps(problem, plan);
  std::vector<uint32_t> kernels = kernelOfValues(problem, plan);
  std::vector<bool> isRead(problem.bytes.size()), isWritten(isRead);
  for (uint32_t op = 0; op < problem.ops.size(); ++op)
    for (const FusionRead &read : problem.ops[op].reads) {
      if (!readsElements(read))
        continue;
      isRead[read.value] = true;
      if (kernels[read.value] != ofOps[op])
        isWritten[read.value] = true;
    }
  for (uint32_t value = 0; value < problem.bytes.size(); ++value)
    isWritten[value] =
        kernels[value] != kNone && (isWritten[value] || !isRead[value]);
  return isWritten;
}

std::vector<uint64_t>
mlir::echo::planning::trafficOfKernels(const FusionProblem &problem,
                                       const FusionPlan &plan) {
  std::vector<uint32_t> kernels = kernelOfValues(problem, plan);
  std::vector<uint64_t> traffic(plan.kernels.size(), 0);
  // The last kernel that was seen reading a value, and what it reads of it.
  std::vector<uint32_t> reader(problem.bytes.size(), kNone);
  std::vector<uint64_t> bytes(problem.bytes.size());
  for (uint32_t kernel = 0; kernel < plan.kernels.size(); ++kernel)
    for (uint32_t op : plan.kernels[kernel])
      for (const FusionRead &read : problem.ops[op].reads) {
        uint32_t value = read.value;
        if (kernels[value] == kernel || !readsElements(read))
          continue;
        if (reader[value] != kernel)
          bytes[value] = 0;
        reader[value] = kernel;
        uint64_t more =
            std::min(read.bytes, problem.bytes[value] - bytes[value]);
        bytes[value] += more;
        traffic[kernel] += more;
      }
  std::vector<bool> isWritten = valuesWrittenByKernels(problem, plan);
  for (uint32_t value = 0; value < problem.bytes.size(); ++value)
    if (isWritten[value])
      traffic[kernels[value]] += problem.bytes[value];
  return traffic;
}

uint64_t mlir::echo::planning::kernelTraffic(const FusionProblem &problem,
                                             const FusionPlan &plan) {
  std::vector<uint64_t> traffic = trafficOfKernels(problem, plan);
  return std::accumulate(traffic.begin(), traffic.end(), uint64_t(0));
}

bool mlir::echo::planning::checkFusion(const FusionProblem &problem,
                                       const FusionPlan &plan,
                                       std::string &error) {
  size_t numOps = problem.ops.size();
  // The step that runs an op.
  std::vector<uint32_t> stepOf(numOps, kNone);
  auto put = [&](uint32_t op, uint32_t step, bool isHost) {
    if (op >= numOps || stepOf[op] != kNone ||
        (problem.ops[op].shape.kind == FusionClass::Host) != isHost) {
      error = "op " + std::to_string(op) + " is misplaced";
      return false;
    }
    stepOf[op] = step;
    return true;
  };
  std::vector<bool> used(plan.kernels.size());
  for (uint32_t step = 0; step < plan.steps.size(); ++step) {
    uint32_t index = plan.steps[step].index;
    if (plan.steps[step].isHost) {
      if (!put(index, step, true))
        return false;
      continue;
    }
    if (index >= plan.kernels.size() || used[index]) {
      error = "kernel " + std::to_string(index) + " is misplaced";
      return false;
    }
    used[index] = true;
    const std::vector<uint32_t> &ops = plan.kernels[index];
    for (size_t i = 0; i < ops.size(); ++i) {
      if (i != 0 && ops[i] <= ops[i - 1]) {
        error = "ops of a kernel aren't in order";
        return false;
      }
      if (!put(ops[i], step, false))
        return false;
    }
  }
  std::vector<uint32_t> producer(problem.bytes.size(), kNone);
  for (uint32_t op = 0; op < numOps; ++op) {
    if (stepOf[op] == kNone) {
      error = "op " + std::to_string(op) + " is in no kernel";
      return false;
    }
    for (uint32_t value : problem.ops[op].results)
      producer[value] = op;
  }
  for (uint32_t op = 0; op < numOps; ++op)
    for (const FusionRead &read : problem.ops[op].reads) {
      uint32_t source = producer[read.value];
      if (source != kNone && stepOf[source] > stepOf[op]) {
        error = "op " + std::to_string(op) + " runs before op " +
                std::to_string(source) + ", whose result it reads";
        return false;
      }
    }
  return true;
}

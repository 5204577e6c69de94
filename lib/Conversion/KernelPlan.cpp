//===- KernelPlan.cpp - Loops and chunks of a kernel ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"
#include "Echo/Numerics/ReductionTree.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace mlir::echo;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

static void collectBoxes(Box box, std::vector<Box> &boxes) {
  if (llvm::is_contained(box.sizes, 0))
    return;
  Operation *op = box.tensor.getDefiningOp();
  if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op)) {
    int64_t axis = concat.getDim();
    for (Value input : concat.getInputs()) {
      Box part = box;
      part.tensor = input;
      part.sizes =
          llvm::to_vector(cast<RankedTensorType>(input.getType()).getShape());
      box.offsets[axis] += part.sizes[axis];
      collectBoxes(part, boxes);
    }
    return;
  }
  if (auto pad = dyn_cast_or_null<tensor::PadOp>(op)) {
    // What lies before and after the source in each dimension, between the
    // sources of the dimensions before it.
    auto value =
        pad.getConstantPaddingValue().getDefiningOp<tensor::ExtractOp>();
    Box inside = box;
    for (size_t dim = 0; dim < box.sizes.size(); ++dim) {
      int64_t low = pad.getStaticLow()[dim];
      int64_t size = pad.getSourceType().getDimSize(dim);
      int64_t begin = inside.offsets[dim];
      auto fill = [&](int64_t offset, int64_t size) {
        Box border = inside;
        border.tensor = value.getTensor();
        border.isFill = true;
        border.offsets[dim] = offset;
        border.sizes[dim] = size;
        if (!llvm::is_contained(border.sizes, 0))
          boxes.push_back(border);
      };
      fill(begin, low);
      fill(begin + low + size, pad.getStaticHigh()[dim]);
      inside.offsets[dim] = begin + low;
      inside.sizes[dim] = size;
    }
    inside.tensor = pad.getSource();
    collectBoxes(inside, boxes);
    return;
  }
  boxes.push_back(box);
}

/// Where dimensions of a row-major shape end, counted in elements from the
/// outermost on: 2x3x4 ends at 2, 6 and 24.
static SmallVector<int64_t> endsOf(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> ends;
  int64_t product = 1;
  for (int64_t size : sizes) {
    product *= size;
    if (size != 1)
      ends.push_back(product);
  }
  return ends;
}

bool BoxGroup::add(const Box &box) {
  Box added = box;
  added.dims.assign(box.sizes.size(), {});
  auto isPart = [&] {
    return box.sizes.size() == sizes.size() &&
           llvm::all_of(llvm::zip(box.sizes, sizes), [](auto pair) {
             return std::get<0>(pair) == 1 ||
                    std::get<0>(pair) == std::get<1>(pair);
           });
  };
  if (isPart()) {
    for (auto [dim, size] : llvm::enumerate(box.sizes))
      if (size != 1)
        added.dims[dim].push_back(dim);
    boxes.push_back(added);
    return true;
  }
  // Cut the dimensions where those of the box end, and the other way round.
  SmallVector<int64_t> ends = endsOf(sizes), boxEnds = endsOf(box.sizes), cuts;
  std::merge(ends.begin(), ends.end(), boxEnds.begin(), boxEnds.end(),
             std::back_inserter(cuts));
  cuts.erase(llvm::unique(cuts), cuts.end());
  SmallVector<int64_t> cutSizes;
  int64_t begin = 1;
  for (int64_t end : cuts) {
    if (end % begin != 0)
      return false;
    cutSizes.push_back(end / begin);
    begin = end;
  }
  // The cut dimensions between two ends.
  auto between = [&](int64_t begin, int64_t end) {
    SmallVector<unsigned, 1> dims;
    int64_t position = 1;
    for (auto [dim, cut] : llvm::enumerate(cuts)) {
      if (begin <= position && cut <= end)
        dims.push_back(dim);
      position = cut;
    }
    return dims;
  };
  auto dimsOf = [&](ArrayRef<int64_t> sizes) {
    SmallVector<SmallVector<unsigned, 1>> dims;
    int64_t begin = 1;
    for (int64_t size : sizes) {
      dims.push_back(size == 1 ? SmallVector<unsigned, 1>()
                               : between(begin, begin * size));
      begin *= size;
    }
    return dims;
  };
  SmallVector<SmallVector<unsigned, 1>> own = dimsOf(sizes);
  for (Box &other : boxes)
    for (SmallVector<unsigned, 1> &dims : other.dims) {
      SmallVector<unsigned, 1> cut;
      for (unsigned dim : dims)
        llvm::append_range(cut, own[dim]);
      dims = cut;
    }
  added.dims = dimsOf(box.sizes);
  sizes = cutSizes;
  boxes.push_back(added);
  return true;
}

AffineExpr BoxGroup::position(const Box &box, unsigned dim,
                              MLIRContext *context) const {
  AffineExpr expr = getAffineConstantExpr(0, context);
  for (unsigned own : box.dims[dim])
    expr = expr * sizes[own] + getAffineDimExpr(own, context);
  return expr;
}

AffineMap BoxGroup::indexOf(const Box &box, MLIRContext *context) const {
  SmallVector<AffineExpr> exprs;
  if (!box.isFill)
    for (unsigned dim = 0; dim < box.sizes.size(); ++dim)
      exprs.push_back(position(box, dim, context));
  return indexMap(exprs, context);
}

AffineExpr BoxGroup::offsetOf(const Box &box, ArrayRef<int64_t> shape,
                              MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (unsigned dim = 0; dim < box.sizes.size(); ++dim) {
    // Sums are a whole output, without the reduced dimension.
    if (!box.accumulated)
      sum = sum * shape[dim] + position(box, dim, context) + box.offsets[dim];
    else if (dim != box.accumulated->first)
      sum = sum * box.sizes[dim] + position(box, dim, context);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// What the values of a group need of its dimensions.
struct Needs {
  /// Offsets in buffers.
  SmallVector<LinearForm> accesses;
  /// Dimensions whose position counts by itself, not only in offsets.
  llvm::SmallDenseSet<unsigned> alone;
  /// Dimensions along which values can't be vectors.
  llvm::SmallDenseSet<unsigned> scalar;
  /// The dimensions that each reduction of more than one element depends on.
  SmallVector<llvm::SmallDenseSet<unsigned>> reductions;
  /// Those that depend on nothing else, whatever values are.
  SmallVector<RowReduction> rowReductions;
  SmallVector<ElementRead> reads;
  /// Elements that are read by reductions.
  int64_t work = 0;
};

class NeedsCollector {
public:
  NeedsCollector(ArrayRef<int64_t> sizes)
      : sizes(sizes), nextDim(sizes.size()) {}

  void visit(Value tensor, AffineMap index) {
    if (!visited.insert({tensor, index}).second)
      return;
    Operation *op = tensor.getDefiningOp();
    if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op))
      return visitGeneric(generic, index);
    if (isa_and_nonnull<linalg::FillOp>(op))
      return;
    if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
      return visit(slice.getSource(), sliceSource(slice, index, [&](Value) {
                     offsetDims.insert(nextDim);
                     return getAffineDimExpr(nextDim++, index.getContext());
                   }));
    if (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
      Value source = op->getOperand(0);
      while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          source.getDefiningOp()))
        source = source.getDefiningOp()->getOperand(0);
      if (isa<BlockArgument>(source))
        return access(tensor, index);
      return visit(op->getOperand(0), reshapeSource(op, index));
    }
    if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op))
      return visitConcat(concat, index);
    if (auto pad = dyn_cast_or_null<tensor::PadOp>(op))
      return visitPad(pad, index);
    access(tensor, index);
  }

  Needs needs;

private:
  void access(Value tensor, AffineMap index) {
    auto type = cast<RankedTensorType>(tensor.getType());
    AffineExpr offset = linearize(index, type.getShape());
    std::optional<LinearForm> form = LinearForm::of(offset);
    if (!form)
      return collectDims(offset, needs.alone);
    needs.accesses.push_back(*form);
    llvm::SmallDenseSet<unsigned> used;
    collectDims(index, used);
    bool isOfElement =
        llvm::all_of(used, [&](unsigned dim) { return dim < sizes.size(); });
    if (isOfElement && numBranches == 0 &&
        !tensor.getDefiningOp<arith::ConstantOp>())
      needs.reads.push_back({tensor, index, *form});
  }

  void visitGeneric(linalg::GenericOp generic, AffineMap index) {
    MLIRContext *context = index.getContext();
    AffineMap loops = index;
    if (auto reduction = Reduction::match(generic)) {
      llvm::SmallDenseSet<unsigned> used;
      collectDims(index, used);
      int64_t work = reduction->reduced;
      llvm::SmallDenseSet<unsigned> own;
      bool isOfRow = numBranches == 0;
      for (unsigned dim : used)
        if (dim < sizes.size()) {
          work *= sizes[dim];
          own.insert(dim);
        } else if (!offsetDims.contains(dim)) {
          isOfRow = false;
        }
      needs.work = std::max(needs.work, work);
      if (reduction->reduced != 1)
        needs.reductions.push_back(own);
      if (isOfRow)
        needs.rowReductions.push_back(
            {reduction->reduced, reduction->isRow(),
             reduction->isTree || (reduction->hasPlace && reduction->isRow())});
      if (reduction->isRow())
        needs.scalar.insert(own.begin(), own.end());
      loops =
          operandIndex(*reduction, index, getAffineDimExpr(nextDim++, context));
    }
    generic.getBody()->walk([&](linalg::IndexOp op) {
      collectDims(loops.getResult(op.getDim()), needs.alone);
    });
    generic.getBody()->walk([&](tensor::ExtractOp op) {
      if (isa<BlockArgument>(op.getTensor()))
        return;
      SmallVector<AffineExpr> position;
      for (size_t i = 0; i < op.getIndices().size(); ++i)
        position.push_back(getAffineDimExpr(nextDim++, context));
      visit(op.getTensor(), indexMap(position, context));
    });
    for (OpOperand *input : generic.getDpsInputOperands())
      if (!generic.getMatchingBlockArgument(input).use_empty())
        visit(input->get(),
              composeIndex(generic.getMatchingIndexingMap(input), loops));
  }

  void visitConcat(tensor::ConcatOp concat, AffineMap index) {
    int64_t axis = concat.getDim(), offset = 0;
    branchOn(index.getResult(axis));
    ++numBranches;
    for (Value input : concat.getInputs()) {
      SmallVector<AffineExpr> exprs(index.getResults());
      exprs[axis] = exprs[axis] - offset;
      visit(input, indexMap(exprs, index.getContext()));
      offset += cast<RankedTensorType>(input.getType()).getDimSize(axis);
    }
    --numBranches;
  }

  void visitPad(tensor::PadOp pad, AffineMap index) {
    SmallVector<AffineExpr> exprs(index.getResults());
    for (auto [dim, low] : llvm::enumerate(pad.getStaticLow())) {
      if (low != 0 || pad.getStaticHigh()[dim] != 0)
        branchOn(exprs[dim]);
      exprs[dim] = exprs[dim] - low;
    }
    ++numBranches;
    visit(pad.getSource(), indexMap(exprs, index.getContext()));
    --numBranches;
  }

  void branchOn(AffineExpr expr) {
    collectDims(expr, needs.alone);
    collectDims(expr, needs.scalar);
  }

  ArrayRef<int64_t> sizes;
  unsigned nextDim;
  llvm::SmallDenseSet<unsigned> offsetDims; ///< of dynamic slices
  unsigned numBranches = 0; ///< of which some thread may take another
  llvm::DenseSet<std::pair<Value, AffineMap>> visited;
};

} // namespace

/// True if one loop can count through dimensions `a` and `b`, the next one.
static bool canMerge(const BoxGroup &group, const Needs &needs,
                     ArrayRef<LinearForm> stores, unsigned a, unsigned b) {
  if (needs.alone.contains(a) || needs.alone.contains(b) ||
      needs.scalar.contains(a) != needs.scalar.contains(b))
    return false;
  for (const auto &used : needs.reductions)
    if (used.contains(a) != used.contains(b))
      return false;
  auto isOne = [&](const LinearForm &form) {
    return form.at(a) == form.at(b) * group.sizes[b];
  };
  return llvm::all_of(needs.accesses, isOne) && llvm::all_of(stores, isOne);
}

bool BoxGroup::isAccumulated(const Box &box, const Loop &loop) const {
  return box.accumulated && llvm::any_of(loop.dims, [&](unsigned dim) {
           return llvm::is_contained(box.dims[box.accumulated->first], dim);
         });
}

static void planLoops(BoxGroup &group, const Needs &needs,
                      ArrayRef<LinearForm> stores, bool forThreads) {
  SmallVector<Loop> loops;
  for (auto [dim, size] : llvm::enumerate(group.sizes)) {
    if (size == 1)
      continue;
    if (!loops.empty() &&
        canMerge(group, needs, stores, loops.back().dims.back(), dim)) {
      loops.back().dims.push_back(dim);
      loops.back().size *= size;
    } else {
      loops.push_back({{unsigned(dim)}, size, false});
    }
  }
  // Neighbouring elements of all boxes become vectors.
  group.isContiguous = false;
  if (!loops.empty()) {
    unsigned last = loops.back().dims.back();
    bool isContiguous =
        !needs.scalar.contains(last) &&
        llvm::all_of(llvm::zip_equal(group.boxes, stores), [&](auto pair) {
          int64_t stride = std::get<1>(pair).at(last);
          return stride == 1 || (stride == 0 && !std::get<0>(pair).uses(last));
        });
    loops.back().isVector =
        isContiguous && !forThreads && loops.back().size >= kVectorWidth;
    group.isContiguous = isContiguous && needs.reductions.empty() &&
                         llvm::none_of(group.boxes, [](const Box &box) {
                           return bool(box.accumulated);
                         });
  }
  // Reductions are computed outside the loops that only read them.
  auto isReduced = [&](const Loop &loop) {
    return needs.reductions.empty() ||
           llvm::any_of(needs.reductions, [&](const auto &used) {
             return used.contains(loop.dims.back());
           });
  };
  // A thread adds up rows: what it adds up is inside of what threads share.
  auto rank = [&](const Loop &loop) {
    if (!isReduced(loop))
      return 2;
    return forThreads && group.isAccumulated(loop) ? 1 : 0;
  };
  for (int wanted : {0, 1, 2})
    for (const Loop &loop : loops)
      if (rank(loop) == wanted)
        group.loops.push_back(loop);
  for (const Loop &loop : group.loops) {
    if (loop.isVector || !isReduced(loop))
      break;
    ++group.numRowLoops;
    group.rows *= loop.size;
  }
  for (Box &box : group.boxes) {
    box.level = 0;
    for (size_t level = 0; level < group.loops.size(); ++level)
      if (box.uses(group.loops[level].dims.back()))
        box.level = level + 1;
  }
}

/// A number of rows whose multiples hold whole sums.
static int64_t wholeSums(const BoxGroup &group) {
  int64_t least = 1;
  for (const Box &box : group.boxes) {
    if (!box.accumulated)
      continue;
    int64_t rows = 1;
    bool isInside = false;
    for (const Loop &loop :
         ArrayRef(group.loops).take_front(group.numRowLoops)) {
      isInside |= group.isAccumulated(box, loop);
      rows *= isInside ? loop.size : 1;
    }
    least = std::lcm(least, rows);
  }
  return least;
}

static void planChunks(BoxGroup &group, const Needs &needs, bool forThreads) {
  if (forThreads) {
    group.rowsPerChunk = wholeSums(group);
    group.rowChunks = llvm::divideCeilSigned(group.rows, group.rowsPerChunk);
    return;
  }
  int64_t work = needs.work, elements = 1;
  for (int64_t size : group.sizes)
    elements *= size;
  work = std::max(work, elements * int64_t(group.boxes.size()));
  int64_t wanted = llvm::divideCeilSigned(work, kChunkWork);
  group.rowsPerChunk =
      llvm::divideCeilSigned(group.rows, std::min(group.rows, wanted));
  group.rowsPerChunk = llvm::alignTo(group.rowsPerChunk, wholeSums(group));
  group.rowChunks = llvm::divideCeilSigned(group.rows, group.rowsPerChunk);
  if (group.rowChunks >= wanted || group.numRowLoops == group.loops.size())
    return;
  // Columns can be cut where nothing is computed once for all of them.
  const Loop &loop = group.loops[group.numRowLoops];
  unsigned last = loop.dims.back();
  if (!loop.isVector ||
      !llvm::all_of(needs.reductions,
                    [&](const auto &used) { return used.contains(last); }) ||
      llvm::any_of(group.boxes, [&](const Box &box) {
        return box.level <= group.numRowLoops;
      }))
    return;
  const int64_t granule = 64;
  wanted = llvm::divideCeilSigned(wanted, group.rowChunks);
  int64_t columns = llvm::divideCeilSigned(
      loop.size, std::min(wanted, llvm::divideCeilSigned(loop.size, granule)));
  group.columnsPerChunk = llvm::alignTo(columns, granule);
  group.columnChunks = llvm::divideCeilSigned(loop.size, group.columnsPerChunk);
}

/// Chunks cut the rows, so a box that doesn't depend on all row loops would be
/// written by several chunks: takes these boxes out of the group.
static std::vector<Box> splitOff(BoxGroup &group) {
  auto isWhole = [&](const Box &box) {
    return llvm::all_of(
        ArrayRef(group.loops).take_front(group.numRowLoops),
        [&](const Loop &loop) { return box.uses(loop.dims.back()); });
  };
  std::vector<Box> whole, rest;
  for (Box &box : group.boxes)
    (isWhole(box) ? whole : rest).push_back(box);
  group.boxes = std::move(whole);
  return rest;
}

/// Adds a box, none of which is smaller than those that follow, to the first
/// group that it fits, or to a new one.
static void addToGroups(std::vector<BoxGroup> &groups, size_t first, Box box,
                        bool isColumn) {
  for (size_t i = first; i < groups.size(); ++i)
    if (groups[i].hasColumnReduction == isColumn && groups[i].add(box))
      return;
  groups.emplace_back();
  groups.back().sizes = box.sizes;
  groups.back().hasColumnReduction = isColumn;
  groups.back().add(box);
}

/// True if row sums (or column sums) are part of a tensor. What sums one
/// element is computed as any other op.
static bool readsReduction(Value tensor, bool isRow,
                           llvm::DenseSet<Value> &visited) {
  Operation *op = tensor.getDefiningOp();
  if (!op || !visited.insert(tensor).second)
    return false;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    if (auto reduction = Reduction::match(generic))
      if (reduction->isRow() == isRow && reduction->reduced != 1)
        return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isa<RankedTensorType>(operand.getType()) &&
           readsReduction(operand, isRow, visited);
  });
}
static bool readsReduction(Value tensor, bool isRow) {
  llvm::DenseSet<Value> visited;
  return readsReduction(tensor, isRow, visited);
}

/// The sizes of a tensor that aren't 1.
static SmallVector<int64_t> sizesOf(Value tensor) {
  SmallVector<int64_t> sizes(
      cast<RankedTensorType>(tensor.getType()).getShape());
  llvm::erase(sizes, 1);
  return sizes;
}

/// Chunks that are too few for much work.
static constexpr int64_t kFewSums = 4;

/// Turns the box of a whole output that is a sum over one dimension into that
/// of what is summed: `shapes` are sizes of larger outputs, which are written
/// in the same order. Sums of sums of rows would repeat them otherwise; others
/// are better repeated than left to one chunk for each of few sums of rows
/// (`hasRows`).
static void accumulateBox(Box &box,
                          const std::set<SmallVector<int64_t>> &shapes,
                          bool hasRows) {
  Value tensor = box.tensor;
  while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
      tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  auto reduction = generic ? Reduction::match(generic) : std::nullopt;
  if (!reduction || !reduction->isTree || reduction->isRow() ||
      reduction->first != reduction->last || reduction->reduced == 0 ||
      reduction->reduced > numerics::kColumnBlock ||
      llvm::is_contained(box.sizes, 0))
    return;
  Value operand = generic.getInputs().front();
  auto type = cast<RankedTensorType>(operand.getType());
  bool readsRows = readsReduction(operand, /*isRow=*/true);
  if (readsReduction(operand, /*isRow=*/false) ||
      (shapes.count(sizesOf(operand)) == 0 && !readsRows))
    return;
  int64_t sums =
      type.getNumElements() / (reduction->reduced * reduction->inner);
  if (hasRows && !readsRows && sums < kFewSums &&
      type.getNumElements() >= kChunkWork)
    return;
  box.accumulated = reduction;
  box.tensor = operand;
  box.sizes = llvm::to_vector(type.getShape());
  box.offsets.assign(box.sizes.size(), 0);
}

std::vector<BoxGroup> mlir::echo::planKernel(func::FuncOp kernel,
                                             bool forThreads) {
  MLIRContext *context = kernel.getContext();
  Operation *terminator = kernel.getBody().front().getTerminator();
  std::vector<Box> boxes;
  std::set<SmallVector<int64_t>> shapes;
  for (Value value : terminator->getOperands())
    shapes.insert(sizesOf(value));
  bool hasRows = llvm::any_of(terminator->getOperands(), [](Value value) {
    return readsReduction(value, /*isRow=*/true);
  });
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    Box box;
    box.output = index;
    box.sizes =
        llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
    box.offsets.assign(box.sizes.size(), 0);
    box.tensor = value;
    accumulateBox(box, shapes, hasRows);
    if (box.accumulated)
      boxes.push_back(box);
    else
      collectBoxes(box, boxes);
  }
  // Larger boxes first, so that their parts find them.
  auto elements = [](const Box &box) {
    int64_t product = 1;
    for (int64_t size : box.sizes)
      product *= size;
    return product;
  };
  SmallVector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < boxes.size(); ++i)
    order.push_back({-elements(boxes[i]), i});
  llvm::sort(order);
  std::vector<BoxGroup> groups;
  for (auto [size, position] : order) {
    Box &box = boxes[position];
    // Columns of sums aren't rows of something larger, whatever their number.
    addToGroups(groups, 0, box, readsReduction(box.tensor, /*isRow=*/false));
  }
  // Groups may be added on the way.
  for (size_t i = 0; i < groups.size(); ++i) {
    NeedsCollector collector(groups[i].sizes);
    SmallVector<LinearForm> stores;
    for (Box &box : groups[i].boxes) {
      collector.visit(box.tensor, groups[i].indexOf(box, context));
      auto type =
          cast<RankedTensorType>(terminator->getOperand(box.output).getType());
      stores.push_back(
          *LinearForm::of(groups[i].offsetOf(box, type.getShape(), context)));
    }
    planLoops(groups[i], collector.needs, stores, forThreads);
    std::vector<Box> rest = splitOff(groups[i]);
    if (!rest.empty()) {
      bool isColumn = groups[i].hasColumnReduction;
      for (const Box &box : rest)
        addToGroups(groups, i + 1, box, isColumn);
      // Without them the loops may be others.
      groups[i].loops.clear();
      groups[i].numRowLoops = 0;
      groups[i].rows = 1;
      --i;
      continue;
    }
    planChunks(groups[i], collector.needs, forThreads);
    groups[i].rowReductions = collector.needs.rowReductions;
    groups[i].reads = collector.needs.reads;
  }
  return groups;
}

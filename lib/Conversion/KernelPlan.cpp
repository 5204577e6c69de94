//===- KernelPlan.cpp - Loops and chunks of a kernel ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

static void collectBoxes(Box box, SmallVectorImpl<Box> &boxes) {
  if (llvm::is_contained(box.sizes, 0))
    return;
  Operation *op = box.tensor.getDefiningOp();
  if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op)) {
    int64_t axis = concat.getDim();
    for (Value input : concat.getInputs()) {
      Box part = box;
      part.tensor = input;
      part.sizes = llvm::to_vector(
          cast<RankedTensorType>(input.getType()).getShape());
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

/// True if `sizes` are `full` with 1 in place of some dimensions.
static bool isPartOf(ArrayRef<int64_t> sizes, ArrayRef<int64_t> full) {
  return sizes.size() == full.size() &&
         llvm::all_of(llvm::zip(sizes, full), [](auto pair) {
           return std::get<0>(pair) == 1 ||
                  std::get<0>(pair) == std::get<1>(pair);
         });
}

AffineMap BoxGroup::indexOf(const Box &box, MLIRContext *context) const {
  SmallVector<AffineExpr> exprs;
  if (!box.isFill)
    for (auto [dim, size] : llvm::enumerate(box.sizes))
      exprs.push_back(size == 1 ? getAffineConstantExpr(0, context)
                                : getAffineDimExpr(dim, context));
  return indexMap(exprs, context);
}

AffineExpr BoxGroup::offsetOf(const Box &box, ArrayRef<int64_t> shape,
                              MLIRContext *context) const {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (auto [dim, size] : llvm::enumerate(box.sizes)) {
    AffineExpr expr = size == 1 ? getAffineConstantExpr(0, context)
                                : getAffineDimExpr(dim, context);
    sum = sum * shape[dim] + expr + box.offsets[dim];
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
  /// The dimensions that each reduction depends on.
  SmallVector<llvm::SmallDenseSet<unsigned>> reductions;
  bool hasColumnReduction = false;
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
    auto type = cast<RankedTensorType>(tensor.getType());
    Operation *op = tensor.getDefiningOp();
    if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op))
      return visitGeneric(generic, index);
    if (isa_and_nonnull<linalg::FillOp>(op))
      return;
    if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
      return visit(slice.getSource(), sliceSource(slice, index));
    if (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
      Value source = op->getOperand(0);
      while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          source.getDefiningOp()))
        source = source.getDefiningOp()->getOperand(0);
      if (isa<BlockArgument>(source))
        return access(linearize(index, type.getShape()));
      return visit(op->getOperand(0), reshapeSource(op, index));
    }
    if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op))
      return visitConcat(concat, index);
    if (auto pad = dyn_cast_or_null<tensor::PadOp>(op))
      return visitPad(pad, index);
    access(linearize(index, type.getShape()));
  }

  Needs needs;

private:
  void access(AffineExpr offset) {
    if (std::optional<LinearForm> form = LinearForm::of(offset))
      needs.accesses.push_back(*form);
    else
      collectDims(offset, needs.alone);
  }

  void visitGeneric(linalg::GenericOp generic, AffineMap index) {
    MLIRContext *context = index.getContext();
    AffineMap loops = index;
    if (auto reduction = Reduction::match(generic)) {
      llvm::SmallDenseSet<unsigned> used;
      collectDims(index, used);
      int64_t work = reduction->reduced;
      llvm::SmallDenseSet<unsigned> own;
      for (unsigned dim : used)
        if (dim < sizes.size()) {
          work *= sizes[dim];
          own.insert(dim);
        }
      needs.work = std::max(needs.work, work);
      needs.reductions.push_back(own);
      if (reduction->isRow())
        needs.scalar.insert(own.begin(), own.end());
      else
        needs.hasColumnReduction = true;
      loops = operandIndex(*reduction, index,
                           getAffineDimExpr(nextDim++, context));
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
    for (Value input : concat.getInputs()) {
      SmallVector<AffineExpr> exprs(index.getResults());
      exprs[axis] = exprs[axis] - offset;
      visit(input, indexMap(exprs, index.getContext()));
      offset += cast<RankedTensorType>(input.getType()).getDimSize(axis);
    }
  }

  void visitPad(tensor::PadOp pad, AffineMap index) {
    SmallVector<AffineExpr> exprs(index.getResults());
    for (auto [dim, low] : llvm::enumerate(pad.getStaticLow())) {
      if (low != 0 || pad.getStaticHigh()[dim] != 0)
        branchOn(exprs[dim]);
      exprs[dim] = exprs[dim] - low;
    }
    visit(pad.getSource(), indexMap(exprs, index.getContext()));
  }

  void branchOn(AffineExpr expr) {
    collectDims(expr, needs.alone);
    collectDims(expr, needs.scalar);
  }

  ArrayRef<int64_t> sizes;
  unsigned nextDim;
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

static void planLoops(BoxGroup &group, const Needs &needs,
                      ArrayRef<LinearForm> stores) {
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
  if (!loops.empty() && loops.back().size >= kVectorWidth) {
    unsigned last = loops.back().dims.back();
    loops.back().isVector =
        !needs.scalar.contains(last) &&
        llvm::all_of(llvm::zip_equal(group.boxes, stores), [&](auto pair) {
          int64_t stride = std::get<1>(pair).at(last);
          return stride == 1 || (stride == 0 && std::get<0>(pair).sizes[last] == 1);
        });
  }
  // Reductions are computed outside the loops that only read them.
  auto isReduced = [&](const Loop &loop) {
    return needs.reductions.empty() ||
           llvm::any_of(needs.reductions, [&](const auto &used) {
             return used.contains(loop.dims.back());
           });
  };
  for (bool reduced : {true, false})
    for (const Loop &loop : loops)
      if (isReduced(loop) == reduced)
        group.loops.push_back(loop);
  for (const Loop &loop : group.loops) {
    if (loop.isVector || !isReduced(loop))
      break;
    ++group.numRowLoops;
    group.rows *= loop.size;
  }
  for (Box &box : group.boxes)
    for (size_t level = 0; level < group.loops.size(); ++level)
      if (box.sizes[group.loops[level].dims.back()] != 1)
        box.level = level + 1;
}

static void planChunks(BoxGroup &group, const Needs &needs) {
  int64_t work = needs.work, elements = 1;
  for (int64_t size : group.sizes)
    elements *= size;
  work = std::max(work, elements * int64_t(group.boxes.size()));
  int64_t wanted = llvm::divideCeilSigned(work, kChunkWork);
  group.rowsPerChunk =
      llvm::divideCeilSigned(group.rows, std::min(group.rows, wanted));
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
  group.columnChunks =
      llvm::divideCeilSigned(loop.size, group.columnsPerChunk);
}

/// Chunks cut the rows, so a box that doesn't depend on all row loops would be
/// written by several chunks: these boxes become a group of their own.
static std::optional<BoxGroup> splitOff(BoxGroup &group) {
  auto isWhole = [&](const Box &box) {
    return llvm::all_of(
        ArrayRef(group.loops).take_front(group.numRowLoops),
        [&](const Loop &loop) { return box.sizes[loop.dims.back()] != 1; });
  };
  BoxGroup rest, whole;
  for (Box &box : group.boxes)
    (isWhole(box) ? whole : rest).boxes.push_back(box);
  if (rest.boxes.empty())
    return std::nullopt;
  rest.sizes = rest.boxes.front().sizes;
  for (Box &box : rest.boxes)
    for (auto [size, other] : llvm::zip_equal(rest.sizes, box.sizes))
      size = std::max(size, other);
  whole.sizes = group.sizes;
  group = std::move(whole);
  return rest;
}

std::vector<BoxGroup> mlir::echo::planKernel(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  Operation *terminator = kernel.getBody().front().getTerminator();
  SmallVector<Box> boxes;
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    Box box;
    box.output = index;
    box.sizes =
        llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
    box.offsets.assign(box.sizes.size(), 0);
    box.tensor = value;
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
    ArrayRef<int64_t> sizes = box.sizes;
    auto group = llvm::find_if(groups, [sizes](const BoxGroup &group) {
      return isPartOf(sizes, group.sizes);
    });
    if (group == groups.end()) {
      groups.emplace_back();
      group = std::prev(groups.end());
      group->sizes = box.sizes;
    }
    group->boxes.push_back(box);
  }
  // Groups may be added on the way.
  for (size_t i = 0; i < groups.size(); ++i) {
    NeedsCollector collector(groups[i].sizes);
    SmallVector<LinearForm> stores;
    for (Box &box : groups[i].boxes) {
      collector.visit(box.tensor, groups[i].indexOf(box, context));
      auto type = cast<RankedTensorType>(
          terminator->getOperand(box.output).getType());
      stores.push_back(
          *LinearForm::of(groups[i].offsetOf(box, type.getShape(), context)));
    }
    groups[i].hasColumnReduction = collector.needs.hasColumnReduction;
    planLoops(groups[i], collector.needs, stores);
    if (std::optional<BoxGroup> rest = splitOff(groups[i])) {
      groups.push_back(std::move(*rest));
      --i;
      continue;
    }
    planChunks(groups[i], collector.needs);
  }
  return groups;
}

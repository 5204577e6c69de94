//===- ThreadReductions.cpp - Reductions by the threads of a GPU ----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sums of ReductionTree.h, with a thread for each lane where a team of
// threads is at the same place, and by one thread elsewhere. Nothing is kept in
// a thread's local memory.
//
//===----------------------------------------------------------------------===//

#include "Echo/Numerics/ReductionTree.h"
#include "ThreadedGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;

/// Rows of up to so many elements are added up without a loop.
static constexpr int64_t kUnrolledRow = 8;

//===----------------------------------------------------------------------===//
// Threads together
//===----------------------------------------------------------------------===//

void ThreadTeam::synchronize(OpBuilder &b, Location loc) const {
  if (kind == Kind::Warp) {
    Value all = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(-1));
    NVVM::SyncWarpOp::create(b, loc, all);
  } else if (kind != Kind::Thread) {
    gpu::BarrierOp::create(b, loc);
  }
}

Value KernelEmitter::addSharedBuffer(Type element, int64_t size) {
  auto space = gpu::AddressSpaceAttr::get(
      builder.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  auto type =
      MemRefType::get({size}, element, MemRefLayoutAttrInterface(), space);
  auto function = cast<gpu::GPUFuncOp>(entry->getParentOp());
  unsigned index = function.getNumWorkgroupAttributions();
  Value buffer = function.addWorkgroupAttribution(type, loc);
  // Where nothing is said, LLVM counts on this for large variables, and has PTX
  // place them as their elements.
  function.setWorkgroupAttributionAttr(index,
                                       LLVM::LLVMDialect::getAlignAttrName(),
                                       builder.getI64IntegerAttr(kAccessBytes));
  return buffer;
}

Value KernelEmitter::sharedBuffer(Type element, int64_t size, unsigned number) {
  Value &buffer = sharedBuffers[{element, size, number}];
  if (!buffer)
    buffer = addSharedBuffer(element, size);
  return buffer;
}

int64_t KernelEmitter::sharedBytes() const {
  int64_t bytes = 0;
  for (Value buffer :
       cast<gpu::GPUFuncOp>(entry->getParentOp()).getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(buffer.getType());
    bytes += sharedBytesOf(type.getElementType(), type.getNumElements());
  }
  return bytes;
}

Value KernelEmitter::shuffle(Value value, int64_t mask) {
  // Shuffles move 32 or 64 bits.
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  bool isNarrow = type.isInteger() && bits < 32;
  if (isNarrow)
    value = arith::ExtUIOp::create(current(), loc, builder.getI32Type(), value);
  auto integer = [&](int64_t value) {
    return constant(builder.getI32IntegerAttr(value));
  };
  Value offset = integer(mask), width = integer(kWarpSize);
  value = gpu::ShuffleOp::create(current(), loc, value, offset, width,
                                 gpu::ShuffleMode::XOR)
              .getShuffleResult();
  if (isNarrow)
    value = arith::TruncIOp::create(current(), loc, type, value);
  return value;
}

bool KernelEmitter::isTeamRow(const Reduction &reduction) const {
  return team && (reduction.isTree || reduction.hasPlace) &&
         reduction.isRow() && scopes[target].isUniform &&
         (team->kind == ThreadTeam::Kind::Block ||
          (team->kind == ThreadTeam::Kind::Warp &&
           reduction.reduced <= numerics::kShortRow));
}

bool KernelEmitter::isHeldRow(int64_t size) const {
  return team && team->kind == ThreadTeam::Kind::Warp && size <= kHeldRow &&
         size % kWarpSize == 0;
}

SmallVector<unsigned> KernelEmitter::heldPositions(int64_t size) {
  for (size_t scope = target + 1; scope-- > 0;) {
    auto it = scopes[scope].held.find(size);
    if (it != scopes[scope].held.end())
      return it->second;
  }
  SmallVector<unsigned> positions;
  for (int64_t offset = 0; offset < size; offset += kWarpSize)
    positions.push_back(addDim(arith::AddIOp::create(
        current(), loc, team->warpLane, constantIndex(offset))));
  scopes[target].held[size] = positions;
  return positions;
}

Value KernelEmitter::teamLane(int64_t lanes) const {
  return lanes == kWarpSize ? team->warpLane : team->lane;
}

SmallVector<Value> KernelEmitter::combineLanes(const Reduction &reduction,
                                               AffineMap index,
                                               ValueRange lower,
                                               ValueRange upper) {
  if (!reduction.hasPlace)
    return {combineTwo(reduction, lower.front(), upper.front())};
  // Whatever comes first in the row is what the other one is compared with.
  Value isLower = arith::CmpIOp::create(
      current(), loc, arith::CmpIPredicate::ule, lower[1], upper[1]);
  SmallVector<Value> first, second;
  for (auto [a, b] : llvm::zip_equal(lower, upper)) {
    first.push_back(arith::SelectOp::create(current(), loc, isLower, a, b));
    second.push_back(arith::SelectOp::create(current(), loc, isLower, b, a));
  }
  Value place = arith::IndexCastUIOp::create(current(), loc,
                                             builder.getIndexType(), second[1]);
  AffineMap operand = operandIndex(
      reduction, index, getAffineDimExpr(addDim(place), builder.getContext()));
  return combine(reduction, operand, first, second.front());
}

/// Lane l adds lane l + s, and lane l + s adds lane l: all threads have lane
/// 0's bits at the end.
SmallVector<Value> KernelEmitter::emitTeamTree(const Reduction &reduction,
                                               AffineMap index, int64_t lanes,
                                               SmallVector<Value> values) {
  if (lanes != kWarpSize) {
    // Every warp takes the lanes that are its own modulo its size.
    SmallVector<Value> buffers;
    for (auto [number, value] : llvm::enumerate(values))
      buffers.push_back(sharedBuffer(value.getType(), kBlockSize, number));
    team->synchronize(current(), loc);
    for (auto [value, buffer] : llvm::zip_equal(values, buffers))
      memref::StoreOp::create(current(), loc, value, buffer, team->lane);
    team->synchronize(current(), loc);
    SmallVector<SmallVector<Value>> parts;
    for (int64_t first = 0; first < lanes; first += kWarpSize) {
      Value lane = arith::AddIOp::create(current(), loc, team->warpLane,
                                         constantIndex(first));
      SmallVector<Value> &part = parts.emplace_back();
      for (Value buffer : buffers)
        part.push_back(memref::LoadOp::create(current(), loc, buffer, lane));
    }
    for (size_t half = parts.size() / 2; half >= 1; half /= 2)
      for (size_t i = 0; i < half; ++i)
        parts[i] = combineLanes(reduction, index, parts[i], parts[i + half]);
    values = parts.front();
  }
  for (int64_t half = kWarpSize / 2; half >= 1; half /= 2) {
    SmallVector<Value> others;
    for (Value value : values)
      others.push_back(shuffle(value, half));
    values = combineLanes(reduction, index, values, others);
  }
  return values;
}

/// A lane is a thread; for short rows, each warp of a block does the same.
SmallVector<Value> KernelEmitter::emitTeamPart(const Reduction &reduction,
                                               AffineMap index,
                                               ValueRange inits, Value base,
                                               int64_t size) {
  int64_t lanes = numerics::rowLanes(size);
  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddIOp::create(current(), loc, lhs, rhs);
  };
  SmallVector<Value> values(inits);
  if (!base && isHeldRow(size)) {
    for (unsigned position : heldPositions(size)) {
      AffineMap operand = operandIndex(
          reduction, index, getAffineDimExpr(position, builder.getContext()));
      Value element = emitOperand(reduction, operand);
      values = combine(reduction, operand, values, element);
    }
    return emitTeamTree(reduction, index, lanes, values);
  }
  Value first = teamLane(lanes);
  if (base)
    first = add(base, first);
  // All lanes have as many elements, but for the last.
  int64_t full = size / lanes * lanes;
  if (full != 0)
    values =
        foldLoop(constantIndex(0), constantIndex(full), lanes, values,
                 [&](Value offset, ValueRange accumulators) {
                   AffineExpr dim = getAffineDimExpr(addDim(add(offset, first)),
                                                     builder.getContext());
                   AffineMap operand = operandIndex(reduction, index, dim);
                   Value element = emitOperand(reduction, operand);
                   return combine(reduction, operand, accumulators, element);
                 });
  if (full != size) {
    Value end = constantIndex(size);
    if (base)
      end = add(base, end);
    values = foldElements(reduction, index, add(first, constantIndex(full)),
                          end, lanes, values);
  }
  return emitTeamTree(reduction, index, lanes, values);
}

SmallVector<Value> KernelEmitter::emitTeamRow(const Reduction &reduction,
                                              AffineMap index,
                                              ValueRange inits) {
  int64_t parts = reduction.isTree ? numerics::rowParts(reduction.reduced) : 1;
  if (parts == 1)
    return emitTeamPart(reduction, index, inits, Value(), reduction.reduced);
  // All threads have the sum of a part; the one whose lane it is adds it.
  int64_t size = reduction.reduced / parts, lanes = numerics::rowLanes(parts);
  SmallVector<Value> sums = foldLoop(
      constantIndex(0), constantIndex(parts), 1, inits,
      [&](Value part, ValueRange accumulators) {
        Value base =
            arith::MulIOp::create(current(), loc, part, constantIndex(size));
        Value sum = emitTeamPart(reduction, index, inits, base, size).front();
        Value lane =
            arith::RemUIOp::create(current(), loc, part, constantIndex(lanes));
        Value isOwn = arith::CmpIOp::create(
            current(), loc, arith::CmpIPredicate::eq, lane, teamLane(lanes));
        Value own = accumulators.front();
        Value next = combineTwo(reduction, own, sum);
        return SmallVector<Value>{
            arith::SelectOp::create(current(), loc, isOwn, next, own)};
      });
  return emitTeamTree(reduction, index, lanes, sums);
}

bool KernelEmitter::isTeamColumn(const Reduction &reduction) const {
  return team && reduction.isTree && !reduction.isRow() &&
         reduction.reduced > numerics::kColumnBlock &&
         team->kind == ThreadTeam::Kind::Column && scopes[target].isUniform;
}

/// Each thread of a column's team adds up a block of rows; then all of them add
/// the partial sums in order.
Value KernelEmitter::emitTeamColumn(const Reduction &reduction, AffineMap index,
                                    Value init) {
  const int64_t block = numerics::kColumnBlock;
  int64_t size = reduction.reduced,
          blocks = llvm::divideCeilSigned(size, block);
  Value end = constantIndex(size), length = constantIndex(block);
  Value teams = constantIndex(team->teams);
  Value buffer = sharedBuffer(init.getType(), kBlockSize);
  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddIOp::create(current(), loc, lhs, rhs);
  };
  auto slot = [&](Value lane) -> Value {
    return add(arith::MulIOp::create(current(), loc, lane, teams),
               team->number);
  };
  auto addBlocks = [&](Value first, Value count, Value total) {
    Value lower =
        arith::MulIOp::create(current(), loc, add(first, team->lane), length);
    Value upper =
        arith::MinUIOp::create(current(), loc, add(lower, length), end);
    Value partial =
        foldElements(reduction, index, lower, upper, 1, init).front();
    team->synchronize(current(), loc);
    memref::StoreOp::create(current(), loc, partial, buffer, slot(team->lane));
    team->synchronize(current(), loc);
    return foldLoop(constantIndex(0), count, 1, total,
                    [&](Value lane, ValueRange totals) {
                      Value part = memref::LoadOp::create(current(), loc,
                                                          buffer, slot(lane));
                      return SmallVector<Value>{
                          combineTwo(reduction, totals.front(), part)};
                    })
        .front();
  };
  if (blocks <= team->size)
    return addBlocks(constantIndex(0), constantIndex(blocks), init);
  return foldLoop(constantIndex(0), constantIndex(blocks), team->size, init,
                  [&](Value first, ValueRange totals) {
                    Value rest = arith::SubIOp::create(
                        current(), loc, constantIndex(blocks), first);
                    Value count = arith::MinUIOp::create(
                        current(), loc, rest, constantIndex(team->size));
                    return SmallVector<Value>{
                        addBlocks(first, count, totals.front())};
                  })
      .front();
}

//===----------------------------------------------------------------------===//
// A thread alone
//===----------------------------------------------------------------------===//

/// The tree, whose lanes have an element or none: what isn't there adds nothing
/// to what is.
Value KernelEmitter::emitUnrolledRow(const Reduction &reduction,
                                     AffineMap index, Value init) {
  MLIRContext *context = builder.getContext();
  // Lanes `first`, first + step, ... that have an element.
  std::function<Value(int64_t, int64_t)> sum = [&](int64_t first,
                                                   int64_t step) -> Value {
    if (first + step >= reduction.reduced) {
      AffineMap operand =
          operandIndex(reduction, index, getAffineConstantExpr(first, context));
      Value element = emitOperand(reduction, operand);
      return combine(reduction, operand, init, element).front();
    }
    Value lower = sum(first, 2 * step), upper = sum(first + step, 2 * step);
    return combineTwo(reduction, lower, upper);
  };
  return reduction.reduced == 0 ? init : sum(0, 1);
}

/// The lanes one after another, in the order in which the tree needs them:
/// their numbers with the bits reversed. Sums of 1, 2, 4, ... lanes wait for
/// their neighbours, as the digits of a counter for a carry.
Value KernelEmitter::emitThreadTree(
    const Reduction &reduction, int64_t size, Value init,
    function_ref<Value(Value, int64_t)> sumLane) {
  Type integer = builder.getI32Type();
  int64_t step = numerics::rowLanes(size);
  // Lanes behind the last element hold nothing that counts.
  int64_t lanes = std::min<int64_t>(step, llvm::bit_ceil(uint64_t(size)));
  int64_t digits = llvm::Log2_64(lanes);
  auto number = [&](int64_t value) {
    return constant(builder.getI32IntegerAttr(value));
  };
  SmallVector<Value> initial(digits + 1, init);
  return foldLoop(constantIndex(0), constantIndex(lanes), 1, initial,
                  [&](Value position, ValueRange waiting) {
                    Value count = arith::IndexCastOp::create(current(), loc,
                                                             integer, position);
                    Value reversed =
                        LLVM::BitReverseOp::create(current(), loc, count);
                    Value lane = arith::ShRUIOp::create(
                        current(), loc, reversed, number(32 - digits));
                    Value first = arith::IndexCastOp::create(
                        current(), loc, builder.getIndexType(), lane);
                    Value sum = sumLane(first, step);
                    SmallVector<Value> next;
                    Value carries = constant(builder.getBoolAttr(true));
                    for (int64_t digit = 0; digit < digits; ++digit) {
                      Value own = waiting[digit];
                      Value both = combineTwo(reduction, own, sum);
                      Value shifted = arith::ShRUIOp::create(
                          current(), loc, count, number(digit));
                      Value isSet = arith::TruncIOp::create(
                          current(), loc, builder.getI1Type(), shifted);
                      Value isTaken =
                          arith::AndIOp::create(current(), loc, carries, isSet);
                      // Where the carry stops, the sum waits.
                      Value stops = arith::XOrIOp::create(current(), loc,
                                                          carries, isTaken);
                      next.push_back(arith::SelectOp::create(current(), loc,
                                                             stops, sum, own));
                      sum = arith::SelectOp::create(current(), loc, isTaken,
                                                    both, sum);
                      carries = isTaken;
                    }
                    next.push_back(sum);
                    return next;
                  })
      .back();
}

Value KernelEmitter::emitThreadRow(const Reduction &reduction, AffineMap index,
                                   Value init) {
  int64_t parts = numerics::rowParts(reduction.reduced);
  if (reduction.reduced <= kUnrolledRow)
    return emitUnrolledRow(reduction, index, init);
  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddIOp::create(current(), loc, lhs, rhs);
  };
  Value size = constantIndex(reduction.reduced / parts);
  auto sumPart = [&](Value base) {
    return emitThreadTree(
        reduction, reduction.reduced / parts, init,
        [&](Value lane, int64_t step) {
          return foldElements(reduction, index, base ? add(base, lane) : lane,
                              base ? add(base, size) : size, step, init)
              .front();
        });
  };
  if (parts == 1)
    return sumPart(Value());
  return emitThreadTree(reduction, parts, init, [&](Value lane, int64_t step) {
    return foldLoop(lane, constantIndex(parts), step, init,
                    [&](Value part, ValueRange sums) {
                      Value base =
                          arith::MulIOp::create(current(), loc, part, size);
                      return SmallVector<Value>{
                          combineTwo(reduction, sums.front(), sumPart(base))};
                    })
        .front();
  });
}

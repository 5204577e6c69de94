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
  return cast<gpu::GPUFuncOp>(entry->getParentOp())
      .addWorkgroupAttribution(type, loc);
}

Value KernelEmitter::sharedBuffer(Type element) {
  Value &buffer = sharedBuffers[element];
  if (!buffer)
    buffer = addSharedBuffer(element, kBlockSize);
  return buffer;
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
  return team && reduction.isTree && reduction.isRow() &&
         scopes[target].isUniform &&
         (team->kind == ThreadTeam::Kind::Block ||
          (team->kind == ThreadTeam::Kind::Warp &&
           reduction.reduced <= numerics::kShortRow));
}

/// A lane is a thread; for short rows, each warp of a block does the same. Lane
/// l adds lane l + s, and lane l + s adds lane l: all threads have lane 0's
/// bits at the end.
Value KernelEmitter::emitTeamRow(const Reduction &reduction, AffineMap index,
                                 Value init) {
  int64_t size = reduction.reduced, lanes = numerics::rowLanes(size);
  Value lane = lanes == kWarpSize ? team->warpLane : team->lane;
  auto add = [&](Value lhs, int64_t rhs) -> Value {
    return arith::AddIOp::create(current(), loc, lhs, constantIndex(rhs));
  };
  // All lanes have as many elements, but for the last.
  int64_t full = size / lanes * lanes;
  SmallVector<Value> sum = {init};
  if (full != 0)
    sum = foldLoop(constantIndex(0), constantIndex(full), lanes, sum,
                   [&](Value base, ValueRange sums) {
                     Value position =
                         arith::AddIOp::create(current(), loc, base, lane);
                     AffineExpr dim = getAffineDimExpr(addDim(position),
                                                       builder.getContext());
                     AffineMap operand = operandIndex(reduction, index, dim);
                     Value element = emitOperand(reduction, operand);
                     return combine(reduction, operand, sums, element);
                   });
  if (full != size)
    sum = foldElements(reduction, index, add(lane, full), constantIndex(size),
                       lanes, sum);
  Value value = sum.front();
  if (lanes != kWarpSize) {
    // Every warp takes the lanes that are its own modulo its size.
    Value buffer = sharedBuffer(value.getType());
    team->synchronize(current(), loc);
    memref::StoreOp::create(current(), loc, value, buffer, lane);
    team->synchronize(current(), loc);
    SmallVector<Value> parts;
    for (int64_t first = 0; first < lanes; first += kWarpSize)
      parts.push_back(memref::LoadOp::create(current(), loc, buffer,
                                             add(team->warpLane, first)));
    for (size_t half = parts.size() / 2; half >= 1; half /= 2)
      for (size_t i = 0; i < half; ++i)
        parts[i] = combineTwo(reduction, parts[i], parts[i + half]);
    value = parts.front();
  }
  for (int64_t half = kWarpSize / 2; half >= 1; half /= 2)
    value = combineTwo(reduction, value, shuffle(value, half));
  return value;
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
  Value buffer = sharedBuffer(init.getType());
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
Value KernelEmitter::emitThreadRow(const Reduction &reduction, AffineMap index,
                                   Value init) {
  if (reduction.reduced <= kUnrolledRow)
    return emitUnrolledRow(reduction, index, init);
  Type integer = builder.getI32Type();
  int64_t step = numerics::rowLanes(reduction.reduced);
  // Lanes behind the last element hold nothing that counts.
  int64_t lanes =
      std::min<int64_t>(step, llvm::bit_ceil(uint64_t(reduction.reduced)));
  int64_t digits = llvm::Log2_64(lanes);
  Value size = constantIndex(reduction.reduced);
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
                    Value sum =
                        foldElements(reduction, index, first, size, step, init)
                            .front();
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

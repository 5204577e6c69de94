//===- TiledGroup.cpp - Transposition through shared memory ---------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where elements are read along one loop and written along another, a block
// reads a tile with neighbouring threads along the first, and writes it with
// neighbouring threads along the second. What is read the way it is written
// isn't kept.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "ThreadedGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;

/// Elements along a tile's sides.
static constexpr int64_t kTile = 32;
/// In memory, so that the elements of a column are in different banks.
static constexpr int64_t kTileStride = kTile + 1;
/// Shorter loops aren't worth it.
static constexpr int64_t kShortLoop = 8;
/// Shared memory that tiles of a kernel leave to its reductions.
static constexpr int64_t kBytesOfReductions = 8 << 10;

TilePlan mlir::echo::planTiles(const BoxGroup &group) {
  TilePlan plan;
  if (!group.isContiguous || group.loops.size() < 2 ||
      group.loops.back().size < kShortLoop)
    return plan;
  unsigned last = group.loops.back().dims.back();
  for (const ElementRead &read : group.reads) {
    int64_t stride = read.offset.at(last);
    if (stride == 0 || stride == 1)
      continue;
    for (unsigned loop = 0; loop + 1 < group.loops.size(); ++loop) {
      if (read.offset.at(group.loops[loop].dims.back()) != 1 ||
          group.loops[loop].size < kShortLoop ||
          (!plan.reads.empty() && plan.loop != loop))
        continue;
      plan.loop = loop;
      plan.reads.push_back(&read);
      break;
    }
  }
  if (plan.reads.empty())
    return plan;
  plan.rows = llvm::divideCeilSigned(group.loops[plan.loop].size, kTile);
  plan.columns = llvm::divideCeilSigned(group.loops.back().size, kTile);
  plan.others =
      group.rows / group.loops[plan.loop].size / group.loops.back().size;
  return plan;
}

void ThreadedGroup::runTiles() {
  TilePlan plan = planTiles(group);
  OpBuilder &b = emitter.current();
  Location loc = emitter.getLoc();
  SmallVector<Loop> others(ArrayRef(group.loops).drop_back());
  others.erase(others.begin() + plan.loop);
  const Loop &rowLoop = group.loops[plan.loop],
             &columnLoop = group.loops.back();
  // Groups have the same tiles, one after the other; what finds no room is read
  // as it is written.
  SmallVector<std::pair<const ElementRead *, Value>> tiledReads;
  llvm::SmallDenseMap<Type, unsigned> numbers;
  for (const ElementRead *read : plan.reads) {
    Type element = storedType(getElementTypeOrSelf(read->tensor.getType()));
    constexpr int64_t kSize = kTile * kTileStride;
    unsigned number = numbers[element];
    if (!emitter.hasSharedBuffer(element, kSize, number) &&
        emitter.sharedBytes() + sharedBytesOf(element, kSize) +
                kBytesOfReductions >
            int64_t(::echo::kMaxStaticSharedBytes))
      continue;
    ++numbers[element];
    tiledReads.push_back({read, emitter.sharedBuffer(element, kSize, number)});
  }
  Value lane = arith::RemUIOp::create(b, loc, place.thread, index(kTile));
  Value line = arith::DivUIOp::create(b, loc, place.thread, index(kTile));
  Value tiles = index(plan.others * plan.rows * plan.columns);
  emitter.closedLoop(
      place.block, tiles, index(place.launch.blocks), [&](Value tile) {
        OpBuilder &b = emitter.current();
        auto divide = [&](Value value, int64_t by) {
          Value size = index(by);
          Value rest = arith::RemUIOp::create(b, loc, value, size);
          Value quotient = arith::DivUIOp::create(b, loc, value, size);
          return std::pair(quotient, rest);
        };
        auto [rest, tileColumn] = divide(tile, plan.columns);
        auto [other, tileRow] = divide(rest, plan.rows);
        setLoops(others, other, 1);
        Value firstRow = scaled(tileRow, kTile);
        Value firstColumn = scaled(tileColumn, kTile);
        // Elements of the tile, each by one thread, that exist.
        auto forElements = [&](bool alongRows, function_ref<void(Value)> fill) {
          emitter.forLoop(
              line, index(kTile), place.launch.block / kTile, [&](Value line) {
                OpBuilder &b = emitter.current();
                Value inRow = alongRows ? lane : line;
                Value inColumn = alongRows ? line : lane;
                Value row = arith::AddIOp::create(b, loc, firstRow, inRow);
                Value column =
                    arith::AddIOp::create(b, loc, firstColumn, inColumn);
                auto isBelow = [&](Value value, int64_t end) {
                  return arith::CmpIOp::create(
                      b, loc, arith::CmpIPredicate::ult, value, index(end));
                };
                Value isInside =
                    arith::AndIOp::create(b, loc, isBelow(row, rowLoop.size),
                                          isBelow(column, columnLoop.size));
                emitter.guarded(isInside, [&] {
                  setLoop(rowLoop, row, 1);
                  setLoop(columnLoop, column, 1);
                  fill(arith::AddIOp::create(emitter.current(), loc,
                                             scaled(inColumn, kTileStride),
                                             inRow));
                });
              });
        };
        const ThreadTeam &team = emitter.getTeam();
        // The tile before is written.
        team.synchronize(emitter.current(), loc);
        forElements(/*alongRows=*/true, [&](Value slot) {
          for (auto [read, buffer] : tiledReads) {
            Value value =
                emitter.toStored(emitter.emit(read->tensor, read->index));
            memref::StoreOp::create(emitter.current(), loc, value, buffer,
                                    slot);
          }
        });
        team.synchronize(emitter.current(), loc);
        forElements(/*alongRows=*/false, [&](Value slot) {
          for (auto [read, buffer] : tiledReads) {
            Value value =
                memref::LoadOp::create(emitter.current(), loc, buffer, slot);
            emitter.define(
                read->tensor, read->index,
                emitter.fromStored(
                    value, getElementTypeOrSelf(read->tensor.getType())));
          }
          write(group.loops.size(), 1);
        });
      });
}

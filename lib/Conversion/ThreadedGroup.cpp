//===- ThreadedGroup.cpp - Threads of a GPU for groups of boxes -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadedGroup.h"
#include "Echo/Numerics/ReductionTree.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::echo;

using Kind = ThreadTeam::Kind;

/// What every device takes on x.
static constexpr int64_t kMaxBlocks = std::numeric_limits<int32_t>::max();
/// Rows that one thread does sooner than a warp would.
static constexpr int64_t kShortThreadRow = 8;
/// Shared memory of a block with what a kernel adds up in it; every device has
/// three times as much.
static constexpr int64_t kMostSumBytes = 16384;
/// Sums that a thread keeps in registers.
static constexpr size_t kMostThreadSums = 32;

//===----------------------------------------------------------------------===//
// Mapping
//===----------------------------------------------------------------------===//

/// Elements that are written for each row.
static int64_t columnsOf(const BoxGroup &group) {
  int64_t columns = 1;
  for (const Loop &loop : ArrayRef(group.loops).drop_front(group.numRowLoops))
    columns *= loop.size;
  return columns;
}

/// The columns that a block of teams for column sums holds.
static int64_t neighbouringColumns(int64_t columns, int64_t multiprocessors) {
  int64_t neighbours = kWarpSize;
  while (neighbours > 8 &&
         (columns <= neighbours / 2 ||
          llvm::divideCeilSigned(columns, neighbours) < multiprocessors / 2))
    neighbours /= 2;
  return neighbours;
}

/// The elements that threads take at once: as many as one access moves, if all
/// vectors but those of the last loop's end are whole.
static int64_t vectorWidth(const BoxGroup &group, int64_t elementBytes) {
  int64_t width = kAccessBytes / elementBytes;
  if (!group.isContiguous)
    return 1;
  if (group.loops.size() == 1)
    return group.rows < width ? 1 : width;
  while (group.loops.back().size % width != 0)
    width /= 2;
  return width;
}

ThreadMapping mlir::echo::planThreads(const BoxGroup &group,
                                      int64_t elementBytes,
                                      int64_t multiprocessors) {
  int64_t rowLength = 0, columnLength = 0;
  for (const RowReduction &reduction : group.rowReductions) {
    if (!reduction.isShared)
      continue;
    int64_t &length = reduction.isRow ? rowLength : columnLength;
    length = std::max(length, reduction.reduced);
  }
  ThreadMapping mapping;
  if (columnLength > numerics::kColumnBlock && group.rowsPerChunk == 1) {
    mapping.kind = Kind::Column;
    mapping.teamSize =
        kBlockSize / neighbouringColumns(group.rows, multiprocessors);
  } else if (rowLength > numerics::kShortRow) {
    mapping.kind = Kind::Block;
    mapping.teamSize = kBlockSize;
  } else if (rowLength > kShortThreadRow ||
             (rowLength > 1 && columnsOf(group) > kShortThreadRow)) {
    mapping.kind = Kind::Warp;
    mapping.teamSize = kWarpSize;
  }
  TilePlan tiles;
  if (mapping.kind == Kind::Thread) {
    tiles = planTiles(group);
    if (!tiles.reads.empty()) {
      mapping.kind = Kind::Tile;
      mapping.teamSize = kBlockSize;
      mapping.threads = tiles.rows * tiles.columns * tiles.others * kBlockSize;
      return mapping;
    }
    mapping.width = vectorWidth(group, elementBytes);
  }
  mapping.threads =
      llvm::divideCeilSigned(group.rowChunks, mapping.width) * mapping.teamSize;
  return mapping;
}

LaunchSize mlir::echo::planLaunch(ArrayRef<ThreadMapping> mappings,
                                  int64_t multiprocessors) {
  int64_t threads = 0;
  bool isWhole = false;
  for (const ThreadMapping &mapping : mappings) {
    threads = std::max(threads, mapping.threads);
    isWhole |= mapping.needsWholeBlock();
  }
  LaunchSize size;
  uint64_t warps = threads / kWarpSize / multiprocessors;
  size.block = isWhole
                   ? kBlockSize
                   : kWarpSize * std::clamp<int64_t>(llvm::bit_floor(warps), 1,
                                                     kBlockSize / kWarpSize);
  size.blocks =
      std::min(llvm::divideCeilSigned(threads, size.block), kMaxBlocks);
  return size;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

void ThreadedGroup::setTeam() {
  OpBuilder &b = emitter.current();
  Location loc = emitter.getLoc();
  ThreadTeam team;
  team.kind = mapping.kind;
  team.size = mapping.teamSize;
  team.teams = place.launch.block / mapping.teamSize;
  auto quotient = [&](int64_t divisor) -> Value {
    return arith::DivUIOp::create(b, loc, place.thread, index(divisor));
  };
  auto remainder = [&](int64_t divisor) -> Value {
    return arith::RemUIOp::create(b, loc, place.thread, index(divisor));
  };
  switch (team.kind) {
  case Kind::Thread:
  case Kind::Tile:
    team.number = place.thread;
    break;
  case Kind::Warp:
    team.lane = team.warpLane = remainder(kWarpSize);
    team.number = quotient(kWarpSize);
    break;
  case Kind::Block:
    team.lane = place.thread;
    team.warpLane = remainder(kWarpSize);
    team.number = index(0);
    break;
  case Kind::Column:
    // Neighbouring threads have neighbouring columns.
    team.number = remainder(team.teams);
    team.lane = quotient(team.teams);
    break;
  }
  emitter.setTeam(team);
}

void ThreadedGroup::run() {
  setTeam();
  addSums();
  if (mapping.kind == Kind::Tile)
    runTiles();
  else if (mapping.width != 1)
    runVectors();
  else
    runTeams();
}

void ThreadedGroup::runVectors() {
  OpBuilder &b = emitter.current();
  Location loc = emitter.getLoc();
  int64_t whole = group.rows / mapping.width * mapping.width;
  Value first = arith::AddIOp::create(
      b, loc, scaled(place.block, place.launch.block), place.thread);
  int64_t threads = place.launch.blocks * place.launch.block;
  auto run = [&](Value first, int64_t end, int64_t width) {
    emitter.closedLoop(first, index(end), index(threads * width),
                       [&](Value position) {
                         setLoops(group.loops, position, width);
                         write(group.loops.size(), width);
                       });
  };
  run(scaled(first, mapping.width), whole, mapping.width);
  if (whole != group.rows)
    run(arith::AddIOp::create(emitter.current(), loc, first, index(whole)),
        group.rows, 1);
}

void ThreadedGroup::runTeams() {
  const ThreadTeam &team = emitter.getTeam();
  OpBuilder &b = emitter.current();
  Location loc = emitter.getLoc();
  // All threads of a block stay together where they wait for each other.
  bool isColumn = team.kind == Kind::Column;
  Value first = scaled(place.block, team.teams);
  if (!isColumn)
    first = arith::AddIOp::create(b, loc, first, team.number);
  Value step = index(place.launch.blocks * team.teams);
  Value chunks = index(group.rowChunks);
  emitter.closedLoop(first, chunks, step, [&](Value chunk) {
    OpBuilder &b = emitter.current();
    if (team.kind == Kind::Thread && group.rowsPerChunk == 1)
      return row(chunk, Value(), Value());
    if (team.kind != Kind::Thread)
      emitter.markUniform();
    if (isColumn) {
      // Threads beyond the last row help with it.
      Value own = arith::AddIOp::create(b, loc, chunk, team.number);
      Value isInside =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, own, chunks);
      Value last = index(group.rowChunks - 1);
      return teamRow(arith::MinUIOp::create(b, loc, own, last), isInside);
    }
    if (group.rowsPerChunk == 1)
      return teamRow(chunk, Value());
    Value begin = scaled(chunk, group.rowsPerChunk);
    Value end = limited(next(chunk), group.rowsPerChunk, group.rows);
    if (team.kind == Kind::Thread)
      return rows(begin, end, Value(), Value());
    emitter.forLoop(begin, end, 1, [&](Value position) {
      emitter.markUniform();
      teamRow(position, Value());
    });
  });
}

int64_t mlir::echo::sharedBytesOf(Type element, int64_t size) {
  int64_t bytes = size * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return llvm::alignTo(bytes, kAccessBytes);
}

void ThreadedGroup::addSums() {
  if (mapping.kind == Kind::Thread)
    addThreadSums();
  else if (mapping.kind == Kind::Warp || mapping.kind == Kind::Block)
    addTeamSums();
}

void ThreadedGroup::addThreadSums() {
  AffineExpr zero = getAffineConstantExpr(0, emitter.current().getContext());
  for (const Box &box : group.boxes) {
    // A thread is done with one sum before it begins the next one, if the loops
    // along it are the innermost ones.
    auto isAlong = [&](const Loop &loop) {
      return group.isAccumulated(box, loop);
    };
    auto *first = llvm::find_if(group.loops, isAlong);
    if (sums.size() == kMostThreadSums || first == group.loops.end() ||
        !std::all_of(first, group.loops.end(), isAlong))
      continue;
    auto type = cast<MemRefType>(outputs[box.output].getType());
    sums[&box] = {emitter.stackBuffer(type.getElementType(), 1), zero};
  }
}

void ThreadedGroup::addTeamSums() {
  MLIRContext *context = emitter.current().getContext();
  llvm::DenseMap<AffineExpr, AffineExpr> first, last;
  AffineExpr zero = getAffineConstantExpr(0, context);
  for (auto [i, loop] : llvm::enumerate(group.loops))
    for (unsigned dim : loop.dims) {
      AffineExpr expr = getAffineDimExpr(dim, context);
      bool isRow = i < group.numRowLoops;
      first[expr] = isRow ? zero : expr;
      last[expr] = isRow ? zero : getAffineConstantExpr(loop.size - 1, context);
    }
  const ThreadTeam &team = emitter.getTeam();
  AffineExpr number = getAffineDimExpr(emitter.addDim(team.number), context);
  // Other groups of the kernel have some of it.
  int64_t bytes = emitter.sharedBytes();
  for (const Box &box : group.boxes) {
    if (!box.accumulated)
      continue;
    AffineExpr offset =
        group.offsetOf(box, outputTypes[box.output].getShape(), context);
    auto end = dyn_cast<AffineConstantExpr>(offset.replace(last));
    if (!end)
      continue;
    int64_t size = end.getValue() + 1;
    auto type = cast<MemRefType>(outputs[box.output].getType());
    bytes += sharedBytesOf(type.getElementType(), size * team.teams);
    if (bytes > kMostSumBytes)
      return;
    sums[&box] = {
        emitter.addSharedBuffer(type.getElementType(), size * team.teams),
        offset.replace(first) + number * size};
  }
}

void ThreadedGroup::store(const BoxValues &values, int64_t width,
                          OtherDim other) {
  BoxValues direct;
  MLIRContext *context = emitter.current().getContext();
  for (auto [box, value] : values) {
    auto sum = sums.find(box);
    if (sum == sums.end()) {
      direct.push_back({box, value});
      continue;
    }
    Value buffer = sum->second.first;
    AffineExpr own = withOther(sum->second.second, other);
    AffineExpr position =
        withOther(group.reducedPosition(*box, context), other);
    Value total = emitter.emitAccumulation(*box->accumulated, position, buffer,
                                           own, value, 1);
    emitter.store(buffer, own, total, 1);
    Value isLast = arith::CmpIOp::create(
        emitter.current(), emitter.getLoc(), arith::CmpIPredicate::eq,
        emitter.materialize(position), index(box->accumulated->reduced - 1));
    AffineExpr place = withOther(
        group.offsetOf(*box, outputTypes[box->output].getShape(), context),
        other);
    Value output = outputs[box->output];
    emitter.guarded(isLast, [&] { emitter.store(output, place, total, 1); });
  }
  GroupLowering::store(direct, width, other);
}

void ThreadedGroup::protectInputs() {
  if (isAliased)
    emitter.getTeam().synchronize(emitter.current(), emitter.getLoc());
}

ThreadedGroup::ColumnLoops ThreadedGroup::columnLoopsOf(const Box &box) const {
  ColumnLoops loops;
  for (const Loop &loop : ArrayRef(group.loops).drop_front(group.numRowLoops))
    if (box.uses(loop.dims.back()))
      loops.push_back(&loop);
  return loops;
}

bool ThreadedGroup::isHeld(const ColumnLoops &loops) const {
  if (loops.size() != 1 || loops.front()->dims.size() != 1 ||
      group.isAccumulated(*loops.front()))
    return false;
  int64_t size = loops.front()->size;
  return emitter.isHeldRow(size) &&
         llvm::any_of(group.rowReductions, [&](const RowReduction &reduction) {
           return reduction.isShared && reduction.isRow &&
                  reduction.reduced == size;
         });
}

void ThreadedGroup::teamRow(Value position, Value isInside) {
  setLoops(ArrayRef(group.loops).take_front(group.numRowLoops), position, 1);
  BoxValues values =
      valuesOf([&](const Box &box) { return columnLoopsOf(box).empty(); });
  if (!values.empty()) {
    OpBuilder &b = emitter.current();
    Location loc = emitter.getLoc();
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          emitter.getTeam().lane, index(0));
    if (isInside)
      isFirst = arith::AndIOp::create(b, loc, isFirst, isInside);
    protectInputs();
    emitter.guarded(isFirst, [&] { store(values, 1); });
  }
  SmallVector<ColumnLoops> sweeps;
  for (const Box &box : group.boxes) {
    ColumnLoops loops = columnLoopsOf(box);
    if (!loops.empty() && !llvm::is_contained(sweeps, loops))
      sweeps.push_back(loops);
  }
  for (const ColumnLoops &loops : sweeps)
    columns(loops, isInside);
}

void ThreadedGroup::columns(const ColumnLoops &loops, Value isInside) {
  // Threads share what isn't added up.
  SmallVector<Loop> shared, own;
  int64_t count = 1;
  for (const Loop *loop : loops) {
    bool isOwn = group.isAccumulated(*loop);
    (isOwn ? own : shared).push_back(*loop);
    count *= isOwn ? 1 : loop->size;
  }
  const ThreadTeam &team = emitter.getTeam();
  auto isWritten = [&](const Box &box) { return columnLoopsOf(box) == loops; };
  if (isHeld(loops)) {
    // All threads have read what isn't theirs before the first one writes.
    bool isFirst = true;
    for (unsigned position : emitter.heldPositions(count)) {
      GroupLowering::OtherDim other =
          std::pair(loops.front()->dims.front(), position);
      BoxValues values = valuesOf(isWritten, other);
      if (isFirst)
        protectInputs();
      isFirst = false;
      store(values, 1, other);
    }
    return;
  }
  Value end = index(count);
  if (isInside)
    end = arith::SelectOp::create(emitter.current(), emitter.getLoc(), isInside,
                                  end, index(0));
  std::function<void(size_t)> writeFrom = [&](size_t depth) {
    if (depth == own.size())
      return store(valuesOf(isWritten), 1);
    emitter.forLoop(index(0), index(own[depth].size), 1, [&](Value position) {
      setLoop(own[depth], position, 1);
      writeFrom(depth + 1);
    });
  };
  // What the row needs is computed in front of the loop, by all threads; then
  // they have read what isn't theirs.
  emitter.forLoop(
      team.lane, end, team.size,
      [&](Value position) {
        setLoops(shared, position, 1);
        writeFrom(0);
      },
      /*isRemainder=*/false, [&] { protectInputs(); });
}

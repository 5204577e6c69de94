//===- ThreadedEmbeddingGrad.cpp - The scattering kernel on a GPU ---------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block owns a tile of the table, whose sums are in shared memory. Its
// threads look at an index each and tell each other which are the tile's; then
// they add the gradients of these in order, each to the elements that are its
// own.
//
//===----------------------------------------------------------------------===//

#include "EmbeddingGradKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;

/// Of a tile's sums.
static constexpr int64_t kTileBytes = 32 << 10;
static constexpr int64_t kWarps = kBlockSize / kWarpSize;

namespace {

struct Tiles {
  Tiles(EmbeddingGradOp op, int64_t multiprocessors)
      : rows(op.getRows()), columns(op.getResult().getType().getDimSize(1)) {
    Type element = op.getResult().getType().getElementType();
    isWide = element.isF32() || element.isF64();
    width =
        std::clamp<int64_t>(llvm::PowerOf2Ceil(columns), kWarpSize, kBlockSize);
    across = llvm::divideCeilSigned(columns, width);
    int64_t most = kTileBytes / (element.isF64() ? 8 : 4) / width;
    // The fewer rows, the more often all indices are read.
    int64_t spread = llvm::divideCeilSigned(rows * across, multiprocessors);
    height = std::clamp<int64_t>(spread, 1, most);
    count = rows == 0 ? 0 : across * llvm::divideCeilSigned(rows, height);
  }

  int64_t rows, columns;
  int64_t width, height; ///< of a tile
  int64_t across;        ///< tiles beside each other
  int64_t count;
  bool isWide; ///< sums have the table's type, otherwise f32
};

class ThreadedEmbeddingGrad {
public:
  ThreadedEmbeddingGrad(EmbeddingGradOp op, KernelEmitter &emitter,
                        Block *entry, const ThreadPlace &place)
      : emitter(emitter), loc(op.getLoc()), place(place),
        tiles(op, place.multiprocessors),
        element(op.getResult().getType().getElementType()),
        positions(cast<RankedTensorType>(op.getIndices().getType())
                      .getNumElements()) {
    auto argument = [&](Value value) {
      return entry->getArgument(cast<BlockArgument>(value).getArgNumber());
    };
    indices = argument(op.getIndices());
    gradient = argument(op.getGradient());
    result = entry->getArgument(
        op->getParentOfType<func::FuncOp>().getNumArguments());
    Builder b(op.getContext());
    wide = tiles.isWide ? element : Type(b.getF32Type());
    sums = emitter.addSharedBuffer(wide, tiles.width * tiles.height);
    rowsOfBatch = emitter.addSharedBuffer(b.getI32Type(), kBlockSize);
    masks = emitter.addSharedBuffer(b.getI32Type(), kWarps);
  }

  void run() {
    warp = make<arith::DivUIOp>(place.thread, index(kWarpSize));
    Value warpLane = make<arith::RemUIOp>(place.thread, index(kWarpSize));
    isFirstOfWarp = compare(arith::CmpIPredicate::eq, warpLane, index(0));
    tileColumn = make<arith::RemUIOp>(place.thread, index(tiles.width));
    share = make<arith::DivUIOp>(place.thread, index(tiles.width));
    emitter.closedLoop(place.block, index(tiles.count),
                       index(place.launch.blocks),
                       [&](Value tile) { tileAt(tile); });
  }

private:
  Value index(int64_t value) { return emitter.constantIndex(value); }
  template <typename Op, typename... Args>
  Value make(Args &&...args) {
    return Op::create(emitter.current(), loc, std::forward<Args>(args)...);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return make<arith::CmpIOp>(predicate, lhs, rhs);
  }
  Value offset(Value row, Value column, int64_t columns) {
    return make<arith::AddIOp>(make<arith::MulIOp>(row, index(columns)),
                               column);
  }
  Value toIndex(Value value) {
    return make<arith::IndexCastUIOp>(emitter.current().getIndexType(), value);
  }
  void store(Value value, Value buffer, Value position) {
    memref::StoreOp::create(emitter.current(), loc, value, buffer, position);
  }
  void barrier() { gpu::BarrierOp::create(emitter.current(), loc); }
  /// Threads that have the same column of a tile share its rows.
  int64_t numShares() const { return kBlockSize / tiles.width; }

  void tileAt(Value tile) {
    Value tileRow = make<arith::DivUIOp>(tile, index(tiles.across));
    Value tileOfRow = make<arith::RemUIOp>(tile, index(tiles.across));
    Value firstRow = make<arith::MulIOp>(tileRow, index(tiles.height));
    Value column = offset(tileOfRow, tileColumn, tiles.width);
    Value isInside =
        compare(arith::CmpIPredicate::ult, column, index(tiles.columns));
    Value rows = make<arith::MinUIOp>(
        make<arith::SubIOp>(index(tiles.rows), firstRow), index(tiles.height));
    Value zero = emitter.constant(emitter.current().getZeroAttr(wide));
    emitter.forLoop(share, index(tiles.height), numShares(), [&](Value row) {
      store(zero, sums, offset(row, tileColumn, tiles.width));
    });
    emitter.forLoop(index(0), index(positions), kBlockSize, [&](Value base) {
      findRows(base, firstRow, rows);
      emitter.guarded(isInside, [&] { addRows(base, column); });
    });
    emitter.guarded(isInside, [&] {
      emitter.forLoop(share, rows, numShares(), [&](Value row) {
        Value sum =
            make<memref::LoadOp>(sums, offset(row, tileColumn, tiles.width));
        if (!tiles.isWide)
          sum = make<arith::TruncFOp>(element, sum);
        Value target =
            offset(make<arith::AddIOp>(firstRow, row), column, tiles.columns);
        store(emitter.toStored(sum), result, target);
      });
    });
  }

  /// Tells all threads which of a block's positions have rows of the tile.
  void findRows(Value base, Value firstRow, Value rows) {
    OpBuilder &b = emitter.current();
    Value position = make<arith::AddIOp>(base, place.thread);
    Value isPosition =
        compare(arith::CmpIPredicate::ult, position, index(positions));
    position = make<arith::MinUIOp>(position, index(positions - 1));
    Value value = make<memref::LoadOp>(indices, position);
    // Negative rows, and those in front of the tile, become large unsigned
    // ones.
    Type integer = b.getI64Type();
    if (value.getType() != integer)
      value = make<arith::ExtSIOp>(integer, value);
    Value row =
        make<arith::SubIOp>(value, make<arith::IndexCastOp>(integer, firstRow));
    Value isRow = compare(arith::CmpIPredicate::ult, row,
                          make<arith::IndexCastOp>(integer, rows));
    isRow = make<arith::AndIOp>(isRow, isPosition);
    Value all = emitter.constant(b.getI32IntegerAttr(-1));
    Value mask = make<NVVM::VoteSyncOp>(b.getI32Type(), all, isRow,
                                        NVVM::VoteSyncKind::ballot);
    // The threads are done with the block of positions before.
    barrier();
    store(make<arith::TruncIOp>(b.getI32Type(), row), rowsOfBatch,
          place.thread);
    emitter.guarded(isFirstOfWarp, [&] { store(mask, masks, warp); });
    barrier();
  }

  /// Adds the gradients of a block's positions, in order.
  void addRows(Value base, Value column) {
    emitter.forLoop(index(0), index(kWarps), 1, [&](Value batchWarp) {
      Value mask = make<memref::LoadOp>(masks, batchWarp);
      Value count = toIndex(make<LLVM::CtPopOp>(mask.getType(), mask));
      Value first = make<arith::MulIOp>(batchWarp, index(kWarpSize));
      emitter.foldLoop(index(0), count, 1, mask, [&](Value, ValueRange masks) {
        Value mask = masks.front();
        Value bit = make<LLVM::CountTrailingZerosOp>(mask.getType(), mask,
                                                     /*is_zero_poison=*/false);
        Value slot = make<arith::AddIOp>(first, toIndex(bit));
        Value row = toIndex(make<memref::LoadOp>(rowsOfBatch, slot));
        auto add = [&] { addRow(slot, row, base, column); };
        if (numShares() == 1) {
          add();
        } else {
          Value owner = make<arith::RemUIOp>(row, index(numShares()));
          emitter.guarded(compare(arith::CmpIPredicate::eq, owner, share), add);
        }
        Value one = emitter.constant(emitter.current().getI32IntegerAttr(1));
        Value rest = make<arith::AndIOp>(mask, make<arith::SubIOp>(mask, one));
        return SmallVector<Value>{rest};
      });
    });
  }

  void addRow(Value slot, Value row, Value base, Value column) {
    Value position = make<arith::AddIOp>(base, slot);
    Value value = emitter.fromStored(
        make<memref::LoadOp>(gradient, offset(position, column, tiles.columns)),
        element);
    if (!tiles.isWide)
      value = make<arith::ExtFOp>(wide, value);
    Value target = offset(row, tileColumn, tiles.width);
    Value sum = make<memref::LoadOp>(sums, target);
    store(make<arith::AddFOp>(sum, value), sums, target);
  }

  KernelEmitter &emitter;
  Location loc;
  const ThreadPlace &place;
  Tiles tiles;
  Type element, wide;
  int64_t positions;
  Value indices, gradient, result;
  Value sums, rowsOfBatch, masks; ///< shared
  Value warp, isFirstOfWarp, tileColumn, share;
};

} // namespace

ThreadMapping mlir::echo::planEmbeddingGrad(EmbeddingGradOp op,
                                            int64_t multiprocessors) {
  ThreadMapping mapping;
  mapping.kind = ThreadTeam::Kind::Block;
  mapping.teamSize = kBlockSize;
  mapping.threads = Tiles(op, multiprocessors).count * kBlockSize;
  return mapping;
}

void mlir::echo::lowerThreadedEmbeddingGrad(EmbeddingGradOp op,
                                            KernelEmitter &emitter,
                                            Block *entry,
                                            const ThreadPlace &place) {
  if (Tiles(op, place.multiprocessors).count != 0)
    ThreadedEmbeddingGrad(op, emitter, entry, place).run();
}

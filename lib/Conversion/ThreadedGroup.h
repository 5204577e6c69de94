//===- ThreadedGroup.h - Threads of a GPU for groups of boxes ---*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which threads of a block write what of a group, and the code that does it.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_CONVERSION_THREADEDGROUP_H
#define ECHO_LIB_CONVERSION_THREADEDGROUP_H

#include "GroupLowering.h"

namespace mlir::echo {

/// Threads of the largest block: it can be launched however many registers a
/// kernel has. Teams that are a block have as many.
inline constexpr int64_t kBlockSize = 256;
inline constexpr int64_t kWarpSize = 32;
/// What a thread loads or stores at once.
inline constexpr int64_t kAccessBytes = 16;
/// What a shared buffer takes, in bytes.
int64_t sharedBytesOf(Type element, int64_t size);

/// How the rows of a group are dealt out. The template of a kernel, which
/// depends on shapes alone, and how large its blocks are.
struct ThreadMapping {
  ThreadTeam::Kind kind = ThreadTeam::Kind::Thread;
  int64_t teamSize = 1; ///< threads that share a row
  int64_t width = 1;    ///< neighbouring elements that a thread takes at once
  int64_t threads = 0;  ///< that have something to do, about
  /// The kernel's block has to be of kBlockSize.
  bool needsWholeBlock() const {
    return kind != ThreadTeam::Kind::Thread && kind != ThreadTeam::Kind::Warp;
  }
};

/// Which reads of a group go through shared memory, and tile by tile: they are
/// of neighbouring elements along another loop than the last, along which
/// neighbours are written.
struct TilePlan {
  unsigned loop = 0; ///< the other one
  SmallVector<const ElementRead *> reads;
  int64_t rows = 1, columns = 1, others = 1; ///< tiles
};
TilePlan planTiles(const BoxGroup &group);

/// `elementBytes`: of the largest elements. A block stays on one of the
/// device's multiprocessors.
ThreadMapping planThreads(const BoxGroup &group, int64_t elementBytes,
                          int64_t multiprocessors);

/// The launch that groups with these mappings share: of no blocks where nothing
/// is written.
struct LaunchSize {
  int64_t block = kWarpSize, blocks = 1;
};
LaunchSize planLaunch(ArrayRef<ThreadMapping> mappings,
                      int64_t multiprocessors);

/// The identity of the thread that runs.
struct ThreadPlace {
  Value block, thread; ///< numbers of the block, and of the thread in it
  LaunchSize launch;
  int64_t multiprocessors; ///< of the device
};

class ThreadedGroup : GroupLowering {
public:
  /// `isAliased` says that outputs may be the buffers of inputs.
  ThreadedGroup(KernelEmitter &emitter, const BoxGroup &group,
                ArrayRef<RankedTensorType> outputTypes, ValueRange outputs,
                const ThreadMapping &mapping, const ThreadPlace &place,
                bool isAliased)
      : GroupLowering(emitter, group, outputTypes, outputs), mapping(mapping),
        place(place), isAliased(isAliased) {}

  void run();

private:
  /// Tiles of elements, which threads read in another order than they write
  /// them (TiledGroup.cpp).
  void runTiles();
  /// Vectors of neighbouring elements, and single ones for what is left.
  void runVectors();
  /// Chunks of rows, by teams: nothing is computed outside of the loop.
  void runTeams();
  /// A row, by the threads of a team; without `isInside` by threads that have
  /// to keep up with those of another row.
  void teamRow(Value position, Value isInside);
  /// The boxes that some of the loops within a row write.
  using ColumnLoops = SmallVector<const Loop *>;
  ColumnLoops columnLoopsOf(const Box &box) const;
  void columns(const ColumnLoops &loops, Value isInside);
  /// True if a warp's threads keep what they know of the row.
  bool isHeld(const ColumnLoops &loops) const;
  /// Gives what is added up over rows a place in which it stays until the last
  /// row: a thread's sums registers, a team's shared memory if there is enough.
  void addSums();
  void addThreadSums();
  void addTeamSums();
  void store(const BoxValues &values, int64_t width,
             OtherDim other = std::nullopt) override;
  /// Waits for reads of what is written from here on.
  void protectInputs();
  void setTeam();

  const ThreadMapping &mapping;
  const ThreadPlace &place;
  bool isAliased;
  /// By box: where its sums are while they grow.
  llvm::SmallDenseMap<const Box *, std::pair<Value, AffineExpr>> sums;
};

} // namespace mlir::echo

#endif // ECHO_LIB_CONVERSION_THREADEDGROUP_H

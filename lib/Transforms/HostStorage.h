//===- HostStorage.h - Where a host program's tensors lie -------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bufferization decides here which tensors share memory; converting ops to
// buffers only looks it up.
//
// A root is a tensor with a buffer of its own at first: an argument, or the
// result of a launch, library call or join. Views lie in their operand's root.
// Then roots move into others: a sum of products into its accumulator, the
// parts of a concatenation into its buffer.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_TRANSFORMS_HOSTSTORAGE_H
#define ECHO_LIB_TRANSFORMS_HOSTSTORAGE_H

#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::echo {

/// Some bytes of the buffer of `root`.
struct Storage {
  Value root;
  int64_t offset = 0;
  int64_t bytes = 0;

  int64_t end() const { return offset + bytes; }
  bool overlaps(const Storage &other) const {
    return root == other.root && offset < other.end() && other.offset < end();
  }
  bool operator==(const Storage &other) const {
    return root == other.root && offset == other.offset && bytes == other.bytes;
  }
  bool operator!=(const Storage &other) const { return !(*this == other); }
};

class HostStorage {
public:
  /// `aliases`: for every result of the function the argument it replaces; it
  /// may still be filled.
  HostStorage(func::FuncOp function,
              const SmallVector<std::optional<unsigned>> &aliases)
      : function(function), aliases(aliases) {}

  /// Views are followed to their roots. Fails with a diagnostic at an op whose
  /// result isn't contiguous.
  LogicalResult findRoots();
  /// Numbers the ops and collects who reads what, in the block's order.
  void findReads();
  /// Moves sums into their accumulators' buffers where nothing reads these
  /// afterwards.
  void placeSums();
  /// Moves the parts of concatenations into the buffer of the whole.
  void placeParts();

  Storage lookup(Value value) const;
  int64_t positionOf(Operation *op) const { return positions.at(op); }
  /// Position of the last op that reads any of these bytes; -1: none.
  int64_t lastRead(const Storage &storage) const;
  bool isReadAfter(const Storage &storage, int64_t position) const;
  /// Whether a result that is read for the last time at `lastRead` may be
  /// written into the bytes of an operand of the op at `position`: these are
  /// dead then, in the arena, and the result doesn't keep a much larger buffer
  /// alive.
  bool mayReuse(const Storage &storage, int64_t position,
                int64_t lastRead) const;

  /// True if function result `index` is the argument that it replaces.
  bool isIdentity(unsigned index) const;
  /// All bytes of the value's root.
  Storage wholeOf(Value root) const;
  bool isWhole(const Storage &storage) const {
    return storage == wholeOf(storage.root);
  }

  /// The argument into whose memory a root is written.
  std::optional<unsigned> getArgument(Value root) const {
    auto it = arguments.find(root);
    return it == arguments.end() ? std::nullopt : std::optional(it->second);
  }
  void setArgument(Value root, unsigned argument) {
    arguments[root] = argument;
  }

private:
  struct Read {
    int64_t position, begin, end;
  };

  Operation *getReturn() const {
    return function.getBody().front().getTerminator();
  }
  void moveInto(Value root, const Storage &home);
  void sortReads(Value root);

  mutable func::FuncOp function;
  const SmallVector<std::optional<unsigned>> &aliases;
  DenseMap<Operation *, int64_t> positions;
  /// For every tensor its place in a root, which may have moved.
  DenseMap<Value, Storage> storage;
  /// For roots that have moved: where.
  DenseMap<Value, Storage> homes;
  /// By root that hasn't moved, in the order of positions.
  DenseMap<Value, SmallVector<Read, 2>> reads;
  DenseMap<Value, unsigned> arguments;
};

} // namespace mlir::echo

#endif // ECHO_LIB_TRANSFORMS_HOSTSTORAGE_H

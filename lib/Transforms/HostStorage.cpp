//===- HostStorage.cpp - Where a host program's tensors lie ---------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostStorage.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Dialect/Views.h"
#include <tuple>

using namespace mlir;
using namespace mlir::echo;

/// A result that takes a part of an operand's buffer may outlive the rest of
/// that buffer by this many ops.
static constexpr int64_t kMostExtension = 16;

static int64_t bytesOf(Value value) {
  return static_cast<int64_t>(*echo::detail::typeBytes(value.getType()));
}

LogicalResult HostStorage::findRoots() {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments())
    storage[argument] = wholeOf(argument);
  for (Operation &op : block.without_terminator()) {
    auto join = dyn_cast<BufferJoinOpInterface>(op);
    if (join && !join.hasPartOffsets())
      for (unsigned i = 0, e = op.getNumOperands(); i < e; ++i)
        if (failed(join.getPartOffset(i)))
          return op.emitOpError("operand #")
                 << i << " isn't contiguous in the result, so the parts can't "
                    "be joined in place; expected a kernel (echo-form-kernels "
                    "makes them)";
    auto view = dyn_cast<BufferViewOpInterface>(op);
    for (OpResult result : op.getResults()) {
      if (!view) {
        storage[result] = wholeOf(result);
        continue;
      }
      FailureOr<int64_t> offset = view.getViewOffset(result.getResultNumber());
      if (failed(offset))
        return op.emitOpError("result #")
               << result.getResultNumber()
               << " isn't contiguous in the operand, so it can't be a view; "
                  "expected a kernel (echo-form-kernels makes them)";
      Storage source = storage.at(op.getOperand(0));
      storage[result] = {source.root, source.offset + *offset, bytesOf(result)};
    }
  }
  return success();
}

Storage HostStorage::wholeOf(Value root) const {
  return {root, 0, bytesOf(root)};
}

Storage HostStorage::lookup(Value value) const {
  Storage place = storage.at(value);
  for (auto it = homes.find(place.root); it != homes.end();
       it = homes.find(place.root))
    place = {it->second.root, it->second.offset + place.offset, place.bytes};
  return place;
}

bool HostStorage::isIdentity(unsigned index) const {
  if (!aliases[index])
    return false;
  Storage place = lookup(getReturn()->getOperand(index));
  return place.root == function.getArgument(*aliases[index]) &&
         place.offset == 0;
}

void HostStorage::findReads() {
  reads.clear();
  positions.clear();
  int64_t position = 0;
  Operation *returnOp = getReturn();
  for (Operation &op : function.getBody().front()) {
    positions[&op] = position;
    for (OpOperand &operand : op.getOpOperands()) {
      if (isa<BufferViewOpInterface>(op) ||
          (&op == returnOp && isIdentity(operand.getOperandNumber())))
        continue;
      Storage place = lookup(operand.get());
      reads[place.root].push_back({position, place.offset, place.end()});
    }
    ++position;
  }
}

int64_t HostStorage::lastRead(const Storage &storage) const {
  auto it = reads.find(storage.root);
  if (it == reads.end())
    return -1;
  for (const Read &read : llvm::reverse(it->second))
    if (read.begin < storage.end() && storage.offset < read.end)
      return read.position;
  return -1;
}

bool HostStorage::isReadAfter(const Storage &storage, int64_t position) const {
  auto it = reads.find(storage.root);
  if (it == reads.end())
    return false;
  for (const Read &read : llvm::reverse(it->second)) {
    if (read.position <= position)
      return false;
    if (read.begin < storage.end() && storage.offset < read.end)
      return true;
  }
  return false;
}

bool HostStorage::mayReuse(const Storage &storage, int64_t position,
                           int64_t lastRead) const {
  auto argument = dyn_cast<BlockArgument>(storage.root);
  bool inArena =
      argument ? !isPersistentArgument(function, argument.getArgNumber())
               : !getArgument(storage.root);
  if (!inArena || isReadAfter(storage, position))
    return false;
  Storage whole = wholeOf(storage.root);
  return storage == whole ||
         lastRead <=
             std::max(this->lastRead(whole), position + kMostExtension);
}

void HostStorage::sortReads(Value root) {
  llvm::sort(reads[root], [](const Read &a, const Read &b) {
    return std::tie(a.position, a.begin, a.end) <
           std::tie(b.position, b.begin, b.end);
  });
}

/// The caller sorts the reads.
void HostStorage::moveInto(Value root, const Storage &home) {
  homes[root] = home;
  auto it = reads.find(root);
  if (it == reads.end())
    return;
  SmallVector<Read, 2> moved = std::move(it->second);
  reads.erase(it);
  SmallVector<Read, 2> &target = reads[home.root];
  for (const Read &read : moved)
    target.push_back({read.position, home.offset + read.begin,
                      home.offset + read.end});
}

void HostStorage::placeSums() {
  for (Operation &op : function.getBody().front().without_terminator()) {
    auto call = dyn_cast<LibraryCallOpInterface>(op);
    std::optional<unsigned> accumulator =
        call ? call.getAccumulatorOperand() : std::nullopt;
    if (!accumulator || getArgument(op.getResult(0)))
      continue;
    Storage sum = lookup(op.getResult(0));
    Storage place = lookup(op.getOperand(*accumulator));
    // A factor must not change while the product is added up.
    bool isFactor = llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
      return operand.getOperandNumber() != *accumulator &&
             lookup(operand.get()).overlaps(place);
    });
    if (isFactor || !mayReuse(place, positionOf(&op), lastRead(sum)))
      continue;
    bool ordered =
        reads[place.root].empty() || reads[sum.root].empty() ||
        reads[place.root].back().position <= reads[sum.root].front().position;
    moveInto(sum.root, place);
    if (!ordered)
      sortReads(place.root);
  }
}

void HostStorage::placeParts() {
  int64_t end = positionOf(getReturn());
  // The outer of two nested concatenations first.
  for (Operation &op : llvm::reverse(function.getBody().front())) {
    auto join = dyn_cast<BufferJoinOpInterface>(op);
    if (!join || getArgument(op.getResult(0)))
      continue;
    Storage whole = lookup(op.getResult(0));
    int64_t wholeEnd = lastRead(whole);
    for (OpOperand &operand : op.getOpOperands()) {
      Storage part = lookup(operand.get());
      if (!isa<OpResult>(part.root) || part.root == whole.root ||
          getArgument(part.root) || !isWhole(part) ||
          isBehindBarrier(operand.get()))
        continue;
      // One that is read longer would keep the whole alive.
      int64_t partEnd = lastRead(part);
      if (partEnd > wholeEnd && partEnd > positionOf(&op))
        continue;
      if (partEnd == end)
        continue;
      int64_t offset = *join.getPartOffset(operand.getOperandNumber());
      moveInto(part.root, {whole.root, whole.offset + offset, part.bytes});
    }
    sortReads(whole.root);
  }
}

//===- EmbeddingGradKernel.cpp - The scattering kernel --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmbeddingGradKernel.h"
#include "KernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::echo;

LogicalResult mlir::echo::verifyEmbeddingGradKernel(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  auto op = dyn_cast<EmbeddingGradOp>(body.front());
  if (op && llvm::hasNItems(body, 2) &&
      isa<BlockArgument>(op.getIndices()) &&
      isa<BlockArgument>(op.getGradient()) &&
      llvm::equal(body.getTerminator()->getOperands(), op->getResults()))
    return success();
  return kernel.emitOpError(
      "expected echo.embedding_grad to be the only op of its kernel");
}

namespace {

class EmbeddingGradLowering {
public:
  EmbeddingGradLowering(EmbeddingGradOp op, KernelEmitter &emitter,
                        Block *entry)
      : emitter(emitter), loc(op.getLoc()),
        indices(entry->getArgument(
            cast<BlockArgument>(op.getIndices()).getArgNumber())),
        gradient(entry->getArgument(
            cast<BlockArgument>(op.getGradient()).getArgNumber())),
        result(entry->getArgument(
            op->getParentOfType<func::FuncOp>().getNumArguments())),
        positions(cast<RankedTensorType>(op.getIndices().getType())
                      .getNumElements()),
        columns(op.getResult().getType().getDimSize(1)),
        element(op.getResult().getType().getElementType()) {}

  void run(Value lower, Value upper) {
    fill(lower, upper);
    emitter.forLoop(index(0), index(positions), 1, [&](Value position) {
      Value row = rowOf(position);
      Value inside = make<arith::AndIOp>(
          compare(arith::CmpIPredicate::uge, row, lower),
          compare(arith::CmpIPredicate::ult, row, upper));
      if (element.isF32() || element.isF64())
        emitter.forLoop(index(0), select(inside, 1), 1,
                        [&](Value) { addRow(position, row); });
      else
        emitter.forLoop(index(0), select(inside, 1), 1,
                        [&](Value) { sumRow(position, row); });
    });
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
  /// `count` if the condition is true, else 0: the trip count of a branch.
  Value select(Value condition, int64_t count) {
    return make<arith::SelectOp>(condition, index(count), index(0));
  }
  Value rowOf(Value position) {
    Value value = make<memref::LoadOp>(indices, position);
    // Negative indices become large unsigned ones.
    return make<arith::IndexCastOp>(emitter.current().getIndexType(), value);
  }
  Value offset(Value row, Value column) {
    return make<arith::AddIOp>(make<arith::MulIOp>(row, index(columns)),
                               column);
  }
  Value load(Value buffer, Value position, int64_t width) {
    Value value;
    if (width == 1)
      value = make<memref::LoadOp>(buffer, position);
    else
      value = make<vector::LoadOp>(type(storedType(element), width), buffer,
                                   position);
    return emitter.fromStored(value, element);
  }
  void store(Value value, Value position, int64_t width) {
    value = emitter.toStored(value);
    if (width == 1)
      memref::StoreOp::create(emitter.current(), loc, value, result, position);
    else
      vector::StoreOp::create(emitter.current(), loc, value, result, position);
  }
  Type type(Type element, int64_t width) {
    return width == 1 ? element : Type(VectorType::get({width}, element));
  }
  Value zero(Type element, int64_t width) {
    Value scalar =
        emitter.constant(emitter.current().getZeroAttr(element));
    return emitter.toVector(scalar, width);
  }

  /// Vectors of neighbouring elements, then single ones.
  void overElements(Value lower, Value upper,
                    function_ref<void(Value, int64_t)> fill) {
    Value width = index(kVectorWidth);
    Value count = make<arith::SubIOp>(upper, lower);
    Value rest = make<arith::RemUIOp>(count, width);
    Value middle = make<arith::SubIOp>(upper, rest);
    emitter.forLoop(lower, middle, kVectorWidth,
                    [&](Value i) { fill(i, kVectorWidth); });
    emitter.forLoop(middle, upper, 1, [&](Value i) { fill(i, 1); }, true);
  }

  void fill(Value lower, Value upper) {
    // An empty range of rows counts as one that ends where it begins.
    Value last = make<arith::MaxUIOp>(lower, upper);
    overElements(offset(lower, index(0)), offset(last, index(0)),
                 [&](Value i, int64_t width) {
                   store(zero(element, width), i, width);
                 });
  }

  void addRow(Value position, Value row) {
    overElements(index(0), index(columns), [&](Value column, int64_t width) {
      Value target = offset(row, column);
      Value value = load(gradient, offset(position, column), width);
      store(make<arith::AddFOp>(load(result, target, width), value), target,
            width);
    });
  }

  /// Sums in f32 what the first position of an index and all later ones hold,
  /// and rounds once.
  void sumRow(Value position, Value row) {
    Value earlier = emitter
                        .foldLoop(index(0), position, 1, index(0),
                                  [&](Value other, ValueRange counts) {
                                    Value same = compare(
                                        arith::CmpIPredicate::eq,
                                        rowOf(other), row);
                                    return SmallVector<Value>{
                                        make<arith::AddIOp>(counts.front(),
                                                            select(same, 1))};
                                  })
                        .front();
    Value isFirst = compare(arith::CmpIPredicate::eq, earlier, index(0));
    Type wide = emitter.current().getF32Type();
    emitter.forLoop(index(0), select(isFirst, 1), 1, [&](Value) {
      overElements(index(0), index(columns), [&](Value column, int64_t width) {
        Value sum =
            emitter
                .foldLoop(
                    position, index(positions), 1, zero(wide, width),
                    [&](Value other, ValueRange sums) {
                      Value same = compare(arith::CmpIPredicate::eq,
                                           rowOf(other), row);
                      Value value = make<arith::ExtFOp>(
                          type(wide, width),
                          load(gradient, offset(other, column), width));
                      Value next =
                          make<arith::AddFOp>(sums.front(), value);
                      return SmallVector<Value>{make<arith::SelectOp>(
                          same, next, sums.front())};
                    })
                .front();
        store(make<arith::TruncFOp>(type(element, width), sum),
              offset(row, column), width);
      });
    });
  }

  KernelEmitter &emitter;
  Location loc;
  Value indices, gradient, result;
  int64_t positions, columns;
  Type element;
};

} // namespace

int64_t mlir::echo::lowerEmbeddingGrad(EmbeddingGradOp op,
                                       KernelEmitter &emitter, Block *entry) {
  int64_t rows = op.getRows(), columns = op.getResult().getType().getDimSize(1);
  if (rows == 0 || columns == 0)
    return 0;
  // Every chunk reads all indices, so there are fewer than elsewhere.
  const int64_t maxChunks = 64;
  int64_t wanted = std::min(
      maxChunks, llvm::divideCeilSigned(rows * columns, kChunkWork));
  int64_t rowsPerChunk = llvm::divideCeilSigned(rows, wanted);
  unsigned numArguments = entry->getNumArguments();
  auto boundary = [&](unsigned argument) -> Value {
    Value product = arith::MulIOp::create(
        emitter.current(), op.getLoc(), entry->getArgument(argument),
        emitter.constantIndex(rowsPerChunk));
    return arith::MinUIOp::create(emitter.current(), op.getLoc(), product,
                                  emitter.constantIndex(rows));
  };
  EmbeddingGradLowering(op, emitter, entry)
      .run(boundary(numArguments - 2), boundary(numArguments - 1));
  return llvm::divideCeilSigned(rows, rowsPerChunk);
}

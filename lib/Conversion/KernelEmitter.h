//===- KernelEmitter.h - Evaluates kernel values at an index ----*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Given loops over an iteration space, the emitter writes the code for one
// element (or one vector of neighbouring elements) of any tensor in a kernel
// of linalg ops: producers are computed where they are read, and every value
// is computed in the outermost loop that its index needs, once. No tensor
// becomes a buffer.
//
// An index is an affine map whose dimensions stand for loops. A dimension with
// a width above 1 stands for that many neighbouring iterations: values whose
// index depends on it are vectors.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_CONVERSION_KERNELEMITTER_H
#define ECHO_LIB_CONVERSION_KERNELEMITTER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <deque>
#include <map>
#include <optional>

namespace mlir::echo {

/// Rows of up to so many elements stay with the threads of a warp.
inline constexpr int64_t kHeldRow = 512;

/// Elements that a vector of kernel values has.
inline constexpr int64_t kVectorWidth = 8;
/// Loop dimensions that a kernel may have in all: they are numbered and never
/// used twice.
inline constexpr unsigned kMaxDims = 1 << 20;

/// What memory holds for an element type: i8 for i1, and i16 for bf16, whose
/// vectors the LLVM back end doesn't move around without converting them.
Type storedType(Type element);

/// A sum of dimensions times coefficients, and a constant.
struct LinearForm {
  /// Nothing if `expr` isn't such a sum.
  static std::optional<LinearForm> of(AffineExpr expr);
  int64_t at(unsigned dim) const {
    auto it = coefficients.find(dim);
    return it == coefficients.end() ? 0 : it->second;
  }

  std::map<unsigned, int64_t> coefficients;
  int64_t constant = 0;
};

/// The reduction of a linalg.generic over one group of adjacent dimensions.
struct Reduction {
  /// The reduction that `generic` is, if it has reduction iterators.
  static std::optional<Reduction> match(linalg::GenericOp generic);

  linalg::GenericOp generic;
  int64_t first = 0, last = 0; ///< reduced dimensions of the operand
  int64_t reduced = 1;         ///< number of reduced elements
  int64_t inner = 1;           ///< product of the dimensions after them
  bool isTree = false; ///< one result: the order of ReductionTree.h, else in
                       ///< order
  /// Two results, the second of which is the place of the first: each of two
  /// elements and their places can be taken first, if the lower place is.
  bool hasPlace = false;
  /// True if lanes run along the reduced elements.
  bool isRow() const { return inner == 1; }
};

/// Threads of a GPU that compute rows of a kernel together, and the thread that
/// runs.
struct ThreadTeam {
  enum class Kind {
    Thread, ///< one thread
    Warp,   ///< the lanes of a warp
    Block,  ///< the threads of a block
    Tile,   ///< threads of a block that write elements which others read
    Column  ///< threads of a block that hold others for the rows beside it
  };
  /// Lets a warp's threads wait for each other, or those of a block where others
  /// than a warp's work together.
  void synchronize(OpBuilder &b, Location loc) const;

  Kind kind = Kind::Thread;
  int64_t size = 1;  ///< threads in the team
  int64_t teams = 1; ///< teams in a block
  Value lane;        ///< the thread's number in its team
  Value number;      ///< the team's number in its block
  Value warpLane;    ///< the thread's number in its warp
};

/// `map` as an index over kMaxDims dimensions.
AffineMap indexMap(ArrayRef<AffineExpr> exprs, MLIRContext *context);
/// `map` of an op's loops, as an index where `index` gives the loops. In time
/// linear in the results; AffineMap::compose is linear in kMaxDims.
AffineMap composeIndex(AffineMap map, AffineMap index);
/// The row-major offset of an index.
AffineExpr linearize(AffineMap index, ArrayRef<int64_t> shape);
/// The operand's index for a reduction's result index and the number of a
/// reduced element.
AffineMap operandIndex(const Reduction &reduction, AffineMap index,
                       AffineExpr reduced);
/// Dimensions that occur in an index or expression.
void collectDims(AffineExpr expr, llvm::SmallDenseSet<unsigned> &dims);
void collectDims(AffineMap index, llvm::SmallDenseSet<unsigned> &dims);
/// Where `index` of a slice lies in its source; `dynamicOffset` gives the
/// offsets that aren't static.
AffineMap sliceSource(tensor::ExtractSliceOp slice, AffineMap index,
                      function_ref<AffineExpr(Value)> dynamicOffset);
/// Where `index` of a reshape's result lies in its source.
AffineMap reshapeSource(Operation *reshape, AffineMap index);

class KernelEmitter {
public:
  /// Emits into `entry`, a block whose argument i is the buffer of argument i
  /// of `kernel`, if that is a tensor. The block's arguments from
  /// `firstParameter` on are the bits of the others.
  KernelEmitter(func::FuncOp kernel, Block *entry, unsigned firstParameter);

  /// Says that the entry block is a GPU function's, for which team code is
  /// emitted from here on. Scopes that all threads of a team run together have
  /// to be marked as uniform: there a reduction is the team's, elsewhere it is
  /// the thread's own.
  void setTeam(const ThreadTeam &newTeam) { team = newTeam; }
  const ThreadTeam &getTeam() const { return *team; }
  void markUniform() { scopes[target].isUniform = true; }
  /// Says that the start of a buffer lies at a multiple of `bytes`.
  void setAlignment(Value buffer, uint64_t bytes) {
    alignments[buffer] = bytes;
  }

  /// A loop (or other region) that is being filled.
  struct Scope {
    Scope(Block *block, Operation *before) : block(block), before(before) {}

    Block *block;
    Operation *before; ///< ops go before this one; null: at the end
    bool isUniform = false; ///< the threads of a team are in it together
    llvm::DenseMap<std::pair<Value, AffineMap>, Value> values;
    /// heldPositions() by the size of the row.
    llvm::DenseMap<int64_t, SmallVector<unsigned>> held;
  };

  /// Starts other loops, which number their dimensions anew: setDim() is
  /// called for the first `numDims`.
  void beginGroup(unsigned numDims = 0);

  /// The builder, set to the scope that is being filled.
  OpBuilder &current() { return at(target); }
  /// A new dimension whose value is known in the current scope.
  unsigned addDim(Value base, int64_t width = 1);
  /// Gives a dimension another value, in the current scope. `last` is the
  /// dimension itself, or the last of several that one loop counts through:
  /// offsets are made with the coefficient of the last.
  void setDim(unsigned dim, Value base, int64_t width, unsigned last);

  /// True if each lane of a warp takes as many elements of a row of this size,
  /// and few.
  bool isHeldRow(int64_t size) const;
  /// The dimensions of a lane's elements in such a row, in the current scope:
  /// what is known at them is computed once for all that the warp does with the
  /// row.
  SmallVector<unsigned> heldPositions(int64_t size);

  /// Fills a loop from lower to upper with step `step`; `isRemainder` says
  /// that it isn't worth unrolling or vectorizing. `finish` adds ops in front
  /// of the loop, behind all that its body needed there.
  void forLoop(Value lower, Value upper, int64_t step,
               function_ref<void(Value)> fill, bool isRemainder = false,
               function_ref<void()> finish = nullptr);
  /// The same with another step, and nothing that its body needs is computed
  /// outside of it.
  void closedLoop(Value lower, Value upper, Value step,
                  function_ref<void(Value)> fill);
  /// Fills what is run under a condition.
  void guarded(Value condition, function_ref<void()> fill);
  /// The same with values carried around; `fill` returns the next ones.
  SmallVector<Value>
  foldLoop(Value lower, Value upper, int64_t step, ValueRange inits,
           function_ref<SmallVector<Value>(Value, ValueRange)> fill);

  /// The element (or vector) of `tensor` at `index`.
  Value emit(Value tensor, AffineMap index);
  /// Says what that is, in the current scope.
  void define(Value tensor, AffineMap index, Value value) {
    scopes[target].values[{tensor, index}] = value;
  }
  /// Stores a value at an offset of a buffer; vectors at neighbouring offsets.
  void store(Value buffer, AffineExpr offset, Value value, int64_t width);
  /// The sum of `value` and what a buffer holds at an offset, or of `value`
  /// alone where `position` is 0: the next of the sums that `reduction` is.
  Value emitAccumulation(const Reduction &reduction, AffineExpr position,
                         Value buffer, AffineExpr offset, Value value,
                         int64_t width);
  /// The value of an expression of dimensions (of the first lane's).
  Value materialize(AffineExpr expr);
  Value constantIndex(int64_t value);
  Value constant(TypedAttr value);
  /// A buffer of the entry block, for a reduction's lanes.
  Value stackBuffer(Type element, int64_t size);
  /// A new buffer that a block's threads share.
  Value addSharedBuffer(Type element, int64_t size);
  /// The `number`-th one of a type and size that its users have one after the
  /// other; they wait for each other's reads.
  Value sharedBuffer(Type element, int64_t size, unsigned number = 0);
  bool hasSharedBuffer(Type element, int64_t size, unsigned number) const {
    return sharedBuffers.count({element, size, number}) != 0;
  }
  /// What a block's threads share already, in bytes.
  int64_t sharedBytes() const;
  Value load(Value buffer, AffineExpr offset, Type element);
  Value toVector(Value value, int64_t width);
  /// A loaded scalar or vector as one of `element`, and the way back.
  Value fromStored(Value value, Type element);
  Value toStored(Value value);

  Location getLoc() const { return loc; }
  /// Elements of constants, by index; buffers of them are get_global ops.
  ArrayRef<Attribute> getConstants() const { return constants; }

private:
  OpBuilder &at(size_t scope);
  size_t scopeOf(AffineMap index) const;
  /// Fills a new loop in the current scope.
  void fillLoop(scf::ForOp loop, function_ref<void(Value)> fill,
                function_ref<void()> finish = nullptr);
  /// Runs `fill` with a new innermost scope.
  void inScope(Block *block, Operation *before, function_ref<void()> fill);
  int64_t widthOf(AffineMap index) const;
  /// Where a vector at an offset is known to lie, for one memory access of a
  /// GPU: vector loops start at multiples of their width.
  llvm::MaybeAlign alignmentOf(Value buffer, AffineExpr offset,
                               unsigned dim) const;
  /// The vector dimension of an expression, if it has one.
  std::optional<unsigned> vectorDimOf(AffineExpr expr) const;
  /// Runs `fill` for every lane, with the dimension set to that lane, and
  /// makes a vector of what it returns.
  Value emitLanes(unsigned dim, function_ref<Value()> fill);
  /// The value of an index expression, a vector if it depends on one.
  Value emitIndex(AffineExpr expr);

  SmallVector<Value> compute(Value tensor, AffineMap index);
  SmallVector<Value> emitGeneric(linalg::GenericOp generic, AffineMap index);
  SmallVector<Value> emitBody(Block *body, ValueRange arguments,
                              ArrayRef<AffineExpr> indices);
  Value emitExtract(tensor::ExtractOp extract, ValueRange indices,
                    ArrayRef<AffineExpr> exprs);
  Value emitConcat(tensor::ConcatOp concat, AffineMap index);
  Value emitPad(tensor::PadOp pad, AffineMap index);
  Value emitGuarded(Value condition, Type type, function_ref<Value()> inside,
                    function_ref<Value()> outside);
  Value emitConstant(arith::ConstantOp constant, AffineMap index);
  /// The value of a scalar outside the bodies of ops: a constant or parameter.
  Value emitScalar(Value scalar);

  // KernelReductions.cpp
  SmallVector<Value> emitReduction(const Reduction &reduction,
                                   AffineMap index);
  Value emitRowTree(const Reduction &reduction, AffineMap index, Value init);
  SmallVector<Value> emitFold(const Reduction &reduction, AffineMap index,
                              ValueRange inits);
  SmallVector<Value> combine(const Reduction &reduction, AffineMap operand,
                             ValueRange accumulators, Value element);
  Value emitOperand(const Reduction &reduction, AffineMap operand);
  /// Elements first, first + step, ... below `size`, added to the initial
  /// values in order.
  SmallVector<Value> foldElements(const Reduction &reduction, AffineMap index,
                                  Value first, Value size, int64_t step,
                                  ValueRange inits);

  // ThreadReductions.cpp
  Value emitThreadRow(const Reduction &reduction, AffineMap index, Value init);
  Value emitUnrolledRow(const Reduction &reduction, AffineMap index,
                        Value init);
  /// The tree over `size` elements; `sumLane(lane, step)` adds up those of a
  /// lane: elements lane, lane + step, ...
  Value emitThreadTree(const Reduction &reduction, int64_t size, Value init,
                       function_ref<Value(Value, int64_t)> sumLane);
  bool isTeamRow(const Reduction &reduction) const;
  SmallVector<Value> emitTeamRow(const Reduction &reduction, AffineMap index,
                                 ValueRange inits);
  /// The elements from `base` on, `size` of them; null: from 0 on.
  SmallVector<Value> emitTeamPart(const Reduction &reduction, AffineMap index,
                                  ValueRange inits, Value base, int64_t size);
  SmallVector<Value> emitTeamTree(const Reduction &reduction, AffineMap index,
                                  int64_t lanes, SmallVector<Value> values);
  /// The thread's place among `lanes` of its team.
  Value teamLane(int64_t lanes) const;
  bool isTeamColumn(const Reduction &reduction) const;
  Value emitTeamColumn(const Reduction &reduction, AffineMap index, Value init);
  /// The value of the lane whose number differs in bit `mask`.
  Value shuffle(Value value, int64_t mask);
  Value combineTwo(const Reduction &reduction, Value lower, Value upper) {
    return combine(reduction, AffineMap(), lower, upper).front();
  }
  /// What two threads hold, of a row at `index`.
  SmallVector<Value> combineLanes(const Reduction &reduction, AffineMap index,
                                  ValueRange lower, ValueRange upper);

  struct Dim {
    Value base;
    int64_t width;
    size_t scope;
    unsigned last; ///< itself, or the last dimension of its loop
  };

  OpBuilder builder;
  Location loc;
  Block *entry;
  std::optional<ThreadTeam> team;
  llvm::DenseMap<std::tuple<Type, int64_t, unsigned>, Value> sharedBuffers;
  llvm::DenseMap<Value, uint64_t> alignments;
  SmallVector<Dim> dims;
  /// Deque: references stay valid while scopes are added.
  std::deque<Scope> scopes;
  size_t target = 0; ///< the scope that is being filled
  size_t floor = 0;  ///< nothing is emitted outside this scope
  SmallVector<Attribute> constants;
  std::string constantPrefix;
  llvm::DenseMap<Value, Value> constantBuffers;
  llvm::DenseMap<Value, Value> parameters;
  llvm::DenseMap<Value, unsigned> offsetDims; ///< of dynamic slices
};

} // namespace mlir::echo

#endif // ECHO_LIB_CONVERSION_KERNELEMITTER_H

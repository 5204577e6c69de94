//===- GroupLowering.cpp - What the targets' kernels share ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupLowering.h"
#include "EmbeddingGradKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::echo;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void GroupLowering::runChunks(Value lower, Value upper) {
  if (group.columnChunks == 1) {
    rows(scaled(lower, group.rowsPerChunk),
         limited(upper, group.rowsPerChunk, group.rows), Value(), Value());
    return;
  }
  int64_t columns = group.loops[group.numRowLoops].size;
  if (group.rowChunks == 1) {
    rows(index(0), index(group.rows), scaled(lower, group.columnsPerChunk),
         limited(upper, group.columnsPerChunk, columns));
    return;
  }
  emitter.forLoop(lower, upper, 1, [&](Value chunk) {
    OpBuilder &b = emitter.current();
    Location loc = emitter.getLoc();
    Value count = index(group.columnChunks);
    Value row = arith::DivUIOp::create(b, loc, chunk, count);
    Value column = arith::RemUIOp::create(b, loc, chunk, count);
    rows(scaled(row, group.rowsPerChunk),
         limited(next(row), group.rowsPerChunk, group.rows),
         scaled(column, group.columnsPerChunk),
         limited(next(column), group.columnsPerChunk, columns));
  });
}

Value GroupLowering::next(Value value) {
  return arith::AddIOp::create(emitter.current(), emitter.getLoc(), value,
                               index(1));
}

Value GroupLowering::scaled(Value value, int64_t factor) {
  return arith::MulIOp::create(emitter.current(), emitter.getLoc(), value,
                               index(factor));
}

Value GroupLowering::limited(Value value, int64_t factor, int64_t limit) {
  Value product = scaled(value, factor);
  return arith::MinUIOp::create(emitter.current(), emitter.getLoc(), product,
                                index(limit));
}

void GroupLowering::setLoop(const Loop &loop, Value position, int64_t width) {
  for (unsigned dim : loop.dims)
    emitter.setDim(dim, position, width, loop.dims.back());
}

void GroupLowering::setLoops(ArrayRef<Loop> loops, Value position,
                             int64_t width) {
  OpBuilder &b = emitter.current();
  Location loc = emitter.getLoc();
  for (size_t i = loops.size(); i-- > 0;) {
    const Loop &loop = loops[i];
    if (i == 0) {
      setLoop(loop, position, width);
      break;
    }
    Value size = index(loop.size);
    setLoop(loop, arith::RemUIOp::create(b, loc, position, size), width);
    position = arith::DivUIOp::create(b, loc, position, size);
    width = 1;
  }
}

void GroupLowering::row(Value position, Value lower, Value upper) {
  setLoops(ArrayRef(group.loops).take_front(group.numRowLoops), position, 1);
  inner(group.numRowLoops, lower, upper, 1);
}

void GroupLowering::rows(Value first, Value last, Value lower, Value upper) {
  emitter.forLoop(first, last, 1,
                  [&](Value position) { row(position, lower, upper); });
}

void GroupLowering::inner(unsigned level, Value lower, Value upper,
                          int64_t width) {
  write(level, width);
  if (level == group.loops.size())
    return;
  const Loop &loop = group.loops[level];
  auto run = [&](Value lower, Value upper, int64_t loopWidth,
                 bool isRemainder) {
    emitter.forLoop(
        lower, upper, loopWidth,
        [&](Value position) {
          setLoop(loop, position, loopWidth);
          inner(level + 1, Value(), Value(), loop.isVector ? loopWidth : width);
        },
        isRemainder);
  };
  bool isWhole = !lower;
  if (isWhole) {
    lower = index(0);
    upper = index(loop.size);
  }
  if (!loop.isVector)
    return run(lower, upper, 1, false);
  // Wide vectors, vectors, and single elements for what is left. Column
  // reductions walk down their rows with several vectors at once.
  SmallVector<int64_t> widths = {kVectorWidth, 1};
  if (group.hasColumnReduction && loop.size >= 4 * kVectorWidth)
    widths.insert(widths.begin(), 4 * kVectorWidth);
  int64_t done = 0;
  for (int64_t width : widths) {
    int64_t end = loop.size / width * width;
    if (end == done)
      continue;
    // All chunks of columns but the last have a multiple of every width.
    Value limit =
        isWhole ? index(end)
                : Value(arith::MinUIOp::create(
                      emitter.current(), emitter.getLoc(), upper, index(end)));
    Value begin =
        isWhole ? index(done)
                : Value(arith::MaxUIOp::create(
                      emitter.current(), emitter.getLoc(), lower, index(done)));
    run(begin, limit, width, width == 1);
    done = end;
  }
}

void GroupLowering::write(unsigned level, int64_t width) {
  store(valuesOf([&](const Box &box) { return box.level == level; }), width);
}

AffineExpr GroupLowering::withOther(AffineExpr expr, OtherDim other) {
  if (!other)
    return expr;
  MLIRContext *context = expr.getContext();
  return expr.replace(getAffineDimExpr(other->first, context),
                      getAffineDimExpr(other->second, context));
}

GroupLowering::BoxValues
GroupLowering::valuesOf(function_ref<bool(const Box &)> isIncluded,
                        OtherDim other) {
  BoxValues values;
  MLIRContext *context = emitter.current().getContext();
  for (const Box &box : group.boxes) {
    if (!isIncluded(box))
      continue;
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : group.indexOf(box, context).getResults())
      exprs.push_back(withOther(expr, other));
    values.push_back(
        {&box, emitter.emit(box.tensor, indexMap(exprs, context))});
  }
  return values;
}

void GroupLowering::store(const BoxValues &values, int64_t width,
                          OtherDim other) {
  MLIRContext *context = emitter.current().getContext();
  for (auto [box, value] : values) {
    AffineExpr offset = withOther(
        group.offsetOf(*box, outputTypes[box->output].getShape(), context),
        other);
    if (box->accumulated)
      value = emitter.emitAccumulation(
          *box->accumulated,
          withOther(group.reducedPosition(*box, context), other),
          outputs[box->output], offset, value, width);
    emitter.store(outputs[box->output], offset, value, width);
  }
}

//===----------------------------------------------------------------------===//
// Kernel functions
//===----------------------------------------------------------------------===//

LogicalResult mlir::echo::verifyKernel(func::FuncOp kernel) {
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitOpError("expected a kernel of one block");
  ArrayRef<Type> inputs =
      kernel.getArgumentTypes().take_while(llvm::IsaPred<TensorType>);
  for (Type type : kernel.getArgumentTypes().drop_front(inputs.size()))
    if (!type.isIntOrIndexOrFloat() ||
        (!type.isIndex() && type.getIntOrFloatBitWidth() > 64))
      return kernel.emitOpError("expected parameters of at most 64 bits behind "
                                "the tensors, found ")
             << type;
  for (Type type : llvm::concat<const Type>(inputs, kernel.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return kernel.emitOpError("expected tensors of static shape, found ")
             << type;
  }
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<EmbeddingGradOp>(op)) {
      if (failed(verifyEmbeddingGradKernel(kernel)))
        return failure();
      continue;
    }
    if (!isa<linalg::GenericOp, linalg::FillOp, arith::ConstantOp,
             tensor::EmptyOp, tensor::ExtractOp, tensor::ExtractSliceOp,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ConcatOp,
             tensor::PadOp, tensor::SplatOp>(op))
      return op.emitOpError("isn't expected in a kernel that is lowered");
  }
  return success();
}

static MemRefType bufferType(RankedTensorType type) {
  return MemRefType::get({type.getNumElements()},
                         storedType(type.getElementType()));
}

SmallVector<Type> mlir::echo::bufferSignature(func::FuncOp kernel) {
  SmallVector<Type> types, parameters;
  for (Type type : kernel.getArgumentTypes()) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      types.push_back(bufferType(tensor));
    else
      parameters.push_back(IntegerType::get(kernel.getContext(), 64));
  }
  for (RankedTensorType type : outputTypes(kernel))
    types.push_back(bufferType(type));
  llvm::append_range(types, parameters);
  return types;
}

SmallVector<RankedTensorType> mlir::echo::outputTypes(func::FuncOp kernel) {
  return llvm::map_to_vector(kernel.getResultTypes(),
                             llvm::CastTo<RankedTensorType>);
}

void mlir::echo::createGlobals(OpBuilder &b, Location loc, StringRef kernel,
                               ArrayRef<Attribute> constants) {
  for (auto [index, constant] : llvm::enumerate(constants)) {
    auto value = cast<DenseElementsAttr>(constant);
    std::string name = (kernel + "_constant_" + Twine(index)).str();
    auto type =
        MemRefType::get(value.getType().getShape(), value.getElementType());
    memref::GlobalOp::create(b, loc, name, b.getStringAttr("private"), type,
                             value, /*constant=*/true,
                             b.getI64IntegerAttr(kConstantAlignment));
  }
}

namespace {

/// Moves bf16 values around as integers.
struct MoveBits : public RewritePattern {
  explicit MoveBits(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  static bool isBFloat16(Type type) {
    return getElementTypeOrSelf(type).isBF16();
  }
  static Type bitsOf(Type type) {
    Type bits = IntegerType::get(type.getContext(), 16);
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(bits);
    return bits;
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<arith::SelectOp, vector::BroadcastOp, vector::ExtractOp,
             vector::FromElementsOp, vector::ShuffleOp>(op) ||
        !isBFloat16(op->getResult(0).getType()))
      return rewriter.notifyMatchFailure(op, "doesn't move bf16 values");
    Location loc = op->getLoc();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          isBFloat16(operand.getType())
              ? arith::BitcastOp::create(rewriter, loc,
                                         bitsOf(operand.getType()), operand)
              : operand);
    Type type = op->getResult(0).getType();
    OperationState state(loc, op->getName());
    state.addOperands(operands);
    state.addTypes(bitsOf(type));
    state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
    state.propertiesAttr = op->getPropertiesAsAttribute();
    Operation *moved = rewriter.create(state);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type,
                                                  moved->getResult(0));
    return success();
  }
};

/// Widens bf16 to f64 by way of f32, which upstream writes with integer ops.
struct WidenByF32 : public OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!getElementTypeOrSelf(from).isBF16() ||
        !getElementTypeOrSelf(to).isF64())
      return rewriter.notifyMatchFailure(op, "isn't from bf16 to f64");
    Type single = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(to))
      single = vector.clone(single);
    Value value =
        arith::ExtFOp::create(rewriter, op.getLoc(), single, op.getIn());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, to, value);
    return success();
  }
};

} // namespace

void mlir::echo::expandBFloat16(Operation *kernel) {
  // A walk doesn't see what it writes.
  RewritePatternSet widening(kernel->getContext());
  widening.add<WidenByF32>(kernel->getContext());
  walkAndApplyPatterns(kernel, std::move(widening));
  RewritePatternSet patterns(kernel->getContext());
  arith::populateExpandBFloat16Patterns(patterns);
  patterns.add<MoveBits>(kernel->getContext());
  walkAndApplyPatterns(kernel, std::move(patterns));
}

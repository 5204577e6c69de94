//===- LowerKernels.cpp - Kernels as loops over chunks --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CPU's form of a kernel. KernelPlan says which loops write the outputs and
// how they are cut into chunks; KernelEmitter writes what is computed in them:
//
//   func.func private @k(%x: tensor<64x512xf32>) -> tensor<64x512xf32>
//   =>
//   func.func private @k(%x: memref<32768xf32>, %y: memref<32768xf32>,
//                        %begin: index, %end: index)
//       attributes {echo.chunks = 2 : i64, echo.kernel} {
//     ... scf.for with vector.load, arith ops, vector.store
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/Kernels.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "EmbeddingGradKernel.h"
#include "KernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Threading.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOLOWERKERNELSPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

namespace {

/// Writes the loops of one group.
class GroupLowering {
public:
  GroupLowering(KernelEmitter &emitter, const BoxGroup &group,
                ArrayRef<RankedTensorType> outputTypes, ValueRange outputs)
      : emitter(emitter), group(group), outputTypes(outputTypes),
        outputs(outputs) {}

  /// Chunks lower to upper, which lie in 0 .. group.chunks().
  void run(Value lower, Value upper) {
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

private:
  Value index(int64_t value) { return emitter.constantIndex(value); }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(emitter.current(), emitter.getLoc(), lhs, rhs);
  }
  Value next(Value value) { return add(value, index(1)); }
  Value scaled(Value value, int64_t factor) {
    return arith::MulIOp::create(emitter.current(), emitter.getLoc(), value,
                                 index(factor));
  }
  Value limited(Value value, int64_t factor, int64_t limit) {
    Value product = scaled(value, factor);
    return arith::MinUIOp::create(emitter.current(), emitter.getLoc(), product,
                                  index(limit));
  }

  void setLoop(const Loop &loop, Value position, int64_t width) {
    for (unsigned dim : loop.dims)
      emitter.setDim(dim, position, width, loop.dims.back());
  }

  /// Loops over rows; columns lower to upper, or all of them.
  void rows(Value lower, Value upper, Value columnLower, Value columnUpper) {
    emitter.forLoop(lower, upper, 1, [&](Value row) {
      OpBuilder &b = emitter.current();
      Location loc = emitter.getLoc();
      for (unsigned i = group.numRowLoops; i-- > 0;) {
        const Loop &loop = group.loops[i];
        if (i == 0) {
          setLoop(loop, row, 1);
          break;
        }
        Value size = index(loop.size);
        setLoop(loop, arith::RemUIOp::create(b, loc, row, size), 1);
        row = arith::DivUIOp::create(b, loc, row, size);
      }
      inner(group.numRowLoops, columnLower, columnUpper, 1);
    });
  }

  /// The loops from `level` on. `width` is that of the vector loop around.
  void inner(unsigned level, Value lower, Value upper, int64_t width) {
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
            inner(level + 1, Value(), Value(),
                  loop.isVector ? loopWidth : width);
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
      Value limit = isWhole ? index(end)
                            : Value(arith::MinUIOp::create(
                                  emitter.current(), emitter.getLoc(), upper,
                                  index(end)));
      Value begin = isWhole ? index(done)
                            : Value(arith::MaxUIOp::create(
                                  emitter.current(), emitter.getLoc(), lower,
                                  index(done)));
      run(begin, limit, width, width == 1);
      done = end;
    }
  }

  /// Writes the boxes of a level: all values are known before the first is
  /// stored, since an output may be the buffer of an input.
  void write(unsigned level, int64_t width) {
    SmallVector<std::pair<const Box *, Value>> values;
    MLIRContext *context = emitter.current().getContext();
    for (const Box &box : group.boxes)
      if (box.level == level)
        values.push_back(
            {&box, emitter.emit(box.tensor, group.indexOf(box, context))});
    for (auto [box, value] : values) {
      AffineExpr offset = group.offsetOf(
          *box, outputTypes[box->output].getShape(), context);
      if (box->accumulated)
        value = emitter.emitAccumulation(
            *box->accumulated, group.reducedPosition(*box, context),
            outputs[box->output], offset, value, width);
      emitter.store(outputs[box->output], offset, value, width);
    }
  }

  KernelEmitter &emitter;
  const BoxGroup &group;
  ArrayRef<RankedTensorType> outputTypes;
  ValueRange outputs;
};

} // namespace

static MemRefType bufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get({tensor.getNumElements()},
                         storedType(tensor.getElementType()));
}

/// What kernels are made of before they are lowered.
static LogicalResult verifyKernel(func::FuncOp kernel) {
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

LogicalResult mlir::echo::lowerKernel(func::FuncOp kernel) {
  if (failed(verifyKernel(kernel)))
    return failure();
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  OpBuilder b(context);
  SmallVector<Type> types;
  SmallVector<RankedTensorType> outputTypes;
  for (Type type : kernel.getArgumentTypes())
    if (isa<TensorType>(type))
      types.push_back(bufferType(type));
  size_t numInputs = types.size();
  for (Type type : kernel.getResultTypes()) {
    types.push_back(bufferType(type));
    outputTypes.push_back(cast<RankedTensorType>(type));
  }
  size_t firstParameter = types.size();
  types.append(kernel.getNumArguments() - numInputs, b.getI64Type());
  types.append(2, b.getIndexType());

  Region body;
  Block &entry = body.emplaceBlock();
  entry.addArguments(types, SmallVector<Location>(types.size(), loc));
  ValueRange outputs =
      ValueRange(entry.getArguments()).slice(numInputs, outputTypes.size());
  Value begin = entry.getArgument(types.size() - 2);
  Value end = entry.getArgument(types.size() - 1);

  KernelEmitter emitter(kernel, &entry, firstParameter);
  int64_t chunks = 0;
  auto gradients = kernel.getBody().getOps<EmbeddingGradOp>();
  if (!gradients.empty()) {
    chunks = lowerEmbeddingGrad(*gradients.begin(), emitter, &entry);
  } else {
    std::vector<BoxGroup> groups = planKernel(kernel);
    for (const BoxGroup &group : groups) {
      emitter.beginGroup();
      Value lower = begin, upper = end;
      if (groups.size() != 1) {
        // The part of the range that is this group's, counted from its first.
        Value first = emitter.constantIndex(chunks);
        Value last = emitter.constantIndex(chunks + group.chunks());
        auto clamp = [&](Value value) -> Value {
          value = arith::MaxUIOp::create(emitter.current(), loc, value, first);
          value = arith::MinUIOp::create(emitter.current(), loc, value, last);
          return arith::SubIOp::create(emitter.current(), loc, value, first);
        };
        lower = clamp(begin);
        upper = clamp(end);
      }
      GroupLowering(emitter, group, outputTypes, outputs).run(lower, upper);
      chunks += group.chunks();
    }
  }
  func::ReturnOp::create(emitter.current(), loc);

  kernel.getBody().getBlocks().clear();
  kernel.getBody().takeBody(body);
  kernel.setFunctionType(b.getFunctionType(types, {}));
  kernel.removeArgAttrsAttr();
  kernel.removeResAttrsAttr();
  kernel->setAttr(kChunksAttr, b.getI64IntegerAttr(chunks));
  if (!emitter.getConstants().empty())
    kernel->setAttr(kConstantsAttr, b.getArrayAttr(emitter.getConstants()));
  return success();
}

/// Turns a kernel's constants into globals of the module.
static void createGlobals(func::FuncOp kernel) {
  auto constants = kernel->getAttrOfType<ArrayAttr>(kConstantsAttr);
  if (!constants)
    return;
  kernel->removeAttr(kConstantsAttr);
  OpBuilder b(kernel);
  for (auto [index, value] :
       llvm::enumerate(constants.getAsRange<DenseElementsAttr>())) {
    std::string name =
        (kernel.getName() + "_constant_" + Twine(index)).str();
    auto type = MemRefType::get(value.getType().getShape(),
                                value.getElementType());
    memref::GlobalOp::create(b, kernel.getLoc(), name,
                             b.getStringAttr("private"), type, value,
                             /*constant=*/true, /*alignment=*/nullptr);
  }
}

namespace {

struct EchoLowerKernelsPass
    : public echo::impl::EchoLowerKernelsPassBase<EchoLowerKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (func::FuncOp kernel : kernelFunctions(getOperation()))
      if (!kernel->hasAttr(kChunksAttr))
        kernels.push_back(kernel);
    if (failed(failableParallelForEach(&getContext(), kernels, lowerKernel)))
      return signalPassFailure();
    for (func::FuncOp kernel : kernels)
      createGlobals(kernel);
  }
};

} // namespace

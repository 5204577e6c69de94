//===- BufferForms.cpp - Views, library calls and buffer ops --------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::echo;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

FailureOr<int64_t> ReshapeOp::getViewOffset(unsigned index) {
  if (failed(echo::detail::typeBytes(getOperand().getType())) ||
      failed(echo::detail::typeBytes(getType())))
    return failure();
  return 0;
}

FailureOr<int64_t> OptimizationBarrierOp::getViewOffset(unsigned index) {
  if (!isa<RankedTensorType>(getOperand().getType()) ||
      failed(echo::detail::typeBytes(getOperand().getType())))
    return failure();
  return 0;
}

/// Bytes of an element of a type that echo::detail::typeBytes knows.
static int64_t elementBytes(ShapedType type) {
  return (type.getElementType().getIntOrFloatBitWidth() + 7) / 8;
}

FailureOr<int64_t> SliceOp::getViewOffset(unsigned index) {
  RankedTensorType source = getOperand().getType();
  if (failed(echo::detail::typeBytes(source)) ||
      failed(echo::detail::typeBytes(getType())))
    return failure();
  if (getType().getNumElements() == 0)
    return 0;
  // Contiguous: ones, then a range of one dimension, then full dimensions.
  int64_t offset = 0, pitch = elementBytes(source);
  bool innerIsFull = true;
  for (int64_t d = source.getRank() - 1; d >= 0; --d) {
    int64_t size = getSizes()[d];
    if (size != 1 && (getStrides()[d] != 1 || !innerIsFull))
      return failure();
    innerIsFull &= size == source.getDimSize(d);
    offset += getOffsets()[d] * pitch;
    pitch *= source.getDimSize(d);
  }
  return offset;
}

FailureOr<int64_t> SplitOp::getViewOffset(unsigned index) {
  RankedTensorType source = getOperand().getType();
  FailureOr<uint64_t> bytes = echo::detail::typeBytes(source);
  if (failed(bytes))
    return failure();
  if (getNumResults() == 1 || *bytes == 0)
    return 0;
  for (int64_t d = 0; d < static_cast<int64_t>(getAxis()); ++d)
    if (source.getDimSize(d) != 1)
      return failure();
  return static_cast<int64_t>(*bytes / getNumResults() * index);
}

/// The last part's offset follows from all the others' sizes.
bool ConcatOp::hasPartOffsets() {
  return getInputs().empty() || succeeded(getPartOffset(getInputs().size() - 1));
}

FailureOr<int64_t> ConcatOp::getPartOffset(unsigned index) {
  FailureOr<uint64_t> bytes = echo::detail::typeBytes(getType());
  if (failed(bytes))
    return failure();
  for (int64_t d = 0; *bytes != 0 && d < static_cast<int64_t>(getAxis()); ++d)
    if (getType().getDimSize(d) != 1)
      return failure();
  // Most parts are alike.
  int64_t offset = 0, partBytes = 0;
  Type last;
  for (Type type : getInputs().take_front(index).getTypes()) {
    if (type != last) {
      FailureOr<uint64_t> found = echo::detail::typeBytes(type);
      if (failed(found))
        return failure();
      partBytes = static_cast<int64_t>(*found);
      last = type;
    }
    offset += partBytes;
  }
  return offset;
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

/// The matrices of one operand from element `offset` on, as a buffer of
/// [batch, rows, columns].
static Value viewMatrices(OpBuilder &builder, Location loc, Value buffer,
                          int64_t offset, int64_t batch, int64_t rows,
                          int64_t columns) {
  auto type = cast<MemRefType>(buffer.getType());
  auto viewType =
      MemRefType::get({batch, rows, columns}, type.getElementType());
  return BufferViewOp::create(builder, loc, viewType, buffer,
                              offset * elementBytes(type));
}

/// The calls for a product with batch dimensions.
static void buildProduct(OpBuilder &builder, Location loc, Value lhsBuffer,
                         Value rhsBuffer, Value bias, Value output,
                         bool transposeLhs, bool transposeRhs,
                         bool accumulate) {
  auto lhs = cast<MemRefType>(lhsBuffer.getType());
  auto rhs = cast<MemRefType>(rhsBuffer.getType());
  auto result = cast<MemRefType>(output.getType());
  int64_t m = result.getDimSize(result.getRank() - 2);
  int64_t n = result.getDimSize(result.getRank() - 1);
  int64_t k = lhs.getDimSize(lhs.getRank() - (transposeLhs ? 2 : 1));

  // Batch dimensions, those of the operands padded with ones in front.
  size_t numBatchDims = result.getRank() - 2;
  ArrayRef<int64_t> batch = result.getShape().take_front(numBatchDims);
  auto paddedBatch = [&](MemRefType type) {
    SmallVector<int64_t> dims(result.getRank() - type.getRank(), 1);
    llvm::append_range(dims, type.getShape().drop_back(2));
    return dims;
  };
  SmallVector<int64_t> lhsBatch = paddedBatch(lhs), rhsBatch = paddedBatch(rhs);

  // One call takes the innermost batch dimensions over which each operand
  // either repeats or advances; every index of the others is a call.
  size_t numOuter = numBatchDims;
  int64_t inner = 1, lhsInner = 1, rhsInner = 1;
  for (; numOuter > 0; --numOuter) {
    size_t d = numOuter - 1;
    auto fits = [&](int64_t dim, int64_t operandInner) {
      return dim == batch[d] ? operandInner == inner : operandInner == 1;
    };
    if (batch[d] == 1)
      continue;
    if (!fits(lhsBatch[d], lhsInner) || !fits(rhsBatch[d], rhsInner))
      break;
    inner *= batch[d];
    lhsInner *= lhsBatch[d];
    rhsInner *= rhsBatch[d];
  }
  int64_t strideA = lhsInner == 1 ? 0 : m * k;
  int64_t strideB = rhsInner == 1 ? 0 : k * n;
  int64_t batchSize = inner, rows = m;
  // A matrix that all rows share makes the batch one tall matrix.
  if (strideB == 0 && lhsInner == inner && !transposeLhs) {
    rows = inner * m;
    batchSize = 1;
    strideA = 0;
  }

  int64_t numCalls = 1;
  for (int64_t dim : batch.take_front(numOuter))
    numCalls *= dim;
  for (int64_t call = 0; call < numCalls; ++call) {
    int64_t lhsIndex = 0, rhsIndex = 0, rest = call;
    int64_t lhsPitch = 1, rhsPitch = 1;
    for (size_t d = numOuter; d-- > 0;) {
      int64_t i = rest % batch[d];
      rest /= batch[d];
      lhsIndex += lhsBatch[d] == 1 ? 0 : i * lhsPitch;
      rhsIndex += rhsBatch[d] == 1 ? 0 : i * rhsPitch;
      lhsPitch *= lhsBatch[d];
      rhsPitch *= rhsBatch[d];
    }
    Value a = lhsBuffer, b = rhsBuffer, c = output;
    if (numCalls > 1) {
      a = viewMatrices(builder, loc, a, lhsIndex * lhsInner * m * k, lhsInner,
                       lhs.getDimSize(lhs.getRank() - 2),
                       lhs.getDimSize(lhs.getRank() - 1));
      b = viewMatrices(builder, loc, b, rhsIndex * rhsInner * k * n, rhsInner,
                       rhs.getDimSize(rhs.getRank() - 2),
                       rhs.getDimSize(rhs.getRank() - 1));
      c = viewMatrices(builder, loc, c, call * inner * m * n, inner, m, n);
    }
    GemmOp::create(builder, loc, a, b, bias, c, batchSize, rows, n, k,
                   transposeLhs, transposeRhs, strideA, strideB, rows * n,
                   accumulate);
  }
}

LogicalResult MatmulOp::buildLibraryCall(OpBuilder &builder, ValueRange inputs,
                                         ValueRange outputs) {
  buildProduct(builder, getLoc(), inputs[0], inputs[1],
               inputs.size() > 2 ? inputs[2] : Value(), outputs[0],
               getTransposeLhs(), getTransposeRhs(), /*accumulate=*/false);
  return success();
}

std::optional<unsigned> MatmulAddOp::getAccumulatorOperand() { return 0; }

LogicalResult MatmulAddOp::buildLibraryCall(OpBuilder &builder,
                                            ValueRange inputs,
                                            ValueRange outputs) {
  buildProduct(builder, getLoc(), inputs[1], inputs[2], /*bias=*/Value(),
               outputs[0], getTransposeLhs(), getTransposeRhs(),
               /*accumulate=*/true);
  return success();
}

LogicalResult LinearOp::buildLibraryCall(OpBuilder &builder, ValueRange inputs,
                                         ValueRange outputs) {
  auto weight = cast<MemRefType>(inputs[1].getType());
  auto result = cast<MemRefType>(outputs[0].getType());
  Value bias = inputs.size() > 2 ? inputs[2] : Value();
  int64_t n = weight.getDimSize(0), k = weight.getDimSize(1), m = 1;
  for (int64_t dim : result.getShape().drop_back())
    m *= dim;
  GemmOp::create(builder, getLoc(), inputs[0], inputs[1], bias, outputs[0],
                 /*batch=*/1, m, n, k, /*transpose_a=*/false,
                 /*transpose_b=*/true, /*stride_a=*/0, /*stride_b=*/0,
                 /*stride_c=*/m * n, /*accumulate=*/false);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops on buffers
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addRead(Effects &effects, OpOperand &operand) {
  effects.emplace_back(MemoryEffects::Read::get(), &operand,
                       SideEffects::DefaultResource::get());
}

static void addWrite(Effects &effects, OpOperand &operand) {
  effects.emplace_back(MemoryEffects::Write::get(), &operand,
                       SideEffects::DefaultResource::get());
}

/// A buffer that a host program can address: static, row-major, and of a size
/// that fits 63 bits.
static LogicalResult verifyBuffer(Operation *op, Value value) {
  auto type = cast<MemRefType>(value.getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return op->emitOpError("expects buffers with a static shape and the "
                           "identity layout, found ")
           << type;
  if (failed(echo::detail::typeBytes(type)))
    return op->emitOpError("has a buffer whose size overflows: ") << type;
  return success();
}

void LaunchOp::getEffects(Effects &effects) {
  for (OpOperand &input : getInputsMutable())
    if (isa<MemRefType>(input.get().getType()))
      addRead(effects, input);
  for (OpOperand &output : getOutputsMutable())
    addWrite(effects, output);
}

LogicalResult LaunchOp::verify() {
  bool hasTensors = getNumResults() != 0 ||
                    llvm::any_of(getInputs(), [](Value input) {
                      return isa<TensorType>(input.getType());
                    });
  if (!hasTensors) {
    for (Value buffer : getOperands())
      if (failed(verifyBuffer(*this, buffer)))
        return failure();
    return success();
  }
  if (!getOutputs().empty())
    return emitOpError("on tensors takes no outputs");
  for (Value input : getInputs())
    if (!isa<TensorType>(input.getType()))
      return emitOpError("mixes tensors and buffers: input of type ")
             << input.getType();
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto function = symbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getKernelAttr());
  // (C1)
  if (!function)
    return emitOpError("expects the name of a function, found ")
           << getKernelAttr();
  if (!function->hasAttr(kKernelAttr))
    return emitOpError("expects a function with the attribute ")
           << kKernelAttr << ", found " << getKernelAttr();
  // (C2) A kernel that lowering has taken off tensors has another signature.
  auto type = dyn_cast<FunctionType>(function.getFunctionType());
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (!type || !(llvm::any_of(type.getInputs(), isTensor) ||
                 llvm::any_of(type.getResults(), isTensor)))
    return success();
  auto check = [&](StringRef what, TypeRange found,
                   TypeRange expected) -> LogicalResult {
    if (found.size() != expected.size())
      return emitOpError("has ")
             << found.size() << " " << what << "s, but kernel "
             << getKernelAttr() << " has " << expected.size();
    for (auto [index, pair] : llvm::enumerate(llvm::zip(found, expected))) {
      auto [type, kernelType] = pair;
      auto shaped = cast<ShapedType>(type);
      auto kernelShaped = dyn_cast<ShapedType>(kernelType);
      if (!kernelShaped || shaped.getShape() != kernelShaped.getShape() ||
          shaped.getElementType() != kernelShaped.getElementType())
        return emitOpError() << what << " #" << index << " has type " << type
                             << ", but kernel " << getKernelAttr() << " has "
                             << kernelType;
    }
    return success();
  };
  bool onBuffers = getNumResults() == 0 && type.getNumResults() != 0;
  ArrayRef<Type> inputs = type.getInputs().take_while(isTensor);
  if (failed(check("input", getInputs().getTypes(), inputs)))
    return failure();
  // (C3)
  size_t parameters = getParameters() ? getParameters()->size() : 0;
  if (parameters != type.getNumInputs() - inputs.size())
    return emitOpError("has ")
           << parameters << " parameters, but kernel " << getKernelAttr()
           << " has " << type.getNumInputs() - inputs.size();
  return onBuffers ? check("output", getOutputs().getTypes(), type.getResults())
                   : check("result", getResultTypes(), type.getResults());
}

void GemmOp::getEffects(Effects &effects) {
  addRead(effects, getAMutable());
  addRead(effects, getBMutable());
  for (OpOperand &bias : getBiasMutable())
    addRead(effects, bias);
  if (getAccumulate())
    addRead(effects, getCMutable());
  addWrite(effects, getCMutable());
}

/// True if `batch` matrices of `size` elements, `stride` apart, lie inside a
/// buffer of `elements`.
static bool matricesFit(int64_t batch, int64_t rows, int64_t columns,
                        int64_t stride, int64_t elements) {
  if (batch == 0 || rows == 0 || columns == 0)
    return true;
  std::optional<int64_t> end = llvm::checkedMul(rows, columns);
  std::optional<int64_t> last = llvm::checkedMul(batch - 1, stride);
  if (end && last)
    end = llvm::checkedAdd(*end, *last);
  return end && last && *end <= elements;
}

LogicalResult GemmOp::verify() {
  for (Value buffer : getOperands())
    if (failed(verifyBuffer(*this, buffer)))
      return failure();
  // (C1)
  MemRefType aType = getA().getType(), bType = getB().getType(),
             cType = getC().getType();
  Type elementType = cType.getElementType();
  if (!isa<FloatType>(elementType))
    return emitOpError("expects element type f16, bf16, f32 or f64, found ")
           << elementType;
  for (Value buffer : getOperands())
    if (cast<MemRefType>(buffer.getType()).getElementType() != elementType)
      return emitOpError("expects one element type, found ")
             << buffer.getType() << " beside " << cType;
  // (C2)
  for (auto [name, value] :
       {std::pair<StringRef, int64_t>{"batch", getBatch()},
        {"m", getM()},
        {"n", getN()},
        {"k", getK()},
        {"stride_a", getStrideA()},
        {"stride_b", getStrideB()},
        {"stride_c", getStrideC()}})
    if (value < 0)
      return emitOpError("expects ") << name << " >= 0, found " << value;
  // (C3)
  if (getBias() && getBias().getType().getNumElements() !=
                       static_cast<int64_t>(getN()))
    return emitOpError("expects a bias of n = ")
           << getN() << " elements, found " << getBias().getType();
  // (C4)
  auto checkFits = [&](StringRef name, int64_t rows, int64_t columns,
                       int64_t stride, MemRefType type) -> LogicalResult {
    if (matricesFit(getBatch(), rows, columns, stride, type.getNumElements()))
      return success();
    return emitOpError("expects the matrices of ")
           << name << " inside its buffer: " << getBatch() << " of " << rows
           << " x " << columns << ", " << stride << " apart, found " << type;
  };
  if (failed(checkFits("a", getM(), getK(), getStrideA(), aType)) ||
      failed(checkFits("b", getK(), getN(), getStrideB(), bType)) ||
      failed(checkFits("c", getM(), getN(), getStrideC(), cType)))
    return failure();
  return success();
}

void CopyOp::getEffects(Effects &effects) {
  addRead(effects, getSourceMutable());
  addWrite(effects, getTargetMutable());
}

LogicalResult CopyOp::verify() {
  // (C1)
  if (getSource().getType() != getTarget().getType())
    return emitOpError("expects one type, found ")
           << getSource().getType() << " and " << getTarget().getType();
  return verifyBuffer(*this, getSource());
}

Value BufferViewOp::getViewSource() { return getSource(); }

LogicalResult BufferViewOp::verify() {
  // (C1)
  if (failed(verifyBuffer(*this, getSource())) ||
      failed(verifyBuffer(*this, getResult())))
    return failure();
  // (C2)
  int64_t offset = getOffset(), size = elementBytes(getType());
  if (offset < 0 || offset % size != 0)
    return emitOpError("expects an offset >= 0 that is a multiple of ")
           << size << " bytes, found " << offset;
  // (C3)
  int64_t sourceBytes = *echo::detail::typeBytes(getSource().getType());
  int64_t bytes = *echo::detail::typeBytes(getType());
  if (bytes > sourceBytes || offset > sourceBytes - bytes)
    return emitOpError("expects the result inside the source: bytes [")
           << offset << ", " << offset << " + " << bytes << ") of "
           << sourceBytes;
  return success();
}

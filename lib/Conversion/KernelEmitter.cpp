//===- KernelEmitter.cpp - Evaluates kernel values at an index ------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace mlir::echo;

/// The value of a parameter whose bits are `bits`.
static Value convertParameter(OpBuilder &b, Location loc, Value bits,
                              Type type) {
  if (type.isIndex())
    return arith::IndexCastOp::create(b, loc, type, bits);
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 64)
    bits = arith::TruncIOp::create(b, loc, b.getIntegerType(width), bits);
  if (isa<FloatType>(type))
    return arith::BitcastOp::create(b, loc, type, bits);
  return bits;
}

KernelEmitter::KernelEmitter(func::FuncOp kernel, Block *entry,
                             unsigned firstParameter)
    : builder(kernel.getContext()), loc(kernel.getLoc()), entry(entry),
      constantPrefix((kernel.getName() + "_constant_").str()) {
  scopes.emplace_back(entry, nullptr);
  for (BlockArgument argument : kernel.getArguments()) {
    if (isa<RankedTensorType>(argument.getType()))
      constantBuffers[argument] = entry->getArgument(argument.getArgNumber());
    else
      parameters[argument] = convertParameter(
          current(), loc, entry->getArgument(firstParameter++),
          argument.getType());
  }
}

OpBuilder &KernelEmitter::at(size_t scope) {
  Scope &s = scopes[scope];
  if (s.before)
    builder.setInsertionPoint(s.before);
  else
    builder.setInsertionPointToEnd(s.block);
  return builder;
}

void KernelEmitter::beginGroup(unsigned numDims) {
  dims.clear();
  for (unsigned dim = 0; dim < numDims; ++dim)
    dims.push_back({Value(), 1, 0, dim});
  offsetDims.clear();
  scopes.front().values.clear();
  scopes.front().held.clear();
}

unsigned KernelEmitter::addDim(Value base, int64_t width) {
  unsigned dim = dims.size();
  dims.push_back({base, width, target, dim});
  return dim;
}

void KernelEmitter::setDim(unsigned dim, Value base, int64_t width,
                           unsigned last) {
  while (dims.size() <= dim)
    dims.push_back({Value(), 1, 0, unsigned(dims.size())});
  dims[dim] = {base, width, target, last};
}

size_t KernelEmitter::scopeOf(AffineMap index) const {
  llvm::SmallDenseSet<unsigned> used;
  collectDims(index, used);
  size_t scope = 0;
  for (unsigned dim : used)
    scope = std::max(scope, dims[dim].scope);
  return scope;
}

int64_t KernelEmitter::widthOf(AffineMap index) const {
  for (AffineExpr expr : index.getResults())
    if (auto dim = vectorDimOf(expr))
      return dims[*dim].width;
  return 1;
}

std::optional<unsigned> KernelEmitter::vectorDimOf(AffineExpr expr) const {
  llvm::SmallDenseSet<unsigned> used;
  collectDims(expr, used);
  for (unsigned dim : used)
    if (dims[dim].width > 1)
      return dims[dim].last;
  return std::nullopt;
}

void KernelEmitter::inScope(Block *block, Operation *before,
                            function_ref<void()> fill) {
  size_t saved = target;
  scopes.emplace_back(block, before);
  target = scopes.size() - 1;
  fill();
  scopes.pop_back();
  target = saved;
}

void KernelEmitter::forLoop(Value lower, Value upper, int64_t step,
                            function_ref<void(Value)> fill, bool isRemainder,
                            function_ref<void()> finish) {
  Value stride = constantIndex(step);
  auto loop = scf::ForOp::create(current(), loc, lower, upper, stride);
  if (isRemainder) {
    MLIRContext *context = builder.getContext();
    auto yes = builder.getBoolAttr(true);
    auto vectorize =
        LLVM::LoopVectorizeAttr::get(context, yes, {}, {}, {}, {}, {}, {});
    auto unroll =
        LLVM::LoopUnrollAttr::get(context, yes, {}, {}, {}, {}, {}, {});
    loop->setAttr("llvm.loop_annotation",
                  LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {},
                                                unroll, {}, {}, {}, {}, {}, {},
                                                {}, {}, {}, {}, {}));
  }
  fillLoop(loop, fill, finish);
}

void KernelEmitter::closedLoop(Value lower, Value upper, Value step,
                               function_ref<void(Value)> fill) {
  auto loop = scf::ForOp::create(current(), loc, lower, upper, step);
  size_t saved = floor;
  fillLoop(loop, [&](Value position) {
    floor = target;
    fill(position);
  });
  floor = saved;
}

void KernelEmitter::guarded(Value condition, function_ref<void()> fill) {
  auto branch = scf::IfOp::create(current(), loc, condition);
  size_t outer = target;
  Operation *before = scopes[outer].before;
  scopes[outer].before = branch;
  Block *block = branch.thenBlock();
  inScope(block, block->getTerminator(), fill);
  scopes[outer].before = before;
}

void KernelEmitter::fillLoop(scf::ForOp loop, function_ref<void(Value)> fill,
                             function_ref<void()> finish) {
  size_t outer = target;
  Operation *before = scopes[outer].before;
  scopes[outer].before = loop;
  inScope(loop.getBody(), loop.getBody()->getTerminator(),
          [&] { fill(loop.getInductionVar()); });
  if (finish)
    finish();
  scopes[outer].before = before;
}

SmallVector<Value> KernelEmitter::foldLoop(
    Value lower, Value upper, int64_t step, ValueRange inits,
    function_ref<SmallVector<Value>(Value, ValueRange)> fill) {
  Value stride = constantIndex(step);
  auto loop = scf::ForOp::create(current(), loc, lower, upper, stride, inits);
  size_t outer = target;
  Operation *before = scopes[outer].before;
  scopes[outer].before = loop;
  inScope(loop.getBody(), nullptr, [&] {
    SmallVector<Value> next =
        fill(loop.getInductionVar(), loop.getRegionIterArgs());
    scf::YieldOp::create(current(), loc, next);
  });
  scopes[outer].before = before;
  return llvm::to_vector_of<Value>(loop.getResults());
}

Value KernelEmitter::constantIndex(int64_t value) {
  return arith::ConstantIndexOp::create(current(), loc, value);
}

Value KernelEmitter::constant(TypedAttr value) {
  return arith::ConstantOp::create(current(), loc, value);
}

Value KernelEmitter::stackBuffer(Type element, int64_t size) {
  builder.setInsertionPointToStart(entry);
  return memref::AllocaOp::create(builder, loc,
                                  MemRefType::get({size}, element),
                                  builder.getI64IntegerAttr(64));
}

Value KernelEmitter::toVector(Value value, int64_t width) {
  if (width == 1 || isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get({width}, value.getType());
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return arith::ConstantOp::create(
        current(), loc,
        DenseElementsAttr::get(type, Attribute(constant.getValue())));
  return vector::BroadcastOp::create(current(), loc, type, value);
}

Value KernelEmitter::materialize(AffineExpr expr) {
  OpBuilder &b = current();
  auto multiply = [&](Value lhs, int64_t factor) -> Value {
    if (factor == 1)
      return lhs;
    return arith::MulIOp::create(b, loc, lhs, constantIndex(factor));
  };
  if (std::optional<LinearForm> form = LinearForm::of(expr)) {
    Value sum;
    auto add = [&](Value term) {
      sum = sum ? arith::AddIOp::create(b, loc, sum, term) : term;
    };
    for (auto [dim, coefficient] : form->coefficients)
      if (dims[dim].last == dim && coefficient != 0)
        add(multiply(dims[dim].base, coefficient));
    if (!sum || form->constant != 0)
      add(constantIndex(form->constant));
    return sum;
  }
  // Indices are never negative.
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = materialize(binary.getLHS());
  Value rhs = materialize(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::Mod:
    return arith::RemUIOp::create(b, loc, lhs, rhs);
  default:
    return arith::DivUIOp::create(b, loc, lhs, rhs);
  }
}

Value KernelEmitter::emitLanes(unsigned dim, function_ref<Value()> fill) {
  // All dimensions that the loop counts through.
  SmallVector<Dim> saved = dims;
  int64_t width = dims[dim].width;
  // What is known at an index is another value in every lane.
  using Values = llvm::DenseMap<std::pair<Value, AffineMap>, Value>;
  std::vector<Values> known(scopes.size() - dims[dim].scope);
  auto exchange = [&] {
    for (auto [values, scope] :
         llvm::zip_equal(known, llvm::drop_begin(scopes, saved[dim].scope)))
      std::swap(values, scope.values);
  };
  exchange();
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < width; ++lane) {
    Value base = arith::AddIOp::create(current(), loc, saved[dim].base,
                                       constantIndex(lane));
    for (Dim &other : dims)
      if (other.last == dim) {
        other.base = base;
        other.width = 1;
      }
    lanes.push_back(fill());
    for (Scope &scope : llvm::drop_begin(scopes, saved[dim].scope))
      scope.values.clear();
  }
  exchange();
  dims = saved;
  auto type = VectorType::get({width}, lanes.front().getType());
  return vector::FromElementsOp::create(current(), loc, type, lanes);
}

Value KernelEmitter::emitIndex(AffineExpr expr) {
  std::optional<unsigned> dim = vectorDimOf(expr);
  if (!dim)
    return materialize(expr);
  std::optional<LinearForm> form = LinearForm::of(expr);
  if (!form)
    return emitLanes(*dim, [&] { return materialize(expr); });
  int64_t width = dims[*dim].width;
  SmallVector<int64_t> steps;
  for (int64_t lane = 0; lane < width; ++lane)
    steps.push_back(lane * form->at(*dim));
  auto type = VectorType::get({width}, builder.getIndexType());
  Value base = toVector(materialize(expr), width);
  if (!isa<VectorType>(base.getType()))
    base = vector::BroadcastOp::create(current(), loc, type, base);
  SmallVector<Attribute> attributes;
  for (int64_t step : steps)
    attributes.push_back(builder.getIndexAttr(step));
  return arith::AddIOp::create(
      current(), loc, base,
      arith::ConstantOp::create(current(), loc,
                                DenseElementsAttr::get(type, attributes)));
}

Type mlir::echo::storedType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return element;
}

/// `type` with another element type.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

Value KernelEmitter::fromStored(Value value, Type element) {
  Type type = withElement(value.getType(), element);
  if (type == value.getType())
    return value;
  if (element.isBF16())
    return arith::BitcastOp::create(current(), loc, type, value);
  int64_t width = 1;
  if (auto vector = dyn_cast<VectorType>(type))
    width = vector.getNumElements();
  Value zero = toVector(constant(builder.getI8IntegerAttr(0)), width);
  return arith::CmpIOp::create(current(), loc, arith::CmpIPredicate::ne, value,
                               zero);
}

Value KernelEmitter::toStored(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  Type type = withElement(value.getType(), storedType(element));
  if (type == value.getType())
    return value;
  if (element.isBF16())
    return arith::BitcastOp::create(current(), loc, type, value);
  return arith::ExtUIOp::create(current(), loc, type, value);
}

llvm::MaybeAlign KernelEmitter::alignmentOf(Value buffer, AffineExpr offset,
                                            unsigned dim) const {
  std::optional<LinearForm> form = LinearForm::of(offset);
  auto known = alignments.find(buffer);
  if (!team || !form || known == alignments.end())
    return {};
  uint64_t size = llvm::divideCeil(
      cast<MemRefType>(buffer.getType()).getElementTypeBitWidth(), 8);
  uint64_t bytes = std::gcd(known->second, dims[dim].width * size);
  bytes = std::gcd(bytes, std::abs(form->constant) * size);
  for (auto [other, coefficient] : form->coefficients)
    if (other != dim && dims[other].last == other)
      bytes = std::gcd(bytes, std::abs(coefficient) * size);
  if (bytes <= size)
    return {};
  return llvm::Align(std::min<uint64_t>(bytes & -bytes, 16));
}

Value KernelEmitter::load(Value buffer, AffineExpr offset, Type element) {
  std::optional<unsigned> dim = vectorDimOf(offset);
  int64_t stride = 0;
  if (dim) {
    std::optional<LinearForm> form = LinearForm::of(offset);
    stride = form ? form->at(*dim) : -1;
  }
  if (stride != 0 && stride != 1)
    return emitLanes(*dim, [&] { return load(buffer, offset, element); });
  Value position = materialize(offset);
  Value value;
  if (stride == 0)
    value = memref::LoadOp::create(current(), loc, buffer, position);
  else
    value = vector::LoadOp::create(
        current(), loc,
        VectorType::get({dims[*dim].width}, storedType(element)), buffer,
        position, /*nontemporal=*/false, alignmentOf(buffer, offset, *dim));
  return fromStored(value, element);
}

void KernelEmitter::store(Value buffer, AffineExpr offset, Value value,
                          int64_t width) {
  value = toStored(toVector(value, width));
  Value position = materialize(offset);
  if (width == 1)
    memref::StoreOp::create(current(), loc, value, buffer, position);
  else
    vector::StoreOp::create(current(), loc, value, buffer, position,
                            /*nontemporal=*/false,
                            alignmentOf(buffer, offset, *vectorDimOf(offset)));
}

Value KernelEmitter::emit(Value tensor, AffineMap index) {
  size_t outermost = scopeOf(index), scope = std::max(outermost, floor);
  std::pair<Value, AffineMap> key{tensor, index};
  for (size_t s : {outermost, scope}) {
    auto it = scopes[s].values.find(key);
    if (it != scopes[s].values.end())
      return it->second;
  }
  size_t saved = target;
  target = scope;
  SmallVector<Value> values = compute(tensor, index);
  target = saved;
  if (values.size() == 1) {
    scopes[scope].values[key] = values.front();
    return values.front();
  }
  // All results of the op are known at this index.
  for (auto [result, value] :
       llvm::zip_equal(tensor.getDefiningOp()->getResults(), values))
    scopes[scope].values[{result, index}] = value;
  return scopes[scope].values[key];
}

SmallVector<Value> KernelEmitter::compute(Value tensor, AffineMap index) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (isa<BlockArgument>(tensor))
    return {load(constantBuffers.lookup(tensor),
                 linearize(index, type.getShape()), type.getElementType())};
  Operation *op = tensor.getDefiningOp();
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (auto reduction = Reduction::match(generic))
      return emitReduction(*reduction, index);
    return emitGeneric(generic, index);
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return {emitScalar(fill.getInputs().front())};
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return {emitScalar(splat.getInput())};
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return {emit(slice.getSource(), sliceSource(slice, index, [&](Value offset) {
                   auto [it, isNew] = offsetDims.try_emplace(offset);
                   if (isNew) {
                     it->second = addDim(parameters.lookup(offset));
                     dims[it->second].scope = 0;
                   }
                   return getAffineDimExpr(it->second, builder.getContext());
                 }))};
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
    // Offsets in a buffer are the same in both shapes.
    Value source = op->getOperand(0);
    while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
        source.getDefiningOp()))
      source = source.getDefiningOp()->getOperand(0);
    if (isa<BlockArgument>(source))
      return {load(constantBuffers.lookup(source),
                   linearize(index, type.getShape()), type.getElementType())};
    return {emit(op->getOperand(0), reshapeSource(op, index))};
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return {emitConcat(concat, index)};
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return {emitPad(pad, index)};
  return {emitConstant(cast<arith::ConstantOp>(op), index)};
}

SmallVector<Value> KernelEmitter::emitGeneric(linalg::GenericOp generic,
                                              AffineMap index) {
  Block *body = generic.getBody();
  SmallVector<Value> arguments(body->getNumArguments());
  for (OpOperand *input : generic.getDpsInputOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(input);
    if (!argument.use_empty())
      arguments[argument.getArgNumber()] =
          emit(input->get(),
               composeIndex(generic.getMatchingIndexingMap(input), index));
  }
  return emitBody(body, arguments, index.getResults());
}

SmallVector<Value> KernelEmitter::emitBody(Block *body, ValueRange arguments,
                                           ArrayRef<AffineExpr> indices) {
  llvm::DenseMap<Value, Value> values, vectors;
  llvm::DenseMap<Value, AffineExpr> expressions;
  for (auto [argument, value] :
       llvm::zip_equal(body->getArguments(), arguments))
    values[argument] = value;
  auto valueOf = [&](Value value) {
    Value &mapped = values[value];
    if (!mapped && expressions.contains(value))
      mapped = emitIndex(expressions[value]);
    else if (!mapped) // defined outside
      mapped = emitScalar(value);
    return mapped;
  };
  for (Operation &op : body->without_terminator()) {
    if (auto indexOp = dyn_cast<linalg::IndexOp>(op)) {
      expressions[indexOp] = indices[indexOp.getDim()];
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      SmallVector<Value> positions;
      SmallVector<AffineExpr> exprs;
      for (Value position : extract.getIndices()) {
        AffineExpr expr = expressions.lookup(position);
        exprs.push_back(expr);
        positions.push_back(expr ? Value() : valueOf(position));
      }
      values[extract] = emitExtract(extract, positions, exprs);
      continue;
    }
    SmallVector<Value> operands;
    VectorType vector;
    for (Value operand : op.getOperands()) {
      operands.push_back(valueOf(operand));
      if (auto type = dyn_cast<VectorType>(operands.back().getType()))
        vector = type;
    }
    SmallVector<Type> types(op.getResultTypes());
    if (vector) {
      for (auto [operand, original] :
           llvm::zip_equal(operands, op.getOperands())) {
        Value &wide = vectors[original];
        if (!wide)
          wide = toVector(operand, vector.getNumElements());
        // A vector of one element stays one.
        if (!isa<VectorType>(wide.getType()))
          wide = vector::BroadcastOp::create(
              current(), loc, vector.clone(wide.getType()), wide);
        operand = wide;
      }
      for (Type &type : types)
        type = vector.clone(type);
    }
    Operation *cloned = mlir::clone(current(), &op, types, operands);
    for (auto [from, to] :
         llvm::zip_equal(op.getResults(), cloned->getResults()))
      values[from] = to;
  }
  SmallVector<Value> results;
  for (Value yielded : body->getTerminator()->getOperands())
    results.push_back(valueOf(yielded));
  return results;
}

Value KernelEmitter::emitExtract(tensor::ExtractOp extract, ValueRange indices,
                                 ArrayRef<AffineExpr> exprs) {
  MLIRContext *context = builder.getContext();
  // Positions computed from data count as dimensions of their own.
  auto emitAt = [&](auto positionOf) {
    SmallVector<AffineExpr> position;
    for (auto [i, expr] : llvm::enumerate(exprs))
      position.push_back(
          expr ? expr : getAffineDimExpr(addDim(positionOf(i)), context));
    return emit(extract.getTensor(), indexMap(position, context));
  };
  VectorType vector;
  std::optional<unsigned> dim;
  for (auto [value, expr] : llvm::zip_equal(indices, exprs)) {
    if (value)
      vector = vector ? vector : dyn_cast<VectorType>(value.getType());
    else if (auto used = vectorDimOf(expr))
      dim = used;
  }
  if (!vector)
    return emitAt([&](size_t i) { return indices[i]; });
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
    SmallVector<AffineExpr> position;
    for (auto [value, expr] : llvm::zip_equal(indices, exprs)) {
      Value index = value ? value : emitIndex(expr);
      if (isa<VectorType>(index.getType()))
        index = vector::ExtractOp::create(current(), loc, index, lane);
      position.push_back(getAffineDimExpr(addDim(index), context));
    }
    lanes.push_back(emit(extract.getTensor(), indexMap(position, context)));
  }
  return vector::FromElementsOp::create(
      current(), loc,
      VectorType::get(vector.getShape(), lanes.front().getType()), lanes);
}

Value KernelEmitter::emitGuarded(Value condition, Type type,
                                 function_ref<Value()> inside,
                                 function_ref<Value()> outside) {
  auto branch = scf::IfOp::create(current(), loc, type, condition,
                                  /*withElseRegion=*/true);
  size_t outer = target, savedFloor = floor;
  Operation *before = scopes[outer].before;
  scopes[outer].before = branch;
  auto fill = [&](Block *block, function_ref<Value()> value) {
    inScope(block, nullptr, [&] {
      floor = target;
      Value result = value();
      if (auto vector = dyn_cast<VectorType>(type))
        result = toVector(result, vector.getNumElements());
      scf::YieldOp::create(current(), loc, result);
    });
    floor = savedFloor;
  };
  fill(branch.thenBlock(), inside);
  fill(branch.elseBlock(), outside);
  scopes[outer].before = before;
  return branch.getResult(0);
}

/// The type of a value of `width` elements.
static Type valueType(Type element, int64_t width) {
  return width == 1 ? element : Type(VectorType::get({width}, element));
}

Value KernelEmitter::emitConcat(tensor::ConcatOp concat, AffineMap index) {
  auto resultType = cast<RankedTensorType>(concat.getType());
  Type type = valueType(resultType.getElementType(), widthOf(index));
  int64_t axis = concat.getDim();
  AffineExpr position = index.getResult(axis);
  std::function<Value(size_t, int64_t)> part = [&](size_t i,
                                                   int64_t offset) -> Value {
    Value input = concat.getInputs()[i];
    SmallVector<AffineExpr> exprs(index.getResults());
    exprs[axis] = position - offset;
    auto inside = [&] {
      return emit(input, indexMap(exprs, builder.getContext()));
    };
    if (i + 1 == concat.getInputs().size())
      return inside();
    int64_t end =
        offset + cast<RankedTensorType>(input.getType()).getDimSize(axis);
    Value condition =
        arith::CmpIOp::create(current(), loc, arith::CmpIPredicate::ult,
                              materialize(position), constantIndex(end));
    return emitGuarded(condition, type, inside,
                       [&] { return part(i + 1, end); });
  };
  return part(0, 0);
}

Value KernelEmitter::emitPad(tensor::PadOp pad, AffineMap index) {
  RankedTensorType source = pad.getSourceType();
  Type type = valueType(source.getElementType(), widthOf(index));
  SmallVector<AffineExpr> exprs(index.getResults());
  Value condition = constant(builder.getBoolAttr(true));
  for (auto [dim, low] : llvm::enumerate(pad.getStaticLow())) {
    if (low == 0 && pad.getStaticHigh()[dim] == 0)
      continue;
    Value position = materialize(exprs[dim]);
    Value shifted = arith::SubIOp::create(current(), loc, position,
                                          constantIndex(low));
    // Positions before the source are large unsigned ones.
    Value inside = arith::CmpIOp::create(
        current(), loc, arith::CmpIPredicate::ult, shifted,
        constantIndex(source.getDimSize(dim)));
    condition = arith::AndIOp::create(current(), loc, condition, inside);
    exprs[dim] = exprs[dim] - low;
  }
  auto value = pad.getConstantPaddingValue().getDefiningOp<tensor::ExtractOp>();
  MLIRContext *context = builder.getContext();
  return emitGuarded(
      condition, type,
      [&] { return emit(pad.getSource(), indexMap(exprs, context)); },
      [&] { return emit(value.getTensor(), indexMap({}, context)); });
}

Value KernelEmitter::emitScalar(Value scalar) {
  if (Value parameter = parameters.lookup(scalar))
    return parameter;
  return constant(scalar.getDefiningOp<arith::ConstantOp>().getValue());
}

Value KernelEmitter::emitConstant(arith::ConstantOp op, AffineMap index) {
  auto value = cast<DenseElementsAttr>(op.getValue());
  Type element = value.getElementType();
  if (value.isSplat())
    return constant(cast<TypedAttr>(value.getSplatValue<Attribute>()));
  Value &buffer = constantBuffers[op];
  if (!buffer) {
    int64_t size = value.getNumElements();
    DenseElementsAttr flat;
    if (element.isInteger(1)) {
      SmallVector<int8_t> bytes;
      for (bool bit : value.getValues<bool>())
        bytes.push_back(bit);
      flat = DenseElementsAttr::get(
          RankedTensorType::get({size}, builder.getI8Type()),
          ArrayRef<int8_t>(bytes));
    } else {
      flat = value.reshape(RankedTensorType::get({size}, element));
      if (element.isBF16())
        flat = flat.bitcast(storedType(element));
    }
    std::string name = constantPrefix + std::to_string(constants.size());
    constants.push_back(flat);
    builder.setInsertionPointToStart(entry);
    buffer = memref::GetGlobalOp::create(
        builder, loc, MemRefType::get({size}, flat.getElementType()), name);
  }
  auto type = cast<RankedTensorType>(op.getType());
  return load(buffer, linearize(index, type.getShape()), element);
}

//===- Bufferize.cpp - Host programs on buffers ---------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Transforms/Bufferize.h"
#include "HostStorage.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOBUFFERIZEPASS
#include "Echo/Transforms/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

static LogicalResult checkAliases(func::FuncOp function,
                                  ArrayRef<std::optional<unsigned>> aliases) {
  for (auto [result, argument] : llvm::enumerate(aliases))
    if (argument && !isPersistentArgument(function, *argument))
      return function.emitOpError("result #")
             << result << " replaces argument #" << *argument
             << ", whose role isn't parameter or state";
  return success();
}

static LogicalResult checkEncodings(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  for (Type part :
       llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (auto tensor = dyn_cast<RankedTensorType>(part);
        tensor && tensor.getEncoding())
      return function.emitOpError("expects tensors without an encoding, found ")
             << part;
  return success();
}

LogicalResult mlir::echo::nameTensors(func::FuncOp function) {
  auto aliases = getAliasedArguments(function);
  if (failed(aliases))
    return failure();
  Builder builder(function.getContext());
  llvm::StringSet<> taken;
  unsigned numArguments = function.getNumArguments();
  unsigned numResults = function.getNumResults();
  if (failed(checkAliases(function, *aliases)) ||
      failed(checkEncodings(function)))
    return failure();
  for (unsigned i = 0; i < numArguments; ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr))
      taken.insert(name);
  for (unsigned i = 0; i < numResults; ++i)
    if (auto name = function.getResultAttrOfType<StringAttr>(i, kNameAttr))
      if (!(*aliases)[i] && !taken.insert(name).second)
        return function.emitOpError("expected result #")
               << i << " to have a name of its own, since it replaces no "
               << "argument; found '" << name.getValue()
               << "', which an argument has";
  auto findName = [&](std::string name) {
    while (!taken.insert(name).second)
      name += "_";
    return builder.getStringAttr(name);
  };
  for (unsigned i = 0; i < numArguments; ++i)
    if (!function.getArgAttr(i, kNameAttr))
      function.setArgAttr(i, kNameAttr, findName("arg" + std::to_string(i)));
  for (unsigned i = 0; i < numResults; ++i)
    if (!(*aliases)[i] && !function.getResultAttr(i, kNameAttr))
      function.setResultAttr(i, kNameAttr,
                             findName(function.getResultAttr(i, kLossAttr)
                                          ? "loss"
                                          : "result" + std::to_string(i)));
  return success();
}

namespace {

/// A copy at the end of the step into the memory of an argument.
struct Move {
  unsigned target;
  Value value; ///< the tensor
  Value source;
  bool done = false;
};

class HostBufferizer {
public:
  HostBufferizer(func::FuncOp function, const SymbolTable &symbols)
      : function(function), symbols(symbols), builder(function),
        storage(function, aliases) {}

  LogicalResult run();

private:
  LogicalResult check();
  bool sinkUpdates();
  void assignArguments();
  LogicalResult convert(Operation &op);
  void convertReturn();
  void moveToArguments(Location loc, SmallVectorImpl<Move> &moves);

  bool mayOverwrite(Operation *op, unsigned result, const Storage &place);
  Value findOverwritableInput(Operation &op, unsigned result,
                              SmallVectorImpl<Storage> &taken);
  Value createOutput(Operation &op, unsigned result,
                     SmallVectorImpl<Storage> &taken);
  void convertView(Operation &op);
  void convertJoin(Operation &op);
  Value getBuffer(Location loc, Value root);
  Value viewRoot(Location loc, Value buffer, int64_t offset, Type tensorType);

  static MemRefType bufferType(Type tensorType) {
    auto type = cast<RankedTensorType>(tensorType);
    return MemRefType::get(type.getShape(), type.getElementType());
  }

  func::FuncOp function;
  const SymbolTable &symbols;
  OpBuilder builder;
  func::ReturnOp returnOp;
  SmallVector<std::optional<unsigned>> aliases;
  HostStorage storage;
  SmallVector<Value> argumentBuffers;
  DenseMap<Value, Value> buffers; ///< tensor to memref
};

} // namespace

static LogicalResult checkTensor(Operation *op, Type type, const Twine &what) {
  if (isa<RankedTensorType>(type) && succeeded(echo::detail::typeBytes(type)))
    return success();
  return op->emitOpError("expects ")
         << what
         << " to be a ranked tensor with a static shape whose size fits 63 "
            "bits, found "
         << type;
}

/// Only what a host program holds, and sizes that are known.
LogicalResult HostBufferizer::check() {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expects a body of one block: a host program "
                                "has no control flow");
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (failed(checkTensor(function, type, "argument #" + Twine(index))))
      return failure();
  Block &block = function.getBody().front();
  returnOp = dyn_cast<func::ReturnOp>(block.getTerminator());
  if (!returnOp)
    return block.getTerminator()->emitOpError(
        "expects func.return at the end of a host program");
  for (Operation &op : block.without_terminator()) {
    if (isa<CallOpInterface>(op))
      return op.emitOpError("calls a function, which a host program can't; "
                            "expected its body in place of the call (--inline "
                            "puts it there)");
    if (isa<KernelOp>(op))
      return op.emitOpError("can't be part of a host program; expected a "
                            "launch of it (echo-outline-kernels makes them)");
    if (!isa<LaunchOp, LibraryCallOpInterface, BufferViewOpInterface,
             BufferJoinOpInterface>(op))
      return op.emitOpError("can't be part of a host program; expected a "
                            "kernel launch, a library call, a view or a "
                            "concatenation "
                            "(echo-form-kernels makes kernels)");
    for (auto [index, type] : llvm::enumerate(op.getResultTypes()))
      if (failed(checkTensor(&op, type, "result #" + Twine(index))))
        return failure();
    for (auto [index, type] : llvm::enumerate(op.getOperandTypes()))
      if (failed(checkTensor(&op, type, "operand #" + Twine(index))))
        return failure();
    if (auto launch = dyn_cast<LaunchOp>(op))
      if (!symbols.lookup<FunctionOpInterface>(launch.getKernel()))
        return op.emitOpError("names no function: ") << launch.getKernelAttr();
  }
  FailureOr<SmallVector<std::optional<unsigned>>> found =
      getAliasedArguments(function);
  if (failed(found))
    return failure();
  aliases = std::move(*found);
  return checkAliases(function, aliases);
}

/// An op whose results are only returned may run as late as one likes: one
/// that updates an argument goes behind the argument's last reader. Returns
/// true if anything moved.
bool HostBufferizer::sinkUpdates() {
  llvm::SetVector<Operation *> late;
  for (auto [index, argument] : llvm::enumerate(aliases)) {
    Value value = returnOp.getOperand(index);
    Operation *op = value.getDefiningOp();
    if (!argument || !op || isa<BufferViewOpInterface>(op))
      continue;
    int64_t lastRead =
        storage.lastRead(storage.wholeOf(function.getArgument(*argument)));
    if (lastRead > storage.positionOf(op) &&
        lastRead < storage.positionOf(returnOp) &&
        llvm::all_of(op->getUsers(),
                     [&](Operation *user) { return user == returnOp; }))
      late.insert(op);
  }
  SmallVector<Operation *> ordered = late.takeVector();
  llvm::sort(ordered, [&](Operation *a, Operation *b) {
    return storage.positionOf(a) < storage.positionOf(b);
  });
  for (Operation *op : ordered)
    op->moveBefore(returnOp);
  return !ordered.empty();
}

/// True if the kernel that `op` launches may write `result` over these bytes:
/// everywhere it reads any of them, it allows it.
bool HostBufferizer::mayOverwrite(Operation *op, unsigned result,
                                  const Storage &place) {
  auto launch = dyn_cast<LaunchOp>(op);
  if (!launch)
    return false;
  auto kernel = symbols.lookup<FunctionOpInterface>(launch.getKernel());
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    Storage read = storage.lookup(input);
    if (!read.overlaps(place))
      continue;
    auto overwritable =
        kernel.getArgAttrOfType<DenseI64ArrayAttr>(index, kOverwritableAttr);
    if (!overwritable || read != place ||
        !llvm::is_contained(overwritable.asArrayRef(),
                            static_cast<int64_t>(result)))
      return false;
  }
  return true;
}

/// Decides which op results are written straight into an argument's memory:
/// nobody may read the old value afterwards.
void HostBufferizer::assignArguments() {
  for (auto [index, argument] : llvm::enumerate(aliases)) {
    if (!argument)
      continue;
    Storage place = storage.lookup(returnOp.getOperand(index));
    auto result = dyn_cast<OpResult>(place.root);
    if (!result || !storage.isWhole(place) || storage.getArgument(result))
      continue;
    Storage old = storage.wholeOf(function.getArgument(*argument));
    int64_t lastRead = storage.lastRead(old);
    int64_t written = storage.positionOf(result.getOwner());
    if (lastRead < written ||
        (lastRead == written &&
         mayOverwrite(result.getOwner(), result.getResultNumber(), old)))
      storage.setArgument(result, *argument);
  }
}

Value HostBufferizer::viewRoot(Location loc, Value buffer, int64_t offset,
                               Type tensorType) {
  MemRefType type = bufferType(tensorType);
  if (buffer.getType() == type && offset == 0)
    return buffer;
  return BufferViewOp::create(builder, loc, type, buffer, offset);
}

/// An input of a launch that dies there, lies in the arena, and that `result`
/// may overwrite; null if there is none. `taken` holds what other results of
/// the launch overwrite.
Value HostBufferizer::findOverwritableInput(Operation &op, unsigned index,
                                            SmallVectorImpl<Storage> &taken) {
  auto launch = dyn_cast<LaunchOp>(op);
  if (!launch)
    return {};
  OpResult result = op.getResult(index);
  int64_t lastRead = storage.lastRead(storage.wholeOf(result));
  for (Value input : launch.getInputs()) {
    Storage place = storage.lookup(input);
    if (input.getType() != result.getType() ||
        !storage.mayReuse(place, storage.positionOf(&op), lastRead) ||
        !mayOverwrite(&op, index, place) ||
        llvm::any_of(taken, [&](const Storage &other) {
          return other.overlaps(place);
        }))
      continue;
    taken.push_back(place);
    return buffers.at(input);
  }
  return {};
}

/// The buffer of a root. That of a concatenation is there before its op: the
/// first part that is computed asks for it.
Value HostBufferizer::getBuffer(Location loc, Value root) {
  Value &buffer = buffers[root];
  if (!buffer)
    buffer = memref::AllocOp::create(builder, loc, bufferType(root.getType()));
  return buffer;
}

/// The buffer that a result is written into.
Value HostBufferizer::createOutput(Operation &op, unsigned index,
                                   SmallVectorImpl<Storage> &taken) {
  OpResult result = op.getResult(index);
  Location loc = op.getLoc();
  if (std::optional<unsigned> argument = storage.getArgument(result))
    return viewRoot(loc, argumentBuffers[*argument], 0, result.getType());
  Storage place = storage.lookup(result);
  if (place.root != result)
    return viewRoot(loc, getBuffer(loc, place.root), place.offset,
                    result.getType());
  if (Value input = findOverwritableInput(op, index, taken))
    return input;
  return memref::AllocOp::create(builder, loc, bufferType(result.getType()));
}

void HostBufferizer::convertView(Operation &op) {
  for (OpResult result : op.getResults()) {
    if (result.use_empty())
      continue;
    Storage place = storage.lookup(result);
    buffers[result] = viewRoot(op.getLoc(), buffers.at(place.root),
                               place.offset, result.getType());
  }
}

/// Copies the parts that couldn't be computed in place.
void HostBufferizer::convertJoin(Operation &op) {
  SmallVector<Storage> taken;
  OpResult result = op.getResult(0);
  if (!buffers.lookup(result))
    buffers[result] = createOutput(op, 0, taken);
  Value whole = buffers.at(result);
  Storage place = storage.lookup(result);
  for (OpOperand &operand : op.getOpOperands()) {
    int64_t offset = *cast<BufferJoinOpInterface>(op).getPartOffset(
        operand.getOperandNumber());
    Storage part = storage.lookup(operand.get());
    if (part.bytes == 0 ||
        part == Storage{place.root, place.offset + offset, part.bytes})
      continue;
    CopyOp::create(
        builder, op.getLoc(), buffers.at(operand.get()),
        viewRoot(op.getLoc(), whole, offset, operand.get().getType()));
  }
}

LogicalResult HostBufferizer::convert(Operation &op) {
  builder.setInsertionPoint(&op);
  if (isa<BufferViewOpInterface>(op)) {
    convertView(op);
    return success();
  }
  if (isa<BufferJoinOpInterface>(op)) {
    convertJoin(op);
    return success();
  }
  SmallVector<Value> inputs, outputs;
  SmallVector<Storage> taken;
  for (Value operand : op.getOperands())
    inputs.push_back(buffers.at(operand));
  for (OpResult result : op.getResults()) {
    outputs.push_back(createOutput(op, result.getResultNumber(), taken));
    buffers[result] = outputs.back();
  }
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    LaunchOp::create(builder, op.getLoc(), TypeRange(),
                     launch.getKernelAttr(), inputs, outputs,
                     launch.getParametersAttr());
    return success();
  }
  auto call = cast<LibraryCallOpInterface>(op);
  if (std::optional<unsigned> accumulator = call.getAccumulatorOperand())
    if (storage.lookup(op.getOperand(*accumulator)) !=
        storage.lookup(op.getResult(0)))
      CopyOp::create(builder, op.getLoc(), inputs[*accumulator], outputs[0]);
  return call.buildLibraryCall(builder, inputs, outputs);
}

/// Emits the moves so that none overwrites what another still has to read:
/// moves whose target nobody waits for come first; a cycle is broken by saving
/// one target.
void HostBufferizer::moveToArguments(Location loc,
                                     SmallVectorImpl<Move> &moves) {
  unsigned numArguments = argumentBuffers.size();
  SmallVector<SmallVector<Move *, 1>> readers(numArguments);
  SmallVector<unsigned> pendingReads(numArguments, 0);
  SmallVector<Move *> writer(numArguments, nullptr);
  std::deque<Move *> ready;
  for (Move &move : moves) {
    writer[move.target] = &move;
    if (auto source = dyn_cast<BlockArgument>(storage.lookup(move.value).root)) {
      readers[source.getArgNumber()].push_back(&move);
      ++pendingReads[source.getArgNumber()];
    }
  }
  for (Move &move : moves)
    if (pendingReads[move.target] == 0)
      ready.push_back(&move);
  auto drain = [&] {
    while (!ready.empty()) {
      Move *move = ready.front();
      ready.pop_front();
      CopyOp::create(builder, loc, move->source, argumentBuffers[move->target]);
      move->done = true;
      auto source = dyn_cast<BlockArgument>(storage.lookup(move->value).root);
      if (!source)
        continue;
      unsigned index = source.getArgNumber();
      if (pendingReads[index] != 0 && --pendingReads[index] == 0 &&
          writer[index] && !writer[index]->done)
        ready.push_back(writer[index]);
    }
  };
  drain();
  for (Move &move : moves) {
    if (move.done)
      continue;
    Value target = argumentBuffers[move.target];
    Value saved = memref::AllocOp::create(
        builder, loc, cast<MemRefType>(target.getType()));
    CopyOp::create(builder, loc, target, saved);
    for (Move *reader : readers[move.target])
      if (!reader->done)
        reader->source =
            viewRoot(loc, saved, storage.lookup(reader->value).offset,
                     reader->value.getType());
    pendingReads[move.target] = 0;
    ready.push_back(&move);
    drain();
  }
}

void HostBufferizer::convertReturn() {
  builder.setInsertionPoint(returnOp);
  SmallVector<Value> results;
  SmallVector<Attribute> resultAttrs;
  SmallVector<Move> moves;
  DenseSet<Value> returned;
  for (auto [index, value] : llvm::enumerate(returnOp.getOperands())) {
    Value root = storage.lookup(value).root;
    std::optional<unsigned> writtenInto = storage.getArgument(root);
    if (std::optional<unsigned> argument = aliases[index]) {
      if (!storage.isIdentity(index) && writtenInto != argument)
        moves.push_back({*argument, value, buffers.at(value)});
      continue;
    }
    resultAttrs.push_back(
        DictionaryAttr::get(builder.getContext(),
                            function.getResultAttrs(index)));
    // A result is a part of the arena that nothing else returns.
    if (!isa<BlockArgument>(root) && !writtenInto &&
        returned.insert(root).second) {
      results.push_back(buffers.at(value));
      continue;
    }
    Value copy = memref::AllocOp::create(builder, returnOp.getLoc(),
                                         bufferType(value.getType()));
    CopyOp::create(builder, returnOp.getLoc(), buffers.at(value), copy);
    results.push_back(copy);
  }
  moveToArguments(returnOp.getLoc(), moves);
  func::ReturnOp::create(builder, returnOp.getLoc(), results);
  returnOp.erase();
  function.setType(builder.getFunctionType(
      ValueRange(argumentBuffers).getTypes(), ValueRange(results).getTypes()));
  for (unsigned i = 0; i < argumentBuffers.size(); ++i)
    function.removeArgAttr(i, kAliasingOutputAttr);
  if (resultAttrs.empty())
    function.removeResAttrsAttr();
  else
    function.setResAttrsAttr(builder.getArrayAttr(resultAttrs));
}

LogicalResult HostBufferizer::run() {
  // The order of a host program is fixed: what a barrier waits for isn't read.
  function.walk([](OptimizationBarrierOp barrier) {
    barrier.getAfterMutable().assign(barrier.getOperand());
  });
  if (failed(check()) || failed(storage.findRoots()))
    return failure();
  storage.findReads();
  if (sinkUpdates())
    storage.findReads();
  assignArguments();
  storage.placeSums();
  storage.placeParts();
  // Before results that replace arguments disappear and indices change.
  if (failed(nameTensors(function)))
    return failure();

  Block &block = function.getBody().front();
  unsigned numArguments = block.getNumArguments();
  SmallVector<Operation *> old;
  for (Operation &op : block.without_terminator())
    old.push_back(&op);
  for (unsigned i = 0; i < numArguments; ++i) {
    BlockArgument argument = block.getArgument(i);
    argumentBuffers.push_back(block.addArgument(
        bufferType(argument.getType()), argument.getLoc()));
    buffers[argument] = argumentBuffers.back();
  }
  for (Operation *op : old)
    if (failed(convert(*op)))
      return failure();
  convertReturn();
  for (Operation *op : llvm::reverse(old))
    op->erase();
  block.eraseArguments(0, numArguments);
  return success();
}

LogicalResult mlir::echo::bufferizeHostFunction(func::FuncOp function,
                                                const SymbolTable &symbols) {
  return HostBufferizer(function, symbols).run();
}

namespace {

struct EchoBufferizePass
    : public echo::impl::EchoBufferizePassBase<EchoBufferizePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal() || function->hasAttr(kKernelAttr))
        continue;
      if (failed(bufferizeHostFunction(function, symbols)))
        return signalPassFailure();
    }
  }
};

} // namespace

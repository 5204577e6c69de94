//===- EmitProgram.cpp - From host function to program table --------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/EmitProgram.h"
#include "Echo/Analysis/CallCosts.h"
#include "Echo/Analysis/Layers.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOEMITPROGRAMPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

namespace {

/// Fills a program from a host function.
class ProgramBuilder {
public:
  /// `gpuKernels` is null for the CPU.
  ProgramBuilder(func::FuncOp function, const SymbolTable &symbols,
                 gpu::GPUModuleOp gpuKernels = nullptr)
      : function(function), symbols(symbols), gpuKernels(gpuKernels),
        descriptions(symbols) {}

  FailureOr<EmittedProgram> build();

private:
  LogicalResult addArgument(BlockArgument argument);
  LogicalResult addResults(func::ReturnOp op);
  LogicalResult addCall(Operation &op);
  LogicalResult addOperands(Operation &op, ValueRange buffers,
                            ::echo::Call &call);
  LogicalResult fillTensor(::echo::Tensor &tensor, Type type,
                           StringAttr name, const Twine &what);
  FailureOr<::echo::Location> locate(Operation *user, Value buffer);
  FailureOr<uint32_t> addKernel(LaunchOp launch);
  LogicalResult checkCPUKernel(LaunchOp launch);
  LogicalResult fillGPUKernel(LaunchOp launch, ::echo::Kernel &kernel);
  void setKernelCost(Operation *kernel, LaunchOp launch, ::echo::Call &call);
  /// What a call that is no launch costs, and how it is called.
  LogicalResult setCost(Operation &op, ::echo::Call &call);
  uint32_t addString(StringRef text);

  ::echo::Program &program() { return emitted.program; }

  func::FuncOp function;
  const SymbolTable &symbols;
  gpu::GPUModuleOp gpuKernels;
  CallDescriptions descriptions;
  EmittedProgram emitted;
  DenseMap<Value, ::echo::Location> locations;
  DenseMap<StringAttr, uint32_t> kernelIndices;
  llvm::StringMap<uint32_t> strings;
};

} // namespace

std::optional<::echo::DataType> mlir::echo::programType(Type type) {
  if (type.isF32())
    return ::echo::DataType::F32;
  if (type.isF64())
    return ::echo::DataType::F64;
  if (type.isF16())
    return ::echo::DataType::F16;
  if (type.isBF16())
    return ::echo::DataType::BF16;
  if (type.isInteger(8))
    return ::echo::DataType::I8;
  if (type.isInteger(32))
    return ::echo::DataType::I32;
  if (type.isInteger(64))
    return ::echo::DataType::I64;
  if (type.isInteger(1))
    return ::echo::DataType::I1;
  return std::nullopt;
}

::echo::Role mlir::echo::programRole(ArgumentRole role) {
  switch (role) {
  case ArgumentRole::Parameter:
    return ::echo::Role::Parameter;
  case ArgumentRole::State:
    return ::echo::Role::State;
  case ArgumentRole::Input:
    return ::echo::Role::Input;
  case ArgumentRole::Label:
    return ::echo::Role::Label;
  }
  return ::echo::Role::Input;
}

static ::echo::InitKind initKind(InitKind kind) {
  switch (kind) {
  case InitKind::Constant:
    return ::echo::InitKind::Constant;
  case InitKind::Uniform:
    return ::echo::InitKind::Uniform;
  case InitKind::Normal:
    return ::echo::InitKind::Normal;
  case InitKind::RandInt:
    return ::echo::InitKind::RandInt;
  }
  return ::echo::InitKind::None;
}

::echo::Init mlir::echo::programInit(InitAttr init) {
  if (!init)
    return {};
  return {initKind(init.getKind()), init.getA().getValueAsDouble(),
          init.getB().getValueAsDouble()};
}

uint32_t ProgramBuilder::addString(StringRef text) {
  auto [entry, isNew] = strings.try_emplace(text, program().strings.size());
  if (isNew)
    program().strings.push_back(text.str());
  return entry->second;
}

LogicalResult ProgramBuilder::fillTensor(::echo::Tensor &tensor, Type type,
                                         StringAttr name, const Twine &what) {
  auto buffer = dyn_cast<MemRefType>(type);
  FailureOr<uint64_t> bytes =
      buffer ? mlir::echo::detail::typeBytes(buffer) : FailureOr<uint64_t>();
  std::optional<::echo::DataType> element =
      buffer ? programType(buffer.getElementType()) : std::nullopt;
  if (failed(bytes) || !element)
    return function.emitOpError("expects ")
           << what << " to be a buffer with a static shape, found " << type;
  if (!name)
    return function.emitOpError("expects ")
           << what << " to have the attribute " << kNameAttr
           << " (echo-bufferize gives names)";
  tensor.name = name.str();
  tensor.type = *element;
  tensor.shape = buffer.getShape().vec();
  tensor.bytes = *bytes;
  return success();
}

LogicalResult ProgramBuilder::addArgument(BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  ::echo::Tensor tensor;
  if (failed(fillTensor(tensor, argument.getType(),
                        function.getArgAttrOfType<StringAttr>(index, kNameAttr),
                        "argument #" + Twine(index))))
    return failure();
  tensor.role = programRole(getArgumentRole(function, index));
  if (::echo::isPersistent(tensor.role)) {
    tensor.location.region = program().tensors.size() + 1;
  } else {
    auto offset =
        function.getArgAttrOfType<IntegerAttr>(index, kArenaOffsetAttr);
    if (!offset)
      return function.emitOpError("expects argument #")
             << index << " to have the attribute " << kArenaOffsetAttr
             << " (echo-plan-memory comes first)";
    tensor.location.offset = offset.getInt();
  }
  tensor.init = programInit(getArgumentInit(function, index));
  locations[argument] = tensor.location;
  program().tensors.push_back(std::move(tensor));
  return success();
}

/// Where a buffer lies: views are followed to the arena or to an argument.
FailureOr<::echo::Location> ProgramBuilder::locate(Operation *user,
                                                   Value buffer) {
  auto known = locations.find(buffer);
  if (known != locations.end())
    return known->second;
  Operation *op = buffer.getDefiningOp();
  uint64_t offset = 0;
  Value source;
  if (auto view = dyn_cast_if_present<BufferViewOp>(op)) {
    source = view.getSource();
    offset = view.getOffset();
  } else if (auto view = dyn_cast_if_present<memref::ViewOp>(op)) {
    APInt shift;
    if (!matchPattern(view.getByteShift(), m_ConstantInt(&shift)))
      return view.emitOpError("expects a constant offset");
    source = view.getSource();
    offset = shift.getZExtValue();
  } else {
    return user->emitOpError("expects buffers that are views of the arena or "
                             "of an argument, found ")
           << buffer;
  }
  FailureOr<::echo::Location> location = locate(op, source);
  if (failed(location))
    return failure();
  location->offset += offset;
  locations[buffer] = *location;
  return location;
}

LogicalResult ProgramBuilder::addResults(func::ReturnOp op) {
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    ::echo::Tensor tensor;
    tensor.role = ::echo::Role::Result;
    if (failed(fillTensor(
            tensor, value.getType(),
            function.getResultAttrOfType<StringAttr>(index, kNameAttr),
            "result #" + Twine(index))))
      return failure();
    FailureOr<::echo::Location> location = locate(op, value);
    if (failed(location))
      return failure();
    tensor.location = *location;
    tensor.isLoss = static_cast<bool>(function.getResultAttr(index, kLossAttr));
    program().tensors.push_back(std::move(tensor));
  }
  return success();
}

LogicalResult ProgramBuilder::addOperands(Operation &op, ValueRange buffers,
                                          ::echo::Call &call) {
  for (Value buffer : buffers) {
    FailureOr<::echo::Location> location = locate(&op, buffer);
    if (failed(location))
      return failure();
    program().operands.push_back(*location);
  }
  call.numOperands = buffers.size();
  return success();
}

FailureOr<uint32_t> ProgramBuilder::addKernel(LaunchOp launch) {
  StringAttr name = launch.getKernelAttr().getAttr();
  auto [entry, isNew] =
      kernelIndices.try_emplace(name, program().kernels.size());
  if (!isNew)
    return entry->second;
  ::echo::Kernel kernel;
  kernel.name = name.str();
  if (failed(gpuKernels ? fillGPUKernel(launch, kernel)
                        : checkCPUKernel(launch)))
    return failure();
  program().kernels.push_back(std::move(kernel));
  return entry->second;
}

LogicalResult ProgramBuilder::checkCPUKernel(LaunchOp launch) {
  auto kernel =
      symbols.lookup<LLVM::LLVMFuncOp>(launch.getKernelAttr().getAttr());
  MLIRContext *context = launch.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context),
       integer = IntegerType::get(context, 64);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          {pointer, integer, integer});
  if (!kernel || !kernel->getAttrOfType<IntegerAttr>(kChunksAttr) ||
      kernel.getFunctionType() != type)
    return launch.emitOpError("expects kernel ")
           << launch.getKernelAttr() << " to be an LLVM function " << type
           << " with " << kChunksAttr
           << " (convert-echo-kernels-to-llvm comes first)";
  emitted.kernels.push_back(kernel);
  return success();
}

/// Buffers come first among a GPU kernel's arguments, then integers.
LogicalResult ProgramBuilder::fillGPUKernel(LaunchOp launch,
                                            ::echo::Kernel &kernel) {
  auto function = gpuKernels.lookupSymbol<gpu::GPUFuncOp>(
      launch.getKernelAttr().getAttr());
  std::optional<ArrayRef<int32_t>> grid, block;
  if (function) {
    grid = function.getKnownGridSize();
    block = function.getKnownBlockSize();
  }
  if (!grid || !block || grid->size() != 3 || block->size() != 3)
    return launch.emitOpError("expects kernel ")
           << launch.getKernelAttr()
           << " to be a function of the GPU dialect with a known grid and "
              "block (echo-map-kernels-to-gpu comes first)";
  for (int dim = 0; dim < 3; ++dim) {
    kernel.grid[dim] = (*grid)[dim];
    kernel.block[dim] = (*block)[dim];
  }
  size_t numInputs = launch.getInputs().size();
  for (Type type : function.getArgumentTypes()) {
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer) {
      ++kernel.numParameters;
      continue;
    }
    FailureOr<uint64_t> bytes = mlir::echo::detail::typeBytes(buffer);
    if (failed(bytes))
      return launch.emitOpError("expects kernel ")
             << launch.getKernelAttr() << " to take buffers of static shapes, "
             << "found " << buffer;
    kernel.arguments.push_back({*bytes, kernel.arguments.size() >= numInputs});
  }
  return success();
}

/// What a kernel costs stands on it; without that, its operands' bytes are
/// known at least.
void ProgramBuilder::setKernelCost(Operation *kernel, LaunchOp launch,
                                   ::echo::Call &call) {
  call.name = addString(launch.getKernel());
  auto cost = kernel->getAttrOfType<DictionaryAttr>(kCostAttr);
  auto number = [&](StringRef key) -> std::optional<uint64_t> {
    auto value = cost ? cost.getAs<IntegerAttr>(key) : IntegerAttr();
    if (!value)
      return std::nullopt;
    return value.getValue().getZExtValue();
  };
  auto ops = cost ? cost.getAs<StringAttr>("ops") : StringAttr();
  call.op = ops ? addString(ops.getValue()) : call.name;
  call.flops = number("flops").value_or(0);
  if (std::optional<uint64_t> bytes = number("bytes")) {
    call.bytes = *bytes;
    return;
  }
  for (Value buffer : launch.getOperands())
    call.bytes +=
        mlir::echo::detail::typeBytes(buffer.getType()).value_or(0);
}

LogicalResult ProgramBuilder::setCost(Operation &op, ::echo::Call &call) {
  FailureOr<std::optional<CallDescription>> cost = descriptions.get(&op);
  if (failed(cost))
    return failure();
  call.name = addString((*cost)->work);
  call.op = addString((*cost)->kind);
  call.flops = (*cost)->cost.flops;
  call.bytes = (*cost)->bytes();
  return success();
}

LogicalResult ProgramBuilder::addCall(Operation &op) {
  ::echo::Call call;
  call.layer = addString(layerName(op.getLoc()));
  call.firstOperand = program().operands.size();
  call.firstParameter = program().parameters.size();
  std::vector<int64_t> &parameters = program().parameters;
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    FailureOr<uint32_t> index = addKernel(launch);
    if (failed(index))
      return failure();
    call.kind = ::echo::CallKind::Kernel;
    call.function = *index;
    Operation *kernel = symbols.lookup(launch.getKernelAttr().getAttr());
    if (!gpuKernels)
      call.chunks = kernel->getAttrOfType<IntegerAttr>(kChunksAttr).getInt();
    setKernelCost(kernel, launch, call);
    if (failed(addOperands(op, launch.getOperands(), call)))
      return failure();
    if (launch.getParameters())
      llvm::append_range(parameters, *launch.getParameters());
  } else if (auto gemm = dyn_cast<GemmOp>(op)) {
    call.kind = ::echo::CallKind::Gemm;
    if (failed(setCost(op, call)))
      return failure();
    SmallVector<Value> operands = {gemm.getA(), gemm.getB(), gemm.getC()};
    if (gemm.getBias())
      operands.push_back(gemm.getBias());
    if (failed(addOperands(op, operands, call)))
      return failure();
    for (auto [name, extent] :
         {std::pair("m", gemm.getM()), std::pair("n", gemm.getN()),
          std::pair("k", gemm.getK()),
          std::pair("batch", gpuKernels ? gemm.getBatch() : 0)})
      if (int64_t(extent) > ::echo::GemmParameters::kMaxExtent)
        return op.emitOpError("expected extents of at most 2^31 - 1, which "
                              "libraries take, found ")
               << name << " = " << extent;
    std::optional<::echo::DataType> type =
        programType(gemm.getC().getType().getElementType());
    for (int64_t value :
         {static_cast<int64_t>(*type), static_cast<int64_t>(gemm.getBatch()),
          static_cast<int64_t>(gemm.getM()), static_cast<int64_t>(gemm.getN()),
          static_cast<int64_t>(gemm.getK()),
          static_cast<int64_t>(gemm.getTransposeA()),
          static_cast<int64_t>(gemm.getTransposeB()),
          static_cast<int64_t>(gemm.getStrideA()),
          static_cast<int64_t>(gemm.getStrideB()),
          static_cast<int64_t>(gemm.getStrideC()),
          static_cast<int64_t>(gemm.getAccumulate())})
      parameters.push_back(value);
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    call.kind = ::echo::CallKind::Copy;
    if (failed(setCost(op, call)))
      return failure();
    if (failed(addOperands(op, {copy.getSource(), copy.getTarget()}, call)))
      return failure();
    parameters.push_back(
        *mlir::echo::detail::typeBytes(copy.getSource().getType()));
  } else {
    return op.emitOpError("can't be part of a program; expected launches, "
                          "library calls, copies and views");
  }
  call.numParameters = parameters.size() - call.firstParameter;
  program().calls.push_back(call);
  return success();
}

FailureOr<EmittedProgram> ProgramBuilder::build() {
  auto bytes = function->getAttrOfType<IntegerAttr>(kArenaBytesAttr);
  auto alignment = function->getAttrOfType<IntegerAttr>(kArenaAlignmentAttr);
  auto peak = function->getAttrOfType<IntegerAttr>(kLogicalPeakAttr);
  if (!bytes || !alignment || !peak)
    return function.emitOpError("has no arena (echo-plan-memory comes first)");
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expects a body of one block");
  program().function = function.getName().str();
  program().arenaBytes = bytes.getInt();
  program().arenaAlignment = alignment.getInt();
  program().logicalPeakBytes = peak.getInt();

  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments()) {
    if (function.getArgAttr(argument.getArgNumber(), kArenaAttr))
      locations[argument] = ::echo::Location();
    else if (failed(addArgument(argument)))
      return failure();
  }
  for (Operation &op : block) {
    if (auto returnOp = dyn_cast<func::ReturnOp>(op)) {
      if (failed(addResults(returnOp)))
        return failure();
      continue;
    }
    if (isa<BufferViewOp, memref::ViewOp>(op) ||
        op.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (failed(addCall(op)))
      return failure();
  }
  return std::move(emitted);
}

FailureOr<EmittedProgram>
mlir::echo::buildProgram(func::FuncOp function, const SymbolTable &symbols) {
  return ProgramBuilder(function, symbols).build();
}

FailureOr<::echo::Program>
mlir::echo::buildGPUProgram(func::FuncOp function, const SymbolTable &symbols,
                            gpu::GPUModuleOp kernels) {
  FailureOr<EmittedProgram> emitted =
      ProgramBuilder(function, symbols, kernels).build();
  if (failed(emitted))
    return failure();
  emitted->program.target = "cuda";
  return std::move(emitted->program);
}

static LLVM::GlobalOp addGlobal(OpBuilder &builder, Location loc, Type type,
                                StringRef name, Attribute value) {
  constexpr uint64_t kAlignment = 8;
  return LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                LLVM::Linkage::External, name, value,
                                kAlignment);
}

void mlir::echo::emitProgramBytes(ModuleOp module,
                                  const ::echo::Program &program) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  std::string bytes = program.serialize();
  addGlobal(builder, loc,
            LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()),
            kProgramSymbol, builder.getStringAttr(bytes));
  addGlobal(builder, loc, builder.getI64Type(), kProgramSizeSymbol,
            builder.getI64IntegerAttr(bytes.size()));
}

void mlir::echo::emitProgramGlobals(ModuleOp module,
                                    const EmittedProgram &emitted) {
  emitProgramBytes(module, emitted.program);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto tableType = LLVM::LLVMArrayType::get(pointer, emitted.kernels.size());
  LLVM::GlobalOp table =
      addGlobal(builder, loc, tableType, kKernelsSymbol, Attribute());
  builder.createBlock(&table.getInitializerRegion());
  Value value = LLVM::UndefOp::create(builder, loc, tableType);
  for (auto [index, function] : llvm::enumerate(emitted.kernels)) {
    // Kernels are reached through the table alone: an exported name could be
    // taken for another library's.
    LLVM::LLVMFuncOp kernel = function;
    if (!kernel.isExternal())
      kernel.setLinkage(LLVM::Linkage::Internal);
    Value address = LLVM::AddressOfOp::create(builder, loc, pointer,
                                              kernel.getName());
    value = LLVM::InsertValueOp::create(builder, loc, value, address,
                                        static_cast<int64_t>(index));
  }
  LLVM::ReturnOp::create(builder, loc, value);
}

namespace {

struct EchoEmitProgramPass
    : public mlir::echo::impl::EchoEmitProgramPassBase<EchoEmitProgramPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> function = findFunction(module, entry);
    if (failed(function))
      return signalPassFailure();
    SymbolTable symbols(module);
    for (StringRef name : {kProgramSymbol, kProgramSizeSymbol, kKernelsSymbol})
      if (Operation *other = symbols.lookup(name)) {
        other->emitOpError("has a name that the program takes");
        return signalPassFailure();
      }
    FailureOr<EmittedProgram> emitted = buildProgram(*function, symbols);
    if (failed(emitted))
      return signalPassFailure();
    emitted->program.target = target;
    emitted->program.cpu = cpu;
    emitted->program.features = features;
    std::string error;
    if (!emitted->program.verify(error)) {
      function->emitOpError("doesn't make a valid program: ") << error;
      return signalPassFailure();
    }
    emitProgramGlobals(module, *emitted);
    function->erase();
  }
};

} // namespace

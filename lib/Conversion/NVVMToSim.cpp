//===- NVVMToSim.cpp - GPU kernels for the simulator ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads of the simulator are functions that run one after another, so that
// what NVVM has beyond LLVM's dialect becomes calls of opaque functions. Every
// call says which operation it is: whatever LLVM merges or duplicates, threads
// that wait at one operation of the kernel are told from others.
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/Kernels.h"
#include "Echo/Conversion/Passes.h"
#include "SimObject.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "sim/Device.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

namespace mlir::echo {
#define GEN_PASS_DEF_ECHONVVMTOSIMPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

namespace {

/// A function of the simulator.
struct SimFunction {
  StringRef name;
  int32_t slot; ///< its place in the table
};

} // namespace

#define ECHO_SIM_FUNCTION(function)                                            \
  SimFunction {                                                                \
    "echo_sim_" #function,                                                     \
        static_cast<int32_t>(offsetof(echo_sim_functions, function) /          \
                             sizeof(void *))                                   \
  }

static constexpr unsigned kSharedAddressSpace =
    static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
static constexpr int64_t kWarpSize = 32;

namespace {

/// Turns the functions of a module into functions of a host.
class SimConverter {
public:
  explicit SimConverter(ModuleOp module)
      : module(module), b(module.getContext()), layout(module),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LogicalResult convert();

private:
  LogicalResult convertGlobals();
  void dropAddressSpaces();
  LogicalResult convertBody(LLVM::LLVMFuncOp function);
  LogicalResult convertOp(Operation *op);
  LogicalResult convertRegister(Operation *op);
  LogicalResult convertShuffle(NVVM::ShflOp op);
  void convertVote(NVVM::VoteSyncOp op);
  LogicalResult convertCall(LLVM::CallOp op);
  void announce(Operation *op, Value address, Value bytes, uint64_t alignment,
                uint32_t access);
  void announce(Operation *op, Value address, Type type,
                std::optional<uint64_t> alignment, uint32_t access);

  Value constant(int64_t value, unsigned width = 32) {
    return LLVM::ConstantOp::create(
        b, loc, b.getIntegerType(width),
        b.getIntegerAttr(b.getIntegerType(width), value));
  }
  /// Calls a function of the simulator; null if it gives nothing.
  Value call(SimFunction function, Type result, ValueRange arguments);
  /// The number of another operation that threads wait at.
  Value newPlace() { return constant(numPlaces++); }
  Value addressOf(StringRef symbol) {
    return LLVM::AddressOfOp::create(b, loc, pointer, symbol);
  }

  ModuleOp module;
  OpBuilder b;
  DataLayout layout;
  LLVM::LLVMPointerType pointer;
  Location loc = UnknownLoc::get(module.getContext());
  llvm::DenseSet<StringAttr> shared; ///< names of shared variables
  int64_t numPlaces = 0;
};

} // namespace

Value SimConverter::call(SimFunction function, Type result,
                         ValueRange arguments) {
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(function.name);
  if (!callee) {
    // Takes the function from the table.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(
        result ? result : LLVM::LLVMVoidType::get(b.getContext()),
        llvm::to_vector(arguments.getTypes()));
    callee = LLVM::LLVMFuncOp::create(b, module.getLoc(), function.name, type,
                                      LLVM::Linkage::Internal);
    Block *entry = callee.addEntryBlock(b);
    b.setInsertionPointToStart(entry);
    Value table = LLVM::LoadOp::create(b, loc, pointer,
                                       addressOf(ECHO_SIM_FUNCTIONS_SYMBOL));
    Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, table,
                                     ArrayRef<LLVM::GEPArg>{function.slot});
    SmallVector<Value> operands = {LLVM::LoadOp::create(b, loc, pointer, slot)};
    llvm::append_range(operands, entry->getArguments());
    auto op = LLVM::CallOp::create(b, loc, type, operands);
    LLVM::ReturnOp::create(b, loc, op.getResults());
  }
  auto op = LLVM::CallOp::create(b, loc, callee, arguments);
  return result ? op.getResult() : Value();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The part of an aggregate that was put where `op` takes one from, if any.
static Value insertedPart(LLVM::ExtractValueOp op) {
  Value container = op.getContainer();
  while (auto insert = container.getDefiningOp<LLVM::InsertValueOp>()) {
    if (insert.getPosition() == op.getPosition())
      return insert.getValue();
    container = insert.getContainer();
  }
  return {};
}

/// True for memory that no other thread sees, or that no one writes: variables
/// on the stack, and constants.
static bool isPrivateOrConstant(Value address, ModuleOp module) {
  while (Operation *op = address.getDefiningOp()) {
    if (auto gep = dyn_cast<LLVM::GEPOp>(op)) {
      address = gep.getBase();
    } else if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
      address = insertedPart(extract);
      if (!address)
        return false;
    } else if (auto symbol = dyn_cast<LLVM::AddressOfOp>(op)) {
      auto global = module.lookupSymbol<LLVM::GlobalOp>(symbol.getGlobalName());
      return global && global.getConstant();
    } else {
      return isa<LLVM::AllocaOp>(op);
    }
  }
  return false;
}

void SimConverter::announce(Operation *op, Value address, Value bytes,
                            uint64_t alignment, uint32_t access) {
  if (isPrivateOrConstant(address, module))
    return;
  call(ECHO_SIM_FUNCTION(access), Type(),
       {address, bytes, constant(alignment), constant(access)});
}

/// What PTX takes for granted where nothing is said: the size of the element,
/// or of the vector.
static uint64_t naturalAlignment(Type type, const DataLayout &layout) {
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return naturalAlignment(array.getElementType(), layout);
  if (auto structType = dyn_cast<LLVM::LLVMStructType>(type)) {
    uint64_t alignment = 1;
    for (Type field : structType.getBody())
      alignment = std::max(alignment, naturalAlignment(field, layout));
    return alignment;
  }
  return llvm::PowerOf2Ceil(layout.getTypeSize(type).getFixedValue());
}

void SimConverter::announce(Operation *op, Value address, Type type,
                            std::optional<uint64_t> alignment,
                            uint32_t access) {
  uint64_t bytes = layout.getTypeSize(type).getFixedValue();
  announce(op, address, constant(bytes, 64),
           alignment.value_or(naturalAlignment(type, layout)), access);
}

LogicalResult SimConverter::convertGlobals() {
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() == kSharedAddressSpace) {
      if (layout.getTypeSize(global.getType()).isZero())
        return global.emitOpError(
            "can't be simulated; expected shared memory of a fixed size");
      shared.insert(global.getSymNameAttr());
      b.setInsertionPointToStart(b.createBlock(&global.getInitializerRegion()));
      LLVM::ReturnOp::create(
          b, global.getLoc(),
          LLVM::UndefOp::create(b, global.getLoc(), global.getType()));
    } else if (!global.getConstant()) {
      return global.emitOpError(
          "can't be simulated; expected variables in shared memory or "
          "constants");
    }
    global.setAddrSpace(0);
    global.setLinkage(LLVM::Linkage::Internal);
  }
  return success();
}

/// One address space for everything, as the host has it.
void SimConverter::dropAddressSpaces() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([this](LLVM::LLVMPointerType) { return pointer; });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  module.walk([](LLVM::AddrSpaceCastOp cast) {
    cast.replaceAllUsesWith(cast.getArg());
    cast.erase();
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult SimConverter::convertRegister(Operation *op) {
  // nvvm.read.ptx.sreg.tid.x
  StringRef name = op->getName().stripDialect();
  name.consume_front("read.ptx.sreg.");
  auto [what, dimension] = name.split('.');
  Value value;
  if (name == "laneid") {
    value = call(ECHO_SIM_FUNCTION(lane_id), b.getI32Type(), {});
  } else if (name == "warpsize") {
    value = constant(kWarpSize);
  } else {
    auto function = llvm::StringSwitch<std::optional<SimFunction>>(what)
                        .Case("tid", ECHO_SIM_FUNCTION(thread_id))
                        .Case("ntid", ECHO_SIM_FUNCTION(block_size))
                        .Case("ctaid", ECHO_SIM_FUNCTION(block_id))
                        .Case("nctaid", ECHO_SIM_FUNCTION(grid_size))
                        .Default(std::nullopt);
    size_t number = StringRef("xyz").find(dimension);
    if (!function || dimension.size() != 1 || number == StringRef::npos)
      return op->emitOpError("can't be simulated; expected the registers of "
                             "threads, blocks and lanes");
    value = call(*function, b.getI32Type(), constant(number));
  }
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return success();
}

static uint32_t shuffleKind(NVVM::ShflKind kind) {
  switch (kind) {
  case NVVM::ShflKind::up:
    return ECHO_SIM_SHUFFLE_UP;
  case NVVM::ShflKind::down:
    return ECHO_SIM_SHUFFLE_DOWN;
  case NVVM::ShflKind::bfly:
    return ECHO_SIM_SHUFFLE_XOR;
  case NVVM::ShflKind::idx:
    break;
  }
  return ECHO_SIM_SHUFFLE_INDEX;
}

LogicalResult SimConverter::convertShuffle(NVVM::ShflOp op) {
  Type type = op.getVal().getType(), i32 = b.getI32Type();
  Value bits = op.getVal();
  if (type != i32)
    bits = LLVM::BitcastOp::create(b, loc, i32, bits);
  bool givesPredicate = op.getReturnValueAndIsValid().value_or(false);
  Value isValid = LLVM::ZeroOp::create(b, loc, pointer);
  if (givesPredicate) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(
        &op->getParentOfType<LLVM::LLVMFuncOp>().getBody().front());
    isValid =
        LLVM::AllocaOp::create(b, loc, pointer, b.getI8Type(), constant(1));
  }
  Value result =
      call(ECHO_SIM_FUNCTION(shuffle), i32,
           {newPlace(), constant(shuffleKind(op.getKind())), op.getThreadMask(),
            bits, op.getOffset(), op.getMaskAndClamp(), isValid});
  if (type != i32)
    result = LLVM::BitcastOp::create(b, loc, type, result);
  if (givesPredicate) {
    Value predicate = LLVM::TruncOp::create(
        b, loc, b.getI1Type(),
        LLVM::LoadOp::create(b, loc, b.getI8Type(), isValid));
    Value both = LLVM::PoisonOp::create(b, loc, op.getType());
    both = LLVM::InsertValueOp::create(b, loc, both, result, int64_t(0));
    result = LLVM::InsertValueOp::create(b, loc, both, predicate, 1);
  }
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

void SimConverter::convertVote(NVVM::VoteSyncOp op) {
  Value mask = op.getMask();
  Value ballot =
      call(ECHO_SIM_FUNCTION(ballot), b.getI32Type(),
           {newPlace(), mask,
            LLVM::ZExtOp::create(b, loc, b.getI32Type(), op.getPred())});
  auto compare = [&](LLVM::ICmpPredicate predicate, Value other) -> Value {
    return LLVM::ICmpOp::create(b, loc, predicate, ballot, other);
  };
  Value result = ballot;
  switch (op.getKind()) {
  case NVVM::VoteSyncKind::any:
    result = compare(LLVM::ICmpPredicate::ne, constant(0));
    break;
  case NVVM::VoteSyncKind::all:
    result = compare(LLVM::ICmpPredicate::eq, mask);
    break;
  case NVVM::VoteSyncKind::uni:
    result = LLVM::OrOp::create(b, loc,
                                compare(LLVM::ICmpPredicate::eq, constant(0)),
                                compare(LLVM::ICmpPredicate::eq, mask));
    break;
  case NVVM::VoteSyncKind::ballot:
    break;
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

/// LLVM's name for a function of libdevice that gives the same bits anywhere.
static StringRef exactIntrinsic(StringRef function) {
  function.consume_front("__nv_");
  function.consume_back("f");
  return llvm::StringSwitch<StringRef>(function)
      .Case("fabs", "llvm.fabs")
      .Case("floor", "llvm.floor")
      .Case("ceil", "llvm.ceil")
      .Case("trunc", "llvm.trunc")
      .Case("rint", "llvm.rint")
      .Case("nearbyint", "llvm.nearbyint")
      .Case("round", "llvm.round")
      .Case("fma", "llvm.fma")
      .Case("copysign", "llvm.copysign")
      .Case("fmax", "llvm.maxnum")
      .Case("fmin", "llvm.minnum")
      .Default("");
}

LogicalResult SimConverter::convertCall(LLVM::CallOp op) {
  std::optional<StringRef> callee = op.getCallee();
  auto function = callee ? module.lookupSymbol<LLVM::LLVMFuncOp>(*callee)
                         : LLVM::LLVMFuncOp();
  if (function && !function.isExternal())
    return success();
  StringRef intrinsic =
      callee && callee->starts_with("__nv_") ? exactIntrinsic(*callee) : "";
  if (intrinsic.empty())
    return op.emitOpError("can't be simulated; expected functions of the "
                          "module, or of libdevice such that have the same "
                          "bits on every machine");
  auto exact = LLVM::CallIntrinsicOp::create(b, loc, op.getResult().getType(),
                                             b.getStringAttr(intrinsic),
                                             ValueRange(op.getArgOperands()));
  op->replaceAllUsesWith(exact);
  op.erase();
  return success();
}

LogicalResult SimConverter::convertOp(Operation *op) {
  auto access = [](LLVM::AtomicOrdering ordering, uint32_t plain) -> uint32_t {
    return ordering == LLVM::AtomicOrdering::not_atomic ? plain
                                                        : ECHO_SIM_ATOMIC;
  };
  auto unsupported = [&] { return op->emitOpError("can't be simulated"); };
  auto eraseOp = [](Operation *op) {
    op->erase();
    return success();
  };
  loc = op->getLoc();
  b.setInsertionPoint(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LLVM::LoadOp load) {
        announce(op, load.getAddr(), load.getType(), load.getAlignment(),
                 access(load.getOrdering(), ECHO_SIM_READ));
        return success();
      })
      .Case([&](LLVM::StoreOp store) {
        announce(op, store.getAddr(), store.getValue().getType(),
                 store.getAlignment(),
                 access(store.getOrdering(), ECHO_SIM_WRITE));
        return success();
      })
      .Case([&](LLVM::AtomicRMWOp atomic) {
        announce(op, atomic.getPtr(), atomic.getVal().getType(),
                 atomic.getAlignment(), ECHO_SIM_ATOMIC);
        return success();
      })
      .Case([&](LLVM::AtomicCmpXchgOp atomic) {
        announce(op, atomic.getPtr(), atomic.getVal().getType(),
                 atomic.getAlignment(), ECHO_SIM_ATOMIC);
        return success();
      })
      .Case<LLVM::MemcpyOp, LLVM::MemmoveOp>([&](auto copy) {
        announce(op, copy.getSrc(), copy.getLen(), 1, ECHO_SIM_READ);
        announce(op, copy.getDst(), copy.getLen(), 1, ECHO_SIM_WRITE);
        return success();
      })
      .Case([&](LLVM::MemsetOp fill) {
        announce(op, fill.getDst(), fill.getLen(), 1, ECHO_SIM_WRITE);
        return success();
      })
      // What is out of bounds is reported, and isn't undefined before.
      .Case([&](LLVM::GEPOp gep) {
        gep.setNoWrapFlags(LLVM::GEPNoWrapFlags::none);
        return success();
      })
      .Case([&](LLVM::CallOp call) { return convertCall(call); })
      .Case([&](LLVM::CallIntrinsicOp call) {
        return call.getIntrin().starts_with("llvm.nvvm.") ? unsupported()
                                                          : success();
      })
      .Case<LLVM::Trap, LLVM::UnreachableOp>([&](auto) {
        call(ECHO_SIM_FUNCTION(trap), Type(), {});
        return isa<LLVM::Trap>(op) ? eraseOp(op) : success();
      })
      .Case([&](NVVM::ShflOp shuffle) { return convertShuffle(shuffle); })
      .Case([&](NVVM::VoteSyncOp vote) {
        convertVote(vote);
        return success();
      })
      .Case([&](NVVM::Barrier0Op) {
        call(ECHO_SIM_FUNCTION(barrier), Type(), newPlace());
        return eraseOp(op);
      })
      .Case([&](NVVM::BarrierOp barrier) {
        if (barrier->getNumOperands() != 0)
          return LogicalResult(
              op->emitOpError("can't be simulated; expected barriers of all "
                              "threads of a block, without a reduction"));
        call(ECHO_SIM_FUNCTION(barrier), Type(), newPlace());
        return eraseOp(op);
      })
      .Case([&](NVVM::SyncWarpOp barrier) {
        call(ECHO_SIM_FUNCTION(warp_barrier), Type(),
             {newPlace(), barrier.getMask()});
        return eraseOp(op);
      })
      // Threads take turns, and what is assumed is to be seen.
      .Case<NVVM::MembarOp, LLVM::AssumeOp>(eraseOp)
      .Case<LLVM::AllocaOp, LLVM::FenceOp, LLVM::LifetimeStartOp,
            LLVM::LifetimeEndOp>([](auto) { return success(); })
      .Default([&](Operation *) -> LogicalResult {
        if (op->getName().getStringRef().starts_with("nvvm.read.ptx.sreg."))
          return convertRegister(op);
        if (isa_and_present<LLVM::LLVMDialect>(op->getDialect()) &&
            (isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>()))
          return success();
        return unsupported();
      });
}

LogicalResult SimConverter::convertBody(LLVM::LLVMFuncOp function) {
  SmallVector<Operation *> ops;
  function.getBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(convertOp(op)))
      return failure();
  return success();
}

LogicalResult SimConverter::convert() {
  for (Operation &op : *module.getBody())
    if (!isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op))
      return op.emitOpError("can't be simulated; expected functions and "
                            "globals of the LLVM dialect");
  if (failed(convertGlobals()))
    return failure();
  dropAddressSpaces();
  b.setInsertionPointToStart(module.getBody());
  auto functions = LLVM::GlobalOp::create(
      b, module.getLoc(), pointer, /*isConstant=*/false,
      LLVM::Linkage::External, ECHO_SIM_FUNCTIONS_SYMBOL, Attribute());
  // The object's own, whatever else is loaded.
  functions.setVisibility_(LLVM::Visibility::Protected);
  b.createBlock(&functions.getInitializerRegion());
  LLVM::ReturnOp::create(b, module.getLoc(),
                         LLVM::ZeroOp::create(b, module.getLoc(), pointer));

  SmallVector<LLVM::LLVMFuncOp> kernels;
  SmallVector<LLVM::LLVMFuncOp> defined(module.getOps<LLVM::LLVMFuncOp>());
  for (LLVM::LLVMFuncOp function : defined)
    if (!function.isExternal() && failed(convertBody(function)))
      return failure();
  for (LLVM::LLVMFuncOp function : defined) {
    if (function.isExternal())
      function.erase();
    else if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      kernels.push_back(function);
    else
      function.setLinkage(LLVM::Linkage::Internal);
  }
  exportKernels(module, kernels, shared);
  return success();
}

FailureOr<ModuleOp> mlir::echo::convertToSimulator(gpu::GPUModuleOp gpuModule) {
  OpBuilder b(gpuModule);
  auto module = ModuleOp::create(b, gpuModule.getLoc(), gpuModule.getName());
  module.getBodyRegion().takeBody(gpuModule.getBodyRegion());
  gpuModule.erase();
  if (failed(SimConverter(module).convert()))
    return failure();
  return module;
}

namespace {

struct EchoNVVMToSimPass
    : public echo::impl::EchoNVVMToSimPassBase<EchoNVVMToSimPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<gpu::GPUModuleOp> modules(
        getOperation().getOps<gpu::GPUModuleOp>());
    for (gpu::GPUModuleOp module : modules)
      if (failed(convertToSimulator(module)))
        return signalPassFailure();
  }
};

} // namespace

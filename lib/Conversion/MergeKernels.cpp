//===- MergeKernels.cpp - One kernel for equal but for numbers ------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of an unrolled loop differ in numbers: which slice they read, the
// step that they compare with, the offset of their random numbers.
//
//   func @k0 { ... extract_slice[3, 0] ... }     func @k0(..., %p: i64) {
//   func @k1 { ... extract_slice[4, 0] ... } =>    ... extract_slice[%p, 0] }
//   launch @k0(%x); launch @k1(%x)               launch @k0(%x) {parameters = [3]}
//                                                launch @k0(%x) {parameters = [4]}
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/RegionStructure.h"
#include "Echo/Conversion/Kernels.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::echo {
#define GEN_PASS_DEF_ECHOMERGEKERNELSPASS
#include "Echo/Conversion/Passes.h.inc"
} // namespace mlir::echo

using namespace mlir;
using namespace mlir::echo;

/// More numbers than this stay part of kernels of their own.
static constexpr size_t kMaxParameters = 16;

namespace {

/// A number in a kernel: the value of a constant (a splat if it is a tensor's),
/// or an offset of a slice.
struct Number {
  Operation *op;
  unsigned dim; ///< of a slice
};

} // namespace

/// The type of a number that fits a parameter's 64 bits, or null.
static Type parameterType(Type element) {
  if (element.isIndex() || (element.isIntOrFloat() &&
                            element.getIntOrFloatBitWidth() <= 64))
    return element;
  return {};
}

static SmallVector<Number> collectNumbers(func::FuncOp kernel) {
  SmallVector<Number> numbers;
  kernel.walk([&](Operation *op) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      for (unsigned dim = 0; dim < slice.getStaticOffsets().size(); ++dim)
        if (!slice.isDynamicOffset(dim))
          numbers.push_back({op, dim});
      return;
    }
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (!constant || !parameterType(getElementTypeOrSelf(constant.getType())))
      return;
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (isa<IntegerAttr, FloatAttr>(constant.getValue()) ||
        (dense && dense.isSplat()))
      numbers.push_back({op, 0});
  });
  return numbers;
}

/// The number as an attribute of one element.
static Attribute read(Number number) {
  Builder builder(number.op->getContext());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(number.op))
    return builder.getIndexAttr(slice.getStaticOffsets()[number.dim]);
  Attribute value = cast<arith::ConstantOp>(number.op).getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense.getSplatValue<Attribute>();
  return value;
}

static void write(Number number, Attribute value) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(number.op)) {
    SmallVector<int64_t> offsets(slice.getStaticOffsets());
    offsets[number.dim] = cast<IntegerAttr>(value).getInt();
    slice.setStaticOffsets(offsets);
    return;
  }
  auto constant = cast<arith::ConstantOp>(number.op);
  if (isa<DenseElementsAttr>(constant.getValue()))
    value = DenseElementsAttr::get(cast<ShapedType>(constant.getType()), value);
  constant.setValueAttr(cast<TypedAttr>(value));
}

static Attribute zeroLike(Attribute value) {
  return Builder(value.getContext()).getZeroAttr(cast<TypedAttr>(value).getType());
}

/// The bits of a number in a parameter.
static int64_t bitsOf(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    // i1 is 0 or 1.
    if (integer.getType().isInteger(1))
      return integer.getValue().getZExtValue();
    return integer.getValue().getSExtValue();
  }
  return cast<FloatAttr>(value).getValue().bitcastToAPInt().getZExtValue();
}

/// Replaces the numbers of an op by the arguments that aren't null.
static void replaceByArguments(ArrayRef<Number> numbers,
                               ArrayRef<Value> arguments) {
  if (llvm::all_of(arguments, [](Value argument) { return !argument; }))
    return;
  Operation *op = numbers.front().op;
  OpBuilder builder(op);
  Value value = arguments.front();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
    for (auto [number, argument] : llvm::zip_equal(numbers, arguments))
      if (argument)
        offsets[number.dim] = argument;
    value = tensor::ExtractSliceOp::create(
        builder, op->getLoc(), slice.getType(), slice.getSource(), offsets,
        slice.getMixedSizes(), slice.getMixedStrides());
  } else if (auto type =
                 dyn_cast<RankedTensorType>(op->getResult(0).getType())) {
    value = tensor::SplatOp::create(builder, op->getLoc(), value, type);
  }
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

namespace {

/// Keys of kernels by what they compute.
struct KernelStructure : public llvm::DenseMapInfo<Region *> {
  static unsigned getHashValue(const Region *body) {
    return RegionStructure::getHashValue(body);
  }
  static bool isEqual(const Region *lhs, const Region *rhs) {
    if (lhs == rhs || lhs == getEmptyKey() || rhs == getEmptyKey() ||
        lhs == getTombstoneKey() || rhs == getTombstoneKey())
      return lhs == rhs;
    auto function = [](const Region *body) {
      return cast<func::FuncOp>(const_cast<Region *>(body)->getParentOp());
    };
    return function(lhs).getArgAttrsAttr() == function(rhs).getArgAttrsAttr() &&
           RegionStructure::isEqual(lhs, rhs);
  }
};

struct Kernel {
  func::FuncOp function;
  SmallVector<Number> numbers;
  SmallVector<Attribute> values;
};

} // namespace

/// The positions of the numbers that differ in `kernels`. `sources` gets, for
/// each number, the position of one that is always equal to it.
static SmallVector<unsigned>
findParameters(ArrayRef<const Kernel *> kernels,
               SmallVectorImpl<std::optional<unsigned>> &sources) {
  const Kernel &first = *kernels.front();
  SmallVector<unsigned> positions;
  sources.assign(first.numbers.size(), std::nullopt);
  for (unsigned i = 0; i < first.numbers.size(); ++i) {
    if (llvm::all_of(kernels, [&](const Kernel *kernel) {
          return kernel->values[i] == first.values[i];
        }))
      continue;
    auto same = llvm::find_if(positions, [&](unsigned other) {
      return llvm::all_of(kernels, [&](const Kernel *kernel) {
        return kernel->values[i] == kernel->values[other];
      });
    });
    if (same == positions.end())
      positions.push_back(i);
    sources[i] = same == positions.end() ? i : *same;
  }
  return positions;
}

/// Gives a kernel its numbers back, but for those that become arguments.
static void restore(const Kernel &kernel, ArrayRef<unsigned> positions,
                    ArrayRef<std::optional<unsigned>> sources) {
  func::FuncOp function = kernel.function;
  llvm::SmallDenseMap<unsigned, Value> arguments;
  for (unsigned position : positions) {
    unsigned index = function.getNumArguments();
    Type type = cast<TypedAttr>(kernel.values[position]).getType();
    (void)function.insertArgument(index, type, DictionaryAttr(),
                                  function.getLoc());
    arguments[position] = function.getArgument(index);
  }
  for (size_t i = 0, end; i < kernel.numbers.size(); i = end) {
    SmallVector<Value> own;
    Operation *op = kernel.numbers[i].op;
    for (end = i; end < kernel.numbers.size() && kernel.numbers[end].op == op;
         ++end) {
      own.push_back(sources[end] ? arguments[*sources[end]] : Value());
      if (!own.back())
        write(kernel.numbers[end], kernel.values[end]);
    }
    replaceByArguments(ArrayRef(kernel.numbers).slice(i, end - i), own);
  }
}

LogicalResult mlir::echo::mergeKernels(ModuleOp module) {
  std::vector<Kernel> kernels;
  for (func::FuncOp function : kernelFunctions(module))
    if (llvm::all_of(function.getArgumentTypes(), llvm::IsaPred<TensorType>))
      kernels.push_back({function, collectNumbers(function), {}});
  for (Kernel &kernel : kernels)
    for (Number number : kernel.numbers) {
      kernel.values.push_back(read(number));
      write(number, zeroLike(kernel.values.back()));
    }
  llvm::DenseMap<Region *, unsigned, KernelStructure> classes;
  std::vector<SmallVector<const Kernel *>> groups;
  for (Kernel &kernel : kernels) {
    auto [entry, isNew] =
        classes.try_emplace(&kernel.function.getBody(), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[entry->second].push_back(&kernel);
  }
  classes.clear();

  struct Replacement {
    FlatSymbolRefAttr kernel;
    DenseI64ArrayAttr parameters;
  };
  llvm::DenseMap<StringAttr, Replacement> replacements;
  Builder builder(module.getContext());
  SmallVector<func::FuncOp> merged;
  for (ArrayRef<const Kernel *> group : groups) {
    SmallVector<std::optional<unsigned>> sources;
    SmallVector<unsigned> positions = findParameters(group, sources);
    if (positions.size() > kMaxParameters) {
      sources.assign(sources.size(), std::nullopt);
      for (const Kernel *kernel : group)
        restore(*kernel, {}, sources);
      continue;
    }
    restore(*group.front(), positions, sources);
    func::FuncOp first = group.front()->function;
    for (const Kernel *kernel : group) {
      SmallVector<int64_t> parameters;
      for (unsigned position : positions)
        parameters.push_back(bitsOf(kernel->values[position]));
      func::FuncOp function = kernel->function;
      replacements[function.getSymNameAttr()] = {
          FlatSymbolRefAttr::get(first.getSymNameAttr()),
          builder.getDenseI64ArrayAttr(parameters)};
      if (kernel != group.front())
        merged.push_back(function);
    }
  }
  module.walk([&](LaunchOp launch) {
    auto it = replacements.find(launch.getKernelAttr().getAttr());
    if (it == replacements.end())
      return;
    launch.setKernelAttr(it->second.kernel);
    if (!it->second.parameters.empty())
      launch.setParametersAttr(it->second.parameters);
  });
  for (func::FuncOp function : merged)
    function.erase();
  return success();
}

namespace {

struct EchoMergeKernelsPass
    : public echo::impl::EchoMergeKernelsPassBase<EchoMergeKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(mergeKernels(getOperation())))
      signalPassFailure();
  }
};

} // namespace

//===- CompiledKernels.h - Compiles and runs kernels in process -*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_CONVERSION_COMPILEDKERNELS_H
#define ECHO_UNITTESTS_CONVERSION_COMPILEDKERNELS_H

#include "Echo/Target/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "gtest/gtest.h"
#include <random>

namespace mlir::echo::testing {

/// Tests of kernels by value: a function of Echo ops is evaluated by the
/// interpreter and by its compiled kernels, which have to give the same bits.
class CompiledKernels : public ::testing::Test {
protected:
  CompiledKernels();

  /// Evaluates function @f of `source` both ways on random arguments, with
  /// kernels of one op and with fused ones, and compares. Integers are drawn from low to high, floats from -3 to 3 with
  /// some infinities and NaN if `special`.
  void check(const std::string &source);
  /// The same on given arguments.
  void check(const std::string &source, ArrayRef<HostTensor> arguments);

  HostTensor random(RankedTensorType type);
  /// "tensor<2x3xf32>"
  static std::string type(ArrayRef<int64_t> shape, const std::string &element);
  RankedTensorType parseType(const std::string &text);

  /// Kernels are mapped to the threads of a GPU, which run one after another.
  bool onThreads = false;
  int64_t low = -4, high = 9;
  bool special = false;
  /// Kernels that the last checked function was compiled to, and their chunks.
  size_t numKernels = 0;
  int64_t mostChunks = 0;
  std::mt19937 generator{20260401};
  MLIRContext context;

private:
  struct Kernel {
    void (*function)(void *const *, int64_t, int64_t);
    int64_t chunks;
    SmallVector<SmallVector<int64_t>> overwritable;
  };

  OwningOpRef<ModuleOp> parse(const std::string &source);
  /// Forms, outlines and compiles the kernels of a module; leaves its host
  /// function.
  void compile(ModuleOp module, bool fuse);
  /// Runs chunks (or threads) from lower to upper.
  void run(const Kernel &kernel, ArrayRef<void *> pointers, int64_t lower,
           int64_t upper);
  /// How the chunks of a launch are run.
  enum class Order { Whole, ReverseSingle, Thirds, InPlace };
  void launch(const Kernel &kernel, ArrayRef<HostTensor> inputs,
              MutableArrayRef<HostTensor> outputs,
              ArrayRef<int64_t> parameters, Order order);
  SmallVector<HostTensor> runHost(func::FuncOp function,
                                  ArrayRef<HostTensor> arguments, Order order);

  llvm::StringMap<Kernel> kernels;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace mlir::echo::testing

#endif // ECHO_UNITTESTS_CONVERSION_COMPILEDKERNELS_H

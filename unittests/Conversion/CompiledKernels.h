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

class SimulatedModule;

/// Optimizes a module in the LLVM dialect for this machine and loads it. Fails
/// the test, and gives nothing, if that can't be done.
std::unique_ptr<llvm::orc::LLJIT> compileInProcess(ModuleOp module);

/// Tests of kernels by value: a function of Echo ops is evaluated by the
/// interpreter and by its compiled kernels, which have to give the same bits.
class CompiledKernels : public ::testing::Test {
protected:
  CompiledKernels();
  ~CompiledKernels() override;

  /// Evaluates function @f of `source` both ways on random arguments, with
  /// kernels of one op and with fused ones, and compares. Integers are drawn
  /// from low to high, floats from -3 to 3 with some infinities and NaN if
  /// `special`.
  void check(const std::string &source);
  /// The same on given arguments.
  void check(const std::string &source, ArrayRef<HostTensor> arguments);

  HostTensor random(RankedTensorType type);
  /// "tensor<2x3xf32>"
  static std::string type(ArrayRef<int64_t> shape, const std::string &element);
  RankedTensorType parseType(const std::string &text);

  /// Kernels are mapped to a GPU and run on the simulator.
  bool onThreads = false;
  int64_t low = -4, high = 9;
  bool special = false;
  /// Kernels that the last checked function was compiled to, and the chunks or
  /// threads of the one that has most.
  size_t numKernels = 0;
  int64_t mostChunks = 0;
  std::mt19937 generator{20260401};
  MLIRContext context;

private:
  OwningOpRef<ModuleOp> parse(const std::string &source);
  /// Forms, outlines and compiles the kernels of a module; leaves its host
  /// function.
  void compile(ModuleOp module, bool fuse);
  void lowerForCPU(ModuleOp module);
  void lowerForSimulator(ModuleOp module);
  /// How a kernel is run on the CPU: whole, its chunks one by one in reverse,
  /// in three parts, and over its inputs. On the simulator: threads and blocks
  /// in order, in reverse order on buffers that are aligned as their elements
  /// are and no better, and over inputs.
  enum class Way { Whole, Reverse, Thirds, InPlace };
  void launch(StringRef name, ArrayRef<HostTensor> inputs,
              MutableArrayRef<HostTensor> outputs, ArrayRef<int64_t> parameters,
              Way way);
  SmallVector<HostTensor> runHost(func::FuncOp function,
                                  ArrayRef<HostTensor> arguments, Way way);
  /// For each output the input that it is written over and that no other one
  /// is, or -1.
  SmallVector<int64_t> overwritten(StringRef kernel, size_t numOutputs,
                                   Way way) const;

  struct Kernel {
    void (*function)(void *const *, int64_t, int64_t);
    int64_t chunks;
  };
  llvm::StringMap<Kernel> kernels;
  /// By argument of each kernel.
  llvm::StringMap<SmallVector<SmallVector<int64_t>>> overwritable;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<SimulatedModule> simulated;
};

} // namespace mlir::echo::testing

#endif // ECHO_UNITTESTS_CONVERSION_COMPILEDKERNELS_H

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
#include "llvm/ADT/StringSet.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "gtest/gtest.h"
#include <random>

namespace mlir::echo::testing {

class SimulatedModule;

/// Optimizes a module in the LLVM dialect for this machine and loads it. Fails
/// the test, and gives nothing, if that can't be done.
std::unique_ptr<llvm::orc::LLJIT>
compileInProcess(ModuleOp module, llvm::OptimizationLevel level);

/// Tests of kernels by value: a function of Echo ops is evaluated by the
/// interpreter and by its kernels, compiled for the CPU and mapped to a GPU's
/// threads, which have to give the same bits.
class CompiledKernels : public ::testing::Test {
protected:
  CompiledKernels();
  ~CompiledKernels() override;

  /// Evaluates function @f of `source` in all ways on random arguments, with
  /// kernels of one op and with fused ones, and compares. Integers are drawn
  /// from low to high, floats from -3 to 3 with some infinities and NaN if
  /// `special`.
  void check(const std::string &source);
  /// The same on given arguments.
  void check(const std::string &source, ArrayRef<HostTensor> arguments);

  /// Runs `check` on the seeds below `count`, or below ECHO_FUZZ_GRAPHS, or on
  /// ECHO_FUZZ_SEED alone, up to the first that fails.
  void forSeeds(unsigned count, llvm::function_ref<void()> check);

  HostTensor random(RankedTensorType type);
  /// "tensor<2x3xf32>"
  static std::string type(ArrayRef<int64_t> shape, const std::string &element);
  RankedTensorType parseType(const std::string &text);
  /// `source` with an element type in place of each T, and numbers in place of
  /// other letters.
  static std::string
  instantiate(StringRef source, StringRef element,
              ArrayRef<std::pair<char, int64_t>> numbers = {});

  /// Where kernels run: on the CPU, and those that are fused on the simulator
  /// as a GPU's.
  bool onCPU = true, onThreads = true;
  /// For large tensors: the simulator looks for no races, and nothing is
  /// written in place.
  bool isLarge = false;
  int64_t low = -4, high = 9;
  bool special = false;
  /// What the last checked function returned, everywhere.
  SmallVector<HostTensor> results;
  /// Kernels that it was compiled to, and the chunks and threads of the one
  /// that has most. Accesses of several elements at once that a GPU's kernels
  /// have if buffers are aligned.
  size_t numKernels = 0;
  int64_t mostChunks = 0, mostThreads = 0, numAlignedAccesses = 0;
  /// Ops in kernels that ran on threads, of all checked functions.
  llvm::StringSet<> threadedOps;
  std::mt19937 generator{20260401};
  MLIRContext context;

  /// Compiles the kernels of a module, as formKernels leaves it, for threads on
  /// buffers that are aligned to so many bytes (0: as their elements). They run
  /// on buffers that are aligned to `actual` bytes. None if that can't be done,
  /// or if kernels are the same without alignment.
  std::unique_ptr<SimulatedModule>
  compileForThreads(ModuleOp module, uint64_t alignment, uint64_t actual);
  OwningOpRef<ModuleOp> parse(const std::string &source);
  /// Forms and outlines the kernels of a module.
  void formKernels(ModuleOp module, bool fuse);

private:
  /// How kernels run: on what, and whether the last chunks or threads are the
  /// first and outputs are written over inputs.
  enum class Target { CPU, Threads, AlignedThreads };
  struct Way {
    Target target;
    bool isReverse, isInPlace;
    bool isInThirds = false; ///< three parts of the chunks
    std::string describe() const;
  };
  SmallVector<Way> ways() const;
  /// Forms, outlines and compiles the kernels of a module; leaves its host
  /// function.
  void compile(ModuleOp module, bool fuse);
  void compileForCPU(ModuleOp module);
  void launch(StringRef name, ArrayRef<HostTensor> inputs,
              MutableArrayRef<HostTensor> outputs, ArrayRef<int64_t> parameters,
              const Way &way);
  void launchOnCPU(StringRef name, ArrayRef<HostTensor> inputs,
                   MutableArrayRef<HostTensor> outputs,
                   ArrayRef<int64_t> overwriting, ArrayRef<int64_t> parameters,
                   const Way &way);
  SmallVector<HostTensor> runHost(func::FuncOp function,
                                  ArrayRef<HostTensor> arguments,
                                  const Way &way);
  /// For each output the input that it is written over and that no other one
  /// is, or -1.
  SmallVector<int64_t> overwritten(StringRef kernel, size_t numOutputs,
                                   const Way &way) const;

  struct Kernel {
    void (*function)(void *const *, int64_t, int64_t);
    int64_t chunks;
  };
  llvm::StringMap<Kernel> kernels;
  /// By argument of each kernel.
  llvm::StringMap<SmallVector<SmallVector<int64_t>>> overwritable;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<SimulatedModule> simulated, simulatedAligned;
};

} // namespace mlir::echo::testing

#endif // ECHO_UNITTESTS_CONVERSION_COMPILEDKERNELS_H

//===- Step.h - A step that can be run, whatever runs it --------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TOOLS_ECHORUN_STEP_H
#define ECHO_TOOLS_ECHORUN_STEP_H

#include "Profile.h"
#include "Program.h"
#include "echo_runtime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace echo::run {

/// A diagnostic was printed: nothing more is to be said.
struct Diagnosed {};

/// Memory of a step, where the target plans it.
struct Memory {
  uint64_t arena = 0, logicalPeak = 0;
};

/// What runs a step, and for a GPU what it takes there.
struct Device {
  std::string name; ///< "cpu", "sim", "cuda:0 NVIDIA H200"
  uint64_t bytes = 0, freeBytes = 0, totalBytes = 0;
  uint64_t graphSteps = 0;
  double watts = 0, joules = 0; ///< 0 where nobody knows

  bool isGpu() const { return totalBytes != 0; }
  bool isCpu() const { return name == "cpu"; }
};

/// A step with its tensors. Failures throw echo::Error, echo::runtime::Error
/// or Diagnosed.
class Step {
public:
  virtual ~Step() = default;

  /// Arguments and results, in their order, with the types of the values that
  /// set() takes and get() gives.
  const std::vector<Tensor> &tensors() const { return list; }
  /// The index of a tensor; throws echo::Error if there is none.
  size_t find(std::string_view name) const;
  std::optional<size_t> loss() const;

  /// The bytes of an .npy file for a tensor.
  virtual std::string readInput(size_t index, std::string_view file,
                                const std::string &place) const;

  /// Draws every argument from the seed.
  virtual void initialize(uint64_t seed) = 0;
  virtual void set(size_t index, std::string_view bytes) = 0;
  virtual std::string get(size_t index) const = 0;
  virtual void step() = 0;
  /// Steps since initialize(), with those before a loaded checkpoint.
  virtual uint64_t trainingSteps() const = 0;
  virtual void save(const std::string &path) const = 0;
  virtual void load(const std::string &path) = 0;
  /// The name of the function.
  virtual std::string entry() const = 0;
  virtual std::optional<Memory> memory() const { return std::nullopt; }
  virtual std::optional<Device> device() const { return std::nullopt; }
  /// Heap allocations of the runtime in the last step, where they are counted.
  virtual std::optional<uint64_t> allocations() const { return std::nullopt; }
  /// Kernel and library calls of a step, where there are such.
  virtual std::optional<uint64_t> calls() const { return std::nullopt; }
  /// Takes the time of every call from now on; throws echo::Error where there
  /// are no calls.
  virtual void startProfiling();
  virtual std::vector<ProfileEntry> profile() const { return {}; }

protected:
  std::vector<Tensor> list;
};

std::unique_ptr<Step> openArtifact(const std::string &path,
                                   const echo_session_options &options);

/// A function of Echo ops on the reference interpreter: f64, or the declared
/// types if `exact`. The function's module outlives the step.
std::unique_ptr<Step> interpretStep(mlir::func::FuncOp function, bool exact);

} // namespace echo::run

#endif // ECHO_TOOLS_ECHORUN_STEP_H

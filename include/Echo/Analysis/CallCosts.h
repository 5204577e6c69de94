//===- CallCosts.h - What the calls of a host program cost ------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Flops and bytes of kernels and library calls, from what the ops inside tell
// (CostOpInterface).
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_ANALYSIS_CALLCOSTS_H
#define ECHO_ANALYSIS_CALLCOSTS_H

#include "Echo/Planning/Cost.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::echo {

/// A call of a host program as the cost model, and the reports of profiled
/// runs, know it.
struct CallDescription {
  std::string kind; ///< "kernel", "gemm", "copy", ...
  /// What it computes: the kinds of a kernel's ops in their order
  /// ("mul+tanh"), a product and its sizes ("gemm 128x2048x512 nt").
  std::string work;
  bool isLibraryCall = false; ///< compute-heavy; otherwise costs as a kernel
  planning::CallCost cost;

  uint64_t bytes() const { return cost.bytesRead + cost.bytesWritten; }
  /// Seconds on the model's device: measured if an equal call was.
  double seconds(const planning::CostModel &model) const;
  bool isMeasured(const planning::CostModel &model) const;
};

/// Describes a kernel function (on tensors). The flops are the sum over its
/// ops; the bytes are those of results and of what the ops read of arguments.
/// Fails with a diagnostic where sizes aren't known or pass 64 bits.
FailureOr<CallDescription> describeKernel(func::FuncOp kernel);

/// Describes the calls of a host program; kernels are looked at once.
class CallDescriptions {
public:
  explicit CallDescriptions(const SymbolTable &symbols) : symbols(symbols) {}

  /// Of a launch, library call or copy, on buffers or tensors; empty for other
  /// ops (views, constants, returns), which cost nothing.
  FailureOr<std::optional<CallDescription>> get(Operation *op);

private:
  const SymbolTable &symbols;
  DenseMap<StringAttr, CallDescription> kernels;
};

/// The widest float type of what `op` reads and makes; f32 where there is none.
planning::Precision precisionOf(Operation *op);

/// Sets the device that `name` names: a built-in one, or a file with a device
/// in JSON or the report of a profiled run. Fails with a message for `fail`.
LogicalResult
loadCostModel(StringRef name, planning::CostModel &model,
              llvm::function_ref<LogicalResult(const Twine &)> fail);

} // namespace mlir::echo

#endif // ECHO_ANALYSIS_CALLCOSTS_H

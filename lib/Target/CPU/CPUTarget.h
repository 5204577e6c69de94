//===- CPUTarget.h - Machine code for CPUs ----------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_TARGET_CPU_CPUTARGET_H
#define ECHO_LIB_TARGET_CPU_CPUTARGET_H

#include "Echo/Target/Artifact.h"
#include "llvm/ADT/SmallString.h"
#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir::echo::cpu {

/// The CPU that code is generated for.
struct Machine {
  std::string triple;
  std::string cpu;              ///< LLVM's name
  std::string features;         ///< for the code generator
  std::string requiredFeatures; ///< what a machine must have: "+avx,+avx2"
};

/// Resolves "native" and checks names against LLVM's tables; diagnostics at
/// `loc`.
FailureOr<Machine> resolveMachine(Location loc, StringRef cpu,
                                  StringRef features);

using ObjectBuffer = llvm::SmallString<0>;

/// Translates a module in the LLVM dialect, optimizes it and writes LLVM IR,
/// assembly or an object.
LogicalResult generateCode(ModuleOp module, const Machine &machine,
                           const ArtifactOptions &options, EmitKind kind,
                           llvm::raw_ostream &stream);

/// The same to objects that are linked together: kernels are shared out to
/// partitions, which `options.threads` threads compile. The partitions depend
/// on the module alone.
LogicalResult generateObjects(ModuleOp module, const Machine &machine,
                              const ArtifactOptions &options,
                              SmallVectorImpl<ObjectBuffer> &objects);

/// Links objects to a shared object, which needs nothing but libc and libm;
/// `content` becomes its bytes.
LogicalResult linkSharedObject(Location loc, ArrayRef<ObjectBuffer> objects,
                               std::string &content);

} // namespace mlir::echo::cpu

#endif // ECHO_LIB_TARGET_CPU_CPUTARGET_H

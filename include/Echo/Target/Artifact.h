//===- Artifact.h - Compiling a module to an artefact -----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TARGET_ARTIFACT_H
#define ECHO_TARGET_ARTIFACT_H

#include "Echo/Transforms/Remat.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace mlir::echo {

/// What compiling writes: the module in the LLVM dialect (for a GPU: its kernels
/// in the NVVM dialect), LLVM IR after optimization, assembly, an object file,
/// the kernels as PTX or machine code of the first chip, or the artefact that
/// the runtime opens.
enum class EmitKind { MLIR, LLVM, Assembly, Object, PTX, Cubin, SharedObject };

/// How long a part of compilation took: a pass by its name, "codegen", "link".
struct PhaseTime {
  std::string name;
  double seconds = 0;
};

struct ArtifactOptions {
  std::string target = "cpu"; ///< "cpu" or "cuda"
  /// For "cuda": LLVM's names of chips, or "sim" for the simulator. The lowest
  /// one has PTX, which later chips can take, and each has machine code where
  /// ptxas is found.
  std::vector<std::string> chips;
  /// The function to compile; empty: the only public one.
  std::string entry;
  /// Optimizer to add to a forward function: "" (none), a kind, a kind with
  /// options ("adam,beta1=0.8") or options of echo-optimizer
  /// ("kind=adam beta1=0.8"). The gradient is built first.
  std::string optimizer;
  /// What is computed again (planning::rematStrategies()); empty: echo if the
  /// function has a loss.
  std::string strategy;
  /// Applied instead of a strategy's plan.
  std::optional<SavedPlan> plan;
  /// LLVM's name of the CPU; "native" for this machine's.
  std::string cpu = "native";
  /// LLVM target features to add, "+avx2,-avx512f".
  std::string features;
  int64_t alignment = 64; ///< of buffers in the arena, in bytes
  unsigned optimizationLevel = 3;
  unsigned threads = 2; ///< code generation; the output doesn't depend on it
  /// If given, the phases of the compilation are added there in their order.
  std::vector<PhaseTime> *phases = nullptr;
};

/// Takes the target "sim" for "cuda" with the chip "sim", and fills in the chip
/// of "cuda" where there is none. Returns what is wrong with target and chips,
/// or nothing.
std::string resolveTarget(ArtifactOptions &options);

/// Where ptxas of a CUDA Toolkit is: in PATH, or in the folder that $CUDA_HOME,
/// $CUDA_PATH or the toolkit's default is; "" if it is nowhere.
std::string findPtxas();

/// Compiles the entry function of `module` (a forward function, a training
/// step, or any function of Echo ops) and writes it to `path`, first under a
/// temporary name. The module is lowered in place. On failure a diagnostic was
/// emitted and `path` is as it was.
LogicalResult compileToArtifact(ModuleOp module, const ArtifactOptions &options,
                                llvm::StringRef path,
                                EmitKind kind = EmitKind::SharedObject);

/// The same, to a stream; for every kind but SharedObject.
LogicalResult compileToStream(ModuleOp module, const ArtifactOptions &options,
                              EmitKind kind, llvm::raw_ostream &stream);

/// What LLVM may call in kernels for a loop or an instruction that the CPU
/// lacks, and that gives the same bits everywhere. An artefact is refused that
/// needs another function.
ArrayRef<StringRef> libraryFunctionsOfKernels();

} // namespace mlir::echo

#endif // ECHO_TARGET_ARTIFACT_H

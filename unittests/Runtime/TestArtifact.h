//===- TestArtifact.h - A hand-written artefact -----------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A training step of linear regression, written by hand: y = x w + b,
// d = y - t, loss = sum(d * d), w -= rate * x^T d, b -= rate * (column sums of
// d), count += 1. Kernels are C, compiled to a shared object by the compiler
// that built the tests. The same step for a GPU has an image for the simulator,
// C as well, that gives the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_UNITTESTS_RUNTIME_TESTARTIFACT_H
#define ECHO_UNITTESTS_RUNTIME_TESTARTIFACT_H

#include "Program.h"

#include <string>

namespace echo::test {

inline constexpr int kRows = 4, kIn = 3, kOut = 2;

Program makeStepProgram();
const char *stepKernels();
Program makeGpuStepProgram();
/// FAULT is defined as a number: 0 for none, 1 to 4 for an access outside, a
/// race, a write to what is only read, and a divergent barrier in "difference".
const char *gpuStepKernels();

/// A folder of its own that is removed with everything in it at the end.
class Folder {
public:
  Folder();
  ~Folder();
  std::string path(const std::string &name) const { return root + "/" + name; }

private:
  std::string root;
};

/// Writes kernels and program bytes as C and compiles them to `path`. `size` is
/// what echo_program_size says; by default the bytes' number.
void compileArtifact(const std::string &path, const std::string &kernels,
                     const std::string &bytes, uint64_t size = UINT64_MAX);
/// The step of this file.
void compileStep(const std::string &path,
                 const Program &program = makeStepProgram());

/// The bytes of a shared object of C that may include "sim/Device.h".
std::string compileHostObject(const Folder &folder, const std::string &source);

struct TestImage {
  std::string chip;
  ImageKind kind;
  std::string bytes;
};
void compileGpuArtifact(const std::string &path, const Program &program,
                        const std::vector<TestImage> &images);
/// The step of this file for the chip "sim".
void compileGpuStep(const Folder &folder, const std::string &path,
                    int fault = 0,
                    const Program &program = makeGpuStepProgram());

std::string read(const std::string &path);
void write(const std::string &path, const std::string &content);

} // namespace echo::test

#endif // ECHO_UNITTESTS_RUNTIME_TESTARTIFACT_H

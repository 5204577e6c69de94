//===- ArtifactTest.cpp - What is refused at loading ----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestArtifact.h"
#include "echo_runtime.hpp"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>

using namespace echo;
using namespace echo::test;
using runtime::Session;

namespace {

/// The error of opening a file; "" if it opens.
std::string errorOf(const std::string &path, echo_status expected) {
  echo_session *session = nullptr;
  echo_status status = echo_session_open(path.c_str(), nullptr, &session);
  EXPECT_EQ(status, expected) << echo_last_error();
  if (status == ECHO_OK) {
    echo_session_close(session);
    return "";
  }
  EXPECT_EQ(session, nullptr);
  return echo_last_error();
}

#define EXPECT_CONTAINS(text, part)                                            \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Artifact, Files) {
  Folder folder;
  EXPECT_CONTAINS(errorOf(folder.path("absent.so"), ECHO_IO_ERROR),
                  "absent.so': No such file");
  EXPECT_CONTAINS(errorOf(folder.path(""), ECHO_IO_ERROR), "directory");
  write(folder.path("text.so"), "module { }");
  EXPECT_CONTAINS(errorOf(folder.path("text.so"), ECHO_INVALID_ARTIFACT),
                  "text.so': not a shared object");
  EXPECT_CONTAINS(errorOf("", ECHO_IO_ERROR), "can't read ''");
}

TEST(Artifact, TruncatedAtManyLengths) {
  // The loader would map what isn't there; one error instead.
  Folder folder;
  std::string path = folder.path("step.so");
  compileStep(path);
  std::string whole = read(path);
  for (size_t part = 0; part < 64; ++part) {
    std::string cut = folder.path("cut" + std::to_string(part) + ".so");
    write(cut, whole.substr(0, whole.size() * part / 64));
    EXPECT_CONTAINS(errorOf(cut, ECHO_INVALID_ARTIFACT), "shared object");
  }
}

TEST(Artifact, OtherMachine) {
  Folder folder;
  std::string path = folder.path("step.so");
  compileStep(path);
  std::string file = read(path);
  file[18] = char(243); // e_machine: RISC-V
  write(folder.path("foreign.so"), file);
  EXPECT_CONTAINS(errorOf(folder.path("foreign.so"), ECHO_INVALID_ARTIFACT),
                  "not a shared object for this machine");
}

TEST(Artifact, Symbols) {
  Folder folder;
  std::string bytes = makeStepProgram().serialize();
  compileArtifact(folder.path("kernels.so"), "int echo_kernels[3];", bytes);
  EXPECT_CONTAINS(errorOf(folder.path("kernels.so"), ECHO_INVALID_ARTIFACT),
                  "echo_kernels is too small for 3 kernels");
  compileArtifact(folder.path("none.so"), "", bytes);
  EXPECT_CONTAINS(errorOf(folder.path("none.so"), ECHO_INVALID_ARTIFACT),
                  "no symbol echo_kernels");
  compileArtifact(folder.path("null.so"), "void *echo_kernels[3];", bytes);
  EXPECT_CONTAINS(errorOf(folder.path("null.so"), ECHO_INVALID_ARTIFACT),
                  "kernel 0 'difference' is missing");
  compileArtifact(folder.path("size.so"), stepKernels(), bytes,
                  bytes.size() + 100000);
  EXPECT_CONTAINS(errorOf(folder.path("size.so"), ECHO_INVALID_ARTIFACT),
                  "echo_program_size says");
  compileArtifact(folder.path("short.so"), stepKernels(), bytes,
                  bytes.size() - 1);
  EXPECT_CONTAINS(errorOf(folder.path("short.so"), ECHO_INVALID_ARTIFACT),
                  "bytes");
}

TEST(Artifact, Images) {
  Folder folder;
  std::string bytes = makeGpuStepProgram().serialize();
  auto errorFor = [&](const std::string &images, const char *count = "1") {
    std::string path = folder.path("images.so");
    compileArtifact(path,
                    "static const char image[64] = \"\\177ELF\", text[] = \"// "
                    "PTX\";\nstruct { const char *chip; uint64_t kind; const "
                    "void *data; uint64_t bytes; } echo_images[] = {" +
                        images + "};\nuint64_t echo_num_images = " + count +
                        ";\n",
                    bytes);
    return errorOf(path, ECHO_INVALID_ARTIFACT);
  };
  EXPECT_CONTAINS(errorFor("{0}", "0"), "it has no image of its kernels");
  EXPECT_CONTAINS(errorFor("{0}", "2"), "echo_images is too small for 2");
  EXPECT_CONTAINS(errorFor("{0}", "0x1000000000000000"),
                  "echo_images is too small");
  EXPECT_CONTAINS(errorFor("{0}"),
                  "image 0: its chip or its bytes are missing");
  EXPECT_CONTAINS(errorFor("{(char *)64, 0, image, 64}"),
                  "image 0: its chip isn't a text of the file");
  EXPECT_CONTAINS(errorFor("{\"sm_90\", 0, text, sizeof(text)}"),
                  "image for 'sm_90': not a cubin");
  EXPECT_CONTAINS(errorFor("{\"sm_90\", 1, text, sizeof(text) - 1}"),
                  "expected a text that ends with its only zero byte");
  EXPECT_CONTAINS(errorFor("{\"sim\", 2, image, 64}"),
                  "image for 'sim': not a shared object");
  EXPECT_CONTAINS(errorFor("{\"sim\", 3, image, 64}"), "unknown kind 3");
  for (const char *size : {"1 << 30", "0x7fffffffffffffff", "~0ull"})
    for (const char *kind : {"0", "1", "2"})
      EXPECT_CONTAINS(
          errorFor(std::string("{\"sim\", ") + kind + ", image, " + size + "}"),
          "bytes, which the file doesn't have");
}

TEST(Artifact, TruncatedImages) {
  // A simulated GPU's image is a shared object within the artefact.
  Folder folder;
  std::string object = compileHostObject(
      folder, std::string("#define FAULT 0\n") + gpuStepKernels());
  Program program = makeGpuStepProgram();
  std::string path = folder.path("truncated.so");
  for (size_t part = 0; part < 16; ++part) {
    compileGpuArtifact(path, program,
                       {{"sim", ImageKind::HostObject,
                         object.substr(0, object.size() * part / 16)}});
    EXPECT_CONTAINS(errorOf(path, ECHO_INVALID_ARTIFACT), "shared object");
  }
}

TEST(Artifact, Programs) {
  Folder folder;
  std::string path = folder.path("damaged.so");
  std::string bytes = makeStepProgram().serialize();
  bytes[bytes.size() / 2] ^= 4;
  compileArtifact(path, stepKernels(), bytes);
  EXPECT_CONTAINS(errorOf(path, ECHO_INVALID_ARTIFACT), "checksum");

  bytes = makeStepProgram().serialize();
  bytes[8] = 2;
  compileArtifact(folder.path("version.so"), stepKernels(), bytes);
  EXPECT_CONTAINS(errorOf(folder.path("version.so"), ECHO_INVALID_ARTIFACT),
                  "program version 2, this runtime reads version 3");

  Program program = makeStepProgram();
  program.target = "abacus";
  compileStep(folder.path("abacus.so"), program);
  EXPECT_CONTAINS(errorOf(folder.path("abacus.so"), ECHO_INVALID_ARTIFACT),
                  "compiled for target 'abacus'");
}

TEST(Artifact, CpuFeatures) {
  Folder folder;
  Program program = makeStepProgram();
  program.cpu = "skylake";
  program.features = "+sse2,-avx512f,+a-feature-of-the-future,+xop,+lwp";
  compileStep(folder.path("future.so"), program);
  std::string error = errorOf(folder.path("future.so"), ECHO_INVALID_ARTIFACT);
  EXPECT_CONTAINS(error, "compiled for the CPU 'skylake', this one lacks: "
                         "a-feature-of-the-future");
  EXPECT_EQ(error.find("sse2"), std::string::npos);
  EXPECT_EQ(error.find("avx512f"), std::string::npos);

  // What every x86-64 CPU has, and what isn't asked for.
  program.features = "+sse2,+cmov,+fxsr,+mmx,+cx8,-a-feature-of-the-future";
  compileStep(folder.path("old.so"), program);
  EXPECT_EQ(errorOf(folder.path("old.so"), ECHO_OK), "");
}

TEST(Artifact, CpuFeaturesAgreeWithTheCompiler) {
  // __builtin_cpu_supports asks the CPU on its own.
  Folder folder;
  auto opens = [&](const char *feature) {
    Program program = makeStepProgram();
    program.features = std::string("+") + feature;
    std::string path = folder.path(std::string(feature) + ".so");
    compileStep(path, program);
    echo_session *session = nullptr;
    bool opened = echo_session_open(path.c_str(), nullptr, &session) == ECHO_OK;
    echo_session_close(session);
    return opened;
  };
  EXPECT_EQ(opens("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(opens("fma"), bool(__builtin_cpu_supports("fma")));
  EXPECT_EQ(opens("bmi2"), bool(__builtin_cpu_supports("bmi2")));
  EXPECT_EQ(opens("avx512vnni"), bool(__builtin_cpu_supports("avx512vnni")));
  EXPECT_EQ(opens("sse4.2"), bool(__builtin_cpu_supports("sse4.2")));
  EXPECT_EQ(opens("popcnt"), bool(__builtin_cpu_supports("popcnt")));
}

TEST(Artifact, OutOfMemory) {
  Folder folder;
  Program program = makeStepProgram();
  program.arenaBytes = uint64_t(1) << 60;
  compileStep(folder.path("huge.so"), program);
  EXPECT_CONTAINS(errorOf(folder.path("huge.so"), ECHO_OUT_OF_MEMORY),
                  "1152921504606846976 bytes for the arena");
}

TEST(Artifact, LargeAlignment) {
  Folder folder;
  Program program = makeStepProgram();
  program.arenaAlignment = 1 << 16;
  compileStep(folder.path("aligned.so"), program);
  Session session(folder.path("aligned.so"));
  session.initialize(1);
  session.step();
}

TEST(Artifact, ReplacedWhileOpen) {
  Folder folder;
  std::string path = folder.path("step.so");
  compileStep(path);
  {
    Session session(path);
    Session again(path);
    Program program = makeStepProgram();
    program.function = "other";
    compileStep(path, program);
    // The loader would hand out the old one under this name.
    EXPECT_CONTAINS(errorOf(path, ECHO_INVALID_ARTIFACT),
                    "replaced while a session of the earlier one is open");
    session.initialize(1);
    session.step();
  }
  Session session(path);
  EXPECT_EQ(echo_session_set(session.handle(), "v", nullptr, 0),
            ECHO_INVALID_ARGUMENT);
  EXPECT_STREQ(echo_last_error(), "'other' has no tensor 'v'");
}

TEST(Artifact, CProgram) {
  // A program in C11 trains with the same ABI.
  Folder folder;
  compileStep(folder.path("step.so"));
  std::string command = std::string(ECHO_C_PROGRAM) + " '" +
                        folder.path("step.so") + "' > '" + folder.path("out") +
                        "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_CONTAINS(read(folder.path("out")), "trained 3 steps of 8 tensors");
}

TEST(Artifact, RelativePath) {
  Folder folder;
  compileStep(folder.path("step.so"));
  auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path(""));
  EXPECT_EQ(errorOf("step.so", ECHO_OK), "");
  std::filesystem::current_path(before);
}

} // namespace

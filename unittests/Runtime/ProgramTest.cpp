//===- ProgramTest.cpp - Reading and writing host programs ----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "gtest/gtest.h"

#include <array>
#include <cstring>
#include <functional>
#include <limits>

using namespace echo;

namespace {

/// y = x w + b with a copy of y to a result; the arena holds x at 0 (2x3 f32),
/// y at 64 (2x4 f32), the copy at 128 and a loss at 192.
Program makeProgram() {
  Program p;
  p.function = "step";
  p.target = "cpu";
  p.cpu = "x86-64";
  p.features = "+sse2";
  p.arenaBytes = 256;
  p.logicalPeakBytes = 92;
  p.kernels = {{"k0"}, {"k1"}};
  p.strings = {"dense", "gemm", "copy", "kernel0", "add"};
  p.tensors = {
      {"x", Role::Input, DataType::F32, {2, 3}, 24, {0, 0}, {}, false},
      {"w",
       Role::Parameter,
       DataType::F32,
       {3, 4},
       48,
       {2, 0},
       {InitKind::Uniform, -0.5, 0.5},
       false},
      {"b",
       Role::State,
       DataType::F32,
       {4},
       16,
       {3, 0},
       {InitKind::Constant, 0.25, 0},
       false},
      {"y", Role::Result, DataType::F32, {2, 4}, 32, {0, 128}, {}, false},
      {"loss", Role::Result, DataType::F32, {}, 4, {0, 192}, {}, true},
  };
  p.operands = {{0, 0},  {2, 0},   {0, 64},  {3, 0},
                {0, 64}, {0, 128}, {0, 128}, {0, 192}};
  //              type           batch m  n  k  tA tB sA sB sC accumulate
  p.parameters = {int64_t(DataType::F32), 1, 2, 4, 3, 0, 0, 0, 0, 0, 0, 32, 7};
  p.calls = {{CallKind::Gemm, 0, 0, 0, 4, 0, 11, 0, 1, 1, 56, 120},
             {CallKind::Copy, 0, 0, 4, 2, 11, 1, 0, 2, 2, 0, 64},
             {CallKind::Kernel, 1, 5, 6, 2, 12, 1, 0, 3, 4, 8, 36}};
  return p;
}

/// The same for a GPU: the arena has 256 bytes more, the workspace. Kernel k1
/// reads the copy (32 bytes) and writes the loss (4).
Program makeGpuProgram() {
  Program p = makeProgram();
  p.target = "cuda";
  p.cpu = p.features = "";
  p.strategy = "echo";
  p.arenaAlignment = 256;
  p.arenaBytes = 512;
  p.workspaceOffset = p.workspaceBytes = 256;
  p.kernels = {{"k0", {0, 1, 1}, {32, 1, 1}, 0, {}, 0},
               {"k1", {3, 2, 1}, {16, 8, 4}, 1024, {{32, false}, {4, true}}, 1}};
  return p;
}

/// The error of parsing what `edit` made of the program; "" if it parses.
std::string errorOf(const std::function<void(Program &)> &edit,
                    Program program = makeProgram()) {
  edit(program);
  Program read;
  std::string error;
  return Program::parse(program.serialize(), read, error) ? "" : error;
}

/// FNV-1a, written out again: the test damages bytes and repairs the checksum.
std::string withChecksum(std::string bytes) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 32; i < bytes.size(); ++i)
    hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 1099511628211u;
  std::memcpy(&bytes[24], &hash, 8);
  return bytes;
}

TEST(Program, RoundTrip) {
  Program program = makeProgram();
  std::string bytes = program.serialize();
  EXPECT_EQ(bytes.substr(0, 8), "ECHOPROG");
  Program read;
  std::string error;
  ASSERT_TRUE(Program::parse(bytes, read, error)) << error;
  EXPECT_EQ(read.function, "step");
  EXPECT_EQ(read.target, "cpu");
  EXPECT_EQ(read.cpu, "x86-64");
  EXPECT_EQ(read.features, "+sse2");
  EXPECT_EQ(read.arenaBytes, 256u);
  EXPECT_EQ(read.arenaAlignment, 64u);
  EXPECT_EQ(read.logicalPeakBytes, 92u);
  ASSERT_EQ(read.kernels.size(), 2u);
  EXPECT_EQ(read.kernels[1].name, "k1");
  EXPECT_TRUE(read.kernels[1].arguments.empty());
  EXPECT_EQ(read.kernels[1].block[0], 0u);
  ASSERT_EQ(read.tensors.size(), 5u);
  EXPECT_EQ(read.tensors[1].name, "w");
  EXPECT_EQ(read.tensors[1].role, Role::Parameter);
  EXPECT_EQ(read.tensors[1].type, DataType::F32);
  EXPECT_EQ(read.tensors[1].shape, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(read.tensors[1].bytes, 48u);
  EXPECT_EQ(read.tensors[1].location.region, 2u);
  EXPECT_EQ(read.tensors[1].init.kind, InitKind::Uniform);
  EXPECT_EQ(read.tensors[1].init.a, -0.5);
  EXPECT_EQ(read.tensors[1].init.b, 0.5);
  EXPECT_TRUE(read.tensors[4].isLoss);
  EXPECT_TRUE(read.tensors[4].shape.empty());
  EXPECT_EQ(read.strings, program.strings);
  EXPECT_EQ(read.parameters, program.parameters);
  ASSERT_EQ(read.operands.size(), 8u);
  EXPECT_EQ(read.operands[7].offset, 192u);
  ASSERT_EQ(read.calls.size(), 3u);
  EXPECT_EQ(read.calls[2].kind, CallKind::Kernel);
  EXPECT_EQ(read.calls[2].function, 1u);
  EXPECT_EQ(read.calls[2].chunks, 5u);
  EXPECT_EQ(read.calls[2].firstOperand, 6u);
  EXPECT_EQ(read.calls[2].numOperands, 2u);
  EXPECT_EQ(read.calls[2].firstParameter, 12u);
  EXPECT_EQ(read.calls[2].numParameters, 1u);
  EXPECT_EQ(read.calls[2].name, 3u);
  EXPECT_EQ(read.calls[2].op, 4u);
  EXPECT_EQ(read.calls[2].flops, 8u);
  EXPECT_EQ(read.calls[2].bytes, 36u);
  EXPECT_EQ(read.serialize(), bytes);
}

TEST(Program, GpuRoundTrip) {
  Program program = makeGpuProgram(), read;
  std::string bytes = program.serialize(), error;
  ASSERT_TRUE(Program::parse(bytes, read, error)) << error;
  EXPECT_EQ(read.target, "cuda");
  EXPECT_EQ(read.strategy, "echo");
  EXPECT_EQ(read.workspaceOffset, 256u);
  EXPECT_EQ(read.workspaceBytes, 256u);
  ASSERT_EQ(read.kernels.size(), 2u);
  EXPECT_EQ(read.kernels[0].grid[0], 0u);
  EXPECT_TRUE(read.kernels[0].arguments.empty());
  const Kernel &kernel = read.kernels[1];
  EXPECT_EQ(kernel.name, "k1");
  for (int dim = 0; dim < 3; ++dim) {
    EXPECT_EQ(kernel.grid[dim], (std::array<uint32_t, 3>{3, 2, 1})[dim]);
    EXPECT_EQ(kernel.block[dim], (std::array<uint32_t, 3>{16, 8, 4})[dim]);
  }
  EXPECT_EQ(kernel.sharedBytes, 1024u);
  ASSERT_EQ(kernel.arguments.size(), 2u);
  EXPECT_EQ(kernel.arguments[0].bytes, 32u);
  EXPECT_FALSE(kernel.arguments[0].isWritten);
  EXPECT_EQ(kernel.arguments[1].bytes, 4u);
  EXPECT_TRUE(kernel.arguments[1].isWritten);
  EXPECT_EQ(kernel.numParameters, 1u);
  EXPECT_EQ(read.serialize(), bytes);
}

TEST(Program, EmptyRoundTrip) {
  Program empty, read;
  std::string error;
  EXPECT_TRUE(Program::parse(empty.serialize(), read, error)) << error;
}

class DamagedProgram : public ::testing::TestWithParam<bool> {
protected:
  Program program = GetParam() ? makeGpuProgram() : makeProgram();
  std::string bytes = program.serialize();
};
INSTANTIATE_TEST_SUITE_P(, DamagedProgram, ::testing::Bool());

TEST_P(DamagedProgram, TruncatedAtEveryLength) {
  for (size_t length = 0; length < bytes.size(); ++length) {
    Program read;
    std::string error;
    // A copy of its own, so that a sanitizer sees a read past the end.
    std::string part(bytes, 0, length);
    EXPECT_FALSE(Program::parse(part, read, error)) << length;
    EXPECT_FALSE(error.empty()) << length;
    // The same with a size and checksum that agree with what is there.
    if (length < 32)
      continue;
    uint64_t size = length;
    std::memcpy(&part[16], &size, 8);
    EXPECT_FALSE(Program::parse(withChecksum(part), read, error)) << length;
    EXPECT_FALSE(error.empty()) << length;
  }
}

TEST_P(DamagedProgram, EveryBitFlipIsSeen) {
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] ^= 1 << (bit % 8);
    Program read;
    std::string error;
    EXPECT_FALSE(Program::parse(flipped, read, error)) << bit;
  }
}

TEST_P(DamagedProgram, BitFlipsWithRightChecksumAreVerified) {
  // Whatever still parses must hold what a walk relies on.
  size_t accepted = 0;
  for (size_t bit = 32 * 8; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] ^= 1 << (bit % 8);
    Program read;
    std::string error;
    if (!Program::parse(withChecksum(flipped), read, error))
      continue;
    ++accepted;
    for (const Call &call : read.calls) {
      ASSERT_LE(uint64_t(call.firstOperand) + call.numOperands,
                read.operands.size());
      ASSERT_LE(uint64_t(call.firstParameter) + call.numParameters,
                read.parameters.size());
      if (call.kind == CallKind::Kernel) {
        ASSERT_LT(call.function, read.kernels.size());
        if (read.target != "cuda")
          continue;
        const Kernel &kernel = read.kernels[call.function];
        ASSERT_EQ(call.numOperands, kernel.arguments.size());
        ASSERT_EQ(call.numParameters, kernel.numParameters);
        for (uint32_t i = 0; i < call.numOperands; ++i) {
          const Location &operand = read.operands[call.firstOperand + i];
          uint64_t size = operand.region
                              ? read.tensors[operand.region - 1].bytes
                              : read.arenaBytes;
          ASSERT_LE(kernel.arguments[i].bytes, size - operand.offset);
        }
      }
    }
    ASSERT_LE(read.workspaceOffset, read.arenaBytes);
    ASSERT_LE(read.workspaceBytes, read.arenaBytes - read.workspaceOffset);
    for (const Kernel &kernel : read.kernels) {
      if (read.target != "cuda")
        continue;
      uint64_t threads =
          uint64_t(kernel.block[0]) * kernel.block[1] * kernel.block[2];
      ASSERT_GE(threads, 1u);
      ASSERT_LE(threads, 1024u);
      ASSERT_LE(kernel.grid[1], 65535u);
      ASSERT_LE(kernel.grid[2], 65535u);
    }
    for (const Location &operand : read.operands) {
      ASSERT_LE(operand.region, read.tensors.size());
      ASSERT_LE(operand.offset, operand.region
                                    ? read.tensors[operand.region - 1].bytes
                                    : read.arenaBytes);
    }
  }
  // Names and doubles may change freely, so that some are accepted.
  EXPECT_GT(accepted, 0u);
}

TEST(Program, HostileCounts) {
  Program program = makeGpuProgram();
  std::string bytes = program.serialize();
  auto expectMalformed = [&](size_t place, uint64_t entries) {
    uint64_t count;
    std::memcpy(&count, &bytes[place], 8);
    ASSERT_EQ(count, entries);
    for (uint64_t hostile : {uint64_t(1) << 32, uint64_t(1) << 61,
                             std::numeric_limits<uint64_t>::max()}) {
      std::string damaged = bytes;
      std::memcpy(&damaged[place], &hostile, 8);
      Program read;
      std::string error;
      EXPECT_FALSE(Program::parse(withChecksum(damaged), read, error))
          << hostile;
      EXPECT_NE(error.find("malformed program"), std::string::npos) << error;
    }
  };
  // The count of the kernels follows five strings and five u64; that of the
  // last one's arguments its name and seven u32.
  size_t place = 32;
  for (const std::string &s : {program.function, program.target, program.cpu,
                               program.features, program.strategy})
    place += 8 + s.size();
  place += 5 * 8;
  expectMalformed(place, 2);
  place += 8 + (8 + 2 + 7 * 4 + 8 + 4) + (8 + 2 + 7 * 4);
  expectMalformed(place, 2);
  place += 8 + 2 * 9 + 4;
  expectMalformed(place, program.tensors.size());
  // A string whose length wraps the position.
  bytes = program.serialize();
  uint64_t length = std::numeric_limits<uint64_t>::max() - 3;
  std::memcpy(&bytes[32], &length, 8);
  Program read;
  std::string error;
  EXPECT_FALSE(Program::parse(withChecksum(bytes), read, error));
}

TEST(Program, Header) {
  std::string bytes = makeProgram().serialize();
  Program read;
  std::string error;
  EXPECT_FALSE(Program::parse("", read, error));
  EXPECT_NE(error.find("truncated"), std::string::npos) << error;
  std::string other = bytes;
  other[8] = 99;
  EXPECT_FALSE(Program::parse(other, read, error));
  EXPECT_NE(error.find("version 99"), std::string::npos) << error;
  other = bytes;
  other[0] = 'X';
  EXPECT_FALSE(Program::parse(other, read, error));
  EXPECT_NE(error.find("not an Echo program"), std::string::npos) << error;
  EXPECT_FALSE(Program::parse(bytes + "x", read, error));
  other = bytes;
  other.back() ^= 1;
  EXPECT_FALSE(Program::parse(other, read, error));
  EXPECT_NE(error.find("checksum"), std::string::npos) << error;
}

TEST(Program, FailureLeavesTheProgramAlone) {
  Program read = makeProgram();
  std::string error;
  EXPECT_FALSE(Program::parse("nothing of the kind", read, error));
  EXPECT_EQ(read.serialize(), makeProgram().serialize());
}

// Variadic: an edit may have commas inside braces.
#define EXPECT_ERROR(text, ...)                                                \
  do {                                                                         \
    std::string found = errorOf([](Program &p) { __VA_ARGS__; });              \
    EXPECT_NE(found.find(text), std::string::npos) << found;                   \
  } while (false)

TEST(Program, Tensors) {
  EXPECT_EQ(errorOf([](Program &) {}), "");
  EXPECT_ERROR("two tensors", p.tensors[1].name = "x");
  EXPECT_ERROR("expected a name", p.tensors[1].name = "");
  EXPECT_ERROR("unknown role", p.tensors[0].role = Role(5));
  EXPECT_ERROR("unknown element type", p.tensors[0].type = DataType(8));
  EXPECT_ERROR("negative extent", p.tensors[0].shape[0] = -2);
  EXPECT_ERROR("its shape takes 36", p.tensors[0].shape[0] = 3);
  EXPECT_ERROR("overflows",
               p.tensors[0].shape =
                   (std::vector<int64_t>{1LL << 31, 1LL << 31, 1LL << 31}));
  // 2^62 + 2^62 elements of 4 bytes wrap to 0 in 64 bits.
  EXPECT_ERROR("overflows", p.tensors[0].shape = {1LL << 62};
               p.tensors[0].bytes = 0);
  EXPECT_ERROR("outside the arena", p.tensors[3].location.offset = 228);
  EXPECT_ERROR("outside the arena",
               p.tensors[3].location.offset = UINT64_MAX - 3);
  EXPECT_ERROR("multiple of its element", p.tensors[3].location.offset = 2);
  EXPECT_ERROR("lie in the arena", p.tensors[0].location.region = 2);
  EXPECT_ERROR("region of its index", p.tensors[1].location.region = 0);
  EXPECT_ERROR("region of its index", p.tensors[1].location.offset = 4);
  EXPECT_ERROR("loss must be", p.tensors[0].isLoss = true);
  EXPECT_ERROR("loss must be", p.tensors[3].isLoss = true);
  EXPECT_EQ(errorOf([](Program &p) {
              p.tensors[0].shape = {0, 1LL << 40};
              p.tensors[0].bytes = 0;
            }),
            "");
}

TEST(Program, Inits) {
  EXPECT_ERROR("unknown kind", p.tensors[0].init.kind = InitKind(5));
  EXPECT_ERROR("bounds in order", p.tensors[1].init.a = 1);
  EXPECT_ERROR("bounds in order",
               p.tensors[1].init.b = std::numeric_limits<double>::infinity());
  EXPECT_ERROR("deviation",
               p.tensors[1].init = (Init{InitKind::Normal, 0, -1}));
  EXPECT_ERROR("integer type",
               p.tensors[1].init = (Init{InitKind::RandInt, 0, 9}));
  auto integers = [](Init init) {
    return errorOf([&](Program &p) {
      p.tensors[0].type = DataType::I32;
      p.tensors[0].init = init;
    });
  };
  EXPECT_EQ(integers({InitKind::RandInt, 0, 9}), "");
  EXPECT_NE(integers({InitKind::RandInt, 9, 9}), "");
  EXPECT_NE(integers({InitKind::RandInt, 0.5, 9}), "");
  EXPECT_NE(integers({InitKind::Constant, 0.5, 0}), "");
  EXPECT_NE(integers({InitKind::Constant, 1e300, 0}), "");
  EXPECT_NE(integers({InitKind::Uniform, 0, 1}), "");
}

TEST(Program, Arena) {
  EXPECT_ERROR("alignment 0", p.arenaAlignment = 0);
  EXPECT_ERROR("alignment 48", p.arenaAlignment = 48);
  EXPECT_ERROR("arena of", p.arenaBytes = UINT64_MAX);
  EXPECT_ERROR("a workspace, but the target 'cpu' has none",
               p.workspaceBytes = 64);
}

TEST(Program, OperandsAndCalls) {
  EXPECT_ERROR("region 9", p.operands[0].region = 9);
  EXPECT_ERROR("region 1 is neither", p.operands[0].region = 1);
  EXPECT_ERROR("outside its region", p.operands[7].offset = 257);
  EXPECT_ERROR("outside its region of 48", p.operands[1].offset = 52);
  EXPECT_ERROR("operand table", p.calls[2].numOperands = 3);
  EXPECT_ERROR("operand table", p.calls[2].firstOperand = UINT32_MAX);
  EXPECT_ERROR("parameter table", p.calls[2].numParameters = 2);
  EXPECT_ERROR("parameter table", p.calls[2].firstParameter = UINT32_MAX);
  EXPECT_ERROR("string table", p.calls[2].name = 5);
  EXPECT_ERROR("string table", p.calls[2].op = 5);
  EXPECT_ERROR("string table", p.calls[2].layer = 5);
  EXPECT_ERROR("kernel 2, but there are 2", p.calls[2].function = 2);
  EXPECT_ERROR("chunks", p.calls[2].chunks = UINT64_MAX);
  EXPECT_ERROR("unknown kind of call", p.calls[2].kind = CallKind(3));
  EXPECT_ERROR("two kernels have this name", p.kernels[1].name = "k0");
  EXPECT_ERROR("expected a name without", p.kernels[1].name = "");
  EXPECT_ERROR("a name alone for the target 'cpu'", p.kernels[1].block[0] = 1);
  EXPECT_ERROR("a name alone for the target 'cpu'", p.kernels[1].grid[2] = 1);
  EXPECT_ERROR("a name alone for the target 'cpu'",
               p.kernels[1].arguments = (std::vector<KernelArgument>(1)));
}

TEST(Program, GpuKernels) {
  auto errorOfGpu = [](const std::function<void(Program &)> &edit) {
    return errorOf(edit, makeGpuProgram());
  };
#define EXPECT_GPU_ERROR(text, ...)                                            \
  do {                                                                         \
    std::string found = errorOfGpu([](Program &p) { __VA_ARGS__; });           \
    EXPECT_NE(found.find(text), std::string::npos) << found;                   \
  } while (false)
  EXPECT_EQ(errorOfGpu([](Program &) {}), "");
  EXPECT_EQ(errorOfGpu([](Program &p) {
              p.kernels[1].grid[0] = 2147483647;
              p.kernels[1].grid[1] = p.kernels[1].grid[2] = 65535;
              p.kernels[1].block[0] = 2;
              p.kernels[1].block[2] = 64;
            }),
            "");
  EXPECT_GPU_ERROR("a grid of 2147483648 in x", p.kernels[1].grid[0] = 1u << 31);
  EXPECT_GPU_ERROR("a grid of 65536 in y", p.kernels[1].grid[1] = 65536);
  EXPECT_GPU_ERROR("a grid of 65536 in z", p.kernels[1].grid[2] = 65536);
  EXPECT_GPU_ERROR("a block of 0 in y", p.kernels[0].block[1] = 0);
  EXPECT_GPU_ERROR("a block of 65 in z", p.kernels[0].block[2] = 65);
  EXPECT_GPU_ERROR("a block of 1056 threads", p.kernels[0].block[1] = 33);
  EXPECT_GPU_ERROR("232449 bytes of shared memory",
                   p.kernels[1].sharedBytes = 232449);
  EXPECT_GPU_ERROR("operand 0 takes 385 bytes",
                   p.kernels[1].arguments[0].bytes = 385);
  EXPECT_GPU_ERROR("operand 1 takes 18446744073709551615 bytes",
                   p.kernels[1].arguments[1].bytes = UINT64_MAX);
  EXPECT_GPU_ERROR("its kernel takes 1 and 1",
                   p.kernels[1].arguments.pop_back());
  EXPECT_GPU_ERROR("its kernel takes 2 and 0", p.kernels[1].numParameters = 0);
  EXPECT_GPU_ERROR("kernel 2, but there are 2", p.calls[2].function = 2);
  EXPECT_GPU_ERROR("ends outside the arena", p.workspaceBytes = 257);
  EXPECT_GPU_ERROR("ends outside the arena", p.workspaceOffset = UINT64_MAX);
  EXPECT_GPU_ERROR("isn't aligned to 256", p.workspaceOffset = 192);
  EXPECT_GPU_ERROR("isn't aligned to 256", p.arenaAlignment = 64);
  EXPECT_GPU_ERROR("lies in the workspace", p.workspaceOffset = 0);
  EXPECT_EQ(errorOfGpu([](Program &p) {
              p.workspaceBytes = 0;
              p.arenaAlignment = 64;
            }),
            "");
#undef EXPECT_GPU_ERROR
}

TEST(Program, Copies) {
  EXPECT_ERROR("negative size", p.parameters[11] = -1);
  EXPECT_ERROR("target takes 129 bytes", p.parameters[11] = 129);
  EXPECT_ERROR("overlap", p.parameters[11] = 65);
  EXPECT_ERROR("two operands", p.calls[1].numOperands = 1);
}

TEST(Program, Gemms) {
  EXPECT_ERROR("a float type", p.parameters[0] = int64_t(DataType::I8));
  EXPECT_ERROR("a float type", p.parameters[0] = int64_t(DataType::I1) + 1);
  // The same matrices in half the bytes.
  EXPECT_EQ(errorOf([](Program &p) {
              p.parameters[0] = int64_t(DataType::BF16);
            }),
            "");
  EXPECT_ERROR("negative parameter", p.parameters[2] = -1);
  EXPECT_ERROR("neither 0 nor 1", p.parameters[5] = 2);
  EXPECT_ERROR("doesn't accumulate", p.parameters[10] = 1);
  EXPECT_ERROR("11 parameters", p.calls[0].numParameters = 10);
  EXPECT_ERROR("three operands", p.calls[0].numOperands = 2);
  // b grows to 4 x 4 and leaves w.
  EXPECT_ERROR("b takes 64 bytes", p.parameters[4] = 4);
  EXPECT_ERROR("bias takes 20 bytes", p.parameters[3] = 5;
               p.tensors[1].bytes = 60; p.tensors[1].shape = {3, 5});
  EXPECT_ERROR("overflows", p.parameters[4] = INT64_MAX);
  EXPECT_ERROR("overflows", p.parameters[1] = 1LL << 40;
               p.parameters[7] = 1LL << 40);
  // Nothing is multiplied, but OpenBLAS counts in 32 bits.
  EXPECT_ERROR("an extent of 2147483648 is above 2^31 - 1", p.parameters[3] = 0;
               p.parameters[4] = 1LL << 31);
  EXPECT_ERROR("batches overlap", p.parameters[1] = 2; p.parameters[9] = 7);
  EXPECT_ERROR("overlaps an operand", p.operands[2].offset = 20);
  EXPECT_ERROR("multiple of the element", p.operands[2].offset = 66);
  // With two batches x is read once with stride 0, and y ends at 128.
  EXPECT_EQ(errorOf([](Program &p) {
              p.parameters[1] = 2;
              p.parameters[9] = 8;
            }),
            "");
  // An empty product reads nothing; a, b may end at their region's end.
  EXPECT_EQ(errorOf([](Program &p) { p.parameters[4] = 0; }), "");
}

TEST(Program, Names) {
  EXPECT_STREQ(nameOf(DataType::BF16), "bf16");
  EXPECT_STREQ(nameOf(Role::Label), "label");
  EXPECT_EQ(bytesOf(DataType::I1), 1u);
  EXPECT_EQ(bytesOf(DataType::F16), 2u);
  EXPECT_EQ(bytesOf(DataType::I64), 8u);
}

} // namespace

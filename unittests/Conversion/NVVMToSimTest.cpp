//===- NVVMToSimTest.cpp - GPU functions on the simulator -----------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of the GPU dialect, compiled for the simulator: what they compute
// and which of their faults are seen.
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/Passes.h"
#include "Echo/Pipelines/Pipelines.h"
#include "SimulatedModule.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;
using namespace ::echo::sim;

namespace {

class NVVMToSim : public CompiledKernels {
protected:
  /// Compiles `gpu.func @k(arguments) sizes { body }`, in a module with `more`.
  void compileKernel(const std::string &arguments, const std::string &body,
                     int block, int grid = 1, const std::string &shared = "",
                     const std::string &more = "") {
    auto sizes = [](int x) {
      return "array<i32: " + std::to_string(x) + ", 1, 1>";
    };
    std::string source =
        "gpu.module @echo_kernels {\n" + more + "gpu.func @k(" + arguments +
        ") " + shared +
        " kernel attributes {known_block_size = " + sizes(block) +
        ", known_grid_size = " + sizes(grid) + "} {\n%x = gpu.thread_id x\n" +
        body + "gpu.return\n}\n}\n";
    SCOPED_TRACE(source);
    module = parseSourceString<ModuleOp>(source, ParserConfig(&context));
    ASSERT_TRUE(module);
    PassManager manager(&context);
    buildGPUToNVVMPipeline(manager.nest<gpu::GPUModuleOp>());
    manager.addPass(createEchoNVVMToSimPass());
    ASSERT_TRUE(succeeded(manager.run(*module)));
    OwningOpRef<ModuleOp> alone(
        cast<ModuleOp>(module->lookupSymbol("echo_kernels")->clone()));
    simulated = std::make_unique<SimulatedModule>(*alone);
  }

  /// Launches it on buffers, which may all be written.
  template <typename... T>
  LaunchResult run(bool isReverse, std::vector<T> &...buffers) {
    Launch launch = simulated->launchOf("k");
    (launch.buffers.push_back({buffers.data(), buffers.size() * sizeof(T)}),
     ...);
    std::vector<void *> pointers;
    for (Buffer &buffer : launch.buffers)
      pointers.push_back(buffer.data);
    std::vector<void *> arguments;
    for (void *&pointer : pointers)
      arguments.push_back(&pointer);
    launch.arguments = arguments.data();
    LaunchOptions options;
    options.isReverse = isReverse;
    return ::echo::sim::launch(launch, options);
  }

  static std::string reports(const LaunchResult &result) {
    std::string text;
    for (const Fault &fault : result.faults)
      text += describe(fault) + "\n";
    return text;
  }

  static void expectFault(const LaunchResult &result, StringRef text) {
    EXPECT_TRUE(StringRef(reports(result)).contains(text)) << reports(result);
  }

  OwningOpRef<ModuleOp> module;
  std::unique_ptr<SimulatedModule> simulated;
};

/// What a lane of 32 gets from a shuffle of `width` lanes.
struct ShuffleCase {
  const char *kind;
  int offset, width;
  int (*source)(int lane); ///< -1: its own, and the predicate is false
};

TEST_F(NVVMToSim, Shuffles) {
  const ShuffleCase cases[] = {
      {"down", 5, 32, [](int lane) { return lane + 5 < 32 ? lane + 5 : -1; }},
      {"up", 3, 32, [](int lane) { return lane - 3 >= 0 ? lane - 3 : -1; }},
      {"xor", 17, 32, [](int lane) { return lane ^ 17; }},
      {"idx", 9, 32, [](int) { return 9; }},
  };
  for (const ShuffleCase &test : cases) {
    for (const char *type : {"f32", "i32", "i64", "f64"}) {
      std::string t = type;
      compileKernel("%in: memref<32x" + t + ">, %out: memref<32x" + t +
                        ">, %valid: memref<32xi8>",
                    "%offset = arith.constant " + std::to_string(test.offset) +
                        " : i32\n%width = arith.constant " +
                        std::to_string(test.width) +
                        " : i32\n%v = memref.load %in[%x] : memref<32x" + t +
                        ">\n%r, %p = gpu.shuffle " + test.kind +
                        " %v, %offset, %width : " + t +
                        "\nmemref.store %r, %out[%x] : memref<32x" + t +
                        ">\n%b = arith.extui %p : i1 to i8\n"
                        "memref.store %b, %valid[%x] : memref<32xi8>\n",
                    32);
      if (HasFatalFailure())
        return;
      // Bits that differ in both halves of 64.
      size_t size = t.back() == '2' ? 4 : 8;
      for (bool isReverse : {false, true}) {
        std::vector<uint8_t> in(32 * size), out(32 * size), valid(32, 7);
        for (size_t i = 0; i < in.size(); ++i)
          in[i] = uint8_t(37 * i + 11);
        EXPECT_EQ(reports(run(isReverse, in, out, valid)), "");
        for (int lane = 0; lane < 32; ++lane) {
          int source = test.source(lane);
          EXPECT_EQ(valid[lane], source >= 0) << test.kind << t << lane;
          if (source < 0)
            source = lane;
          for (size_t i = 0; i < size; ++i)
            EXPECT_EQ(out[lane * size + i], in[source * size + i])
                << test.kind << " " << t << ", lane " << lane;
        }
      }
    }
  }
}

TEST_F(NVVMToSim, Registers) {
  compileKernel("%out: memref<96xi64>", R"(
    %b = gpu.block_id x
    %n = gpu.block_dim x
    %g = gpu.grid_dim x
    %l = gpu.lane_id
    %first = arith.muli %b, %n : index
    %i = arith.addi %first, %x : index
    %c100 = arith.constant 100 : index
    %0 = arith.muli %g, %c100 : index
    %1 = arith.addi %0, %l : index
    %2 = arith.index_cast %1 : index to i64
    memref.store %2, %out[%i] : memref<96xi64>
  )",
                48, 2);
  std::vector<int64_t> out(96);
  EXPECT_EQ(reports(run(false, out)), "");
  for (int i = 0; i < 96; ++i)
    EXPECT_EQ(out[i], 200 + i % 48 % 32);
}

TEST_F(NVVMToSim, Votes) {
  compileKernel("%out: memref<32xi32>, %all: memref<32xi8>", R"(
    %c3 = arith.constant 3 : index
    %r = arith.remui %x, %c3 : index
    %c0 = arith.constant 0 : index
    %p = arith.cmpi eq, %r, %c0 : index
    %m = arith.constant -1 : i32
    %ballot = nvvm.vote.sync ballot %m, %p -> i32
    memref.store %ballot, %out[%x] : memref<32xi32>
    %any = nvvm.vote.sync any %m, %p -> i1
    %every = nvvm.vote.sync all %m, %p -> i1
    %uni = nvvm.vote.sync uni %m, %every -> i1
    %c1 = arith.constant 1 : i8
    %c2 = arith.constant 2 : i8
    %a = arith.extui %any : i1 to i8
    %e = arith.extui %every : i1 to i8
    %u = arith.extui %uni : i1 to i8
    %e2 = arith.shli %e, %c1 : i8
    %u2 = arith.shli %u, %c2 : i8
    %ae = arith.ori %a, %e2 : i8
    %aeu = arith.ori %ae, %u2 : i8
    memref.store %aeu, %all[%x] : memref<32xi8>
  )",
                32);
  std::vector<uint32_t> out(32);
  std::vector<uint8_t> all(32);
  EXPECT_EQ(reports(run(false, out, all)), "");
  uint32_t expected = 0;
  for (int i = 0; i < 32; i += 3)
    expected |= uint32_t(1) << i;
  EXPECT_EQ(out, std::vector<uint32_t>(32, expected));
  // Any, not all, and all agree about that.
  EXPECT_EQ(all, std::vector<uint8_t>(32, 1 | 4));
}

/// Reverses 64 elements a block through shared memory.
static std::string reverseBlock(const std::string &barrier) {
  return R"(
    %b = gpu.block_id x
    %c64 = arith.constant 64 : index
    %c63 = arith.constant 63 : index
    %first = arith.muli %b, %c64 : index
    %i = arith.addi %first, %x : index
    %v = memref.load %data[%i] : memref<128xf32>
    memref.store %v, %s[%x] : memref<64xf32, #gpu.address_space<workgroup>>
  )" + barrier +
         R"(
    %y = arith.subi %c63, %x : index
    %w = memref.load %s[%y] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %data[%i] : memref<128xf32>
  )";
}
static const char *const kShared =
    "workgroup(%s: memref<64xf32, #gpu.address_space<workgroup>>)";

TEST_F(NVVMToSim, SharedMemory) {
  compileKernel("%data: memref<128xf32>", reverseBlock("gpu.barrier"), 64, 2,
                kShared);
  EXPECT_EQ(simulated->launchOf("k").shared.size(), 1u);
  for (bool isReverse : {false, true}) {
    std::vector<float> data(128);
    for (int i = 0; i < 128; ++i)
      data[i] = i;
    EXPECT_EQ(reports(run(isReverse, data)), "");
    for (int i = 0; i < 128; ++i)
      EXPECT_EQ(data[i], float(i / 64 * 64 + 63 - i % 64));
  }
  compileKernel("%data: memref<128xf32>", reverseBlock(""), 64, 2, kShared);
  std::vector<float> data(128);
  expectFault(run(false, data), "race: ");
}

// LLVM would make one of two barriers that begin both branches.
TEST_F(NVVMToSim, DivergentBarrier) {
  compileKernel("%data: memref<64xf32>", R"(
    %c3 = arith.constant 3 : index
    %p = arith.cmpi ult, %x, %c3 : index
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    scf.if %p {
      gpu.barrier
      memref.store %one, %data[%x] : memref<64xf32>
    } else {
      gpu.barrier
      memref.store %two, %data[%x] : memref<64xf32>
      memref.store %one, %data[%x] : memref<64xf32>
    }
  )",
                64);
  std::vector<float> data(64);
  expectFault(run(false, data), "thread (3, 0, 0) is at another barrier");
}

// Eight elements at once, from the first or the `shift`-th on.
TEST_F(NVVMToSim, Vectors) {
  auto compile = [&](const std::string &shift) {
    compileKernel("%in: memref<80xf16>, %out: memref<64xf16>",
                  "%c8 = arith.constant 8 : index\n%shift = arith.constant " +
                      shift + " : index\n" + R"(
      %i = arith.muli %x, %c8 : index
      %j = arith.addi %i, %shift : index
      %v = vector.load %in[%j] {alignment = 16} : memref<80xf16>, vector<8xf16>
      vector.store %v, %out[%i] {alignment = 16} : memref<64xf16>, vector<8xf16>
    )",
                  8);
  };
  std::vector<uint16_t> memory(80 + 64 + 8, 0);
  for (size_t i = 0; i < 80; ++i)
    memory[i] = 100 + i;
  std::vector<uint16_t> in(memory.begin(), memory.begin() + 80), out(64);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(in.data()) % 16, 0u);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(out.data()) % 16, 0u);
  compile("8");
  EXPECT_EQ(reports(run(false, in, out)), "");
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 108 + i);
  compile("4");
  expectFault(run(false, in, out),
              "misaligned: reads 16 bytes at offset 8 of buffer 0");
  compile("24");
  expectFault(run(true, in, out),
              "out of bounds: reads 16 bytes at offset 160 of buffer 0");
}

// Neither constants nor a thread's own variables are the buffers'.
TEST_F(NVVMToSim, LocalMemory) {
  compileKernel("%out: memref<4xf32>", R"(
    %t = memref.get_global @table : memref<4xf32>
    %local = memref.alloca() : memref<4xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %j = arith.subi %c4, %i : index
      %k = arith.subi %j, %c1 : index
      %v = memref.load %t[%i] : memref<4xf32>
      memref.store %v, %local[%k] : memref<4xf32>
    }
    %v = memref.load %local[%x] : memref<4xf32>
    memref.store %v, %out[%x] : memref<4xf32>
  )",
                4, 1, "",
                "memref.global \"private\" constant @table : memref<4xf32> = "
                "dense<[1.0, 2.0, 4.0, 8.0]>\n");
  std::vector<float> out(4);
  EXPECT_EQ(reports(run(false, out)), "");
  EXPECT_EQ(out, (std::vector<float>{8, 4, 2, 1}));
}

TEST_F(NVVMToSim, AtomicsAndTraps) {
  compileKernel("%sum: memref<1xf32>", R"(
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %old = memref.atomic_rmw addf %one, %sum[%c0] : (f32, memref<1xf32>) -> f32
    %c7 = arith.constant 7 : index
    %p = arith.cmpi eq, %x, %c7 : index
    scf.if %p {
      llvm.intr.trap
    }
  )",
                64);
  std::vector<float> sum(1);
  expectFault(run(false, sum), "thread (7, 0, 0): trap");
  EXPECT_EQ(sum[0], 8.0f);
}

} // namespace

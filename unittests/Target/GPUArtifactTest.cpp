//===- GPUArtifactTest.cpp - Programs of artefacts for GPUs ---------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/InitAll.h"
#include "Echo/Target/Artifact.h"
#include "Program.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::echo;

namespace {

/// The program in the artefact of a graph.
void compileForChips(const std::string &graph, std::vector<std::string> chips,
                     ::echo::Program &program) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::echo::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(graph, &context);
  ASSERT_TRUE(module);
  SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("echo-gpu-test", "so", path));
  llvm::FileRemover remover(path);
  ArtifactOptions options;
  options.target = "cuda";
  options.chips = std::move(chips);
  ASSERT_TRUE(succeeded(compileToArtifact(*module, options, path)));
  void *artifact = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(artifact) << dlerror();
  auto *bytes = static_cast<const char *>(dlsym(artifact, "echo_program"));
  auto *size =
      static_cast<const uint64_t *>(dlsym(artifact, "echo_program_size"));
  ASSERT_TRUE(bytes && size);
  std::string error;
  EXPECT_TRUE(::echo::Program::parse({bytes, *size}, program, error)) << error;
  dlclose(artifact);
}

// Two inputs and a result of 8 x 8 bf16, 128 bytes each: at 0, 256 and 512. The
// library's part begins behind them, at a multiple of 256 bytes.
TEST(GPUArtifact, AProductHasAWorkspaceAtTheArenasEnd) {
  const std::string graph = R"mlir(
    func.func @f(%a: tensor<8x8xbf16>, %b: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
      %0 = echo.matmul %a, %b : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
      return %0 : tensor<8x8xbf16>
    })mlir";
  using Chips = std::vector<std::string>;
  for (auto [chips, bytes] :
       {std::pair(Chips{"sm_75"}, 4 << 20), {Chips{"sm_80", "sm_89"}, 4 << 20},
        {Chips{"sm_90"}, 32 << 20}, {Chips{"sm_75", "sm_120"}, 32 << 20},
        {Chips{"sim"}, 64 << 10}, {Chips{"sim", "sm_75"}, 4 << 20}}) {
    ::echo::Program program;
    compileForChips(graph, chips, program);
    EXPECT_EQ(program.arenaAlignment, 256u);
    EXPECT_EQ(program.workspaceOffset, 768u) << chips.back();
    EXPECT_EQ(program.workspaceBytes, uint64_t(bytes)) << chips.back();
    EXPECT_EQ(program.arenaBytes, 768u + bytes) << chips.back();
    ASSERT_EQ(program.calls.size(), 1u);
    EXPECT_EQ(program.parameters.front(), int64_t(::echo::DataType::BF16));
  }
}

TEST(GPUArtifact, NoProductNoWorkspace) {
  ::echo::Program program;
  compileForChips(R"mlir(
    func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = echo.tanh %a : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    })mlir",
                  {"sim"}, program);
  EXPECT_EQ(program.workspaceBytes, 0u);
  EXPECT_EQ(program.kernels.size(), 1u);
  // The input and the result, 256 bytes each; they may lie in one place.
  EXPECT_LE(program.arenaBytes, 512u);
}

} // namespace

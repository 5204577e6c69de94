//===- StepMemoryTest.cpp - Tests of what is in memory --------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/StepMemory.h"
#include "AnalysisTesting.h"
#include "Echo/Transforms/PlanMemory.h"

using namespace mlir;
using namespace mlir::echo;

namespace {

const char *const kKernels = R"(
func.func private @unary(%a: tensor<16xf32>) -> tensor<16xf32> attributes {echo.kernel} {
  %0 = echo.exp %a : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @binary(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32>
    attributes {echo.kernel} {
  %0 = echo.mul %a, %b : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @sum(%a: tensor<16xf32>) -> tensor<f32> attributes {echo.kernel} {
  %0 = echo.reduce sum %a {dims = array<i64: 0>} : (tensor<16xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @update(%w: tensor<16xf32>, %m: tensor<16xf32>, %g: tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) attributes {echo.kernel} {
  %0 = echo.add %m, %g : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %1 = echo.sub %w, %0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %1, %0 : tensor<16xf32>, tensor<16xf32>
}
)";

class StepMemoryTest : public AnalysisTest {
protected:
  StepMemory analyze(const std::string &text) {
    func::FuncOp function = parse(kKernels + text);
    if (!function)
      return {};
    FailureOr<StepParts> parts = findStepParts(function, 0);
    FailureOr<ArenaBuffers> buffers = collectArenaBuffers(function, 64);
    EXPECT_TRUE(succeeded(parts) && succeeded(buffers));
    if (failed(parts) || failed(buffers))
      return {};
    FailureOr<StepMemory> memory =
        analyzeStepMemory(function, *parts, buffers->problem, buffers->values);
    EXPECT_TRUE(succeeded(memory));
    if (failed(memory))
      return {};
    uint64_t peak = 0;
    std::string error;
    EXPECT_TRUE(planning::findLivePeak(buffers->problem, peak, error));
    EXPECT_EQ(memory->logicalPeakBytes, peak);
    EXPECT_EQ(memory->atPeak.sum(), peak + memory->persistentBytes);
    return std::move(*memory);
  }

  /// "inputs [0, 8), ..." in the order in which tensors begin.
  static std::string lifetimes(const StepMemory &memory) {
    std::string text;
    for (const TensorLifetime &tensor : memory.arena)
      text += (text.empty() ? "" : ", ") + nameOf(tensor.structure).str() +
              " [" + std::to_string(tensor.begin) + ", " +
              std::to_string(tensor.end) + ")";
    return text;
  }
};

TEST_F(StepMemoryTest, SumsUpByStructure) {
  // Tensors of 64 bytes, and the loss of 4.
  StepMemory memory = analyze(R"(
func.func @f(%w: memref<16xf32> {echo.role = "parameter", echo.name = "net/w"},
             %m: memref<16xf32> {echo.role = "state", echo.name = "net/w.m"},
             %x: memref<16xf32> {echo.role = "input", echo.name = "x"})
    -> (memref<f32> {echo.loss}) {
  %h = memref.alloc() : memref<16xf32>                                    // 0
  echo.launch @binary(%w, %x) outs(%h : memref<16xf32>)
      : (memref<16xf32>, memref<16xf32>) -> () loc("net/a/t0")             // 1
  %t = memref.alloc() : memref<16xf32>                                    // 2
  echo.launch @unary(%h) outs(%t : memref<16xf32>) : (memref<16xf32>) -> ()
  %l = memref.alloc() : memref<f32>                                       // 4
  echo.launch @sum(%t) outs(%l : memref<f32>) : (memref<16xf32>) -> ()     // 5
  %g = memref.alloc() : memref<16xf32>                                    // 6
  echo.launch @binary(%h, %x) outs(%g : memref<16xf32>)
      : (memref<16xf32>, memref<16xf32>) -> ()                             // 7
  echo.launch @update(%w, %m, %g) outs(%w, %m : memref<16xf32>, memref<16xf32>)
      : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()             // 8
  return %l : memref<f32>                                                 // 9
})");
  EXPECT_EQ(lifetimes(memory),
            "inputs [0, 8), feature_maps [1, 8), other [3, 6), other [5, 10), "
            "gradients [7, 9)");
  EXPECT_EQ(memory.persistentBytes, 128u);
  EXPECT_EQ(memory.featureMapBytes, 64u);
  // At 5: x, h, t and the loss; at 7 (x, h, the loss, g) it is as much again.
  EXPECT_EQ(memory.logicalPeakBytes, 3 * 64u + 4);
  EXPECT_EQ(memory.peakPosition, 5);
  EXPECT_EQ(memory.atPeak[MemoryStructure::Weights], 64u);
  EXPECT_EQ(memory.atPeak[MemoryStructure::OptimizerState], 64u);
  EXPECT_EQ(memory.atPeak[MemoryStructure::Inputs], 64u);
  EXPECT_EQ(memory.atPeak[MemoryStructure::FeatureMaps], 64u);
  EXPECT_EQ(memory.atPeak[MemoryStructure::Other], 68u);
  EXPECT_EQ(memory.atPeak[MemoryStructure::Gradients], 0u);
  EXPECT_EQ(memory.largest[MemoryStructure::Gradients], 64u);
  EXPECT_EQ(memory.arena[1].layer, "net/a/t0");
  EXPECT_EQ(memory.persistent[0].layer, "net");
}

TEST_F(StepMemoryTest, AnInPlaceResultTakesItsInputsPlace) {
  // The gradient overwrites the feature map: one buffer, two tensors.
  StepMemory memory = analyze(R"(
func.func @f(%w: memref<16xf32> {echo.role = "parameter"})
    -> (memref<f32> {echo.loss}) {
  %h = memref.alloc() : memref<16xf32>                                    // 0
  echo.launch @unary(%w) outs(%h : memref<16xf32>) : (memref<16xf32>) -> ()
  %l = memref.alloc() : memref<f32>                                       // 2
  echo.launch @sum(%h) outs(%l : memref<f32>) : (memref<16xf32>) -> ()     // 3
  echo.launch @unary(%h) outs(%h : memref<16xf32>) : (memref<16xf32>) -> ()
  echo.launch @binary(%w, %h) outs(%w : memref<16xf32>)
      : (memref<16xf32>, memref<16xf32>) -> ()                             // 5
  return %l : memref<f32>                                                 // 6
})");
  EXPECT_EQ(lifetimes(memory),
            "feature_maps [1, 4), other [3, 7), gradients [4, 6)");
  EXPECT_EQ(memory.logicalPeakBytes, 68u);
}

TEST_F(StepMemoryTest, WhatOneCallUsesIsWorkspace) {
  // The second result of @update is read by nobody; the state is read by the
  // forward part, so it isn't the optimizer's.
  StepMemory memory = analyze(R"(
func.func @f(%s: memref<16xf32> {echo.role = "state"}, %x: memref<16xf32>)
    -> memref<16xf32> {
  %l = memref.alloc() : memref<16xf32>
  %scratch = memref.alloc() : memref<16xf32>
  echo.launch @update(%s, %x, %x) outs(%l, %scratch : memref<16xf32>, memref<16xf32>)
      : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  return %l : memref<16xf32>
})");
  EXPECT_EQ(lifetimes(memory), "inputs [0, 3), other [2, 4), workspace [2, 3)");
  EXPECT_EQ(memory.atPeak[MemoryStructure::Workspace], 64u);
  EXPECT_EQ(memory.atPeak[MemoryStructure::OptimizerState], 0u);
  // The loss and the state.
  EXPECT_EQ(memory.atPeak[MemoryStructure::Other], 128u);
}

TEST_F(StepMemoryTest, SizesThatPass64BitsAreAnError) {
  func::FuncOp function = parse(R"(
func.func @f(%a: memref<2305843009213693951xf32> {echo.role = "state"},
             %b: memref<2305843009213693951xf32> {echo.role = "state"},
             %c: memref<2305843009213693951xf32> {echo.role = "state"})
    -> (memref<f32> {echo.loss}) {
  %l = memref.alloc() : memref<f32>
  return %l : memref<f32>
})");
  ASSERT_TRUE(function);
  FailureOr<StepParts> parts = findStepParts(function, 0);
  FailureOr<ArenaBuffers> buffers = collectArenaBuffers(function, 64);
  ASSERT_TRUE(succeeded(parts) && succeeded(buffers));
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(failed(
      analyzeStepMemory(function, *parts, buffers->problem, buffers->values)));
  EXPECT_NE(message.find("add up in 64 bits"), std::string::npos) << message;
}

} // namespace

//===- StepPartsTest.cpp - Tests of forward, backward and side ------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/StepParts.h"
#include "AnalysisTesting.h"

using namespace mlir;
using namespace mlir::echo;

namespace {

class StepPartsTest : public AnalysisTest {
protected:
  /// A letter for each op but the terminator: F, B, S; "error" on failure.
  std::string partsOf(const std::string &text, unsigned loss = 0) {
    func::FuncOp function = parse(text);
    if (!function)
      return "no function";
    FailureOr<StepParts> parts = findStepParts(function, loss);
    if (failed(parts))
      return "error";
    std::string letters;
    for (Operation &op : function.getBody().front().without_terminator())
      letters += nameOf(parts->get(&op)).front() - 'a' + 'A';
    counts = {parts->count(StepPart::Forward), parts->count(StepPart::Backward),
              parts->count(StepPart::Side)};
    return letters;
  }

  std::vector<uint64_t> counts;
};

TEST_F(StepPartsTest, FollowWhatDependsOnWhat) {
  // exp and the loss's sum are forward; the gradient and the update backward;
  // the running statistic and the step's successor side, though the statistic
  // stands before the loss.
  EXPECT_EQ(partsOf(R"(
func.func @f(%w: tensor<4xf32> {echo.role = "parameter"},
             %stat: tensor<4xf32> {echo.role = "state"},
             %rate: tensor<f32>)
    -> (tensor<f32> {echo.loss},
        tensor<4xf32> {echo.aliases_argument = 1 : i64},
        tensor<4xf32> {echo.aliases_argument = 0 : i64}) {
  %y = echo.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  %s = echo.add %stat, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l = echo.reduce sum %y {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %one = echo.constant dense<1.0> : tensor<f32>
  %g = echo.mul %y, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = echo.mul %g, %rate : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %n = echo.sub %w, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %l, %s, %n : tensor<f32>, tensor<4xf32>, tensor<4xf32>
})"),
            "FSFBBBB");
  // The constant isn't counted.
  EXPECT_EQ(counts, (std::vector<uint64_t>{2, 3, 1}));
}

TEST_F(StepPartsTest, AReturnedGradientIsBackward) {
  EXPECT_EQ(partsOf(R"(
func.func @f(%w: tensor<f32> {echo.role = "parameter"}) -> (tensor<f32>,
    tensor<f32> {echo.loss}, tensor<f32> {echo.gradient_of = 0 : i64}) {
  %l = echo.exp %w : (tensor<f32>) -> tensor<f32>
  %metric = echo.abs %l : (tensor<f32>) -> tensor<f32>
  %g = echo.neg %l : (tensor<f32>) -> tensor<f32>
  return %metric, %l, %g : tensor<f32>, tensor<f32>, tensor<f32>
})",
                    1),
            "FSB");
}

TEST_F(StepPartsTest, BuffersCarryWhatWasWrittenIntoThem) {
  // %b is written by the first call (forward) and overwritten in place by the
  // fourth (backward); the last call updates the parameter. The third writes
  // what nobody needs.
  EXPECT_EQ(partsOf(R"(
func.func private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {echo.kernel} {
  %0 = echo.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @f(%w: memref<4xf32> {echo.role = "parameter"}) -> memref<4xf32> {
  %b = memref.alloc() : memref<4xf32>
  echo.launch @k(%w) outs(%b : memref<4xf32>) : (memref<4xf32>) -> ()
  %l = memref.alloc() : memref<4xf32>
  echo.launch @k(%b) outs(%l : memref<4xf32>) : (memref<4xf32>) -> ()
  %m = memref.alloc() : memref<4xf32>
  echo.launch @k(%b) outs(%m : memref<4xf32>) : (memref<4xf32>) -> ()
  echo.launch @k(%b) outs(%b : memref<4xf32>) : (memref<4xf32>) -> ()
  echo.launch @k(%b) outs(%w : memref<4xf32>) : (memref<4xf32>) -> ()
  return %l : memref<4xf32>
})"),
            "FFFFSSBB");
}

TEST_F(StepPartsTest, PartsOfABufferComeFromAllWriters) {
  // Two products write the halves of %b; the loss reads all of it.
  EXPECT_EQ(partsOf(R"(
func.func private @k(%a: tensor<2x2x2xf32>) -> tensor<f32> attributes {echo.kernel} {
  %0 = echo.reduce sum %a {dims = array<i64: 0, 1, 2>} : (tensor<2x2x2xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @f(%x: memref<2x2xf32>) -> (memref<f32> {echo.loss}) {
  %b = memref.alloc() : memref<2x2x2xf32>
  %b0 = echo.buffer_view %b[0] : memref<2x2x2xf32> to memref<2x2xf32>
  echo.copy %x to %b0 : memref<2x2xf32>, memref<2x2xf32>
  %b1 = echo.buffer_view %b[16] : memref<2x2x2xf32> to memref<2x2xf32>
  echo.copy %x to %b1 : memref<2x2xf32>, memref<2x2xf32>
  %l = memref.alloc() : memref<f32>
  echo.launch @k(%b) outs(%l : memref<f32>) : (memref<2x2x2xf32>) -> ()
  echo.copy %x to %b1 : memref<2x2xf32>, memref<2x2xf32>
  return %l : memref<f32>
})"),
            "FFFFFFFS");
}

TEST_F(StepPartsTest, ErrorsAreDiagnostics) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  EXPECT_EQ(partsOf("func.func @f() { return }"), "error");
}

} // namespace

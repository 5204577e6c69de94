//===- CallCostsTest.cpp - Tests of what calls cost -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Analysis/CallCosts.h"
#include "AnalysisTesting.h"

using namespace mlir;
using namespace mlir::echo;

namespace {

class CallCostsTest : public AnalysisTest {
protected:
  /// "kernel mul+tanh: 20 flops, 80 B read, 40 B written" for each call of @f.
  std::vector<std::string> describe(const std::string &text) {
    calls.clear();
    std::vector<std::string> texts;
    func::FuncOp function = parse(text);
    if (!function)
      return texts;
    SymbolTable symbols(*module);
    CallDescriptions descriptions(symbols);
    for (Operation &op : function.getBody().front()) {
      FailureOr<std::optional<CallDescription>> call = descriptions.get(&op);
      if (failed(call)) {
        texts.push_back("error");
        continue;
      }
      if (!*call)
        continue;
      calls.push_back(**call);
      const planning::CallCost &cost = (*call)->cost;
      texts.push_back((*call)->kind + " " + (*call)->work + ": " +
                      std::to_string(cost.flops) + " flops, " +
                      std::to_string(cost.bytesRead) + " B read, " +
                      std::to_string(cost.bytesWritten) + " B written");
    }
    return texts;
  }

  std::vector<CallDescription> calls;
};

TEST_F(CallCostsTest, AKernelMovesItsInputsAndOutputsAlone) {
  // mul, tanh and neg of 10 elements: 30 flops. %a and %b are read once each,
  // though %a has two readers, and one result of 40 bytes is written.
  std::string kernel = R"(
func.func private @k(%a: tensor<10xf32>, %b: tensor<10xf32>) -> tensor<10xf32>
    attributes {echo.kernel} {
  %two = echo.constant dense<2.0> : tensor<f32>
  %0 = echo.mul %a, %b : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  %1 = echo.tanh %0 : (tensor<10xf32>) -> tensor<10xf32>
  %2 = echo.mul %1, %a : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %2 : tensor<10xf32>
})";
  EXPECT_EQ(describe(kernel + R"(
func.func @f(%a: memref<10xf32>, %b: memref<10xf32>) {
  echo.launch @k(%a, %b) outs(%a : memref<10xf32>)
      : (memref<10xf32>, memref<10xf32>) -> ()
  echo.launch @k(%b, %b) outs(%a : memref<10xf32>)
      : (memref<10xf32>, memref<10xf32>) -> ()
  return
})"),
            (std::vector<std::string>{
                "kernel mul+tanh: 30 flops, 80 B read, 40 B written",
                "kernel mul+tanh: 30 flops, 80 B read, 40 B written"}));
  EXPECT_FALSE(calls[0].isLibraryCall);
  EXPECT_EQ(calls[0].cost.precision, planning::Precision::F32);
}

TEST_F(CallCostsTest, AKernelReadsWhatItsOpsRead) {
  // Of the table six rows of 8 f32 and the six i32 indices; of %s the slice of
  // 5 through a reshape.
  EXPECT_EQ(describe(R"(
func.func private @k(%t: tensor<1000x8xf32>, %i: tensor<6xi32>, %s: tensor<10x10xf32>)
    -> (tensor<6x8xf32>, tensor<5xf32>) attributes {echo.kernel} {
  %0 = echo.embedding %t, %i : (tensor<1000x8xf32>, tensor<6xi32>) -> tensor<6x8xf32>
  %1 = echo.reshape %s : (tensor<10x10xf32>) -> tensor<100xf32>
  %2 = echo.slice %1 {offsets = array<i64: 3>, sizes = array<i64: 5>,
                      strides = array<i64: 2>} : (tensor<100xf32>) -> tensor<5xf32>
  %3 = echo.exp %2 : (tensor<5xf32>) -> tensor<5xf32>
  return %0, %3 : tensor<6x8xf32>, tensor<5xf32>
}
func.func @f(%t: tensor<1000x8xf32>, %i: tensor<6xi32>, %s: tensor<10x10xf32>) {
  %0:2 = echo.launch @k(%t, %i, %s)
      : (tensor<1000x8xf32>, tensor<6xi32>, tensor<10x10xf32>)
      -> (tensor<6x8xf32>, tensor<5xf32>)
  return
})"),
            (std::vector<std::string>{
                "kernel embedding+reshape+slice+exp: 5 flops, " +
                std::to_string(6 * 32 + 24 + 20) + " B read, " +
                std::to_string(6 * 32 + 20) + " B written"}));
}

TEST_F(CallCostsTest, ManyKindsOfOpsAreCutOff) {
  std::vector<std::string> texts = describe(R"(
func.func private @k(%a: tensor<f64>) -> tensor<f64> attributes {echo.kernel} {
  %0 = echo.exp %a : (tensor<f64>) -> tensor<f64>
  %1 = echo.log %0 : (tensor<f64>) -> tensor<f64>
  %2 = echo.neg %1 : (tensor<f64>) -> tensor<f64>
  %3 = echo.abs %2 : (tensor<f64>) -> tensor<f64>
  %4 = echo.tanh %3 : (tensor<f64>) -> tensor<f64>
  %5 = echo.sqrt %4 : (tensor<f64>) -> tensor<f64>
  %6 = echo.relu %5 : (tensor<f64>) -> tensor<f64>
  %7 = echo.erf %6 : (tensor<f64>) -> tensor<f64>
  %8 = echo.gelu %7 : (tensor<f64>) -> tensor<f64>
  return %8 : tensor<f64>
}
func.func @f(%a: memref<f64>) {
  echo.launch @k(%a) outs(%a : memref<f64>) : (memref<f64>) -> ()
  return
})");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(calls[0].work, "exp+log+neg+abs+tanh+sqrt+relu+erf+...");
  EXPECT_EQ(calls[0].cost.precision, planning::Precision::F64);
}

TEST_F(CallCostsTest, ProductsAndCopies) {
  // 2 * 4 * 5 * 3 = 120 flops and 4 * 5 for the bias; 12 + 15 + 5 elements in,
  // 20 out. In the batch of two B repeats: 2 * 120 and 2 * 20 flops; 2 * 12 +
  // 15 elements in, and C, to which is added, 2 * 20 in and out.
  EXPECT_EQ(
      describe(R"(
func.func @f(%a: memref<24xf32>, %b: memref<15xf32>, %bias: memref<5xf32>,
             %c: memref<40xf32>, %d: memref<40xf32>) {
  echo.gemm(%a, %b, bias %bias) outs(%c) {batch = 1 : i64, m = 4 : i64,
      n = 5 : i64, k = 3 : i64, transpose_a = false, transpose_b = true,
      stride_a = 0 : i64, stride_b = 0 : i64, stride_c = 0 : i64}
      : memref<24xf32>, memref<15xf32>, memref<40xf32>, memref<5xf32>
  echo.gemm(%a, %b) outs(%c) {batch = 2 : i64, m = 4 : i64,
      n = 5 : i64, k = 3 : i64, transpose_a = true, transpose_b = false,
      stride_a = 12 : i64, stride_b = 0 : i64, stride_c = 20 : i64,
      accumulate = true}
      : memref<24xf32>, memref<15xf32>, memref<40xf32>
  echo.copy %c to %d : memref<40xf32>, memref<40xf32>
  return
})"),
      (std::vector<std::string>{
          "gemm gemm 4x5x3 nt bias: 140 flops, " +
              std::to_string(4 * (12 + 15 + 5)) + " B read, 80 B written",
          "gemm gemm 2x4x5x3 tn accumulate: 280 flops, " +
              std::to_string(4 * (24 + 15 + 40)) + " B read, 160 B written",
          "copy copy: 0 flops, 160 B read, 160 B written"}));
  EXPECT_TRUE(calls[0].isLibraryCall);
  EXPECT_FALSE(calls[2].isLibraryCall);
}

TEST_F(CallCostsTest, ProductsHaveTheRateOfTheirType) {
  // 2 * 1000^3 flops; 3 matrices of 1000^2 elements.
  auto product = [](const std::string &type) {
    std::string buffer = "memref<1000x1000x" + type + ">";
    return "func.func @f(%a: " + buffer + ", %c: " + buffer + R"() {
  echo.gemm(%a, %a) outs(%c) {batch = 1 : i64, m = 1000 : i64,
      n = 1000 : i64, k = 1000 : i64, transpose_a = false, transpose_b = false,
      stride_a = 0 : i64, stride_b = 0 : i64, stride_c = 0 : i64} : )" +
           buffer + ", " + buffer + ", " + buffer + "\nreturn\n}";
  };
  planning::CostModel model;
  model.device = *planning::findDevice("a100");
  for (auto [type, bytes, rate] : {std::tuple("f32", 4, 19.5e12),
                                   std::tuple("f16", 2, 312e12),
                                   std::tuple("bf16", 2, 312e12)}) {
    EXPECT_EQ(describe(product(type)),
              (std::vector<std::string>{
                  "gemm gemm 1000x1000x1000 nn: 2000000000 flops, " +
                  std::to_string(2 * bytes) + "000000 B read, " +
                  std::to_string(bytes) + "000000 B written"}));
    // A launch, a startup of 5 us, and 0.9 of the rate.
    EXPECT_DOUBLE_EQ(calls[0].seconds(model), 1e-6 + 5e-6 + 2e9 / (0.9 * rate))
        << type;
  }
}

TEST_F(CallCostsTest, MeasuredTimesOverrideTheModel) {
  describe(R"(
func.func @f(%c: memref<40xf32>, %d: memref<40xf32>) {
  echo.copy %c to %d : memref<40xf32>, memref<40xf32>
  return
})");
  ASSERT_EQ(calls.size(), 1u);
  planning::CostModel model;
  model.device = *planning::findDevice("h100");
  // A launch, and 320 bytes at 0.88 * 3.35 TB/s.
  EXPECT_DOUBLE_EQ(calls[0].seconds(model), 1e-6 + 320 / (0.88 * 3.35e12));
  EXPECT_FALSE(calls[0].isMeasured(model));
  model.measured.add("copy", "copy", 0, 320, 2, 6e-6);
  EXPECT_DOUBLE_EQ(calls[0].seconds(model), 3e-6);
  EXPECT_TRUE(calls[0].isMeasured(model));
}

TEST_F(CallCostsTest, UnknownSizesAreErrors) {
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_EQ(describe(R"(
func.func private @k(%a: tensor<?xf32>) -> tensor<?xf32> attributes {echo.kernel} {
  %0 = echo.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @f(%a: tensor<?xf32>) {
  %0 = echo.launch @k(%a) : (tensor<?xf32>) -> tensor<?xf32>
  return
})"),
            (std::vector<std::string>{"error"}));
  EXPECT_NE(message.find("has no known cost"), std::string::npos) << message;
}

} // namespace

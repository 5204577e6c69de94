//===- CostTest.cpp - Tests of the cost model -----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/Cost.h"
#include "gtest/gtest.h"
#include <limits>

using namespace mlir::echo::planning;

namespace {

/// Round numbers: 1 Tflop/s kernels, 10 Tflop/s products at half efficiency,
/// 100 GB/s of which 80 reach a kernel, 2 us a launch, 8 us to start a product.
Device makeDevice() {
  Device device;
  device.vectorRate = {0.5e12, 1e12, 2e12, 4e12};
  device.matrixRate = {1e12, 10e12, 20e12, 40e12};
  device.memoryBandwidth = 100e9;
  device.memoryEfficiency = 0.8;
  device.matrixEfficiency = 0.5;
  device.matrixStartupSeconds = 8e-6;
  device.launchSeconds = 2e-6;
  return device;
}

const char *kDevice = R"({
  "name": "mine",
  "vector_rate": {"f64": 1e12, "f32": 2e12, "f16": 3e12, "bf16": 4e12},
  "matrix_rate": {"f64": 5e12, "f32": 6e12, "f16": 7e12, "bf16": 8e12},
  "memory_bandwidth": 900e9,
  "memory_efficiency": 0.75,
  "matrix_efficiency": 1,
  "matrix_startup_seconds": 0,
  "launch_seconds": 1e-6
})";

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string errorOf(const std::string &json) {
  CostModel model;
  model.device.name = "before";
  std::string error;
  EXPECT_FALSE(readCostModel(json, model, error)) << json;
  EXPECT_EQ(model.device.name, "before");
  return error;
}

TEST(CostTest, AKernelTakesTheLongerOfArithmeticAndMemory) {
  KernelCost cost;
  // 8 MB at 80 GB/s are 100 us; 10 Mflop at 1 Tflop/s are 10 us.
  cost.flops = 10'000'000;
  cost.bytesRead = 6'000'000;
  cost.bytesWritten = 2'000'000;
  EXPECT_DOUBLE_EQ(secondsOf(makeDevice(), cost), 2e-6 + 100e-6);
  // 500 Mflop are 500 us.
  cost.flops = 500'000'000;
  EXPECT_DOUBLE_EQ(secondsOf(makeDevice(), cost), 2e-6 + 500e-6);
  // In f64 at half the rate, in two launches.
  cost.precision = Precision::F64;
  cost.launches = 2;
  EXPECT_DOUBLE_EQ(secondsOf(makeDevice(), cost), 4e-6 + 1000e-6);
}

TEST(CostTest, ACloneInItsReadersKernelMovesNoBytes) {
  // tanh's gradient reads g and y and writes one tensor, 4 MB each: 12 MB,
  // 150 us. With y = tanh(x) made again inside, x takes y's place: the same
  // bytes, and one more flop an element hides behind them.
  KernelCost reader;
  reader.flops = 3'000'000;
  reader.bytesRead = 8'000'000;
  reader.bytesWritten = 4'000'000;
  KernelCost withClone = reader;
  withClone.flops += 1'000'000;
  EXPECT_DOUBLE_EQ(secondsOf(makeDevice(), reader), 2e-6 + 150e-6);
  EXPECT_DOUBLE_EQ(secondsOf(makeDevice(), withClone),
                   secondsOf(makeDevice(), reader));
  // In a kernel of its own the clone reads x and writes y: 8 MB and a launch.
  KernelCost alone;
  alone.flops = 1'000'000;
  alone.bytesRead = alone.bytesWritten = 4'000'000;
  EXPECT_DOUBLE_EQ(secondsOf(makeDevice(), alone), 2e-6 + 100e-6);
}

TEST(CostTest, ALibraryCallStartsUpAndReachesItsEfficiency) {
  LibraryCallCost cost;
  // 5 Gflop at 5 Tflop/s are 1 ms; 8 MB are 100 us.
  cost.flops = 5'000'000'000;
  cost.bytesRead = 8'000'000;
  EXPECT_DOUBLE_EQ(secondsOf(makeDevice(), cost), 2e-6 + 8e-6 + 1e-3);
  cost.precision = Precision::F16;
  EXPECT_DOUBLE_EQ(secondsOf(makeDevice(), cost), 2e-6 + 8e-6 + 0.5e-3);
  // A product with a dimension of 0 only writes its zeros: 4 MB are 50 us.
  LibraryCallCost empty;
  empty.bytesWritten = 4'000'000;
  EXPECT_DOUBLE_EQ(secondsOf(makeDevice(), empty), 2e-6 + 50e-6);
}

TEST(CostTest, SmallProductsAreLessEfficient) {
  Device device = makeDevice();
  // 8 us of startup are 40 Mflop at 5 Tflop/s: half of the efficiency there,
  // a quarter (of 0.5) at a third of it, nearly all at 100 times it.
  EXPECT_DOUBLE_EQ(device.productEfficiency(40e6, Precision::F32), 0.25);
  EXPECT_DOUBLE_EQ(device.productEfficiency(40e6 / 3, Precision::F32), 0.125);
  EXPECT_DOUBLE_EQ(device.productEfficiency(4e9, Precision::F32),
                   0.5 * 100 / 101);
  EXPECT_DOUBLE_EQ(device.productEfficiency(0, Precision::F32), 0);
  // The share and the time agree: flops / (rate * share) + launch.
  LibraryCallCost cost;
  cost.flops = 40'000'000;
  EXPECT_DOUBLE_EQ(secondsOf(device, cost), 2e-6 + 40e6 / (10e12 * 0.25));
}

TEST(CostTest, HugeSizesDoNotWrapAround) {
  KernelCost cost;
  cost.bytesRead = cost.bytesWritten = std::numeric_limits<uint64_t>::max();
  // 2 * 2^64 bytes at 80 GB/s.
  EXPECT_DOUBLE_EQ(secondsOf(makeDevice(), cost),
                   2e-6 + 36893488147419103232.0 / 80e9);
}

TEST(CostTest, BuiltinDevicesHaveTheirDataSheetsRates) {
  EXPECT_EQ(builtinDeviceNames(), "rtx2080ti, v100, a100, h100, h200, cpu");
  const Device *turing = findDevice("rtx2080ti");
  ASSERT_TRUE(turing);
  EXPECT_EQ(turing->matrixRate[Precision::F32], 13.4e12);
  EXPECT_EQ(turing->memoryBandwidth, 616e9);
  const Device *h100 = findDevice("h100"), *h200 = findDevice("h200");
  ASSERT_TRUE(h100 && h200);
  EXPECT_EQ(h100->matrixRate[Precision::BF16], 989e12);
  EXPECT_EQ(h100->vectorRate[Precision::F32], 67e12);
  EXPECT_EQ(h100->memoryBandwidth, 3.35e12);
  EXPECT_EQ(h200->memoryBandwidth, 4.8e12);
  EXPECT_EQ(findDevice("z80"), nullptr);
  for (const Device &device : builtinDevices())
    for (Precision precision :
         {Precision::F64, Precision::F32, Precision::F16, Precision::BF16}) {
      EXPECT_GT(device.vectorRate[precision], 0) << device.name;
      EXPECT_GE(device.matrixRate[precision], device.vectorRate[precision])
          << device.name;
    }
}

TEST(CostTest, ReadsADevice) {
  CostModel model;
  std::string error;
  ASSERT_TRUE(readCostModel(kDevice, model, error)) << error;
  EXPECT_EQ(model.device.name, "mine");
  EXPECT_EQ(model.device.vectorRate[Precision::F64], 1e12);
  EXPECT_EQ(model.device.vectorRate[Precision::BF16], 4e12);
  EXPECT_EQ(model.device.matrixRate[Precision::F32], 6e12);
  EXPECT_EQ(model.device.matrixRate[Precision::F16], 7e12);
  EXPECT_EQ(model.device.memoryBandwidth, 900e9);
  EXPECT_EQ(model.device.memoryEfficiency, 0.75);
  EXPECT_EQ(model.device.matrixEfficiency, 1);
  EXPECT_EQ(model.device.matrixStartupSeconds, 0);
  EXPECT_EQ(model.device.launchSeconds, 1e-6);
  EXPECT_TRUE(model.measured.empty());
}

TEST(CostTest, ErrorsInDevicesNameTheirPlace) {
  EXPECT_EQ(errorOf(replaced(kDevice, "\"f32\": 6e12, ", "")),
            "'matrix_rate.f32' is missing");
  EXPECT_EQ(errorOf(replaced(kDevice, "\"launch_seconds\"", "\"launch\"")),
            "'launch_seconds' is missing");
  EXPECT_EQ(errorOf(replaced(kDevice, "{", "{\"color\": 1,")),
            "'color' isn't a known field");
  EXPECT_EQ(errorOf(replaced(kDevice, "\"bf16\": 8e12", "\"bf16\": -8")),
            "'matrix_rate.bf16': expected a number > 0, found -8");
  EXPECT_EQ(errorOf(replaced(kDevice, "900e9", "0")),
            "'memory_bandwidth': expected a number > 0, found 0");
  EXPECT_EQ(errorOf(replaced(kDevice, "0.75", "1.5")),
            "'memory_efficiency': expected a number of at most 1, found 1.5");
  EXPECT_EQ(errorOf(replaced(kDevice, "1e-6", "-1e-6")),
            "'launch_seconds': expected a number >= 0, found -1e-06");
  EXPECT_EQ(errorOf(replaced(kDevice, "1e-6", "\"fast\"")),
            "'launch_seconds': expected a number >= 0, found a string");
  EXPECT_EQ(errorOf(replaced(kDevice, "\"mine\"", "3")),
            "'name': expected a string, found 3");
  EXPECT_EQ(errorOf(replaced(kDevice, "\"matrix_efficiency\": 1",
                             "\"memory_efficiency\": 1")),
            "the field 'memory_efficiency' is there twice");
  EXPECT_EQ(errorOf("[1]"), "expected an object, found an array");
}

TEST(CostTest, TextThatIsNotJsonIsAnErrorAtItsLine) {
  std::string error = errorOf("{\n  \"name\": \"a\",\n  oops\n}");
  EXPECT_NE(error.find("line 3, column 3"), std::string::npos) << error;
  EXPECT_FALSE(errorOf("").empty());
  EXPECT_FALSE(errorOf("{} {}").empty());
  EXPECT_NE(errorOf(std::string(1000, '[')).find("nested more than 100 deep"),
            std::string::npos);
  // 1e999 is no number that a double holds.
  EXPECT_FALSE(errorOf(replaced(kDevice, "900e9", "1e999")).empty());
}

TEST(CostTest, ReadsMeasuredTimes) {
  CostModel model;
  std::string error;
  // Two entries of one kernel: 3 calls in 5 us + 1 call in 3 us, 2 us a call.
  ASSERT_TRUE(readCostModel(R"({"model": "m", "steps": 3, "device": "h100",
    "profile": [
      {"kind": "kernel", "name": "kernel_0", "op": "mul+tanh", "layer": "a",
       "calls": 3, "seconds": 5e-6, "flops": 20, "bytes": 80},
      {"kind": "kernel", "name": "kernel_0", "op": "mul+tanh", "layer": "b",
       "calls": 1, "seconds": 3e-6, "flops": 20, "bytes": 80},
      {"kind": "gemm", "name": "gemm 2x3x4 nt", "op": "gemm", "layer": "a",
       "calls": 2, "seconds": 1e-6, "flops": 48, "bytes": 104},
      {"kind": "gemm", "name": "gemm 1x1x1 nn", "op": "gemm", "layer": "a",
       "calls": 0, "seconds": 0, "flops": 7, "bytes": 8}
    ]})",
                            model, error))
      << error;
  EXPECT_EQ(model.device.name, "h100");
  EXPECT_DOUBLE_EQ(*model.measured.find("kernel", "mul+tanh", 20, 80), 2e-6);
  EXPECT_FALSE(model.measured.find("kernel", "mul+tanh", 21, 80));
  EXPECT_FALSE(model.measured.find("kernel", "mul", 20, 80));
  EXPECT_FALSE(model.measured.find("gemm", "mul+tanh", 20, 80));
  // A library call is known by its name, which has its sizes.
  EXPECT_DOUBLE_EQ(*model.measured.find("gemm", "gemm 2x3x4 nt", 48, 104),
                   0.5e-6);
  // Never called: nothing was measured.
  EXPECT_FALSE(model.measured.find("gemm", "gemm 1x1x1 nn", 7, 8));
}

TEST(CostTest, ErrorsInReportsNameTheirPlace) {
  EXPECT_EQ(errorOf(R"({"profile": 3})"),
            "'profile': expected an array, found 3");
  EXPECT_EQ(errorOf(R"({"profile": [{"kind": "kernel"}]})"),
            "'profile[0].name' is missing");
  EXPECT_EQ(errorOf(R"({"profile": [{"kind": "kernel", "name": "", "op": "",
                               "layer": "", "calls": -1, "seconds": 0,
                               "flops": 0, "bytes": 0}]})"),
            "'profile[0].calls': expected an integer >= 0, found -1");
  EXPECT_EQ(errorOf(R"({"device": "abacus", "profile": []})"),
            "'device': expected rtx2080ti, v100, a100, h100, h200, cpu, found "
            "'abacus'");
}

} // namespace

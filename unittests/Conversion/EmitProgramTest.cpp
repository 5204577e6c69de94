//===- EmitProgramTest.cpp - Host functions as program tables -------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/EmitProgram.h"
#include "Echo/Conversion/Passes.h"
#include "Echo/Dialect/EchoDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

// Two kernels as the GPU dialect has them, one called with parameters, and a
// product of f16 that is added to what is there.
const char *const kGPUHost = R"mlir(
func.func private @scale(tensor<8xf16>, i64, i64) -> tensor<4x2xf16> attributes {echo.kernel,
    echo.cost = {bytes = 40 : i64, flops = 8 : i64, ops = "mul+exp"}}
func.func private @sum(tensor<2xf16>, tensor<4x4xf16>) -> (tensor<f32>, tensor<3xi1>) attributes {echo.kernel}
gpu.module @echo_kernels {
  gpu.func @sum(%0: memref<2xf16>, %1: memref<4x4xf16>, %2: memref<f32>, %3: memref<3xi1>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 0, 1, 1>} {
    gpu.return
  }
  gpu.func @scale(%0: memref<8xf16>, %1: memref<4x2xf16>, %2: i64, %3: i64) kernel
      attributes {known_block_size = array<i32: 128, 4, 2>, known_grid_size = array<i32: 3, 5, 7>} {
    gpu.return
  }
}
func.func @step(
    %w: memref<2x4xf16> {echo.role = "parameter", echo.name = "w"},
    %x: memref<8xf16> {echo.role = "input", echo.name = "x", echo.arena_offset = 256 : i64},
    %arena: memref<1024xi8> {echo.arena})
    -> (memref<f32> {echo.name = "loss", echo.loss})
    attributes {echo.arena_bytes = 1024 : i64, echo.arena_alignment = 256 : i64, echo.logical_peak_bytes = 100 : i64} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %c768 = arith.constant 768 : index
  %c896 = arith.constant 896 : index
  %a = memref.view %arena[%c0][] : memref<1024xi8> to memref<4x2xf16>
  %vx = memref.view %arena[%c256][] : memref<1024xi8> to memref<8xf16>
  %m = memref.view %arena[%c512][] : memref<1024xi8> to memref<4x4xf16>
  %loss = memref.view %arena[%c768][] : memref<1024xi8> to memref<f32>
  %flags = memref.view %arena[%c896][] : memref<1024xi8> to memref<3xi1>
  echo.launch @scale(%vx) outs(%a : memref<4x2xf16>) {parameters = array<i64: -3, 9>} : (memref<8xf16>) -> () loc("l0")
  echo.gemm(%a, %w) outs(%m) {batch = 1 : i64, m = 4 : i64, n = 4 : i64, k = 2 : i64,
      transpose_a = false, transpose_b = false, stride_a = 0 : i64, stride_b = 0 : i64, stride_c = 16 : i64, accumulate = true}
      : memref<4x2xf16>, memref<2x4xf16>, memref<4x4xf16>
  %part = echo.buffer_view %w[4] : memref<2x4xf16> to memref<2xf16>
  echo.launch @sum(%part, %m) outs(%loss, %flags : memref<f32>, memref<3xi1>) : (memref<2xf16>, memref<4x4xf16>) -> ()
  echo.launch @scale(%vx) outs(%a : memref<4x2xf16>) {parameters = array<i64: 5, 6>} : (memref<8xf16>) -> ()
  return %loss : memref<f32>
}
)mlir";

// Two kernels, a product with a bias, a copy, a view of a parameter and one of
// a view; the second kernel is called twice.
const char *const kHost = R"mlir(
llvm.func @scale(!llvm.ptr, i64, i64) attributes {echo.kernel, echo.chunks = 3 : i64,
    echo.cost = {bytes = 40 : i64, flops = 8 : i64, ops = "mul+exp"}}
llvm.func @sum(!llvm.ptr, i64, i64) attributes {echo.kernel, echo.chunks = 1 : i64}
func.func @step(
    %w: memref<2x4xf32> {echo.role = "parameter", echo.name = "w", echo.init = #echo.init<uniform, -0.5, 0.5>},
    %x: memref<8xf32> {echo.role = "input", echo.name = "x", echo.arena_offset = 64 : i64},
    %y: memref<4xi1> {echo.role = "label", echo.name = "y", echo.arena_offset = 128 : i64},
    %s: memref<i64> {echo.role = "state", echo.name = "step", echo.init = #echo.init<constant, 0.0>},
    %arena: memref<256xi8> {echo.arena})
    -> (memref<f32> {echo.name = "loss", echo.loss})
    attributes {echo.arena_bytes = 256 : i64, echo.arena_alignment = 64 : i64, echo.logical_peak_bytes = 200 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c192 = arith.constant 192 : index
  %vx = memref.view %arena[%c64][] : memref<256xi8> to memref<8xf32>
  %a = memref.view %arena[%c0][] : memref<256xi8> to memref<4x2xf32>
  %loss = memref.view %arena[%c192][] : memref<256xi8> to memref<f32>
  echo.launch @scale(%vx) outs(%a : memref<4x2xf32>) : (memref<8xf32>) -> () loc("encoder/l0")
  %row = echo.buffer_view %w[16] : memref<2x4xf32> to memref<4xf32>
  %part = echo.buffer_view %row[8] : memref<4xf32> to memref<2xf32>
  %m = memref.view %arena[%c64][] : memref<256xi8> to memref<4x4xf32>
  echo.gemm(%a, %w, bias %row) outs(%m) {batch = 1 : i64, m = 4 : i64, n = 4 : i64, k = 2 : i64,
      transpose_a = false, transpose_b = false, stride_a = 0 : i64, stride_b = 0 : i64, stride_c = 16 : i64}
      : memref<4x2xf32>, memref<2x4xf32>, memref<4x4xf32>, memref<4xf32> loc(fused["", "encoder/l1"])
  echo.launch @sum(%part, %m) outs(%loss : memref<f32>) : (memref<2xf32>, memref<4x4xf32>) -> ()
  echo.launch @sum(%part, %m) outs(%loss : memref<f32>) : (memref<2xf32>, memref<4x4xf32>) -> ()
  %t = memref.view %arena[%c64][] : memref<256xi8> to memref<2x4xf32>
  echo.copy %t to %w : memref<2x4xf32>, memref<2x4xf32>
  return %loss : memref<f32>
}
)mlir";

class EmitProgram : public ::testing::Test {
protected:
  EmitProgram() {
    DialectRegistry registry;
    registry.insert<mlir::echo::EchoDialect, func::FuncDialect,
                    memref::MemRefDialect, arith::ArithDialect,
                    gpu::GPUDialect, LLVM::LLVMDialect>();
    context.appendDialectRegistry(registry);
  }

  OwningOpRef<ModuleOp> emit(const std::string &text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return nullptr;
    PassManager manager(&context);
    mlir::echo::EchoEmitProgramPassOptions options;
    options.cpu = "x86-64-v3";
    options.features = "+avx,+avx2";
    manager.addPass(mlir::echo::createEchoEmitProgramPass(options));
    if (failed(manager.run(*module)))
      return nullptr;
    return module;
  }

  /// The program of a host function whose kernels are for a GPU.
  FailureOr<::echo::Program> buildForGPU(ModuleOp module) {
    return mlir::echo::buildGPUProgram(
        module.lookupSymbol<func::FuncOp>("step"), SymbolTable(module),
        module.lookupSymbol<gpu::GPUModuleOp>("echo_kernels"));
  }

  MLIRContext context;
};

} // namespace

TEST_F(EmitProgram, HoldsWhatTheHostFunctionSays) {
  OwningOpRef<ModuleOp> module = emit(kHost);
  ASSERT_TRUE(module);
  EXPECT_FALSE(module->lookupSymbol("step"));
  auto bytes = module->lookupSymbol<LLVM::GlobalOp>("echo_program");
  auto size = module->lookupSymbol<LLVM::GlobalOp>("echo_program_size");
  ASSERT_TRUE(bytes && size);
  StringRef text = cast<StringAttr>(bytes.getValueAttr()).getValue();
  EXPECT_EQ(cast<IntegerAttr>(size.getValueAttr()).getInt(),
            int64_t(text.size()));
  ::echo::Program program;
  std::string error;
  ASSERT_TRUE(::echo::Program::parse(text, program, error)) << error;

  EXPECT_EQ(program.function, "step");
  EXPECT_EQ(program.target, "cpu");
  EXPECT_EQ(program.cpu, "x86-64-v3");
  EXPECT_EQ(program.features, "+avx,+avx2");
  EXPECT_EQ(program.arenaBytes, 256u);
  EXPECT_EQ(program.arenaAlignment, 64u);
  EXPECT_EQ(program.logicalPeakBytes, 200u);

  ASSERT_EQ(program.tensors.size(), 5u);
  const ::echo::Tensor &w = program.tensors[0];
  EXPECT_EQ(w.name, "w");
  EXPECT_EQ(w.role, ::echo::Role::Parameter);
  EXPECT_EQ(w.type, ::echo::DataType::F32);
  EXPECT_EQ(w.shape, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(w.bytes, 32u);
  EXPECT_EQ(w.location.region, 1u);
  EXPECT_EQ(w.init.kind, ::echo::InitKind::Uniform);
  EXPECT_EQ(w.init.a, -0.5);
  EXPECT_EQ(w.init.b, 0.5);
  const ::echo::Tensor &x = program.tensors[1];
  EXPECT_EQ(x.role, ::echo::Role::Input);
  EXPECT_EQ(x.location.region, 0u);
  EXPECT_EQ(x.location.offset, 64u);
  EXPECT_EQ(x.init.kind, ::echo::InitKind::None);
  const ::echo::Tensor &y = program.tensors[2];
  EXPECT_EQ(y.role, ::echo::Role::Label);
  EXPECT_EQ(y.type, ::echo::DataType::I1);
  EXPECT_EQ(y.bytes, 4u);
  const ::echo::Tensor &step = program.tensors[3];
  EXPECT_EQ(step.role, ::echo::Role::State);
  EXPECT_EQ(step.location.region, 4u);
  EXPECT_EQ(step.init.kind, ::echo::InitKind::Constant);
  const ::echo::Tensor &loss = program.tensors[4];
  EXPECT_EQ(loss.name, "loss");
  EXPECT_EQ(loss.role, ::echo::Role::Result);
  EXPECT_TRUE(loss.isLoss);
  EXPECT_EQ(loss.location.offset, 192u);
}

TEST_F(EmitProgram, NumbersKernelsAndResolvesViews) {
  OwningOpRef<ModuleOp> module = emit(kHost);
  ASSERT_TRUE(module);
  auto bytes = module->lookupSymbol<LLVM::GlobalOp>("echo_program");
  ::echo::Program program;
  std::string error;
  ASSERT_TRUE(::echo::Program::parse(
      cast<StringAttr>(bytes.getValueAttr()).getValue(), program, error))
      << error;
  auto operand = [&](const ::echo::Call &call, uint32_t index) {
    const ::echo::Location &location =
        program.operands[call.firstOperand + index];
    return std::make_pair(location.region, location.offset);
  };
  using Place = std::pair<uint32_t, uint64_t>;

  ASSERT_EQ(program.kernels.size(), 2u);
  EXPECT_EQ(program.kernels[0].name, "scale");
  EXPECT_EQ(program.kernels[1].name, "sum");
  EXPECT_TRUE(program.kernels[0].arguments.empty());
  EXPECT_EQ(program.kernels[0].grid[0], 0u);
  ASSERT_EQ(program.calls.size(), 5u);
  const ::echo::Call &scale = program.calls[0];
  EXPECT_EQ(scale.kind, ::echo::CallKind::Kernel);
  EXPECT_EQ(scale.function, 0u);
  EXPECT_EQ(scale.chunks, 3u);
  EXPECT_EQ(program.strings[scale.layer], "encoder/l0");
  EXPECT_EQ(program.strings[scale.name], "scale");
  EXPECT_EQ(program.strings[scale.op], "mul+exp");
  EXPECT_EQ(scale.flops, 8u);
  EXPECT_EQ(scale.bytes, 40u);
  ASSERT_EQ(scale.numOperands, 2u);
  EXPECT_EQ(operand(scale, 0), Place(0, 64));
  EXPECT_EQ(operand(scale, 1), Place(0, 0));

  // Operands a, b, c, bias; row 1 of w starts at 16 bytes.
  const ::echo::Call &gemm = program.calls[1];
  EXPECT_EQ(gemm.kind, ::echo::CallKind::Gemm);
  EXPECT_EQ(program.strings[gemm.layer], "encoder/l1");
  EXPECT_EQ(program.strings[gemm.name], "gemm 4x4x2 nn bias");
  EXPECT_EQ(program.strings[gemm.op], "gemm");
  // 4 * 4 results of 2 products, 2 sums and the bias; a 4x2, b 2x4, c 4x4,
  // bias 4 of 4 bytes each.
  EXPECT_EQ(gemm.flops, 16u * 4 + 16);
  EXPECT_EQ(gemm.bytes, (8u + 8 + 16 + 4) * 4);
  ASSERT_EQ(gemm.numOperands, 4u);
  EXPECT_EQ(operand(gemm, 0), Place(0, 0));
  EXPECT_EQ(operand(gemm, 1), Place(1, 0));
  EXPECT_EQ(operand(gemm, 2), Place(0, 64));
  EXPECT_EQ(operand(gemm, 3), Place(1, 16));
  ASSERT_EQ(gemm.numParameters, uint32_t(::echo::GemmParameters::kCount));
  ::echo::GemmParameters parameters =
      ::echo::GemmParameters::read(&program.parameters[gemm.firstParameter]);
  EXPECT_EQ(parameters.dataType, int64_t(::echo::DataType::F32));
  EXPECT_EQ(parameters.m, 4);
  EXPECT_EQ(parameters.n, 4);
  EXPECT_EQ(parameters.k, 2);
  EXPECT_EQ(parameters.strideC, 16);

  // A view of a view: 16 + 8 bytes into w.
  for (int i : {2, 3}) {
    const ::echo::Call &sum = program.calls[i];
    EXPECT_EQ(sum.function, 1u);
    EXPECT_EQ(sum.chunks, 1u);
    EXPECT_EQ(program.strings[sum.layer], "");
    // No cost stands on it: operands of 2, 16 and 1 f32.
    EXPECT_EQ(program.strings[sum.op], "sum");
    EXPECT_EQ(sum.flops, 0u);
    EXPECT_EQ(sum.bytes, 19u * 4);
    EXPECT_EQ(operand(sum, 0), Place(1, 24));
    EXPECT_EQ(operand(sum, 2), Place(0, 192));
  }

  const ::echo::Call &copy = program.calls[4];
  EXPECT_EQ(copy.kind, ::echo::CallKind::Copy);
  EXPECT_EQ(program.strings[copy.name], "copy");
  EXPECT_EQ(copy.bytes, 64u);
  EXPECT_EQ(operand(copy, 0), Place(0, 64));
  EXPECT_EQ(operand(copy, 1), Place(1, 0));
  ASSERT_EQ(copy.numParameters, 1u);
  EXPECT_EQ(program.parameters[copy.firstParameter], 32);
}

TEST_F(EmitProgram, KernelsOfAGPU) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(kGPUHost, &context);
  ASSERT_TRUE(module);
  FailureOr<::echo::Program> built = buildForGPU(*module);
  ASSERT_TRUE(succeeded(built));
  const ::echo::Program &program = *built;
  std::string error;
  EXPECT_TRUE(program.verify(error)) << error;
  EXPECT_EQ(program.target, "cuda");
  EXPECT_EQ(program.arenaAlignment, 256u);
  // Whoever knows the chips sets memory aside for the library.
  EXPECT_EQ(program.arenaBytes, 1024u);
  EXPECT_EQ(program.workspaceBytes, 0u);

  // In the order of their first call, each once.
  ASSERT_EQ(program.kernels.size(), 2u);
  const ::echo::Kernel &scale = program.kernels[0];
  const ::echo::Kernel &sum = program.kernels[1];
  EXPECT_EQ(scale.name, "scale");
  EXPECT_EQ(sum.name, "sum");
  auto extents = [](const uint32_t (&values)[3]) {
    return std::vector<uint32_t>(values, values + 3);
  };
  EXPECT_EQ(extents(scale.grid), (std::vector<uint32_t>{3, 5, 7}));
  EXPECT_EQ(extents(scale.block), (std::vector<uint32_t>{128, 4, 2}));
  EXPECT_EQ(extents(sum.grid), (std::vector<uint32_t>{0, 1, 1}));
  EXPECT_EQ(extents(sum.block), (std::vector<uint32_t>{32, 1, 1}));
  EXPECT_EQ(scale.sharedBytes, 0u);
  // Inputs, then outputs, which alone are written: 8 f16 each; 2 and 16 f16, an
  // f32 and 3 i1, a byte each.
  using Argument = std::pair<uint64_t, bool>;
  auto arguments = [](const ::echo::Kernel &kernel) {
    std::vector<Argument> result;
    for (const ::echo::KernelArgument &argument : kernel.arguments)
      result.emplace_back(argument.bytes, argument.isWritten);
    return result;
  };
  EXPECT_EQ(arguments(scale),
            (std::vector<Argument>{{16, false}, {16, true}}));
  EXPECT_EQ(arguments(sum), (std::vector<Argument>{
                                {4, false}, {32, false}, {4, true}, {3, true}}));
  EXPECT_EQ(scale.numParameters, 2u);
  EXPECT_EQ(sum.numParameters, 0u);
}

TEST_F(EmitProgram, CallsOfAGPU) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(kGPUHost, &context);
  ASSERT_TRUE(module);
  FailureOr<::echo::Program> built = buildForGPU(*module);
  ASSERT_TRUE(succeeded(built));
  const ::echo::Program &program = *built;
  ASSERT_EQ(program.calls.size(), 4u);
  using Place = std::pair<uint32_t, uint64_t>;
  auto operands = [&](const ::echo::Call &call) {
    std::vector<Place> result;
    for (uint32_t i = 0; i < call.numOperands; ++i) {
      const ::echo::Location &place = program.operands[call.firstOperand + i];
      result.emplace_back(place.region, place.offset);
    }
    return result;
  };
  auto parameters = [&](const ::echo::Call &call) {
    auto first = program.parameters.begin() + call.firstParameter;
    return std::vector<int64_t>(first, first + call.numParameters);
  };
  const ::echo::Call &first = program.calls[0], &again = program.calls[3];
  EXPECT_EQ(first.kind, ::echo::CallKind::Kernel);
  EXPECT_EQ(first.function, 0u);
  EXPECT_EQ(first.chunks, 0u);
  EXPECT_EQ(program.strings[first.layer], "l0");
  EXPECT_EQ(program.strings[first.op], "mul+exp");
  EXPECT_EQ(first.flops, 8u);
  EXPECT_EQ(first.bytes, 40u);
  EXPECT_EQ(operands(first), (std::vector<Place>{{0, 256}, {0, 0}}));
  EXPECT_EQ(parameters(first), (std::vector<int64_t>{-3, 9}));
  EXPECT_EQ(again.function, 0u);
  EXPECT_EQ(parameters(again), (std::vector<int64_t>{5, 6}));

  // 4 x 4 sums of 2 products, added to what was there.
  const ::echo::Call &gemm = program.calls[1];
  EXPECT_EQ(gemm.kind, ::echo::CallKind::Gemm);
  EXPECT_EQ(operands(gemm), (std::vector<Place>{{0, 0}, {1, 0}, {0, 512}}));
  EXPECT_EQ(parameters(gemm),
            (std::vector<int64_t>{int64_t(::echo::DataType::F16), 1, 4, 4, 2, 0,
                                  0, 0, 0, 16, 1}));
  EXPECT_EQ(gemm.flops, 16u * 4 + 16);
  // a, b and c read, c written, 2 bytes each.
  EXPECT_EQ(gemm.bytes, (8u + 8 + 16 + 16) * 2);

  // No cost stands on it: 2 and 16 f16, an f32, 3 bytes.
  const ::echo::Call &sum = program.calls[2];
  EXPECT_EQ(sum.function, 1u);
  EXPECT_EQ(sum.bytes, 4u + 32 + 4 + 3);
  EXPECT_EQ(operands(sum),
            (std::vector<Place>{{1, 4}, {0, 512}, {0, 768}, {0, 896}}));
}

TEST_F(EmitProgram, AKernelOfAGPUSaysHowItIsLaunched) {
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  std::string text = kGPUHost, size = "known_grid_size = array<i32: 3, 5, 7>";
  text.replace(text.find(size), size.size(), "other = 1 : i64");
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  EXPECT_TRUE(failed(buildForGPU(*module)));
  EXPECT_EQ(message,
            "'echo.launch' op expects kernel @scale to be a function of the "
            "GPU dialect with a known grid and block (echo-map-kernels-to-gpu "
            "comes first)");
}

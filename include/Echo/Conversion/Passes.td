//===- Passes.td - Lowering passes --------------------------*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_CONVERSION_PASSES_TD
#define ECHO_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertEchoToLinalgPass : Pass<"convert-echo-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lowers Echo ops in kernel functions to linalg on tensors";
  let description = [{
    Composite ops are decomposed first. Elementwise ops become linalg.generic
    ops whose bodies hold their arithmetic; broadcasting, transposition and
    reversal are indexing maps. A reduction is a linalg.generic with adjacent
    reduction iterators; whatever evaluates it follows the order of
    `Echo/Numerics/ReductionTree.h`. Ops that move elements become tensor ops.
    `echo.embedding_grad` stays, since its writes are scattered.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertEchoGraphToLinalgPass
    : Pass<"convert-echo-graph-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lowers a graph of Echo ops to linalg on tensors";
  let description = [{
    For a training step that another compiler takes over: a function on tensors
    in front of `echo-form-kernels` becomes linalg, tensor, arith, math and scf,
    with no Echo op left. What kernels hold is lowered as by
    `convert-echo-to-linalg`; products become linalg.generic contractions, and
    `echo.embedding_grad` a loop over the rows that it adds. Attributes of
    arguments and results stay.

    ```
    echo-zoo nmt | echo-opt --echo-training-step=optimizer=adam \
      --convert-echo-graph-to-linalg
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def EchoMergeKernelsPass : Pass<"echo-merge-kernels", "::mlir::ModuleOp"> {
  let summary = "Merges kernel functions that are equal but for numbers";
  let description = [{
    For kernel functions of linalg on tensors. Offsets of slices and constants
    of one value that differ between kernels of equal structure become
    arguments of one kernel, and `parameters` of its launches: the time steps
    of an unrolled recurrence are one kernel, however many there are.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def EchoLowerKernelsPass : Pass<"echo-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Turns kernel functions into range functions on buffers";
  let description = [{
    A kernel on tensors becomes `(inputs..., outputs..., parameters..., %begin,
    %end)` on one-dimensional row-major buffers, with i1 as bytes. It computes chunks
    `begin` to `end` of the `echo.chunks` that its iteration space has; the
    number depends on shapes alone, and no chunk depends on another. Producers
    are computed where they are read, reductions once for all their readers;
    nothing but a reduction's lanes is kept on the stack. Loops over contiguous
    elements are vectorized.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertEchoKernelsToLLVMPass : Pass<"convert-echo-kernels-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lowers kernel functions on buffers to the LLVM dialect";
  let description = [{
    A lowered kernel becomes `llvm.func @k(!llvm.ptr, i64, i64)`: an array of
    pointers (inputs, then outputs) and of the parameters' bits, and the range
    of chunks. `echo.kernel` and
    `echo.chunks` stay. Other functions aren't touched.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def EchoMapKernelsToGPUPass
    : Pass<"echo-map-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Maps kernel functions to functions of the GPU dialect";
  let description = [{
    Every kernel on tensors becomes a `gpu.func` of the same name in
    `@echo_kernels`: `(inputs..., outputs..., parameters...)` on one-dimensional
    row-major buffers, with i1 as bytes and bf16 as i16. `known_block_size` and
    `known_grid_size` are what it has to be launched with; both lie on x alone.
    A kernel that writes nothing has a grid of no blocks, which is never
    launched. Of the kernel function a declaration is left, for the launches in
    the host function, which isn't touched.

    Producers are computed where they are read. A kernel writes groups of
    outputs (or parts of them) that share their loops, one after another in one
    launch; each is written in the way that its shape asks for:

    | template | where | what a block does |
    |---|---|---|
    | elements | nothing is reduced | a thread takes 16 bytes of neighbouring elements, in one access where `alignment` allows it, or one element |
    | tiles | elements are read along another loop than they are written | reads tiles of 32 x 32 elements into shared memory, and writes them from there |
    | rows, by warps | sums, maxima, ... of up to 1,024 elements, once a row | a warp takes a row: a lane of the sum is a thread, lanes are added by shuffles, and all threads write the row's elements |
    | rows, by blocks | the same of more | a block takes a row: the 256 lanes are its threads, and meet in shared memory |
    | columns | sums over more than 128 rows | 8 to 32 neighbouring columns; threads add up different blocks of 128 rows, whose sums are added in order from shared memory |
    | tables | `echo.embedding_grad` | owns a tile of the table in shared memory; its threads look at 256 indices at a time and add the rows that are the tile's, in order |

    A warp's lanes keep what they have read and computed of a row of at most 512
    elements, a multiple of 32: neither later reductions of the row nor what is
    written of it does so again. Sums of columns that grow while a team walks
    over rows stay in shared memory until the last row, if 16 KiB a block
    suffice, and those of a single thread in registers. The place of a row's first maximum (`echo.argmax`) is found as sums
    are: lanes hold values and their places. Rows of more than 65,536 elements
    are taken part by part; `echo-form-kernels` gives the parts to a launch of
    their own. Where a reduction depends on what only one thread knows, it lies
    within the thread. All sums have the order of
    `Echo/Numerics/ReductionTree.h`, so that the bits are the CPU's; there are
    no atomics, and nothing is kept in local
    memory. Blocks have 32 to 256 threads: the fewer, the less there is to do
    for each of the device's multiprocessors.
    Chunks beyond the grid's blocks are taken by the same threads, so that any
    extent works.

    Indices have 32 bits if all kernels' tensors, also those that memory never
    holds, and loops are shorter than 2^30 and no index comes from 64-bit data,
    and 64 bits otherwise: the module's data
    layout says which.

    As on the CPU, an output may be the buffer of an input where
    `echo.overwritable` says so: threads wait for each other between the last
    read of a row by others and its first write.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::DLTIDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
  let options = [
    Option<"alignment", "alignment", "uint64_t", "0", "Bytes that all buffers start at multiples of, a power of two; 0: what the launches on buffers show">,
    Option<"multiprocessors", "multiprocessors", "unsigned", "128", "Of the device, or of the largest of several: so many blocks a launch has before they have more threads, or columns">,
  ];
}

def EchoNVVMToSimPass : Pass<"echo-nvvm-to-sim", "::mlir::ModuleOp"> {
  let summary = "Turns GPU functions into functions of the simulator";
  let description = [{
    A `gpu.module` whose functions are lowered to the NVVM dialect with bare
    pointers (`echo-kernels-to-gpu=format=nvvm`) becomes a `module` of the same
    name for the host, in the LLVM dialect. Registers of threads, blocks and
    lanes, barriers, shuffles and votes become calls of functions of
    `runtime/sim/Device.h`, and every access to memory is announced to it but
    those to variables on the stack and to constants. What has no counterpart is
    reported at the op: among it functions of libdevice whose bits the host
    doesn't have.

    Shared variables become globals, so that one block runs at a time. The
    object exports `echo_sim_kernels`, a table of kernels `void k(void
    **arguments)` with their shared variables, and the pointer
    `echo_sim_functions`, which its loader sets.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def EchoEmitProgramPass : Pass<"echo-emit-program", "::mlir::ModuleOp"> {
  let summary = "Turns the host function into the program table of an artefact";
  let description = [{
    Takes a host function whose memory is planned and whose kernels are LLVM
    functions, and replaces it by the bytes of an `echo::Program`: tensors with
    their roles and places, and a table of calls on (region, offset). A runtime
    walks the table; no code is generated for the host program.

    | global | holds |
    |---|---|
    | `echo_program` | the serialized program |
    | `echo_program_size` | its size |
    | `echo_kernels` | the addresses of its kernels |

    The layer of a call is the first name in the op's location.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "\"\"", "Host function; default: the only public one">,
    Option<"target", "target", "std::string", "\"cpu\"", "Target that the program is for">,
    Option<"cpu", "cpu", "std::string", "\"\"", "CPU that the program says it needs">,
    Option<"features", "features", "std::string", "\"\"", "Features that the program says it needs">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // ECHO_CONVERSION_PASSES_TD

//===- Passes.td - Passes on training graphs ----------------*- tablegen -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_TRANSFORMS_PASSES_TD
#define ECHO_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def EchoGradientPass : Pass<"echo-gradient", "::mlir::ModuleOp"> {
  let summary = "Builds the gradient of a forward function's loss";
  let description = [{
    Extends a forward function: its results are followed by the gradient of the
    loss with respect to every float argument with `echo.role = "parameter"`,
    in argument order, with the attributes `echo.gradient_of` (the argument's
    index) and `echo.name` (`<parameter>.grad`).

    The loss is the result that the option names, else the one with `echo.loss`,
    else the only float scalar. A gradient of several readers is the sum of
    their parts from the last reader to the first. Gradient ops stand behind
    the forward ops in the reverse of their order and have their locations. An
    op on the way from a parameter to the loss that has no gradient is an
    error; a parameter that the loss doesn't depend on gets zeros and a
    warning.

    ```mlir
    func.func @f(%w: tensor<f32> {echo.name = "w", echo.role = "parameter"})
        -> tensor<f32> {
      %0 = echo.exp %w : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    ```
    becomes
    ```mlir
    func.func @f(%w: tensor<f32> {echo.name = "w", echo.role = "parameter"})
        -> (tensor<f32> {echo.loss},
            tensor<f32> {echo.gradient_of = 0 : i64, echo.name = "w.grad"}) {
      %0 = echo.exp %w : (tensor<f32>) -> tensor<f32>
      %1 = echo.constant dense<1.0> : tensor<f32>
      %2 = echo.mul %1, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      return %0, %2 : tensor<f32>, tensor<f32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "Function to differentiate; default: the only public function">,
    Option<"loss", "loss", "int64_t", "-1",
           "Index of the result that is the loss; default: echo.loss, or the "
           "only float scalar">,
  ];
  let dependentDialects = ["::mlir::echo::EchoDialect"];
}

def EchoOptimizerPass : Pass<"echo-optimizer", "::mlir::ModuleOp"> {
  let summary = "Adds the weight update to a function with gradients";
  let description = [{
    Turns a function with gradients into a training step: every result with
    `echo.gradient_of` becomes the updated parameter with
    `echo.aliases_argument`. The learning rate is a new input
    `learning_rate`; moments (`<parameter>.momentum`, or `<parameter>.m` and
    `<parameter>.v`), accumulated gradients (`<parameter>.accumulated`) and the
    number of calls (`optimizer.step`) are new arguments of role state, and
    their new values are results behind the old ones.

    An option that `kind` doesn't have is an error.

    The formulas are PyTorch's; `Echo/Transforms/Optimizer.h` writes them out.
    An update stands behind the last reader of the parameter's old value, so
    that it can be made in place.

    ```mlir
    func.func @f(%w: tensor<f32> {echo.name = "w", echo.role = "parameter"})
        -> (tensor<f32> {echo.loss},
            tensor<f32> {echo.gradient_of = 0 : i64, echo.name = "w.grad"}) {
      ...
      return %loss, %gradient : tensor<f32>, tensor<f32>
    }
    ```
    becomes, with kind=sgd,
    ```mlir
    func.func @f(%w: tensor<f32> {echo.name = "w", echo.role = "parameter"},
                 %rate: tensor<f32> {echo.init = #echo.init<constant, 1.0e-03>,
                                     echo.name = "learning_rate",
                                     echo.role = "input"})
        -> (tensor<f32> {echo.loss},
            tensor<f32> {echo.aliases_argument = 0 : i64, echo.name = "w"}) {
      ...
      %1 = echo.mul %gradient, %rate : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %2 = echo.sub %w, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      return %loss, %2 : tensor<f32>, tensor<f32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "Function to extend; default: the only public function">,
    Option<"kind", "kind", "std::string", "\"sgd\"", "sgd, momentum or adam">,
    Option<"momentum", "momentum", "double", "0.9", "Momentum of kind=momentum">,
    Option<"beta1", "beta1", "double", "0.9", "Adam: decay of the first moment">,
    Option<"beta2", "beta2", "double", "0.999", "Adam: decay of the second moment">,
    Option<"epsilon", "epsilon", "double", "1e-8", "Adam: added to the root">,
    Option<"weightDecay", "weight-decay", "double", "0.0", "Weight decay">,
    Option<"decoupled", "decoupled", "bool", "false",
           "Decoupled weight decay (AdamW) instead of L2">,
    Option<"clipNorm", "clip-norm", "double", "0.0",
           "Largest global norm of the gradients; 0: no clipping">,
    Option<"accumulate", "accumulate", "int64_t", "1",
           "Steps whose gradients are averaged before one update">,
  ];
  let dependentDialects = ["::mlir::echo::EchoDialect"];
}

def EchoBatchRowsPass : Pass<"echo-batch-rows", "::mlir::ModuleOp"> {
  let summary = "Makes one product of products that share a factor";
  let description = [{
    Compute-heavy ops that differ in the operand of their rows alone
    (RowParallelOpInterface) and don't depend on each other become one op on
    all rows: an unrolled layer's input projections are one product, and so are
    the gradients of its inputs. Recurrent products depend on each other and
    stay.

    The rows are joined, or read where they lie next to each other already; the
    new op stands behind the last of its inputs, and what stood before that and
    needs a result follows it. A product of more than `most-rows` rows reads
    its weight seldom enough: it gains nothing and stays.

    ```mlir
    %0 = echo.linear %a, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %1 = echo.linear %b, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    ```
    becomes
    ```mlir
    %0 = echo.concat %a, %b {axis = 0 : i64}
        : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %1 = echo.linear %0, %w : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
    %2:2 = echo.split %1 {axis = 0 : i64}
        : (tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    ```
  }];
  let options = [
    Option<"mostRows", "most-rows", "int64_t", "kMostRowsToBatch",
           "Rows from which an op gains nothing from more">,
  ];
  let dependentDialects = ["::mlir::echo::EchoDialect"];
}

def EchoBatchSumsPass : Pass<"echo-batch-sums", "::mlir::ModuleOp"> {
  let summary = "Makes one product of a sum of products over rows";
  let description = [{
    Terms of a sum that are sums over rows themselves (RowSumOpInterface) and
    alike become one op on the rows of all: an unrolled layer's weight gradient
    is one product with the rows of all time steps as its depth, its bias
    gradient one reduction.

    Operands that are neighbours in a tensor which is there anyway (what they
    are slices of, a concatenation that they are part of) are read from it; a
    term that has no such neighbours stays a term. Operands that lie nowhere
    together are joined if those of a term have at most as many bytes as its
    result: adding the term would move as many. In f16 and bf16 the whole sum
    is made in f32 and rounded once, where each term and each addition were.

    ```mlir
    %0 = echo.matmul %a, %x {transpose_lhs = true}
        : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %1 = echo.matmul %b, %y {transpose_lhs = true}
        : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %2 = echo.add %0, %1 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    ```
    becomes
    ```mlir
    %0 = echo.concat %a, %b {axis = 0 : i64}
        : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %1 = echo.concat %x, %y {axis = 0 : i64}
        : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %2 = echo.matmul %0, %1 {transpose_lhs = true}
        : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    ```
  }];
  let dependentDialects = ["::mlir::echo::EchoDialect"];
}

def EchoAccumulateProductsPass
    : Pass<"echo-accumulate-products", "::mlir::ModuleOp"> {
  let summary = "Adds products to tensors in place";
  let description = [{
    A product and its addition to a tensor become one op
    (AccumulateOpInterface), which a library executes in the tensor's buffer.
    The tensor must be computed before the product and read by nothing else,
    and lie in memory anyway: a library call's result, or a part of a larger
    tensor. What a kernel computes is left to that kernel to add to. In f16 and
    bf16 the product isn't rounded before it is added: the sum is, once.

    ```mlir
    %0 = echo.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = echo.matmul %c, %d : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %2 = echo.add %0, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    ```
    becomes
    ```mlir
    %0 = echo.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = echo.matmul_add %0, %c, %d
        : (tensor<2x4xf32>, tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::echo::EchoDialect"];
}

def EchoEliminateDeadNodesPass : Pass<"echo-eliminate-dead-nodes"> {
  let summary = "Removes what nothing needs";
  let description = [{
    Removes from the regions of any op, nested ones included:

    - ops without effects whose results nothing reads, in chains of any length
      and around loops of blocks; unreachable blocks;
    - results that nothing reads of loops and branches (RegionBranchOpInterface),
      of `linalg.generic` and of ops with DropResultsOpInterface, such as
      `echo.kernel`, with what is computed for them alone.

    An op with an effect stays, and so do functions and their arguments and
    results. Unlike `canonicalize` the pass rewrites nothing else; unlike
    `remove-dead-values` it works on a function at a time, in about linear time.

    ```mlir
    %0:2 = echo.kernel(%a, %b)
        : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
      %1 = echo.exp %x : (tensor<8xf32>) -> tensor<8xf32>
      %2 = echo.tanh %y : (tensor<8xf32>) -> tensor<8xf32>
      echo.yield %1, %2 : tensor<8xf32>, tensor<8xf32>
    }
    return %0#0 : tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = echo.kernel(%a) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%x: tensor<8xf32>):
      %1 = echo.exp %x : (tensor<8xf32>) -> tensor<8xf32>
      echo.yield %1 : tensor<8xf32>
    }
    return %0 : tensor<8xf32>
    ```
  }];
}

def EchoRemoveBarriersPass : Pass<"echo-remove-barriers"> {
  let summary = "Takes optimization barriers away";
  let description = [{
    Replaces every `echo.optimization_barrier`, in any region of any op, by its
    operand. What an op that was evaluated a second time is kept apart by is
    gone then: passes that merge equal ops would undo the recomputation. Needs
    no other op of Echo.

    ```mlir
    %1 = echo.optimization_barrier(%0, %g)
        : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %2 = math.tanh %1 : tensor<8xf32>
    ```
    becomes
    ```mlir
    %2 = math.tanh %0 : tensor<8xf32>
    ```
  }];
}

def EchoPrintUseRefsPass : Pass<"echo-print-use-refs", "::mlir::ModuleOp"> {
  let summary = "Prints which ops read each tensor of a training step";
  let description = [{
    For every tensor with memory of its own the forward and backward ops that
    read it, views looked through (EdgeUseRef in the Echo paper), or the
    subgraphs between compute-heavy ops in which `echo-remat` looks for what to
    recompute. Ops are named by their kind and their place in the step:
    `tanh#5`.

    ```
    @step
    argument#0 (resident): forward [matmul#0], backward [matmul#6]
    matmul#0 (96 bytes): forward [tanh#1], backward []
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "Training step; default: the only public function">,
    Option<"loss", "loss", "int64_t", "-1",
           "Index of the result that is the loss; default: echo.loss, or the "
           "only float scalar">,
    Option<"partition", "partition", "bool", "false",
           "Print the subgraphs instead">,
  ];
}

def EchoRematPass : Pass<"echo-remat", "::mlir::ModuleOp"> {
  let summary = "Computes feature maps again instead of keeping them";
  let description = [{
    Decides which values of the forward part of a training step are kept for its
    backward part, and which are computed again just before the backward part
    reads them (`Echo/Planning/Remat.h`). Clones stand in front of their first
    late reader and read values of the forward part through
    `echo.optimization_barrier`. Masks and signs of ReLU that stay are kept as
    bits (`echo.binarize`). Ops of any dialect take part if they tell that
    they can be evaluated again (RecomputeOpInterface).

    The plan is applied if it keeps the promise: the logical peak, the largest
    sum of bytes alive at one moment, is no larger with it; or the arena, once
    kernels are formed and every buffer is placed, is smaller. Otherwise the
    function is left as it is.
    A saved plan (`echo-plan --save-plan`) takes the place of a strategy's; it is
    refused if the function isn't the one that it was made for.
    Remarks of the category `echo-remat` say for each feature map how large it
    is and why it is stashed or not.

    ```mlir
    %k = echo.matmul ...                       // [50, 8]
    %s0 = echo.add %k, %q0 : (tensor<50x8xf32>, tensor<8xf32>) -> tensor<50x8xf32>
    %t0 = echo.tanh %s0 : (tensor<50x8xf32>) -> tensor<50x8xf32>
    ...                                        // the same with %q1, %q2, ...
    %d0 = echo.mul %t0, %g0 : ...              // a gradient reads %t0
    ```
    becomes
    ```mlir
    %k1 = echo.optimization_barrier %k, %g0 : ...
    %q01 = echo.optimization_barrier %q0, %g0 : ...
    %s01 = echo.add %k1, %q01 : (tensor<50x8xf32>, tensor<8xf32>) -> tensor<50x8xf32>
    %t01 = echo.tanh %s01 : (tensor<50x8xf32>) -> tensor<50x8xf32>
    %d0 = echo.mul %t01, %g0 : ...
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "Training step; default: the only public function">,
    Option<"loss", "loss", "int64_t", "-1",
           "Index of the result that is the loss; default: echo.loss, or the "
           "only float scalar">,
    Option<"strategy", "strategy", "std::string", "\"\"",
           "none, mirror, echo-paper or echo; default: echo if the function has "
           "a loss">,
    Option<"plan", "plan", "std::string", "\"\"",
           "A saved plan in JSON to apply instead">,
    Option<"device", "device", "std::string", "\"cpu\"",
           "Device to model the time of: its name, or a JSON file">,
    Option<"promise", "promise", "::mlir::echo::RematPromise",
           "::mlir::echo::RematPromise::Peak",
           "What a plan must not make larger to be applied",
           [{::llvm::cl::values(
             clEnumValN(::mlir::echo::RematPromise::Arena, "arena",
                        "the arena of the host program"),
             clEnumValN(::mlir::echo::RematPromise::Peak, "peak",
                        "the logical peak"),
             clEnumValN(::mlir::echo::RematPromise::None, "none",
                        "any plan is applied"))}]>,
    Option<"alignment", "alignment", "int64_t", "64",
           "Alignment of buffers in the arena in bytes, for promise=arena">,
  ];
  let statistics = [
    Statistic<"recomputed", "recomputed", "Ops that are computed again">,
  ];
  let dependentDialects = ["::mlir::echo::EchoDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def EchoFormKernelsPass : Pass<"echo-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Groups the ops of a training step into kernels";
  let description = [{
    Wraps ops into `echo.kernel` regions. Which ops share a kernel follows from
    their iteration spaces (`FusionOpInterface`, `Echo/Planning/Fusion.h`):

    - pointwise ops of the same iterations, whatever their shapes, with every
      value that something else reads as a result;
    - row reductions over the same rows (softmax, layer norm, sums over the last
      dimensions) with what they read and what reads them;
    - sums over other dimensions with cheap producers and what reads the sums;
    - small pointwise ops that larger ones read by row, and parts of pointwise
      ops that are read once (the gates of an LSTM cell).

    Sums over several dimensions are split into those that each kernel can join,
    and sums of few rows of more than 65,536 elements into one of parts and one
    of the parts' sums (`Echo/Numerics/ReductionTree.h`), so that many blocks of
    a GPU, or threads, share them.

    Values that other kernels read pass through memory; ops are merged where
    that saves the most bytes. Library calls and contiguous views stay. Ops that
    only move elements and small constants are cloned into the kernels that read
    them. Kernels may move over other ops if that keeps no more bytes alive. The
    order that optimization barriers ask for is kept; none is part of a kernel.
  }];
  let options = [
    Option<"fuse", "fuse", "bool", "true", "Several ops in a kernel; if not, one op a kernel">,
  ];
  let dependentDialects = ["::mlir::echo::EchoDialect"];
}

def EchoOutlineKernelsPass : Pass<"echo-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Moves kernels into functions and merges equal ones";
  let description = [{
    `echo.kernel` regions become private functions with the attribute
    `echo.kernel`, one for all kernels of equal structure, and `echo.launch` ops
    that call them. Arguments whose memory results may take over, since every
    iteration reads its own element, get `echo.overwritable`.
  }];
  let dependentDialects = ["::mlir::echo::EchoDialect", "::mlir::func::FuncDialect"];
}

def EchoBufferizePass : Pass<"echo-bufferize", "::mlir::ModuleOp"> {
  let summary = "Turns the host program from tensors to buffers";
  let description = [{
    Takes functions of kernel launches, library calls
    (LibraryCallOpInterface), views (BufferViewOpInterface) and concatenations
    (BufferJoinOpInterface) on tensors; kernel functions stay on
    tensors. Linear in the number of ops.

    - A result that replaces an argument is written straight into the
      argument's memory if every reader of the old value runs before, or is the
      writing kernel itself and allows it (`echo.overwritable`). An update that
      only the return reads is first moved behind the last reader. Otherwise
      the result gets a buffer of its own and an `echo.copy` at the end; copies
      are ordered so that a swap of two states is right. These results
      disappear from the function's type.
    - Other results are buffers of their own; a result that is an argument, is
      written into an argument, or is returned before, is copied.
    - A result may take the buffer of an input that dies in its kernel, or the
      part of a buffer that the input is.
    - A library call that adds to an operand (`getAccumulatorOperand`) does so in the
      operand's buffer if nothing reads that afterwards, otherwise in a copy.
    - The parts of a concatenation (BufferJoinOpInterface) are computed in its
      buffer. Parts that are read after the whole is dead, that are arguments,
      views or parts of another concatenation are copied.
    - The result of an optimization barrier is its operand's buffer.
    - Every other result of a launch or library call is a `memref.alloc`.

    ```mlir
    func.func @f(%w: tensor<8xf32> {echo.role = "parameter"},
                 %x: tensor<8xf32>)
        -> (tensor<8xf32> {echo.aliases_argument = 0 : i64}) {
      %0 = echo.launch @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
      %1 = echo.launch @add(%w, %0)
          : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    ```
    becomes, if `@add` may overwrite its first argument,
    ```mlir
    func.func @f(%w: memref<8xf32> {...}, %x: memref<8xf32> {...}) {
      %0 = memref.alloc() : memref<8xf32>
      echo.launch @twice(%x) outs(%0 : memref<8xf32>) : (memref<8xf32>) -> ()
      echo.launch @add(%w, %0) outs(%w : memref<8xf32>)
          : (memref<8xf32>, memref<8xf32>) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::echo::EchoDialect", "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def EchoPlanMemoryPass : Pass<"echo-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Places every buffer of the host program in one arena";
  let description = [{
    Replaces every `memref.alloc` of a host program, and every argument that
    isn't a parameter or state, by a `memref.view` at a constant offset of one
    argument `memref<Nxi8> {echo.arena}`. A buffer lives from the first op that
    uses it (inputs from the start of the step) to the last one, through views;
    a returned buffer lives to the end. The placement is checked by an
    independent checker before it is applied. The function gets
    `echo.arena_bytes`, `echo.arena_alignment` and `echo.logical_peak_bytes`;
    arguments in the arena get `echo.arena_offset`.
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "64", "Alignment of buffers in bytes">,
  ];
  let dependentDialects = ["::mlir::echo::EchoDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // ECHO_TRANSFORMS_PASSES_TD

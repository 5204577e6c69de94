// What a barrier keeps apart stays apart under every pass that knows nothing of
// it: the first evaluation of tanh, its second evaluations behind barriers.
//
// RUN: echo-opt %s --cse | FileCheck %s --check-prefixes=CHECK,MERGED
// RUN: echo-opt %s --canonicalize | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: echo-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: echo-opt %s --control-flow-sink | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: echo-opt %s --inline | FileCheck %s --check-prefixes=CHECK,TWICE,INLINED
// RUN: echo-opt %s --remove-dead-values | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: echo-opt %s --cse --canonicalize --loop-invariant-code-motion --control-flow-sink --inline --remove-dead-values --cse --canonicalize | FileCheck %s --check-prefixes=CHECK,MERGED,INLINED
// RUN: echo-opt %s --sccp --loop-invariant-subset-hoisting --mem2reg --topological-sort --symbol-dce --linalg-fuse-elementwise-ops | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: echo-opt %s | echo-opt | FileCheck %s --check-prefixes=CHECK,TWICE
// RUN: echo-opt %s --mlir-print-op-generic | echo-opt | FileCheck %s --check-prefixes=CHECK,TWICE

// Two barriers with equal operands are equal, and so are the ops behind them:
// one second evaluation for both readers. The first stays.
// CHECK-LABEL: func.func @equal(
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>, %[[G:.*]]: tensor<f32>)
// CHECK:         echo.tanh %[[X]]
// CHECK:         %[[B:.*]] = echo.optimization_barrier(%[[X]], %[[G]]) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK:         echo.tanh %[[B]]
// TWICE:         %[[C:.*]] = echo.optimization_barrier(%[[X]], %[[G]])
// TWICE:         echo.tanh %[[C]]
// MERGED-NOT:    echo.tanh
// CHECK:         return
func.func @equal(%x: tensor<8xf32>, %g: tensor<f32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = echo.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = echo.optimization_barrier(%x, %g) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = echo.tanh %1 : (tensor<8xf32>) -> tensor<8xf32>
  %3 = echo.optimization_barrier(%x, %g) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = echo.tanh %3 : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %2, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Of another order, and a barrier of a barrier: nothing is merged. A barrier
// that waits for its own operand isn't simplified.
// CHECK-LABEL: func.func @different(
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>, %[[G:.*]]: tensor<f32>, %[[H:.*]]: index)
// CHECK-DAG:     %[[B:.*]] = echo.optimization_barrier(%[[X]], %[[G]])
// CHECK-DAG:     %[[C:.*]] = echo.optimization_barrier(%[[X]], %[[H]]) : (tensor<8xf32>, index) -> tensor<8xf32>
// CHECK-DAG:     %[[D:.*]] = echo.optimization_barrier(%[[B]], %[[G]])
// CHECK-DAG:     %[[E:.*]] = echo.optimization_barrier(%[[X]], %[[X]])
// CHECK-DAG:     math.tanh %[[X]]
// CHECK-DAG:     math.tanh %[[B]]
// CHECK-DAG:     math.tanh %[[C]]
// CHECK-DAG:     math.tanh %[[D]]
// CHECK-DAG:     math.tanh %[[E]]
// CHECK:         return
func.func @different(%x: tensor<8xf32>, %g: tensor<f32>, %h: index)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = math.tanh %x : tensor<8xf32>
  %1 = echo.optimization_barrier(%x, %g) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = math.tanh %1 : tensor<8xf32>
  %3 = echo.optimization_barrier(%x, %h) : (tensor<8xf32>, index) -> tensor<8xf32>
  %4 = math.tanh %3 : tensor<8xf32>
  %5 = echo.optimization_barrier(%1, %g) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %6 = math.tanh %5 : tensor<8xf32>
  %7 = echo.optimization_barrier(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %8 = math.tanh %7 : tensor<8xf32>
  return %0, %2, %4, %6, %8 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A chain of two ops is evaluated again behind one barrier.
// CHECK-LABEL: func.func @chain(
// CHECK-COUNT-4: arith.addf
// CHECK:         return
func.func @chain(%x: tensor<8xf32>, %g: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = arith.addf %x, %x : tensor<8xf32>
  %1 = arith.addf %0, %x : tensor<8xf32>
  %2 = echo.optimization_barrier(%x, %g) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = arith.addf %2, %2 : tensor<8xf32>
  %4 = arith.addf %3, %2 : tensor<8xf32>
  return %1, %4 : tensor<8xf32>, tensor<8xf32>
}

// In a loop the barrier waits for what the loop computes: the second evaluation
// of a loop-invariant op stays in it, and doesn't merge with the first one
// outside.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8xf32>
// CHECK:         %[[T:.*]] = math.tanh %[[X]]
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %[[T]])
// CHECK:           %[[E:.*]] = math.exp %[[A]]
// CHECK:           %[[B:.*]] = echo.optimization_barrier(%[[X]], %[[E]])
// CHECK:           %[[U:.*]] = math.tanh %[[B]]
// CHECK:           %[[M:.*]] = arith.mulf %[[E]], %[[U]]
// CHECK:           scf.yield %[[M]]
func.func @loop(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = math.tanh %x : tensor<8xf32>
  %1 = scf.for %i = %zero to %n step %one iter_args(%a = %0) -> tensor<8xf32> {
    %2 = math.exp %a : tensor<8xf32>
    %3 = echo.optimization_barrier(%x, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %4 = math.tanh %3 : tensor<8xf32>
    %5 = arith.mulf %2, %4 : tensor<8xf32>
    scf.yield %5 : tensor<8xf32>
  }
  return %1 : tensor<8xf32>
}

// In a branch: what moves into it stays behind its barrier.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8xf32>, %[[G:[^:]*]]: tensor<f32>
// CHECK:         math.tanh %[[X]]
// CHECK:         %[[B:.*]] = echo.optimization_barrier(%[[X]], %[[G]])
// CHECK:         math.tanh %[[B]]
// CHECK:         return
func.func @branch(%x: tensor<8xf32>, %g: tensor<f32>, %c: i1) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = math.tanh %x : tensor<8xf32>
  %1 = echo.optimization_barrier(%x, %g) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = math.tanh %1 : tensor<8xf32>
  %3 = scf.if %c -> tensor<8xf32> {
    scf.yield %2 : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %0, %3 : tensor<8xf32>, tensor<8xf32>
}

// A callee's second evaluation meets the first one when it is inlined.
// INLINED-LABEL: func.func @caller(
// INLINED-SAME:    %[[X:.*]]: tensor<8xf32>, %[[G:.*]]: tensor<f32>)
// INLINED:         math.tanh %[[X]]
// INLINED:         %[[B:.*]] = echo.optimization_barrier(%[[X]], %[[G]])
// INLINED:         math.tanh %[[B]]
// INLINED:         return
func.func @caller(%x: tensor<8xf32>, %g: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = math.tanh %x : tensor<8xf32>
  %1 = call @callee(%x, %g) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @callee(%x: tensor<8xf32>, %g: tensor<f32>) -> tensor<8xf32> {
  %0 = echo.optimization_barrier(%x, %g) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = math.tanh %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// RUN: echo-opt %s --split-input-file --pass-pipeline='builtin.module(echo-eliminate-dead-nodes)' | FileCheck %s
// RUN: echo-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(echo-eliminate-dead-nodes))' | FileCheck %s
// RUN: echo-opt %s --split-input-file --pass-pipeline='builtin.module(echo-eliminate-dead-nodes,echo-eliminate-dead-nodes)' | FileCheck %s

// A chain that ends nowhere, with a barrier in it and what it waits for. The op
// that both chains read stays. Arguments and results of functions stay.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>, %{{.*}}: tensor<8xf32>)
// CHECK-NEXT:    %[[E:.*]] = echo.exp %[[X]]
// CHECK-NEXT:    %[[T:.*]] = echo.tanh %[[E]]
// CHECK-NEXT:    return %[[T]]
func.func @chain(%x: tensor<8xf32>, %unused: tensor<8xf32>) -> tensor<8xf32> {
  %0 = echo.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = echo.tanh %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = echo.neg %0 : (tensor<8xf32>) -> tensor<8xf32>
  %3 = echo.optimization_barrier(%x, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = math.exp %3 : tensor<8xf32>
  %c = arith.constant dense<1.0> : tensor<8xf32>
  %5 = arith.addf %4, %c : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Only dead code goes: an op that folds, equal ops and constants stay.
// CHECK-LABEL: func.func @nothing_else(
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    arith.mulf
// CHECK-NEXT:    scf.if
// CHECK:         return
func.func @nothing_else(%x: f32) -> f32 {
  %true = arith.constant true
  %zero = arith.constant -0.0 : f32
  %0 = arith.addf %x, %zero : f32
  %1 = arith.addf %x, %zero : f32
  %2 = arith.mulf %0, %1 : f32
  %3 = scf.if %true -> f32 {
    scf.yield %2 : f32
  } else {
    scf.yield %x : f32
  }
  return %3 : f32
}

// -----

// What has an effect stays, with what it reads, whether its result is read or
// not; so does an op of which nothing is known.
// CHECK-LABEL: func.func @effects(
// CHECK-SAME:    %[[X:.*]]: f32, %[[M:.*]]: memref<8xf32>, %[[I:.*]]: index)
// CHECK-NEXT:    %[[E:.*]] = math.exp %[[X]]
// CHECK-NEXT:    memref.store %[[E]], %[[M]]
// CHECK-NEXT:    memref.atomic_rmw addf %[[E]], %[[M]]
// CHECK-NEXT:    call @unknown(%[[E]])
// CHECK-NEXT:    %[[T:.*]] = math.tanh %[[X]]
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      memref.store %[[T]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func private @unknown(f32) -> f32
func.func @effects(%x: f32, %m: memref<8xf32>, %i: index) {
  %0 = math.exp %x : f32
  memref.store %0, %m[%i] : memref<8xf32>
  %1 = memref.atomic_rmw addf %0, %m[%i] : (f32, memref<8xf32>) -> f32
  %2 = call @unknown(%0) : (f32) -> f32
  %3 = math.exp %2 : f32
  %4 = math.tanh %x : f32
  scf.for %j = %i to %i step %i {
    %5 = math.sin %4 : f32
    memref.store %4, %m[%j] : memref<8xf32>
  }
  return
}

// -----

// A loop of which one of two results is read: the other goes, with what it
// carries around. It is read by a dead op only, and depends on an outer op that
// nothing else needs.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[X:.*]]: f32, %[[N:.*]]: index)
// CHECK-NOT:     math.exp
// CHECK:         %[[L:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]]) -> (f32) {
// CHECK-NEXT:      %[[T:.*]] = math.tanh %[[A]]
// CHECK-NEXT:      scf.yield %[[T]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[L]]
func.func @loop(%x: f32, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = math.exp %x : f32
  %1:2 = scf.for %i = %zero to %n step %one iter_args(%a = %x, %b = %0) -> (f32, f32) {
    %2 = math.tanh %a : f32
    %3 = arith.mulf %b, %a : f32
    scf.yield %2, %3 : f32, f32
  }
  %4 = math.exp %1#1 : f32
  return %1#0 : f32
}

// Loops behind one another, and one in another: what the last doesn't need,
// none computes. A value that only carries itself around needs nothing.
// CHECK-LABEL: func.func @loops(
// CHECK:         scf.for {{.*}} -> (f32) {
// CHECK-NEXT:      scf.for {{.*}} -> (f32) {
// CHECK-NEXT:        math.tanh
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for {{.*}} -> (f32) {
// CHECK-NEXT:      math.sin
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @loops(%x: f32, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %1:2 = scf.for %i = %zero to %n step %one iter_args(%a = %x, %b = %x) -> (f32, f32) {
    %2:2 = scf.for %j = %zero to %n step %one iter_args(%c = %a, %d = %b) -> (f32, f32) {
      %3 = math.tanh %c : f32
      %4 = math.exp %d : f32
      scf.yield %3, %4 : f32, f32
    }
    scf.yield %2#0, %2#1 : f32, f32
  }
  %5:2 = scf.for %i = %zero to %n step %one iter_args(%a = %1#0, %b = %1#1) -> (f32, f32) {
    %6 = math.sin %a : f32
    %7 = arith.addf %b, %a : f32
    scf.yield %6, %7 : f32, f32
  }
  return %5#0 : f32
}

// Branches, and a loop of unknown length: a value that the condition reads
// stays.
// CHECK-LABEL: func.func @branches(
// CHECK:         scf.if %{{.*}} -> (f32) {
// CHECK-NEXT:      math.tanh
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NOT:     math.exp
// CHECK:         return
func.func @branches(%x: f32, %c: i1) -> f32 {
  %0:2 = scf.if %c -> (f32, f32) {
    %1 = math.tanh %x : f32
    %2 = math.exp %x : f32
    scf.yield %1, %2 : f32, f32
  } else {
    %3 = math.exp2 %x : f32
    scf.yield %x, %3 : f32, f32
  }
  %4:2 = scf.while (%a = %0#0, %b = %0#1) : (f32, f32) -> (f32, f32) {
    %5 = arith.cmpf olt, %a, %x : f32
    scf.condition(%5) %a, %b : f32, f32
  } do {
  ^bb0(%a: f32, %b: f32):
    %6 = math.sin %a : f32
    %7 = math.exp %b : f32
    scf.yield %6, %7 : f32, f32
  }
  return %4#0 : f32
}

// A loop of blocks: %b is carried around for itself alone, ^bb3 is never run.
// CHECK-LABEL: func.func @blocks(
// CHECK:         cf.br ^bb1(%{{[^,]*}} : f32)
// CHECK-NEXT:    ^bb1(%{{.*}}: f32):
// CHECK-NEXT:      math.tanh
// CHECK-NEXT:      cf.cond_br
// CHECK-NEXT:    ^bb2:
// CHECK-NEXT:      return
// CHECK-NEXT:    }
func.func @blocks(%x: f32, %c: i1) -> f32 {
  cf.br ^bb1(%x, %x : f32, f32)
^bb1(%a: f32, %b: f32):
  %0 = math.tanh %a : f32
  %1 = math.exp %b : f32
  cf.cond_br %c, ^bb1(%0, %1 : f32, f32), ^bb2
^bb2:
  return %0 : f32
^bb3:
  %2 = math.sin %x : f32
  cf.br ^bb3
}

// -----

// A kernel without its second result, what computes it, and the input that this
// reads. That was the first kernel's only reader, which goes.
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME:    %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-NEXT:    %[[K:.*]]:2 = echo.kernel(%[[A]]) {note} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: tensor<8xf32>):
// CHECK-NEXT:      %[[E:.*]] = echo.exp %[[X]]
// CHECK-NEXT:      %[[N:.*]] = echo.neg %[[E]]
// CHECK-NEXT:      echo.yield %[[E]], %[[N]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[K]]#1, %[[K]]#0
func.func @kernel(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = echo.kernel(%b) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%x: tensor<8xf32>):
    %2 = echo.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    echo.yield %2 : tensor<8xf32>
  }
  %1:3 = echo.kernel(%a, %0) {note} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%x: tensor<8xf32>, %y: tensor<8xf32>):
    %2 = echo.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    %3 = echo.tanh %y : (tensor<8xf32>) -> tensor<8xf32>
    %4 = echo.mul %2, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %5 = echo.neg %2 : (tensor<8xf32>) -> tensor<8xf32>
    echo.yield %2, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %1#2, %1#0 : tensor<8xf32>, tensor<8xf32>
}

// -----

// linalg.generic without its second output.
#map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @generic(
// CHECK-SAME:    %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-NEXT:    %[[O:.*]] = tensor.empty
// CHECK-NEXT:    %[[G:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<8xf32>) outs(%[[O]] : tensor<8xf32>)
// CHECK-NEXT:    ^bb0(
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      linalg.yield
// CHECK-NEXT:    } -> tensor<8xf32>
// CHECK-NEXT:    return %[[G]]
func.func @generic(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tensor.empty() : tensor<8xf32>
  %1 = tensor.empty() : tensor<8xf32>
  %2 = math.tanh %b : tensor<8xf32>
  %3:2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %2 : tensor<8xf32>, tensor<8xf32>) outs(%0, %1 : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32, %p: f32, %q: f32):
    %4 = math.exp %x : f32
    %5 = arith.addf %x, %y : f32
    linalg.yield %4, %5 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %3#0 : tensor<8xf32>
}

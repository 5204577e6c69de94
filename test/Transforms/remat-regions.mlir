// Ops with regions are opaque: what their regions read from outside counts as
// read by them, and they are never evaluated again unless they say that they can
// be. All tensors have 16 elements of 4 bytes; a gradient's ops are written so
// that they read what the comments say, not what a derivative is.

// RUN: echo-opt %s --split-input-file --echo-remat=strategy=echo | FileCheck %s
// RUN: echo-opt %s --split-input-file --echo-remat=strategy=echo --canonicalize --cse \
// RUN:   --loop-invariant-code-motion | FileCheck %s
// RUN: echo-opt %s --split-input-file --echo-print-use-refs -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=REFS
// RUN: echo-opt %s --split-input-file --echo-eliminate-dead-nodes \
// RUN:   | FileCheck %s --check-prefix=DEAD

// The branches of an op of the backward part read %2 and %1, the op behind it
// %0: all three tanhs are late uses, and are computed again from %0 in front of
// the first op that reads them. %1 is read in one branch alone; its clone is not
// in a branch, since %2's reads it.

// CHECK-LABEL: func @branch
// CHECK: %[[S:.*]] = math.sqrt
// CHECK: %[[LOSS:.*]] = linalg.generic
// CHECK: %[[B:.*]] = echo.optimization_barrier(%[[S]], %[[LOSS]])
// CHECK: %[[T1:.*]] = math.tanh %[[B]]
// CHECK: %[[T2:.*]] = math.tanh %[[T1]]
// CHECK: %[[T3:.*]] = math.tanh %[[T2]]
// CHECK: %[[G:.*]] = arith.addf %[[T3]], %[[T3]]
// CHECK: scf.if
// CHECK:   arith.mulf %[[T2]], %[[G]]
// CHECK: else
// CHECK:   scf.yield %[[T1]]
// CHECK: arith.mulf %{{.*}}, %[[S]]
// CHECK: return %[[LOSS]]
// REFS: @branch
// REFS: sqrt#0 (64 bytes): forward [tanh#1], backward [mulf#7]
// REFS-NEXT: tanh#1 (64 bytes): forward [tanh#2], backward [if#6]
// REFS-NEXT: tanh#2 (64 bytes): forward [tanh#3], backward [if#6]
// REFS-NEXT: tanh#3 (64 bytes): forward [generic#4], backward [addf#5]
#map = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>
func.func @branch(%x: tensor<16xf32>, %c: i1) -> (tensor<f32>, tensor<16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = math.sqrt %x : tensor<16xf32>
  %1 = math.tanh %0 : tensor<16xf32>
  %2 = math.tanh %1 : tensor<16xf32>
  %3 = math.tanh %2 : tensor<16xf32>
  %loss = linalg.generic {indexing_maps = [#map, #scalar], iterator_types = ["reduction"]}
      ins(%3 : tensor<16xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %g = arith.addf %3, %3 : tensor<16xf32>
  %h = scf.if %c -> tensor<16xf32> {
    %t = arith.mulf %2, %g : tensor<16xf32>
    scf.yield %t : tensor<16xf32>
  } else {
    scf.yield %1 : tensor<16xf32>
  }
  %gx = arith.mulf %h, %0 : tensor<16xf32>
  return %loss, %gx : tensor<f32>, tensor<16xf32>
}

// -----

// A loop in the backward part starts with %2 and reads it, and %1, again and
// again, two regions deep; a forward op reads %1 in a region too. Each value is
// counted once.

// CHECK-LABEL: func @loop
// CHECK: %[[S:.*]] = math.sqrt
// CHECK: %[[O1:.*]] = math.tanh %[[S]]
// CHECK: scf.if
// CHECK:   math.absf %[[O1]]
// CHECK: %[[B:.*]] = echo.optimization_barrier(%[[S]]
// CHECK: %[[T1:.*]] = math.tanh %[[B]]
// CHECK: %[[T2:.*]] = math.tanh %[[T1]]
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[T2]])
// CHECK:   %[[M:.*]] = arith.mulf %[[A]], %[[T2]]
// CHECK:   scf.if
// CHECK:     arith.mulf %[[M]], %[[T1]]
// CHECK: arith.mulf %{{.*}}, %[[S]]
// CHECK-NOT: math.tanh
// REFS: @loop
// REFS: tanh#1 (64 bytes): forward [tanh#2, if#3], backward [for#5]
// REFS-NEXT: tanh#2 (64 bytes): forward [if#3], backward [for#5]
#map = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>
func.func @loop(%x: tensor<16xf32>, %c: i1, %n: index) -> (tensor<f32>, tensor<16xf32>) {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = math.sqrt %x : tensor<16xf32>
  %1 = math.tanh %0 : tensor<16xf32>
  %2 = math.tanh %1 : tensor<16xf32>
  %3 = scf.if %c -> tensor<16xf32> {
    %t = math.absf %1 : tensor<16xf32>
    scf.yield %t : tensor<16xf32>
  } else {
    scf.yield %2 : tensor<16xf32>
  }
  %loss = linalg.generic {indexing_maps = [#map, #scalar], iterator_types = ["reduction"]}
      ins(%3 : tensor<16xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %g = scf.for %i = %i0 to %n step %i1 iter_args(%a = %2) -> tensor<16xf32> {
    %m = arith.mulf %a, %2 : tensor<16xf32>
    %h = scf.if %c -> tensor<16xf32> {
      %t = arith.mulf %m, %1 : tensor<16xf32>
      scf.yield %t : tensor<16xf32>
    } else {
      scf.yield %m : tensor<16xf32>
    }
    scf.yield %h : tensor<16xf32>
  }
  %gx = arith.mulf %g, %0 : tensor<16xf32>
  return %loss, %gx : tensor<f32>, tensor<16xf32>
}

// -----

// A loop of the forward part isn't evaluated again, pure or not: its result is
// stashed, and what follows it is computed again from there.

// CHECK-LABEL: func @forward_loop
// CHECK: %[[L:.*]] = scf.for
// CHECK: %[[LOSS:.*]] = linalg.generic
// CHECK-NOT: scf.for
// CHECK: %[[B:.*]] = echo.optimization_barrier(%[[L]], %[[LOSS]])
// CHECK: %[[T1:.*]] = math.tanh %[[B]]
// CHECK: %[[T2:.*]] = math.tanh %[[T1]]
// CHECK: arith.mulf %[[T2]], %[[T1]]
// CHECK-NOT: scf.for
// CHECK: return
#map = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>
func.func @forward_loop(%x: tensor<16xf32>, %n: index) -> (tensor<f32>, tensor<16xf32>) {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = scf.for %i = %i0 to %n step %i1 iter_args(%a = %x) -> tensor<16xf32> {
    %t = math.tanh %a : tensor<16xf32>
    scf.yield %t : tensor<16xf32>
  }
  %1 = math.tanh %0 : tensor<16xf32>
  %2 = math.tanh %1 : tensor<16xf32>
  %loss = linalg.generic {indexing_maps = [#map, #scalar], iterator_types = ["reduction"]}
      ins(%2 : tensor<16xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %g = arith.mulf %2, %1 : tensor<16xf32>
  %gx = arith.mulf %g, %0 : tensor<16xf32>
  return %loss, %gx : tensor<f32>, tensor<16xf32>
}

// -----

// A structured op is evaluated again with its region. It reads %t from outside
// of it, so the clone reads that behind a barrier, too, or from a clone.

// CHECK-LABEL: func @captured
// CHECK: %[[S:.*]] = math.sqrt
// CHECK: %[[LOSS:.*]] = linalg.generic
// CHECK: linalg.yield
// CHECK: linalg.generic
// CHECK: echo.optimization_barrier(%[[S]]
// CHECK: %[[T:.*]] = math.tanh
// CHECK: linalg.generic
// CHECK:   tensor.extract %[[T]]
// CHECK: return
#map = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>
func.func @captured(%x: tensor<16xf32>) -> (tensor<f32>, tensor<16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<16xf32>
  %c15 = arith.constant 15 : index
  %0 = math.sqrt %x : tensor<16xf32>
  %t = math.tanh %0 : tensor<16xf32>
  %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]}
      outs(%empty : tensor<16xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c15, %i : index
    %e = tensor.extract %t[%j] : tensor<16xf32>
    linalg.yield %e : f32
  } -> tensor<16xf32>
  %loss = linalg.generic {indexing_maps = [#map, #scalar], iterator_types = ["reduction"]}
      ins(%1 : tensor<16xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %g = arith.mulf %1, %t : tensor<16xf32>
  %gx = arith.mulf %g, %0 : tensor<16xf32>
  return %loss, %gx : tensor<f32>, tensor<16xf32>
}

// -----

// A region with an effect: the op is neither evaluated again nor moved, and what
// it computes is stashed. So is what reads memory.

// CHECK-LABEL: func @effects
// CHECK: memref.load
// CHECK: linalg.generic
// CHECK:   memref.store
// CHECK: linalg.generic
// CHECK-NOT: memref
// CHECK: return
#map = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>
func.func @effects(%x: tensor<16xf32>, %m: memref<16xf32>, %k: index) -> (tensor<f32>, tensor<16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = math.sqrt %x : tensor<16xf32>
  %v = memref.load %m[%k] : memref<16xf32>
  %r = tensor.splat %v : tensor<16xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%r : tensor<16xf32>) outs(%0 : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %s = arith.addf %in, %out : f32
    memref.store %s, %m[%i] : memref<16xf32>
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %2 = math.tanh %1 : tensor<16xf32>
  %loss = linalg.generic {indexing_maps = [#map, #scalar], iterator_types = ["reduction"]}
      ins(%2 : tensor<16xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %g = arith.mulf %2, %1 : tensor<16xf32>
  %gx = arith.mulf %g, %r : tensor<16xf32>
  return %loss, %gx : tensor<f32>, tensor<16xf32>
}

// -----

// A value that a region alone reads is needed if the region's result is, or if
// the region has an effect. The loop's first result, with what it reads, goes.

// DEAD-LABEL: func @dead
// DEAD-NOT: math.exp
// DEAD: %[[C:.*]] = math.cos
// DEAD-NEXT: %[[S:.*]] = math.sin
// DEAD-NOT: math.exp
// DEAD: scf.for {{.*}} -> (tensor<16xf32>)
// DEAD-NEXT: arith.mulf %{{.*}}, %[[C]]
// DEAD-NEXT: scf.yield
// DEAD: scf.if
// DEAD-NEXT: bufferization.materialize_in_destination %[[S]]
// DEAD: return
func.func @dead(%x: tensor<16xf32>, %m: memref<16xf32>, %c: i1, %n: index)
    -> (tensor<f32>, tensor<16xf32>) {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %0 = math.exp %x : tensor<16xf32>
  %1 = math.cos %x : tensor<16xf32>
  %2 = math.sin %x : tensor<16xf32>
  %loss = tensor.extract_slice %1[0] [1] [1] : tensor<16xf32> to tensor<f32>
  %g:2 = scf.for %i = %i0 to %n step %i1 iter_args(%a = %0, %b = %1)
      -> (tensor<16xf32>, tensor<16xf32>) {
    %s = arith.mulf %a, %0 : tensor<16xf32>
    %t = arith.mulf %b, %1 : tensor<16xf32>
    scf.yield %s, %t : tensor<16xf32>, tensor<16xf32>
  }
  scf.if %c {
    bufferization.materialize_in_destination %2 in writable %m
        : (tensor<16xf32>, memref<16xf32>) -> ()
  }
  return %loss, %g#1 : tensor<f32>, tensor<16xf32>
}

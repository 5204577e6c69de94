// RUN: echo-opt %s --echo-remove-barriers | FileCheck %s
// RUN: echo-opt %s --pass-pipeline='builtin.module(func.func(echo-remove-barriers))' | FileCheck %s

// CHECK-NOT: echo.

// Whatever the types, and one behind the other.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: vector<8xf32>, %[[G:.*]]: index)
// CHECK-NEXT:    %[[T:.*]] = math.tanh %[[X]]
// CHECK-NEXT:    return %[[T]], %[[X]]
func.func @chain(%x: vector<8xf32>, %g: index) -> (vector<8xf32>, vector<8xf32>) {
  %0 = echo.optimization_barrier(%x, %g) : (vector<8xf32>, index) -> vector<8xf32>
  %1 = echo.optimization_barrier(%0, %0) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %2 = math.tanh %1 : vector<8xf32>
  return %2, %0 : vector<8xf32>, vector<8xf32>
}

// In nested regions, with what is around them.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8xf32>
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]])
// CHECK-NEXT:      %[[U:.*]] = math.tanh %[[X]]
// CHECK-NEXT:      %[[M:.*]] = arith.mulf %[[A]], %[[U]]
// CHECK-NEXT:      scf.yield %[[M]]
func.func @loop(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = echo.optimization_barrier(%x, %n) : (tensor<8xf32>, index) -> tensor<8xf32>
  %1 = scf.for %i = %zero to %n step %one iter_args(%a = %0) -> tensor<8xf32> {
    %2 = echo.optimization_barrier(%0, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %3 = math.tanh %2 : tensor<8xf32>
    %4 = arith.mulf %a, %3 : tensor<8xf32>
    scf.yield %4 : tensor<8xf32>
  }
  return %1 : tensor<8xf32>
}


// RUN: echo-opt %s --inline | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-NEXT:    %[[A:.*]] = echo.exp %{{.*}}
// CHECK-NEXT:    %[[B:.*]] = echo.kernel(%[[A]])
// CHECK-NEXT:    ^bb0(%[[C:.*]]: tensor<4xf32>):
// CHECK-NEXT:      %[[D:.*]] = echo.exp %[[C]]
// CHECK-NEXT:      echo.yield %[[D]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[B]]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = echo.kernel(%0) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %2 = func.call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
    echo.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = echo.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

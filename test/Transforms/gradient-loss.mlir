// RUN: echo-opt %s --echo-gradient='function=marked' | FileCheck %s --check-prefix=MARKED
// RUN: echo-opt %s --echo-gradient='function=marked loss=0' | FileCheck %s --check-prefix=CHOSEN
// RUN: echo-opt %s --echo-gradient='function=only' | FileCheck %s --check-prefix=ONLY

// MARKED-LABEL: func.func @marked
// MARKED-SAME: -> (tensor<f32>, tensor<f32> {echo.loss}, tensor<f32> {echo.gradient_of = 0 : i64, echo.name = "w.grad"})
// MARKED: %[[EXP:.*]] = echo.exp
// MARKED: %[[GRAD:.*]] = echo.mul %{{.*}}, %[[EXP]]
// MARKED: return %{{.*}}, %{{.*}}, %[[GRAD]]

// loss= goes before the mark, and takes it along.
// CHOSEN-LABEL: func.func @marked
// CHOSEN-SAME: -> (tensor<f32> {echo.loss}, tensor<f32>, tensor<f32> {echo.gradient_of
// CHOSEN: %[[GRAD:.*]] = echo.neg
// CHOSEN: %[[GRAD:.*]] = echo.neg
// CHOSEN: return %{{.*}}, %{{.*}}, %[[GRAD]]
func.func @marked(%w: tensor<f32> {echo.role = "parameter", echo.name = "w"})
    -> (tensor<f32>, tensor<f32> {echo.loss}) {
  %0 = echo.neg %w : (tensor<f32>) -> tensor<f32>
  %1 = echo.exp %w : (tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// ONLY-LABEL: func.func @only
// ONLY-SAME: -> (tensor<i64>, tensor<f32> {echo.loss}, tensor<2xf32>, tensor<2xf32> {echo.gradient_of
func.func @only(%w: tensor<2xf32> {echo.role = "parameter"}, %n: tensor<i64>)
    -> (tensor<i64>, tensor<f32>, tensor<2xf32>) {
  %0 = echo.reduce sum %w {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %n, %0, %w : tensor<i64>, tensor<f32>, tensor<2xf32>
}

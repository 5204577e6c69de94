// RUN: echo-opt %s --echo-gradient --echo-optimizer='kind=sgd' | FileCheck %s --check-prefix=SGD
// RUN: echo-opt %s --echo-gradient --echo-optimizer='kind=momentum momentum=0.5 weight-decay=0.25' | FileCheck %s --check-prefix=MOMENTUM
// RUN: echo-opt %s --echo-gradient --echo-optimizer='kind=adam weight-decay=0.25 decoupled' | FileCheck %s --check-prefix=ADAM
// RUN: echo-opt %s --echo-gradient --echo-optimizer='kind=sgd clip-norm=2' | FileCheck %s --check-prefix=CLIP
// RUN: echo-opt %s --echo-gradient --echo-optimizer='kind=momentum accumulate=4' | FileCheck %s --check-prefix=ACCUMULATE

// The gradients' results become the parameters; the loss and other results
// stay; new arguments and results come behind the old ones.
// SGD-LABEL: func.func @step(
// SGD-SAME: %[[X:.*]]: tensor<2x3xf32>,
// SGD-SAME: %[[V:.*]]: tensor<4xf32> {echo.name = "v", echo.role = "parameter"},
// SGD-SAME: %[[W:.*]]: tensor<4x3xf32> {echo.name = "w", echo.role = "parameter"},
// SGD-SAME: %[[RATE:.*]]: tensor<f32> {echo.init = #echo.init<constant, 1.0{{.*}}e-03>, echo.name = "learning_rate", echo.role = "input"})
// SGD-SAME: -> (tensor<f32> {echo.loss}, tensor<2x4xf32>,
// SGD-SAME: tensor<4xf32> {echo.aliases_argument = 1 : i64, echo.name = "v"},
// SGD-SAME: tensor<4x3xf32> {echo.aliases_argument = 2 : i64, echo.name = "w"})
// An update stands behind its gradient and the last reader of the parameter:
// that of %w comes before the gradient of %v.
// SGD: %[[Y:.*]] = echo.linear %[[X]], %[[W]], %[[V]]
// SGD: %[[LOSS:.*]] = echo.reduce mean
// SGD-DAG: %[[GW:.*]] = echo.matmul {{.*}} {transpose_lhs = true}
// SGD: %[[SW:.*]] = echo.mul %[[GW]], %[[RATE]]
// SGD-NEXT: %[[NW:.*]] = echo.sub %[[W]], %[[SW]]
// SGD-NEXT: %[[GV:.*]] = echo.reduce sum
// SGD-NEXT: %[[SV:.*]] = echo.mul %[[GV]], %[[RATE]]
// SGD-NEXT: %[[NV:.*]] = echo.sub %[[V]], %[[SV]]
// SGD-NEXT: return %[[LOSS]], %[[Y]], %[[NV]], %[[NW]]

// b = 0.5 b + (g + 0.25 p), p -= rate b.
// MOMENTUM-LABEL: func.func @step(
// MOMENTUM-SAME: %[[RATE:[a-z0-9]*]]: tensor<f32>{{[^}]*}}echo.name = "learning_rate"
// MOMENTUM-SAME: %[[BV:[a-z0-9]*]]: tensor<4xf32> {echo.init = #echo.init<constant, 0.0{{.*}}>, echo.name = "v.momentum", echo.role = "state"}
// MOMENTUM-SAME: %[[BW:[a-z0-9]*]]: tensor<4x3xf32>{{[^}]*}}echo.name = "w.momentum", echo.role = "state"}
// MOMENTUM-SAME: tensor<4xf32> {echo.aliases_argument = 4 : i64, echo.name = "v.momentum"},
// MOMENTUM-SAME: tensor<4x3xf32> {echo.aliases_argument = 5 : i64, echo.name = "w.momentum"})
// MOMENTUM: %[[GW:.*]] = echo.matmul {{.*}} {transpose_lhs = true}
// MOMENTUM: %[[QUARTER:.*]] = echo.constant dense<2.5{{.*}}e-01> : tensor<f32>
// MOMENTUM: %[[D:.*]] = echo.mul %[[W:.*]], %[[QUARTER]]
// MOMENTUM: %[[G:.*]] = echo.add %[[GW]], %[[D]]
// MOMENTUM: %[[HALF:.*]] = echo.constant dense<5.0{{.*}}e-01> : tensor<f32>
// MOMENTUM: %[[OLD:.*]] = echo.mul %[[BW]], %[[HALF]]
// MOMENTUM: %[[NB:.*]] = echo.add %[[OLD]], %[[G]]
// MOMENTUM: %[[S:.*]] = echo.mul %[[NB]], %[[RATE]]
// MOMENTUM: %[[NW:.*]] = echo.sub %[[W]], %[[S]]
// MOMENTUM: return %{{.*}}, %{{.*}}, %{{.*}}, %[[NW]], %{{.*}}, %[[NB]]

// Bias corrections and the decay factor are scalars in f64, once for all.
// ADAM-LABEL: func.func @step(
// ADAM-SAME: %[[RATE:[a-z0-9]*]]: tensor<f32>{{[^}]*}}echo.name = "learning_rate"
// ADAM-SAME: %[[T:[a-z0-9]*]]: tensor<i64>{{[^}]*}}echo.name = "optimizer.step", echo.role = "state"}
// ADAM-SAME: echo.name = "v.m"
// ADAM-SAME: echo.name = "v.v"
// ADAM-SAME: %[[M:[a-z0-9]*]]: tensor<4x3xf32>{{[^}]*}}echo.name = "w.m"
// ADAM-SAME: echo.name = "w.v"
// ADAM-SAME: tensor<i64> {echo.aliases_argument = 4 : i64, echo.name = "optimizer.step"}
// ADAM: %[[GW:.*]] = echo.matmul {{.*}} {transpose_lhs = true}
// ADAM: %[[R64:.*]] = echo.convert %[[RATE]] : (tensor<f32>) -> tensor<f64>
// ADAM: %[[RW:.*]] = echo.mul %[[R64]], %
// ADAM: %[[DECAY64:.*]] = echo.sub %{{.*}}, %[[RW]] : (tensor<f64>, tensor<f64>) -> tensor<f64>
// ADAM: %[[T1:.*]] = echo.add %[[T]], %
// ADAM: %[[COUNT:.*]] = echo.convert %[[T1]] : (tensor<i64>) -> tensor<f64>
// ADAM: echo.pow %{{.*}}, %[[COUNT]]
// ADAM: echo.pow %{{.*}}, %[[COUNT]]
// ADAM: echo.sqrt
// ADAM: %[[DECAY:.*]] = echo.convert %[[DECAY64]] : (tensor<f64>) -> tensor<f32>
// ADAM: echo.mul %{{.*}}, %[[DECAY]] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
// ADAM: echo.sub %[[GW]], %[[M]]
// ADAM-NOT: echo.pow
// ADAM: echo.reduce sum
// ADAM: echo.mul %{{.*}}, %[[DECAY]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// ADAM-NOT: echo.pow
// ADAM: return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[T1]],

// The norm goes over all gradients, so that every update comes behind them.
// CLIP-LABEL: func.func @step(
// CLIP: %[[GW:.*]] = echo.matmul {{.*}} {transpose_lhs = true}
// CLIP: %[[GV:.*]] = echo.reduce sum
// CLIP: %[[VV:.*]] = echo.mul %[[GV]], %[[GV]]
// CLIP: %[[SV:.*]] = echo.reduce sum %[[VV]] {dims = array<i64: 0>}
// CLIP: %[[WW:.*]] = echo.mul %[[GW]], %[[GW]]
// CLIP: %[[SW:.*]] = echo.reduce sum %[[WW]] {dims = array<i64: 0, 1>}
// CLIP: %[[S:.*]] = echo.add %[[SV]], %[[SW]]
// CLIP: %[[NORM:.*]] = echo.sqrt %[[S]]
// CLIP: %[[BELOW:.*]] = echo.add %[[NORM]], %
// CLIP: %[[Q:.*]] = echo.div %{{.*}}, %[[BELOW]]
// CLIP: %[[C:.*]] = echo.min %[[Q]], %
// CLIP: echo.mul %[[GV]], %[[C]]
// CLIP: echo.mul %[[GW]], %[[C]]

// Parameters and moments keep their values until the fourth call.
// ACCUMULATE-LABEL: func.func @step(
// ACCUMULATE-SAME: %[[T:[a-z0-9]*]]: tensor<i64>{{[^}]*}}echo.name = "optimizer.step"
// ACCUMULATE-SAME: %[[B:[a-z0-9]*]]: tensor<4x3xf32>{{[^}]*}}echo.name = "w.momentum"
// ACCUMULATE-SAME: %[[ACC:[a-z0-9]*]]: tensor<4x3xf32>{{[^}]*}}echo.name = "w.accumulated"
// ACCUMULATE: %[[GW:.*]] = echo.matmul {{.*}} {transpose_lhs = true}
// ACCUMULATE: %[[T1:.*]] = echo.add %[[T]], %
// ACCUMULATE: %[[FOUR:.*]] = echo.constant dense<4> : tensor<i64>
// ACCUMULATE: %[[REM:.*]] = echo.rem %[[T1]], %[[FOUR]]
// ACCUMULATE: %[[NOW:.*]] = echo.compare eq %[[REM]], %
// ACCUMULATE: %[[SUM:.*]] = echo.add %[[ACC]], %[[GW]]
// ACCUMULATE: %[[G:.*]] = echo.div %[[SUM]], %
// ACCUMULATE: %[[NACC:.*]] = echo.select %[[NOW]], %{{.*}}, %[[SUM]]
// ACCUMULATE: %[[NB:.*]] = echo.add %{{.*}}, %[[G]]
// ACCUMULATE: %[[P:.*]] = echo.sub %[[W:.*]], %
// ACCUMULATE: echo.select %[[NOW]], %[[P]], %[[W]]
// ACCUMULATE: echo.select %[[NOW]], %[[NB]], %[[B]]
func.func @step(%x: tensor<2x3xf32>,
                %v: tensor<4xf32> {echo.role = "parameter", echo.name = "v"},
                %w: tensor<4x3xf32> {echo.role = "parameter", echo.name = "w"})
    -> (tensor<f32> {echo.loss}, tensor<2x4xf32>) {
  %0 = echo.linear %x, %w, %v : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = echo.reduce mean %0 {dims = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  return %1, %0 : tensor<f32>, tensor<2x4xf32>
}

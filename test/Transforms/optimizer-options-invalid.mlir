// RUN: not echo-opt %s --echo-optimizer='kind=adagrad' 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not echo-opt %s --echo-optimizer='kind=momentum momentum=-0.5' 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not echo-opt %s --echo-optimizer='kind=momentum momentum=1.5' 2>&1 | FileCheck %s --check-prefix=MOMENTUM1
// RUN: not echo-opt %s --echo-optimizer='kind=adam momentum=0.5' 2>&1 | FileCheck %s --check-prefix=OWNER -DOPTION=momentum -DKIND=adam
// RUN: not echo-opt %s --echo-optimizer='kind=sgd beta1=0.5' 2>&1 | FileCheck %s --check-prefix=OWNER -DOPTION=beta1 -DKIND=sgd
// RUN: not echo-opt %s --echo-optimizer='kind=momentum beta2=0.5' 2>&1 | FileCheck %s --check-prefix=OWNER -DOPTION=beta2 -DKIND=momentum
// RUN: not echo-opt %s --echo-optimizer='epsilon=0.5' 2>&1 | FileCheck %s --check-prefix=OWNER -DOPTION=epsilon -DKIND=sgd
// RUN: not echo-opt %s --echo-optimizer='kind=adam beta1=1' 2>&1 | FileCheck %s --check-prefix=BETA1
// RUN: not echo-opt %s --echo-optimizer='kind=adam beta2=-0.1' 2>&1 | FileCheck %s --check-prefix=BETA2
// RUN: not echo-opt %s --echo-optimizer='kind=adam epsilon=-1' 2>&1 | FileCheck %s --check-prefix=EPSILON
// RUN: not echo-opt %s --echo-optimizer='weight-decay=-1' 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not echo-opt %s --echo-optimizer='clip-norm=-1' 2>&1 | FileCheck %s --check-prefix=CLIP
// RUN: not echo-opt %s --echo-optimizer='accumulate=0' 2>&1 | FileCheck %s --check-prefix=ACCUMULATE
// RUN: not echo-opt %s --echo-optimizer='function=g' 2>&1 | FileCheck %s --check-prefix=FUNCTION

// KIND: error: expected optimizer option kind to be sgd, momentum or adam, found 'adagrad'
// MOMENTUM: error: expected optimizer option momentum in [0, 1], found -0.5
// MOMENTUM1: error: expected optimizer option momentum in [0, 1], found 1.5
// OWNER: error: optimizer option [[OPTION]] isn't one of kind=[[KIND]]
// BETA1: error: expected optimizer option beta1 in [0, 1), found 1.0
// BETA2: error: expected optimizer option beta2 in [0, 1), found -0.1
// EPSILON: error: expected optimizer option epsilon >= 0, found -1.0
// DECAY: error: expected optimizer option weight-decay >= 0, found -1.0
// CLIP: error: expected optimizer option clip-norm >= 0, found -1.0
// ACCUMULATE: error: expected optimizer option accumulate >= 1, found 0
// FUNCTION: error: expected a function @g; there is none
func.func @f(%w: tensor<f32> {echo.role = "parameter"}) -> (tensor<f32> {echo.gradient_of = 0 : i64}) {
  return %w : tensor<f32>
}

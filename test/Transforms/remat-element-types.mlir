// Tensors of any elements whose size is known can be planned.

// RUN: echo-opt %s -o /dev/null --allow-unregistered-dialect \
// RUN:   --echo-remat=strategy=none \
// RUN:   --remark-format=emitRemark --remarks-filter=echo-remat 2>&1 \
// RUN:   | FileCheck %s

// 40 x 8 bytes of indices, 50 x 2 x 4 bytes of complex numbers, 60 x 3 x 2 bytes of
// vectors, all of which the other results read.
// CHECK-DAG: 320 bytes stashed
// CHECK-DAG: 400 bytes stashed
// CHECK-DAG: 360 bytes stashed
func.func @f(%indices: tensor<40xi64>, %complex: tensor<50xcomplex<f32>>,
             %vectors: tensor<60xvector<3xf16>>)
    -> (tensor<f32>, tensor<40xindex>, tensor<50xcomplex<f32>>,
        tensor<60xvector<3xf16>>) {
  %i = "other.index"(%indices) : (tensor<40xi64>) -> tensor<40xindex>
  %c = "other.complex"(%complex) : (tensor<50xcomplex<f32>>) -> tensor<50xcomplex<f32>>
  %v = "other.vector"(%vectors) : (tensor<60xvector<3xf16>>) -> tensor<60xvector<3xf16>>
  %loss = "other.loss"(%i, %c, %v)
      : (tensor<40xindex>, tensor<50xcomplex<f32>>, tensor<60xvector<3xf16>>)
      -> tensor<f32>
  %di = "other.index_grad"(%i) : (tensor<40xindex>) -> tensor<40xindex>
  %dc = "other.complex_grad"(%c) : (tensor<50xcomplex<f32>>) -> tensor<50xcomplex<f32>>
  %dv = "other.vector_grad"(%v) : (tensor<60xvector<3xf16>>) -> tensor<60xvector<3xf16>>
  return %loss, %di, %dc, %dv
      : tensor<f32>, tensor<40xindex>, tensor<50xcomplex<f32>>,
        tensor<60xvector<3xf16>>
}

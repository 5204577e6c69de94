// A step as a problem: layers' names, memory, and what the time of kernels follows
// from. The slow device computes 1 Gflop/s and moves 1e15 bytes per second.
//
// A table of 100 rows of 4 f32, 1600 bytes, of which 6 are read: 96 bytes, and 24 of
// indices; 96 are written: 216 bytes. The product of 24 elements takes 24 ns. The
// reshape is a view: what reads it reads the embedding element by element. The updated
// table takes the old one's memory.

// RUN: echo-plan %s --quiet --device=%S/Inputs/slow-device.json --save-problem=%t.json
// RUN: FileCheck %s < %t.json

// CHECK: "values": [
// CHECK-NEXT: {"name": "net/table", "bytes": 1600, "resident": true},
// CHECK-NEXT: {"name": "arg1", "bytes": 24},
// CHECK-NEXT: {"name": "net/rows embedding", "bytes": 96},
// CHECK-NEXT: {"name": "net/flat reshape", "view_of": 2},
// CHECK-NEXT: {"name": "net/t0 tanh", "bytes": 96},
// CHECK-NEXT: {"name": "loss reduce", "bytes": 4},
// CHECK-NEXT: {"name": "net/t0 mul", "bytes": 96},
// CHECK-NEXT: {"name": "net/t0 reduce", "bytes": 4},
// CHECK-NEXT: {"name": "net/table sub", "bytes": 1600, "resident": true}
// CHECK-NEXT: ],
// CHECK-NEXT: "ops": [
// CHECK-NEXT: {"name": "net/rows embedding", "inputs": [0, 1], "results": [2], "part": "forward", "seconds": 2.16e-13, "fusion": {"class": "pointwise", "elements": 24, "reads": ["any", {"row": 4}], "writes": ["same"]}, "read_bytes": [96, 24]},
// CHECK-NEXT: {"name": "net/flat reshape", "inputs": [2], "results": [3], "part": "forward", "seconds": 0},
// CHECK-NEXT: {"name": "net/t0 tanh", "inputs": [3], "results": [4], "part": "forward", "seconds": {{.*}}, "in_place": true, "flops": {{.*}}, "fusion": {"class": "pointwise", "elements": 24, "weight": {{.*}}, "reads": ["same"], "writes": ["same"]}},
// CHECK-NEXT: {"name": "loss reduce", "inputs": [4], "results": [5], "part": "forward", "seconds": {{.*}}, "flops": 24, "fusion": {"class": "row_reduction", "elements": 24, "columns": 24, "reads": ["same"], "writes": ["row"]}},
// CHECK-NEXT: {"name": "net/t0 mul", "inputs": [4, 4], "results": [6], "part": "backward", "seconds": 2.4e-08, "in_place": true, "flops": 24, "fusion": {"class": "pointwise", "elements": 24, "reads": ["same", "same"], "writes": ["same"]}},
// CHECK-NEXT: {"name": "net/t0 reduce",
// CHECK-NEXT: {"name": "net/table sub", "inputs": [0, 7], "results": [8], "part": "backward", "seconds": {{.*}}, "in_place": true, "flops": 400, "fusion": {"class": "pointwise", "elements": 400, "reads": ["same", "scalar"], "writes": ["same"]}}
// CHECK-NEXT: ],
// CHECK-NEXT: "outputs": [
// CHECK-NEXT: 5,
// CHECK-NEXT: 8
// CHECK-NEXT: ],
// CHECK-NEXT: "memory_bandwidth": 1e+15
func.func @step(
    %table: tensor<100x4xf32> {echo.name = "net/table", echo.role = "parameter"},
    %words: tensor<6xi32>)
    -> (tensor<f32> {echo.loss, echo.name = "loss"},
        tensor<100x4xf32> {echo.aliases_argument = 0 : i64}) {
  %rows = echo.embedding %table, %words : (tensor<100x4xf32>, tensor<6xi32>) -> tensor<6x4xf32> loc("net/rows")
  %flat = echo.reshape %rows : (tensor<6x4xf32>) -> tensor<24xf32> loc("net/flat")
  %h = echo.tanh %flat : (tensor<24xf32>) -> tensor<24xf32> loc("net/t0")
  %loss = echo.reduce sum %h {dims = array<i64: 0>} : (tensor<24xf32>) -> tensor<f32> loc("loss")
  %square = echo.mul %h, %h : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32> loc("net/t0")
  %sum = echo.reduce sum %square {dims = array<i64: 0>} : (tensor<24xf32>) -> tensor<f32> loc("net/t0")
  %new = echo.sub %table, %sum : (tensor<100x4xf32>, tensor<f32>) -> tensor<100x4xf32> loc("net/table")
  return %loss, %new : tensor<f32>, tensor<100x4xf32>
}

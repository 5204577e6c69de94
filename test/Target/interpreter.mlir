// RUN: rm -rf %t && mkdir -p %t

// w doubles each step: 2, 4, 8; the last total is 16.
// RUN: echo-run %s --entry=twice --target=interpreter --steps=3 --output=%t/exact
// RUN: %python -c "import struct; print(struct.unpack('<f', open('%t/exact/total.npy', 'rb').read()[-4:])[0])" | FileCheck %s --check-prefix=TOTAL
// RUN: echo-run %s --entry=twice --target=interpreter --precision=f64 --steps=3 --output=%t/f64
// RUN: %python -c "import struct; print(struct.unpack('<d', open('%t/f64/total.npy', 'rb').read()[-8:])[0])" | FileCheck %s --check-prefix=TOTAL
// TOTAL: 16.0

// RUN: not echo-run %s --entry=foreign --target=interpreter 2>&1 | FileCheck %s --check-prefix=FOREIGN
// FOREIGN: interpreter.mlir:[[@LINE+15]]:{{[0-9]+}}: error: 'arith.addf' op cannot be interpreted: no model evaluates ops of this kind

// RUN: not echo-run %s --entry=endless --target=interpreter 2>&1 | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: error: 'func.func' op cannot be interpreted: calls are nested too deeply, or recursive

func.func @twice(
    %w: tensor<2xf32> {echo.name = "w", echo.role = "state", echo.init = #echo.init<constant, 1.0>})
    -> (tensor<f32> {echo.name = "total"}, tensor<2xf32> {echo.aliases_argument = 0 : i64}) {
  %0 = echo.add %w, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = echo.reduce sum %0 {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %1, %0 : tensor<f32>, tensor<2xf32>
}

func.func @foreign(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = echo.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = arith.addf %0, %x : tensor<2xf32>
  return %1 : tensor<2xf32>
}

func.func @endless(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @endless(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

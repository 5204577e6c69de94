# RUN: %python %s %echo_bin %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of f16 and bf16 are summed in f32 and rounded once, on every target.

From n = 2048 in f16 and n = 256 in bf16 on, a type has even integers alone:
n + 1 is rounded to n. So n + 1 + 1 is n where a partial sum or the product is
rounded before the rest is added, and n + 2 where the whole sum is.
"""

import os
import subprocess
import sys
import unittest

import numpy as np

BUILD, FOLDER = sys.argv.pop(1), sys.argv.pop(1)
FAKE = os.path.join(BUILD, "unittests", "programs", "libEchoFakeCuda.so")
CUDA = {name: FAKE for name in ("ECHO_CUDA_DRIVER", "ECHO_CUBLAS", "ECHO_NVML")}
GRAPH = """
func.func @f(%row: tensor<1x3xTYPE> {echo.name = "row"}, %ones: tensor<1x3xTYPE> {echo.name = "ones"},
             %pair: tensor<2x1x2xTYPE> {echo.name = "pair"}, %bias: tensor<1xTYPE> {echo.name = "bias"},
             %sum: tensor<2x1x1xTYPE> {echo.name = "sum", echo.role = "state"})
    -> (tensor<1x1xTYPE> {echo.name = "matmul"}, tensor<1x1xTYPE> {echo.name = "transposed"},
        tensor<1x1xTYPE> {echo.name = "linear"}, tensor<2x1x1xTYPE> {echo.name = "biased"},
        tensor<2x1x1xTYPE> {echo.aliases_argument = 4 : i64}) {
  %column = echo.reshape %ones : (tensor<1x3xTYPE>) -> tensor<3x1xTYPE>
  %0 = echo.matmul %row, %column : (tensor<1x3xTYPE>, tensor<3x1xTYPE>) -> tensor<1x1xTYPE>
  %tall = echo.reshape %row : (tensor<1x3xTYPE>) -> tensor<3x1xTYPE>
  %1 = echo.matmul %tall, %ones {transpose_lhs = true, transpose_rhs = true}
      : (tensor<3x1xTYPE>, tensor<1x3xTYPE>) -> tensor<1x1xTYPE>
  %2 = echo.linear %row, %ones : (tensor<1x3xTYPE>, tensor<1x3xTYPE>) -> tensor<1x1xTYPE>
  %two = echo.slice %ones {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 2>, strides = array<i64: 1, 1>}
      : (tensor<1x3xTYPE>) -> tensor<1x2xTYPE>
  %3 = echo.matmul %pair, %two, %bias {transpose_rhs = true}
      : (tensor<2x1x2xTYPE>, tensor<1x2xTYPE>, tensor<1xTYPE>) -> tensor<2x1x1xTYPE>
  %4 = echo.matmul_add %sum, %pair, %two {transpose_rhs = true}
      : (tensor<2x1x1xTYPE>, tensor<2x1x2xTYPE>, tensor<1x2xTYPE>) -> tensor<2x1x1xTYPE>
  return %0, %1, %2, %3, %4 : tensor<1x1xTYPE>, tensor<1x1xTYPE>, tensor<1x1xTYPE>, tensor<2x1x1xTYPE>, tensor<2x1x1xTYPE>
}
"""


def encode(element, values):
    """Exact numbers: bf16 is the upper half of f32."""
    if element == "f16":
        return np.array(values, np.float16)
    bits = np.array(values, np.float32).view(np.uint32) >> 16
    return bits.astype(np.uint16).view("V2")


class HalfProducts(unittest.TestCase):
    def check(self, element, number):
        os.makedirs(FOLDER, exist_ok=True)
        path = os.path.join(FOLDER, element)
        graph, step = path + ".mlir", path + ".so"
        with open(graph, "w", encoding="utf-8") as file:
            file.write(GRAPH.replace("TYPE", element))
        subprocess.run(["echo-compile", graph, "--target=cuda", "--chip=sim",
                        "-o", step], check=True)
        inputs = {"row": [[number, 1, 1]], "ones": [[1, 1, 1]],
                  "pair": [[[number, 1]], [[1, number]]], "bias": [1],
                  "sum": [[[1]], [[1]]]}
        arguments = []
        for name, values in inputs.items():
            np.save(path + "." + name, encode(element, values))
            arguments.append("--input=%s=%s.%s.npy" % (name, path, name))
        scalar = encode(element, [[number + 2]])
        batch = encode(element, [[[number + 2]]] * 2)
        expected = {"matmul": scalar, "transposed": scalar, "linear": scalar,
                    "biased": batch}
        for model, options, environment in (
                (graph, ["--target=interpreter"], {}),
                (graph, ["--target=cpu"], {}),
                (step, ["--device=sim"], {}),
                (step, ["--device=cuda"], CUDA),
                # The bias is copied, and the product added to it.
                (step, ["--device=cuda"],
                 {**CUDA, "ECHO_FAKE_CUDA": "has_epilogue=0"})):
            out = path + ".out"
            subprocess.run(["echo-run", model, *options, *arguments, "--quiet",
                            "--output=" + out], check=True,
                           env={**os.environ, **environment})
            found = {name: np.load(os.path.join(out, name + ".npy"))
                     for name in expected}
            found["sum"] = np.load(os.path.join(out, "checkpoint.npz"))["sum"]
            for name, value in {**expected, "sum": batch}.items():
                self.assertEqual(found[name].shape, value.shape)
                self.assertEqual(found[name].tobytes(), value.tobytes(),
                                 "%s of %s with %s" % (name, element, options))

    def test_f16(self):
        self.check("f16", 2048)

    def test_bf16(self):
        self.check("bf16", 256)


unittest.main()

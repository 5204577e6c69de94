# RUN: %python %s %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of softmax and what shares its log-sum-exp, at rows of -inf.

The rows are (-inf, -inf), (-inf, 0) and (0, 0); results are weighted with
c = (1, 3) in each row.

  softmax: y = (0, 0), (0, 1), (1/2, 1/2), and the gradient is y (c - c.y):
    (0, 0), (0 (1 - 3), 1 (3 - 3)) = (0, 0), (1 - 2, 3 - 2) / 2 = (-1/2, 1/2)
  log_softmax: c - y sum(c), and zero in an empty row:
    (0, 0), (1 - 0, 3 - 4) = (1, -1), (1 - 2, 3 - 2) = (-1, 1)
  cross-entropy with labels 0, 1, 0: y - [v = label], and zero in an empty row:
    (0, 0), (0, 0), (-1/2, 1/2); losses 0, 0 and log 2
  the same with label smoothing 1/2: y - [v = label] / 2 - 1/4:
    (0, 0), (-1/4, 1 - 3/4) = (-1/4, 1/4), (1/2 - 3/4, 1/2 - 1/4) = (-1/4, 1/4)

Every number is exact in f16 but log 2.
"""

import os
import subprocess
import sys
import unittest

import numpy as np

FOLDER = sys.argv.pop(1)
ROWS = np.array([[-np.inf, -np.inf], [-np.inf, 0], [0, 0]])
TARGETS = {
    "cpu": ["--target=cpu"],
    "exact": ["--target=interpreter"],
    "f64": ["--target=interpreter", "--precision=f64"],
}
HEAD = """
func.func @f(%x: tensor<3x2xTYPE> {echo.name = "x", echo.role = "parameter"})
    -> (tensor<LOSS> {echo.loss, echo.name = "loss"}) {
"""
WEIGHTED = HEAD + """
  %c = echo.constant dense<[1.0, 3.0]> : tensor<2xTYPE>
  %y = echo.OP %x {axis = 1 : i64} : (tensor<3x2xTYPE>) -> tensor<3x2xTYPE>
  %w = echo.mul %y, %c : (tensor<3x2xTYPE>, tensor<2xTYPE>) -> tensor<3x2xTYPE>
  %loss = echo.reduce sum %w {dims = array<i64: 0, 1>} : (tensor<3x2xTYPE>) -> tensor<LOSS>
  return %loss : tensor<LOSS>
}
"""
ENTROPY = HEAD + """
  %labels = echo.constant dense<[0, 1, 0]> : tensor<3xi32>
  %losses, %lse = echo.softmax_cross_entropy %x, %labels {label_smoothing = SMOOTHING : f64}
      : (tensor<3x2xTYPE>, tensor<3xi32>) -> (tensor<3xLOSS>, tensor<3xLOSS>)
  %loss = echo.reduce sum %losses {dims = array<i64: 0>} : (tensor<3xLOSS>) -> tensor<LOSS>
  return %loss : tensor<LOSS>
}
"""


class MaskedGradients(unittest.TestCase):
    def check(self, model, expected, loss=None):
        os.makedirs(FOLDER, exist_ok=True)
        path = os.path.join(FOLDER, "model.mlir")
        gradient = os.path.join(FOLDER, "gradient.mlir")
        x = os.path.join(FOLDER, "x.npy")
        for element, dtype in (("f32", np.float32), ("f64", np.float64),
                               ("f16", np.float16)):
            # Losses of f16 logits are f32.
            wide = "f32" if "cross" in model and element == "f16" else element
            with open(path, "w", encoding="utf-8") as file:
                file.write(model.replace("TYPE", element).replace("LOSS", wide))
            subprocess.run(["echo-opt", path, "--echo-gradient", "-o", gradient],
                           check=True)
            np.save(x, ROWS.astype(dtype))
            for target, options in TARGETS.items():
                out = os.path.join(FOLDER, target)
                subprocess.run(["echo-run", gradient, *options, "--quiet",
                                "--input=x=" + x, "--output=" + out], check=True)
                found = np.load(os.path.join(out, "x.grad.npy"))
                # The gradient of log_softmax reads log(1/2), rounded.
                np.testing.assert_allclose(
                    found, expected, rtol=0, atol=np.finfo(dtype).eps,
                    err_msg="%s, %s" % (element, target))
                if loss is not None:
                    np.testing.assert_allclose(
                        np.load(os.path.join(out, "loss.npy")), loss, 1e-6)

    def test_softmax(self):
        # 0 + 3 + 2
        self.check(WEIGHTED.replace("OP", "softmax"),
                   [[0, 0], [0, 0], [-0.5, 0.5]], 5)

    def test_log_softmax(self):
        self.check(WEIGHTED.replace("OP", "log_softmax"),
                   [[0, 0], [1, -1], [-1, 1]], -np.inf)

    def test_cross_entropy(self):
        self.check(ENTROPY.replace("SMOOTHING", "0.0"),
                   [[0, 0], [0, 0], [-0.5, 0.5]], np.log(2))

    def test_label_smoothing(self):
        # A masked class that has a share of the label costs infinitely much.
        self.check(ENTROPY.replace("SMOOTHING", "0.5"),
                   [[0, 0], [-0.25, 0.25], [-0.25, 0.25]], np.inf)


unittest.main()

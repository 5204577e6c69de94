# RUN: %python %s %S/Inputs/regression.mlir %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cpu target and the interpreter write the same files, with the same names,
shapes and types in them."""

import os
import subprocess
import sys
import unittest

import numpy as np

REGRESSION, FOLDER = sys.argv.pop(1), sys.argv.pop(1)
# Every type; names given, missing, with a slash, and taken by an argument; a
# result that is an argument, one that is returned twice, and one that replaces
# a state.
MODEL = """
func.func @f(
    %a: tensor<2x3xf32> {echo.name = "result1"}, %b: tensor<f64>,
    %c: tensor<4xf16>, %d: tensor<1x0xbf16>, %e: tensor<2xi8>, %g: tensor<3xi32>,
    %h: tensor<i1>,
    %count: tensor<i64> {echo.role = "state", echo.name = "count", echo.init = #echo.init<constant, 4>})
    -> (tensor<f32> {echo.loss}, tensor<2x3xf32>, tensor<2x3xf32>,
        tensor<f64> {echo.name = "a/b"}, tensor<4xf16>, tensor<1x0xbf16>,
        tensor<2xi8>, tensor<3xi32>, tensor<i1>, tensor<3xi1> {echo.name = ".flags"},
        tensor<i64> {echo.aliases_argument = 7 : i64}) {
  %one = echo.constant dense<1> : tensor<i64>
  %next = echo.add %count, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %loss = echo.reduce sum %a {dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
  %a1 = echo.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b1 = echo.neg %b : (tensor<f64>) -> tensor<f64>
  %c1 = echo.neg %c : (tensor<4xf16>) -> tensor<4xf16>
  %d1 = echo.neg %d : (tensor<1x0xbf16>) -> tensor<1x0xbf16>
  %e1 = echo.neg %e : (tensor<2xi8>) -> tensor<2xi8>
  %flags = echo.compare gt %g, %g : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %loss, %a1, %a1, %b1, %c1, %d1, %e1, %g, %h, %flags, %next
      : tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<f64>, tensor<4xf16>,
        tensor<1x0xbf16>, tensor<2xi8>, tensor<3xi32>, tensor<i1>, tensor<3xi1>, tensor<i64>
}
"""
# By file; bf16 is two raw bytes.
EXPECTED = {
    "loss.npy": ("<f4", ()),
    "result1_.npy": ("<f4", (2, 3)),
    "result2.npy": ("<f4", (2, 3)),
    "a%2Fb.npy": ("<f8", ()),
    "result4.npy": ("<f2", (4,)),
    "result5.npy": ("|V2", (1, 0)),
    "result6.npy": ("|i1", (2,)),
    "result7.npy": ("<i4", (3,)),
    "result8.npy": ("|b1", ()),
    "%2Eflags.npy": ("|b1", (3,)),
    "checkpoint.npz": {"count": ("<i8", ())},
}


def signature(array):
    return array.dtype.str, array.shape


def outputs(model, target, *options):
    folder = os.path.join(FOLDER, target)
    subprocess.run(["echo-run", model, "--target=" + target, "--quiet",
                    "--output=" + folder, *options], check=True)
    found = {}
    for name in os.listdir(folder):
        content = np.load(os.path.join(folder, name))
        found[name] = signature(content) if name.endswith(".npy") else {
            key: signature(content[key]) for key in content.files}
        os.remove(os.path.join(folder, name))
    return found


class Outputs(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        os.makedirs(FOLDER, exist_ok=True)

    def test_every_type(self):
        model = os.path.join(FOLDER, "model.mlir")
        with open(model, "w", encoding="utf-8") as file:
            file.write(MODEL)
        for target in ("cpu", "interpreter"):
            self.assertEqual(outputs(model, target), EXPECTED, target)

    def test_training_step(self):
        # Adam adds a first and a second moment of w and counts its steps.
        for optimizer, states in (("sgd", 0), ("adam", 3)):
            cpu = outputs(REGRESSION, "cpu", "--optimizer=" + optimizer)
            self.assertEqual(set(cpu), {"loss.npy", "out%2Fy.npy",
                                        "checkpoint.npz"})
            self.assertEqual(len(cpu["checkpoint.npz"]), 1 + states)
            self.assertEqual(cpu, outputs(REGRESSION, "interpreter",
                                          "--optimizer=" + optimizer))


unittest.main()

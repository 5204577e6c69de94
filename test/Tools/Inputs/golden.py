# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model of echo-zoo against PyTorch's values (test/golden): losses,
gradients, and parameters after three steps of SGD and of Adam, interpreted and
compiled."""

import json
import os
import subprocess
import unittest

import numpy as np

OPTIMIZERS = {"sgd": ("sgd", 0.5), "adam": ("adam,epsilon=1e-3", 2.0 ** -7)}
# How it runs, and the largest absolute difference. Values are of order 1 and
# gradients below it. In f64 the interpreter still reads Adam's constants (0.9,
# 0.999, 1e-3) in f32, which moves an update of 2^-7 by about 1e-7 of itself.
# f32 rounds to 6e-8, over sums of up to some hundred terms.
TARGETS = {
    "f64": (["--target=interpreter", "--precision=f64"], 1e-8),
    "exact": (["--target=interpreter", "--precision=exact"], 5e-6),
    "cpu": (["--target=cpu"], 5e-6),
}


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        raise AssertionError("%s\n%s" % (" ".join(command), result.stderr))
    return result.stdout


class GoldenTest(unittest.TestCase):
    """Subclasses name the model, its options and the file of values."""
    MODEL, OPTIONS, VARIANTS = None, [], {}
    GOLDEN, FOLDER = None, None

    def golden(self, variant, kind):
        prefix = "%s:%s:" % (variant, kind)
        return {name[len(prefix):]: self.GOLDEN[name]
                for name in self.GOLDEN.files if name.startswith(prefix)}

    def prepare(self, variant):
        """The model's file and the options that set inputs and weights."""
        folder = os.path.join(self.FOLDER, variant)
        os.makedirs(folder, exist_ok=True)
        model = os.path.join(folder, "model.mlir")
        run("echo-zoo", self.MODEL, *self.OPTIONS, *self.VARIANTS[variant],
            "-o", model)
        settings = []
        for kind in ("input", "weight"):
            for name, value in self.golden(variant, kind).items():
                path = os.path.join(folder, name.replace("/", ".") + ".npy")
                np.save(path, value)
                settings.append("--input=%s=%s" % (name, path))
        self.assertGreater(len(settings), 10)
        return folder, model, settings

    def compare(self, actual, expected, tolerance, what):
        self.assertEqual(actual.shape, expected.shape, what)
        difference = np.max(np.abs(actual.astype(np.float64) - expected))
        self.assertLess(difference, tolerance, what)

    def test_steps(self):
        for variant in self.VARIANTS:
            folder, model, settings = self.prepare(variant)
            for target, (options, tolerance) in TARGETS.items():
                for kind, (optimizer, rate) in OPTIMIZERS.items():
                    checkpoint = os.path.join(folder, "checkpoint.npz")
                    report = os.path.join(folder, "report.json")
                    run("echo-run", model, *options, *settings, "--steps=3",
                        "--optimizer=" + optimizer,
                        "--set=learning_rate=%r" % rate, "--quiet",
                        "--checkpoint=" + checkpoint, "--report=" + report)
                    what = "%s, %s, %s" % (variant, target, kind)
                    with open(report, encoding="utf-8") as file:
                        losses = np.array(json.load(file)["loss"])
                    self.compare(losses,
                                 self.GOLDEN["%s:%s_losses" % (variant, kind)],
                                 tolerance, what)
                    with np.load(checkpoint) as values:
                        for name, value in self.golden(variant, kind).items():
                            self.compare(values[name], value, tolerance,
                                         "%s, %s" % (what, name))

    def test_gradients(self):
        for variant in self.VARIANTS:
            folder, model, settings = self.prepare(variant)
            gradient = os.path.join(folder, "gradient.mlir")
            run("echo-opt", model, "--echo-gradient", "-o", gradient)
            for target, (options, tolerance) in TARGETS.items():
                out = os.path.join(folder, target)
                run("echo-run", gradient, *options, *settings, "--quiet",
                    "--output=" + out)
                for name, expected in self.golden(variant, "gradient").items():
                    self.compare(np.load(os.path.join(
                        out, name.replace("/", "%2F") + ".grad.npy")),
                                 expected, tolerance,
                                 "%s, %s, %s" % (variant, target, name))

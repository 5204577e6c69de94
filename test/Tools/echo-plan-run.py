# RUN: %python %s %S/Inputs %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What echo-plan says is what a step takes: its bytes are those of the runtime,
for forward graphs with an optimizer and for training steps."""

import json
import os
import subprocess
import sys
import unittest

INPUTS, FOLDER = sys.argv.pop(1), sys.argv.pop(1)
NMT = ["nmt", "--batch=2", "--src-len=4", "--tgt-len=3", "--hidden=6",
       "--embed=5", "--src-vocab=11", "--tgt-vocab=9"]
MODELS = {
    "nmt-adam": (NMT, ["--optimizer=adam"]),
    "nmt-norm-dropout-sgd": (
        NMT + ["--layer-norm=true", "--dropout=0.2"], ["--optimizer=sgd"]),
    "nmt-no-attention-momentum": (
        NMT + ["--attention=none", "--layers=1"], ["--optimizer=momentum"]),
    "nmt-aligned": (NMT, ["--optimizer=adam", "--alignment=256"]),
}


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        raise AssertionError("%s\n%s" % (" ".join(command), result.stderr))


class Plan(unittest.TestCase):
    def compare(self, name, model, options):
        folder = os.path.join(FOLDER, name)
        os.makedirs(folder, exist_ok=True)
        planned, ran, step = (os.path.join(folder, file) for file in
                              ("plan.json", "run.json", "step.so"))
        run("echo-plan", model, *options, "--quiet", "--report=" + planned)
        run("echo-compile", model, *options, "-O0", "-o", step)
        run("echo-run", step, "--quiet", "--report=" + ran)
        with open(planned, encoding="utf-8") as file:
            plan = json.load(file)
        with open(ran, encoding="utf-8") as file:
            expected = json.load(file)["bytes"]
        for key in ("persistent", "logical_peak", "arena", "total"):
            self.assertEqual(plan["bytes"][key], expected[key],
                             "%s: %s" % (name, key))
        # Everything is accounted for, by structure and by layer.
        total, gaps = plan["bytes"]["total"], plan["by_structure"]["gaps"]
        self.assertEqual(sum(plan["by_structure"].values()), total, name)
        self.assertEqual(sum(layer["bytes"] for layer in plan["by_layer"]),
                         total - gaps, name)
        self.assertEqual(sum(layer["feature_maps"]
                             for layer in plan["by_layer"]),
                         plan["bytes"]["feature_maps"], name)
        self.assertEqual(plan["bytes"]["total"],
                         plan["bytes"]["persistent"] + plan["bytes"]["arena"])
        return plan

    def test_models(self):
        os.makedirs(FOLDER, exist_ok=True)
        for name, (zoo, options) in MODELS.items():
            model = os.path.join(FOLDER, name + ".mlir")
            run("echo-zoo", *zoo, "-o", model)
            plan = self.compare(name, model, options)
            self.assertGreater(plan["bytes"]["feature_maps"], 0)
            self.assertGreater(plan["ops"]["backward"],
                               plan["ops"]["forward"])

    def test_a_ready_step(self):
        self.compare("step", os.path.join(INPUTS, "two-layers.mlir"), [])

    def test_a_step_that_opt_made(self):
        os.makedirs(FOLDER, exist_ok=True)
        model = os.path.join(FOLDER, "regression-step.mlir")
        run("echo-opt", os.path.join(INPUTS, "regression.mlir"),
            "--pass-pipeline=builtin.module("
            "echo-training-step{optimizer=adam})", "-o", model)
        self.compare("regression", model, [])


unittest.main()

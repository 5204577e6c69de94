# RUN: %python %s %echo_bin %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models train on the simulated GPU, and through the CUDA runtime with
stand-ins for NVIDIA's libraries, CUDA graph included: with the bits of the CPU,
and near the interpreter's values."""

import itertools
import json
import os
import subprocess
import sys
import unittest

import numpy as np

BUILD, FOLDER = sys.argv.pop(1), sys.argv.pop(1)
FAKE = os.path.join(BUILD, "unittests", "programs", "libEchoFakeCuda.so")
STEPS = 4
NMT = ["nmt", "--batch=2", "--src-len=3", "--tgt-len=2", "--hidden=8",
       "--embed=6", "--layers=1", "--src-vocab=11", "--tgt-vocab=9"]
LSTM_LM = ["lstm-lm", "--batch=2", "--length=2", "--layers=1", "--hidden=8",
           "--embed=6", "--vocab=13"]
ADAM = "adam,epsilon=1e-3"
# What an artefact is compiled from: the model of echo-zoo or a file, and
# options of the training step.
MODELS = {}
for options in itertools.product((False, True), repeat=3):
    norm, dropout, echo = options
    MODELS["nmt" + "".join(itertools.compress(
        ("-norm", "-dropout", "-echo"), options))] = (
            NMT + norm * ["--layer-norm=true", "--label-smoothing=0.1"] +
            dropout * ["--dropout=0.2"], ADAM, "echo" if echo else "none")
for strategy in "none", "echo":
    MODELS["lstm-lm-" + strategy] = (LSTM_LM + ["--dropout=0.1"], ADAM, strategy)
for optimizer in ("sgd", "sgd,weight-decay=0.1", "momentum,momentum=0.5",
                  "sgd,clip-norm=0.01", ADAM + ",accumulate=2"):
    MODELS["lstm-lm-" + optimizer] = (LSTM_LM, optimizer, "none")
# A batch that no other size is like, which becomes none.
NO_BATCH = "--batch=97"
for name, model in ("nmt", NMT + ["--layer-norm=true"]), ("lstm-lm", LSTM_LM):
    MODELS[name + "-empty"] = ([model[0], NO_BATCH] + model[2:], ADAM, "echo")
for options, strategy in ((["--layer-norm=true", "--type=bf16"], "echo"),
                          (["--dropout=0.2", "--type=f16"], "none"),
                          (["--type=f64"], "echo")):
    MODELS["nmt-" + options[-1][7:]] = (NMT + options, ADAM, strategy)
# Of values of order 1 that the interpreter, which adds up products in another
# order, has after some steps.
TOLERANCES = {"nmt-bf16": 5e-2, "nmt-f16": 5e-3, "nmt-f64": 1e-7}


def run(*command, environment=()):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, check=False,
                            env={**os.environ, **dict(environment)})
    if result.returncode != 0:
        raise AssertionError("%s\n%s" % (" ".join(command), result.stderr))
    return result.stdout


def wide(value):
    """Numbers that numpy computes with; it reads bf16 as two bytes."""
    if value.dtype.kind == "V":
        return (value.view("<u2").astype("<u4") << 16).view("<f4")
    return value


def bits(values):
    return {name: value.tobytes() for name, value in values.items()}


class Gpu(unittest.TestCase):
    def setUp(self):
        os.makedirs(FOLDER, exist_ok=True)

    def path(self, name):
        return os.path.join(FOLDER, name)

    def values(self, model, *options, environment=()):
        """Losses, and results and parameters at the end, of some steps."""
        output, report = self.path("output"), self.path("report.json")
        run("echo-run", model, "--steps=%d" % STEPS, "--seed=3", "--quiet",
            "--output=" + output, "--report=" + report, *options,
            environment=environment)
        values = {}
        for name in sorted(os.listdir(output)):
            content = np.load(os.path.join(output, name))
            for key in content.files if name.endswith(".npz") else [""]:
                value = content[key] if key else content
                values[name + key] = value
            os.remove(os.path.join(output, name))
        with open(report, encoding="utf-8") as file:
            report = json.load(file)
        return report["loss"], values, report

    def graph(self, name):
        source, graph = MODELS[name][0], self.path(name + ".mlir")
        text = run("echo-zoo", *source)
        if NO_BATCH in source:
            for old, new in ("<97x", "<0x"), ("x97x", "x0x"), ("x97x", "x0x"):
                text = text.replace(old, new)
        with open(graph, "w", encoding="utf-8") as file:
            file.write(text)
        return graph

    def check(self, name):
        _, optimizer, strategy = MODELS[name]
        graph, step = self.graph(name), self.path(name + ".so")
        training = ["--optimizer=" + optimizer, "--strategy=" + strategy]
        losses, values, _ = self.values(graph, *training)
        self.assertTrue(np.isfinite(losses).all())
        self.assertTrue(any(losses) != (NO_BATCH in MODELS[name][0]))
        self.compare_with_interpreter(name, graph, losses, values)
        run("echo-compile", graph, "--target=cuda", "--chip=sim", "-o", step,
            *training)
        fake = {variable: FAKE for variable in (
            "ECHO_CUDA_DRIVER", "ECHO_CUBLAS", "ECHO_NVML")}
        for device, options, environment in (
                ("sim", [], {}), ("sim", [], {"ECHO_SIM_ORDER": "reverse"}),
                ("cuda", [], fake), ("cuda", ["--no-graph"], fake)):
            found_losses, found, report = self.values(
                step, "--device=" + device, *options, environment=environment)
            self.assertEqual(found_losses, losses, device)
            self.assertEqual(bits(found), bits(values), device)
            self.assertEqual(report["target"], device)
            if device == "cuda":
                self.assertEqual(report["device"]["name"], "cuda:0 Fake")
                self.assertEqual(report["device"]["graph_steps"],
                                 0 if options else STEPS - 1)

    def compare_with_interpreter(self, name, graph, losses, values):
        expected_losses, expected, _ = self.values(
            graph, "--target=interpreter", "--optimizer=" + MODELS[name][1])
        tolerance = TOLERANCES.get(name, 2e-5)
        np.testing.assert_allclose(losses, expected_losses, atol=tolerance)
        self.assertEqual(values.keys(), expected.keys())
        for key, value in expected.items():
            np.testing.assert_allclose(wide(values[key]), wide(value), rtol=0,
                                       atol=tolerance, err_msg=key)

    def test_profile(self):
        """By call and by layer, through the CUDA runtime: every call of the
        step once a step, one after the other."""
        graph, step, trace = map(self.path, ("profile.mlir", "profile.so",
                                             "trace.json"))
        run("echo-zoo", *NMT, "-o", graph)
        run("echo-compile", graph, "--target=cuda", "--chip=sim",
            "--optimizer=sgd", "-o", step)
        report = self.path("profile.json")
        out = run("echo-run", step, "--device=cuda", "--steps=3",
                  "--profile=" + trace, "--report=" + report, environment={
                      variable: FAKE for variable in (
                          "ECHO_CUDA_DRIVER", "ECHO_CUBLAS", "ECHO_NVML")})
        self.assertIn("device: cuda:0 Fake", out)
        for title in ("kind", "kernel or library call",
                      "layer, all time steps"):
            self.assertRegex(out, r"\n%s +calls +s/step +share" % title)
        self.assertRegex(out, r"\ndecoder/attention +\d+ +\d")
        with open(report, encoding="utf-8") as file:
            report = json.load(file)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual(len(events), report["calls"])
        self.assertEqual(sum(entry["calls"] for entry in report["profile"]),
                         2 * report["calls"])
        end = 0
        for event in events:
            self.assertGreaterEqual(event["ts"], end - 1)
            end = event["ts"] + event["dur"]
        self.assertEqual(
            {(event["cat"], event["name"], event["args"]["op"],
              event["args"]["layer"]) for event in events},
            {tuple(entry[key] for key in ("kind", "name", "op", "layer"))
             for entry in report["profile"]})
        self.assertEqual({event["cat"] for event in events},
                         {"kernel", "gemm", "copy"})
        self.assertGreater(report["device"]["energy_joules"], 0)
        self.assertEqual(report["device"]["power_watts"], 100)
        self.assertGreater(report["device"]["bytes"], 0)

    def test_target_sim(self):
        graph = self.path("sim.mlir")
        run("echo-zoo", *NMT, "-o", graph)
        training = ["--optimizer=sgd"]
        losses, values, _ = self.values(graph, *training)
        found_losses, found, report = self.values(graph, "--target=sim",
                                                  *training)
        self.assertEqual(found_losses, losses)
        self.assertEqual(bits(found), bits(values))
        self.assertEqual(report["device"]["name"], "sim")


for model in MODELS:
    setattr(Gpu, "test_" + model.replace("-", "_"),
            lambda self, model=model: self.check(model))

if __name__ == "__main__":
    unittest.main()

# RUN: %python %s %echo_bin %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models train on the simulated GPU, and through the CUDA runtime with
stand-ins for NVIDIA's libraries, CUDA graph included: with the bits of the CPU."""

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
MODELS = {
    "nmt": (NMT, "none"),
    "nmt-echo": (NMT, "echo"),
    "nmt-norm-dropout": (NMT + ["--layer-norm=true", "--dropout=0.2"], "none"),
    "nmt-norm-dropout-echo": (NMT + ["--layer-norm=true", "--dropout=0.2"],
                              "echo"),
    "lstm-lm": (["lstm-lm", "--batch=2", "--length=3", "--layers=1",
                 "--hidden=8", "--embed=6", "--vocab=13"], "none"),
    "nmt-bf16": (NMT + ["--layer-norm=true", "--type=bf16"], "echo"),
    "nmt-f16": (NMT + ["--dropout=0.2", "--type=f16"], "none"),
    "nmt-f64": (NMT + ["--type=f64"], "echo"),
}


def run(*command, environment=()):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, check=False,
                            env={**os.environ, **dict(environment)})
    if result.returncode != 0:
        raise AssertionError("%s\n%s" % (" ".join(command), result.stderr))
    return result.stdout


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
                values[name + key] = value.tobytes()
            os.remove(os.path.join(output, name))
        with open(report, encoding="utf-8") as file:
            report = json.load(file)
        return report["loss"], values, report

    def check(self, name):
        options, strategy = MODELS[name]
        graph, step = self.path(name + ".mlir"), self.path(name + ".so")
        run("echo-zoo", *options, "-o", graph)
        training = ["--optimizer=adam", "--strategy=" + strategy]
        losses, values, _ = self.values(graph, *training)
        self.assertTrue(np.isfinite(losses).all())
        run("echo-compile", graph, "--target=cuda", "--chip=sim", "-o", step,
            *training)
        fake = {variable: FAKE for variable in (
            "ECHO_CUDA_DRIVER", "ECHO_CUBLAS", "ECHO_NVML")}
        for device, environment in (("sim", {}),
                                    ("sim", {"ECHO_SIM_ORDER": "reverse"}),
                                    ("cuda", fake)):
            found_losses, found, report = self.values(
                step, "--device=" + device, environment=environment)
            self.assertEqual(found_losses, losses, device)
            self.assertEqual(found, values, device)
            if device == "cuda":
                self.assertEqual(report["device"]["name"], "cuda:0 Fake")
                self.assertEqual(report["device"]["graph_steps"], STEPS - 1)

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
        self.assertEqual(found, values)
        self.assertEqual(report["device"]["name"], "sim")


for model in MODELS:
    setattr(Gpu, "test_" + model.replace("-", "_"),
            lambda self, model=model: self.check(model))

if __name__ == "__main__":
    unittest.main()

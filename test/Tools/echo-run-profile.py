# RUN: %python %s %S/Inputs/steps.mlir %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What echo-run --profile prints and writes. No time is compared with
another."""

import json
import os
import subprocess
import sys
import unittest

MODEL, FOLDER = sys.argv.pop(1), sys.argv.pop(1)
KEYS = ["kind", "name", "op", "layer", "calls", "seconds", "flops", "bytes"]


def run(*options, model=MODEL):
    return subprocess.run(["echo-run", model, "--threads=2", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


class Profile(unittest.TestCase):
    def setUp(self):
        os.makedirs(FOLDER, exist_ok=True)
        self.trace = os.path.join(FOLDER, "trace.json")
        self.report = os.path.join(FOLDER, "report.json")

    def profile(self, *options):
        result = run("--optimizer=sgd", "--profile=" + self.trace,
                     "--report=" + self.report, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.report, encoding="utf-8") as file:
            report = json.load(file)
        with open(self.trace, encoding="utf-8") as file:
            trace = json.load(file)
        return result.stdout, report, trace

    def test_report_and_trace(self):
        out, report, trace = self.profile("--steps=4")
        entries = report["profile"]
        for entry in entries:
            self.assertEqual(list(entry), KEYS)
        # The first of several steps is left out.
        self.assertEqual(sum(entry["calls"] for entry in entries),
                         3 * report["calls"])
        keys = [tuple(entry[key] for key in KEYS[:4]) for entry in entries]
        self.assertEqual(len(set(keys)), len(keys))
        seconds = sum(entry["seconds"] for entry in entries)
        self.assertLessEqual(seconds, sum(report["seconds"]["steps"][1:]))
        self.assertEqual(sorted(report["machine"]),
                         ["cache_bytes_per_second", "gemm_flops_per_second",
                          "memory_bytes_per_second"])

        # The forward products. 4x3 times 3x2: 2 * 4 * 2 * 3 flops, 12 + 6 + 8
        # elements of 4 bytes; 4x3 times 3x3: 2 * 4 * 3 * 3 flops, 12 + 9 + 12
        # elements, once per time step.
        products = {(entry["name"], entry["layer"]): entry
                    for entry in entries if entry["name"].endswith(" nn")}
        expected = {("gemm 4x2x3 nn", "output"): (48, 104),
                    ("gemm 4x3x3 nn", "dense/t0"): (72, 132),
                    ("gemm 4x3x3 nn", "dense/t1"): (72, 132)}
        self.assertEqual(set(products), set(expected))
        for key, entry in products.items():
            self.assertEqual((entry["kind"], entry["op"], entry["calls"],
                              entry["flops"], entry["bytes"]),
                             ("gemm", "gemm", 3) + expected[key])

        events = trace["traceEvents"]
        self.assertEqual(len(events), report["calls"])
        end = 0
        for event in events:
            self.assertEqual(event["ph"], "X")
            self.assertGreaterEqual(event["ts"], end - 1e-3)
            end = event["ts"] + event["dur"]
        self.assertEqual({(event["cat"], event["name"], event["args"]["op"],
                           event["args"]["layer"]) for event in events},
                         set(keys))

        self.assertIn("profile of 3 steps", out)
        self.assertIn("machine, 2 threads: memory", out)
        self.assertRegex(out, r"\nkind +calls +s/step +share")
        self.assertRegex(out, r"\nkernel or library call +calls")
        self.assertRegex(out, r"\ngemm 4x3x3 nn +2 +")
        self.assertRegex(out, r"\nlayer, all time steps +calls")
        self.assertRegex(out, r"\ndense +\d+ +")

    def test_one_step(self):
        out, report, _ = self.profile()
        self.assertIn("profile of 1 step:", out)
        self.assertEqual(sum(entry["calls"] for entry in report["profile"]),
                         report["calls"])

    def test_table_alone(self):
        result = run("--profile")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("profile of 1 step:", result.stdout)
        result = run()
        self.assertNotIn("profile", result.stdout)

    def test_errors(self):
        for options, message in (
                (["--target=interpreter"], "--profile needs a compiled step"),
                (["--steps=0"], "--profile needs a step to run")):
            result = run("--profile", *options)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)
        result = run("--profile=" + os.path.join(FOLDER, "no", "trace.json"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("can't write", result.stderr)
        self.assertNotIn("step 1", result.stdout)


unittest.main()

# RUN: %python %s %S/Inputs/steps.mlir %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""echo-run --device, and what a report says of the device."""

import json
import os
import subprocess
import sys
import unittest

MODEL, FOLDER = sys.argv.pop(1), sys.argv.pop(1)


def run(*options):
    return subprocess.run(["echo-run", MODEL, "--optimizer=sgd", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


class Device(unittest.TestCase):
    def test_cpu(self):
        os.makedirs(FOLDER, exist_ok=True)
        path = os.path.join(FOLDER, "report.json")
        for options in ([], ["--device=cpu"]):
            result = run("--report=" + path, *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("device:", result.stdout)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["device"], {"name": "cpu"})

    def test_errors(self):
        for options, text in (
                (["--device=gpu"], "unknown device 'gpu'; expected cpu, sim, "
                                   "cuda or cuda:N"),
                (["--device=cuda:1"], "is compiled for 'cpu', which isn't what "
                                      "the device 'cuda:1' runs"),
                (["--device=sim"], "isn't what the device 'sim' runs"),
                (["--device=cpu", "--target=interpreter"],
                 "--device needs a compiled step"),
                (["--allow-tf32", "--target=interpreter"],
                 "--allow-tf32 needs a compiled step"),
                (["--no-graph", "--target=interpreter"],
                 "--no-graph needs a compiled step"),
                (["--target=cuda:1"], "'cuda:1' is a device; expected "
                                      "--target=cuda --device=cuda:1")):
            result = run(*options)
            self.assertEqual(result.returncode, 1)
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    unittest.main()

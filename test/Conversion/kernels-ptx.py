# REQUIRES: ptxas
# RUN: %python %s %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of a training step as PTX, which ptxas assembles for three chips.

Forming kernels knows nothing of the target: what the CPU runs is mapped to the
GPU dialect too. Every kernel function is one entry, in the PTX as in the
assembled code.
"""

import os
import re
import subprocess
import sys
import unittest

FOLDER = sys.argv.pop(1)
CHIPS = ["sm_75", "sm_90", "sm_120"]


def run(*command, stdin=None):
    """What the command writes, and its messages."""
    process = subprocess.run(command, input=stdin, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    if process.returncode != 0:
        raise AssertionError(f"{' '.join(command)}:\n{process.stderr[-4000:]}")
    return process.stdout, process.stderr


def unescape(text):
    """A string of MLIR's textual form: two hexadecimal digits, or a quote."""
    return re.sub(r"\\([0-9A-F]{2}|.)",
                  lambda match: chr(int(match[1], 16)) if len(match[1]) == 2
                  else match[1], text)


def ptx_of(module):
    """The PTX by chip in a module with GPU binaries."""
    objects = re.findall(r'#nvvm\.target<chip = "(\w+)"[^"]*assembly = '
                         r'"((?:[^"\\]|\\.)*)"', module)
    return {chip: unescape(text) for chip, text in objects}


class KernelsPtx(unittest.TestCase):
    def check(self, optimizer, *zoo):
        step, _ = run("echo-zoo", *zoo)
        for strategy in ("none", "echo"):
            kernels, _ = run("echo-opt",
                             f"--echo-training-step=optimizer={optimizer}",
                             f"--echo-to-buffers=strategy={strategy}",
                             "--convert-echo-to-linalg",
                             "--echo-merge-kernels", stdin=step)
            self.check_kernels(kernels, zoo[0])

    def check_kernels(self, kernels, model):
        names = sorted(re.findall(r"func\.func private @(\w+)\(.*"
                                  r"attributes {.*echo\.kernel", kernels))
        self.assertGreater(len(names), 20)
        binaries, _ = run("echo-opt", "--echo-kernels-to-gpu=chip="
                          + ",".join(CHIPS), stdin=kernels)
        ptx = ptx_of(binaries)
        self.assertEqual(list(ptx), CHIPS)
        os.makedirs(FOLDER, exist_ok=True)
        for chip, text in ptx.items():
            entries = re.findall(r"^\.visible \.entry (\w+)\($", text, re.M)
            self.assertEqual(sorted(entries), names)
            # No product is contracted into a sum, here or by ptxas, which
            # leaves alone what says how to round; nothing is approximate.
            self.assertNotRegex(text, r"\bfma\.|\.approx|\.ftz")
            self.assertNotRegex(text, r"\b(add|sub|mul)\.f\d")
            # Registers hold what a thread needs.
            self.assertNotIn(".local", text)
            file = os.path.join(FOLDER, f"{model}.{chip}.ptx")
            with open(file, "w") as out:
                out.write(text)
            log = "".join(run("ptxas", "-v", f"-arch={chip}", file, "-o",
                              file + ".cubin"))
            assembled = re.findall(r"Compiling entry function '(\w+)' for "
                                   rf"'{chip}'", log)
            self.assertEqual(sorted(assembled), names)
            memory = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill "
                                r"stores, (\d+) bytes spill loads", log)
            self.assertEqual(memory, [("0", "0", "0")] * len(names))
            self.report(chip, log)

    def report(self, chip, log):
        """Says which kernels need the most registers, and their memory."""
        kernels = re.findall(r"entry function '(\w+)'.*?Used (\d+) registers"
                             r"(?:[^\n]*?(\d+) bytes smem)?", log, re.S)
        kernels.sort(key=lambda kernel: -int(kernel[1]))
        for name, registers, shared in kernels[:5]:
            print(f"{chip} {name}: {registers} registers, {shared or 0} bytes "
                  "of shared memory")

    def test_nmt(self):
        # Rows of the loss have more elements than the lanes of short rows.
        self.check("adam,clip-norm=5", "nmt", "--batch=2", "--src-len=3",
                   "--tgt-len=4", "--hidden=8", "--embed=6", "--layers=2",
                   "--src-vocab=11", "--tgt-vocab=1100", "--layer-norm=true",
                   "--dropout=0.2", "--label-smoothing=0.1")

    def test_lstm_lm(self):
        self.check("momentum,accumulate=2", "lstm-lm", "--batch=2",
                   "--length=5", "--hidden=8", "--embed=6", "--layers=2",
                   "--vocab=11", "--dropout=0.2")


if __name__ == "__main__":
    unittest.main()

# REQUIRES: ptxas
# RUN: %python %s %t
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as PTX, which ptxas assembles for six chips: those of training steps,
and those that show each template of the mapping to GPUs.

Forming kernels knows nothing of the target: what the CPU runs is mapped to the
GPU dialect too. Every kernel function is one entry, in the PTX as in the
assembled code. What each needs, on the chip where that is most, is printed.
"""

import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import unittest

FOLDER = sys.argv.pop(1)
HERE = os.path.dirname(os.path.abspath(__file__))
CHIPS = ["sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"]


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


def ptx_of(text):
    """The PTX by chip in modules with GPU binaries, as one module each."""
    objects = re.findall(r'#nvvm\.target<O = 3, chip = "(\w+)"[^"]*assembly = '
                         r'"((?:[^"\\]|\\.)*)"', text)
    ptx = {}
    for chip, assembly in objects:
        assembly = unescape(assembly).rstrip("\0")
        if chip in ptx:
            assembly = re.sub(r"^\.(version|target|address_size) .*$", "",
                              assembly, flags=re.M)
        ptx[chip] = ptx.get(chip, "") + assembly
    return ptx


class KernelsPtx(unittest.TestCase):
    def check_step(self, optimizer, *zoo):
        step, _ = run("echo-zoo", *zoo)
        # Most kernels are the same: two chips will do for one of the steps.
        for strategy, chips in (("none", CHIPS[::5]), ("echo", CHIPS)):
            kernels, _ = run("echo-opt",
                             f"--echo-training-step=optimizer={optimizer}",
                             f"--echo-to-buffers=strategy={strategy}",
                             "--convert-echo-to-linalg",
                             "--echo-merge-kernels", stdin=step)
            names = self.check_kernels(kernels, f"{zoo[0]}-{strategy}", chips)
            self.assertGreater(len(names), 20)

    def check_kernels(self, kernels, title, chips, *options):
        """Assembles the kernels of a module, or of several, and gives their
        names."""
        names = sorted(
            match[1] for match in re.finditer(r"func\.func private @(\w+)",
                                              kernels)
            if "echo.kernel" in kernels[match.end():].split("{\n")[0])
        binaries, _ = run("echo-opt", *options, "--echo-kernels-to-gpu=chip="
                          + ",".join(chips), stdin=kernels)
        ptx = ptx_of(binaries)
        self.assertEqual(list(ptx), chips)
        os.makedirs(FOLDER, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            logs = list(pool.map(lambda chip: self.assemble(
                title, chip, ptx[chip], names), chips))
        self.report(title, "".join(logs))
        return names

    def assemble(self, title, chip, text, names):
        """Checks the PTX and what ptxas says of it, which it gives."""
        entries = re.findall(r"^\.visible \.entry (\w+)\($", text, re.M)
        self.assertEqual(sorted(entries), names)
        # No product is contracted into a sum, here or by ptxas, which leaves
        # alone what says how to round; nothing is approximate.
        self.assertNotRegex(text, r"\bfma\.|\.approx|\.ftz")
        self.assertNotRegex(text, r"\b(add|sub|mul)\.f\d")
        # LLVM counts on it, and has accesses of 16 bytes.
        for alignment, size in re.findall(
                r"^\.(?:visible |shared |global )*\.align (\d+) \.b8 "
                r"\w+\[(\d+)\]", text, re.M):
            self.assertTrue(int(size) < 16 or int(alignment) >= 16, title)
        # Registers hold what a thread needs.
        self.assertNotIn(".local", text)
        file = os.path.join(FOLDER, f"{title}.{chip}.ptx")
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        log = "".join(run("ptxas", "-v", f"-arch={chip}", file, "-o",
                          file + ".cubin"))
        assembled = re.findall(r"Compiling entry function '(\w+)' for "
                               rf"'{chip}'", log)
        self.assertEqual(sorted(assembled), names)
        memory = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill "
                            r"stores, (\d+) bytes spill loads", log)
        self.assertEqual(memory, [("0", "0", "0")] * len(names), title)
        return log

    def report(self, title, log):
        """Says what each kernel needs, those that need the most registers
        first."""
        kernels = {}
        for name, text in re.findall(r"entry function '(\w+)'(.*?)"
                                     r"(?=Compiling entry|\Z)", log, re.S):
            registers = int(re.search(r"Used (\d+) registers", text)[1])
            shared = re.search(r"(\d+) bytes smem", text)
            old = kernels.get(name, (0, 0))
            kernels[name] = (max(old[0], registers),
                             max(old[1], int(shared[1]) if shared else 0))
        self.assertTrue(kernels)
        for name, (registers, shared) in sorted(
                kernels.items(), key=lambda kernel: -kernel[1][0]):
            print(f"{title} {name}: {registers} registers, {shared} bytes of "
                  "shared memory")

    def test_nmt(self):
        # Rows of the loss have more elements than the lanes of short rows.
        self.check_step("adam,clip-norm=5", "nmt", "--batch=2", "--src-len=3",
                        "--tgt-len=4", "--hidden=8", "--embed=6", "--layers=2",
                        "--src-vocab=11", "--tgt-vocab=1100",
                        "--layer-norm=true", "--dropout=0.2",
                        "--label-smoothing=0.1")

    def test_lstm_lm(self):
        self.check_step("momentum,accumulate=2", "lstm-lm", "--batch=2",
                        "--length=5", "--hidden=8", "--embed=6", "--layers=2",
                        "--vocab=11", "--dropout=0.2")

    def test_templates(self):
        files = sorted(glob.glob(os.path.join(HERE, "gpu-*.mlir")))
        self.assertGreater(len(files), 4)
        for path in files:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            title = os.path.basename(path)[:-len(".mlir")]
            names = self.check_kernels(text, title, CHIPS,
                                       "--split-input-file")
            self.assertTrue(names, title)


if __name__ == "__main__":
    unittest.main()

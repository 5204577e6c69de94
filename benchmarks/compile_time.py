#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long it takes from a graph's text to its first step, by size and phase.

    benchmarks/compile_time.py --build=build

Two kinds of graphs, unrolled to growing lengths: the translator of
`echo-zoo nmt`, and a chain of products and tanh whose gradient reads every
value of the forward chain in reverse. The size is the number of ops of the
training step: forward, gradient and Adam, after canonicalization. Writes
docs/results/compile-time.md.
"""

import argparse
import datetime
import json
import math
import os
import re
import tempfile
import time

from common import (SOURCE, Tools, describe_build, describe_machine, load, run,
                    write)

SIZES = [1000, 2500, 5000, 10000, 20000, 40000]
NMT = ["--batch=4", "--hidden=256", "--embed=256", "--layers=2",
       "--src-vocab=1000", "--tgt-vocab=1000"]
STEP_PIPELINE = "builtin.module(echo-training-step{optimizer=adam})"

# Phases of the table, and the passes and steps in each.
GROUPS = {
    "parse": {"parse"},
    "gradient, optimizer": {"echo-gradient", "echo-optimizer"},
    "clean up": {"canonicalize", "cse", "symbol-dce"},
    "kernels": {"echo-form-kernels", "echo-outline-kernels"},
    "buffers, memory": {"echo-bufferize", "echo-plan-memory"},
    "lowering": {"convert-echo-to-linalg", "echo-merge-kernels",
                 "echo-lower-kernels",
                 "convert-echo-kernels-to-llvm"},
    "program": {"echo-emit-program"},
    "codegen": {"codegen"},
    "link, load": {"link", "load", "cache"},
}


def chain(length):
    """x = tanh(x * p) over and over; the loss is the sum of the last x."""
    lines = ["func.func @chain(",
             '    %x0: tensor<4x256xf32> {echo.role = "input", echo.name = '
             '"x", echo.init = #echo.init<normal, 0.0, 1.0>},',
             '    %p: tensor<256xf32> {echo.role = "parameter", echo.name = '
             '"p", echo.init = #echo.init<uniform, 0.5, 1.0>})',
             '    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {']
    for i in range(length):
        lines.append(
            "  %%y%d = echo.mul %%x%d, %%p : (tensor<4x256xf32>, "
            'tensor<256xf32>) -> tensor<4x256xf32> loc("chain/t%d")' %
            (i, i, i))
        lines.append("  %%x%d = echo.tanh %%y%d : (tensor<4x256xf32>) -> "
                     'tensor<4x256xf32> loc("chain/t%d")' % (i + 1, i, i))
    lines += ["  %%loss = echo.reduce sum %%x%d {dims = array<i64: 0, 1>} : "
              "(tensor<4x256xf32>) -> tensor<f32>" % length,
              "  return %loss : tensor<f32>", "}", ""]
    return "\n".join(lines)


class Graphs:
    """Writes graphs of a kind with about as many training ops as asked for."""

    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder

    def write(self, kind, length):
        path = os.path.join(self.folder, "%s-%d.mlir" % (kind, length))
        if kind == "chain":
            write(path, chain(length))
        else:
            run(self.tools.echo_zoo, "nmt", *NMT, "--src-len=%d" % length,
                "--tgt-len=%d" % length, "-o", path)
        return path

    def count(self, path):
        text = run(self.tools.echo_opt, path,
                   "--pass-pipeline=" + STEP_PIPELINE)
        return len(re.findall(r"^ +%[^=]* = ", text, re.MULTILINE))

    def of_size(self, kind, size):
        """The shortest graph of at least `size` ops, about: the number grows
        by the same for each step."""
        short, long = 4, 8
        ops = [self.count(self.write(kind, length)) for length in (short, long)]
        slope = (ops[1] - ops[0]) / (long - short)
        length = short + max(0, math.ceil((size - ops[0]) / slope))
        path = self.write(kind, length)
        return path, length, self.count(path)


def measure(tools, path, folder, threads, repetitions):
    """The fastest of some runs: its report, with the time of all of it."""
    best = None
    for _ in range(repetitions):
        report_path = os.path.join(folder, "report.json")
        start = time.monotonic()
        run(tools.echo_run, path, "--optimizer=adam", "--no-cache", "--quiet",
            "--threads=%d" % threads, "--report=" + report_path)
        seconds = time.monotonic() - start
        with open(report_path, encoding="utf-8") as file:
            report = json.load(file)
        report["process"] = seconds
        if best is None or seconds < best["process"]:
            best = report
    return best


def exponent(points):
    """The slope of log(seconds) over log(ops): 1 is linear."""
    xs = [math.log(ops) for ops, _ in points]
    ys = [math.log(seconds) for _, seconds in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return (sum((a - x) * (b - y) for a, b in zip(xs, ys)) /
            sum((a - x) ** 2 for a in xs))


def grouped(report):
    names = {name: group for group, members in GROUPS.items()
             for name in members}
    seconds = dict.fromkeys([*GROUPS, "other"], 0.0)
    for phase in report["phases"]:
        seconds[names.get(phase["name"], "other")] += phase["seconds"]
    return seconds


def table(rows):
    groups = [group for group in [*GROUPS, "other"]
              if any(grouped(row["report"])[group] >= 0.0005 for row in rows)]
    lines = ["| ops | length | calls | text to running, s | of it, first step "
             "| " + " | ".join(groups) + " |",
             "|" + "---|" * (5 + len(groups))]
    for row in rows:
        report = row["report"]
        seconds = grouped(report)
        total = sum(seconds.values())
        shares = ["%.0f%%" % (100 * seconds[group] / total) for group in groups]
        lines.append("| %d | %d | %d | %.2f | %.2f | %s |" % (
            row["ops"], row["length"], report["calls"], report["process"],
            report["seconds"]["total"], " | ".join(shares)))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--output", default=os.path.join(
        SOURCE, "docs", "results", "compile-time.md"))
    options = parser.parse_args()
    tools = Tools(options.build)
    load_before = load()
    text = ["# From a graph's text to its first step", "",
            "`benchmarks/compile_time.py` on %s, %s, load %s before.\n"
            "Echo: %s.\n"
            "The time is that of the whole process `echo-run --no-cache "
            "--optimizer=adam`: reading\nthe text, gradient and optimizer, "
            "kernels, machine code, linking, and one step; the\nfastest of %d "
            "runs. Ops are those of the training step. Shares are of the time "
            "before\nthe first step; code generation uses %d threads. The "
            "exponent is that of the time as\na power of the number of ops, "
            "over the sizes of 5,000 and more: 1 is linear." %
            (describe_machine(options.threads), datetime.date.today(),
             load_before, describe_build(options.build), options.repetitions,
             options.threads)]
    titles = {"nmt": "The translator, `echo-zoo nmt " + " ".join(NMT) + "`",
              "chain": "A chain x = tanh(x * p), read in reverse by its "
                       "gradient"}
    with tempfile.TemporaryDirectory() as folder:
        graphs = Graphs(tools, folder)
        for kind, title in titles.items():
            rows = []
            for size in options.sizes:
                path, length, ops = graphs.of_size(kind, size)
                report = measure(tools, path, folder, options.threads,
                                 options.repetitions)
                rows.append({"ops": ops, "length": length, "report": report})
                print("%s: %d ops, %.2f s" % (kind, ops, report["process"]),
                      flush=True)
            points = [(row["ops"], row["report"]["process"]) for row in rows
                      if row["ops"] >= 5000]
            text += ["", "## " + title, "", table(rows)]
            if len(points) > 1:
                text += ["", "Exponent: %.2f." % exponent(points)]
    text = "\n".join(text) + "\n"
    print(text)
    write(options.output, text)


if __name__ == "__main__":
    main()

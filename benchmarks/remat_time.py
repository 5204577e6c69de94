#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long rematerialization takes to plan and to apply, by size of the graph.

    benchmarks/remat_time.py --build=build

Wide and deep graphs and the translator of `echo-zoo nmt` from 1,000 to 100,000
ops, and graphs that are hard on a planner. Planning is what `echo-plan
--problem` reports; the pass is `echo-remat` in `echo-opt`: it builds the problem
from IR, plans, checks the plan and applies it. The fastest run counts. Writes
docs/results/remat-time.md; the exit code is 1 if a limit is missed.
"""

import argparse
import datetime
import json
import math
import os
import re
import subprocess
import sys
import tempfile

from common import (SOURCE, Tools, describe_build, describe_machine, load, run,
                    write)

SIZES = [1000, 2000, 5000, 10000, 20000, 50000, 100000]
# Seconds of planning and of the pass, for graphs of at most so many ops.
LIMITS = {10000: (0.020, 0.100), 100000: (0.300, 1.5)}
NMT = ["--batch=4", "--hidden=256", "--embed=256", "--layers=2",
       "--src-vocab=1000", "--tgt-vocab=1000", "--layer-norm=true"]
CLEAN_UP = "canonicalize,cse,echo-eliminate-dead-nodes"
ROW, PART, TABLE = "tensor<4x256xf32>", "tensor<1x256xf32>", "tensor<%dx256xf32>"


class Function:
    """A forward function of a product and what is made of it."""

    def __init__(self, rows=4):
        self.lines, self.count = [], 0
        x = "tensor<%dx64xf32>" % rows
        self.table = TABLE % rows
        self.lines += [
            "func.func @forward(",
            '    %%x: %s {echo.role = "input", echo.name = "x"},' % x,
            '    %w: tensor<64x256xf32> {echo.role = "parameter", '
            'echo.name = "w"})',
            '    -> (tensor<f32> {echo.loss, echo.name = "loss"}) {']
        self.product = self.add("matmul", "%x", "%w",
                                types=(x, "tensor<64x256xf32>"),
                                result=self.table)

    def add(self, name, *operands, types=(ROW,), result=ROW, suffix=""):
        if len(types) == 1:
            types *= len(operands)
        value = "%%%d" % self.count
        self.count += 1
        self.lines.append("  %s = echo.%s %s%s : (%s) -> %s" % (
            value, name, ", ".join(operands), suffix, ", ".join(types),
            result))
        return value

    def split(self, parts):
        """Rows of the product."""
        value = "%%%d" % self.count
        self.count += 1
        self.lines.append(
            "  %s:%d = echo.split %s {axis = 0 : i64} : (%s) -> (%s)" % (
                value, parts, self.product, self.table,
                ", ".join([PART] * parts)))
        return ["%s#%d" % (value, part) for part in range(parts)]

    def finish(self, value, type=ROW):
        loss = self.add("reduce sum", value, types=(type,),
                        result="tensor<f32>",
                        suffix=" {dims = array<i64: 0, 1>}")
        return "\n".join(self.lines + [
            "  return %s : tensor<f32>" % loss, "}", ""])


def deep(length):
    """exp(exp(...)): each gradient reads the output of its op."""
    graph = Function()
    value = graph.product
    for _ in range(length):
        value = graph.add("exp", value)
    return graph.finish(value)


def wide(length):
    """A sum of tanh(keys + query), as the attention of many steps has it."""
    graph = Function(rows=length + 4)
    keys = graph.add(
        "slice", graph.product, types=(graph.table,), suffix=
        " {offsets = array<i64: %d, 0>, sizes = array<i64: 4, 256>, "
        "strides = array<i64: 1, 1>}" % length)
    total = None
    for query in graph.split(length + 4)[:length]:
        branch = graph.add("tanh", graph.add("add", keys, query,
                                             types=(ROW, PART)))
        total = graph.add("add", total, branch) if total else branch
    return graph.finish(total)


def parallel(length):
    """32 chains of exp whose every value is read by the next chain too."""
    chains = 32
    graph = Function(rows=chains)
    values = graph.split(chains)
    for _ in range(length):
        made = [graph.add("exp", value, types=(PART,), result=PART)
                for value in values]
        values = [graph.add("add", made[i], made[(i + 1) % chains],
                            types=(PART,), result=PART)
                  for i in range(chains)]
    total = values[0]
    for value in values[1:]:
        total = graph.add("add", total, value, types=(PART,), result=PART)
    return graph.finish(total, PART)


def readers(length):
    """x * (x * (x * ...)): all ops read x, their gradients too."""
    graph = Function()
    x = graph.add("tanh", graph.product)
    value = x
    for _ in range(length):
        value = graph.add("mul", x, value)
    return graph.finish(value)


CURVES = {
    "deep": ("A chain of exp, whose gradients read its outputs in reverse",
             deep),
    "wide": ("tanh(keys + query) of many queries, added up", wide),
    "nmt": ("The translator, `echo-zoo nmt %s`" % " ".join(NMT), None),
}
HOSTILE = [
    ("32 parallel chains with shared readers", parallel, 10000),
    ("32 parallel chains with shared readers", parallel, 100000),
    ("a chain of 50,000 ops", deep, 100000),
    ("one tensor with 20,000 readers", readers, None),
]


class Measurement:
    def __init__(self, tools, folder, repetitions):
        self.tools, self.folder = tools, folder
        self.repetitions = repetitions

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_step(self, build, length):
        """The training step of a graph; its path."""
        forward, step = self.path("forward.mlir"), self.path("step.mlir")
        make = "echo-gradient"
        if build:
            write(forward, build(length))
        else:
            run(self.tools.echo_zoo, "nmt", *NMT, "--src-len=%d" % length,
                "--tgt-len=%d" % length, "-o", forward)
            make = "echo-training-step{optimizer=adam}"
        run(self.tools.echo_opt, forward, "-o", step, "--verify-each=false",
            "--pass-pipeline=builtin.module(%s,%s)" % (make, CLEAN_UP))
        return step

    def count(self, build, length):
        with open(self.write_step(build, length), encoding="utf-8") as file:
            return len(re.findall(r"^ +%[^=]* = (?!echo\.constant)",
                                  file.read(), re.MULTILINE))

    def longest(self, build, size):
        """The length of a graph of at most `size` ops, about: the number grows
        by the same for each step."""
        short, long = 4, 8
        ops = [self.count(build, length) for length in (short, long)]
        slope = (ops[1] - ops[0]) / (long - short)
        return max(short, short + math.floor((size - ops[0]) / slope))

    def measure(self, build, length):
        step, problem = self.write_step(build, length), self.path("problem.json")
        run(self.tools.echo_plan, step, "--strategy=none", "--quiet",
            "--save-problem=" + problem)
        planned = [self.plan(problem) for _ in range(self.repetitions)]
        report = min(planned, key=lambda report: report["seconds"]["remat"])
        return {"ops": sum(report["ops"][part] for part in
                           ("forward", "backward", "side")),
                "recomputed": report["ops"]["recomputed"],
                "planning": report["seconds"]["remat"],
                "pass": min(self.time_pass(step)
                            for _ in range(self.repetitions))}

    def plan(self, problem):
        report = self.path("report.json")
        run(self.tools.echo_plan, "--problem=" + problem, "--quiet",
            "--report=" + report)
        with open(report, encoding="utf-8") as file:
            return json.load(file)

    def time_pass(self, step):
        """Seconds of `echo-remat` by MLIR's own clock."""
        result = subprocess.run(
            [self.tools.echo_opt, step, "--echo-remat=promise=none",
             "--verify-each=false", "--mlir-timing",
             "--mlir-timing-display=list", "-o", os.devnull],
            stderr=subprocess.PIPE, text=True, check=True)
        return float(re.search(r"([\d.]+) \([ \d.]+%\)\s+EchoRematPass",
                               result.stderr).group(1))


def limits_of(ops):
    for most, limits in LIMITS.items():
        if ops <= most:
            return limits
    return (math.inf, math.inf)


def is_missed(row):
    planning, whole = limits_of(row["ops"])
    return row["planning"] > planning or row["pass"] > whole


def milliseconds(seconds, limit):
    text = "%.1f" % (1000 * seconds)
    return "**%s**" % text if seconds > limit else text


def table(first, rows):
    lines = ["| %s | ops | recomputed | planned, ms | at most | whole pass, ms "
             "| at most |" % first, "|---" * 7 + "|"]
    for name, row in rows:
        limits = limits_of(row["ops"])
        shown = ["%.0f" % (1000 * limit) if math.isfinite(limit) else "-"
                 for limit in limits]
        lines.append("| %s | %d | %d | %s | %s | %s | %s |" % (
            name, row["ops"], row["recomputed"],
            milliseconds(row["planning"], limits[0]), shown[0],
            milliseconds(row["pass"], limits[1]), shown[1]))
    return "\n".join(lines)


def exponent(rows, key):
    """The slope of log(seconds) over log(ops), from 5,000 ops on: 1 is
    linear."""
    points = [(math.log(row["ops"]), math.log(max(row[key], 1e-6)))
              for _, row in rows if row["ops"] >= 4500]
    if len(points) < 2:
        return "-"
    x = sum(point[0] for point in points) / len(points)
    y = sum(point[1] for point in points) / len(points)
    return "%.2f" % (sum((a - x) * (b - y) for a, b in points) /
                     sum((a - x) ** 2 for a, _ in points))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--output", default=os.path.join(
        SOURCE, "docs", "results", "remat-time.md"))
    options = parser.parse_args()
    text = ["# Time of rematerialization", "",
            "`benchmarks/remat_time.py` on %s, %s, load %s before.\n"
            "Echo: %s.\n"
            "Planned is the time from a problem to its plan, the strategy "
            "`echo`. The whole pass is\n`echo-remat`: it builds the problem "
            "from IR, plans, checks the plan and applies it. The\nfastest of "
            "%d runs; one thread. Ops are those of the training step. What is "
            "above its\nlimit is bold. The exponent is that of the time as a "
            "power of the number of ops, from\n5,000 on: 1 is linear." %
            (describe_machine(1), datetime.date.today(), load(),
             describe_build(options.build), options.repetitions)]
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        measurement = Measurement(Tools(options.build), folder,
                                  options.repetitions)

        def measure(name, build, length):
            row = measurement.measure(build, length)
            print("%s: %d ops, planned in %.1f ms, pass %.1f ms" % (
                name, row["ops"], 1000 * row["planning"], 1000 * row["pass"]),
                flush=True)
            measured.append(row)
            return row

        for name, (title, build) in CURVES.items():
            rows = []
            for size in options.sizes:
                length = measurement.longest(build, size)
                rows.append((str(length), measure(name, build, length)))
            text += ["", "## " + title, "", table("length", rows), "",
                     "Exponents: planned %s, whole pass %s." % (
                         exponent(rows, "planning"), exponent(rows, "pass"))]
        rows = []
        for title, build, size in HOSTILE:
            if size and size > max(options.sizes):
                continue
            length = measurement.longest(build, size) if size else 20000
            rows.append((title, measure(title, build, length)))
        text += ["", "## Hard graphs", "", table("graph", rows)]
    text = "\n".join(text) + "\n"
    print(text)
    write(options.output, text)
    sys.exit(1 if any(map(is_missed, measured)) else 0)


if __name__ == "__main__":
    main()

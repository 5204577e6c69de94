#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What rematerialization costs and saves on the CPU: time and memory of a
training step that runs.

    benchmarks/remat_cpu.py --build build [--steps N] [--threads N]
                            [--output docs/results/remat-cpu.md] [MODEL...]

The strategies take turns, each with a process of N steps after one that warms
up, three rounds; the fastest step of all rounds counts. Memory is what the
runtime allocates.
"""

import argparse
import json
import os
import tempfile

import common

STRATEGIES = ["none", "mirror", "echo-paper", "echo"]
NMT = ["nmt", "--hidden=256", "--embed=256", "--batch=32",
       "--src-vocab=4000", "--tgt-vocab=4000", "--dropout=0.2"]
MODELS = {
    "nmt-25": NMT + ["--src-len=25", "--tgt-len=25"],
    "nmt-25-layer-norm": NMT + ["--src-len=25", "--tgt-len=25",
                                "--layer-norm=true"],
    "nmt-50-layer-norm": NMT + ["--src-len=50", "--tgt-len=50",
                                "--layer-norm=true"],
    "lstm-lm": ["lstm-lm", "--hidden=256", "--embed=256", "--batch=32",
                "--length=35", "--vocab=10000", "--dropout=0.2"],
}
ROUNDS = 3


def measure(tools, model, strategy, options, folder):
    """Seconds of the fastest step, and the bytes that the runtime allocated."""
    report = os.path.join(folder, "report.json")
    common.run(tools.echo_run, model, "--optimizer=adam",
               "--strategy=" + strategy, "--steps=%d" % (options.steps + 1),
               "--threads=%d" % options.threads, "--quiet",
               "--report=" + report)
    with open(report, encoding="utf-8") as file:
        content = json.load(file)
    return min(content["seconds"]["steps"][1:]), content["bytes"]


def table(tools, name, options, folder):
    model = os.path.join(folder, name + ".mlir")
    common.run(tools.echo_zoo, *MODELS[name], "-o", model)
    seconds, memory = {}, {}
    for _ in range(ROUNDS):
        for strategy in STRATEGIES:
            found, memory[strategy] = measure(tools, model, strategy, options,
                                              folder)
            seconds[strategy] = min(found, seconds.get(strategy, found))
    lines = ["## %s" % name, "", "`echo-zoo %s`" % " ".join(MODELS[name]), "",
             "| strategy | ms a step | of none | arena MB | of none |",
             "|---|---|---|---|---|"]
    for strategy in STRATEGIES:
        arena = memory[strategy]["arena"]
        lines.append("| %s | %.1f | %.2f | %.1f | %.2f |" % (
            strategy, 1e3 * seconds[strategy],
            seconds[strategy] / seconds["none"], arena / 1e6,
            arena / memory["none"]["arena"]))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default=os.path.join(common.SOURCE, "build"))
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output")
    parser.add_argument("models", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    text = """# Rematerialization on the CPU

Written by `benchmarks/remat_cpu.py`. %s; %s. Load before: %s.

A strategy whose plan doesn't make the arena smaller is the step without it.

""" % (common.describe_machine(options.threads),
       common.describe_build(options.build), common.load())
    tools = common.Tools(options.build)
    with tempfile.TemporaryDirectory() as folder:
        text += "\n".join(table(tools, name, options, folder)
                          for name in options.models)
    print(text)
    if options.output:
        common.write(options.output, text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the rewrites of a training step change: library calls, launches and
memory of the host program, and the time of a step.

    benchmarks/rewrites.py --build-dir build [--steps N] [--threads N] [MODEL...]

Prints one table in Markdown. The steps differ in the passes alone; each is
compiled once and run for N steps after one that warms up, before and after the
rewrites in turns, and the fastest step counts. Without --steps nothing is run.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

CLEAN_UP = "canonicalize,cse"
STEP = "echo-gradient,echo-optimizer{kind=adam}," + CLEAN_UP
REWRITES = ["echo-batch-rows", "echo-batch-sums", "echo-accumulate-products"]
VARIANTS = {
    "none": "",
    "rows": ",".join(["", REWRITES[0], CLEAN_UP]),
    "rows, sums": ",".join(["", *REWRITES[:2], CLEAN_UP]),
    "all": ",".join(["", *REWRITES, CLEAN_UP]),
}
NMT = ["nmt", "--hidden=256", "--embed=256", "--batch=32"]
MODELS = {
    "nmt-25": NMT + ["--src-len=25", "--tgt-len=25"],
    "nmt-50": NMT + ["--src-len=50", "--tgt-len=50"],
    "lstm-lm": ["lstm-lm", "--hidden=256", "--embed=256", "--batch=32",
                "--length=35", "--vocab=10000"],
}


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        sys.exit("%s\n%s" % (" ".join(command), result.stderr.strip()))
    return result.stdout


def measure(tools, model, passes):
    """Counts of the host program of a model's step."""
    text = run(tools("echo-opt"), model, "--pass-pipeline=builtin.module(%s,"
               "echo-to-buffers{strategy=none})" % passes)

    def megabytes(name):
        found = re.search(r"echo\.%s = (\d+)" % name, text)
        return "%.1f" % (int(found.group(1)) / 1e6)

    return {
        "GEMMs": len(re.findall(r"^ *echo\.gemm", text, re.M)),
        "launches": len(re.findall(r"^ *echo\.launch", text, re.M)),
        "copies": len(re.findall(r"^ *echo\.copy", text, re.M)),
        "arena MB": megabytes("arena_bytes"),
        "peak MB": megabytes("logical_peak_bytes"),
    }


def fastest_step(tools, artifact, steps, threads):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        run(tools("echo-run"), artifact, "--steps=%d" % (steps + 1),
            "--threads=%d" % threads, "--quiet", "--report=" + report)
        with open(report, encoding="utf-8") as file:
            return min(json.load(file)["seconds"]["steps"][1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", default="build")
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("models", nargs="*", metavar="MODEL",
                        help="of %s; default: all" % ", ".join(MODELS))
    options = parser.parse_args()
    for name in options.models:
        if name not in MODELS:
            parser.error("expected a model (%s), found '%s'" %
                         (", ".join(MODELS), name))

    def tools(name):
        return os.path.join(options.build_dir, "bin", name)

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models or MODELS:
            model = os.path.join(folder, name + ".mlir")
            run(tools("echo-zoo"), *MODELS[name], "-o", model)
            artifacts = {}
            for variant, rewrites in VARIANTS.items():
                passes = STEP + rewrites
                rows.append({"model": name, "rewrites": variant,
                             **measure(tools, model, passes)})
                if not options.steps or variant not in ("none", "all"):
                    continue
                step = os.path.join(folder, "step.mlir")
                artifacts[variant] = os.path.join(
                    folder, "%s-%s.so" % (name, variant))
                run(tools("echo-opt"), model,
                    "--pass-pipeline=builtin.module(%s)" % passes, "-o", step)
                run(tools("echo-compile"), step, "--strategy=none", "-o",
                    artifacts[variant])
            best = {}
            for _ in range(2 if artifacts else 0):
                for variant, artifact in artifacts.items():
                    seconds = fastest_step(tools, artifact, options.steps,
                                           options.threads)
                    best[variant] = min(seconds, best.get(variant, seconds))
            for row in rows[-len(VARIANTS):]:
                if options.steps:
                    seconds = best.get(row["rewrites"])
                    row["ms a step"] = "%.1f" % (1e3 * seconds) if seconds \
                        else ""
    columns = list(rows[0])
    print("| %s |" % " | ".join(columns))
    print("|%s" % ("---|" * len(columns)))
    for row in rows:
        print("| %s |" % " | ".join(str(row[column]) for column in columns))


if __name__ == "__main__":
    main()

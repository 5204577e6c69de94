#!/usr/bin/env python3
#===- memory.py - Memory of training steps, by echo-plan -------------------===#
#
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Plans the training steps of the zoo's models at full size with every strategy
and writes docs/results/memory.md, docs/results/remat.md (but for what it says
under "Differences") and the table in README.md.

Nothing is run: the bytes are what the runtime would allocate, the times are
modelled. With --check nothing is written, and the exit code is 1 if a file
would change."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEVICE = "rtx2080ti"
# IWSLT15 English-Vietnamese: 2 + 2 layers, 512 wide; WMT16 English-German:
# 4 + 4 layers, hidden 1024, one vocabulary of 32k.
EN_VI = ["nmt", "--src-vocab=17191", "--tgt-vocab=7709"]
EN_DE = ["nmt", "--layers=4", "--hidden=1024", "--embed=512",
         "--src-vocab=32000", "--tgt-vocab=32000", "--share-embeddings=true",
         "--layer-norm=true", "--dropout=0.2", "--label-smoothing=0.1"]
LENGTH = ["--src-len=100", "--tgt-len=100"]
MODELS = [
    ("NMT English-Vietnamese, batch 16", EN_VI + LENGTH + ["--batch=16"]),
    ("NMT English-Vietnamese, batch 64", EN_VI + LENGTH + ["--batch=64"]),
    ("NMT English-Vietnamese, batch 128", EN_VI + LENGTH + ["--batch=128"]),
    ("the same with layer norm, batch 128",
     EN_VI + LENGTH + ["--batch=128", "--layer-norm=true"]),
    ("NMT English-German, batch 16", EN_DE + LENGTH + ["--batch=16"]),
    ("NMT English-German, batch 64", EN_DE + LENGTH + ["--batch=64"]),
    ("NMT English-German, batch 128", EN_DE + LENGTH + ["--batch=128"]),
]
# Total GB by an independent model of some of them: parameters and state, then
# the strategies.
ESTIMATES = {
    "the same with layer norm, batch 128":
        {"none": 6.98, "mirror": 4.68, "echo": 1.44, "persistent": .32},
    "NMT English-Vietnamese, batch 128":
        {"none": 4.35, "mirror": 4.58, "echo": 1.44, "persistent": .32},
    "NMT English-German, batch 16":
        {"none": 3.52, "mirror": 3.00, "echo": 2.07, "persistent": 1.42},
    "NMT English-German, batch 128":
        {"none": 17.3, "mirror": 13.1, "echo": 5.66, "persistent": 1.42},
}
DIFFERENCES = "\n## Differences\n"
STRUCTURES = ["weights", "optimizer_state", "feature_maps", "gradients",
              "inputs", "workspace", "other", "gaps"]
BEGIN = "<!-- memory: written by benchmarks/memory.py -->\n"
END = "<!-- memory: end -->\n"


def plan(tools, model, folder):
    """The reports of all strategies by name."""
    path = os.path.join(folder, "model.mlir")
    report = os.path.join(folder, "report.json")
    subprocess.run([os.path.join(tools, "echo-zoo"), *model, "-o", path],
                   check=True)
    subprocess.run([os.path.join(tools, "echo-plan"), path, "--optimizer=adam",
                    "--device=" + DEVICE, "--quiet", "--compare",
                    "--report=" + report], check=True)
    with open(report, encoding="utf-8") as file:
        reports = json.load(file)["strategies"]
    return {report["strategy"]: report for report in reports}


def gigabytes(number):
    return "%.2f" % (number / 1e9)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |",
             "|---" * len(header) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def ratio(plans, strategy="echo"):
    return (plans["none"]["bytes"]["total"]
            / plans[strategy]["bytes"]["total"])


def percent(share):
    return "%+.1f%%" % (100 * share)


def summary(plans):
    """The README's table."""
    return table(
        ["training step (Adam, length 100)", "GB without",
         "GB with `echo`", "ratio", "parameters and state", "modelled time"],
        [[name, gigabytes(by["none"]["bytes"]["total"]),
          gigabytes(by["echo"]["bytes"]["total"]), "%.2f" % ratio(by),
          gigabytes(by["none"]["bytes"]["persistent"]),
          percent(by["echo"]["overhead"]["modelled"])]
         for name, by in plans])


def beside_estimates(plans):
    rows = []
    for name, by in plans:
        if name not in ESTIMATES:
            continue
        estimate = ESTIMATES[name]
        ours = {strategy: report["bytes"]["total"]
                for strategy, report in by.items()}
        ours["persistent"] = by["none"]["bytes"]["persistent"]
        rows.append([name] + [
            "%s / %.2f" % (gigabytes(ours[key]), estimate[key])
            for key in ("persistent", "none", "mirror", "echo")])
    return """
## Beside an independent model

Total GB, ours / the estimate of a separate model of the same steps.

""" + table(["training step", "parameters and state", "none", "mirror",
             "echo"], rows)


def strategies_page(plans, remarks):
    text = """# Rematerialization of training steps

Written by `benchmarks/memory.py` from `echo-plan --optimizer=adam --compare
--device=%s`; the strategies are described in [remat.md](../remat.md), the sizes
in [memory.md](memory.md). Each strategy's plan is taken as it is; "applied" says
whether tools would take it. "unwritten" are those of the recomputed ops that are in
the kernels that read them, so that what they compute is never in memory. Nothing was
run: bytes are what the runtime would allocate, times are modelled.
""" % DEVICE
    for name, by in plans:
        rows = [[strategy, gigabytes(report["bytes"]["total"]),
                 "%.2f" % ratio(by, strategy),
                 gigabytes(report["bytes"]["feature_maps"]),
                 gigabytes(report["bytes"]["arena"]),
                 str(report["ops"]["recomputed"]),
                 str(report["ops"]["unwritten"]),
                 "%.1f" % (1e3 * report["time"]["modelled"]),
                 percent(report["overhead"]["modelled"]),
                 "yes" if report["applied"] else "no"]
                for strategy, report in by.items()]
        text += "\n## %s\n\n%s" % (name, table(
            ["strategy", "total GB", "ratio", "feature maps", "arena",
             "ops recomputed", "unwritten", "ms a step", "overhead",
             "applied"], rows))
    return text + beside_estimates(plans) + DIFFERENCES + remarks


def results_page(plans):
    each = [(name + suffix, by[strategy]) for name, by in plans
            for strategy, suffix in (("none", ""), ("echo", ", `echo`"))]
    structures = table(
        ["GB at the peak"] + [name.replace("_", " ") for name in STRUCTURES],
        [[name] + [gigabytes(report["by_structure"][structure])
                   for structure in STRUCTURES] for name, report in each])
    arenas = table(
        ["bytes", "persistent", "logical peak", "arena", "arena / peak",
         "ops forward", "backward"],
        [[name, str(report["bytes"]["persistent"]),
          str(report["bytes"]["logical_peak"]), str(report["bytes"]["arena"]),
          "%.4f" % (report["bytes"]["arena"] / report["bytes"]["logical_peak"]),
          str(report["ops"]["forward"]), str(report["ops"]["backward"])]
         for name, report in each])
    layers = "".join(
        "\n### %s\n\n%s" % (name, table(
            ["layer", "GB at the peak", "feature maps"],
            [[layer["layer"] or "(none)", gigabytes(layer["bytes"]),
              gigabytes(layer["feature_maps"])]
             for layer in report["by_layer"] if layer["bytes"] >= 5e6]))
        for name, report in each)
    return """# Memory of training steps

Written by `benchmarks/memory.py` from `echo-plan --optimizer=adam`, without
rematerialization and with the strategy `echo` ([remat.md](remat.md) has all
strategies); the words are in [plan.md](../plan.md). GB are 1e9 bytes. Nothing
was run: the bytes are what the runtime would allocate; the seconds are modelled for
an RTX 2080 Ti ([devices.md](../devices.md)) and no measurement.

Sizes follow the Echo paper's workloads where it gives them: English-Vietnamese has
2 + 2 LSTM layers, hidden and embedding 512, vocabularies of 17,191 and 7,709;
English-German 4 + 4 layers, hidden 1024, embedding 512, one vocabulary of 32,000,
layer norm in the attention, dropout 0.2, label smoothing 0.1. All sentences have 100
tokens, the longest bucket.

%s
## By structure

%s
## Bytes

%s
## By layer

Layers of at least 5 MB at the peak.
%s""" % (summary(plans), structures, arenas, layers)


def replace_between(text, new):
    begin = text.index(BEGIN) + len(BEGIN)
    return text[:begin] + new + text[text.index(END):]


def write(path, text, check):
    old = None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            old = file.read()
    if old == text:
        return True
    if check:
        print("stale: %s" % os.path.relpath(path, ROOT), file=sys.stderr)
        return False
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(temporary, 0o644)
    os.rename(temporary, path)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", default=os.path.join(ROOT, "build", "bin"),
                        help="folder of echo-zoo and echo-plan (build/bin)")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plans = []
        for name, model in MODELS:
            by = plan(options.tools, model, folder)
            plans.append((name, by))
            print("%s: %s GB, with echo %s" % (
                name, gigabytes(by["none"]["bytes"]["total"]),
                gigabytes(by["echo"]["bytes"]["total"])))
    readme = os.path.join(ROOT, "README.md")
    with open(readme, encoding="utf-8") as file:
        text = replace_between(file.read(), summary(plans))
    results = os.path.join(ROOT, "docs", "results")
    strategies = os.path.join(results, "remat.md")
    with open(strategies, encoding="utf-8") as file:
        remarks = file.read().partition(DIFFERENCES)[2]
    fresh = [write(os.path.join(results, "memory.md"), results_page(plans),
                   options.check),
             write(strategies, strategies_page(plans, remarks), options.check),
             write(readme, text, options.check)]
    sys.exit(0 if all(fresh) else 1)


if __name__ == "__main__":
    main()

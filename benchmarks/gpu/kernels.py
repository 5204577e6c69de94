#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How good the GPU kernels of training steps are, without a GPU.

    benchmarks/gpu/kernels.py --build=build [--nvdisasm=PATH]

Steps are compiled for the simulator, which counts what each launch loads and
stores, and to PTX, which ptxas assembles. Instructions of PTX are those that
some threads execute (ptx.py); those of SASS, the machine's own, are counted in
the code, where nvdisasm is (in the CUDA Toolkit, or in PyPI's `triton` under
triton/backends/nvidia/bin). Writes docs/results/kernels.md.
"""

import argparse
import collections
import concurrent.futures
import csv
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# pylint: disable=wrong-import-position
import ptx
from common import SOURCE, Tools, run, write

CHIPS = ["sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"]
SECTOR = 32  # bytes that a device moves at least
MULTIPROCESSORS = 132  # of an H100

NMT = ["nmt", "--batch=64", "--src-len=12", "--tgt-len=2", "--hidden=512",
       "--embed=512", "--layers=1", "--src-vocab=2000", "--tgt-vocab=3000"]
CASES = {  # title: (graph, optimizer, strategy)
    "NMT": (NMT, "adam,clip-norm=5", "none"),
    "NMT with layer norm, dropout and label smoothing, rematerialized":
        (NMT + ["--layer-norm=true", "--dropout=0.2", "--label-smoothing=0.1"],
         "adam", "echo"),
    "LSTM language model":
        (["lstm-lm", "--batch=64", "--length=2", "--layers=1", "--hidden=650",
          "--embed=650", "--vocab=3000", "--dropout=0.2"], "momentum",
         "none"),
}
BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2,
         "i8": 1}


class Row:
    """A kernel of a step, with all of its launches."""

    def __init__(self, name, launches):
        self.name = name
        self.launches = len(launches)
        self.ops = sorted({launch["op"] for launch in launches})
        layers = {re.sub(r"(^|/)t\d+(?=/|$)", r"\1*", launch["layer"])
                  for launch in launches}
        self.layers = sorted(layer for layer in layers if layer)
        self.blocks = int(launches[0]["blocks"])
        self.threads = int(launches[0]["threads"])
        self.load, self.store = (
            {field: sum(int(launch[access + field]) for launch in launches) /
             self.launches for field in ("accesses", "bytes", "sectors",
                                         "least")}
            for access in ("loads.", "stores."))

    def least(self):
        return self.load["least"] + self.store["least"]

    def moved(self):
        return SECTOR * (self.load["sectors"] + self.store["sectors"])

    def beyond(self):
        """Bytes too many, in all launches. A launch of fewer blocks than a
        device has multiprocessors moves its bytes with a part of them."""
        slowdown = max(1, MULTIPROCESSORS / self.blocks)
        return self.launches * (self.moved() * slowdown - self.least())


def count_elements(signature, row):
    """Elements of the largest buffer that a launch reads or writes all of."""
    counts = [1]
    for count, kind in re.findall(r"memref<(\d+)x(\w+)", signature):
        limit = max(row.load["least"], row.store["least"])
        if int(count) * BYTES[kind] <= limit:
            counts.append(int(count))
    return max(counts)


def assemble(ptxas, text, chip, folder):
    """Registers, shared memory, spills and local memory by kernel, and the
    path of the machine code."""
    path = os.path.join(folder, chip + ".ptx")
    write(path, text)
    cubin = path + ".cubin"
    result = subprocess.run([ptxas, "-v", "-arch=" + chip, path, "-o", cubin],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=True)
    usage = {}
    for name, rest in re.findall(
            r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry|\Z)",
            result.stdout, re.S):
        def number(pattern, rest=rest):
            found = re.search(pattern, rest)
            return int(found.group(1)) if found else 0
        usage[name] = {"registers": number(r"Used (\d+) registers"),
                       "shared": number(r"(\d+) bytes smem"),
                       "spills": number(r"(\d+) bytes spill stores") +
                       number(r"(\d+) bytes spill loads"),
                       "stack": number(r"(\d+) bytes stack frame")}
    return usage, cubin


def count_sass(nvdisasm, cubin):
    """Machine instructions by kernel, without the padding."""
    text = run(nvdisasm, cubin)
    counts = {}
    for section in re.split(r"(?=\.section\s+\.text\.)", text):
        name = re.match(r"\.section\s+\.text\.(\w+)", section)
        if name:
            counts[name.group(1)] = len(re.findall(
                r"/\*[0-9a-f]{4,}\*/\s+(?!NOP)\S+.*;", section))
    return counts


class Step:
    """A training step: what its kernels are, what they move and need."""

    def __init__(self, tools, options, case, folder):
        graph, optimizer, strategy = case
        path = os.path.join(folder, "graph.mlir")
        run(tools.echo_zoo, *graph, "-o", path)
        training = ["--optimizer=" + optimizer, "--strategy=" + strategy]

        def emit(kind, *arguments):
            output = os.path.join(folder, "step." + kind)
            run(tools.echo_compile, path, *training, "--target=cuda",
                "--emit=" + kind, "-o", output, *arguments)
            with open(output, encoding="utf-8") as file:
                return file.read()

        signatures = dict(re.findall(r"gpu\.func @(\w+)\((.*?)\) kernel",
                                     emit("mlir")))
        artefact = os.path.join(folder, "step.so")
        # With the launches of the chip whose code is followed.
        run(tools.echo_compile, path, *training, "--target=cuda",
            "--chip=sim,sm_90", "-o", artefact)
        traffic = os.path.join(folder, "traffic.tsv")
        os.environ.update(ECHO_SIM_TRAFFIC=traffic, ECHO_SIM_RACES="off")
        run(tools.echo_run, artefact, "--device=sim", "--quiet",
            "--set=learning_rate=0.001")
        launches = collections.defaultdict(list)
        with open(traffic, encoding="utf-8") as file:
            for launch in csv.DictReader(file, delimiter="\t",
                                         quoting=csv.QUOTE_NONE):
                launches[launch["kernel"]].append(launch)
        self.rows = [Row(name, own) for name, own in launches.items()]
        self.rows.sort(key=Row.beyond, reverse=True)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            texts = list(pool.map(lambda chip: run(
                tools.echo_compile, path, *training, "--target=cuda",
                "--emit=ptx", "--chip=" + chip, "-o", "-"), CHIPS))
            results = list(pool.map(lambda pair: assemble(
                options.ptxas, *pair, folder), zip(texts, CHIPS)))
        self.usage = {chip: usage
                      for chip, (usage, _) in zip(CHIPS, results)}
        code = ptx.parse(texts[CHIPS.index("sm_90")])
        sass = {}
        if options.nvdisasm:
            sass = count_sass(options.nvdisasm,
                              results[CHIPS.index("sm_90")][1])
        for row in self.rows:
            kernel = code[row.name]
            row.elements = count_elements(signatures[row.name], row)
            row.widths = [kernel.widths("ld"), kernel.widths("st")]
            row.executed = ptx.instructions(
                kernel, row.blocks, row.threads, [0] * len(kernel.parameters))
            row.ptx = len(kernel.code)
            row.sass = sass.get(row.name)
            row.registers = max(usage[row.name]["registers"]
                                for usage in self.usage.values())
            row.shared = max(usage[row.name]["shared"]
                             for usage in self.usage.values())
            row.spills = sum(usage[row.name]["spills"] +
                             usage[row.name]["stack"]
                             for usage in self.usage.values())


def shorten(names, most=1):
    text = ", ".join(names[:most])
    return text + (" and %d more" % (len(names) - most)
                   if len(names) > most else "")


def number(value):
    return "%.2f" % value if value < 9.995 else "%.0f" % value


def line(row):
    def each(access):
        return "%s (%s)" % (number(access["bytes"] / row.elements),
                            number(access["least"] / row.elements))

    widths = [", ".join(map(str, widths)) or "-" for widths in row.widths]
    return "| %s | %s | %d | %d x %d | %d | %s | %s | %s | %s | %s | %s | %s " \
        "| %d | %d | %d | %.2f |" % (
            shorten(row.ops), shorten(row.layers) or "-", row.launches,
            row.blocks, row.threads, row.elements, each(row.load),
            each(row.store), number(row.moved() / max(row.least(), 1)),
            widths[0], widths[1], number(row.executed / row.elements),
            "%d / %s" % (row.ptx, "-" if row.sass is None else row.sass),
            row.registers, row.shared, row.spills, row.beyond() / 1e6)


HEADER = ["ops", "layer", "launches", "blocks x threads", "elements",
          "loaded, B/element (least)", "stored, B/element (least)",
          "moved / least", "load, B", "store, B", "PTX/element",
          "PTX / SASS in the code", "registers", "shared, B", "spilled, B",
          "beyond, MB"]


def section(title, case, step):
    rows = step.rows
    total = sum(row.launches * row.least() for row in rows)
    moved = sum(row.launches * row.moved() for row in rows)
    return ["", "## " + title, "",
            "`echo-zoo %s`, `--optimizer=%s --strategy=%s`: %d kernels, %d "
            "launches, %.1f MB\nat least, %.1f MB moved, %.1f MB beyond." %
            (" ".join(case[0]), case[1], case[2], len(rows),
             sum(row.launches for row in rows), total / 1e6, moved / 1e6,
             sum(row.beyond() for row in rows) / 1e6), "",
            "| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER),
            *[line(row) for row in rows]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or
                        "/usr/local/cuda/bin/ptxas")
    parser.add_argument("--nvdisasm", default=shutil.which("nvdisasm"))
    parser.add_argument("--output", default=os.path.join(
        SOURCE, "docs", "results", "kernels.md"))
    options = parser.parse_args()
    version = re.search(r"release \S+ (V\S+)", run(options.ptxas, "--version"))
    text = [
        "# GPU kernels, worst first", "",
        "`benchmarks/gpu/kernels.py` on %s, without a GPU: the simulator counts "
        "bytes, ptxas\n%s assembles for %s." % (
            datetime.date.today(), version.group(1), ", ".join(CHIPS)),
        "",
        "Bytes are those that the threads of all launches ask for, by launch, "
        "and in parentheses\nthose that must be moved: each byte of the inputs "
        "that a launch reads once, each byte of\nits outputs once. A cache may "
        "catch what is read twice. *Moved* counts the sectors of 32\nbytes that "
        "the lanes of a warp touch with one instruction: more than the bytes "
        "asked for\nwhere lanes aren't neighbours, fewer where they read the "
        "same. An *element* is one of the\nlargest buffer that a launch reads or "
        "writes all of. *Load* and *store* are the sizes of\naccesses to global "
        "memory. *PTX/element* are instructions that threads execute, by 16 "
        "or\nfewer threads of the launch that are followed through the code, "
        "where conditions on data\nare taken to be false; SASS is sm_90's"
        + ("." if options.nvdisasm else " (not counted: no nvdisasm).") +
        " Registers, shared memory and what is spilled are the\nmost of all "
        "chips. Rows are sorted by the bytes moved *beyond* the least, of all "
        "launches;\nthose of launches with fewer blocks than %d "
        "multiprocessors count as often as the others\nidle." %
        MULTIPROCESSORS]
    for title, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            step = Step(Tools(options.build), options, case, folder)
        text += section(title, case, step)
        print("%s: %d kernels" % (title, len(step.rows)), flush=True)
        if any(row.spills for row in step.rows):
            print("some kernels spill registers", file=sys.stderr)
    write(options.output, "\n".join(text) + "\n")


if __name__ == "__main__":
    main()

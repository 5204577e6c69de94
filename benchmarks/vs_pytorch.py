#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of a training step against PyTorch eager on the CPU.

    python3 -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python benchmarks/vs_pytorch.py --build=build

Both run the same model from the same weights on the same batch, with Adam,
and their losses are compared. They take turns, each in a process of its own,
so that neither's threads disturb the other. PyTorch runs each model in all
ways that a user would write it, with its optimizer as it is and fused; the
fastest counts. Writes docs/results/speed.md.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from common import (SOURCE, Tools, describe_build, describe_machine, load, run,
                    write)
from gpu.cases import make_inputs

RATE = 0.001
SETTLING = 3  # steps that don't count
TOLERANCE = 2e-3  # of the loss

MODELS = {
    "nmt": {
        "title": "NMT: hidden 256, batch 32, length 25, 2 layers",
        "options": dict(batch=32, src_len=25, tgt_len=25, hidden=256,
                        embed=256, layers=2, src_vocab=17191, tgt_vocab=7709),
        "variants": {"LSTMCell decoder": "Translator",
                     "nn.LSTM decoder, batched attention":
                         "BatchedTranslator"},
    },
    "lstm-lm": {
        "title": "LSTM language model: 2 layers, hidden 650, batch 20, length "
                 "35, vocabulary 10000",
        "options": dict(batch=20, length=35, layers=2, hidden=650, embed=650,
                        vocab=10000),
        "variants": {"nn.LSTM": "LanguageModel"},
    },
}


# In a process of its own: PyTorch.

def make_module(model, variant):
    import pytorch_models
    sizes = MODELS[model]["options"]
    if model == "nmt":
        return getattr(pytorch_models, variant)(
            sizes["src_vocab"], sizes["tgt_vocab"], sizes["embed"],
            sizes["hidden"], sizes["layers"])
    return getattr(pytorch_models, variant)(
        sizes["vocab"], sizes["embed"], sizes["hidden"], sizes["layers"])


def run_pytorch(options):
    """Prints losses and seconds of the steps as JSON."""
    import torch
    torch.set_num_threads(options.threads)
    module = make_module(options.model, options.variant)
    with np.load(options.weights) as weights, torch.no_grad():
        for name, parameter in module.echo_names().items():
            parameter.copy_(torch.from_numpy(weights[name]))
    inputs = [torch.from_numpy(value.astype(np.int64))
              for name, value in make_inputs(
                  options.model, MODELS[options.model]["options"]).items()
              if name != "src_lengths"]
    optimizer = torch.optim.Adam(
        [p for p in module.parameters() if p.requires_grad], lr=RATE,
        fused=True if options.fused else None)
    losses, seconds = [], []
    for _ in range(options.steps):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = module(*inputs)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - start)
    json.dump({"losses": losses, "seconds": seconds}, sys.stdout)


# The comparison.

class Contest:
    def __init__(self, tools, model, folder, options):
        self.tools, self.model, self.folder = tools, model, folder
        self.options = options
        self.graph = os.path.join(folder, model + ".mlir")
        zoo = ["--%s=%s" % (name.replace("_", "-"), value)
               for name, value in MODELS[model]["options"].items()]
        run(tools.echo_zoo, model, *zoo, "-o", self.graph)
        self.settings = ["--set=learning_rate=%r" % RATE]
        for name, value in make_inputs(
                model, MODELS[model]["options"]).items():
            path = os.path.join(folder, "%s-%s.npy" % (model, name))
            np.save(path, value)
            self.settings.append("--input=%s=%s" % (name, path))
        self.weights = os.path.join(folder, model + ".npz")
        self.echo(0, "--checkpoint=" + self.weights)
        self.contestants = {
            "Echo": self.step_echo,
            "Echo, --strategy=none": lambda: self.step_echo("--strategy=none")}
        for title, variant in MODELS[model]["variants"].items():
            for fused in (False, True):
                name = "PyTorch, %s%s" % (title,
                                          ", fused Adam" if fused else "")
                self.contestants[name] = self.pytorch(variant, fused)

    def echo(self, steps, *extra):
        report = os.path.join(self.folder, "report.json")
        run(self.tools.echo_run, self.graph, "--optimizer=adam", "--seed=1",
            "--quiet", "--threads=%d" % self.options.threads,
            "--steps=%d" % steps, "--cache-dir=" + self.folder + "/cache",
            "--report=" + report, *self.settings, *extra)
        with open(report, encoding="utf-8") as file:
            return json.load(file)

    def step_echo(self, *extra):
        report = self.echo(self.options.steps + SETTLING, *extra)
        return report["loss"], report["seconds"]["steps"]

    def pytorch(self, variant, fused):
        def step():
            command = [sys.executable, os.path.abspath(__file__), "--worker",
                       "--model=" + self.model, "--variant=" + variant,
                       "--weights=" + self.weights,
                       "--threads=%d" % self.options.threads,
                       "--steps=%d" % (self.options.steps + SETTLING)]
            result = json.loads(run(*command, *["--fused"] * fused))
            return result["losses"], result["seconds"]
        return step

    def run(self):
        """Each contestant's seconds per step, and the losses' largest
        difference."""
        seconds = {name: [] for name in self.contestants}
        difference = 0
        for turn in range(self.options.rounds):
            expected = None
            for name, step in self.contestants.items():
                losses, times = step()
                expected = expected or losses
                difference = max(difference, max(
                    abs(a - b) / abs(a) for a, b in zip(expected, losses)))
                seconds[name] += times[SETTLING:]
                print("%s, round %d: %s: %.4f s" % (
                    self.model, turn + 1, name,
                    statistics.median(times[SETTLING:])), flush=True)
        if difference > TOLERANCE:
            raise SystemExit("%s: losses differ by %g of themselves: not the "
                             "same model" % (self.model, difference))
        return seconds, difference

    def profile(self):
        return run(self.tools.echo_run, self.graph, "--optimizer=adam",
                   "--seed=1", "--threads=%d" % self.options.threads,
                   "--steps=%d" % (self.options.steps + 1), "--profile",
                   "--cache-dir=" + self.folder + "/cache",
                   *self.settings).split("\nprofile of", 1)[1]


def describe(model, seconds, difference):
    rows = {name: (statistics.median(times), min(times))
            for name, times in seconds.items()}
    others = {name: row for name, row in rows.items() if not name.startswith("Echo")}
    best = min(others, key=lambda name: others[name])
    lines = ["| | median, ms | least, ms | Echo's median of its |",
             "|---|---|---|---|"]
    for name, (median, least) in rows.items():
        lines.append("| %s | %.1f | %.1f | %.2f |" % (
            name, 1000 * median, 1000 * least, rows["Echo"][0] / median))
    lines += ["", "Echo takes **%.2f** of the time of the fastest (%s); losses "
              "differ by %.1g of themselves\nat most." % (
                  rows["Echo"][0] / others[best][0], best, difference)]
    return "\n".join(["## " + MODELS[model]["title"], ""] + lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--output", default=os.path.join(
        SOURCE, "docs", "results", "speed.md"))
    for name in ("worker", "fused"):
        parser.add_argument("--" + name, action="store_true",
                            help=argparse.SUPPRESS)
    for name in ("model", "variant", "weights"):
        parser.add_argument("--" + name, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        run_pytorch(options)
        return
    torch_version = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.__version__)"],
        stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    text = ["# A training step against PyTorch", "",
            "`benchmarks/vs_pytorch.py` on %s, %s, load %s before.\n"
            "Echo: %s; PyTorch %s, eager. f32, Adam, the same weights and "
            "batch, %d rounds of\n%d steps in turns after %d that don't count." %
            (describe_machine(options.threads), datetime.date.today(), load(),
             describe_build(options.build), torch_version, options.rounds,
             options.steps, SETTLING)]
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models:
            contest = Contest(Tools(options.build), model, folder, options)
            text += ["", describe(model, *contest.run()), "",
                     "Where Echo's time goes (`echo-run --profile`):", "",
                     "```", "profile of" + contest.profile().rstrip(), "```"]
    text = "\n".join(text) + "\n"
    print(text)
    write(options.output, text)


if __name__ == "__main__":
    main()

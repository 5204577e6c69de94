#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of a training step beside what PyTorch eager keeps for it.

    python3 -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python benchmarks/saved_bytes.py --build=build

PyTorch's forward part runs on its meta device, which has shapes and no memory,
and hooks count the storages that autograd saves for the backward part. Echo's
bytes are those of echo-plan. That both have the same model is checked first, by
the loss at a small size. Writes docs/results/saved-bytes.md.
"""

import argparse
import json
import os
import tempfile

import numpy as np
import torch

import pytorch_models
from common import SOURCE, Tools, run, write

LENGTH = {"src_len": 100, "tgt_len": 100}
EN_VI = {"hidden": 512, "embed": 512, "layers": 2, "src_vocab": 17191,
         "tgt_vocab": 7709, **LENGTH}
EN_DE = {"hidden": 1024, "embed": 512, "layers": 4, "src_vocab": 32000,
         "tgt_vocab": 32000, "share_embeddings": True, "layer_norm": True,
         "dropout": 0.2, "label_smoothing": 0.1, **LENGTH}
LSTM_LM = {"batch": 20, "length": 35, "layers": 2, "hidden": 650,
           "embed": 650, "vocab": 10000, "dropout": 0.5}
CASES = [
    ("NMT English-Vietnamese, batch 128", "nmt", {**EN_VI, "batch": 128}),
    ("the same with layer norm", "nmt",
     {**EN_VI, "batch": 128, "layer_norm": True}),
    ("NMT English-German, batch 16", "nmt", {**EN_DE, "batch": 16}),
    ("NMT English-German, batch 64", "nmt", {**EN_DE, "batch": 64}),
    ("NMT English-German, batch 128", "nmt", {**EN_DE, "batch": 128}),
    ("LSTM language model, batch 20, length 35", "lstm-lm", LSTM_LM),
]
SMALL = {"hidden": 8, "embed": 6, "src_vocab": 30, "tgt_vocab": 30,
         "src_len": 5, "tgt_len": 4, "batch": 3, "length": 5, "vocab": 30,
         "dropout": 0}
# Options that are no argument of a module, but shapes of its inputs.
SHAPES = ["batch", "src_len", "tgt_len", "length"]
MODULES = {
    "nmt": {"LSTMCell decoder": pytorch_models.Translator,
            "`nn.LSTM` decoder": pytorch_models.BatchedTranslator},
    "lstm-lm": {"`nn.LSTM`": pytorch_models.LanguageModel},
}
TOLERANCE = 1e-5  # of the loss
# A step's count and learning rate, the seed: states that no parameter has.
FEW_BYTES = 64


def write_graph(tools, model, sizes, path):
    options = ["--%s=%s" % (name.replace("_", "-"), str(value).lower())
               for name, value in sizes.items()]
    run(tools.echo_zoo, model, *options, "-o", path)


def input_shapes(model, sizes):
    """Tokens that the module takes, and below which number each is."""
    if model == "lstm-lm":
        shape = (sizes["length"], sizes["batch"])
        return {"tokens": (shape, sizes["vocab"]),
                "targets": (shape, sizes["vocab"])}
    source, target = [(sizes[name], sizes["batch"])
                      for name in ("src_len", "tgt_len")]
    return {"src": (source, sizes["src_vocab"]),
            "tgt_in": (target, sizes["tgt_vocab"]),
            "tgt_out": (target, sizes["tgt_vocab"])}


def make_module(module, sizes):
    return module(**{name: value for name, value in sizes.items()
                     if name not in SHAPES})


def check_same_model(tools, model, sizes, folder):
    """The loss at a small size, from the same weights, without dropout."""
    small = {name: SMALL.get(name, value) for name, value in sizes.items()}
    graph = os.path.join(folder, "small.mlir")
    weights = os.path.join(folder, "weights.npz")
    report = os.path.join(folder, "report.json")
    write_graph(tools, model, small, graph)
    random = np.random.RandomState(1)
    inputs = {name: random.randint(1, limit, shape).astype(np.int32)
              for name, (shape, limit) in input_shapes(model, small).items()}
    given = dict(inputs)
    if model == "nmt":
        given["src_lengths"] = np.full(small["batch"], small["src_len"],
                                       np.int32)
    settings = []
    for name, value in given.items():
        path = os.path.join(folder, name + ".npy")
        np.save(path, value)
        settings.append("--input=%s=%s" % (name, path))
    run(tools.echo_run, graph, "--target=interpreter", "--seed=1", "--quiet",
        "--report=" + report, "--checkpoint=" + weights, *settings)
    with open(report, encoding="utf-8") as file:
        expected = json.load(file)["loss"][0]
    for title, module in MODULES[model].items():
        instance = make_module(module, small)
        with np.load(weights) as arrays, torch.no_grad():
            for name, parameter in instance.echo_names().items():
                parameter.copy_(torch.from_numpy(arrays[name]))
            found = instance(*[torch.from_numpy(value.astype(np.int64))
                               for value in inputs.values()]).item()
        if abs(found - expected) > TOLERANCE * abs(expected):
            raise SystemExit("%s, %s: the loss is %g, Echo's %g: not the same "
                             "model" % (model, title, found, expected))


def count_saved(module, model, sizes):
    """Bytes of the parameters, and of all that the backward part of a step
    keeps but them."""
    with torch.device("meta"):
        instance = make_module(module, sizes)
        inputs = [torch.zeros(shape, dtype=torch.int64)
                  for shape, _ in input_shapes(model, sizes).values()]
    parameters = {parameter.untyped_storage()._cdata: parameter
                  for parameter in instance.parameters()}
    storages = {}

    def save(tensor):
        # What shares memory is counted once.
        storage = tensor.untyped_storage()
        if storage._cdata not in parameters:
            storages[storage._cdata] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(save, lambda tensor: tensor):
        loss = instance(*inputs)
    weights = sum(parameter.untyped_storage().nbytes()
                  for parameter in parameters.values()
                  if parameter.requires_grad)
    saved = sum(storage.nbytes() for storage in storages.values())
    del loss
    return weights, saved


def plan(tools, model, sizes, folder):
    graph = os.path.join(folder, "model.mlir")
    report = os.path.join(folder, "report.json")
    write_graph(tools, model, sizes, graph)
    run(tools.echo_plan, graph, "--optimizer=adam", "--device=rtx2080ti",
        "--quiet", "--compare", "--report=" + report)
    with open(report, encoding="utf-8") as file:
        return {entry["strategy"]: entry["bytes"]
                for entry in json.load(file)["strategies"]}


def gigabytes(number):
    return "%.2f" % (number / 1e9)


def rows_of(tools, title, model, sizes, folder):
    """A row for each way to write the model in PyTorch."""
    plans = plan(tools, model, sizes, folder)
    none, echo = plans["none"], plans["echo"]
    for name, module in MODULES[model].items():
        weights, saved = count_saved(module, model, sizes)
        if abs(3 * weights - none["persistent"]) > FEW_BYTES:
            raise SystemExit("%s: weights and Adam's state take %d bytes, "
                             "Echo's %d: not the same model" % (
                                 title, 3 * weights, none["persistent"]))
        total = 4 * weights + saved
        yield [title, name, gigabytes(3 * weights), gigabytes(weights),
               gigabytes(saved), gigabytes(total), gigabytes(none["total"]),
               gigabytes(echo["total"]), "%.2f" % (total / none["total"]),
               "%.2f" % (total / echo["total"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--output", default=os.path.join(
        SOURCE, "docs", "results", "saved-bytes.md"))
    options = parser.parse_args()
    tools = Tools(options.build)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for title, model, sizes in CASES:
            check_same_model(tools, model, sizes, folder)
            for row in rows_of(tools, title, model, sizes, folder):
                print(" | ".join(row), flush=True)
                rows.append(row)
    header = ["training step (Adam)", "PyTorch decoder",
              "weights and Adam's state", "gradients", "saved by autograd",
              "PyTorch in all", "Echo, `none`", "Echo, `echo`",
              "PyTorch / `none`", "PyTorch / `echo`"]
    table = "\n".join(["| " + " | ".join(header) + " |",
                       "|" + "---|" * len(header)] +
                      ["| " + " | ".join(row) + " |" for row in rows])
    write(options.output, """# Memory beside PyTorch eager

Written by `benchmarks/saved_bytes.py`; GB are 1e9 bytes. Nothing was run at these
sizes, which are those of [memory.md](memory.md).

PyTorch %s runs the forward part on its meta device, and hooks count every
storage that autograd saves for the backward part, each once, weights not counted.
Added are weights, their gradients, which stay until the optimizer's step, and Adam's
two states.
What PyTorch needs above that isn't: gradients of activations, what an operation makes
and doesn't save, the allocator's gaps. So the sum is less than what a GPU would
need. The meta device takes an LSTM apart as the CPU does; on a GPU the library's own
saved buffers take their place. Masks of dropout take a byte an element, as on a GPU,
inside `nn.LSTM` four. Echo's bytes are all of it, as `echo-plan` places them: weights,
states, feature maps, gradients, workspace.

That both have the same model is checked by the loss at a small size without dropout,
and by the bytes of weights and states.

%s
""" % (torch.__version__, table))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference values of the LSTM language model, from PyTorch on the CPU.

    python3 -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python lstm_lm.py lstm_lm.npz

The model is PyTorch's own LSTM in f64; weights and inputs come from numpy's
RandomState. For each variant the file holds the inputs, the weights, every
gradient, and all parameters and losses of three steps of SGD and of Adam. The
parameters have the names that `echo-zoo lstm-lm` gives them.
"""

import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

BATCH, LENGTH, HIDDEN, VOCAB = 3, 5, 6, 11
STEPS = 3
# Exact in f32. With a larger epsilon a gradient near zero moves its parameter
# by about as much in f32 as in f64.
SGD_RATE, ADAM_RATE, ADAM_EPSILON = 0.5, 2.0 ** -7, 1e-3

# Each variant's name and its options of echo-zoo.
VARIANTS = {
    "plain": dict(layers=2, embed=5, tied=False),
    "tied": dict(layers=3, embed=6, tied=True),
}


class LanguageModel(nn.Module):
    def __init__(self, layers, embed, tied):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, embed)
        self.lstm = nn.LSTM(embed, HIDDEN, layers)
        self.output = nn.Linear(HIDDEN, VOCAB)
        self.tied = tied
        if tied:
            self.output.weight = self.embedding.weight
        # Echo's LSTM has one bias; PyTorch's second one stays zero.
        for name, parameter in self.lstm.named_parameters():
            if name.startswith("bias_hh"):
                nn.init.zeros_(parameter)
                parameter.requires_grad_(False)

    def echo_names(self):
        names = {"embedding/table": self.embedding.weight,
                 "output/bias": self.output.bias}
        if not self.tied:
            names["output/weight"] = self.output.weight
        for i in range(self.lstm.num_layers):
            for name, parameter in (("input/weight", "weight_ih_l%d"),
                                    ("input/bias", "bias_ih_l%d"),
                                    ("recurrent/weight", "weight_hh_l%d")):
                names["lstm%d/%s" % (i, name)] = getattr(self.lstm,
                                                         parameter % i)
        return names

    def forward(self, tokens, targets):
        x, _ = self.lstm(self.embedding(tokens))
        logits = self.output(x)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(),
                               ignore_index=0)


def run_variant(options, values, prefix):
    torch.manual_seed(0)
    model = LanguageModel(**options).double()
    names = model.echo_names()
    random = np.random.RandomState(7)
    words = random.randint(1, VOCAB, (LENGTH + 1, BATCH)).astype(np.int32)
    # The second sequence ends after two words.
    words[3:, 1] = 0
    inputs = {"tokens": words[:-1], "targets": words[1:]}
    initial = {}
    for name in sorted(names):
        shape = tuple(names[name].shape)
        # Exact in f32, so that f32 and f64 start from the same weights.
        initial[name] = random.uniform(-0.5, 0.5, shape).astype(np.float32)
    arguments = [torch.from_numpy(inputs[name].astype(np.int64)) for name in
                 ("tokens", "targets")]
    for name, value in inputs.items():
        values["%s:input:%s" % (prefix, name)] = value
    for name, value in initial.items():
        values["%s:weight:%s" % (prefix, name)] = value

    def reset():
        with torch.no_grad():
            for name, parameter in names.items():
                parameter.copy_(torch.from_numpy(initial[name]))
        model.zero_grad()

    reset()
    model(*arguments).backward()
    for name, parameter in names.items():
        values["%s:gradient:%s" % (prefix, name)] = parameter.grad.numpy()
    trained = [p for p in model.parameters() if p.requires_grad]
    for kind, optimizer in (
            ("sgd", lambda: torch.optim.SGD(trained, lr=SGD_RATE)),
            ("adam", lambda: torch.optim.Adam(trained, lr=ADAM_RATE,
                                              betas=(0.9, 0.999),
                                              eps=ADAM_EPSILON))):
        reset()
        steps, losses = optimizer(), []
        for _ in range(STEPS):
            steps.zero_grad()
            loss = model(*arguments)
            loss.backward()
            steps.step()
            losses.append(loss.item())
        values["%s:%s_losses" % (prefix, kind)] = np.array(losses)
        for name, parameter in names.items():
            values["%s:%s:%s" % (prefix, kind, name)] = (
                parameter.detach().numpy().copy())


def main():
    values = {}
    for prefix, options in VARIANTS.items():
        run_variant(options, values, prefix)
    np.savez_compressed(sys.argv[1], **values)


if __name__ == "__main__":
    main()

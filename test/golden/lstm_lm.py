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

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training import record, write

BATCH, LENGTH, HIDDEN, VOCAB = 3, 5, 6, 11

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
    random = np.random.RandomState(7)
    words = random.randint(1, VOCAB, (LENGTH + 1, BATCH)).astype(np.int32)
    # The second sequence ends after two words.
    words[3:, 1] = 0
    inputs = {"tokens": words[:-1], "targets": words[1:]}
    record(model, inputs, random, values, prefix)


if __name__ == "__main__":
    write(run_variant, VARIANTS)

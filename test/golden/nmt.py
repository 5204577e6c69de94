#!/usr/bin/env python3
# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reference values of the NMT model, from PyTorch on the CPU.

    python3 -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python nmt.py nmt.npz

The model is built with PyTorch's own modules (packed sequences for masking)
and computes in f64; weights and inputs come from numpy's RandomState. For each
variant the file holds the inputs, the weights, the loss, every gradient, and
all parameters and losses of three steps of SGD and of Adam. The parameters
have the names that `echo-zoo nmt` gives them.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training import record, write

BATCH, SRC_LEN, TGT_LEN = 3, 5, 4
HIDDEN, EMBED, SRC_VOCAB, TGT_VOCAB = 6, 5, 11, 9

# Each variant's name and its options of echo-zoo.
VARIANTS = {
    "plain": dict(layers=2, attention=True, layer_norm=False, smoothing=0.0),
    "layer_norm": dict(layers=2, attention=True, layer_norm=True,
                       smoothing=0.1),
    "no_attention": dict(layers=1, attention=False, layer_norm=False,
                         smoothing=0.0),
}


class Nmt(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, embed, hidden, layers, attention,
                 layer_norm, smoothing):
        super().__init__()
        self.layer_norm, self.smoothing = layer_norm, smoothing
        self.src_embedding = nn.Embedding(src_vocab, embed)
        self.tgt_embedding = nn.Embedding(tgt_vocab, embed)
        self.encoder = nn.ModuleList(
            [nn.LSTM(embed, hidden // 2, bidirectional=True)] +
            [nn.LSTM(hidden, hidden) for _ in range(layers - 1)])
        self.decoder = nn.LSTM(embed, hidden, layers)
        self.attention = attention
        if attention:
            self.key = nn.Linear(hidden, hidden, bias=False)
            self.query = nn.Linear(hidden, hidden, bias=False)
            self.score = nn.Parameter(torch.empty(hidden))
            self.combine = nn.Linear(2 * hidden, hidden)
            if layer_norm:
                self.norm = nn.LayerNorm(hidden, eps=1e-5)
        self.output = nn.Linear(hidden, tgt_vocab)
        # Echo's LSTM has one bias; PyTorch's second one stays zero.
        for module in self.modules():
            if isinstance(module, nn.LSTM):
                for name, parameter in module.named_parameters():
                    if name.startswith("bias_hh"):
                        nn.init.zeros_(parameter)
                        parameter.requires_grad_(False)

    def echo_names(self):
        names = {"encoder/embedding/table": self.src_embedding.weight,
                 "decoder/embedding/table": self.tgt_embedding.weight,
                 "decoder/output/weight": self.output.weight,
                 "decoder/output/bias": self.output.bias}

        def lstm(prefix, module, suffix):
            names[prefix + "/input/weight"] = getattr(
                module, "weight_ih_" + suffix)
            names[prefix + "/input/bias"] = getattr(module, "bias_ih_" + suffix)
            names[prefix + "/recurrent/weight"] = getattr(
                module, "weight_hh_" + suffix)

        lstm("encoder/lstm0/fw", self.encoder[0], "l0")
        lstm("encoder/lstm0/bw", self.encoder[0], "l0_reverse")
        for i, module in enumerate(self.encoder[1:], 1):
            lstm("encoder/lstm%d/fw" % i, module, "l0")
        for i in range(self.decoder.num_layers):
            lstm("decoder/lstm%d" % i, self.decoder, "l%d" % i)
        if self.attention:
            names["decoder/attention/key/weight"] = self.key.weight
            names["decoder/attention/query/weight"] = self.query.weight
            names["decoder/attention/score"] = self.score
            names["decoder/combine/linear/weight"] = self.combine.weight
            names["decoder/combine/linear/bias"] = self.combine.bias
            if self.layer_norm:
                names["decoder/attention/norm/scale"] = self.norm.weight
                names["decoder/attention/norm/offset"] = self.norm.bias
        return names

    def encode(self, src, lengths):
        x = self.src_embedding(src)
        states = []
        for module in self.encoder:
            packed = nn.utils.rnn.pack_padded_sequence(
                x, lengths, enforce_sorted=False)
            packed, (h, c) = module(packed)
            x, _ = nn.utils.rnn.pad_packed_sequence(
                packed, total_length=src.shape[0])
            states.append([torch.cat(list(part), dim=-1) for part in (h, c)])
        hidden, cell = (torch.stack(part) for part in zip(*states))
        return x, hidden, cell

    def attend(self, source, lengths, x):
        """x and the result are [time, batch, features]."""
        total = (self.key(source).transpose(0, 1)[None] +
                 self.query(x)[:, :, None])  # [T, B, S, H]
        if self.layer_norm:
            total = self.norm(total)
        scores = torch.tanh(total) @ self.score
        padding = torch.arange(source.shape[0])[None] >= lengths[:, None]
        weights = scores.masked_fill(padding, float("-inf")).softmax(-1)
        context = torch.einsum("tbs,sbh->tbh", weights, source)
        return torch.tanh(self.combine(torch.cat([context, x], dim=-1)))

    def forward(self, src, lengths, tgt_in, tgt_out):
        source, hidden, cell = self.encode(src, lengths)
        x, _ = self.decoder(self.tgt_embedding(tgt_in), (hidden, cell))
        if self.attention:
            x = self.attend(source, lengths, x)
        logits = self.output(x)
        return F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(),
                               ignore_index=0, label_smoothing=self.smoothing)


def make_inputs(random):
    lengths = np.array([5, 2, 4], np.int32)
    src = random.randint(4, SRC_VOCAB, (SRC_LEN, BATCH)).astype(np.int32)
    words = random.randint(4, TGT_VOCAB, (TGT_LEN - 1, BATCH)).astype(np.int32)
    tgt_in = np.vstack([np.full((1, BATCH), 1, np.int32), words])
    tgt_out = np.vstack([words, np.full((1, BATCH), 2, np.int32)])
    # The second sentence ends after two words.
    tgt_in[3, 1], tgt_out[2, 1], tgt_out[3, 1] = 0, 2, 0
    for b, length in enumerate(lengths):
        src[length:, b] = 0
    return {"src": src, "src_lengths": lengths, "tgt_in": tgt_in,
            "tgt_out": tgt_out}


def run_variant(options, values, prefix):
    torch.manual_seed(0)
    model = Nmt(SRC_VOCAB, TGT_VOCAB, EMBED, HIDDEN, **options).double()
    random = np.random.RandomState(7)
    inputs = make_inputs(random)
    record(model, inputs, random, values, prefix)


if __name__ == "__main__":
    write(run_variant, VARIANTS)

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

import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

BATCH, SRC_LEN, TGT_LEN = 3, 5, 4
HIDDEN, EMBED, SRC_VOCAB, TGT_VOCAB = 6, 5, 11, 9
STEPS = 3
# Exact in f32. With a larger epsilon a gradient near zero moves its parameter
# by about as much in f32 as in f64.
SGD_RATE, ADAM_RATE, ADAM_EPSILON = 0.5, 2.0 ** -7, 1e-3

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
    names = model.echo_names()
    random = np.random.RandomState(7)
    inputs = make_inputs(random)
    initial = {}
    for name in sorted(names):
        shape = tuple(names[name].shape)
        # Exact in f32, so that f32 and f64 start from the same weights.
        initial[name] = random.uniform(-0.5, 0.5, shape).astype(np.float32)
    arguments = [torch.from_numpy(inputs[name].astype(np.int64)) for name in
                 ("src", "src_lengths", "tgt_in", "tgt_out")]
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

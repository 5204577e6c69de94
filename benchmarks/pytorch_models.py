# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of echo-zoo as a user of PyTorch writes them.

`echo_names` gives a model's parameters the names that Echo has for them.
Echo's LSTM has one bias: PyTorch's second one stays zero.
"""

import torch
from torch import nn
from torch.nn import functional as F


def freeze_second_bias(model):
    for module in model.modules():
        if isinstance(module, (nn.LSTM, nn.LSTMCell)):
            for name, parameter in module.named_parameters():
                if name.startswith("bias_hh"):
                    nn.init.zeros_(parameter)
                    parameter.requires_grad_(False)


def dropout(x, rate):
    """F.dropout as it is on a GPU: its mask takes a byte an element."""
    return torch.native_dropout(x, rate, True)[0] if rate else x


def lstm_names(prefix, module, suffix):
    return {prefix + "/input/weight": getattr(module, "weight_ih" + suffix),
            prefix + "/input/bias": getattr(module, "bias_ih" + suffix),
            prefix + "/recurrent/weight": getattr(module, "weight_hh" + suffix)}


class LanguageModel(nn.Module):
    """echo-zoo lstm-lm"""

    def __init__(self, vocab, embed, hidden, layers, dropout=0):
        super().__init__()
        self.rate = dropout
        self.embedding = nn.Embedding(vocab, embed)
        self.lstm = nn.LSTM(embed, hidden, layers, dropout=dropout)
        self.output = nn.Linear(hidden, vocab)
        freeze_second_bias(self)

    def echo_names(self):
        names = {"embedding/table": self.embedding.weight,
                 "output/weight": self.output.weight,
                 "output/bias": self.output.bias}
        for i in range(self.lstm.num_layers):
            names.update(lstm_names("lstm%d" % i, self.lstm, "_l%d" % i))
        return names

    def forward(self, tokens, targets):
        x, _ = self.lstm(dropout(self.embedding(tokens), self.rate))
        logits = self.output(dropout(x, self.rate))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(),
                               ignore_index=0)


class Translator(nn.Module):
    """echo-zoo nmt. Every sentence has the full length, so that nothing is
    packed. The decoder goes step by step, with LSTMCell and attention in each
    step."""

    def __init__(self, src_vocab, tgt_vocab, embed, hidden, layers,
                 share_embeddings=False, layer_norm=False, dropout=0,
                 label_smoothing=0):
        super().__init__()
        self.rate, self.label_smoothing = dropout, label_smoothing
        self.src_embedding = nn.Embedding(src_vocab, embed)
        self.tgt_embedding = (self.src_embedding if share_embeddings
                              else nn.Embedding(tgt_vocab, embed))
        self.encoder = nn.ModuleList(
            [nn.LSTM(embed, hidden // 2, bidirectional=True)] +
            [nn.LSTM(hidden, hidden) for _ in range(layers - 1)])
        self.make_decoder(embed, hidden, layers)
        self.key = nn.Linear(hidden, hidden, bias=False)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.norm = nn.LayerNorm(hidden) if layer_norm else nn.Identity()
        self.score = nn.Parameter(torch.empty(hidden))
        self.combine = nn.Linear(2 * hidden, hidden)
        self.output = nn.Linear(hidden, tgt_vocab)
        freeze_second_bias(self)

    def make_decoder(self, embed, hidden, layers):
        self.decoder = nn.ModuleList(
            [nn.LSTMCell(embed if i == 0 else hidden, hidden)
             for i in range(layers)])

    def decoder_names(self):
        names = {}
        for i, cell in enumerate(self.decoder):
            names.update(lstm_names("decoder/lstm%d" % i, cell, ""))
        return names

    def echo_names(self):
        shared = self.src_embedding is self.tgt_embedding
        names = {"embedding/table" if shared else "encoder/embedding/table":
                 self.src_embedding.weight,
                 "decoder/attention/key/weight": self.key.weight,
                 "decoder/attention/query/weight": self.query.weight,
                 "decoder/attention/score": self.score,
                 "decoder/combine/linear/weight": self.combine.weight,
                 "decoder/combine/linear/bias": self.combine.bias,
                 "decoder/output/weight": self.output.weight,
                 "decoder/output/bias": self.output.bias}
        if not shared:
            names["decoder/embedding/table"] = self.tgt_embedding.weight
        if isinstance(self.norm, nn.LayerNorm):
            names["decoder/attention/norm/scale"] = self.norm.weight
            names["decoder/attention/norm/offset"] = self.norm.bias
        names.update(lstm_names("encoder/lstm0/fw", self.encoder[0], "_l0"))
        names.update(lstm_names("encoder/lstm0/bw", self.encoder[0],
                                "_l0_reverse"))
        for i, module in enumerate(self.encoder[1:], 1):
            names.update(lstm_names("encoder/lstm%d/fw" % i, module, "_l0"))
        names.update(self.decoder_names())
        return names

    def encode(self, src):
        x = dropout(self.src_embedding(src), self.rate)
        states = []
        for module in self.encoder:
            x, (h, c) = module(x)
            states.append((torch.cat(list(h), dim=-1),
                           torch.cat(list(c), dim=-1)))
            x = dropout(x, self.rate)
        return x, states

    def decode(self, source, states, tgt_in):
        values = source.transpose(0, 1)  # [batch, source, hidden]
        keys = self.key(values)
        outputs = []
        embedded = dropout(self.tgt_embedding(tgt_in), self.rate)
        for x in embedded.unbind(0):
            for i, cell in enumerate(self.decoder):
                states[i] = cell(x, states[i])
                x = dropout(states[i][0], self.rate)
            scores = torch.tanh(
                self.norm(keys + self.query(x)[:, None])) @ self.score
            context = torch.bmm(scores.softmax(-1)[:, None], values)[:, 0]
            outputs.append(torch.tanh(
                self.combine(torch.cat([context, x], dim=-1))))
        return torch.stack(outputs)

    def forward(self, src, tgt_in, tgt_out):
        source, states = self.encode(src)
        x = dropout(self.decode(source, states, tgt_in), self.rate)
        return F.cross_entropy(self.output(x).flatten(0, 1), tgt_out.flatten(),
                               ignore_index=0,
                               label_smoothing=self.label_smoothing)


class BatchedTranslator(Translator):
    """The same values: no output is fed back, so that the decoder may be one
    nn.LSTM, and attention one operation over all time steps."""

    def make_decoder(self, embed, hidden, layers):
        self.decoder = nn.LSTM(embed, hidden, layers, dropout=self.rate)

    def decoder_names(self):
        names = {}
        for i in range(self.decoder.num_layers):
            names.update(lstm_names("decoder/lstm%d" % i, self.decoder,
                                    "_l%d" % i))
        return names

    def decode(self, source, states, tgt_in):
        hidden, cell = (torch.stack(part) for part in zip(*states))
        embedded = dropout(self.tgt_embedding(tgt_in), self.rate)
        x, _ = self.decoder(embedded, (hidden, cell))
        x = dropout(x, self.rate)
        values = source.transpose(0, 1)
        keys = self.key(values)
        query = self.query(x.transpose(0, 1))
        # [batch, target, source, hidden]
        scores = torch.tanh(
            self.norm(keys[:, None] + query[:, :, None])) @ self.score
        context = torch.bmm(scores.softmax(-1), values)
        return torch.tanh(self.combine(
            torch.cat([context.transpose(0, 1), x], dim=-1)))

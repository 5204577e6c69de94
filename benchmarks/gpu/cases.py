# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is checked and timed on a GPU, and its inputs."""

import numpy as np

SEED = 7

# Functions of kernels.mlir: the bits of the CPU.
KERNELS = ["pointwise", "rows", "columns", "lookup", "lstm", "movement",
           "random"]
KERNEL_STEPS = 3

# Whole models, small: losses and parameters near those of the CPU, whose sums
# in products have another order.
TINY = {
    "nmt": dict(batch=3, src_len=5, tgt_len=4, hidden=16, embed=12, layers=2,
                src_vocab=31, tgt_vocab=29),
    "lstm-lm": dict(batch=3, length=6, layers=2, hidden=16, embed=12, vocab=37),
}
TINY_CASES = {  # name: (model, further options, strategy)
    "nmt": ("nmt", {}, "none"),
    "nmt-echo": ("nmt", {}, "echo"),
    "nmt-norm-dropout": ("nmt", {"layer-norm": "true", "dropout": 0.2}, "none"),
    "nmt-norm-dropout-echo": ("nmt", {"layer-norm": "true", "dropout": 0.2},
                              "echo"),
    "lstm-lm": ("lstm-lm", {}, "none"),
    "lstm-lm-echo": ("lstm-lm", {}, "echo"),
}
TINY_STEPS = 5
TINY_TOLERANCE = 1e-4  # of a loss, and of the largest element of a parameter

# Timed, in f32, with Adam; PyTorch's models are pytorch_models.py.
TIMED = {
    "nmt": {
        "title": "NMT: hidden 512, batch 64, length 50, 2 layers",
        "options": dict(batch=64, src_len=50, tgt_len=50, hidden=512,
                        embed=512, layers=2, src_vocab=17191, tgt_vocab=7709),
        "variants": {"LSTMCell decoder": "Translator",
                     "cuDNN LSTM decoder": "BatchedTranslator"},
    },
    "lstm-lm": {
        "title": "LSTM language model: 2 layers, hidden 650, batch 20, length "
                 "35, vocabulary 10000",
        "options": dict(batch=20, length=35, layers=2, hidden=650, embed=650,
                        vocab=10000),
        "variants": {"cuDNN LSTM": "LanguageModel"},
    },
}
STRATEGIES = ["none", "echo"]
RATE = 0.001


def make_inputs(model, sizes):
    """A batch without padding."""
    random = np.random.RandomState(1)
    if model == "nmt":
        def words(length, vocab):
            return random.randint(4, vocab, (length, sizes["batch"])).astype(
                np.int32)
        return {"src": words(sizes["src_len"], sizes["src_vocab"]),
                "src_lengths": np.full(sizes["batch"], sizes["src_len"],
                                       np.int32),
                "tgt_in": words(sizes["tgt_len"], sizes["tgt_vocab"]),
                "tgt_out": words(sizes["tgt_len"], sizes["tgt_vocab"])}
    words = random.randint(1, sizes["vocab"],
                           (sizes["length"] + 1, sizes["batch"])).astype(
                               np.int32)
    return {"tokens": words[:-1], "targets": words[1:]}


def zoo_options(sizes, further=()):
    return ["--%s=%s" % (name.replace("_", "-"), value)
            for name, value in {**sizes, **dict(further)}.items()]


def start(session, inputs):
    """Draws all values and sets the inputs."""
    session.initialize(SEED)
    for name, value in inputs.items():
        session.set(name, value)
    if "learning_rate" in session.tensors:
        session.set("learning_rate", RATE)


def values_of(session):
    """All results and everything that a step changes."""
    return {name: session.get(name)
            for name, (role, _, _) in session.tensors.items()
            if role in ("parameter", "state", "result")}

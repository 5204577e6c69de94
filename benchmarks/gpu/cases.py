# Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What prepare.py packs: what is checked and timed on a GPU, and its inputs."""

import numpy as np

SEED = 7
RATE = 0.001
SGD_RATE = 0.1

# Functions of these files, for these types: the bits of the CPU. Those with a
# loss are trained.
KERNEL_FILES = {"kernels.mlir": ["f32"],
                "typed_kernels.mlir": ["f32", "f64", "f16", "bf16"]}
KERNEL_STEPS = 3

# What cuBLAS computes, and how near to the CPU's, of the largest element: some
# units in the last place of a type.
PRODUCT_FILE = "products.mlir"
PRODUCT_TOLERANCES = {"f32": 1e-5, "f64": 1e-14, "f16": 4e-3, "bf16": 3e-2}

# Whole models, small: losses and parameters near those of the CPU, whose sums
# in products have another order.
SMALL = {
    "nmt": dict(batch=3, src_len=5, tgt_len=4, hidden=16, embed=12, layers=2,
                src_vocab=31, tgt_vocab=29),
    "lstm-lm": dict(batch=3, length=6, layers=2, hidden=16, embed=12, vocab=37),
}
NORM_DROPOUT = {"layer_norm": "true", "dropout": 0.2}
# Of a loss, and of the largest element of a parameter.
TOLERANCES = {"f32": 3e-4, "f16": 5e-3, "bf16": 3e-2}
MODELS = {  # name: (model, further options, element type, optimizer, strategy)
    "nmt": ("nmt", {}, "f32", "adam", "none"),
    "nmt-echo": ("nmt", {}, "f32", "adam", "echo"),
    "nmt-norm-dropout": ("nmt", NORM_DROPOUT, "f32", "adam", "none"),
    "nmt-norm-dropout-echo": ("nmt", NORM_DROPOUT, "f32", "adam", "echo"),
    "nmt-f16": ("nmt", {"layer_norm": "true"}, "f16", "sgd", "echo"),
    "nmt-bf16": ("nmt", {"layer_norm": "true"}, "bf16", "sgd", "echo"),
    "lstm-lm": ("lstm-lm", {}, "f32", "adam", "none"),
    "lstm-lm-echo": ("lstm-lm", {}, "f32", "adam", "echo"),
}
MODEL_STEPS = 5
# Under compute-sanitizer, one step each.
SANITIZED_TYPES = ("f32", "f16")
SANITIZED_MODELS = ("lstm-lm-echo",)

# Timed, in f32, with Adam. PyTorch's models are pytorch_models.py; what is
# unrolled takes minutes to compile.
SETTLING_STEPS, TIMED_STEPS = 5, 30
TIMED_SECONDS = 4  # for all steps of a variant, if they are slow
STRATEGIES = ["none", "echo"]
TIMED = {
    "nmt": {
        "title": "NMT, {layers} layers, hidden {hidden}, batch {batch}, source "
                 "{src_len}, target {tgt_len}, vocabularies {src_vocab} and "
                 "{tgt_vocab}",
        "sizes": dict(batch=64, src_len=50, tgt_len=50, hidden=512, embed=512,
                      layers=2, src_vocab=17191, tgt_vocab=7709),
        "variants": {"Translator": ["eager"],
                     "BatchedTranslator": ["eager", "compiled", "eager, TF32"]},
        "pytorch_inputs": ["src", "tgt_in", "tgt_out"],
        "pytorch_sizes": ["src_vocab", "tgt_vocab", "embed", "hidden", "layers"],
    },
    "lstm-lm": {
        "title": "LSTM language model, {layers} layers, hidden {hidden}, batch "
                 "{batch}, length {length}, vocabulary {vocab}",
        "sizes": dict(batch=20, length=35, layers=2, hidden=650, embed=650,
                      vocab=10000),
        "variants": {"LanguageModel": ["eager", "compiled", "eager, TF32"]},
        "pytorch_inputs": ["tokens", "targets"],
        "pytorch_sizes": ["vocab", "embed", "hidden", "layers"],
    },
}


def make_inputs(model, sizes, rate=RATE):
    """A batch without padding, and the learning rate."""
    random = np.random.RandomState(1)
    rate = {"learning_rate": np.float32(rate)}
    if model == "nmt":
        def words(length, vocab):
            return random.randint(4, vocab, (length, sizes["batch"])).astype(
                np.int32)
        return {"src": words(sizes["src_len"], sizes["src_vocab"]),
                "src_lengths": np.full(sizes["batch"], sizes["src_len"],
                                       np.int32),
                "tgt_in": words(sizes["tgt_len"], sizes["tgt_vocab"]),
                "tgt_out": words(sizes["tgt_len"], sizes["tgt_vocab"]), **rate}
    words = random.randint(1, sizes["vocab"],
                           (sizes["length"] + 1, sizes["batch"])).astype(
                               np.int32)
    return {"tokens": words[:-1], "targets": words[1:], **rate}


def as_tensors(arrays):
    """For values.save()."""
    kinds = {"float32": "f32", "int32": "i32"}
    return {name: (kinds[str(array.dtype)], array.tobytes())
            for name, array in arrays.items()}


def zoo_options(sizes, further=()):
    return ["--%s=%s" % (name.replace("_", "-"), value)
            for name, value in {**sizes, **dict(further)}.items()]
